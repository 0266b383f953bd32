"""How an erased text reads: a phrase in its place, so that no gap is taken for an empty entry."""

from __future__ import annotations

from dataclasses import replace

from bot.meeting.model import Entry, Item, Language, LedgerView
from bot.phrases import t


def shown(view: LedgerView, language: Language) -> LedgerView:
    """`view` with a phrase where something was erased; folded before, for folding compares wordings."""
    if not any(entry.redacted for entry in view.entries):
        return view
    text, somebody = t("erased.text", language), t("erased.person", language)

    def read(entry: Entry) -> Entry:
        return replace(entry, text=text) if entry.redacted and not entry.text and _worded(entry) else entry

    def item(old: Item) -> Item:
        return replace(
            old,
            entry=read(old.entry),
            original=read(old.original),
            history=tuple(map(read, old.history)),
            answers=tuple(map(read, old.answers)),
            objections=tuple(map(read, old.objections)),
            votes=tuple(replace(v, voter_name=v.voter_name or somebody) for v in old.votes),
            confirmed_by=tuple(name for name in old.confirmed_by if name),
        )

    return LedgerView(tuple(map(item, view.items)), tuple(map(read, view.entries)))


def _worded(entry: Entry) -> bool:
    """Whether an entry of this kind has words at all: a vote, a confirmation, a retraction may have none."""
    return entry.kind.value not in ("vote", "confirmation", "retraction", "objection")

"""An item of the ledger while the list of entries is being read (`meeting.ledger`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bot.meeting.model import Entry, EntryKind, Item, Origin, Vote

# Kinds that say something about an item and are none themselves.
SUPPORTS = frozenset(
    {EntryKind.VOTE, EntryKind.ANSWER, EntryKind.CONFIRMATION, EntryKind.OBJECTION, EntryKind.RETRACTION}
)
_GONE = ("replaced", "retracted")


@dataclass(slots=True)
class Draft:
    """An item while the list is being read."""

    original: Entry
    entry: Entry
    status: str
    owner: str | None
    due: str | None
    history: list[Entry] = field(default_factory=list)
    answers: list[Entry] = field(default_factory=list)
    positions: list[str] = field(default_factory=list)
    votes: dict[tuple[int | None, str], Vote] = field(default_factory=dict)
    confirmed_by: list[str] = field(default_factory=list)
    objections: list[Entry] = field(default_factory=list)
    replaced_by: int | None = None
    conflicts_with: list[int] = field(default_factory=list)
    would_change: Draft | None = None  # what this one replaces or settles once it is confirmed
    changed: list[tuple[Draft, str]] = field(default_factory=list)  # what it did, with the status from before

    @property
    def kind(self) -> EntryKind:
        return self.original.kind

    @property
    def live(self) -> bool:
        return self.status not in _GONE

    @property
    def a_persons(self) -> bool:
        """True where a person made it or stands for it: a model's word alone does not take it away."""
        return self.original.origin.by_person or bool(self.confirmed_by) or self.status == "confirmed"

    def finish(self) -> Item:
        return Item(
            entry=self.entry,
            number=self.entry.number,
            original=self.original,
            status=self.status,
            history=tuple(self.history),
            owner=self.owner,
            due=self.due,
            answers=tuple(self.answers),
            positions=tuple(self.positions),
            votes=tuple(self.votes.values()),
            confirmed_by=tuple(self.confirmed_by),
            objections=tuple(self.objections),
            replaced_by=self.replaced_by,
            conflicts_with=tuple(self.conflicts_with),
        )


def undone(ordered: Sequence[Entry]) -> frozenset[int]:
    """Numbers of votes, answers and the like (`SUPPORTS`) that a later retraction takes back.

    So are rewordings whose message was edited or deleted; a person who retracts one by number means its item.
    """
    by_number = {entry.number: entry for entry in ordered}
    taken: set[int] = set()
    # Backwards, so that a retraction which is itself taken back takes nothing back.
    for entry in reversed(ordered):
        if entry.kind is not EntryKind.RETRACTION or entry.number in taken or entry.refers_to is None:
            continue
        meant = by_number.get(entry.refers_to)
        if meant is None or meant.number >= entry.number:
            continue
        unsaid = meant.kind is EntryKind.REVISION and entry.origin in (Origin.EDIT, Origin.DELETE)
        if meant.kind not in SUPPORTS and not unsaid:
            continue
        if entry.origin.by_person or not meant.origin.by_person:
            taken.add(meant.number)
    return frozenset(taken)


def votes_as_reworded(ordered: Sequence[Entry], undone: frozenset[int]) -> dict[int, Entry]:
    """Votes that a later edit of their message changed, by number: each counts in its old place, so that what its
    author said after it still goes before."""
    votes = {entry.number: entry for entry in ordered if entry.kind is EntryKind.VOTE}
    changed: dict[int, Entry] = {}
    for entry in ordered:
        vote = votes.get(entry.refers_to or 0)
        if vote is None or entry.kind is not EntryKind.REVISION or entry.number in undone:
            continue
        before = changed.get(vote.number, vote)
        changed[vote.number] = replace(
            before,
            text=entry.text or before.text,
            quote=entry.quote or before.quote,
            value=before.value if entry.value is None else entry.value,
        )
    return changed


def said(entry: Entry) -> str:
    """A position as `Item.positions` holds it: "name: words"."""
    return f"{entry.author_name}: {entry.text}" if entry.author_name else entry.text

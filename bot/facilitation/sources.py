"""Which messages an item of the ledger stands on: who typed it, who typed it again, whose words a model found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from bot.facilitation import recording
from bot.facilitation.core import books
from bot.meeting import lookup, marks
from bot.meeting.draft import SUPPORTS, undone
from bot.meeting.marks import Mark
from bot.meeting.model import Entry, EntryKind, Item, LedgerView, Message, NewEntry, Origin
from bot.meeting.text import squeeze

# Kinds that a second message may type again; every note and every change of topic stands for itself.
_REPEATABLE = frozenset(
    {
        EntryKind.DECISION,
        EntryKind.PROPOSAL,
        EntryKind.QUESTION,
        EntryKind.ACTION,
        EntryKind.CONSTRAINT,
    }
)
_TYPED = (Origin.MARK, Origin.MENU, Origin.EDIT)


@dataclass(frozen=True)
class Ledger:
    """What is needed to say what an item stands on. `others`: the meeting's messages that are not deleted, without
    the one that changed."""

    view: LedgerView
    others: Sequence[Message] = ()
    names: Sequence[str] = ()

    @property
    def entries(self) -> Sequence[Entry]:
        return self.view.entries

    @cached_property
    def taken_back(self) -> frozenset[int]:
        return undone(self.entries)


@dataclass(frozen=True)
class Borne:
    """An item that a message bears, and the rows by which it does: the one that made it, or that typed it again, and
    its edits since. `typed`: the mark as the message last worded it."""

    item: Item
    rows: tuple[Entry, ...]
    typed: Mark

    @property
    def made_here(self) -> bool:
        return any(row.number == self.item.original.number for row in self.rows)

    @property
    def by_menu(self) -> bool:
        """Recorded by the menu: all its words are the entry, not one line of them."""
        return self.rows[0].origin is Origin.MENU


def borne_by(message: Message, ledger: Ledger) -> list[Borne]:
    """Items that marks of `message`, or the menu on it, made or stand for; those taken back too."""
    taken = ledger.taken_back
    rows: dict[int, list[Entry]] = {}
    items: dict[int, Item] = {}
    for entry in ledger.entries:
        item = _stood_for(entry, message, ledger.view) if entry.number not in taken else None
        if item is not None:
            items[item.original.number] = item
            rows.setdefault(item.original.number, []).append(entry)
    names = [*ledger.names, message.author_name]
    return [
        Borne(items[number], tuple(mine), as_typed(mine[-1], items[number].kind, names))
        for number, mine in rows.items()
    ]


def _stood_for(entry: Entry, message: Message, view: LedgerView) -> Item | None:
    if entry.message_id != message.message_id or entry.origin not in _TYPED or is_correction(entry):
        return None
    if entry.kind is EntryKind.CONFIRMATION:
        return lookup.target(view, entry.number) if entry.origin is Origin.MARK else None
    if entry.kind in SUPPORTS or _about_support(entry, view):
        return None
    return lookup.target(view, entry.number)


def _about_support(entry: Entry, view: LedgerView) -> bool:
    """Another wording of a vote or an answer, not of an item."""
    if entry.kind is not EntryKind.REVISION:
        return False
    return any(e.number == entry.refers_to and e.kind in SUPPORTS for e in view.entries)


def is_correction(entry: Entry) -> bool:
    """A scribe's s/old/new/, which words another's item."""
    return entry.kind is EntryKind.REVISION and marks.correction(entry.quote) is not None


def as_typed(row: Entry, kind: EntryKind, names: Sequence[str]) -> Mark:
    """The mark that `row` was recorded from, read from its quote again."""
    if row.origin is Origin.MENU:
        return recording.by_menu(kind, row.quote, names)
    found = [m for m in marks.find(row.quote, books(), names=names) if m.kind is kind]
    same = [m for m in found if m.text == row.text]
    if kind is EntryKind.VOTE and len(found) > 1:  # several numbered votes in one line
        part = place_of(row).partition(".")[2]
        same = [m for m in same if m.place.partition(".")[2] == part] or same
    return next(iter(same), Mark(kind, row.text, row.quote, 0, value=row.value))


def place_of(row: Entry) -> str:
    """Where in its message a row's mark was first typed (`Mark.place`), as its source key says; "" of other rows."""
    origin, _, place, *_ = [*row.source_key.split(":"), "", ""]
    return place if origin == "m" else ""


def typed_elsewhere(item: Item, ledger: Ledger) -> tuple[Message, Mark] | None:
    """Another message that types what the item says, or said once, and made no item of its own of it."""
    if item.kind not in _REPEATABLE:
        return None
    return next(_repetitions(item, ledger), None)


def _repetitions(item: Item, ledger: Ledger) -> Iterator[tuple[Message, Mark]]:
    wordings = [item.text, *(e.text for e in reversed(item.history)), item.original.text]
    for wording in dict.fromkeys(wordings):
        for message in ledger.others:
            if not lookup.holds_words(message.text, wording):
                continue
            for mark in marks.find(message.text, books(), names=[*ledger.names, message.author_name]):
                alike = mark.kind is item.kind and (mark.value or 0) == (item.entry.value or 0)
                if (
                    alike
                    and lookup.same_words(mark.text, wording)
                    and not said_by_another(item, mark, ledger)
                ):
                    yield message, mark


def said_by_another(item: Item, mark: Mark, ledger: Ledger) -> bool:
    """Whether another item that holds says what `mark` says."""
    return any(
        (i.entry.value or 0) == (mark.value or 0) and lookup.same_words(i.text, mark.text)
        for i in ledger.view.of(item.kind)
        if i.original.number != item.original.number
    )


def source_stands(item: Item, ledger: Ledger) -> bool:
    """Whether what first made the item is still there, where that is no mark: a command, a find, the menu."""
    first = item.original
    if first.message_id is None:
        return True
    source = next((m for m in ledger.others if m.message_id == first.message_id), None)
    if source is None or first.origin is Origin.MARK:
        return False
    return first.origin is not Origin.MODEL or holds_quote(source, first.quote)


def holds_quote(message: Message, quote: str) -> bool:
    return squeeze(quote) in squeeze(message.text)


def taken_over(item: Item, by: Message, mark: Mark, ledger: Ledger, key: str) -> NewEntry | None:
    """The item now stands on this message, which typed it too; None where the ledger has that already."""
    taken = ledger.taken_back
    for entry in ledger.entries:
        if entry.number not in taken:
            held = _stood_for(entry, by, ledger.view)
            if held is not None and held.original.number == item.original.number:
                return None
    says = Mark(item.kind, item.text, mark.quote, mark.line)
    return recording.rewording(item.original.number, by, says, Origin.EDIT, key)

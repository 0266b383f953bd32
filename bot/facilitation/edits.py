"""What an edited or deleted message changes in the ledger (SPEC 2.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.facilitation import recording
from bot.facilitation.core import books
from bot.facilitation.recording import retraction
from bot.meeting import lookup, marks
from bot.meeting.marks import Mark
from bot.meeting.model import Entry, EntryKind, Item, LedgerView, Meeting, Message, NewEntry, Origin


@dataclass(frozen=True)
class _Standing:
    """An item that a mark of the message made and that holds; `said`: how the message last worded it."""

    entry: Entry
    item: Item
    said: str

    def unchanged(self, mark: Mark) -> bool:
        """Wherever in the message it stands now, and whatever others have made of the item since."""
        same = lookup.same_words(mark.text, self.said) or lookup.same_words(mark.text, self.item.text)
        return same and mark.kind is self.entry.kind and (mark.value or 0) == (self.entry.value or 0)

    def reworded(self, mark: Mark) -> bool:
        return mark.kind is self.entry.kind and mark.place == self.entry.source_key.split(":")[2]


def from_edit(
    meeting: Meeting, message: Message, view: LedgerView, entries: Sequence[Entry], names: Sequence[str]
) -> list[NewEntry]:
    """Another wording revises, a mark taken away or made another kind retracts, a new one adds; a line that only
    moved changes nothing. `message` is the message as it reads now.
    """
    stamp = int(message.edited_at.timestamp() * 1000) if message.edited_at else 0
    mine = [e for e in entries if e.message_id == message.message_id and e.origin is Origin.MARK]
    left = marks.find(message.text, books(), names=[*names, message.author_name])
    standing = list(_standing(message, mine, view))
    changed = [s for s in standing if not _take(left, s.unchanged)]
    votes = [e for e in _said_otherwise(mine, standing, view, entries) if not _take(left, _same_as(e))]
    changes: list[NewEntry] = []
    gone: set[int] = set()
    for s in changed:
        key = f"e:{message.message_id}:{s.entry.number}:{stamp}"
        mark = _take(left, s.reworded)
        if mark is None:
            gone.add(s.item.number)
            changes.append(retraction(s.item, message, Origin.EDIT, key))
        else:
            changes.append(
                recording.rewording(
                    s.item.entry, mark.text, message, Origin.EDIT, key, owner=mark.owner, quote=mark.quote
                )
            )
    for vote in votes:
        if _counts(vote, entries):
            key = f"e:{message.message_id}:{vote.number}:{stamp}"
            changes.append(_vote_taken_back(vote, message, Origin.EDIT, key))
    rest = replace(view, items=tuple(i for i in view.items if i.number not in gone))
    used = {e.source_key for e in entries}
    for mark in left:
        added = recording.entry_of(meeting, message, mark, rest)
        if added is not None:
            again = added.source_key in used
            changes.append(replace(added, source_key=f"{added.source_key}:{stamp}") if again else added)
    return changes


def _take(left: list[Mark], wanted: Callable[[Mark], bool]) -> Mark | None:
    """The first mark that is `wanted`, which is then spoken for."""
    mark = next((m for m in left if wanted(m)), None)
    if mark is not None:
        left.remove(mark)
    return mark


def _standing(message: Message, mine: Iterable[Entry], view: LedgerView) -> Iterator[_Standing]:
    for entry in mine:
        item = view.item(entry.number)
        if item is None or item.status == "retracted" or item.original.number != entry.number:
            continue
        said = [
            e.text for e in (item.original, *item.history) if e.message_id == message.message_id and e.text
        ]
        yield _Standing(entry, item, said[-1])


def _said_otherwise(
    mine: Iterable[Entry], standing: Iterable[_Standing], view: LedgerView, entries: Sequence[Entry]
) -> Iterator[Entry]:
    """What the message said without making an item of its own that holds: votes, repetitions, and what somebody
    took back; not what an edit took away, for another edit may bring it back."""
    items = {s.entry.number for s in standing}
    edited_away = {e.refers_to for e in entries if e.kind is EntryKind.RETRACTION and e.origin is Origin.EDIT}
    for entry in mine:
        item = view.item(entry.number)
        numbers = {entry.number} if item is None else {entry.number, item.number}
        if entry.number not in items and not numbers & edited_away:
            yield entry


def _same_as(entry: Entry) -> Callable[[Mark], bool]:
    repeats = (EntryKind.CONFIRMATION, EntryKind.REVISION)

    def same(mark: Mark) -> bool:
        kind = mark.kind is entry.kind or (entry.kind in repeats and mark.kind is not EntryKind.VOTE)
        words = lookup.same_words(mark.text, entry.text)
        return kind and words and (mark.value or 0) == (entry.value or 0)

    return same


def _counts(entry: Entry, entries: Sequence[Entry]) -> bool:
    """Whether it is a vote that nobody has taken back."""
    taken = any(e.kind is EntryKind.RETRACTION and e.refers_to == entry.number for e in entries)
    return entry.kind is EntryKind.VOTE and not taken


def _vote_taken_back(vote: Entry, message: Message, origin: Origin, key: str) -> NewEntry:
    return NewEntry(
        kind=EntryKind.RETRACTION,
        text="",
        source_key=key,
        origin=origin,
        author_id=message.author_id,
        author_name=message.author_name,
        message_id=message.message_id,
        refers_to=vote.number,
    )


def from_deletion(message: Message, view: LedgerView, entries: Sequence[Entry]) -> list[NewEntry]:
    """Deleting the message that an entry stands on retracts it; the quote is redacted by the caller."""
    changes = []
    for entry in entries:
        if entry.message_id != message.message_id:
            continue
        item = view.item(entry.number)
        key = f"d:{message.message_id}:{entry.number}"
        if item is not None and item.original.number == entry.number and item.status != "retracted":
            changes.append(retraction(item, message, Origin.DELETE, key))
        elif entry.origin is Origin.MARK and _counts(entry, entries):
            changes.append(_vote_taken_back(entry, message, Origin.DELETE, key))
    return changes

"""One edit or deletion being carried out, and what its message said of others' items: votes and retractions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bot.facilitation import recording, sources
from bot.facilitation.sources import Ledger
from bot.meeting import lookup
from bot.meeting.marks import Mark
from bot.meeting.model import Entry, EntryKind, Item, Message, NewEntry, Origin

_SPOKEN = (EntryKind.VOTE, EntryKind.RETRACTION)


@dataclass
class Change:
    """One edit or deletion being carried out. `left`: marks of the new text that nothing recorded accounts for."""

    message: Message
    ledger: Ledger
    origin: Origin
    stamp: str
    left: list[Mark] = field(default_factory=list)
    entries: list[NewEntry] = field(default_factory=list)

    def key(self, number: int) -> str:
        letter = "e" if self.origin is Origin.EDIT else "d"
        return f"{letter}:{self.message.message_id}:{number}{self.stamp}"

    def take(self, wanted: Callable[[Mark], bool]) -> Mark | None:
        """The first mark that is `wanted`, which is then spoken for."""
        mark = next((m for m in self.left if wanted(m)), None)
        if mark is not None:
            self.left.remove(mark)
        return mark

    def take_back(self, number: int) -> None:
        self.entries.append(
            recording.retraction(number, self.message, self.origin, self.key(number)),
        )

    def edited_away(self, numbers: set[int]) -> bool:
        """Whether an edit took back one of these numbers, and nobody that."""
        taken = self.ledger.taken_back
        return any(
            e.kind is EntryKind.RETRACTION
            and e.origin is Origin.EDIT
            and e.refers_to in numbers
            and e.number not in taken
            for e in self.ledger.entries
        )


@dataclass(frozen=True)
class Saying:
    """A vote or a retraction that counts. `typed`: the mark as the message last worded it."""

    entry: Entry
    typed: Mark
    target: Item | None

    @staticmethod
    def of(entry: Entry, change: Change) -> Saying | None:
        if entry.kind not in _SPOKEN:
            return None
        rewordings = (
            e
            for e in reversed(change.ledger.entries)
            if e.kind is EntryKind.REVISION and e.refers_to == entry.number
        )
        row = next(rewordings, entry)
        typed = sources.as_typed(replace(row, source_key=entry.source_key), entry.kind, change.ledger.names)
        return Saying(entry, typed, lookup.target(change.ledger.view, entry.number))

    def unchanged(self, mark: Mark) -> bool:
        if mark.kind is not self.typed.kind:
            return False
        if mark.kind is EntryKind.RETRACTION:
            named = mark.number is not None and mark.number == self.typed.number
            words = mark.text == self.typed.text or lookup.same_words(mark.text, self.typed.text)
            return (mark.undo and self.typed.undo) or (mark.undo is self.typed.undo and (named or words))
        return mark.value == self.typed.value and self._same_target(mark)

    def _same_target(self, mark: Mark) -> bool:
        """A bare vote stays with what it was on, whatever was proposed since."""
        if mark.number is None or (mark.number, mark.by_entry) == (self.typed.number, self.typed.by_entry):
            return True
        chain = {self.target.number, self.target.original.number} if self.target else set()
        return mark.by_entry and mark.number in chain

    def carry_out(self, change: Change) -> None:
        """The vote the other way where the new words vote on the same, else taken back."""
        vote = self.entry.kind is EntryKind.VOTE
        mark = change.take(lambda m: vote and m.kind is EntryKind.VOTE and self._same_target(m))
        if mark is None:
            change.take_back(self.entry.number)
            return
        number = self.entry.number
        change.entries.append(
            recording.rewording(number, change.message, mark, Origin.EDIT, change.key(number))
        )


def spoken_in(change: Change) -> list[Saying]:
    taken = change.ledger.taken_back
    mine = (
        Saying.of(entry, change)
        for entry in change.ledger.entries
        if entry.message_id == change.message.message_id
        and entry.origin is Origin.MARK
        and entry.number not in taken
    )
    return [saying for saying in mine if saying is not None]

"""Who waits for an answer, since when, and how long it took (the "owed" and "answered" lines)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

ROOM = "room"  # nobody in particular: everyone waits, as when a read-back expires
BY_HAND = ("command", "button", "menu")


@dataclass(frozen=True, slots=True)
class Debt:
    who: str
    why: str
    at: float  # seconds since the start


class Debts:
    """Open debts. `record` gets "owed" or "answered", who and why, as things happen."""

    def __init__(self, seconds: Callable[[], float], record: Callable[[str, str, str, float], None]) -> None:
        self._seconds, self._record = seconds, record
        self._open: list[Debt] = []
        self._away: list[tuple[float, float | None]] = []
        self.longest = 0.0
        self.longest_present = 0.0  # without the time the bot was away

    def owe(self, who: str, why: str) -> None:
        self._open.append(Debt(who, why, self._seconds()))
        self._record("owed", who, why, 0.0)

    def seen_by_all(self) -> None:
        """A message in the room, or a change of one that is not the board."""
        self._settle(lambda debt: True)

    def seen_by(self, who: str) -> None:
        """A reaction on someone's message, or a reply only they can see."""
        self._settle(lambda debt: debt.who == who)

    def board_changed(self) -> None:
        """The live board moves by itself all the time, so it answers only what was done by hand."""
        self._settle(lambda debt: debt.why.split(" ")[0] in BY_HAND)

    def bot_left(self) -> None:
        self._away.append((self._seconds(), None))

    def bot_came_back(self) -> None:
        self._away[-1] = (self._away[-1][0], self._seconds())

    def close(self) -> int:
        """Count what is still owed as waited for until now; returns how many."""
        for debt in self._open:
            self._count(debt)
        return len(self._open)

    def _settle(self, answers: Callable[[Debt], bool]) -> None:
        answered = [debt for debt in self._open if answers(debt)]
        self._open = [debt for debt in self._open if not answers(debt)]
        for debt in answered:
            self._record("answered", debt.who, debt.why, self._count(debt))

    def _count(self, debt: Debt) -> float:
        now = self._seconds()
        waited = now - debt.at
        away = sum(max(0.0, min(now, now if b is None else b) - max(debt.at, a)) for a, b in self._away)
        self.longest = max(self.longest, waited)
        self.longest_present = max(self.longest_present, waited - away)
        return waited

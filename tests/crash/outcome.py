"""What was left when a run was over."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from bot.meeting import ledger as folding
from bot.meeting.model import Entry, Meeting
from bot.store import minutes
from bot.store.outbox import Post
from tests.crash.injecting import Point
from tests.crash.world import World


@dataclass
class Outcome:
    """What was left when a run was over."""

    world: World
    points: list[Point]
    meeting: Meeting | None = None
    entries: list[Entry] = field(default_factory=list)
    rows: list[Post] = field(default_factory=list)
    stored: minutes.StoredMinutes | None = None
    ups: list[float] = field(default_factory=list)  # when the process came back, seconds since the start
    ids: dict[str, int] = field(default_factory=dict)  # message ids by reference
    said: dict[str, float] = field(default_factory=dict)  # when
    errors: list[str] = field(default_factory=list)
    crashed: bool = False
    downs: list[float] = field(default_factory=list)  # and when it had gone away before
    unseen_change: bool = False  # an edit or a deletion came before its message was heard of
    ended_at: float = 0.0

    @property
    def recorded(self) -> Counter[tuple[Any, ...]]:
        """The ledger without numbers: what was recorded, from whose words, about what."""
        text = {e.number: (e.kind.value, e.text) for e in self.entries}
        return Counter(
            (
                e.kind.value,
                e.text,
                e.quote,
                e.owner,
                e.due,
                e.author_id,
                e.value,
                e.origin.value,
                text.get(e.refers_to or 0),
            )
            for e in self.entries
        )

    @property
    def standing(self) -> Counter[tuple[Any, ...]]:
        """What holds at the end."""
        view = folding.fold(self.entries)
        return Counter((i.kind.value, i.text, i.status, i.owner, len(i.votes)) for i in view.items if i.live)

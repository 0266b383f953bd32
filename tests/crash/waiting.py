"""Nobody is left waiting: what people asked for in a random life, and whether anything came after it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.crash.injecting import EPOCH
from tests.crash.judging import LONGEST_WAIT_S
from tests.crash.world import World

ASKS = ("@アシスタント", "@assistant", "@Ketsugi")


@dataclass(frozen=True)
class Debt:
    """Something asked for in a channel. `troubles`: how much had gone wrong by then."""

    what: str
    at: float
    channel: int
    troubles: int
    message_id: int | None = None


@dataclass
class Waits:
    """What is owed, until it came or was taken back. Where something went wrong on the way, other searches judge."""

    world: World
    owed: list[Debt] = field(default_factory=list)

    def asked(self, debt: Debt) -> None:
        self.owed.append(debt)

    def overdue(self, now: float, troubles: int) -> list[str]:
        """Debts that nothing answered in time; settled ones are forgotten."""
        self.owed = [d for d in self.owed if d.troubles == troubles and not self._settled(d)]
        late = [d for d in self.owed if now - d.at > LONGEST_WAIT_S]
        return [f"{d.what} at {d.at:.1f} s: nothing came by {now:.1f} s" for d in late]

    def _settled(self, debt: Debt) -> bool:
        posts = self.world.channels.get(debt.channel, [])
        if debt.message_id is not None:
            theirs = [m for m in posts if m.message_id == debt.message_id]
            if not theirs or theirs[0].edited_at is not None:
                return True
        return any(m.mine and (m.at - EPOCH).total_seconds() >= debt.at for m in posts)

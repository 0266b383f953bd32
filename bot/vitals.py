"""What the signs of life that a process left say of it, for `ketsugi doctor`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.store.heartbeats import PROCESS, Heartbeat

FAILING = 2  # failures in a row: one alone is Discord or a disk having a bad moment


@dataclass(frozen=True, slots=True)
class Vitals:
    """`late` and `failing` are workers as of the last sign of life, whether the process still runs or not."""

    last: Heartbeat  # the process's own
    alive: bool
    late: tuple[Heartbeat, ...] = ()
    failing: tuple[Heartbeat, ...] = ()


def vitals(beats: Sequence[Heartbeat], now: datetime) -> Vitals | None:
    """None where no process ever left a sign of life."""
    last = next((beat for beat in beats if beat.name == PROCESS), None)
    if last is None:
        return None
    failing = [b for b in beats if b.failures >= FAILING]
    # Against the process's own row: a process that has stopped does none of its work, which says nothing of it.
    late = [b for b in beats if b not in failing and _late(b, last.at)]
    return Vitals(last, not _late(last, now), tuple(late), tuple(failing))


def _late(beat: Heartbeat, now: datetime) -> bool:
    """One turn may be left out (a slow disk, a long piece of work); two mean that it does not come any more."""
    return now - beat.at > timedelta(seconds=2 * beat.every_s + 60)

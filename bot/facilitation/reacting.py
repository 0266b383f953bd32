"""Putting the reactions that a room owes: signs, for whose sake nothing else may wait."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from bot.facilitation.core import Core
from bot.facilitation.room import Room
from bot.meeting.model import MeetingState
from bot.stage import Busy, Refused, Uncertain
from bot.store import outbox
from bot.store.engine import Connection
from bot.store.outbox import Post
from bot.supervision import log_failure

AGAIN = (5.0, 15.0, 60.0)  # seconds between tries; one that hangs keeps the room from its other steps
AT_ONCE = timedelta(seconds=2)  # then the room's other steps have their turn
LATE = timedelta(minutes=10)  # by then a sign tells nobody anything; once the meeting is closed at once


async def put_all(core: Core, room: Room, rows: Sequence[Post]) -> None:
    """Until one cannot be put (every further one might hang too), or until it takes long."""
    if room.react_at is not None and room.react_at > core.clock.now():
        return
    began = core.clock.now()
    room.react_at = None
    for position, row in enumerate(rows):
        try:
            await core.stage.react(room.place, int(row.payload["target"]), str(row.payload["emoji"]))
        except Refused as refused:
            log_failure(f"post {row.key} of meeting {room.id} was refused ({refused.reason})", refused)
            await _settle(core, row, refused.reason)
        except (Busy, Uncertain) as error:
            await _pass_over(core, room, rows[position:], error)
            return
        else:  # adding it twice is adding it once: there was no attempt to remember
            await _settle(core, row)
            room.react_tries = 0
        if core.clock.now() - began > AT_ONCE:
            room.react_at = core.clock.now() + timedelta(seconds=AGAIN[0])
            return


async def _settle(core: Core, row: Post, failure: str | None = None) -> None:
    now = core.clock.now()

    async def work(c: Connection) -> None:
        if failure is None:
            await outbox.sent(c, row.id, None, now)
        else:
            await outbox.fail(c, row.id, failure, now)

    await core.db.unit(work)


async def _pass_over(core: Core, room: Room, rows: Sequence[Post], error: Busy | Uncertain) -> None:
    """Those that are late are given up, the others are tried again after a pause that grows."""
    now = core.clock.now()
    closed = room.meeting.state is MeetingState.CLOSED
    late = [row for row in rows if closed or now - row.created_at > LATE]
    for row in late:
        log_failure(f"post {row.key} of meeting {room.id} was given up", error, level=logging.INFO)
        await _settle(core, row, "late")
    if len(late) == len(rows):
        return
    pause = AGAIN[min(room.react_tries, len(AGAIN) - 1)]
    if isinstance(error, Busy):
        pause = max(pause, error.retry_after)
    room.react_tries += 1
    room.react_at = now + timedelta(seconds=pause)

"""What people see while an answer is being thought up: the typing indicator, and on their message a sign once it takes
long.

The sign is what keeps the wait for the first thing visible below 25 s where the model takes its whole deadline and
Discord then hangs on the answer. Nothing rests on it, so it goes past the outbox: it is put while the room's only step
is still thinking, a second one of the same kind changes nothing, and a lost one is tried again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from bot.clock import Clock
from bot.facilitation.core import Core
from bot.facilitation.room import Room
from bot.meeting.model import Message
from bot.stage import Busy, Refused, Uncertain
from bot.supervision import log_failure

TYPING_AFTER_S = 1.0  # most answers are there by then
AGAIN_S = 8.0  # Discord shows an indicator for ten seconds
SIGN_AFTER_S = 12.0  # since the message; a request for a sign may then still hang for 5 s, and be tried again
AT_LEAST_S = 3.0  # of thinking, however long the message has waited: it may be from before a restart
AT_ONCE = 5  # messages that get a sign, the newest
SIGN = "💭"


@asynccontextmanager
async def shown(core: Core, room: Room, messages: Sequence[Message]) -> AsyncIterator[None]:
    """Shows it while the body runs; ends with it, and keeps it up by nothing."""
    task = asyncio.get_running_loop().create_task(_show(core, room, messages), name="ketsugi-signs")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _show(core: Core, room: Room, messages: Sequence[Message]) -> None:
    try:
        async with asyncio.TaskGroup() as both:
            both.create_task(_type(core, room), name="ketsugi-typing")
            both.create_task(_sign(core, room, messages), name="ketsugi-sign")
    except Exception as error:
        log_failure(f"no sign of thinking in meeting {room.id}", error)


async def _type(core: Core, room: Room) -> None:
    await core.clock.sleep(TYPING_AFTER_S, "typing")
    await keep_typing(core.clock, lambda: core.stage.typing(room.place))


async def keep_typing(clock: Clock, show: Callable[[], Awaitable[None]]) -> None:
    """Until it is cancelled. `show` puts one indicator, and never raises."""
    while True:
        await show()
        await clock.sleep(AGAIN_S, "typing")


async def _sign(core: Core, room: Room, messages: Sequence[Message]) -> None:
    for message in messages[-AT_ONCE:]:
        waited = (core.clock.now() - message.at).total_seconds()
        pause: float | None = max(AT_LEAST_S, SIGN_AFTER_S - waited)
        while pause is not None:
            await core.clock.sleep(pause, "a sign of thinking")
            pause = None if _answered(room, message) else await _put(core, room, message)


def _answered(room: Room, message: Message) -> bool:
    """Whoever asked while the meeting closes may have been told at once where it goes on."""
    return not room.keys.isdisjoint(f"{told}:{message.message_id}" for told in ("ask", "late", "soon"))


async def _put(core: Core, room: Room, message: Message) -> float | None:
    """Seconds after which it is worth another try; None where it stands there, or never will."""
    try:
        await core.stage.react(room.place, message.message_id, SIGN)
    except Busy as busy:
        return max(1.0, busy.retry_after)
    except Uncertain:
        return 1.0
    except Refused as refused:
        log_failure(f"no sign of thinking in meeting {room.id}", refused, level=logging.INFO)
    return None

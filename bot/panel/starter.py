"""The post in a text channel that a panel's thread hangs on.

The meeting's own posts go through the outbox, whose rows belong to a meeting; this one is there before the meeting
is, for the meeting's channel is the thread on it. So it does by hand what the outbox does: the same nonce for every
try, and before each a look into the channel for what an earlier one left, be it by a lost answer, by a process that
died, or by a person who tried again.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from bot.facilitation.core import Core
from bot.facilitation.delivery import CLOCKS_APART, RETRY, snowflake
from bot.meeting.text import squeeze
from bot.stage import Busy, Outgoing, Place, Refused, Uncertain
from bot.store import meetings
from bot.store.engine import Connection

TRIES = 4  # the command's answer can be given for 15 minutes, but somebody waits for it
LEFT_BEHIND = timedelta(minutes=15)
LONGEST_PAUSE_S = 8.0


async def put(core: Core, place: Place, post: Outgoing) -> int:
    """Its message id; StageError where it could not be posted."""
    for number in range(TRIES - 1):
        try:
            return await _once(core, place, post)
        except Busy as busy:
            if busy.retry_after > LONGEST_PAUSE_S:
                raise
            await core.clock.sleep(max(busy.retry_after, RETRY[number]), "the panel's starter")
        except Uncertain:
            await core.clock.sleep(RETRY[number], "the panel's starter")
    return await _once(core, place, post)


async def _once(core: Core, place: Place, post: Outgoing) -> int:
    found = await _left_behind(core, place, post)
    return await core.stage.say(place, post) if found is None else found


async def _left_behind(core: Core, place: Place, post: Outgoing) -> int | None:
    """The newest such post of ours on whose thread no meeting was ever held."""
    since = snowflake(core.clock.now() - LEFT_BEHIND - CLOCKS_APART)
    try:
        seen = await core.stage.history(place, since)
    except Refused:
        return None  # it may not be read here: whether it can be posted, the post itself will tell
    for message in reversed(seen):
        if not message.mine or squeeze(message.text) != squeeze(post.text):
            continue
        if not await core.db.unit(partial(_was_held, guild_id=place.guild_id, thread_id=message.message_id)):
            return message.message_id
    return None


async def _was_held(c: Connection, guild_id: int, thread_id: int) -> bool:
    """Whether a meeting was held on this post's thread: a thread made from a message has that message's id."""
    return await meetings.latest_in(c, guild_id, thread_id) is not None

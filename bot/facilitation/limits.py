"""What a room is told when its server has used up a cap of the day: once, and what goes on nevertheless."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from bot import phrases
from bot.meeting.model import MeetingState, Persona
from bot.stage import Outgoing
from bot.store.engine import Connection

if TYPE_CHECKING:
    from bot.facilitation.room import Room


async def tell(c: Connection, room: Room, now: datetime) -> bool:
    """Put the notices of caps reached since; each once a day and meeting. True where one was put."""
    from bot.facilitation.delivery import put_post

    meeting, policy = room.meeting, room.core.policy
    reached = policy.reached(meeting.guild_id)
    if not reached or meeting.state is not MeetingState.OPEN:
        return False
    day = (await policy.count(c, meeting.guild_id, now)).day
    put = False
    for cap in dict.fromkeys("messages" if cap == "messages" else "model" for cap in reached):
        key = f"cap:{cap}:{day}"
        if key in room.keys:
            continue
        post = Outgoing(
            phrases.t(f"notice.cap_{cap}", meeting.language),
            Persona.SYSTEM,
            meeting.language,
            meeting_id=room.id,
        )
        put |= await put_post(c, room, key, post, now=now, route=None, source="fixed")
    return put

"""Taking part without speaking: the Join button, or a reaction to the board."""

from __future__ import annotations

from bot.errors import BadInput
from bot.facilitation.core import Change, Core
from bot.facilitation.requests import Person
from bot.facilitation.room import Room
from bot.meeting.lifecycle import TALKING
from bot.store import transcript
from bot.store.engine import Connection

JOIN = "🙋"  # what the button stores: the reaction it stands for


async def join(core: Core, room: Room, by: Person) -> bool:
    """True where this person was not there before. BadInput where they opted out, or the meeting is over."""
    now = core.clock.now()

    async def work(c: Connection) -> Change:
        if room.meeting.state not in TALKING:
            raise BadInput("error.closed_already")
        guild, board = room.meeting.guild_id, room.meeting.kickoff_message_id
        if board is None or await transcript.opted_out(c, guild, by.id):
            raise BadInput("error.you_opted_out")
        new = by.id not in room.participants
        await transcript.react(c, guild, room.id, board, by.id, by.name, JOIN, True, now)
        return Change(value=(new, await transcript.joined(c, room.id, room.board_ids)))

    change = await core.commit(room, work)
    new, room.joined = change.value
    room.board_dirty = True
    room.rearm()
    return bool(new)

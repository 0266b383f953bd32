"""Handing the chair to somebody else."""

from __future__ import annotations

from bot import phrases
from bot.errors import BadInput, NotAllowed
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import put_post
from bot.facilitation.requests import Person
from bot.facilitation.room import Room
from bot.meeting.display import display
from bot.meeting.lifecycle import TALKING
from bot.meeting.model import Persona
from bot.stage import Outgoing
from bot.store import meetings, transcript
from bot.store.engine import Connection


async def hand_over(core: Core, room: Room, by: Person, to: Person, interaction_id: int) -> None:
    """The chair (or who holds Manage Server) gives the chair to `to`, and the room is told."""
    now = core.clock.now()

    async def work(c: Connection) -> Change:
        meeting = room.meeting
        if meeting.state not in TALKING:
            raise BadInput("error.closed_already")
        if by.id != meeting.chair_id and not by.manager:
            raise NotAllowed("error.only_chair", chair=meeting.chair_name)
        if to.id == meeting.chair_id:
            raise BadInput("error.chairs_already", name=to.name)
        if await transcript.opted_out(c, meeting.guild_id, to.id):
            raise BadInput("error.cannot_chair", name=to.name)
        change = Change(meeting=await meetings.update(c, room.id, chair_id=to.id, chair_name=to.name))
        text = phrases.t(
            "agenda.new_chair",
            meeting.language,
            old=display(meeting.chair_name, 60),
            new=display(to.name, 60),
        )
        post = Outgoing(text, Persona.FACILITATOR, meeting.language, meeting_id=room.id)
        change.posts |= await put_post(c, room, f"chair:{interaction_id}", post, now=now, route=None)
        return change

    await core.commit(room, work)

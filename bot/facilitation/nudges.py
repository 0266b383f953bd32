"""What the facilitator says unasked, in fixed words: moving on from an item, bringing in somebody quiet.

Both keep to the budget of unprompted posts (SPEC 2.3) and stand in the outbox by keys, so that a restart
knows what was said.
"""

from __future__ import annotations

from datetime import datetime

from bot import phrases
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import put_post
from bot.facilitation.room import Room
from bot.meeting import agenda, participation
from bot.meeting.display import brief, display
from bot.meeting.model import MeetingState, Persona, Route
from bot.stage import Outgoing
from bot.store.engine import Connection


async def step_move_on(core: Core, room: Room) -> None:
    """Propose the next item once the current one has had its time; the people decide."""
    now = core.clock.now()

    async def work(c: Connection) -> Change:
        here = agenda.current(room.meeting, room.view)
        following = agenda.following(room.meeting, room.view)
        at = room.move_on_at()
        if here is None or following is None or at is None or at > now:
            return Change()
        text = phrases.t(
            "agenda.move_on",
            room.meeting.language,
            title=brief(here.title, 120),
            minutes=max(1, round(here.minutes or 0)),
            next=brief(following.title, 120),
        )
        return await _say(c, room, f"move_on:{here.slot}", text, now)

    await core.commit(room, work)


async def step_bring_in(core: Core, room: Room) -> None:
    """Ask one quiet person by name, without a ping."""
    now = core.clock.now()

    async def work(c: Connection) -> Change:
        found = room.to_bring_in()
        if found is None or found[1] > now:
            return Change()
        person = found[0]
        name = display(room.participants.get(person, ""), 40)
        text = phrases.t("agenda.bring_in", room.meeting.language, name=name)
        change = await _say(c, room, f"bring_in:{person}:{int(now.timestamp())}", text, now)
        change.value = person if change.posts else None
        return change

    change = await core.commit(room, work)
    if change.value is not None:
        room.asked.setdefault(change.value, []).append(now)


async def _say(c: Connection, room: Room, key: str, text: str, now: datetime) -> Change:
    if room.meeting.state is not MeetingState.OPEN or not _may_speak(room, now):
        return Change()
    post = Outgoing(text, Persona.FACILITATOR, room.meeting.language, meeting_id=room.id)
    put = await put_post(
        c,
        room,
        key,
        post,
        now=now,
        route=Route.TURN,
        source="fixed",
        facts={"unprompted": room.human_count},
    )
    if put:
        room.unprompted_at, room.unprompted_count = now, room.human_count
    return Change(posts=put)


def _may_speak(room: Room, now: datetime) -> bool:
    since = None if room.unprompted_at is None else (now - room.unprompted_at).total_seconds()
    said = room.human_count - (room.unprompted_count or 0)
    return participation.may_speak(room.meeting.activity, said, since, len(room.participants))

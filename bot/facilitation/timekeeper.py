"""The clock of a meeting (SPEC 2.8): notices with the right number, extending, and what quiet means."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from bot import phrases
from bot.errors import BadInput
from bot.facilitation import closing
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import put_post
from bot.facilitation.room import Room
from bot.facilitation.thinking import Material, Thought, record, think
from bot.meeting.model import MeetingState, Persona, Route
from bot.meeting.schedule import due_notices, notices
from bot.stage import Outgoing
from bot.store import meetings
from bot.store.engine import Connection

NOTICE_S = 15.0
LATE = timedelta(seconds=45)  # a notice later than this names the minutes that are really left
LONGEST = timedelta(hours=12)


def minutes_left(planned: int, at: datetime, room: Room, now: datetime) -> int:
    """The number a notice holds: the plan's, or after an outage what the clock says (0 = up, negative = over)."""
    if now - at <= LATE:
        return planned
    seconds = (room.meeting.planned_end - now).total_seconds()
    return math.ceil(seconds / 60) if seconds > 0 else -math.floor(-seconds / 60)


def fixed_notice(minutes: int, language: str) -> str:
    if minutes > 0:
        return phrases.t("notice.left", language, minutes=minutes)
    return (
        phrases.t("notice.up", language)
        if minutes == 0
        else phrases.t("notice.over", language, minutes=-minutes)
    )


async def noticed(core: Core, room: Room, minutes: int, stuff: Material | None = None) -> Thought:
    """The generation behind a notice; `minutes` left, negative when over."""
    return await think(
        core,
        room,
        Route.TIME_NOTICE,
        stuff=stuff,
        notice_minutes=minutes,
        seconds=core.limits.seconds(NOTICE_S),
        extract=False,
        fallback=fixed_notice(minutes, room.meeting.language),
    )


async def step_notice(core: Core, room: Room) -> None:
    """The newest due notice; older due ones are marked as passed, so that they never come late."""
    now = core.clock.now()
    due = due_notices(room.state(), now)
    if not due:
        return
    end, latest = room.meeting.planned_end, due[-1]
    minutes = minutes_left(latest.minutes, latest.at, room, now)
    thought = await noticed(core, room, minutes)
    text, source = thought.final(core)
    posted = core.clock.now()

    async def work(c: Connection) -> Change:
        change = await record(c, room, thought)
        fresh = False
        for notice in due:
            fresh = await meetings.mark_notice(c, room.id, end, notice.minutes, posted)
        # None while closing (SPEC 2.8), also where the wish came while this was being worded.
        if (
            fresh
            and text is not None
            and room.meeting.state is MeetingState.OPEN
            and room.meeting.planned_end == end
        ):
            post = Outgoing(text, Persona.FACILITATOR, room.meeting.language, meeting_id=room.id)
            change.posts |= await put_post(
                c,
                room,
                f"notice:{int(end.timestamp())}:{latest.minutes}",
                post,
                now=posted,
                route=Route.TIME_NOTICE,
                source=source,
                generation_id=thought.generation_id,
            )
        return change

    await core.commit(room, work)
    room.fired.update((end, notice.minutes) for notice in due)


async def extend(core: Core, room: Room, minutes: int) -> datetime:
    """A later planned end; while a read-back waits this also means that people want to go on."""
    now = core.clock.now()

    async def work(c: Connection) -> Change:
        closing.refuse_closed(room)
        end = max(room.meeting.planned_end, now) + timedelta(minutes=minutes)
        if minutes < 1 or end - room.meeting.started_at > LONGEST:
            raise BadInput("error.extend_range", hours=int(LONGEST.total_seconds() // 3600))
        change = Change()
        if room.meeting.closing:
            stamp = int((room.meeting.closing_since or now).timestamp())
            await closing.cancel(c, room, now, change, key=f"cancelled:{stamp}")
        change.meeting = await meetings.update(c, room.id, planned_end=end)
        passed = [n for n in notices(change.meeting, now) if n.at <= now]
        for notice in passed:
            await meetings.mark_notice(c, room.id, end, notice.minutes, now)
        change.value = end, {(end, n.minutes) for n in passed}
        return change

    change = await core.commit(room, work)
    end: datetime = change.value[0]
    room.fired.update(change.value[1])
    room.rearm()
    return end


async def step_quiet_ask(core: Core, room: Room) -> None:
    now = core.clock.now()
    text = phrases.t("closing.quiet_ask", room.meeting.language)

    async def work(c: Connection) -> Change:
        change = Change(meeting=await meetings.update(c, room.id, quiet_asked_at=now))
        post = Outgoing(text, Persona.FACILITATOR, room.meeting.language, meeting_id=room.id)
        change.posts |= await put_post(
            c,
            room,
            "quiet_ask",
            post,
            now=now,
            route=Route.TURN,
            source="fixed",
            facts={"unprompted": room.human_count},
        )
        return change

    await core.commit(room, work)
    # Asked for or not, it is a post: the next unprompted one waits its turn (SPEC 2.3).
    room.unprompted_at, room.unprompted_count = now, room.human_count


async def step_quiet_close(core: Core, room: Room) -> None:
    """After the planned end ten quiet minutes are a wish to end that nobody has to voice."""
    now = core.clock.now()
    await core.commit(room, lambda c: closing.begin(c, room, by=None, quote=None, at=now))

"""Actions are recalled once, on their day at 9:00 of the team's time, in the channel they come from.

Nothing is kept in memory: what is due is read from the ledgers of closed meetings, what was said from the
outbox.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from bot import phrases
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import put_post
from bot.facilitation.display import message_link
from bot.facilitation.room import Room
from bot.meeting.display import brief, display, fit
from bot.meeting.model import Item, Persona
from bot.stage import Outgoing
from bot.store import dues, meetings
from bot.store.engine import Connection
from bot.supervision import log_failure

HOUR = time(9, 0)
LOOK_AGAIN = timedelta(hours=12)
AFTER_TROUBLE = timedelta(minutes=10)
LENGTH = 1500


async def run(
    core: Core, room_of: Callable[[int], Room | None], owe: Callable[[Room], None]
) -> datetime | None:
    """Put the reminders that are due, hand each room to `owe`; returns when to look again (None: never).

    `room_of` gives the room of a closed meeting that is in memory anyway.
    """
    now = core.clock.now()
    ids = await core.db.unit(lambda c: dues.meetings_with_due(c, (now - timedelta(days=2)).date()))
    upcoming: list[datetime] = []
    for meeting_id in ids:
        try:
            upcoming += await _look_at(core, meeting_id, room_of, owe, now)
        except Exception as error:  # one meeting's trouble keeps no other team from its reminder
            log_failure(f"actions of meeting {meeting_id} could not be recalled", error)
            upcoming.append(now + AFTER_TROUBLE)
    return min([*upcoming, now + LOOK_AGAIN]) if upcoming else None


async def _look_at(
    core: Core,
    meeting_id: int,
    room_of: Callable[[int], Room | None],
    owe: Callable[[Room], None],
    now: datetime,
) -> list[datetime]:
    """Put what is due of one meeting; the moments still to come."""
    room = room_of(meeting_id) or await _read(core, meeting_id)
    if room is None:
        return []
    upcoming = []
    for day, items in _days(room, await _carried_on(core, meeting_id)).items():
        at = datetime.combine(day, HOUR, _zone(room))
        if at > now:
            upcoming.append(at)
            continue
        due = _is_today(room, day, now) and (room.meeting.closed_at or now) <= at
        if due and await _remind(core, room, day, items, now):
            owe(room)
    return upcoming


async def _read(core: Core, meeting_id: int) -> Room | None:
    meeting = await core.db.unit(lambda c: meetings.get(c, meeting_id))
    if meeting is None:
        return None
    room = Room(core, meeting)
    await room.reload()
    return room


async def _carried_on(core: Core, meeting_id: int) -> frozenset[int]:
    return await core.db.unit(lambda c: dues.carried_on(c, meeting_id))


def _zone(room: Room) -> ZoneInfo:
    return ZoneInfo(room.meeting.timezone)


def _is_today(room: Room, day: date, now: datetime) -> bool:
    return now.astimezone(_zone(room)).date() == day


def _days(room: Room, carried_on: frozenset[int]) -> dict[date, list[Item]]:
    """Unfinished actions by the day they are due; those that a later meeting took over are that one's."""
    found: dict[date, list[Item]] = {}
    for item in room.view.actions:
        if item.status != "live" or item.panels or item.number in carried_on or not item.due:
            continue
        try:
            day = date.fromisoformat(item.due)
        except ValueError:
            continue  # due "by next sprint": no day to remind on
        found.setdefault(day, []).append(item)
    return found


async def _remind(core: Core, room: Room, day: date, items: list[Item], now: datetime) -> bool:
    key = f"reminder:{day.isoformat()}"
    language = room.meeting.language

    async def work(c: Connection) -> Change:
        if not (await core.policy.load(c, room.meeting.guild_id)).reminders:
            return Change()
        rows = [_row(room, item) for item in items]
        body = fit(rows, LENGTH, lambda count: phrases.t("reply.more", language, count=count))
        text = "\n".join([phrases.t("reminder.head", language, title=brief(room.meeting.title, 80)), *body])
        post = Outgoing(text, Persona.ASSISTANT, language, meeting_id=room.id)
        return Change(posts=await put_post(c, room, key, post, now=now, route=None, source="fixed"))

    return key not in room.keys and (await core.commit(room, work)).posts


def _row(room: Room, item: Item) -> str:
    meeting, language = room.meeting, room.meeting.language
    owner = display(item.owner, 60) if item.owner else phrases.t("reply.nobody", language)
    message = item.entry.message_id or item.original.message_id or meeting.kickoff_message_id
    link = message_link(meeting.guild_id, meeting.channel_id, message) if message else ""
    return phrases.t(
        "reminder.row", language, number=item.number, text=brief(item.text, 200), owner=owner, link=link
    )

"""Meetings, their states, notices and interactions."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import AlreadyOpen, StoreError
from bot.meeting.model import ChannelKind, Meeting, MeetingState
from bot.store import meetings
from bot.store.engine import Database

from .conftest import CHANNEL, GUILD, NOW, SATO, make_meeting

STARTING, OPEN, CLOSING, CLOSED = (
    MeetingState.STARTING,
    MeetingState.OPEN,
    MeetingState.CLOSING,
    MeetingState.CLOSED,
)


async def test_a_new_meeting_is_read_back_as_it_was_made(database: Database, meeting: Meeting) -> None:
    assert await database.unit(lambda c: meetings.get(c, meeting.id)) == meeting
    assert (meeting.state, meeting.channel_kind, meeting.agenda) == (
        STARTING,
        ChannelKind.TEXT,
        ("価格", "発売日"),
    )


async def test_a_channel_has_one_meeting_that_is_not_closed(database: Database, meeting: Meeting) -> None:
    with pytest.raises(AlreadyOpen):
        await database.unit(make_meeting)
    await database.unit(lambda c: make_meeting(c, channel_id=CHANNEL + 1))
    await database.unit(lambda c: meetings.move(c, meeting.id, [STARTING], CLOSED, closed_at=NOW))
    assert await database.unit(lambda c: meetings.open_in(c, GUILD, CHANNEL)) is None
    second = await database.unit(lambda c: make_meeting(c, started_at=NOW + timedelta(hours=2)))
    assert await database.unit(lambda c: meetings.open_in(c, GUILD, CHANNEL)) == second
    assert await database.unit(lambda c: meetings.latest_in(c, GUILD, CHANNEL)) == second


async def test_of_two_who_close_at_once_one_closes(database: Database, meeting: Meeting) -> None:
    async def close(c: AsyncConnection) -> Meeting | None:
        return await meetings.move(c, meeting.id, {STARTING, OPEN}, CLOSING, closing_since=NOW, wish_by=SATO)

    first, second = await asyncio.gather(database.unit(close), database.unit(close))
    assert second is None
    assert first is not None
    assert (first.state, first.closing, first.wish_by) == (CLOSING, True, SATO)


async def test_update_changes_what_is_named_and_nothing_else(database: Database, meeting: Meeting) -> None:
    changed = await database.unit(lambda c: meetings.update(c, meeting.id, agenda=("一つ",), cursor=99))
    assert (changed.agenda, changed.cursor, changed.title) == (("一つ",), 99, meeting.title)
    for changes in ({"ledger_head": "0"}, {"guild_id": 5}, {"colour": "red"}):
        with pytest.raises(StoreError, match=next(iter(changes))):
            await database.unit(lambda c, changes=changes: meetings.update(c, meeting.id, **changes))
    with pytest.raises(StoreError, match="no meeting 77"):
        await database.unit(lambda c: meetings.update(c, 77, cursor=1))


async def test_a_notice_is_claimed_once_for_each_planned_end(database: Database, meeting: Meeting) -> None:
    end = meeting.planned_end
    later = end + timedelta(minutes=10)

    async def claim(c: AsyncConnection) -> list[bool]:
        claims = ((end, 10), (end, 10), (end, 5), (later, 10))
        return [await meetings.mark_notice(c, meeting.id, at, minutes, NOW) for at, minutes in claims]

    assert await database.unit(claim) == [True, False, True, True]
    assert await database.unit(lambda c: meetings.notices(c, meeting.id)) == {
        (end, 10),
        (end, 5),
        (later, 10),
    }


async def test_an_interaction_is_carried_out_once(database: Database, meeting: Meeting) -> None:
    for number, meeting_id, fresh in ((1, meeting.id, True), (1, None, False), (2, None, True)):
        assert await database.unit(lambda c, n=number, m=meeting_id: meetings.once(c, n, m, NOW)) is fresh


async def test_listing_is_newest_first_in_pages(database: Database) -> None:
    made = []
    for hour in range(5):
        made.append(
            await database.unit(
                lambda c, h=hour: make_meeting(c, channel_id=h + 1, started_at=NOW + timedelta(hours=h))
            )
        )
    assert await database.unit(lambda c: meetings.listing(c, GUILD, 2, 1)) == [made[3], made[2]]
    assert await database.unit(meetings.open_all) == made

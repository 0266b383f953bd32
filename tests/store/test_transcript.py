"""What people wrote, as stored and read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.meeting.model import Late, Meeting, Speaker
from bot.store import transcript
from bot.store.engine import Database

from .conftest import GUILD, NOW, SATO, SUZUKI, said


@pytest.fixture
async def talk(database: Database, meeting: Meeting) -> int:
    """Messages 1 to 5 of two people, stored in a scrambled order; returns the meeting's id."""

    async def work(c: AsyncConnection) -> None:
        for number in (3, 1, 5, 2, 4):
            message = said(meeting.id, number, "あ" * number, at=NOW + timedelta(seconds=number))
            if number % 2 == 0:
                message = replace(message, author_id=SUZUKI, author_name=f"鈴木{number}")
            assert await transcript.add(c, message, GUILD)

    await database.unit(work)
    return meeting.id


async def test_order_is_by_snowflake_whatever_order_they_came_in(database: Database, talk: int) -> None:
    async def work(c: AsyncConnection) -> list[list[int]]:
        reads = (
            await transcript.everything(c, talk),
            await transcript.after(c, talk, 2),
            await transcript.after(c, talk, 2, limit=2),
            await transcript.recent(c, talk, 2),
        )
        return [[m.message_id for m in read] for read in reads]

    assert await database.unit(work) == [[1, 2, 3, 4, 5], [3, 4, 5], [3, 4], [4, 5]]


async def test_a_message_is_stored_once(database: Database, talk: int) -> None:
    assert not await database.unit(lambda c: transcript.add(c, said(talk, 3, "another"), GUILD))
    read = await database.unit(lambda c: transcript.get(c, talk, 3))
    assert read == said(talk, 3, "あああ", at=NOW + timedelta(seconds=3))


async def test_edit_gives_the_message_as_it_was_and_only_when_it_changed(
    database: Database, talk: int
) -> None:
    async def work(c: AsyncConnection) -> None:
        before = await transcript.edit(c, talk, 3, "いいい", NOW)
        assert before is not None
        assert before.text == "あああ"
        assert await transcript.edit(c, talk, 3, "いいい", NOW) is None
        assert await transcript.edit(c, talk, 99, "x", NOW) is None
        now = await transcript.get(c, talk, 3)
        assert now is not None
        assert (now.text, now.edited_at) == ("いいい", NOW)

    await database.unit(work)


async def test_a_deleted_message_is_gone_for_readers_and_does_not_come_back(
    database: Database, talk: int
) -> None:
    async def work(c: AsyncConnection) -> None:
        before = await transcript.delete(c, talk, 5, NOW)
        assert before is not None
        assert before.text == "あああああ"
        assert await transcript.delete(c, talk, 5, NOW) is None
        assert await transcript.edit(c, talk, 5, "x", NOW) is None
        assert not await transcript.add(c, said(talk, 5, "あああああ"), GUILD)
        kept = await transcript.get(c, talk, 5)
        assert kept is not None
        assert (kept.text, kept.deleted_at) == ("", NOW)
        assert [m.message_id for m in await transcript.recent(c, talk, 2)] == [3, 4]
        assert await transcript.count(c, talk) == 4
        assert await transcript.last_id(c, talk) == 5
        assert await transcript.last_at(c, talk) == NOW + timedelta(seconds=4)

    await database.unit(work)


async def test_speakers_have_their_newest_name_and_come_most_talkative_first(
    database: Database, talk: int
) -> None:
    assert await database.unit(lambda c: transcript.speakers(c, talk)) == (
        Speaker(SATO, "佐藤", 3, 9, NOW + timedelta(seconds=5)),
        Speaker(SUZUKI, "鈴木4", 2, 6, NOW + timedelta(seconds=4)),
    )


async def test_an_empty_meeting_reads_as_empty(database: Database, meeting: Meeting) -> None:
    async def work(c: AsyncConnection) -> tuple[object, ...]:
        number = meeting.id
        return (
            await transcript.everything(c, number),
            await transcript.speakers(c, number),
            await transcript.last_id(c, number),
            await transcript.last_at(c, number),
            await transcript.get(c, number, 1),
        )

    assert await database.unit(work) == ([], (), 0, None, None)


async def test_reactions_are_put_and_taken_once(database: Database, talk: int) -> None:
    async def react(c: AsyncConnection, added: bool) -> bool:
        return await transcript.react(c, GUILD, talk, 3, SUZUKI, "鈴木", "✅", added, NOW)

    for added, changed, standing in ((True, True, 1), (True, False, 1), (False, True, 0), (False, False, 0)):
        assert await database.unit(lambda c, a=added: react(c, a)) is changed
        reactions = await database.unit(lambda c: transcript.reactions(c, talk, 3))
        assert reactions == [(SUZUKI, "鈴木", "✅", NOW)] * standing


async def test_who_opted_out_is_not_stored_in_that_server(database: Database, talk: int) -> None:
    async def work(c: AsyncConnection) -> None:
        assert await transcript.opt_out(c, GUILD, SATO, NOW)
        assert not await transcript.opt_out(c, GUILD, SATO, NOW)
        assert await transcript.opted_out(c, GUILD, SATO)
        assert not await transcript.opted_out(c, GUILD + 1, SATO)
        assert not await transcript.add(c, said(talk, 6, "x"), GUILD)
        assert not await transcript.react(c, GUILD, talk, 3, SATO, "佐藤", "👍", True, NOW)
        assert await transcript.get(c, talk, 6) is None
        assert await transcript.add(c, said(talk, 7, "x", author_id=SUZUKI), GUILD)
        assert await transcript.opt_in(c, GUILD, SATO, NOW)
        assert not await transcript.opt_in(c, GUILD, SATO, NOW)
        assert await transcript.add(c, said(talk, 6, "x"), GUILD)

    await database.unit(work)


async def test_what_was_written_before_opting_in_again_is_not_stored(database: Database, talk: int) -> None:
    back, later = NOW + timedelta(minutes=5), NOW + timedelta(minutes=9)

    async def work(c: AsyncConnection) -> None:
        assert await transcript.opted_in_at(c, GUILD, SATO) is None
        await transcript.opt_out(c, GUILD, SATO, NOW)
        assert await transcript.unheard(c, GUILD, SATO, later)
        await transcript.opt_in(c, GUILD, SATO, back)
        assert await transcript.opted_in_at(c, GUILD, SATO) == back
        for at, wanted in (
            (NOW, False),
            (back - timedelta(milliseconds=1), False),
            (back, True),
            (later, True),
        ):
            assert await transcript.unheard(c, GUILD, SATO, at) is not wanted
            number = 20 + int((at - NOW).total_seconds())
            assert await transcript.add(c, said(talk, number, "x", at=at), GUILD) is wanted
        assert not await transcript.unheard(c, GUILD, SUZUKI, NOW)
        assert not await transcript.unheard(c, GUILD + 1, SATO, NOW)
        assert await transcript.react(c, GUILD, talk, 3, SATO, "佐藤", "👍", True, NOW)
        await transcript.opt_out(c, GUILD, SATO, later)
        await transcript.opt_in(c, GUILD, SATO, later)
        assert await transcript.unheard(c, GUILD, SATO, back)

    await database.unit(work)


async def test_the_daily_cap_counts_a_server_s_messages_of_all_meetings(
    database: Database, talk: int
) -> None:
    since = NOW + timedelta(seconds=3)
    assert await database.unit(lambda c: transcript.count_since(c, GUILD, since)) == 3
    assert await database.unit(lambda c: transcript.count_since(c, GUILD + 1, since)) == 0


async def test_what_came_in_late_is_unread_until_it_was_dealt_with(database: Database, talk: int) -> None:
    async def unread(c: AsyncConnection) -> list[tuple[int, Late]]:
        return [(m.message_id, m.late) for m in await transcript.unread(c, talk, 4)]

    async def work(c: AsyncConnection) -> None:
        assert await unread(c) == [(5, Late.NO)]
        await transcript.overtaken(c, talk, 1, 4, [4])
        assert await unread(c) == [(2, Late.WAITING), (3, Late.WAITING), (5, Late.NO)]
        await transcript.dealt_with(c, talk, [2, 5], Late.ANSWERED)
        assert await unread(c) == [(2, Late.ANSWERED), (3, Late.WAITING), (5, Late.NO)]
        await transcript.dealt_with(c, talk, [2, 3], Late.NO)
        assert await unread(c) == [(5, Late.NO)]

    await database.unit(work)


async def test_of_what_is_unread_the_oldest_or_the_newest_are_taken(database: Database, talk: int) -> None:
    async def work(c: AsyncConnection) -> list[list[int]]:
        oldest = await transcript.unread(c, talk, 1, 2)
        newest = await transcript.unread(c, talk, 1, 2, newest=True)
        return [[m.message_id for m in found] for found in (oldest, newest)]

    assert await database.unit(work) == [[2, 3], [4, 5]]


async def test_nothing_of_who_opted_out_is_late(database: Database, talk: int) -> None:
    async def work(c: AsyncConnection) -> list[int]:
        await transcript.opt_out(c, GUILD, SUZUKI, NOW)
        await transcript.overtaken(c, talk, 0, 5, [5])
        return [m.message_id for m in await transcript.unread(c, talk, 5)]

    assert await database.unit(work) == [1, 3]

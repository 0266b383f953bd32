"""Whether a meeting goes on: who is there counts, and who comes too late to go on is told so."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot import phrases
from bot.errors import BadInput
from bot.meeting.model import MeetingState
from bot.store import transcript
from tests.crash.script import GUILD, PEOPLE, person
from tests.crash.table import Table, at_table

QUIET_ASK = phrases.t("closing.quiet_ask", "ja")


async def _cap(t: Table) -> None:
    policy = t.app.core.policy
    policy.defaults = replace(policy.defaults, messages_per_day=2)


async def _opt_out(t: Table) -> None:
    await t.app.db.unit(lambda c: transcript.opt_out(c, GUILD, PEOPLE["Tom"], t.now()))


@pytest.mark.parametrize("unstored", [_cap, _opt_out])
def test_a_lively_room_is_not_quiet_though_nothing_of_it_is_stored(unstored: object) -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start(minutes=120)
        await asyncio.sleep(5)
        await t.say("佐藤", "おはようございます", then=10)
        await t.say("佐藤", "始めましょう", then=10)
        await unstored(t)  # type: ignore[operator]
        for number in range(12):
            await t.say("Tom", f"and another thing, number {number}", then=300)
        assert not t.posts(QUIET_ASK)
        stored = await t.app.db.unit(lambda c: transcript.everything(c, meeting.id))
        assert [m.author_name for m in stored] == ["佐藤", "佐藤"]
        await t.until(lambda: bool(t.posts(QUIET_ASK)), 1900)

    at_table(scenario)


def test_a_lively_room_is_not_closed_after_its_end_though_nothing_of_it_is_stored() -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start(minutes=5)
        await asyncio.sleep(5)
        await t.say("佐藤", "おはようございます", then=10)
        await t.say("佐藤", "始めましょう", then=10)
        await _cap(t)
        for number in range(6):
            await t.say("Tom", f"and another thing, number {number}", then=300)
        going, _, _ = await t.record(meeting)
        assert going.state is MeetingState.OPEN
        await t.over()

    at_table(scenario)


@pytest.mark.parametrize("act", ["extend", "keep going"])
def test_who_is_slower_than_close_now_is_told_so(act: str) -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await asyncio.sleep(200)
        await t.say("佐藤", "決定：公開日は木曜にする", then=10)
        await t.end()
        await t.until(lambda: bool(t.with_button("close_now")))
        rooms, tom = t.app.meetings, person("Tom")
        late = (
            rooms.extend(meeting.id, tom, 10, t.interaction())
            if act == "extend"
            else rooms.keep_going(meeting.id, tom, t.interaction())
        )
        closed, told = await asyncio.gather(
            rooms.close_now(meeting.id, person("佐藤"), t.interaction()), late, return_exceptions=True
        )
        assert closed is None
        assert isinstance(told, BadInput)
        assert told.key == "error.closed_already"
        await t.over()
        after, _, _ = await t.record(meeting)
        assert after.planned_end == meeting.planned_end
        assert len(t.minutes) == 1

    at_table(scenario)


def test_two_extensions_at_once_are_two() -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await asyncio.sleep(200)
        rooms = t.app.meetings
        ends = await asyncio.gather(
            *(rooms.extend(meeting.id, person(who), 10, t.interaction()) for who in ("佐藤", "Tom"))
        )
        assert max(ends).timestamp() - meeting.planned_end.timestamp() == 20 * 60

    at_table(scenario)

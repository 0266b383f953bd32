"""What people say by a reaction counts, whether or not the bot was there when they put it."""

from __future__ import annotations

import asyncio

import pytest

from bot.meeting.model import Item
from tests.crash.script import CHANNEL, PEOPLE, PLACE
from tests.crash.table import Table, at_table
from tests.crash.test_recovery import Weather


async def _proposal(t: Table) -> Item:
    meeting = next(iter(t.app.meetings.rooms_of(PLACE.guild_id))).meeting
    _, view, _ = await t.record(meeting)
    return view.open_proposals[0]


def _put(t: Table, message_id: int, who: str, emoji: str) -> None:
    t.world.person_reacts(CHANNEL, message_id, PEOPLE[who], who, emoji)


def test_votes_by_reaction_are_counted_and_taken_back() -> None:
    async def scenario(t: Table) -> None:
        await t.start()
        await asyncio.sleep(5)
        said = await t.say("佐藤", "提案：公開日は木曜にする", then=5)
        _put(t, said, "Tom", "👍")
        _put(t, said, "Maya", "👎️")  # with the selector that some clients add
        await t.app.meetings.recover()
        assert {(v.voter_name, v.value) for v in (await _proposal(t)).votes} == {("Maya", -1.0), ("Tom", 1.0)}
        await t.app.meetings.recover()  # reading it again changes nothing
        assert len((await _proposal(t)).votes) == 2
        t.world.person_takes_back(CHANNEL, said, PEOPLE["Maya"], "👎️")
        await t.app.meetings.recover()
        assert [v.voter_name for v in (await _proposal(t)).votes] == ["Tom"]

    at_table(scenario)


def test_a_reaction_to_words_that_were_missed_too_counts() -> None:
    async def scenario(t: Table) -> None:
        await t.start()
        await asyncio.sleep(5)
        said = t.world.person_says(CHANNEL, PEOPLE["佐藤"], "佐藤", "提案：公開日は木曜にする")
        _put(t, said, "Tom", "👍")
        await t.app.meetings.recover()
        assert [v.voter_name for v in (await _proposal(t)).votes] == ["Tom"]

    at_table(scenario)


def test_a_confirmation_of_what_the_model_found_counts() -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await asyncio.sleep(5)
        said = await t.say("Maya", "サポートは一日以内に返信することで合意しました", then=40)
        _, view, _ = await t.record(meeting)
        assert [d.status for d in view.decisions] == ["unconfirmed"]
        _put(t, said, "佐藤", "✅")
        await t.app.meetings.recover()
        _, view, _ = await t.record(meeting)
        assert [(d.status, d.confirmed_by) for d in view.decisions] == [("confirmed", ("佐藤",))]

    at_table(scenario)


@pytest.mark.parametrize("many", [False, True])
def test_joining_by_a_reaction_to_the_board_counts_however_much_was_said_since(many: bool) -> None:
    async def scenario(t: Table) -> None:
        await t.start()
        await asyncio.sleep(5)
        for number in range(110 if many else 1):
            await t.say("佐藤", f"話 {number}")
        _put(t, t.board().message_id, "Tom", "🙋")
        await t.app.meetings.recover()
        room = t.app.meetings.rooms_of(PLACE.guild_id)[0]
        assert room.participants == {PEOPLE["佐藤"]: "佐藤", PEOPLE["Tom"]: "Tom"}

    at_table(scenario)


def test_who_reacted_is_asked_again_where_discord_does_not_say() -> None:
    weather = Weather("reactors")

    async def scenario(t: Table) -> None:
        await t.start()
        await asyncio.sleep(5)
        said = await t.say("佐藤", "提案：公開日は木曜にする", then=5)
        _put(t, said, "Tom", "👍")
        weather.bad = True
        await t.app.meetings.recover()
        assert weather.failed
        assert not (await _proposal(t)).votes
        weather.bad = False
        await asyncio.sleep(10)
        assert [v.voter_name for v in (await _proposal(t)).votes] == ["Tom"]

    at_table(scenario, tap=weather)

"""What an outage may cost: some tries a minute, and nobody's meeting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import pytest

from bot.meeting.model import MeetingState, Route
from bot.models.base import ProviderError, Request
from bot.phrases import t as phrase
from bot.stage import Busy, Refused
from bot.store import overview
from tests.crash.script import CHANNEL, PEOPLE, ScriptedModel
from tests.crash.table import Table, at_table
from tests.crash.test_overslept import forget
from tests.crash.test_recovery import Weather
from tests.crash.world import Calm

T = TypeVar("T")


def test_a_reaction_that_waits_does_not_make_the_posts_before_it_hurry() -> None:
    weather = Weather("say", "react", "edit", "history", error=Busy(3.0))

    async def scenario(t: Table) -> None:
        await t.start("en")
        await asyncio.sleep(30)
        weather.bad = True
        await t.say("Tom", "Decision: launch on Friday", then=2)  # its sign cannot be put now
        await t.say("Maya", "@Ketsugi what is next?", then=120)
        assert weather.failed < 80  # a few a minute each
        weather.bad = False
        await t.until(lambda: len(t.posts()) > 1)
        await t.end(now=True)
        await t.over()
        assert len(t.minutes) == 1

    at_table(scenario, tap=weather)


class Blocking(ScriptedModel):
    """Answers that it may not answer, while `bad`: no failure of the provider, so no circuit opens."""

    def __init__(self) -> None:
        super().__init__()
        self.bad, self.turns = False, 0

    async def generate(self, request: Request[Any]) -> Any:
        if self.bad and request.scene.route is Route.TURN:
            self.turns += 1
            raise ProviderError("blocked")
        return await super().generate(request)


def test_a_backlog_that_no_model_reads_is_tried_once_and_read_before_the_minutes() -> None:
    weather, model = Weather("history"), Blocking()

    async def scenario(t: Table) -> None:
        meeting = await t.start("en", minutes=60)
        await asyncio.sleep(200)
        await t.say("佐藤", "Decision: launch on Friday", then=15)
        for number in range(300):
            t.world.person_says(CHANNEL, PEOPLE["Maya"], "Maya", f"we should talk about thing {number}")
        weather.bad = True
        recovering = asyncio.create_task(t.app.meetings.recover())
        await asyncio.sleep(20)
        await t.say("Tom", "anybody there still?", then=15)
        weather.bad, model.bad = False, True
        await asyncio.sleep(1800)
        await recovering
        assert 0 < model.turns < 20
        await t.over()
        closed, _, _ = await t.record(meeting)
        assert closed.state is MeetingState.CLOSED

    at_table(scenario, model, weather)


@pytest.mark.parametrize("restarted", [False, True])
def test_questions_at_the_beginning_of_a_long_backlog_are_answered_once(restarted: bool) -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start("en", minutes=60)
        await asyncio.sleep(200)
        await t.say("佐藤", "Decision: launch on Friday", then=15)
        asked = {}
        for number in range(450):
            words = {10: "@assistant what was decided?", 230: "@assistant what is still open?"}.get(number)
            words = words or f"we should talk about thing {number}"
            asked[number] = t.world.person_says(CHANNEL, PEOPLE["Maya"], "Maya", words)
        t.world.person_says(CHANNEL, PEOPLE["Tom"], "Tom", "@Ketsugi what is next?")
        for number in range(450, 750):
            t.world.person_says(CHANNEL, PEOPLE["Maya"], "Maya", f"we should talk about thing {number}")
        posts = len(t.posts())
        if restarted:
            await forget(t)
        await t.app.meetings.recover()
        await asyncio.sleep(120)
        replies = [m.reply_to for m in t.posts()]
        assert [replies.count(asked[number]) for number in (10, 230)] == [1, 1]
        rows = await t.app.db.unit(lambda c: overview.posts(c, meeting.id))
        turns = [row for row in rows if row.key.startswith("turn:")]
        assert [row.state for row in turns] == ["sent"]  # to Tom
        told = len(t.posts()) - posts
        await asyncio.sleep(600)
        assert len(t.posts()) - posts - told <= 2  # a question about the quiet, no answer given twice
        await t.end(now=True)
        await t.over()
        assert len(t.minutes) == 1

    at_table(scenario)


def test_a_message_deleted_while_its_reactions_are_asked_for_ends_no_meeting() -> None:
    class Deleted(Calm):
        async def call(self, kind: Literal["stage", "model"], name: str, apply: Callable[[], T]) -> T:
            if name == "reactors":
                raise Refused("gone", "10008")
            return await super().call(kind, name, apply)

    async def scenario(t: Table) -> None:
        meeting = await t.start("en")
        await asyncio.sleep(10)
        said = await t.say("Tom", "Decision: launch on Friday", then=10)
        t.world.person_reacts(CHANNEL, said, PEOPLE["Maya"], "Maya", "✅")
        await t.app.meetings.recover()
        await asyncio.sleep(30)
        going, _, _ = await t.record(meeting)
        assert going.state is MeetingState.OPEN

    at_table(scenario, tap=Deleted())


def test_who_asks_for_the_minutes_that_are_being_sent_hears_that_they_follow() -> None:
    weather = Weather("open_thread", error=Busy(20.0))

    async def scenario(t: Table) -> None:
        await t.start()
        await asyncio.sleep(10)
        await t.say("佐藤", "決定：公開日は木曜にする", then=10)
        weather.bad = True
        await t.end(now=True)
        await asyncio.sleep(20)  # they are drafted, and wait for Discord
        before = len(t.posts())
        await t.say("Tom", "@アシスタント まとめてもらえますか")
        weather.bad = False
        await t.over()
        assert [p.text for p in t.posts()[before:]] == [phrase("closing.summary_soon", "ja")]
        assert len(t.minutes) == 1

    at_table(scenario, tap=weather)

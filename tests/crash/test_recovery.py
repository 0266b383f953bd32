"""What the searches found once, each as a story of its own."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal, TypeVar

import pytest

from bot.meeting.model import MeetingState
from bot.stage import Refused, Uncertain
from tests.crash.harness import Run
from tests.crash.instant import run_instant
from tests.crash.judging import minutes_messages
from tests.crash.script import CHANNEL, PEOPLE, person
from tests.crash.search import LONG_S, SHORT_S, Case, Judge
from tests.crash.table import Table, at_table
from tests.crash.world import Calm

T = TypeVar("T")


class Weather(Calm):
    """Discord that fails some calls while `bad`: by name, with an error."""

    def __init__(self, *names: str, error: Exception | None = None) -> None:
        self.names, self.error, self.bad = names, error or Uncertain("500"), False
        self.failed = 0

    async def call(self, kind: Literal["stage", "model"], name: str, apply: Callable[[], T]) -> T:
        if self.bad and name in self.names:
            self.failed += 1
            await asyncio.sleep(0.1)
            raise self.error
        return await super().call(kind, name, apply)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    judge = Judge()
    yield judge
    judge.folder.close()


def test_words_missed_before_the_first_one_heard_are_read_too() -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await asyncio.sleep(5)
        t.world.person_says(CHANNEL, PEOPLE["Tom"], "Tom", "Decision: we launch on Monday")  # a gateway gap
        await asyncio.sleep(5)
        await t.say("佐藤", "決定：公開日は木曜にする", then=5)
        await t.app.meetings.recover()
        _, view, _ = await t.record(meeting)
        assert {d.text for d in view.decisions} == {"we launch on Monday", "公開日は木曜にする"}

    at_table(scenario)


def test_a_history_that_cannot_be_read_is_read_again_before_anything_is_closed() -> None:
    weather = Weather("history")

    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await asyncio.sleep(5)
        await t.say("佐藤", "決定：公開日は木曜にする", then=5)
        await t.end()
        await t.until(lambda: bool(t.with_button("close_now")))
        t.world.person_says(CHANNEL, PEOPLE["Tom"], "Tom", "待って、まだあります")
        weather.bad = True
        await asyncio.sleep(57)
        await t.app.meetings.recover()
        await asyncio.sleep(6)  # the window is over, the gap is not yet read
        weather.bad = False
        await asyncio.sleep(20)
        again, _, _ = await t.record(meeting)
        assert weather.failed > 1
        assert again.state is MeetingState.OPEN

    at_table(scenario, tap=weather)


def test_the_minute_of_the_read_back_begins_when_people_can_see_it() -> None:
    weather = Weather("say")

    async def scenario(t: Table) -> None:
        await t.start()
        await asyncio.sleep(5)
        await t.say("佐藤", "決定：公開日は木曜にする", then=10)
        weather.bad = True
        await t.end()
        await asyncio.sleep(10)
        await t.say("Tom", "はい", then=200)  # a yes to something nobody has seen
        assert not t.minutes
        weather.bad = False
        await t.until(lambda: bool(t.with_button("close_now")))
        shown = t.with_button("close_now")[0]
        before = len(t.posts())
        await t.until(lambda: len(t.posts()) > before)
        assert (t.posts()[-1].at - shown.at).total_seconds() >= 60
        await t.over()
        assert len(t.minutes) == 1

    at_table(scenario, tap=weather)


def test_one_malformed_post_ends_no_meeting() -> None:
    weather = Weather("say", error=Refused("invalid", "50035"))

    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await asyncio.sleep(5)
        weather.bad = True
        await t.say("Tom", "@Ketsugi what is next?", then=20)
        weather.bad = False
        going, _, _ = await t.record(meeting)
        assert going.state is MeetingState.OPEN
        await t.end(now=True)
        await t.over()
        assert len(t.minutes) == 1

    at_table(scenario, tap=weather)


def test_the_last_board_is_shown_though_discord_stumbles() -> None:
    weather = Weather("edit")

    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await asyncio.sleep(5)
        await t.say("佐藤", "決定：公開日は木曜にする", then=10)
        weather.bad = True
        await t.end(now=True)
        await t.until(lambda: bool(t.minutes))
        await asyncio.sleep(3)
        weather.bad = False
        await t.over()
        board = t.board().post
        assert board is not None
        assert [b.action for b in board.buttons] == ["correct"]
        closed, _, _ = await t.record(meeting)
        assert closed.state is MeetingState.CLOSED
        await t.app.meetings.correct(meeting.id, person("佐藤"), "木曜ではなく金曜", t.interaction())

    at_table(scenario, tap=weather)


@pytest.mark.parametrize("how", ["crash before", "crash after"])
@pytest.mark.parametrize("later", [1, 2])
def test_a_meeting_whose_kickoff_was_refused_never_came_to_be(judge: Judge, how: str, later: int) -> None:
    kickoff = [p.name for p in judge.calm("ja", "scripted").points].index("say")
    plan = ((kickoff, "forbidden"), (kickoff + later, how))
    assert judge(Case(plan, SHORT_S)) == []


def test_a_clock_ahead_of_discords_makes_no_second_post(judge: Judge) -> None:
    points = judge.calm("ja", "scripted").points
    says = [n for n, p in enumerate(points) if p.name == "say"]
    for number in (says[0], says[3], says[-1]):
        run = Run(judge.folder.fresh(), {number: "crash after"}, LONG_S, clock_ahead_s=60.0)
        out = run_instant(run.play())
        assert len(minutes_messages(out.world)) == 1
        assert max(Counter(m.tag for m in out.world.mine).values()) == 1


def test_a_history_that_hangs_keeps_nobody_waiting() -> None:
    class Hanging(Calm):
        async def call(self, kind: Literal["stage", "model"], name: str, apply: Callable[[], T]) -> T:
            if name == "history":
                await asyncio.sleep(20)
                raise Uncertain("timeout")
            return await super().call(kind, name, apply)

    async def scenario(t: Table) -> None:
        await t.start()
        await asyncio.sleep(5)
        await t.say("佐藤", "決定：公開日は木曜にする", then=10)
        recovering = asyncio.create_task(t.app.meetings.recover())
        await asyncio.sleep(1)
        asked = await t.say("Tom", "@assistant what was decided?")
        assert await t.until(lambda: any(m.reply_to == asked for m in t.posts())) <= 25
        await recovering
        await t.end()
        assert await t.until(lambda: bool(t.with_button("close_now"))) <= 25
        await t.over()
        assert len(t.minutes) == 1

    at_table(scenario, tap=Hanging())

"""Who speaks to the bot while a meeting closes is answered; a deleted board or thread costs no minutes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import pytest

from bot.errors import BadInput
from bot.meeting.model import MeetingState, Route
from bot.models.base import Request
from bot.phrases import t as phrase
from bot.stage import Busy
from tests.crash.judging import LONGEST_WAIT_S
from tests.crash.script import CHANNEL, PLACE, ScriptedModel, person
from tests.crash.table import Table, at_table
from tests.crash.test_recovery import Weather
from tests.crash.world import Calm, World

T = TypeVar("T")
TOO_LATE = phrase("closing.too_late", "ja")


class SlowToClose(ScriptedModel):
    """Takes twelve seconds for the words over a read-back and for the goodbye."""

    async def generate(self, request: Request[Any]) -> Any:
        self.seconds = 12.0 if request.scene.route is Route.CLOSING else 1.5
        return await super().generate(request)


class ClosedThreads(Calm):
    """Every thread can be opened, and takes no message: Send Messages in Threads is not ours."""

    world: World

    async def call(self, kind: Literal["stage", "model"], name: str, apply: Callable[[], T]) -> T:
        made = await super().call(kind, name, apply)
        if name == "open_thread":
            self.world.forbidden |= set(self.world.threads.values())
        return made


async def talk(t: Table) -> None:
    await t.start()
    await asyncio.sleep(200)
    await t.say("佐藤", "決定：公開日は木曜にする", then=10)
    await t.say("Tom", "I agree with that", then=10)


async def answered(t: Table, asked: int) -> str:
    """The words of the reply to a message; fails where nobody replied in time."""
    assert await t.until(lambda: any(p.reply_to == asked for p in t.posts()), 300) <= LONGEST_WAIT_S
    return next(p.text for p in t.posts() if p.reply_to == asked)


def test_who_asks_while_the_read_back_is_put_into_words_is_answered() -> None:
    async def scenario(t: Table) -> None:
        await talk(t)
        await t.end()
        await asyncio.sleep(4)
        asked = await t.say("Tom", "@assistant what is still open?")
        assert TOO_LATE not in await answered(t, asked)

    at_table(scenario, SlowToClose())


def test_a_question_that_calls_the_closing_off_is_answered() -> None:
    async def scenario(t: Table) -> None:
        await talk(t)
        await t.end()
        await asyncio.sleep(4)
        said = len(t.posts())
        await t.say("Tom", "待って @Ketsugi 次は何を話せばいいですか？")
        assert await t.until(lambda: len(t.posts()) >= said + 2) <= LONGEST_WAIT_S
        assert t.posts()[said].text == phrase("closing.cancelled", "ja")

    at_table(scenario, SlowToClose())


@pytest.mark.parametrize("to", ["@assistant", "@Ketsugi"])
def test_a_question_that_the_end_overtakes_is_answered(to: str) -> None:
    async def scenario(t: Table) -> None:
        await talk(t)
        await t.end()
        await t.until(lambda: bool(t.with_button("close_now")))
        await asyncio.sleep(5)
        asked = await t.say("Tom", f"{to} who writes the announcement?")
        await t.say("佐藤", "はい")
        assert (TOO_LATE in await answered(t, asked)) == (to == "@Ketsugi")
        await t.over()
        assert [p.reply_to for p in t.posts()].count(asked) == 1
        assert len(t.minutes) == 1

    at_table(scenario)


@pytest.mark.parametrize("later", [1.0, 12.6, 14.0])
def test_a_question_after_the_end_is_told_where_to_go_on(later: float) -> None:
    weather = Weather("open_thread", error=Busy(20.0))

    async def scenario(t: Table) -> None:
        await talk(t)
        weather.bad = True
        await t.end(now=True)
        await asyncio.sleep(later)
        asked = await t.say("Tom", "@Ketsugi wait, who writes the announcement?")
        weather.bad = False
        assert TOO_LATE in await answered(t, asked)
        await t.over()
        assert [p.reply_to for p in t.posts()].count(asked) == 1
        assert len(t.minutes) == 1

    at_table(scenario, SlowToClose(), weather)


@pytest.mark.parametrize("when", ["open", "read-back"])
def test_a_deleted_board_costs_no_minutes(when: str) -> None:
    async def scenario(t: Table) -> None:
        await talk(t)
        if when == "read-back":
            await t.end()
            await t.until(lambda: bool(t.with_button("close_now")))
        deleted = t.board().message_id
        t.world.person_deletes(CHANNEL, deleted)
        await t.say("Maya", "Note: room 4 is free", then=40)
        assert t.board().message_id != deleted  # there is a new one to click on
        await t.end(now=True)
        await t.over()
        assert len(t.minutes) == 1
        assert not t.world.dms

    at_table(scenario)


def test_a_thread_that_takes_no_minutes_leaves_the_board_true() -> None:
    async def scenario(t: Table) -> None:
        await talk(t)
        closed.world = t.world
        await t.end(now=True)
        await t.over()
        assert len(t.world.dms) == 1
        board = t.board().post
        assert board is not None
        assert [b.action for b in board.buttons] == ["correct"]

    closed = ClosedThreads()
    at_table(scenario, tap=closed)


def test_a_meeting_that_has_not_begun_cannot_end_and_its_starter_hears_if_it_never_does() -> None:
    weather = Weather("say", error=Busy(3.0))

    async def scenario(t: Table) -> None:
        weather.bad = True
        meeting = await t.start()
        assert meeting.state is MeetingState.STARTING
        with pytest.raises(BadInput) as refused:
            await t.end()
        assert refused.value.key == "error.not_begun"
        weather.bad = False
        t.world.forbidden.add(CHANNEL)
        await t.over()
        closed, _, _ = await t.record(meeting)
        assert closed.state is MeetingState.CLOSED
        assert [to for to, _ in t.world.dms] == [person("佐藤").id]

    at_table(scenario, tap=weather)


def test_an_erratum_that_discord_puts_off_comes_later() -> None:
    weather = Weather("say", error=Busy(3.0))

    async def scenario(t: Table) -> None:
        await talk(t)
        await t.end(now=True)
        await t.over()
        weather.bad = True
        await t.app.records.amend(PLACE, None, person("Tom"), "木曜ではなく金曜", t.interaction())
        weather.bad = False
        await asyncio.sleep(60)
        thread = next(iter(t.world.threads.values()))
        assert sum("Tom" in m.text for m in t.world.channels[thread] if m.mine) == 1

    at_table(scenario, tap=weather)


@pytest.mark.parametrize(("language", "thread"), [("ja", "スレッド"), ("en", "thread")])
def test_nobody_is_sent_to_a_thread_that_a_meeting_in_a_thread_or_voice_chat_never_has(
    language: str, thread: str
) -> None:
    assert thread not in phrase("closing.too_late", language)

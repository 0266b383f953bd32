"""What stands on a question while its answer is thought up, and that it keeps the wait short where two things hang."""

from __future__ import annotations

import asyncio

import pytest

from bot.facilitation.signs import SIGN, SIGN_AFTER_S
from bot.models.base import Draft, Out, Request
from tests.crash.script import PLACE, ScriptedModel
from tests.crash.table import Table, at_table
from tests.crash.test_hangs import LONGEST_S, HangingModel, Slow, Tar

QUESTIONS = ("@assistant what was decided?", "@Ketsugi 次は何を話しますか？")


async def _talked(t: Table) -> None:
    await t.start(minutes=60)
    await asyncio.sleep(200)
    await t.say("佐藤", "決定：公開日は木曜にする", then=60)


def _signs(t: Table, message_id: int) -> set[str]:
    return {emoji for emoji in t.world.find(PLACE.channel_id, message_id).reactions if emoji == SIGN}


@pytest.mark.parametrize("hanging", ["say", "react"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_model_and_a_request_that_hang_together_leave_nobody_without_a_sign(
    question: str, hanging: str
) -> None:
    model, tar = HangingModel(), Tar("say", "react")

    async def scenario(t: Table) -> None:
        await _talked(t)
        model.down, tar.names, tar.times = True, (hanging,), 1
        before = len(t.posts())
        asked = await t.say("Tom", question)
        assert await t.until(lambda: bool(_signs(t, asked)) or len(t.posts()) > before) <= LONGEST_S
        await t.until(lambda: len(t.posts()) > before, 60)
        assert tar.hung == 1
        assert _signs(t, asked)

    at_table(scenario, model, tar)


def test_a_read_back_is_there_in_time_where_model_and_post_hang() -> None:
    model, tar = HangingModel(), Tar("say")

    async def scenario(t: Table) -> None:
        await _talked(t)
        model.down, tar.times = True, 1
        await t.say("佐藤", "そろそろこの会議を終わりにしましょう")
        assert await t.until(lambda: bool(t.with_button("close_now"))) <= LONGEST_S
        assert tar.hung == 1

    at_table(scenario, model, tar)


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_that_comes_soon_needs_no_sign(question: str) -> None:
    async def scenario(t: Table) -> None:
        await _talked(t)
        before = len(t.posts())
        asked = await t.say("Tom", question)
        assert await t.until(lambda: len(t.posts()) > before) < SIGN_AFTER_S
        await asyncio.sleep(60)
        assert not _signs(t, asked)

    at_table(scenario, Slow())


def test_people_see_it_typing_while_an_answer_is_thought_up_and_not_while_it_only_listens() -> None:
    class Sluggish(ScriptedModel):
        async def generate(self, request: Request[Out]) -> Draft[Out]:
            self.seconds = 10.0
            return await super().generate(request)

    async def scenario(t: Table) -> None:
        await _talked(t)
        await asyncio.sleep(120)
        t.world.typed.clear()
        await t.say("Tom", "I agree with that", then=60)
        assert not t.world.typed
        await t.say("Tom", QUESTIONS[0], then=60)
        assert len(t.world.typed) == 2

    at_table(scenario, Sluggish())


def test_a_sign_that_fails_unforeseen_is_reported_and_costs_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(t: Table) -> None:
        await _talked(t)

        def broken(*_: object) -> None:
            raise RuntimeError("injected")

        monkeypatch.setattr(t.world, "react", broken)
        model.down, before = True, len(t.posts())
        await t.say("Tom", QUESTIONS[0])
        await t.until(lambda: len(t.posts()) > before, 30)
        typed = len(t.world.typed)
        await asyncio.sleep(60)
        assert len(t.world.typed) == typed
        assert len(t.errors) == 1
        assert "no sign of thinking" in t.errors.pop()

    model = HangingModel()
    at_table(scenario, model)


@pytest.mark.parametrize("moment", ["read-back", "goodbye"])
def test_who_was_told_at_once_that_the_minutes_follow_gets_no_sign_of_thinking(moment: str) -> None:
    model = HangingModel()

    async def scenario(t: Table) -> None:
        await _talked(t)
        model.down = moment == "read-back"
        await t.end()
        if moment == "goodbye":
            await t.until(lambda: bool(t.with_button("close_now")))
            model.down = True
            await t.say("佐藤", "特にありません")
        told = len(t.posts())
        asked = await t.say("Tom", "@アシスタント 議事録をまとめて")
        assert await t.until(lambda: len(t.posts()) > told) < 5.0
        await t.over()
        assert not _signs(t, asked)

    at_table(scenario, model)

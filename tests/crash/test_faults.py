"""Things at once, providers that go away, channels taken away: one closing, nobody left waiting."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot import phrases
from bot.errors import UserError
from bot.meeting.model import MeetingState, Phase, Route
from bot.models.base import Draft, ProviderError, Request, Usage
from bot.prompts.outputs import TurnOut
from tests.crash.script import CHANNEL, PEOPLE, PLACE, ScriptedModel, answer_to, person
from tests.crash.table import Table, at_table

LONGEST_S = 25.0
HAND_OFF = {
    "ja": "@アシスタント ここまでの決定事項をまとめてください。",
    "en": "@assistant please sum up what was decided so far.",
}


class Slow(ScriptedModel):
    """Takes its time on some routes, and may say one thing in every turn."""

    def __init__(self, slow: dict[Route, float], says: str | None = None) -> None:
        super().__init__(0.5)
        self.slow, self.says = slow, says

    async def generate(self, request: Request[Any]) -> Draft[Any]:
        scene = request.scene
        await asyncio.sleep(self.slow.get(scene.route, self.seconds))
        answer: Any = answer_to(scene)
        if self.says is not None and scene.route is Route.TURN:
            answer = TurnOut(response=self.says, phase=Phase.DISCUSSING)
        return Draft(answer, Usage(10, 0, 10), "slow-1", 500)


class Outage(ScriptedModel):
    """Unreachable between two moments of virtual time."""

    def __init__(self, begin: float = 0.0, end: float = float("inf")) -> None:
        super().__init__(0.5)
        self.begin, self.end = begin, end
        self.answered: list[float] = []

    async def generate(self, request: Request[Any]) -> Draft[Any]:
        now = asyncio.get_running_loop().time()
        if self.begin <= now < self.end:
            await asyncio.sleep(1.0)
            raise ProviderError("unreachable", "injected")
        self.answered.append(now)
        return await super().generate(request)


async def _talk(t: Table) -> None:
    await asyncio.sleep(5)
    await t.say("佐藤", "今日は公開日を決めたいです", then=8)
    await t.say("Tom", "Fine with me, any day works", then=8)
    await t.say("田中", "決定：公開日は木曜にする", then=8)
    await t.say("Maya", "TODO: Tom writes the announcement", then=8)


async def _one_of_each(t: Table) -> None:
    """One read-back, one goodbye, one set of minutes, and nothing else twice."""
    await t.over()
    assert len(t.with_button("close_now")) == 1
    assert len(t.minutes) == 1
    tags = [m.tag for m in t.world.mine]
    assert len(set(tags)) == len(tags)
    assert tags.count(await t.nonce("goodbye")) == 1


def test_two_clicks_on_close_now_are_one_closing() -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await _talk(t)
        await t.end()
        await t.until(lambda: bool(t.with_button("close_now")))
        click, before = t.app.meetings.close_now, len(t.posts())
        await asyncio.gather(
            *(click(meeting.id, person("佐藤"), t.interaction()) for _ in range(3)), return_exceptions=True
        )
        waited = await t.until(
            lambda: phrases.t("board.writing", "ja") in _board_text(t) or len(t.posts()) > before
        )
        assert waited <= LONGEST_S
        await _one_of_each(t)

    at_table(scenario)


def test_end_from_two_people_at_once_is_one_closing() -> None:
    async def scenario(t: Table) -> None:
        await t.start()
        await _talk(t)
        await asyncio.gather(t.end("佐藤"), t.end("Tom"), t.say("Maya", "一旦この会議を終わらせてください"))
        assert await t.until(lambda: bool(t.with_button("close_now"))) <= LONGEST_S
        await _one_of_each(t)

    at_table(scenario)


@pytest.mark.parametrize("generating_s", [0.1, 2.0, 14.0])
def test_end_while_a_turn_is_generating_is_answered_in_time(generating_s: float) -> None:
    async def scenario(t: Table) -> None:
        await t.start()
        await _talk(t)
        await t.say("Tom", "One more thought on the announcement", then=3.1 + generating_s)
        await t.end()
        assert await t.until(lambda: bool(t.with_button("close_now"))) <= LONGEST_S
        await _one_of_each(t)

    at_table(scenario, Slow({Route.TURN: 24.0, Route.CLOSING: 24.0}))


def _board_text(t: Table) -> str:
    post = t.board().post
    assert post is not None
    return post.text + "".join(e.description for e in post.embeds)


@pytest.mark.parametrize("after_s", [0.5, 4.0, 12.0])
def test_closing_while_the_assistant_answers_a_hand_off(after_s: float) -> None:
    async def scenario(t: Table) -> None:
        await t.start()
        await _talk(t)
        for text in (
            "まず論点を整理したいです",
            "そうですね",
            "お願いします",
            "はい、ぜひ",
            "その方がよさそうです",
            "同感です",
            "では",
        ):
            await t.say("佐藤", text, then=4)
        await t.until(lambda: bool(t.posts("@アシスタント")), 200)
        await asyncio.sleep(after_s)
        await t.end()
        assert await t.until(lambda: bool(t.with_button("close_now"))) <= LONGEST_S
        await _one_of_each(t)

    at_table(scenario, Slow({Route.HAND_OFF: 20.0}, HAND_OFF["ja"]))


@pytest.mark.parametrize("language", ["ja", "en"])
def test_a_hand_off_begun_before_the_end_is_not_posted_after_it(language: str) -> None:
    async def scenario(t: Table) -> None:
        await t.start(language)
        await _talk(t)
        asked = await t.say("Tom", "@Ketsugi what is next?", then=1.0)
        await t.end()
        assert await t.until(lambda: bool(t.with_button("close_now"))) <= LONGEST_S
        handed = [m for m in t.posts() if m.message_id > asked and HAND_OFF[language] in m.text]
        assert not handed
        await _one_of_each(t)

    at_table(scenario, Slow({Route.TURN: 4.0}, HAND_OFF[language]))


def test_a_summary_asked_for_while_closing_is_answered_at_once() -> None:
    async def scenario(t: Table) -> None:
        await t.start()
        await _talk(t)
        await t.end()
        await asyncio.sleep(1)
        before = len(t.posts())
        await t.say("Tom", "@アシスタント ここまでをまとめてもらえますか")
        soon = phrases.t("closing.summary_soon", "ja")
        assert await t.until(lambda: bool(t.posts(soon)), 60) <= LONGEST_S
        assert len(t.posts()) > before
        await _one_of_each(t)

    at_table(scenario)


@pytest.mark.parametrize("language", ["ja", "en"])
def test_a_provider_that_is_down_for_the_whole_meeting(language: str) -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start(language)
        await _talk(t)
        asked = await t.say("Tom", "@assistant what was decided?")
        assert await t.until(lambda: any(m.reply_to == asked for m in t.posts())) <= LONGEST_S
        await t.say("佐藤", "もう少し話しましょう", then=10)
        await t.until(lambda: phrases.t("board.degraded", language) in _board_text(t), 120)
        await t.end()
        assert await t.until(lambda: bool(t.with_button("close_now"))) <= LONGEST_S
        await t.over()
        assert len(t.minutes) == 1
        closed, view, stored = await t.record(meeting)
        assert closed.state is MeetingState.CLOSED
        assert [d.text for d in view.decisions] == ["公開日は木曜にする"]
        assert "公開日は木曜にする" in stored.text
        assert "Tom writes the announcement" in stored.text

    at_table(scenario, Outage())


def test_an_outage_that_ends_is_handed_back_and_the_board_says_both() -> None:
    model = Outage(60.0, 400.0)

    async def scenario(t: Table) -> None:
        await t.start(minutes=40)
        await _talk(t)
        degraded = phrases.t("board.degraded", "ja")
        for number in range(6):
            await t.say("Tom", f"Point {'abcdef'[number]} is still on my list", then=20)
        await t.until(lambda: degraded in _board_text(t), 120)
        for number in range(12):
            await t.say("佐藤", f"続きの話です{'あいうえおかきくけこさし'[number]}", then=60)
        assert [at for at in model.answered if at > 400]
        await t.until(lambda: degraded not in _board_text(t), 120)
        await t.end()
        await _one_of_each(t)

    at_table(scenario, model)


@pytest.mark.parametrize("how", ["gone", "forbidden"])
@pytest.mark.parametrize("when", ["talking", "read-back", "writing"])
def test_a_channel_taken_away_leaves_the_minutes_with_the_chair(how: str, when: str) -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await _talk(t)
        if when != "talking":
            await t.end()
            await t.until(lambda: bool(t.with_button("close_now")))
        if when == "writing":
            await t.app.meetings.close_now(meeting.id, person("佐藤"), t.interaction())
        (t.world.gone if how == "gone" else t.world.forbidden).add(CHANNEL)
        if when == "talking" and how == "forbidden":
            await t.say("Tom", "@Ketsugi are you still there?")
        await t.over()
        closed, view, stored = await t.record(meeting)
        assert closed.state is MeetingState.CLOSED
        assert "公開日は木曜にする" in stored.text
        assert view.decisions
        offered = [(user, p) for user, p in t.world.dms if any(f.name == "minutes.md" for f in p.files)]
        assert [user for user, _ in offered] == [PEOPLE["佐藤"]]
        assert not t.minutes

    at_table(scenario)


def test_a_thread_deleted_before_the_minutes_leaves_them_with_the_chair() -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await _talk(t)
        t.world.gone.add(t.board().message_id)  # the thread will have the kickoff's id
        await t.end(now=True)
        await t.over()
        _, _, stored = await t.record(meeting)
        assert stored is not None
        assert len(t.world.dms) + len(t.minutes) == 1

    at_table(scenario)


def test_only_one_meeting_opens_where_two_are_started_at_once() -> None:
    async def scenario(t: Table) -> None:
        outcomes = await asyncio.gather(t.start(), t.start(), return_exceptions=True)
        assert sum(isinstance(o, UserError) for o in outcomes) == 1
        assert t.app.meetings.count == 1
        await t.end(now=True)
        await t.over()
        assert len(t.minutes) == 1
        await t.start()
        await t.end(now=True, place=PLACE)
        await t.over()
        assert len(t.minutes) == 2

    at_table(scenario)

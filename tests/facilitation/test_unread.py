"""A model that gives nothing: nobody is answered twice, and nothing it could not read counts as read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.meeting.model import EntryKind, Route, Scene
from bot.models.base import Draft, Out, ProviderError, Request, Usage
from bot.prompts.outputs import AnswerOut, EntryOut, TurnOut
from tests.facilitation.sitting import Sitting, held, minutes_only

FOUND = EntryOut(
    kind="decision", text="価格は月980円にする", quote="価格は月980円でいきましょう、決まりですね"
)


class Unusable:
    """Truncated answers until told otherwise; then it finds one decision in whatever is unread."""

    def __init__(self) -> None:
        self.works = False
        self.read: list[list[str]] = []

    def __call__(self, scene: Scene) -> Any:
        if not self.works:
            raise ProviderError("truncated")
        self.read.append([m.text for m in scene.unread])
        if scene.route in (Route.ASK, Route.HAND_OFF):
            return AnswerOut(response="記録のとおりです。")
        if scene.route in (Route.TURN, Route.CLOSING) and any(FOUND.quote in m.text for m in scene.unread):
            return TurnOut(entries=[FOUND])
        return minutes_only(scene)


@pytest.mark.parametrize("works_from", ["next turn", "read-back", "minutes"])
def test_what_no_model_could_read_is_read_later(works_from: str) -> None:
    model = Unusable()

    async def story(s: Sitting) -> None:
        await s.start()
        await s.talk(("佐藤", "料金を決めたいです"), ("鈴木", FOUND.quote), ("田中", "助かります"))
        assert not s.view.decisions
        if works_from == "next turn":
            model.works = True
            await s.talk(("佐藤", "次に進みます"))
            assert [d.text for d in s.view.decisions] == [FOUND.text]
        if works_from == "read-back":
            model.works = True
            assert FOUND.text in await s.read_back()
        await s.meetings.end(s.place, s.person("佐藤"), now=works_from == "minutes", interaction_id=s.click())
        model.works = True
        left = await s.close()
        assert left.texts("decisions") == [FOUND.text]
        assert all(d.status == "unconfirmed" for d in left.view.of(EntryKind.DECISION))

    held(story, model)


def test_a_question_is_answered_once_though_its_words_stay_unread() -> None:
    model = Unusable()

    async def story(s: Sitting) -> None:
        await s.start()
        await s.talk(("佐藤", "決定：会場は本社とする"), ("鈴木", "@アシスタント いま何が決まっていますか？"))
        asked = len(model_asks(s))
        await s.talk(("田中", "私も知りたいです"), ("鈴木", "@Ketsugi 進めてください"), ("田中", "はい"))
        assert asked > 0
        assert len(model_asks(s)) == asked
        posts = s.said()
        await s.talk(("佐藤", "では次へ"))
        assert s.said() == posts
        assert len(posts) == len(set(posts))
        await s.close()

    held(story, model)


def model_asks(s: Sitting) -> list[Scene]:
    return [scene for scene in s.model.asked if scene.route is Route.ASK]


def test_of_a_long_backlog_a_turn_reads_the_newest_and_the_minutes_read_all() -> None:
    model = Unusable()

    async def story(s: Sitting) -> None:
        await s.start(minutes=600)
        await s.say("鈴木", FOUND.quote)
        for number in range(230):
            await s.say("田中" if number % 2 else "佐藤", f"発言その{number}です")
        model.works = True
        await s.talk(("佐藤", "最後の発言です"))
        assert "最後の発言です" in model.read[-1]
        assert not s.view.decisions
        left = await s.close(ask=False)
        assert left.texts("decisions") == [FOUND.text]

    held(story, model)


class Slow:
    """A provider that takes 22 s for everything."""

    name = "slow"

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        await asyncio.sleep(22)
        return Draft(minutes_only(request.scene), Usage(), "slow-1", 22_000)

    async def close(self) -> None:
        return None


@pytest.mark.parametrize("words", ["@Ketsugi 次は何でしたか？", "@アシスタント 次は何でしたか？"])
def test_who_asks_while_a_slow_turn_is_under_way_is_answered_within_25_seconds(words: str) -> None:
    async def story(s: Sitting) -> None:
        s.model = Slow()  # type: ignore[assignment]
        await s.start()
        await asyncio.sleep(60)
        await s.say("佐藤", "始めましょう")
        await s.say("鈴木", "はい")
        await asyncio.sleep(5)
        before = len(s.said())
        await s.say("鈴木", words)
        await asyncio.sleep(24)  # with the half second that saying takes
        assert len(s.said()) > before
        await s.close(ask=False)

    held(story)

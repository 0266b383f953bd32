"""The assistant in a meeting: everyone who asks gets an answer, from what everyone there may read."""

from __future__ import annotations

import asyncio
from typing import Any

from bot.assistant.answers import AT_ONCE
from bot.meeting.model import Route, Scene
from bot.prompts.outputs import AnswerOut, TurnOut
from tests.facilitation.sitting import PEOPLE, Sitting, held, minutes_only

LINK = "https://discord.com/channels/900/901/"


def answers(text: str) -> Any:
    def answer(scene: Scene) -> Any:
        if scene.route in (Route.ASK, Route.HAND_OFF):
            return AnswerOut(response=text)
        return TurnOut() if scene.route is Route.TURN else minutes_only(scene)

    return answer


def assistant_posts(s: Sitting) -> list[str]:
    return [text for text in s.said() if LINK in text or "記録" in text]


async def _at_once(s: Sitting, lines: list[tuple[str, str]]) -> None:
    """All of them before the bot gets to any."""
    for who, text in lines:
        s.world.person_says(s.place.channel_id, PEOPLE[who], who, text, None)
    found = [s.world.seen(m) for m in s.world.channels[s.place.channel_id][-len(lines) :]]
    await asyncio.gather(*(s.meetings.receive(s.place, seen) for seen in found))
    await asyncio.sleep(8)


def test_an_answer_is_posted_with_the_links_of_its_sources() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        await s.talk(("佐藤", "決定：公開日は1月27日とする"), ("鈴木", "@アシスタント 公開日はいつですか？"))
        number = s.view.decisions[0].number
        assert any(f"公開日は1月27日です [#{number}]({LINK}" in text for text in s.said()), s.said()
        await s.close()

    held(story, answers("公開日は1月27日です [1]。"))


def test_what_is_invented_in_a_meeting_is_not_posted() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        await s.talk(("佐藤", "決定：公開日は1月27日とする"), ("鈴木", "@アシスタント 公開日はいつですか？"))
        assert not any("2月9日" in text for text in s.said())
        assert any("「公開日は1月27日とする」" in text and LINK in text for text in s.said())
        await s.close()

    held(story, answers("公開日は2月9日です [1]。"))


def test_what_was_never_said_costs_no_generation() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        await s.talk(("佐藤", "決定：公開日は1月27日とする"), ("鈴木", "@アシスタント 社員旅行の行き先は？"))
        assert [scene for scene in s.model.asked if scene.route is Route.ASK] == []
        assert any("記録には見つかりませんでした" in text for text in s.said())
        await s.close()

    held(story, answers("社員旅行は沖縄です [1]。"))


def test_everyone_who_asks_in_one_burst_is_answered() -> None:
    asked = [
        ("鈴木", "@アシスタント 公開日はいつですか？"),
        ("田中", "@アシスタント 予算はいくらですか？"),
        ("Maya", "@assistant when is the 公開日?"),
        ("Tom", "@アシスタント 会場はどこですか？"),
        ("佐藤", "@アシスタント 公開日を教えて"),
        ("鈴木", "@アシスタント 担当は誰ですか？"),
    ]

    async def story(s: Sitting) -> None:
        await s.start()
        await s.talk(
            ("佐藤", "決定：公開日は1月27日とする"),
            ("田中", "決定：予算は50万円以内とする"),
            ("Maya", "決定：会場は本社の三階とする"),
        )
        before = len(s.said())
        await _at_once(s, asked)
        await s.talk(("Tom", "以上です"))
        posts = s.said()[before:]
        together = [text for text in posts if "続けて尋ねられた" in text]
        assert len(together) == 1
        for name, words in (("鈴木", "公開日は1月27日とする"), ("田中", "予算は50万円以内とする")):
            assert f"**{name}**" in together[0]
            assert words in together[0]
        assert len([text for text in posts if text not in together and LINK in text]) <= AT_ONCE
        assert len(together[0]) <= 1990
        await s.close()

    held(story, answers("公開日は1月27日です [1]。"))

"""Erasing in the middle of things: what was thought up before it is neither stored nor said after it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from bot import privacy
from bot.errors import BadInput
from bot.facilitation.requests import Person
from bot.meeting.model import Phase, Route, Scene
from bot.prompts.outputs import EntryOut, TurnOut
from bot.stage import Busy, Refused
from bot.store import generations, ledger
from tests.facilitation.sitting import PEOPLE, PLACE, Sitting, held, minutes_only

SECRET = "ペリカンの予算は4711万円です"
SUZUKI = Person(PEOPLE["鈴木"], "鈴木", manager=False)
SATO = Person(PEOPLE["佐藤"], "佐藤", manager=False)


def _repeating(scene: Scene) -> Any:
    """A model that says and records what was said."""
    if scene.route is not Route.TURN or not any(SECRET in m.text for m in scene.unread):
        return minutes_only(scene)
    claim = EntryOut(kind="decision", text=SECRET, quote=SECRET)
    return TurnOut(response=f"「{SECRET}」ですね。", entries=[claim], phase=Phase.DISCUSSING)


async def _everything(sitting: Sitting) -> str:
    assert sitting.app is not None
    made = await sitting.app.db.unit(lambda c: generations.everything(c, sitting.meeting_id))
    entries = await sitting.app.db.unit(lambda c: ledger.everything(c, sitting.meeting_id))
    return json.dumps([str(made), str(entries), sitting.said()], ensure_ascii=False)


async def _thinking(sitting: Sitting) -> None:
    """Until a generation is under way."""
    while not sitting.room.deadlines:  # noqa: ASYNC110 - virtual time, and nothing in the product would set an event
        await asyncio.sleep(0.1)


def test_a_turn_under_way_says_and_records_nothing_of_who_is_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privacy, "IDLE_S", 0.0)  # does not wait for it, as if the turn had begun in between

    async def story(sitting: Sitting) -> None:
        await sitting.start()
        await sitting.talk(("佐藤", "おはようございます"), ("田中", "おはようございます"))
        await sitting.say("鈴木", SECRET)
        await _thinking(sitting)
        assert sitting.app is not None
        await sitting.app.privacy.erase_person(PLACE.guild_id, SUZUKI.id, SUZUKI)
        await asyncio.sleep(30)
        assert SECRET not in await _everything(sitting)
        await sitting.talk(("佐藤", "決定：価格は980円"))
        left = await sitting.close()
        assert SECRET not in left.text
        assert "価格は980円" in left.text

    held(story, _repeating)


def test_the_same_turn_is_recorded_where_nobody_is_erased() -> None:
    async def story(sitting: Sitting) -> None:
        await sitting.start()
        await sitting.talk(("佐藤", "おはようございます"), ("田中", "おはようございます"))
        await sitting.say("鈴木", SECRET)
        await asyncio.sleep(30)
        assert SECRET in await _everything(sitting)

    held(story, _repeating)


def test_an_erasure_waits_for_a_generation_under_way() -> None:
    async def story(sitting: Sitting) -> None:
        await sitting.start()
        await sitting.talk(("佐藤", "おはようございます"), ("田中", "おはようございます"))
        await sitting.say("鈴木", SECRET)
        await _thinking(sitting)
        assert sitting.app is not None
        await sitting.app.privacy.erase_person(PLACE.guild_id, SUZUKI.id, SUZUKI)
        assert not sitting.room.deadlines
        assert SECRET not in await _everything(sitting)

    held(story, _repeating)


def test_a_fault_while_a_meeting_is_erased_leaves_it_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(sitting: Sitting) -> None:
        await sitting.start()
        await sitting.talk(("佐藤", f"決定：{SECRET}"))
        await sitting.close()
        assert sitting.app is not None
        stage = sitting.app.core.stage
        real, calls = stage.delete, [0]

        async def busy(place: Any, message_id: int) -> None:
            calls[0] += 1
            if calls[0] > 2:
                raise Busy(3.0)
            await real(place, message_id)

        monkeypatch.setattr(stage, "delete", busy)
        erase = sitting.app.privacy.erase_meeting
        with pytest.raises(BadInput, match=r"error\.erase_again"):
            await erase(PLACE, sitting.meeting_id, SATO)
        assert SECRET in await _everything(sitting)
        monkeypatch.setattr(stage, "delete", real)
        assert (await erase(PLACE, sitting.meeting_id, SATO)).left == 0
        assert not [m for m in sitting.world.mine if m.post and m in sitting.world.channels[PLACE.channel_id]]

    held(story)


def test_posts_that_may_not_be_removed_are_counted_and_the_meeting_is_erased(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story(sitting: Sitting) -> None:
        await sitting.start()
        await sitting.talk(("佐藤", f"決定：{SECRET}"))
        await sitting.close()
        assert sitting.app is not None

        async def forbidden(place: Any, message_id: int) -> None:
            raise Refused("forbidden")

        monkeypatch.setattr(sitting.app.core.stage, "delete", forbidden)
        done = await sitting.app.privacy.erase_meeting(PLACE, sitting.meeting_id, SATO)
        assert done.left >= 3
        assert await sitting.app.db.unit(lambda c: ledger.everything(c, sitting.meeting_id)) == []

    held(story)


@pytest.mark.parametrize("what", ["the meeting", "a person"])
def test_minutes_that_went_to_the_chair_directly_are_withdrawn(what: str) -> None:
    async def story(sitting: Sitting) -> None:
        await sitting.start()
        await sitting.talk(("佐藤", "決定：価格は980円"), ("鈴木", f"決定：{SECRET}"))
        sitting.world.forbidden.add(PLACE.channel_id)
        assert sitting.app is not None
        await sitting.meetings.end(PLACE, SATO, now=True, interaction_id=sitting.click())
        await asyncio.sleep(300)
        ((to, post),) = sitting.world.dms
        assert to == SATO.id
        assert any(SECRET in f.content.decode() for f in post.files)
        if what == "the meeting":
            await sitting.app.privacy.erase_meeting(PLACE, sitting.meeting_id, SATO)
        else:
            await sitting.app.privacy.erase_person(PLACE.guild_id, SUZUKI.id, SUZUKI)
        assert len(sitting.world.withdrawn) == 1

    held(story)


def test_somebody_who_opted_out_and_addresses_the_bot_sees_a_sign_and_is_not_recorded() -> None:
    async def story(sitting: Sitting) -> None:
        await sitting.start()
        assert sitting.app is not None
        await sitting.app.privacy.opt_out(PLACE.guild_id, SUZUKI)
        plain = await sitting.say("鈴木", SECRET)
        asked = await sitting.say("鈴木", f"@アシスタント {SECRET}")
        await asyncio.sleep(30)
        shown = {m.message_id: m.reactions for m in sitting.world.channels[PLACE.channel_id]}
        assert shown[asked] == {"🔕"}
        assert shown[plain] == set()
        assert SECRET not in await _everything(sitting)

    held(story)


def test_minutes_that_may_not_be_edited_for_now_stay_and_are_edited_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story(sitting: Sitting) -> None:
        await sitting.start()
        await sitting.talk(("鈴木", f"決定：{SECRET}"), ("佐藤", "決定：価格は980円"))
        left = await sitting.close()
        assert sitting.app is not None
        stage = sitting.app.core.stage
        real = stage.edit

        async def too_old(*_: Any) -> None:
            raise Refused("too_old")

        monkeypatch.setattr(stage, "edit", too_old)
        await sitting.app.privacy.erase_person(PLACE.guild_id, SUZUKI.id, SUZUKI)
        (published,) = left.published
        assert published in sitting.world.mine
        monkeypatch.setattr(stage, "edit", real)
        await sitting.app.privacy.settle()
        assert published.post is not None
        (file,) = published.post.files
        assert SECRET not in file.content.decode()
        assert "価格は980円" in file.content.decode()

    held(story)

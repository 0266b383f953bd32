"""Moving on, bringing in and recalling in virtual time, across restarts, and never beyond the budget."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from bot.errors import BadInput
from bot.meeting.model import Activity
from bot.phrases import t
from bot.store import overview, servers
from bot.store.servers import ServerSettings
from tests.crash.instant import Folder, run_instant
from tests.facilitation.sitting import PLACE, Sitting

MOVE_ON = t("agenda.move_on", "ja", title="価格", minutes=10, next="公開日")
TANAKA = t("agenda.bring_in", "ja", name="田中")
_BUDGET = {Activity.QUIET: (20, 300), Activity.NORMAL: (10, 120), Activity.ACTIVE: (5, 60)}


def held(story: Callable[[Sitting], Coroutine[Any, Any, None]]) -> None:
    folder = Folder()
    try:
        url = folder.fresh()

        async def main() -> None:
            sitting = Sitting(url)
            try:
                await story(sitting)
            finally:
                await sitting.sleep()

        run_instant(main())
    finally:
        folder.close()


async def sets(sitting: Sitting, **changes: Any) -> None:
    await sitting.wake()
    assert sitting.app is not None
    await sitting.app.db.unit(lambda c: servers.save(c, replace(ServerSettings(PLACE.guild_id), **changes)))


async def chat(sitting: Sitting, minutes: int, *, every: int = 30) -> None:
    """Two people talk and leave nothing to record."""
    for n in range(minutes * 60 // every):
        await sitting.say(("佐藤", "鈴木")[n % 2], f"{n}つ目の考えを話しています")
        await asyncio.sleep(every - 0.5)


def test_moving_on_is_proposed_once_when_an_item_has_had_its_time() -> None:
    async def story(sitting: Sitting) -> None:
        await sitting.start(agenda=("価格 10分", "公開日"))
        await chat(sitting, 9)
        assert MOVE_ON not in sitting.said()
        await chat(sitting, 6)
        assert sitting.said().count(MOVE_ON) == 1
        await sitting.say("佐藤", "議題：公開日")
        await chat(sitting, 20)
        assert sitting.said().count(MOVE_ON) == 1

    held(story)


@pytest.mark.parametrize("activity", list(Activity))
def test_a_quiet_facilitator_waits_longer_and_brings_nobody_in(activity: Activity) -> None:
    async def story(sitting: Sitting) -> None:
        await sets(sitting, activity=activity)
        await sitting.start(agenda=("価格 10分", "公開日"))
        await sitting.say("田中", "少しだけ聞いています")
        await chat(sitting, 13)
        await asyncio.sleep(60)  # a pause, which proposing to move on waits for
        early = {MOVE_ON, TANAKA} & set(sitting.said())
        assert bool(early) == (activity is not Activity.QUIET)
        await chat(sitting, 7)
        assert MOVE_ON in sitting.said()
        assert (TANAKA in sitting.said()) == (activity is not Activity.QUIET)

    held(story)


def test_somebody_quiet_is_asked_by_name_once_until_they_speak() -> None:
    async def story(sitting: Sitting) -> None:
        await sitting.start(minutes=180)
        await sitting.say("田中", "よろしくお願いします")
        await chat(sitting, 60)
        assert sitting.said().count(TANAKA) == 1
        assert all("<@" not in text for text in sitting.said())
        await sitting.say("田中", "賛成する理由を説明します")
        await chat(sitting, 15)
        assert sitting.said().count(TANAKA) == 2

    held(story)


@pytest.mark.parametrize("seed", range(3))
def test_a_restart_at_any_moment_neither_repeats_nor_forgets(seed: int) -> None:
    chance = random.Random(seed)

    async def story(sitting: Sitting) -> None:
        await sitting.start(agenda=("価格 10分", "公開日"), minutes=120)
        await sitting.say("田中", "よろしくお願いします")
        for _ in range(6):
            await chat(sitting, 4)
            await sitting.sleep()
            await asyncio.sleep(chance.choice((1, 40)))
            await sitting.wake()
        await chat(sitting, 2)
        assert sitting.said().count(MOVE_ON) == 1
        assert sitting.said().count(TANAKA) in (1, 2)

    held(story)


@pytest.mark.parametrize("activity", list(Activity))
@pytest.mark.parametrize("seed", range(2))
def test_the_budget_holds_whatever_is_said(activity: Activity, seed: int) -> None:
    """SPEC 2.3: unprompted posts stay under one per so many human messages and one per so many minutes."""
    chance = random.Random(seed)

    async def story(sitting: Sitting) -> None:
        await sets(sitting, activity=activity)
        await sitting.start(agenda=("価格 5分", "公開日 5分", "予算 5分", "その他"), minutes=90)
        for n in range(100):
            who = chance.choice(("佐藤", "佐藤", "鈴木", "鈴木", "田中", "Maya", "Tom")[: 2 + n // 20])
            await sitting.say(who, f"{n}番目の話です")
            await asyncio.sleep(chance.choice((1, 5, 20, 60)))
            if chance.random() < 0.02:
                with suppress(BadInput):  # no item follows the last one
                    await sitting.meetings.agenda_next(PLACE, sitting.person("佐藤"), sitting.click())
        assert sitting.app is not None
        posts = await sitting.app.db.unit(lambda c: overview.posts(c, sitting.meeting_id))
        spoken = [p for p in posts if p.payload.get("unprompted") is not None]
        assert spoken
        messages, seconds = _BUDGET[activity]
        previous = 0
        for post in spoken:
            assert post.payload["unprompted"] - previous > messages
            previous = post.payload["unprompted"]
        for one, other in pairwise(spoken):
            assert other.created_at - one.created_at > timedelta(seconds=seconds)

    held(story)


def test_an_action_is_recalled_once_though_the_process_was_away_and_not_where_turned_off() -> None:
    async def story(sitting: Sitting) -> None:
        await sitting.start(title="料金会議")
        await sitting.talk(
            ("佐藤", "宿題：見積もりを取る 2026-09-03まで"), ("佐藤", "宿題：古い話 2026-08-01まで")
        )
        await sitting.close(ask=False)
        head = t("reminder.head", "ja", title="料金会議")
        await sitting.sleep()
        await asyncio.sleep(2.2 * 86400)  # 3 September, 4:48 UTC = 13:48 in Tokyo: late, but the same day
        await sitting.wake()
        await asyncio.sleep(60)
        recalled = [text for text in sitting.said() if text.startswith(head)]
        assert len(recalled) == 1
        assert "見積もりを取る" in recalled[0]
        assert "古い話" not in recalled[0]
        await sitting.sleep()
        await sitting.wake()
        await asyncio.sleep(3 * 86400)
        assert [text for text in sitting.said() if text.startswith(head)] == recalled

    held(story)


def test_no_reminder_where_the_server_turned_them_off_or_it_was_done() -> None:
    async def story(sitting: Sitting) -> None:
        await sets(sitting, reminders=False)
        await sitting.start()
        await sitting.talk(("佐藤", "宿題：見積もりを取る 2026-09-03まで"))
        await sitting.close(ask=False)
        await asyncio.sleep(4 * 86400)
        assert not [text for text in sitting.said() if "⏰" in text]
        await sets_again(sitting)
        await sitting.start()
        await sitting.talk(("佐藤", "宿題：会場を取る 2026-09-09まで"))
        await sitting.meetings.done(
            PLACE, sitting.view.actions[-1].number, sitting.person("佐藤"), sitting.click()
        )
        await sitting.close(ask=False)
        await asyncio.sleep(9 * 86400)
        assert not [text for text in sitting.said() if "会場を取る" in text and "⏰" in text]

    async def sets_again(sitting: Sitting) -> None:
        assert sitting.app is not None
        await sitting.app.db.unit(lambda c: servers.save(c, ServerSettings(PLACE.guild_id)))

    held(story)

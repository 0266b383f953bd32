"""Retention as the running product does it: supervised, once a day, by what each server set, in virtual time."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.store import archive, meetings, servers, transcript
from tests.facilitation.sitting import PLACE, Sitting, held

DAY = 86_400


@pytest.fixture(autouse=True)
def _calm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other recurring work, a thousand units a day, is not what is tested here."""
    monkeypatch.setattr("bot.app.HEARTBEAT_S", 43_200.0)
    monkeypatch.setattr("bot.app.SETTLE_S", 43_200.0)
    monkeypatch.setattr("bot.app.LAG_S", 43_200.0)
    monkeypatch.setattr("bot.app.OVERSLEPT_S", 43_200.0)


async def _set(sitting: Sitting, **changes: Any) -> None:
    async def work(c: Any) -> None:
        await servers.save(c, replace(await servers.get(c, PLACE.guild_id), **changes))

    assert sitting.app is not None
    await sitting.app.db.unit(work)


async def _messages(sitting: Sitting) -> int:
    assert sitting.app is not None
    return len(await sitting.app.db.unit(lambda c: transcript.everything(c, sitting.meeting_id)))


async def _met(sitting: Sitting) -> list[dict[str, Any]]:
    """A closed meeting of two messages, the supervised work running; what the sweeps told."""
    await sitting.start()
    await sitting.talk(("佐藤", "決定：価格は980円"), ("鈴木", "いいですね"))
    await sitting.close()
    assert sitting.app is not None
    told: list[dict[str, Any]] = []
    sitting.app.watchers.append(lambda kind, facts: told.append(dict(facts)) if kind == "swept" else None)
    sitting.app.supervise()
    return told


def test_transcripts_go_after_their_days_and_the_ledger_after_its_own() -> None:
    async def story(sitting: Sitting) -> None:
        told = await _met(sitting)
        await _set(sitting, transcript_days=7, ledger_days=20)
        await asyncio.sleep(6.9 * DAY)
        assert await _messages(sitting) == 2
        assert len(told) == 7, "once a day"
        await asyncio.sleep(1.2 * DAY)
        assert await _messages(sitting) == 0
        assert sum(t["transcripts"] for t in told) == 1
        assert sitting.app is not None
        assert await sitting.app.minutes_export(sitting.meeting_id), "ledger and minutes stay"
        await asyncio.sleep(14 * DAY)
        assert await sitting.app.db.unit(lambda c: meetings.get(c, sitting.meeting_id)) is None
        assert sum(t["meetings"] for t in told) == 1

    held(story)


def test_a_server_that_set_nothing_has_the_applications_ninety_days() -> None:
    async def story(sitting: Sitting) -> None:
        await _met(sitting)
        await asyncio.sleep(89.5 * DAY)
        assert await _messages(sitting) == 2
        await asyncio.sleep(1.5 * DAY)
        assert await _messages(sitting) == 0

    held(story)


def test_a_process_that_restarts_often_sweeps_all_the_same_and_not_at_every_start() -> None:
    async def story(sitting: Sitting) -> None:
        await _met(sitting)
        await _set(sitting, transcript_days=1)
        swept = []
        for _ in range(12):
            await sitting.sleep()
            await sitting.wake()
            assert sitting.app is not None
            sitting.app.watchers.append(lambda kind, facts: swept.append(facts) if kind == "swept" else None)
            sitting.app.supervise()
            await asyncio.sleep(timedelta(hours=4).total_seconds())
        assert len(swept) == 2
        assert await _messages(sitting) == 0

    held(story)


def test_a_failed_sweep_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    real, failing = archive.sweep, [True]

    async def sweep(*args: Any) -> Any:
        if failing[0]:
            raise RuntimeError("disk full")
        return await real(*args)

    monkeypatch.setattr(archive, "sweep", sweep)

    async def story(sitting: Sitting) -> None:
        told = await _met(sitting)
        await asyncio.sleep(2 * 3600)
        assert sitting.app is not None
        assert sitting.app.supervisor.workers["retention"].failures >= 1
        failing[0] = False
        await asyncio.sleep(DAY)
        assert sitting.app.supervisor.workers["retention"].failures == 0
        assert told

    held(story)

"""What the running application leaves of itself in the store, in virtual time."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from bot.app import App, build
from bot.settings import Settings
from bot.store import heartbeats
from bot.store.heartbeats import Heartbeat
from bot.vitals import vitals
from tests.crash.injecting import EPOCH
from tests.crash.instant import run_instant


def after(seconds: float, meddle: Any = None) -> dict[str, Heartbeat]:
    """The rows by name when an application has run that long; `meddle(app)` happens before it begins."""

    def now() -> Any:
        return EPOCH + timedelta(seconds=asyncio.get_running_loop().time())

    async def main() -> dict[str, Heartbeat]:
        app = build(Settings(database_url="sqlite://", model="offline", seed=1), now)
        await app.open()
        if meddle is not None:
            meddle(app)
        app.supervise()
        await asyncio.sleep(seconds)
        rows = await app.db.unit(heartbeats.everything)
        await app.close()
        return {row.name: row for row in rows}

    return run_instant(main())


def seconds_of(beat: Heartbeat) -> int:
    return round((beat.at - EPOCH).total_seconds())


def test_the_process_and_each_worker_leave_a_row_of_their_own() -> None:
    rows = after(100)
    assert seconds_of(rows["bot"]) == 90
    assert (rows["bot"].every_s, rows["bot"].failures) == (30, 0)
    assert set(rows) >= {"bot", "heartbeat", "loop lag", "erasures", "retention"}
    assert (seconds_of(rows["erasures"]), rows["erasures"].every_s) == (60, 60)
    assert (seconds_of(rows["retention"]), rows["retention"].every_s) == (0, 1800)  # not yet its turn
    assert seconds_of(rows["loop lag"]) == 89
    found = vitals(list(rows.values()), EPOCH + timedelta(seconds=100))
    assert found is not None
    assert (found.alive, found.late, found.failing) == (True, (), ())


def test_nothing_is_called_late_in_a_day_that_goes_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.app.LAG_S", 30.0)  # 86,400 looks would take the test long
    for hours in (1, 6):
        rows = after(hours * 3600 + 17)
        found = vitals(list(rows.values()), EPOCH + timedelta(hours=hours, seconds=17))
        assert found is not None
        assert (found.alive, found.late, found.failing) == (True, (), ())


def test_work_that_fails_is_stored_with_its_count_and_the_errors_class() -> None:
    def break_erasures(app: App) -> None:
        async def settle() -> None:
            raise OSError("with the words of somebody")

        object.__setattr__(app.privacy, "settle", settle)

    rows = after(500, break_erasures)
    assert (rows["erasures"].failures, rows["erasures"].error) == (3, "OSError")  # at 60, 180 and 420 s
    assert seconds_of(rows["erasures"]) == 0
    assert rows["bot"].failures == 0
    found = vitals(list(rows.values()), EPOCH + timedelta(seconds=500))
    assert found is not None
    assert [beat.name for beat in found.failing] == ["erasures"]


def test_work_that_hangs_is_late() -> None:
    def hang(app: App) -> None:
        object.__setattr__(app.privacy, "settle", lambda: asyncio.sleep(10**6))

    rows = after(400, hang)
    found = vitals(list(rows.values()), EPOCH + timedelta(seconds=400))
    assert found is not None
    assert [beat.name for beat in found.late] == ["erasures"]


def test_a_loop_that_was_held_up_is_stored_beside_the_sign_of_life() -> None:
    def block(app: App) -> None:
        loop: Any = asyncio.get_running_loop()
        loop.call_at(40.5, loop.advance, 2.0)

    assert after(70, block)["bot"].lag_s == pytest.approx(1.5, abs=0.01)

"""The benchmark's own arithmetic, and that it measures the real application."""

from __future__ import annotations

import asyncio
import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.app import build
from bot.evaluation import bench, chatting, load
from bot.settings import Settings
from tests.crash.instant import run_instant


def test_percentiles_are_values_that_were_measured() -> None:
    assert load.percentile([], 0.5) is None
    assert load.percentile([3.0], 0.95) == 3.0
    assert load.percentile([float(n) for n in range(100)], 0.5) == 50.0
    assert load.percentile([float(n) for n in range(100)], 0.95) == 95.0


def test_delays_count_from_the_end_of_each_bursts_quiet() -> None:
    stage = load.Nowhere()
    measured = load.Load(None, stage, 1)  # type: ignore[arg-type]
    measured._sent[1000] = [0.0, 1.0, 2.0, 20.0, 40.0, 42.0, 44.0, 46.0, 48.0, 50.0, 52.0, 54.0]
    stage.answers = [(1000, 5.5), (1000, 23.25), (1000, 55.125), (1000, 99.0), (7, 1.0)]
    assert measured.delays() == [0.5, 0.25, 0.125]


def test_every_burst_of_the_load_is_answered_by_the_real_application(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In virtual time: 30 s of talk in three meetings take none."""
    start = 1_780_000_000.0

    async def main() -> tuple[load.Load, load.Nowhere]:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(load.time, "time", lambda: start + loop.time())
        settings = Settings(database_url=f"sqlite+aiosqlite:///{tmp_path}/b.db", model="offline")
        app = build(
            settings,
            lambda: datetime.fromtimestamp(start + loop.time(), UTC),
            wrap_model=lambda _: load.AtOnce(),
        )
        await app.open()
        stage = load.Nowhere()
        app.attach(stage)
        measured = load.Load(app, stage, 3)
        monkeypatch.setattr(load, "datetime", _At(lambda: start + loop.time()))
        await measured.start()
        await measured.talk(30)
        await asyncio.sleep(10)
        await measured.everybody()
        await app.close()
        return measured, stage

    measured, stage = run_instant(main())
    assert len(measured.stored) >= 6
    delays = measured.delays()
    assert len(delays) == len(stage.answers) >= 3
    assert all(-0.001 < delay < 0.5 for delay in delays), delays
    assert len(measured.at_once) == 3


class _At:
    """Stands for the module's `datetime`, in virtual time."""

    def __init__(self, now: Any) -> None:
        self._now = now

    def now(self, zone: Any) -> datetime:
        return datetime.fromtimestamp(self._now(), zone)


RESULT = {
    "meetings": 1,
    "seconds": 1.0,
    "messages": 3,
    "cpu_ms": 2.0,
    "stored_median_ms": 1.5,
    "stored_p95_ms": 2.5,
    "answers": 1,
    "post_median_ms": 9.0,
    "post_p95_ms": 9.5,
    "at_once_median_ms": 3.0,
    "at_once_p95_ms": 3.5,
    "idle_mib": 80.0,
    "busy_mib": 81.0,
}


TALK = {
    "people": 20,
    "first_visible_median_ms": 120.0,
    "first_visible_p95_ms": 300.0,
    "sentence_visible_median_ms": 0.5,
    "sentence_visible_p95_ms": 5.0,
    "answer_median_ms": 2000.0,
    "answer_p95_ms": 2100.0,
    "edits_median": 2.0,
    "edits_most": 2,
}


def test_each_load_has_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        asked.append(command[command.index("-m") + 1 :])
        result = RESULT if "bot.evaluation.load" in command else TALK
        return subprocess.CompletedProcess(command, 0, json.dumps(result) + "\n", "")

    monkeypatch.setattr(bench.subprocess, "run", run)
    out = tmp_path / "bench.jsonl"
    assert bench.bench(1.0, out) == 0
    loads = [["bot.evaluation.load", "1", "1.0"], ["bot.evaluation.load", "100", "1.0"]]
    assert asked == [*loads, ["bot.evaluation.chatting", "20"]]
    assert [json.loads(line) for line in out.read_text().splitlines()] == [RESULT, RESULT, TALK]


def test_a_load_that_fails_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "no room")
    monkeypatch.setattr(bench.subprocess, "run", lambda *_, **__: failed)
    assert bench.bench(1.0, None) == 1


def test_direct_messages_are_measured_from_the_first_piece_to_what_is_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def main() -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(chatting, "datetime", _At(loop.time))
        return await chatting.measure(4)

    measured = run_instant(main())
    assert measured["people"] == 4
    # What is shown waits for the end of the first sentence (12 characters a piece) and for nothing else.
    assert measured["sentence_visible_p95_ms"] < 1.0
    assert 60 <= measured["first_visible_median_ms"] <= 400
    assert measured["answer_median_ms"] > 1_000
    assert 1 <= measured["edits_most"] <= measured["answer_p95_ms"] / 1_000 + 2

"""`ketsugi stats` over a real database, opened read-only."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import StoreError
from bot.evaluation import stats
from bot.guard.model import Attempt, Generated, Outcome, Remedy, Source, Strength, Verdict
from bot.meeting.model import Activity, ChannelKind, Route
from bot.store import generations, meetings
from bot.store.engine import Database

NOW = datetime(2026, 10, 20, 9, 30, tzinfo=UTC)


def turn(fired: bool, version: str = "gemini-2.5-flash") -> Generated:
    def verdict(outcome: Outcome) -> Verdict:
        return Verdict("announces_start", outcome, "", Strength.MUST, Remedy.REPHRASE)

    first = Attempt(
        "…", (verdict(Outcome.FIRED if fired else Outcome.PASS),), None, 1600, 1000, 0, 200, version
    )
    attempts = (first, Attempt("…", (verdict(Outcome.PASS),), None, 1400, 1000, 0, 200, version))
    return Generated(
        "…",
        Source.REPHRASED if fired else Source.FIRST,
        attempts if fired else attempts[:1],
        final_verdicts=(verdict(Outcome.PASS),),
        model="gemini-2.5-flash",
    )


@pytest.fixture
async def url(tmp_path: Path) -> str:
    """Two meetings: the first opened badly three times of three, the second never of three."""
    url = f"sqlite+aiosqlite:///{tmp_path}/ketsugi.db"
    database = Database(url)
    await database.open()

    async def work(c: AsyncConnection) -> None:
        for number in range(2):
            meeting = await meetings.create(
                c, guild_id=1, channel_id=2 + number, channel_kind=ChannelKind.TEXT, title="会議",
                language="ja", timezone="UTC", chair_id=3, chair_name="佐藤", agenda=(), started_at=NOW,
                planned_end=NOW + timedelta(hours=1), activity=Activity.NORMAL,
            )  # fmt: skip
            for run in range(3):
                at = NOW + timedelta(days=run)
                await generations.record(c, 1, meeting.id, Route.OPENING, turn(number == 0), at)

    await database.unit(work)
    await database.close()
    return url


async def test_rules_sources_and_usage_with_meetings_as_clusters(url: str, tmp_path: Path) -> None:
    found = await stats.collect(url)
    (row,) = found.rules
    assert (row.rule, row.model, row.before.fired, row.before.n) == (
        "announces_start",
        "gemini-2.5-flash",
        3,
        6,
    )
    assert (row.before.clusters, row.before.n_eff) == (2, 2)  # six runs, but only two meetings
    assert (row.after.fired, row.after.n) == (0, 6)
    console = Console(file=io.StringIO(), width=170, highlight=False)
    stats.show(console, found)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "3/6 50%" in text
    assert "$0.0072" in text  # 9 calls of 1,000 tokens at 0.30 and 200 at 2.50 a million
    stats.write(tmp_path / "out.jsonl", found)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["kind"] for line in lines] == ["rule", "source", "source", "usage"]


async def test_only_from_a_day_on(url: str) -> None:
    found = await stats.collect(url, NOW + timedelta(days=1))
    assert found.rules[0].before.n == 4


async def test_the_database_may_be_in_use_and_is_not_written_to(url: str, tmp_path: Path) -> None:
    running = Database(url)
    await running.open()
    try:
        assert (await stats.collect(url)).rules
    finally:
        await running.close()
    with pytest.raises(StoreError):
        await stats.collect(f"sqlite+aiosqlite:///{tmp_path}/missing.db")
    assert not (tmp_path / "missing.db").exists()

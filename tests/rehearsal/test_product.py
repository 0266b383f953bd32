"""The real bot on the stage, from the start command to its one set of minutes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.meeting.model import Language
from bot.rehearsal.command import demo, rehearse
from bot.rehearsal.driver import Rehearsal
from bot.rehearsal.product import Product
from bot.rehearsal.scenario import Scenario, load, parse

LANGUAGES: list[Language] = ["ja", "en"]


async def played(scenario: Scenario, folder: Path, seed: int = 1) -> list[dict[str, Any]]:
    url = f"sqlite+aiosqlite:///{folder / 'meeting.db'}"
    return await Rehearsal(
        scenario, Product(url, "offline", scenario.header.language, seed), seed=seed
    ).play()


def of(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["kind"] == kind]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_demo_ends_with_its_minutes_and_nobody_waits(language: Language, tmp_path: Path) -> None:
    lines = await played(load(demo(language)), tmp_path)
    summary = lines[-1]
    assert (summary["minutes_messages"], summary["problems"], summary["unanswered"]) == (1, [], 0)
    assert summary["longest_wait_s"] <= 25
    entries = of(lines, "ledger")[0]["entries"]
    minutes = of(lines, "minutes")[0]
    kinds = {entry["kind"] for entry in entries}
    assert {"constraint", "proposal", "vote", "decision", "question", "action", "retraction"} <= kinds
    decisions = [e for e in entries if e["kind"] == "decision"]
    assert len([d for d in decisions if d["status"] != "retracted"]) == 2
    assert all(d["text"] in minutes["text"] for d in decisions)
    assert any(e["kind"] == "action" and e["owner"] is None for e in entries)
    assert minutes["document"]
    posts = of(lines, "post")
    assert all(p["by"] in ("facilitator", "assistant", "system") for p in posts)
    assert [p["where"] for p in posts if "minutes.md" in p.get("files", ())] == ["thread"]


async def test_the_same_seed_gives_the_same_output(tmp_path: Path) -> None:
    outputs = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        lines = await played(load(demo("ja")), folder)
        lines[-1].pop("wall_s")
        outputs.append(lines)
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("crash", [False, True])
async def test_a_restart_after_every_tenth_event_gives_the_same_ledger(crash: bool, tmp_path: Path) -> None:
    rows = demo("en").read_text(encoding="utf-8").splitlines()
    restarted: list[str] = []
    for number, row in enumerate(rows):
        restarted.append(row)
        if number and number % 10 == 0:
            at = json.loads(row)["at"]
            restarted.append(json.dumps({"at": at, "restart": True, "down_s": 2, "crash": crash}))
    for folder in (tmp_path / "calm", tmp_path / "restarted"):
        folder.mkdir()
    calm = await played(parse(rows), tmp_path / "calm")
    shaken = await played(parse(restarted), tmp_path / "restarted")
    assert shaken[-1]["minutes_messages"] == 1

    def ledger(lines: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        keys = ("number", "kind", "text", "quote", "who", "status", "refers_to", "owner", "due")
        return [tuple(e[k] for k in keys) for e in of(lines, "ledger")[0]["entries"]]

    assert ledger(shaken) == ledger(calm)
    assert [p["text"] for p in of(shaken, "post") if p["route"] == "time_notice"] == [
        p["text"] for p in of(calm, "post") if p["route"] == "time_notice"
    ]


async def test_a_meeting_in_which_nobody_speaks_ends_with_minutes_too(tmp_path: Path) -> None:
    header = {
        "scenario": 1, "title": "Nobody", "language": "en", "duration_min": 10,
        "participants": [], "chair": "Ann",
    }  # fmt: skip
    lines = await played(parse([json.dumps(header)]), tmp_path)
    assert lines[-1]["minutes_messages"] == 1


def test_the_command_plays_the_demo_and_leaves_lines_and_database(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, database = tmp_path / "out.jsonl", tmp_path / "kept.db"
    assert rehearse(language="en", out=out, database=str(database), seed=3, quiet=True) == 0
    rows = [json.loads(row) for row in out.read_text(encoding="utf-8").splitlines()]
    assert rows[-1]["kind"] == "summary"
    assert database.stat().st_size > 0
    assert "1 minutes message" in capsys.readouterr().out


SCENARIOS = sorted(demo("en").parent.glob("*.jsonl")) + sorted(
    (demo("en").parent / "fidelity").glob("*.jsonl")
)
FAULTS: list[dict[str, Any]] = [
    {"fault": "discord", "error": "lost", "times": 1},
    {"fault": "discord", "error": "timeout", "times": 1},
    {"fault": "discord", "status": 503, "times": 1},
    {"fault": "model", "error": "timeout", "times": 1},
    {"fault": "model", "status": 500, "times": 2},
    {"fault": "model", "status": 429, "for_s": 60},
    {"restart": True, "down_s": 2, "crash": True},
]


def rows_of(scenario: Path, shaken: bool) -> list[str]:
    """A scenario's lines, with a fault before every event where it is shaken."""
    rows: list[str] = []
    for number, row in enumerate(scenario.read_text(encoding="utf-8").splitlines()):
        if shaken and number > 1:  # the first event follows the header
            rows.append(json.dumps({"at": json.loads(row)["at"], **FAULTS[number % len(FAULTS)]}))
        rows.append(row)
    return rows


CALM = [
    (path, False) for path in SCENARIOS if path.parent.name == "fidelity"
]  # the demos are looked at above
SHAKEN = [(path, True) for path in SCENARIOS]


@pytest.mark.parametrize(("scenario", "shaken"), CALM + SHAKEN)
async def test_nobody_waits_longer_than_25_s_in_any_scenario(
    scenario: Path, shaken: bool, tmp_path: Path
) -> None:
    summary = (await played(parse(rows_of(scenario, shaken)), tmp_path))[-1]
    assert (summary["minutes_messages"], summary["problems"], summary["unanswered"]) == (1, [], 0)
    assert summary["longest_wait_s"] <= 25

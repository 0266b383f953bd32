"""A panel without Discord: `ketsugi rehearse --panel` and `ketsugi eval fidelity --panel`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.__main__ import cli
from bot.models.base import Draft, Out, Request, Usage
from bot.phrases import DATA
from bot.rehearsal.scenario import ScenarioError, load_panel
from tests.panel.drifting import AGENDA, CONSTRAINTS, ROLES, SAID, TITLE, mends

SHIPPED = DATA / "scenarios" / "panel"


def _played(path: Path, tmp_path: Path, *more: str) -> tuple[int, list[dict[str, Any]]]:
    out = tmp_path / "out.jsonl"
    result = CliRunner().invoke(cli, ["rehearse", "--panel", str(path), "--out", str(out), "--quiet", *more])
    lines = (
        [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()] if out.exists() else []
    )
    return result.exit_code, lines


@pytest.mark.parametrize("language", ["ja", "en"])
def test_the_shipped_panels_end_with_one_set_of_minutes(tmp_path: Path, language: str) -> None:
    code, lines = _played(SHIPPED / f"{language}.jsonl", tmp_path)
    assert code == 0
    scenario = load_panel(SHIPPED / f"{language}.jsonl")
    posts = [line for line in lines if line["kind"] == "post"]
    spoken = [line for line in posts if line["by"] == "panel"]
    assert {line["name"] for line in spoken} == {f"🤖 {role.name}" for role in scenario.header.roles}
    assert all(line["where"] == "thread" and line["route"] == "panel" for line in spoken)
    assert len({line["text"] for line in spoken}) == len(spoken) > 8
    summary = lines[-1]
    assert (summary["kind"], summary["minutes_messages"], summary["problems"]) == ("summary", 1, [])
    minutes = next(line for line in lines if line["kind"] == "minutes")
    assert all(constraint in minutes["text"] for constraint in scenario.header.constraints)
    assert minutes["document"]["panel"]["turns_taken"] == 12
    assert minutes["document"]["panel"]["models"] == [], "the offline engine is no model"
    entries = next(line for line in lines if line["kind"] == "ledger")["entries"]
    assert any(e["kind"] == "confirmation" for e in entries), "a person's ✅"


def test_the_same_seed_gives_the_same_panel(tmp_path: Path) -> None:
    def told(lines: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        return [(x["at"], x.get("name"), x["text"]) for x in lines if x["kind"] == "post"]

    first, second = (_played(SHIPPED / "ja.jsonl", tmp_path)[1] for _ in range(2))
    assert told(first) == told(second)


def test_a_crash_in_the_middle_repeats_nothing(tmp_path: Path) -> None:
    header = (SHIPPED / "ja.jsonl").read_text(encoding="utf-8").split("\n")[0]
    path = tmp_path / "crash.jsonl"
    crash = {"at": 42, "restart": True, "down_s": 400, "crash": True}
    lost = {"at": 20, "fault": "discord", "error": "lost", "times": 1}
    path.write_text("\n".join([header, json.dumps(lost), json.dumps(crash)]) + "\n", encoding="utf-8")
    code, lines = _played(path, tmp_path)
    assert code == 0
    spoken = [line["text"] for line in lines if line["kind"] == "post" and line["by"] == "panel"]
    assert len(spoken) == len(set(spoken)) == 12


def test_one_json_object_is_a_panel_too(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    roles = [{"name": "Design", "standpoint": "fun"}, {"name": "Build", "standpoint": "small"}]
    given = {"panel": 1, "topic": "A game", "language": "en", "roles": roles, "turns": 2}
    path.write_text(json.dumps(given, indent=2), encoding="utf-8")
    code, lines = _played(path, tmp_path)
    assert code == 0
    assert sum(line["kind"] == "post" and line["by"] == "panel" for line in lines) == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"scenario": 1, "title": "T", "language": "en", "duration_min": 5, "participants": ["A"], "chair": "A"}',
         "describes no panel"),
        ('{"panel": 1, "title": "T", "language": "en"}', "'roles' is missing"),
        ('{"panel": 2, "title": "T", "language": "en", "roles": []}', "'panel'"),
        ('{"panel": 1, "title": "T", "language": "en", "roles": [{"name": "A"}]}', "standpoint"),
        ("", "empty"),
    ],
)  # fmt: skip
def test_a_bad_file_is_named_with_line_and_reason(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError, match=reason):
        load_panel(path)
    assert _played(path, tmp_path)[0] == 2


class _Drifting:
    """Implements `Model`."""

    name = "drifting"

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        return Draft(mends(request.scene, request.attempt), Usage(1_000, 0, 100), "drifting-1", 900)

    async def close(self) -> None:
        return None


async def test_what_the_window_loses_of_the_drifting_panel_the_ledger_keeps(tmp_path: Path) -> None:
    from bot.evaluation import panel_fidelity
    from bot.evaluation.summariser import Summariser
    from bot.rehearsal.host import Seam
    from bot.rehearsal.product import Product

    class Host(Product):
        async def start(self, seam: Seam) -> Any:
            wrapped = Seam(seam.now, seam.wait, seam.watch, lambda _: _Drifting())  # type: ignore[arg-type,return-value]
            return await super().start(wrapped)

    header = {
        "panel": 1, "title": TITLE, "language": "ja", "agenda": AGENDA, "constraints": CONSTRAINTS,
        "roles": [{"name": r.name, "standpoint": r.standpoint} for r in ROLES], "turns": len(SAID),
    }  # fmt: skip
    path = tmp_path / "drift.jsonl"
    path.write_text(json.dumps(header, ensure_ascii=False) + "\n", encoding="utf-8")
    host = Host(f"sqlite+aiosqlite:///{tmp_path}/panel.db", "offline", "ja", 0)
    held = await panel_fidelity.play(load_panel(path), host)
    old, new = await panel_fidelity.conclude(Summariser(), held)
    gold = held.played.gold
    assert (len(gold.constraints), len(gold.decisions), len(gold.open)) == (2, 4, 2)
    assert old.score.constraints == ()
    assert len(old.score.decisions) <= 1, "what the last eight turns held"
    assert old.score.open == ()
    assert len(new.score.constraints) == 2
    assert len(new.score.decisions) == 4
    assert len(new.score.open) == 2
    assert "クリック計測" in old.text, "the side discussion is what a window concludes with"
    assert new.score.invented == ()


def test_the_command_compares_both_ways() -> None:
    path = str(SHIPPED / "ja.jsonl")
    result = CliRunner().invoke(cli, ["eval", "fidelity", "--panel", path])
    assert result.exit_code == 0, result.output
    assert "history only" in result.output
    assert "constraints kept" in result.output


PLAN: dict[str, Any] = {
    "panel": 1,
    "title": "A game",
    "language": "en",
    "roles": [{"name": "Design", "standpoint": "fun"}, {"name": "Build", "standpoint": "small"}],
}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        *(({"turns": turns}, f"“{turns}”") for turns in (0, -3, 61)),
        ({"cap": -1.0}, "-1"),
        ({"cap": 0.0}, "US dollars"),
        ({"roles": PLAN["roles"][:1]}, "there are 1"),
        ({"roles": [{"name": f"R{n}", "standpoint": "x"} for n in range(6)]}, "there are 6"),
        ({"roles": [PLAN["roles"][0], {"name": "ＤＥＳＩＧＮ", "standpoint": "x"}]}, "2 roles are called"),
        ({"roles": [PLAN["roles"][0], {"name": "Assistant", "standpoint": "x"}]}, "cannot be the name"),
        ({"language": "ja", "turns": 61}, "1〜60回"),
    ],
)
@pytest.mark.parametrize("quiet", [True, False])
def test_a_plan_that_the_command_would_refuse_is_refused_before_it_begins(
    tmp_path: Path, changes: dict[str, Any], reason: str, quiet: bool
) -> None:
    path = tmp_path / "plan.jsonl"
    path.write_text(json.dumps(PLAN | changes, ensure_ascii=False) + "\n", encoding="utf-8")
    result = CliRunner().invoke(cli, ["rehearse", "--panel", str(path), *(["--quiet"] if quiet else [])])
    assert result.exit_code == 2
    assert result.output.startswith(f"{path}:1: ")
    assert reason in result.output
    assert result.output.count("\n") == 1


def test_a_scenario_and_a_panel_at_once_are_refused(tmp_path: Path) -> None:
    code, lines = _played(SHIPPED / "en.jsonl", tmp_path, str(DATA / "scenarios" / "demo.en.jsonl"))
    assert (code, lines) == (2, [])

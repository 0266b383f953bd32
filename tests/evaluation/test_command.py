"""The commands as typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.__main__ import cli

RUN = CliRunner()


def test_eval_compare_fidelity_and_sizes(tmp_path: Path) -> None:
    for name in ("first", "clean"):
        asked = ["eval", "--model", f"scripted:{name}", "--runs", "1", "--language", "ja"]
        done = RUN.invoke(cli, [*asked, "--only", "announces_start", "--out", str(tmp_path / name)])
        assert done.exit_code == 0, done.output
        assert f"scripted:{name} (scripted-{name}-1): rules, 2 runs of 2 scenarios" in done.output
    compared = RUN.invoke(cli, ["eval", "compare", str(tmp_path / "first"), str(tmp_path / "clean")])
    assert compared.exit_code == 0
    assert "B = scripted:clean (scripted-clean-1), 2 runs" in compared.output
    fidelity = RUN.invoke(cli, ["eval", "fidelity", "--out", str(tmp_path / "fidelity")])
    assert fidelity.exit_code == 0
    assert len((tmp_path / "fidelity").read_text(encoding="utf-8").splitlines()) == 4
    sizes = RUN.invoke(cli, ["eval", "sizes", "--language", "en", "--messages", "60"])
    assert sizes.exit_code == 0
    assert "60 messages in 20 turns" in sizes.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["eval", "--model", "scripted:nonsense"],
        ["eval", "compare", "missing-a", "missing-b"],
        ["stats", "--database", "missing.db"],
        ["eval", "--model", "scripted:clean", "--out", "no/such/folder/a.jsonl"],
    ],
)
def test_a_mistake_is_one_line_and_status_1(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    done = RUN.invoke(cli, arguments)
    assert done.exit_code == 1
    assert done.output.count("\n") == 1, done.output

"""The house keeps its rules: format, lint, types and who may import whom are part of the test command."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy", "-p", "bot"],
    ],
    ids=lambda command: " ".join(command),
)
def test_check(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_import_contracts() -> None:
    program = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_top_level_is_fixed() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    top = {line.split("/")[0] for line in listed.stdout.splitlines()}
    allowed = {
        "pyproject.toml",
        "README.md",
        "bot",
        "cogs",
        "tests",
        "data",
        "docs",
        "CHANGELOG.md",
        "constraints.txt",
    }
    assert {name for name in top if not name.startswith(".")} <= allowed


def test_every_dependency_is_pinned() -> None:
    pins = {
        re.split(r"==", line)[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text().split()
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(d for extra in project["optional-dependencies"].values() for d in extra),
    ]
    names = {re.split(r"[\[<>=~ ;]", d)[0].lower().replace("_", "-") for d in wanted} - {"ketsugi"}
    assert names <= pins


def test_no_registry_is_named_in_what_is_tracked() -> None:
    pins = (ROOT / "constraints.txt").read_text()
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line) for line in pins.splitlines() if line)

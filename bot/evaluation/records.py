"""The file of an evaluation: JSON Lines, a heading and one line a run, written as they happen.

    {"kind": "eval", "format": 1, "model", "runs", "scenarios", "language", "started_at", "patience"}
    {"kind": "run", "scenario", "tempts": [rule], "language", "route", "run", "model", "version", "source",
     "text", "attempts": [{"verdicts": {rule: outcome}, "text", "failure", "latency_ms", "tokens_in",
     "tokens_cached", "tokens_out", "version"}], "after": {rule: outcome}, "cost_usd"}

`version` is the model version as the provider returned it, "" where no answer came. `after` is what the
rules say of the text that would be posted; empty for silence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.errors import ConfigError

FORMAT = 1


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Head(_Line):
    kind: Literal["eval"] = "eval"
    format: Literal[1] = 1
    model: str
    runs: int
    scenarios: int
    language: str | None = None
    started_at: str = ""
    patience: float = 1.0


class AttemptLine(_Line):
    verdicts: dict[str, str]
    text: str | None = None
    failure: str | None = None
    latency_ms: int = 0
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    version: str = ""


class Run(_Line):
    kind: Literal["run"] = "run"
    scenario: str
    tempts: tuple[str, ...]
    language: str
    route: str
    run: int
    model: str
    version: str
    source: str
    text: str | None
    attempts: tuple[AttemptLine, ...]
    after: dict[str, str]
    cost_usd: float | None = None

    @property
    def latency_ms(self) -> int:
        """How long the room waited for the model: both answers together."""
        return sum(a.latency_ms for a in self.attempts)


def line_of(value: Head | Run) -> str:
    return json.dumps(value.model_dump(mode="json"), ensure_ascii=False) + "\n"


def read(path: Path) -> tuple[Head, list[Run]]:
    """A result file; a last line cut off by a crash is left out. Raises ConfigError naming file and line."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    head: Head | None = None
    runs: list[Run] = []
    for number, value in _values(path, lines):
        try:
            if value.get("kind") == "eval":
                head = Head.model_validate(value)
            elif value.get("kind") == "run":
                runs.append(Run.model_validate(value))
        except ValidationError as error:
            raise ConfigError(
                f"{path}:{number}: {error.errors()[0]['loc']}: {error.errors()[0]['msg']}"
            ) from error
    if head is None:
        raise ConfigError(f"{path}: not a result file of `ketsugi eval` (its first line says so)")
    return head, runs


def _values(path: Path, lines: list[str]) -> Iterator[tuple[int, dict[str, object]]]:
    last = max((n for n, line in enumerate(lines, start=1) if line.strip()), default=0)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            if number == last:
                return
            raise ConfigError(f"{path}:{number}: not JSON: {error}") from error
        if isinstance(value, dict):
            yield number, value

"""What `ketsugi eval fidelity` found, as a table and as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bot.evaluation.fidelity import HISTORY_ONLY, WITH_LEDGER, Outcome, Played
from bot.evaluation.report import NONE, label

_KINDS = {
    "constraints": "constraints kept",
    "decisions": "early decisions kept",
    "reversed": "reversed decisions, marked so",
    "limits": "limits kept",
    "open": "open questions kept",
}


def show(console: Console, meetings: Sequence[Played], outcomes: Sequence[Outcome], model: str) -> None:
    """One column a meeting and way; below it every inversion and invention by name."""
    versions = sorted({o.version for o in outcomes if o.version})
    table = Table(title=f"{label(model, ', '.join(versions))}: what a conclusion keeps", title_justify="left")
    table.add_column("", no_wrap=True)
    columns: list[list[str]] = []
    for played in meetings:
        for way in (HISTORY_ONLY, WITH_LEDGER):
            part = [o for o in outcomes if o.meeting == played.name and o.way == way]
            if part:
                table.add_column(f"{played.name}, {part[0].messages} turns\n{way}", justify="right")
                columns.append(_column(played, way, part))
    for heading, *cells in zip(_headings(), *columns, strict=True):
        table.add_row(heading, *cells)
    console.print(table)
    for outcome in outcomes:
        said = [f"inverted: {name}" for name in outcome.score.inverted]
        said += [f"invented: {what}" for what in outcome.score.invented]
        for line in said:
            console.print(f"{outcome.meeting}, {outcome.way}: {line}")


def _headings() -> list[str]:
    rest = ("turned round", "invented", "transcript shown", "messages shown whole", "prose published")
    return [*_KINDS.values(), *rest, "calls", "without an answer", "tokens in", "tokens out"]


def _column(played: Played, way: str, part: Sequence[Outcome]) -> list[str]:
    runs, first = len(part), part[0]
    kept = [
        f"{sum(len(getattr(o.score, kind)) for o in part)}/{runs * len(getattr(played.gold, kind))}"
        for kind in _KINDS
    ]
    published = sum(o.prose == "published" for o in part)
    return [
        *kept,
        str(sum(len(o.score.inverted) for o in part)),
        str(sum(len(o.score.invented) for o in part)),
        f"{100 * first.seen:.0f}%",
        f"{first.whole}/{first.messages}",
        NONE if way == HISTORY_ONLY else f"{published}/{runs}",
        str(sum(o.calls for o in part)),
        str(sum(o.failures for o in part)),
        f"{sum(o.tokens_in for o in part):,}",
        f"{sum(o.tokens_out for o in part):,}",
    ]


def write(path: Path, outcomes: Sequence[Outcome]) -> None:
    """One object a conclusion, with its text."""
    with path.open("w", encoding="utf-8") as out:
        for outcome in outcomes:
            out.write(json.dumps({"kind": "conclusion", **asdict(outcome)}, ensure_ascii=False) + "\n")

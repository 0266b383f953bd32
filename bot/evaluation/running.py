"""The long-running commands: a progress bar with the time left; what was measured survives a stop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from bot.clock import Clock
from bot.errors import ConfigError
from bot.evaluation import cases as shipped
from bot.evaluation import fidelity, fidelity_report, report, truth
from bot.evaluation.cases import Case
from bot.evaluation.engines import engine
from bot.evaluation.records import Head, Run, line_of
from bot.evaluation.scripted import ScriptedModel
from bot.evaluation.violations import play
from bot.meeting.model import Language
from bot.models.base import Model

FINE, INTERRUPTED = 0, 130


@dataclass(frozen=True, slots=True)
class Wanted:
    """What `ketsugi eval` was asked for."""

    runs: int
    model: str
    language: Language | None = None
    out: Path | None = None
    only: tuple[str, ...] = ()
    patience: float = 1.0


def _now() -> datetime:
    return datetime.now(UTC)


async def measure(wanted: Wanted, console: Console, bars: Console) -> int:
    """Play, write and report; returns the exit status. Raises ConfigError."""
    cases = shipped.load(wanted.language, wanted.only)
    if not cases:
        known = sorted({rule for case in shipped.load() for rule in case.tempts})
        raise ConfigError(f"no scenario is made for {', '.join(wanted.only)}; rules: {', '.join(known)}")
    model = await engine(wanted.model, cases, Clock(_now))
    head = Head(
        model=wanted.model,
        runs=wanted.runs,
        scenarios=len(cases),
        language=wanted.language,
        started_at=_now().isoformat(timespec="seconds"),
        patience=wanted.patience,
    )
    done: list[Run] = []
    try:
        stopped = await _play_all(model, cases, head, wanted.out, done, bars)
    finally:
        await model.close()
    if done:
        report.show(console, head, done)
    if isinstance(model, ScriptedModel):
        console.print(truth.verdict(model, done))
    if wanted.out is not None:
        console.print(f"{len(done)} runs in {wanted.out}")
    if stopped:
        console.print(f"interrupted: {len(done)} of {head.runs * len(cases)} runs were measured and are kept")
    return INTERRUPTED if stopped else FINE


async def _play_all(
    model: Model, cases: list[Case], head: Head, out: Path | None, done: list[Run], bars: Console
) -> bool:
    """Fill `done`; True where Ctrl-C came first. Every run is in the file before the next one begins."""
    file = _opened(out)
    try:
        if file is not None:
            file.write(line_of(head))
            file.flush()
        with _progress(bars) as progress:
            bar = progress.add_task(head.model, total=len(cases) * head.runs)
            async for run in play(model, cases, head.runs, head.patience):
                done.append(run)
                if file is not None:
                    file.write(line_of(run))
                    file.flush()
                progress.update(bar, advance=1, description=f"{head.model} {run.scenario}")
    except asyncio.CancelledError:
        return True
    finally:
        if file is not None:
            file.close()
    return False


def _opened(out: Path | None) -> IO[str] | None:
    try:
        return out.open("w", encoding="utf-8") if out is not None else None
    except OSError as error:
        raise ConfigError(f"--out {out}: {error.strerror or error}") from error


async def conclude(name: str, runs: int, out: Path | None, console: Console, bars: Console) -> int:
    """Both shipped meetings in both ways, `runs` times; returns the exit status. Raises ConfigError."""
    model = await engine(name, (), Clock(_now))
    meetings = fidelity.meetings()
    done: list[fidelity.Outcome] = []
    status = FINE
    try:
        with _progress(bars) as progress:
            bar = progress.add_task(name, total=len(meetings) * runs * 2)
            for played in meetings:
                async for outcome in fidelity.conclude(model, played, runs):
                    done.append(outcome)
                    progress.update(bar, advance=1, description=f"{name} {played.name}")
    except asyncio.CancelledError:
        status = INTERRUPTED
    finally:
        await model.close()
    fidelity_report.show(console, meetings, done, name)
    if out is not None:
        fidelity_report.write(out, done)
    return status


async def conclude_panel(name: str, path: Path, out: Path | None, console: Console) -> int:
    """A panel held now, concluded both ways; returns the exit status. Raises ScenarioError, ConfigError."""
    from bot.evaluation import panel_fidelity  # the simulated Discord, which an evaluation needs nowhere else

    held = await panel_fidelity.hold(path, name)
    model = await engine(name, (), Clock(_now))
    try:
        done = await panel_fidelity.conclude(model, held)
    finally:
        await model.close()
    fidelity_report.show(console, [held.played], done, name)
    if out is not None:
        fidelity_report.write(out, done)
    return FINE


def _progress(bars: Console) -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=bars, transient=True)

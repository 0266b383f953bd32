"""`ketsugi eval`, `ketsugi eval compare | fidelity | sizes` and `ketsugi stats`: the command line's side of it.

Only light imports stand up here: the command line reads this module whatever is asked of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot.errors import KetsugiError

if TYPE_CHECKING:
    from rich.console import Console

    from bot.evaluation.cases import Case
    from bot.evaluation.records import Head, Run
    from bot.evaluation.scripted import ScriptedModel
    from bot.models.base import Model

FINE, FAILED, INTERRUPTED = 0, 1, 130
WIDE = 160  # columns of a table that goes to a file or a pipe

eval_cli = typer.Typer(
    invoke_without_command=True,
    help="Measure what a model gets wrong, rule by rule, before and after the guard.",
)
_LANGUAGE = Annotated[
    Literal["ja", "en"] | None, typer.Option(help="scenarios of one language; default: both")
]
_MODEL = Annotated[
    str,
    typer.Option(
        help="offline, a Gemini model's name, or scripted:clean|first|both|alternately|random[:SEED]"
    ),
]
_OUT = Annotated[Path | None, typer.Option(help="write results here as JSON Lines, line by line")]


@eval_cli.callback()
def evaluate(
    context: typer.Context,
    runs: Annotated[int, typer.Option(min=1, help="how often each scenario is played")] = 5,
    model: _MODEL = "offline",
    language: _LANGUAGE = None,
    out: _OUT = None,
    only: Annotated[
        list[str] | None, typer.Option(help="only scenarios made for this rule (repeatable)")
    ] = None,
) -> None:
    """Play every shipped scenario RUNS times; a table rule x before / after, with intervals."""
    if context.invoked_subcommand is None:
        raise typer.Exit(_guarded(lambda: _measure(runs, model, language, out, tuple(only or ()))))


@eval_cli.command()
def compare(a: Path, b: Path) -> None:
    """Two result files rule by rule, with the interval of the difference."""
    from bot.evaluation import records, report

    async def go() -> int:
        report.show_comparison(_console(), records.read(a), records.read(b))
        return FINE

    raise typer.Exit(_guarded(go))


def stats(database: str | None = None, since: datetime | None = None, out: Path | None = None) -> int:
    """Rates from real meetings; returns the exit status. `database`: URL or path, default the configured one."""
    from bot.evaluation import stats as real
    from bot.settings import Settings

    async def go() -> int:
        url = database or Settings().database_url
        found = await real.collect(url if "://" in url else f"sqlite+aiosqlite:///{url}", since)
        real.show(_console(), found)
        if out is not None:
            real.write(out, found)
        return FINE

    return _guarded(go)


async def _measure(
    runs: int, name: str, language: str | None, out: Path | None, only: tuple[str, ...]
) -> int:
    from bot.clock import Clock
    from bot.errors import ConfigError
    from bot.evaluation import cases as shipped
    from bot.evaluation.engines import engine
    from bot.evaluation.records import Head
    from bot.evaluation.scripted import ScriptedModel

    chosen = shipped.load("ja" if language == "ja" else "en" if language else None, only)
    if not chosen:
        known = sorted({rule for case in shipped.load() for rule in case.tempts})
        raise ConfigError(f"no scenario is made for {', '.join(only)}; rules: {', '.join(known)}")
    model = await engine(name, chosen, Clock(_now))
    head = Head(
        model=name, runs=runs, scenarios=len(chosen), language=language, started_at=_now().isoformat()
    )
    done: list[Run] = []
    try:
        interrupted = await _play_all(model, chosen, runs, head, out, done)
    finally:
        await model.close()
    return _finish(head, done, interrupted, out, model if isinstance(model, ScriptedModel) else None)


async def _play_all(
    model: Model, cases: list[Case], runs: int, head: Head, out: Path | None, done: list[Run]
) -> bool:
    """Fill `done`; True where Ctrl-C came first. Every run is in the file before the next one begins."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from bot.evaluation.records import line_of
    from bot.evaluation.violations import play

    file = out.open("w", encoding="utf-8") if out is not None else None
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    try:
        if file is not None:
            file.write(line_of(head))
        with Progress(*columns, console=_console(to_stderr=True), transient=True) as progress:
            bar = progress.add_task(head.model, total=len(cases) * runs)
            async for run in play(model, cases, runs):
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


def _finish(
    head: Head, done: list[Run], interrupted: bool, out: Path | None, double: ScriptedModel | None
) -> int:
    from bot.evaluation import report, truth

    console = _console()
    if done:
        report.show(console, head, done)
    if double is not None:
        console.print(truth.verdict(double, done))
    if out is not None:
        console.print(f"{len(done)} runs in {out}")
    if interrupted:
        console.print(
            f"interrupted: {len(done)} of {head.runs * head.scenarios} runs were measured and are kept"
        )
        return INTERRUPTED
    return FINE


def _guarded(work: Callable[[], Awaitable[int]]) -> int:
    async def main() -> int:
        return await work()

    try:
        return asyncio.run(main())
    except KeyboardInterrupt:
        return INTERRUPTED
    except KetsugiError as error:
        typer.echo(str(error), err=True)
        return FAILED


def _console(*, to_stderr: bool = False) -> Console:
    from rich.console import Console

    console = Console(stderr=to_stderr, highlight=False)
    if not console.is_terminal and not to_stderr:
        return Console(width=WIDE, highlight=False)
    return console


def _now() -> datetime:
    from datetime import UTC

    return datetime.now(UTC)

"""`ketsugi eval`, its `compare`, `fidelity` and `sizes`, and `ketsugi stats`: the command line's side.

Only light imports stand up here: the command line reads this module whatever is asked of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bot.errors import KetsugiError

if TYPE_CHECKING:
    from rich.console import Console

FINE, FAILED, INTERRUPTED = 0, 1, 130
WIDE = 160  # columns of a table that goes to a file or a pipe

eval_cli = typer.Typer(
    invoke_without_command=True,
    help="Measure what a model gets wrong, rule by rule, before and after the guard.",
)
_SCRIPTS = "scripted:clean|first|both|alternately|random[:SEED]"
_LANGUAGE = Annotated[Literal["ja", "en"] | None, typer.Option(help="of one language; default: both")]
_MODEL = Annotated[str, typer.Option(help=f"offline, a Gemini model's name, or {_SCRIPTS}")]
_OUT = Annotated[Path | None, typer.Option(help="write results here as JSON Lines, line by line")]
_ONLY = Annotated[list[str] | None, typer.Option(help="only scenarios made for this rule (repeatable)")]


@eval_cli.callback()
def evaluate(
    context: typer.Context,
    runs: Annotated[int, typer.Option(min=1, help="how often each scenario is played")] = 5,
    model: _MODEL = "offline",
    language: _LANGUAGE = None,
    out: _OUT = None,
    only: _ONLY = None,
    patience: Annotated[float, typer.Option(min=1, help="deadlines so many times the product's")] = 1.0,
) -> None:
    """Play every shipped scenario RUNS times; a table rule x before / after, with intervals."""
    if context.invoked_subcommand is None:
        from bot.evaluation.running import Wanted, measure

        wanted = Wanted(runs, model, language, out, tuple(only or ()), patience)
        raise typer.Exit(_guarded(lambda: measure(wanted, _console(), _console(to_stderr=True))))


@eval_cli.command()
def compare(a: Path, b: Path) -> None:
    """Two result files rule by rule, with the interval of the difference."""
    from bot.evaluation import records, report

    async def go() -> int:
        report.show_comparison(_console(), records.read(a), records.read(b))
        return FINE

    raise typer.Exit(_guarded(go))


@eval_cli.command()
def fidelity(
    model: Annotated[str, typer.Option(help="scripted:summariser, offline, or a Gemini model's name")] = (
        "scripted:summariser"
    ),
    runs: Annotated[int, typer.Option(min=1, help="how often each meeting is concluded")] = 1,
    out: _OUT = None,
    panel: Annotated[
        Path | None, typer.Option(help="hold this panel instead, and conclude it both ways")
    ] = None,
) -> None:
    """The same meetings concluded from a window of the history alone and from the ledger: what is lost."""
    from bot.evaluation.running import conclude, conclude_panel

    if panel is not None:
        held = panel
        raise typer.Exit(_guarded(lambda: conclude_panel(model, held, out, _console())))
    raise typer.Exit(_guarded(lambda: conclude(model, runs, out, _console(), _console(to_stderr=True))))


@eval_cli.command()
def sizes(
    language: _LANGUAGE = None,
    messages: Annotated[int, typer.Option(min=50, help="length of the meeting")] = 2_000,
    length: Annotated[int, typer.Option(min=1, help="characters of a message, at least")] = 300,
) -> None:
    """How large prompts are from message 50 on, against sending the whole history every turn."""
    from bot.evaluation import sizes as prompts
    from bot.meeting.model import LANGUAGES

    async def go() -> int:
        for spoken in LANGUAGES if language is None else (language,):
            prompts.show(_console(), prompts.measure(spoken, messages, length))
        return FINE

    raise typer.Exit(_guarded(go))


@eval_cli.command()
def ask(
    model: Annotated[
        str, typer.Option(help="offline, scripted:answers, scripted:invents, or a Gemini model's name")
    ] = "offline",
    language: _LANGUAGE = None,
    patience: Annotated[float, typer.Option(min=1, help="deadlines so many times the product's")] = 1.0,
) -> None:
    """Questions to known meetings, as /ask answers them: found, rightly cited, invented, leaked."""
    from bot.evaluation import ask_report

    raise typer.Exit(_guarded(lambda: ask_report.run(model, language, patience, _console())))


def stats(database: str | None = None, since: datetime | None = None, out: Path | None = None) -> int:
    """Rates from real meetings; returns the exit status. `database`: URL or path, default: as configured."""
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


def _guarded(work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run it; an error of ours becomes one line on standard error."""
    try:
        return asyncio.run(work())
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

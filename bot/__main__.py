"""`ketsugi`: run, rehearse, doctor, verify, export, stats, eval, bench. Everything heavy is imported by the command."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from bot.evaluation.command import eval_cli

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Ketsugi facilitates a team's text meetings in Discord and minutes their decisions, exactly once.",
)


@cli.command()
def run() -> None:
    """Run the bot (needs DISCORD_TOKEN; GEMINI_API_KEY, or KETSUGI_MODEL=offline)."""
    from bot.run import run as go

    raise typer.Exit(go())


@cli.command()
def doctor() -> None:
    """Check token, intents, permissions, key, database and SQLite; say how to mend what is wrong."""
    from bot.doctor import doctor as go

    raise typer.Exit(go())


@cli.command()
def rehearse(
    scenario: Annotated[Path | None, typer.Argument(help="JSON Lines scenario; default: the demo")] = None,
    language: Annotated[
        Literal["ja", "en"] | None, typer.Option(help="language of the demo and the meeting")
    ] = None,
    model: Annotated[str, typer.Option(help="offline, or a Gemini model's name")] = "offline",
    database: Annotated[str | None, typer.Option(help="keep the database here")] = None,
    out: Annotated[Path | None, typer.Option(help="write what happened as JSON Lines")] = None,
    seed: Annotated[int, typer.Option(help="fixes everything random")] = 0,
    pace: Annotated[float | None, typer.Option(help="1 = real time, 60 = a minute a second")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="only the summary line")] = False,
    panel: Annotated[Path | None, typer.Option(help="play a panel of AI participants from this file")] = None,
) -> None:
    """Play a whole meeting without Discord and without a key."""
    from bot.rehearsal.command import rehearse as go

    raise typer.Exit(go(scenario, language, model, database, out, seed, pace, quiet, panel))


@cli.command()
def verify(
    database: Annotated[str | None, typer.Option(help="default: KETSUGI_DATABASE_URL")] = None,
    meeting: Annotated[int | None, typer.Option(help="only this meeting's number")] = None,
) -> None:
    """Prove that ledger, minutes and what was posted were left alone; names the first broken link."""
    from bot.minutes.command import verify as go

    raise typer.Exit(go(database, meeting))


@cli.command()
def export(
    meeting: Annotated[int, typer.Argument(help="the meeting's number")],
    form: Annotated[Literal["md", "json", "csv"], typer.Option(help="csv: the actions alone")] = "md",
    out: Annotated[Path | None, typer.Option(help="write here instead of to standard output")] = None,
    database: Annotated[str | None, typer.Option(help="default: KETSUGI_DATABASE_URL")] = None,
) -> None:
    """Write out the minutes of one meeting as they were published."""
    from bot.minutes.command import export as go

    raise typer.Exit(go(meeting, form, out, database))


@cli.command()
def stats(
    database: Annotated[str | None, typer.Option(help="default: KETSUGI_DATABASE_URL")] = None,
    since: Annotated[datetime | None, typer.Option(help="only from this day on (UTC)")] = None,
    out: Annotated[Path | None, typer.Option(help="write the numbers here as JSON Lines")] = None,
) -> None:
    """How often each rule fired in real meetings, before and after the guard; sources, tokens, cost."""
    from bot.evaluation.command import stats as go

    raise typer.Exit(go(database, since, out))


cli.add_typer(eval_cli, name="eval")


@cli.command()
def bench(
    seconds: Annotated[float, typer.Option(help="how long each load lasts")] = 30.0,
    out: Annotated[Path | None, typer.Option(help="write the results as JSON Lines")] = None,
) -> None:
    """Measure what the bot itself costs: time to store and to answer, memory, at 1 and at 100 meetings."""
    from bot.evaluation.bench import bench as go

    raise typer.Exit(go(seconds, out))


def main() -> None:
    cli()


if __name__ == "__main__":
    main()

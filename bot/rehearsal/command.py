"""`ketsugi rehearse`: a scenario (or the shipped demo) to a terminal, a file and an exit status."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import ConfigError, KetsugiError
from bot.meeting.model import Language
from bot.phrases import DATA
from bot.rehearsal.scenario import Scenario, ScenarioError, load, load_panel

if TYPE_CHECKING:
    from bot.rehearsal.driver import Rehearsal
    from bot.rehearsal.report import Terminal

FINE, FAILED, BAD_SCENARIO, INTERRUPTED = 0, 1, 2, 130


def rehearse(
    scenario: Path | None = None,
    language: Language | None = None,
    model: str = "offline",
    database: str | None = None,
    out: Path | None = None,
    seed: int = 0,
    pace: float | None = None,
    quiet: bool = False,
    panel: Path | None = None,
) -> int:
    """Play one meeting; returns the exit status: 0 only when exactly one minutes message was posted.

    `language` overrides the scenario's; without a scenario it chooses the demo (default: the locale's).
    `panel`: a panel's file, played instead of a scenario.
    `database`: an SQLAlchemy URL or a path, by default a temporary file. `pace`: virtual seconds a real one.
    """
    if scenario is not None and panel is not None:
        print("give either a scenario or --panel FILE, not both", file=sys.stderr)  # noqa: T201
        return BAD_SCENARIO
    try:
        path = scenario or demo(language or language_of_environment(os.environ))
        played = load(path) if panel is None else load_panel(panel)
        if out is not None:
            _check_writable(out)
    except ScenarioError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return BAD_SCENARIO
    except ConfigError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return FAILED
    with tempfile.TemporaryDirectory(prefix="ketsugi-") as folder:
        url = _url(database) if database else f"sqlite+aiosqlite:///{folder}/rehearsal.db"
        return _play(played, language, model, url, out, seed, pace, quiet)


def demo(language: Language) -> Path:
    return DATA / "scenarios" / f"demo.{language}.jsonl"


def language_of_environment(environment: Mapping[str, str]) -> Language:
    """Japanese where the locale says so; of the three variables the first that is set counts, as in POSIX."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(name):
            return "ja" if environment[name].lower().startswith("ja") else "en"
    return "en"


def _play(
    scenario: Scenario,
    language: Language | None,
    model: str,
    url: str,
    out: Path | None,
    seed: int,
    pace: float | None,
    quiet: bool,
) -> int:
    try:
        from bot.rehearsal.driver import Rehearsal
        from bot.rehearsal.product import Product
        from bot.rehearsal.report import Terminal, write
    except ModuleNotFoundError as error:
        if error.name != "simcord":
            raise
        print("rehearse needs the extra: pip install 'ketsugi[rehearsal]'", file=sys.stderr)  # noqa: T201
        return FAILED
    logging.getLogger("discord").setLevel(logging.ERROR)
    spoken = language or scenario.header.language
    host = Product(url, model, spoken, seed)
    rehearsal = Rehearsal(scenario, host, language=language, seed=seed, pace=pace)
    terminal = Terminal(spoken, rehearsal.clock)
    if not quiet:
        rehearsal.show = terminal.show
    try:
        asyncio.run(rehearsal.play())
    except KeyboardInterrupt:
        return INTERRUPTED
    except KetsugiError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return FAILED
    finally:
        if out is not None:
            write(out, rehearsal.lines)
    return _finish(rehearsal, terminal, quiet)


def _finish(rehearsal: Rehearsal, terminal: Terminal, quiet: bool) -> int:
    if quiet:
        terminal.summarise(rehearsal.lines[-1])
    else:
        terminal.finish(rehearsal.lines)
    return FINE if rehearsal.minutes_messages == 1 else FAILED


def _check_writable(out: Path) -> None:
    """Before the meeting, not after it."""
    try:
        out.open("w").close()
    except OSError as error:
        raise ConfigError(f"--out {out}: {error.strerror or error}") from error


def _url(database: str) -> str:
    return database if "://" in database else f"sqlite+aiosqlite:///{database}"

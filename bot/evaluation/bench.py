"""`ketsugi bench`: what the bot itself costs, with a model that answers at once (`bot.evaluation.load`)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

LOADS = (1, 100)
TALKS = (20,)  # people who write directly, one after the other
# What a room full of people does not notice (p95), and what a small server has to spare.
STORED_P95_MS, BUSY_MIB = 10.0, 150.0
_COLUMNS = (
    ("meetings", "{meetings}"),
    ("messages", "{messages}"),
    ("stored ms\nmedian / p95", "{stored_median_ms} / {stored_p95_ms}"),
    ("all at once ms\nmedian / p95", "{at_once_median_ms} / {at_once_p95_ms}"),
    ("answers", "{answers}"),
    ("quiet to post ms\nmedian / p95", "{post_median_ms} / {post_p95_ms}"),
    ("processor ms\na message", "{cpu_ms}"),
    ("memory MiB\nidle / busy", "{idle_mib} / {busy_mib}"),
)
_TALK_COLUMNS = (
    ("people", "{people}"),
    ("first chunk to visible ms\nmedian / p95", "{first_visible_median_ms} / {first_visible_p95_ms}"),
    (
        "whole sentence to visible ms\nmedian / p95",
        "{sentence_visible_median_ms} / {sentence_visible_p95_ms}",
    ),
    ("first chunk to the end ms\nmedian / p95", "{answer_median_ms} / {answer_p95_ms}"),
    ("edits an answer\nmedian / most", "{edits_median} / {edits_most}"),
)


def bench(
    seconds: float, out: Path | None, loads: Sequence[int] = LOADS, talks: Sequence[int] = TALKS
) -> int:
    """Measure each load in a process of its own; exit status 1 where one could not be measured."""
    console = Console()
    runs: list[tuple[str, str, tuple[str, ...]]] = [
        (f"{n} meetings at once, {seconds:g} s", "load", (str(n), str(seconds))) for n in loads
    ]
    runs += [(f"{n} direct conversations", "chatting", (str(n),)) for n in talks]
    results: list[dict[str, Any]] = []
    for told, module, arguments in runs:
        console.print(f"{told} ...")
        command = [sys.executable, "-m", f"bot.evaluation.{module}", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            console.print(f"could not be measured:\n{done.stderr[-1000:]}", markup=False)
            return 1
        results.append(json.loads(done.stdout.splitlines()[-1]))
    console.print(table(results[: len(loads)]))
    console.print(
        f"aims: p95 stored under {STORED_P95_MS:g} ms, under {BUSY_MIB:g} MiB with {max(loads)} meetings"
    )
    console.print(talk_table(results[len(loads) :]))
    if out is not None:
        out.write_text("".join(json.dumps(result) + "\n" for result in results))
    return 0


def table(results: Sequence[dict[str, Any]]) -> Table:
    title = "The bot alone: the model answers at once, Discord takes everything at once"
    return _table(title, _COLUMNS, results)


def talk_table(results: Sequence[dict[str, Any]]) -> Table:
    title = "Direct messages: the model writes 200 characters a second, Discord takes everything at once"
    return _table(title, _TALK_COLUMNS, results)


def _table(title: str, columns: Sequence[tuple[str, str]], results: Sequence[dict[str, Any]]) -> Table:
    shown = Table(title=title)
    for head, _ in columns:
        shown.add_column(head, justify="right")
    for result in results:
        shown.add_row(*(cell.format(**result) for _, cell in columns))
    return shown

"""`ketsugi eval ask`: one line a question, and counts; the exit status says whether anything false was shown."""

from __future__ import annotations

from datetime import UTC, datetime

from rich.console import Console
from rich.table import Table

from bot.clock import Clock
from bot.evaluation import asks
from bot.evaluation.asks import ANSWERS, INVENTS, Outcome, Script, Sheet
from bot.evaluation.engines import engine
from bot.meeting.model import Language
from bot.models.base import Model

FINE, FAILED = 0, 1


async def run(name: str, language: Language | None, patience: float, console: Console) -> int:
    """Every sheet with one model; FAILED where an invention or a leak was shown. Raises ConfigError."""
    status = FINE
    for sheet in asks.sheets(language):
        model = await _model(name, sheet)
        try:
            done = [outcome async for outcome in asks.play(sheet, model, patience)]
        finally:
            await model.close()
        show(console, sheet, name, done)
        if any(o.invented or o.leaked for o in done):
            status = FAILED
    return status


async def _model(name: str, sheet: Sheet) -> Model:
    if name in (ANSWERS, INVENTS):
        return Script(name, sheet.questions)
    return await engine(name, (), Clock(lambda: datetime.now(UTC)))


def show(console: Console, sheet: Sheet, name: str, done: list[Outcome]) -> None:
    table = Table(title=f"{sheet.language} · {name}", title_justify="left")
    for column in ("question", "asked by", "found", "rightly cited", "source", "fired", "invented", "leaked"):
        table.add_column(column)
    for o in done:
        fired = dict.fromkeys(v.rule for a in o.answer.attempts for v in a.fired())
        table.add_row(
            o.question.ask,
            o.question.way,
            _mark(o.found) if o.question.cites else "–",
            _mark(o.cited),
            o.answer.source,
            " ".join(fired),
            str(len(o.invented)),
            str(len(o.leaked)),
        )
    console.print(table)
    sought = [o for o in done if o.question.cites]
    console.print(
        f"{len(done)} questions · found {sum(o.found for o in sought)} of {len(sought)}"
        f" · right citation or rightly none {sum(o.cited for o in done)}"
        f" · invented shown {sum(bool(o.invented) for o in done)} · leaked {sum(bool(o.leaked) for o in done)}"
        f" · written by the model {sum(o.answer.source in ('first', 'rephrased') for o in done)}"
    )


def _mark(yes: bool) -> str:
    return "yes" if yes else "NO"

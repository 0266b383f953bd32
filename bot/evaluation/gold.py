"""What a meeting of `ketsugi eval fidelity` truly came to, and how much of it a conclusion holds. Pure.

The truth stands in the scenario's heading under "gold", which the rehearsal ignores. Patterns are regular
expressions; an item is held by a *unit* (one sentence of prose, or one entry with its heading) that all of
`holds` match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from bot.meeting.polarity import sentences

_REPLACED = re.compile(
    r"差し替|変更|撤回|改め|取り下げ|もとの文|replaced|changed|withdrawn|instead|retracted", re.I
)
_OPEN = re.compile(r"未決|未定|決まって(?:い)?(?:ない|ません)|意見が割れ|open|undecided", re.I)
# What a unit says of these is no claim that it holds.
_NO_CLAIM = re.compile(
    r"差し替|もとの文|撤回|取り下げ|提案|未決|意見が割れ|replaced|withdrawn|proposal|open", re.I
)


class _Gold(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Truth(_Gold):
    """`inverts`: what would say the opposite; `becomes`: what a reversed decision was replaced by."""

    name: str
    holds: tuple[str, ...]
    inverts: tuple[str, ...] = ()
    becomes: tuple[str, ...] = ()
    positions: tuple[str, ...] = ()


class Gold(_Gold):
    constraints: tuple[Truth, ...] = ()
    decisions: tuple[Truth, ...] = ()
    reversed: tuple[Truth, ...] = ()
    limits: tuple[Truth, ...] = ()
    open: tuple[Truth, ...] = ()
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """Names of what was kept and of what was turned round; `lost` = what is neither of `kept`."""

    constraints: tuple[str, ...]
    decisions: tuple[str, ...]
    reversed: tuple[str, ...]
    limits: tuple[str, ...]
    open: tuple[str, ...]
    inverted: tuple[str, ...]
    invented: tuple[str, ...]


def units(text: str) -> list[str]:
    """Sentences of prose, and list entries whole, each with the heading that it stands under."""
    found: list[str] = []
    heading, entry = "", ""
    for line in [*text.split("\n"), ""]:
        if line.startswith(("#", "- ")) or not line.strip():
            found += [f"{heading}\n{entry}"] if entry else []
            entry = line if line.startswith("- ") else ""
            if line.startswith(("# ", "## ")):
                heading = line.lstrip("# ")
        elif entry:
            entry += f"\n{line.strip()}"
        else:
            found += [f"{heading}\n{sentence}" for sentence in sentences(line)]
    return found


def score(gold: Gold, text: str, strange: Iterable[str] = ()) -> Score:
    """How a conclusion stands to the truth. `strange`: figures and names in it that nobody mentioned."""
    said = units(text)

    def kept(truth: Truth) -> bool:
        return any(_all(truth.holds, unit) and not _any(truth.inverts, unit) for unit in said)

    def marked(truth: Truth) -> bool:
        now = any(_all(truth.becomes, unit) for unit in said)
        old = [unit for unit in said if _all(truth.holds, unit)]
        return now and bool(old) and all(_REPLACED.search(unit) or _all(truth.becomes, unit) for unit in old)

    def left_open(truth: Truth) -> bool:
        return any(_all((*truth.holds, *truth.positions), unit) and _OPEN.search(unit) for unit in said)

    every = dict.fromkeys((*gold.constraints, *gold.decisions, *gold.limits))
    turned = [t.name for t in every if any(_any(t.inverts, u) and not _NO_CLAIM.search(u) for u in said)]
    return Score(
        constraints=_names(gold.constraints, kept),
        decisions=_names(gold.decisions, kept),
        reversed=_names(gold.reversed, marked),
        limits=_names(gold.limits, kept),
        open=_names(gold.open, left_open),
        inverted=tuple(turned),
        invented=(*(p for p in gold.absent if re.search(p, text)), *strange),
    )


def _names(truths: Iterable[Truth], test: Callable[[Truth], bool]) -> tuple[str, ...]:
    return tuple(truth.name for truth in truths if test(truth))


def _all(patterns: Iterable[str], unit: str) -> bool:
    return all(re.search(pattern, unit) for pattern in patterns)


def _any(patterns: Iterable[str], unit: str) -> bool:
    return any(re.search(pattern, unit) for pattern in patterns)

"""Models that answer by script and know the truth of it: what `ketsugi eval` counts must equal what they did.

`--model scripted:<name>`: they take the texts that each scenario carries (`Case.good`, `Case.bad`), so that
their answers are realistic in both languages, and write down for every answer which rules it breaks.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from bot.errors import ConfigError
from bot.evaluation.cases import Case, Told
from bot.meeting.model import Phase, Route
from bot.models.base import Draft, Out, ProviderError, Request, Usage
from bot.prompts.outputs import SILENCE, AnswerOut, MinutesOut, PanelOut, TurnOut

PREFIX = "scripted:"
SCRIPTS = {
    "clean": "breaks nothing",
    "first": "breaks on every first answer, mends it when asked again",
    "both": "breaks on both answers",
    "alternately": "breaks on both answers of every other run",
    "random": "does whatever it likes, failures, silence and repetition included (scripted:random:<seed>)",
}
_FAILURES = ("timeout", "rate_limited", "server", "blocked", "empty", "truncated", "invalid", "refused")
_LATENCY_MS = (900, 2_400)  # of the two answers; made up, so that the report's columns have something to show
_CHARACTERS_A_TOKEN = 3


@dataclass(frozen=True, slots=True)
class Deed:
    """One answer as the script knows it. `text` is None where there was none. `certain` is False where a
    phase was made up: what else then counts as near the end, the script does not know.
    """

    case: str
    run: int
    attempt: int
    breaks: frozenset[str]
    text: str | None
    certain: bool = True


@dataclass
class ScriptedModel:
    """Implements `Model`. `truth` holds every answer given, in order."""

    script: str
    cases: Sequence[Case]
    seed: int = 0
    truth: list[Deed] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.script not in SCRIPTS:
            raise ConfigError(f"no script {self.script!r}; there are {', '.join(SCRIPTS)}")
        self._runs: Counter[str] = Counter()
        self._random = random.Random(self.seed)

    @property
    def name(self) -> str:
        return f"{PREFIX}{self.script}" + (f":{self.seed}" if self.script == "random" else "")

    @property
    def version(self) -> str:
        return f"scripted-{self.script}-1"

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        """Knows its case by the meeting's id (index from 1), its run by counting first answers."""
        case = self.cases[request.scene.meeting.id - 1]
        if request.attempt == 0:
            self._runs[case.case] += 1
        run = self._runs[case.case] - 1
        told = (
            self._random_answer(case) if self.script == "random" else self._told(case, run, request.attempt)
        )
        usage = Usage(len(request.prompt.user_text()) // _CHARACTERS_A_TOKEN, 0, 120)
        latency = _LATENCY_MS[min(request.attempt, 1)]
        if isinstance(told, ProviderError):
            self.truth.append(Deed(case.case, run, request.attempt, frozenset(), None))
            raise ProviderError(told.kind, "", usage, self.version, latency)
        certain = told in (case.good, *case.bad) or not told.text.strip()
        self.truth.append(Deed(case.case, run, request.attempt, frozenset(told.breaks), told.text, certain))
        return Draft(cast(Out, _output(request, told)), usage, self.version, latency)

    async def close(self) -> None:
        return None

    def _told(self, case: Case, run: int, attempt: int) -> Told:
        breaks = {
            "clean": False,
            "first": attempt == 0,
            "both": True,
            "alternately": run % 2 == 0,
        }[self.script]
        return case.bad[run % len(case.bad)] if breaks else case.good

    def _random_answer(self, case: Case) -> Told | ProviderError:
        chance = self._random.random()
        if chance < 0.1:
            return ProviderError(self._random.choice(_FAILURES))
        if chance < 0.15:
            return Told(say=self._random.choice(("", " ", SILENCE)))
        if chance < 0.4:
            return case.good
        bad = self._random.choice(case.bad)
        if chance < 0.8:
            return bad
        # The latch: said to be over, or in some other phase, whatever the text says.
        moved = {"phase": self._random.choice(list(Phase)), "closing_complete": self._random.random() < 0.5}
        return bad.model_copy(update=moved)


def _output(request: Request[Out], told: Told) -> TurnOut | AnswerOut | MinutesOut | PanelOut:
    if request.scene.route is Route.MINUTES:
        return MinutesOut(summary=told.text)
    if request.output is PanelOut:
        return PanelOut(response=told.text)
    if request.output is AnswerOut:
        return AnswerOut(response=told.text)
    return TurnOut(response=told.text, phase=told.phase, closing_complete=told.closing_complete)

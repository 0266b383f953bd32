"""The enumerated searches: a fault at every point of a whole meeting, and a second one right after it."""

from __future__ import annotations

import itertools
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from tests.crash.harness import Run
from tests.crash.injecting import COMMIT_FAULTS, MODEL_FAULTS, PERMANENT, STAGE_FAULTS, Point
from tests.crash.instant import Folder, run_instant
from tests.crash.judging import problems
from tests.crash.outcome import Outcome

SHORT_S, LONG_S = 5.0, 400.0  # only the long absence outlives a nonce


@dataclass(frozen=True)
class Case:
    """One run: what happens at which points, how long the process is away after a crash."""

    plan: tuple[tuple[int, str], ...]
    down_s: float
    language: str = "ja"
    model: str = "scripted"

    def __str__(self) -> str:
        faults = ", ".join(f"{how} at {point}" for point, how in self.plan)
        return f"{self.language}/{self.model}: {faults}, away {self.down_s:g} s"


def calm(folder: Folder, language: str, model: str) -> Outcome:
    """The undisturbed run, which must keep every promise itself."""
    out = run_instant(Run(folder.fresh(), language=language, model=model).play())
    wrong = problems(out, None)
    if wrong:
        raise AssertionError(f"the undisturbed run: {wrong}")
    return out


def faults_of(point: Point) -> tuple[str, ...]:
    if point.kind == "commit":
        return COMMIT_FAULTS
    if point.kind == "model":
        return MODEL_FAULTS
    return STAGE_FAULTS


def _absences(*faults: str) -> tuple[float, ...]:
    return (SHORT_S, LONG_S) if any(how.startswith("crash") for how in faults) else (SHORT_S,)


def singles(points: Iterable[Point], language: str = "ja", model: str = "scripted") -> Iterator[Case]:
    """Every fault at every point; each crash with a short and a long absence."""
    for number, point in enumerate(points):
        for how in faults_of(point):
            for down_s in _absences(how):
                yield Case(((number, how),), down_s, language, model)
        if point.kind == "stage":
            for how in PERMANENT:
                yield Case(((number, how),), SHORT_S, language, model)


def pairs(points: Iterable[Point], language: str = "ja", model: str = "scripted") -> Iterator[Case]:
    """After every first fault another one at the next point or the one after it.

    What the second point is depends on the first fault, so it gets the faults that every kind of point knows,
    and one that only calls know ("lost": for a commit the same as a crash after it). Where either kills the
    process, once with a short and once with a long absence.
    """
    seconds = itertools.cycle(("crash before", "crash after", "lost"))
    for number, point in enumerate(points):
        for how in (*faults_of(point), *(PERMANENT if point.kind == "stage" else ())):
            for distance in (1, 2):
                second = next(seconds)
                for down_s in _absences(how, second):
                    yield Case(((number, how), (number + distance, second)), down_s, language, model)


@dataclass
class Judge:
    """Runs cases in this process; the undisturbed runs are made once."""

    folder: Folder = field(default_factory=Folder)
    _calm: dict[tuple[str, str], Outcome] = field(default_factory=dict)

    def calm(self, language: str, model: str) -> Outcome:
        if (language, model) not in self._calm:
            self._calm[language, model] = calm(self.folder, language, model)
        return self._calm[language, model]

    def __call__(self, case: Case) -> list[str]:
        expected = self.calm(case.language, case.model)
        run = Run(self.folder.fresh(), dict(case.plan), case.down_s, model=case.model, language=case.language)
        try:
            out = run_instant(run.play())
        except Exception as error:
            return [f"the run itself failed: {error!r}"]
        permanent = any(how in PERMANENT for _, how in case.plan)
        return problems(out, expected, reachable=not permanent)


_judge: Judge | None = None


def _work(case: Case) -> tuple[Case, list[str]]:
    global _judge
    _judge = _judge or Judge()
    return case, _judge(case)


def search(cases: list[Case], processes: int, show: Callable[[str], None] = print) -> int:
    """Run all cases on so many spawned processes; shows failures as they come, returns their number."""
    began, failed = time.monotonic(), 0
    kinds: Counter[str] = Counter()
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        for done, (case, wrong) in enumerate(pool.map(_work, cases, chunksize=4), start=1):
            if wrong:
                failed += 1
                kinds.update(line.split(":")[0] for line in wrong)
                show(f"FAILED {case}: {wrong}")
            if done % 200 == 0:
                show(f"{done} of {len(cases)} runs, {failed} failed, {time.monotonic() - began:.0f} s")
    show(
        f"{len(cases)} runs, {failed} failed, {time.monotonic() - began:.0f} s "
        f"on {processes} processes {dict(kinds) or ''}"
    )
    return failed


# The machine's invariants, which it names after every step.
HELD = ("state.no_step_fails", "state.nobody_waits", "state.nothing_is_posted", "state.transitions_follow")
# Of a life, by its seed: short ones see more beginnings and ends, long ones more of a middle.
STEPS = (10, 10, 30)
CHUNK = 100  # random lives a task; each chunk has its own seed, so that one can be run again alone


def _lives(seed: int) -> tuple[int, int, str]:
    """One chunk of the state machine: (seed, seconds, what failed or nothing)."""
    import hypothesis
    from hypothesis import HealthCheck, Phase, settings
    from hypothesis.stateful import run_state_machine_as_test

    from tests.crash.machine import Lifecycle

    began = time.monotonic()
    chosen = settings(
        max_examples=CHUNK,
        stateful_step_count=STEPS[seed % len(STEPS)],
        deadline=None,
        database=None,
        print_blob=True,
        phases=(Phase.generate,),  # shrinking one life takes longer than fifty chunks
        suppress_health_check=list(HealthCheck),
    )
    wrong = ""
    try:
        run_state_machine_as_test(hypothesis.seed(seed)(Lifecycle), settings=chosen)
    except BaseException as error:
        notes = "\n".join(getattr(error, "__notes__", []))
        steps = [line for line in notes.splitlines() if not line.startswith(HELD)]
        wrong = "\n".join([f"{type(error).__name__}: {error}", *steps])
    return seed, round(time.monotonic() - began), wrong


def search_machine(examples: int, seed: int, processes: int, show: Callable[[str], None] = print) -> int:
    """So many random lives of meetings in chunks; returns how many chunks failed."""
    began, failed, done = time.monotonic(), 0, 0
    seeds = range(seed, seed + -(-examples // CHUNK))
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        for number, seconds, wrong in pool.map(_lives, seeds):
            done += CHUNK
            if wrong:
                failed += 1
                show(f"FAILED chunk with seed {number}: {wrong}")
            show(
                f"{done} of {examples} lives, {failed} chunks failed, seed {number} took {seconds} s, "
                f"{time.monotonic() - began:.0f} s in all"
            )
    return failed

"""Does what an evaluation counted equal what its scripted double did?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bot.evaluation.records import Run
from bot.evaluation.scripted import Deed, ScriptedModel
from bot.guard.model import Outcome

Counts = Counter[tuple[str, int]]  # (rule, attempt: 0 first, 1 second) -> how often it was broken


def told(deeds: Sequence[Deed]) -> Counts:
    """What the script knows it broke."""
    return Counter((rule, deed.attempt) for deed in deeds for rule in deed.breaks)


def counted(runs: Sequence[Run]) -> Counts:
    """What the evaluation counted, from the runs' records."""
    return Counter(
        (rule, number)
        for run in runs
        for number, attempt in enumerate(run.attempts)
        for rule, outcome in attempt.verdicts.items()
        if outcome == Outcome.FIRED
    )


def differences(deeds: Sequence[Deed], runs: Sequence[Run]) -> list[str]:
    """One line for every rule and answer where script and count part ways; runs with an uncertain deed, in
    which the latch may have moved, are left out of both."""
    unsure = {(deed.case, deed.run) for deed in deeds if not deed.certain}
    script = told([deed for deed in deeds if (deed.case, deed.run) not in unsure])
    count = counted([run for run in runs if (run.scenario, run.run) not in unsure])
    return [
        f"{rule}, answer {attempt + 1}: broken {script[rule, attempt]}, counted {count[rule, attempt]}"
        for rule, attempt in sorted(script.keys() | count.keys())
        if script[rule, attempt] != count[rule, attempt]
    ]


def verdict(double: ScriptedModel, runs: Sequence[Run]) -> str:
    """One sentence for the end of a report."""
    found = differences(double.truth, runs)
    if not found:
        broken = sum(told(double.truth).values())
        return f"counts equal what {double.name} did: {broken} broken rules, all counted"
    return f"counts differ from what {double.name} did: " + "; ".join(found)

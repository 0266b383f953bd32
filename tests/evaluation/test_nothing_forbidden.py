"""Meetings' worth of turns with a model that does whatever it likes: nothing forbidden is posted.

A thousand meetings (an ordinary run plays fewer):
KETSUGI_MEETINGS=1000 pytest tests/evaluation/test_nothing_forbidden.py -s
"""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest

from bot.evaluation import cases
from bot.evaluation.scripted import ScriptedModel
from bot.evaluation.violations import play_one
from bot.guard.model import Strength
from bot.guard.table import TABLE, hand_off
from bot.meeting.model import LANGUAGES, MeetingState

MEETINGS = int(os.environ.get("KETSUGI_MEETINGS", "60"))
TURNS = 8  # generations of one meeting: opening, a few turns and notices, closing
MUST = {row.name for row in TABLE if row.strength is Strength.MUST}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [20260901, 7])
async def test_nothing_forbidden_is_posted(seed: int) -> None:
    print(f"seed {seed}, {MEETINGS} meetings of {TURNS} turns over two seeds")
    rng = random.Random(seed)
    sources: Counter[str] = Counter()
    for number in range(MEETINGS // 2):
        chosen = rng.sample(cases.load(rng.choice(LANGUAGES)), TURNS)
        model = ScriptedModel("random", chosen, seed=seed + number)
        for index, case in enumerate(chosen, start=1):
            model.truth.clear()
            run = await play_one(model, case, number, index)
            sources[run.source] += 1
            closing = case.state is not MeetingState.OPEN
            # In an open room the phase that came with a hand-off forbids it; a made-up phase may not.
            fine = set() if closing else {"no_hand_off_while_closing"}
            forbidden = {d.text for d in model.truth if d.breaks & (MUST if d.certain else MUST - fine)}
            assert run.text not in forbidden, (case.case, model.truth)
            quiet = case.route == "panel" or (case.route == "turn" and not case.addressed)
            assert run.text is not None or quiet, case.case
            assert len(run.attempts) <= 2
            if run.text is not None and closing and case.route in ("turn", "closing", "time_notice"):
                assert not hand_off(run.text), (case.case, run.text)
    print(dict(sources))
    assert set(sources) >= {"first", "rephrased", "completed", "fixed", "silent"}

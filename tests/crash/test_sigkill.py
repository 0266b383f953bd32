"""Real kills of a real process on a file; the seed is printed."""

from __future__ import annotations

import random

from tests.crash.sigkill import kill_often


def test_twenty_kills_lose_and_double_nothing() -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    assert kill_often(20, seed) == 0

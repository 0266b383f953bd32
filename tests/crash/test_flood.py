"""A small flood with the tests; `python -m tests.crash --flood` makes the whole one."""

from __future__ import annotations

from tests.crash.flood import flood


def test_a_flood_in_one_channel_leaves_the_others_on_time() -> None:
    assert flood(400, 5) == 0

"""300 random lives of meetings; `python -m tests.crash --machine 30000` runs more of them."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings

from tests.crash.machine import Lifecycle

# Three classes with a third of the lives each, so that several processes can share them.
Lifecycle.TestCase.settings = settings(
    max_examples=100,
    stateful_step_count=10,
    deadline=None,
    database=None,
    print_blob=True,
    phases=(Phase.generate,),  # shrinking takes longer than all other tests; the seed is printed
    suppress_health_check=list(HealthCheck),
)


class TestLivesOne(Lifecycle.TestCase):  # type: ignore[name-defined,misc]
    pass


class TestLivesTwo(Lifecycle.TestCase):  # type: ignore[name-defined,misc]
    pass


class TestLivesThree(Lifecycle.TestCase):  # type: ignore[name-defined,misc]
    pass

"""300 random lives of meetings; `python -m tests.crash --machine 30000` runs more of them."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.crash.machine import Lifecycle

Lifecycle.TestCase.settings = settings(
    max_examples=300,
    stateful_step_count=10,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)


class TestLifecycle(Lifecycle.TestCase):  # type: ignore[name-defined,misc]
    pass

"""A crash, a lost answer or a fault anywhere: every turn is seen once, and stands in the transcript once.

`python -m pytest tests/panel/test_turns_once.py` takes a slice; all points with both crashes were run once (186 runs,
400 s away each: none lost or repeated a turn).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crash.instant import Folder, run_instant
from tests.panel.crashing import PanelRun, wrong

AWAY_S = 400.0  # longer than any nonce lives
SLICE = 9


@pytest.fixture(scope="module")
def folder() -> Iterator[Folder]:
    made = Folder()
    yield made
    made.close()


def _played(folder: Folder, plan: dict[int, str]) -> PanelRun:
    run = PanelRun(folder.fresh(), plan, AWAY_S)
    run_instant(run.play())
    return run


@pytest.fixture(scope="module")
def calm(folder: Folder) -> PanelRun:
    return _played(folder, {})


def test_undisturbed_it_keeps_its_promises(calm: PanelRun) -> None:
    assert wrong(calm) == []
    assert all(post.webhook_id is not None for post in calm.posts)
    assert {(p.kind, p.name) for p in calm.out.points} >= {("stage", "webhook"), ("model", "panel")}


@pytest.mark.parametrize("how", ["crash before", "crash after"])
def test_a_crash_at_any_commit_or_call(folder: Folder, calm: PanelRun, how: str) -> None:
    found = {}
    for number in range(0 if how == "crash before" else SLICE // 2, len(calm.out.points), SLICE):
        found[number] = wrong(_played(folder, {number: how}))
    assert not {number: what for number, what in found.items() if what}


@pytest.mark.parametrize("how", ["crash after", "lost", "expired", "500", "busy"])
def test_a_panelists_post_is_seen_once_whatever_becomes_of_the_request(
    folder: Folder, calm: PanelRun, how: str
) -> None:
    """Webhooks know no nonce: only the look into the history keeps a second one away."""
    says = [n for n, p in enumerate(calm.out.points) if p.name in ("say", "webhook")]
    for number in says[3:9:2]:
        assert wrong(_played(folder, {number: how})) == [], (number, calm.out.points[number])


def test_the_harness_is_sharp(folder: Folder, calm: PanelRun) -> None:
    """Without the look into the history a lost answer makes a second post, and this says so."""
    number = next(n for n, p in enumerate(calm.out.points) if p.name == "webhook") + 2
    say = next(n for n, p in enumerate(calm.out.points) if n >= number - 1 and p.name == "say")

    class Blind(PanelRun):
        async def _live(self) -> None:
            await super()._live()
            assert self.app is not None
            stage = self.app.core.stage

            async def nothing(*_: object, **__: object) -> list[object]:
                return []

            stage.history = nothing  # type: ignore[method-assign,assignment]

    run = Blind(folder.fresh(), {say: "lost"}, AWAY_S)
    run_instant(run.play())
    assert "a turn is seen twice" in wrong(run)

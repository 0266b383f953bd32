"""What SPEC's second experience lost is in the minutes of the panel that drifts the same way."""

from __future__ import annotations

import asyncio

import pytest

from bot.meeting.model import Origin
from bot.models.base import Usage
from bot.models.prices import at_most
from tests.facilitation.sitting import Closed, Sitting, held
from tests.panel.drifting import AGENDA, CONSTRAINTS, ROLES, SAID, TITLE, mends
from tests.panel.held import Scripted, panel_posts, start, words

EARLY = (
    "舞台は2040年の大阪とする",
    "主人公は新人の監査役とする",
    "中核ループは朝に帳簿を調べて翌朝に答え合わせとする",
)
OPEN = ("課金を始める時期は初日からか体験版のあとか", "順位表を入れるかどうか")


async def _panel(sitting: Sitting, *, restart_after: int | None = None, down_s: float = 0.0) -> Closed:
    sitting.model = Scripted(mends, Usage(2_000, 0, 200))  # type: ignore[assignment]
    await start(sitting, ROLES, len(SAID), title=TITLE, agenda=AGENDA, constraints=CONSTRAINTS)
    if restart_after is not None:
        while len(panel_posts(sitting)) < restart_after:  # noqa: ASYNC110
            await asyncio.sleep(1)
        assert sitting.app is not None
        await sitting.app.abandon()
        await asyncio.sleep(down_s)
        await sitting.wake()
    await asyncio.sleep(900)
    return await sitting.left()


def _complete(sitting: Sitting, closed: Closed) -> None:
    posts = panel_posts(sitting)
    assert [p.author_name for p in posts] == [ROLES[n % 3].shown for n in range(16)]
    assert len({words(p) for p in posts}) == 16
    assert "山田さんにすると決まりました" not in "\n".join(words(p) for p in posts)
    assert "山田さんは顧問にする手があります" in words(posts[14])
    assert closed.texts("constraints") == list(CONSTRAINTS)
    decisions = {d["text"]: d for d in closed.document["decisions"]}
    assert set(EARLY) <= set(decisions)
    for text in decisions:
        assert not decisions[text]["confirmed"], "a panel confirms nothing"
        assert decisions[text]["origin"] == "panel"
    assert {q["text"] for q in closed.document["questions"]} == set(OPEN)
    assert not any("クリック計測" in text for text in decisions)
    assert all(text in closed.text for text in (*CONSTRAINTS, *EARLY, *OPEN))


@pytest.mark.parametrize(
    ("restart_after", "down_s"), [(None, 0.0), (1, 0.0), (7, 0.0), (8, 400.0), (13, 5.0), (16, 400.0)]
)
def test_constraint_early_decisions_and_open_questions_are_in_the_minutes(
    restart_after: int | None, down_s: float
) -> None:
    """Also with a restart in the middle: no turn is lost, none is seen twice."""

    async def story(sitting: Sitting) -> None:
        closed = await _panel(sitting, restart_after=restart_after, down_s=down_s)
        _complete(sitting, closed)
        assert len(closed.published) == 1

    held(story)


def test_a_limit_that_is_talked_away_stands_as_a_conflict_and_not_as_the_limit() -> None:
    async def story(sitting: Sitting) -> None:
        closed = await _panel(sitting)
        by_text = {e.text: e for e in closed.entries}
        found = next(e for text, e in by_text.items() if "撤廃" in text)
        assert found.origin is Origin.PANEL
        assert closed.document["constraints"][1]["text"] == CONSTRAINTS[1]
        conflicting = [d for d in closed.document["decisions"] if d["conflicts_with"]]
        assert [d["text"] for d in conflicting] == ["課題の上限は撤廃する"]
        assert conflicting[0]["conflicts_with"] == [2]
        assert not conflicting[0]["confirmed"]
        assert any("食い違っているようです" in text for text in closed.posts), "pointed out at once"

    held(story)


def test_the_minutes_say_who_took_part_with_which_standpoint_and_who_pays() -> None:
    async def story(sitting: Sitting) -> None:
        closed = await _panel(sitting)
        attendance = {a["name"]: a for a in closed.document["attendance"]}
        for role in ROLES:
            assert attendance[role.shown]["panel"]
            assert attendance[role.shown]["standpoint"] == role.standpoint
            assert role.standpoint in closed.text
        panel = closed.document["panel"]
        assert (panel["turns"], panel["turns_taken"], panel["ended"]) == (16, 16, "turns")
        asked = len(sitting.model.asked)
        assert panel["tokens_in"] == 2_000 * asked
        assert panel["tokens_out"] == 200 * asked
        assert panel["models"] == ["scripted-1"]
        # By the dearest price of data/prices.toml, since the scripted model has none.
        assert panel["cost_usd"] == pytest.approx(asked * at_most(Usage(2_000, 0, 200)), rel=1e-4)
        assert f"約 {panel['cost_usd']:.4f} 米ドル" in closed.text
        assert "AIパネルの記録、未確認" in closed.text

    held(story)

"""Both meetings of the experience: what the window lost, and that the ledger holds all of it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from bot.evaluation import fidelity, fidelity_report, summariser
from bot.evaluation.fidelity import HISTORY_ONLY, WITH_LEDGER, Outcome, Played, conclude, meetings
from bot.evaluation.gold import Gold, Truth, score, units
from bot.evaluation.summariser import Summariser
from bot.rehearsal.scenario import load

MEETINGS = {played.name: played for played in meetings()}


async def both(played: Played) -> dict[str, Outcome]:
    return {outcome.way: outcome async for outcome in conclude(Summariser(), played)}


def everything(gold: Gold, kind: str) -> tuple[str, ...]:
    return tuple(truth.name for truth in getattr(gold, kind))


def test_they_are_the_meetings_of_the_experience() -> None:
    assert {name: len(played.messages) for name, played in MEETINGS.items()} == {"ceo.ja": 12, "limit.ja": 16}
    for played in MEETINGS.values():
        assert all(len(m.text) > fidelity.CHARACTERS for m in played.messages)
        assert load(
            fidelity.FOLDER / f"{played.name}.jsonl"
        ).header.constraints  # `ketsugi rehearse` plays them too


@pytest.mark.parametrize("name", sorted(MEETINGS))
async def test_with_the_ledger_everything_is_in_the_minutes(name: str) -> None:
    played = MEETINGS[name]
    found = (await both(played))[WITH_LEDGER]
    for kind in ("constraints", "decisions", "reversed", "limits", "open"):
        assert getattr(found.score, kind) == everything(played.gold, kind), kind
    assert found.score.inverted == ()
    assert found.score.invented == ()
    assert (found.seen, found.whole, found.prose) == (1.0, len(played.messages), "published")


@pytest.mark.parametrize("name", sorted(MEETINGS))
async def test_from_the_window_alone_it_is_lost(name: str) -> None:
    played = MEETINGS[name]
    found = (await both(played))[HISTORY_ONLY]
    assert found.score.constraints == found.score.decisions == found.score.reversed == found.score.open == ()
    assert found.score.inverted
    assert found.whole == 0
    assert found.seen < 0.45


async def test_the_window_turns_round_what_it_turned_round_then() -> None:
    ceo = (await both(MEETINGS["ceo.ja"]))[HISTORY_ONLY]
    assert "CEOは人間の山田さん" in ceo.text
    limit = (await both(MEETINGS["limit.ja"]))[HISTORY_ONLY]
    assert "上限は撤廃する方向" in limit.text
    assert "中核はクリック計測" in limit.text
    assert set(limit.score.inverted) >= {"上限は3、4以上は禁止", "中核ループは朝に解いて翌朝に答え合わせ"}


async def test_the_reversed_decision_stands_among_the_replaced_ones() -> None:
    text = (await both(MEETINGS["ceo.ja"]))[WITH_LEDGER].text
    replaced = text.split("## 変更された決定")[1].split("\n## ")[0]
    assert "画面は縦向きで確定します" in replaced
    assert "画面は横向きに変更します" in text.split("## 決定事項")[1].split("\n## ")[0]


def test_the_summariser_knows_nothing_but_its_prompt() -> None:
    assert summariser.conclude("") == ""
    assert summariser.extract("") == []
    shown = "⟦発言 id=1 13:00 佐藤⟧\n色は青とすることにします。天気がよい。\n⟦/発言⟧"
    assert "色は青" in summariser.conclude(shown)
    (entry,) = summariser.extract(shown)
    assert (entry.kind, entry.quote) == ("decision", "色は青とすることにします。")
    cut = shown.replace("。天気がよい。", "")  # a window that ends in the middle of a sentence
    assert summariser.extract(cut) == []
    ledger = "#4 決定 (未確認): 色は赤とします。 [佐藤, 13:00]\n"
    change = shown.replace("色は青とすることにします", "赤は撤回し、色は青に変更します")
    (revision,) = summariser.extract(ledger + change)
    assert (revision.kind, revision.refers_to) == ("revision", 4)
    assert summariser.conclude(ledger) == "決定 #4: 色は赤とします."


GOLD = Gold(
    constraints=(Truth(name="c", holds=("上限", "3"), inverts=("撤廃",)),),
    reversed=(Truth(name="r", holds=("縦",), becomes=("横",)),),
    open=(Truth(name="o", holds=("時期",), positions=("田中", "佐藤")),),
    absent=("壁",),
)


@pytest.mark.parametrize(
    ("text", "kept", "marked", "left_open", "inverted", "invented"),
    [
        ("上限は3です。縦をやめ横に変更。時期は田中と佐藤で意見が割れ未決。", 1, 1, 1, 0, 0),
        ("上限は撤廃します。", 0, 0, 0, 1, 0),
        ("上限を撤廃する提案がありました。上限は3です。", 1, 0, 0, 0, 0),
        ("画面は縦。画面は横。", 0, 0, 0, 0, 0),
        ("時期は来月です。壁があります。", 0, 0, 0, 0, 1),
        ("時期は未決です。", 0, 0, 0, 0, 0),
        (
            "## 変更された決定\n\n- **#1** 縦\n  （佐藤）\n\n## 決定\n\n- **#2** 横\n- **#3** 上限は3",
            1,
            1,
            0,
            0,
            0,
        ),
    ],
)
def test_what_counts_as_kept(
    text: str, kept: int, marked: int, left_open: int, inverted: int, invented: int
) -> None:
    found = score(GOLD, text)
    counts = tuple(
        len(part) for part in (found.constraints, found.reversed, found.open, found.inverted, found.invented)
    )
    assert counts == (kept, marked, left_open, inverted, invented)


def test_an_entry_is_one_unit_with_its_heading() -> None:
    assert units("# A\n\nEins. Zwei.\n\n## B\n\n- drei\n  vier\n- fünf\n") == [
        "A\nEins.", "A\nZwei.", "B\n- drei\nvier", "B\n- fünf",
    ]  # fmt: skip


async def test_the_report_names_model_version_and_what_was_turned_round() -> None:
    played = MEETINGS["limit.ja"]
    console = Console(file=io.StringIO(), width=170, highlight=False)
    fidelity_report.show(console, [played], list((await both(played)).values()), summariser.NAME)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert f"{summariser.NAME} ({summariser.VERSION}): what a conclusion keeps" in text
    assert "limit.ja, history only: inverted: 上限は3、4以上は禁止" in text
    assert "limit.ja, ledger: inverted" not in text

"""A panel without a model: what it says, whom it agrees with, and what people are offered at the end."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.facilitation.board import board
from bot.facilitation.readback import read_back
from bot.facilitation.recording import from_panelist
from bot.meeting.ledger import fold
from bot.meeting.model import LANGUAGES, EntryKind, Language, LedgerView, Message, Origin, Route, Scene
from bot.minutes.document import How, document
from bot.minutes.render import render
from bot.minutes.schema import PanelPart
from bot.models.offline import respond
from bot.panel import bill
from bot.phrases import t
from bot.prompts.outputs import SILENCE, PanelOut
from bot.store.generations import ModelUsage
from tests.minutes.made import START, Ledger, meeting, say
from tests.models.scenes import scene

PERSON, FIRST, SECOND = 7, -1, -2


def said(made: Scene, *, again: bool = False) -> PanelOut:
    found = respond(made, again=again)
    assert isinstance(found, PanelOut)
    return found


def turn(
    language: Language, spoken: int, *talk: tuple[int, str], index: int = 0, view: LedgerView | None = None
) -> Scene:
    """The turn of role `index` (from 0) that has spoken `spoken` times, after this talk of (author, text)."""
    history = tuple(
        Message(42, 1000 + n, author, "🤖 B" if author < 0 else "Ben", text, START + timedelta(seconds=n))
        for n, (author, text) in enumerate(talk, 1)
    )
    extra = {
        "role": "開発",
        "standpoint": "検索が速い。",
        "others": "🤖 企画",
        "index": str(index),
        "spoken": str(spoken),
    }
    changes = {"agenda": ("どのデータベースにするか",)}
    return scene(Route.PANEL, language, ledger=view, before=history, changes=changes, extra=extra)


def proposals(*rows: tuple[int, str]) -> Ledger:
    """Proposals by author: below 0 a panelist's."""
    ledger = Ledger()
    for author, text in rows:
        origin = Origin.PANEL if author < 0 else Origin.MARK
        ledger.add(
            EntryKind.PROPOSAL, text, origin, author_id=author, author_name="🤖 企画" if author < 0 else "Ben"
        )
    return ledger


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("index", range(5))
def test_a_title_or_a_standpoint_is_no_noun_in_its_sentences(language: Language, index: int) -> None:
    for spoken in range(3):
        text = said(turn(language, spoken, (SECOND, "x"), index=index)).response
        left = text.replace('"どのデータベースにするか"', "").replace("「どのデータベースにするか」", "")
        assert "データベース" not in left, "quoted, or left out"
        if language == "ja" and "検索が速い" in text:
            assert "「検索が速い」という" in text
        assert "。」" not in text


@pytest.mark.parametrize(
    ("language", "text"),
    [("ja", "提案：この件は小さく試してから広げる"), ("en", "Proposal: start small, then widen")],
)
def test_a_proposal_reads_as_one(language: Language, text: str) -> None:
    assert said(turn(language, 1, index=1)).response.startswith(text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_constraint_is_worried_about_where_there_is_none(language: Language) -> None:
    without = said(turn(language, 2, (FIRST, "x"), index=1)).response
    ledger = Ledger()
    ledger.add(EntryKind.CONSTRAINT, "max 3", Origin.START)
    bound = said(turn(language, 2, (FIRST, "x"), index=1, view=ledger.view)).response
    assert "max 3" in bound
    assert ("制約" if language == "ja" else "constraint") not in without


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_vote_names_its_proposal_and_counts_for_it(language: Language) -> None:
    ledger = proposals((FIRST, "A"), (SECOND, "B"))
    found = said(turn(language, 3, index=0, view=ledger.view))
    assert found.agrees
    assert found.response.startswith("+1 #2 ")
    message = Message(42, 5000, FIRST, "🤖 企画", found.response, START)
    (vote,) = from_panelist(meeting(), message, ledger.view, ["🤖 企画"])
    assert (vote.kind, vote.refers_to, vote.value, vote.origin) == (EntryKind.VOTE, 2, 1.0, Origin.PANEL)


@pytest.mark.parametrize("language", LANGUAGES)
def test_for_its_own_proposal_a_role_does_not_vote(language: Language) -> None:
    ledger = proposals((SECOND, "A"), (FIRST, "B"))
    found = said(turn(language, 3, index=0, view=ledger.view))
    assert found.agrees
    assert "#2" in found.response
    assert "+1" not in found.response


@pytest.mark.parametrize("line", ["+1 #1 いいと思います", "+1"])
def test_the_proposers_own_vote_is_none(line: str) -> None:
    view = proposals((FIRST, "A")).view
    message = Message(42, 5000, FIRST, "🤖 企画", line, START)
    assert from_panelist(meeting(), message, view, []) == []
    other = Message(42, 5000, SECOND, "🤖 開発", line, START)
    assert [e.refers_to for e in from_panelist(meeting(), other, view, [])] == [1]
    against = Message(42, 5000, FIRST, "🤖 企画", "-1 #1", START)
    assert [e.value for e in from_panelist(meeting(), against, view, [])] == [-1.0]


def test_a_vote_on_what_is_no_open_proposal_falls_on_no_other() -> None:
    ledger = proposals((FIRST, "A"))
    ledger.add(EntryKind.DECISION, "B")
    message = Message(42, 5000, SECOND, "🤖 開発", "+1 #2", START)
    assert from_panelist(meeting(), message, ledger.view, []) == []


@pytest.mark.parametrize(
    ("language", "asked", "told"),
    [
        ("ja", "開発さん、費用はいくらかかりますか？", "ここでは数字を出せません。未決に残します。"),
        ("ja", "開発さん、誰に頼むつもりですか", "その点には、ここではお答えできません。未決に残します。"),
        ("en", "Build, how much does that cost?", "I cannot put a figure on that; I leave it open."),
        ("en", "Build, who would do that?", "I cannot answer that here; I leave it open."),
    ],
)
@pytest.mark.parametrize("spoken", [0, 9])
def test_a_question_of_a_person_is_answered_first_and_kept(
    language: Language, asked: str, told: str, spoken: int
) -> None:
    made = turn(language, spoken, (FIRST, "x"), (PERSON, asked))
    text = said(made).response
    assert text.startswith(told)
    message = Message(42, 5000, FIRST, "🤖 企画", text, START)
    kept = from_panelist(meeting(), message, LedgerView(), ["Ben"])
    assert kept[0].kind is EntryKind.QUESTION
    assert kept[0].text in asked
    assert asked not in said(made, again=True).response, "where the guard refused it, it is not said again"


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_asked_before_the_last_turn_or_by_the_panel_is_not_answered_again(
    language: Language,
) -> None:
    before = turn(language, 9, (PERSON, "How much?"), (SECOND, "x"))
    assert said(before).response == SILENCE
    assert said(turn(language, 9, (SECOND, "How much?"))).response == SILENCE


# ---------------------------------------------------------------- what people see of it


@pytest.mark.parametrize(
    ("language", "votes"),
    [
        ("ja", "**#1** 🤖 小さく試す （賛成1・保留0・反対1）"),
        ("en", "**#1** 🤖 小さく試す (for 1, neutral 0, against 1)"),
    ],
)
def test_the_read_back_lists_the_panels_proposals_and_says_how_one_is_adopted(
    language: Language, votes: str
) -> None:
    ledger = proposals((FIRST, "小さく試す"))
    ledger.add(
        EntryKind.VOTE, "", Origin.PANEL, refers_to=1, value=1.0, author_id=SECOND, author_name="🤖 開発"
    )
    ledger.add(EntryKind.VOTE, "", refers_to=1, value=-1.0)
    text = read_back(meeting(), ledger.view, language, START, None).text
    assert votes in text
    assert t("readback.proposals_hint", language) in text
    adopted = [*ledger.entries]
    ledger.add(EntryKind.CONFIRMATION, "", Origin.COMMAND, refers_to=1)
    after = read_back(meeting(), fold([*adopted, ledger.entries[-1]]), language, START, None).text
    assert t("readback.proposals_hint", language) not in after
    assert "小さく試す ✅" in after


@pytest.mark.parametrize("language", LANGUAGES)
def test_where_no_panel_proposed_anything_the_read_back_is_as_ever(language: Language) -> None:
    text = read_back(meeting(), proposals((PERSON, "小さく試す")).view, language, START, None).text
    assert t("readback.proposals", language) not in text


@pytest.mark.parametrize("kind", [EntryKind.DECISION, EntryKind.QUESTION, EntryKind.ACTION])
def test_what_a_person_confirmed_is_still_the_panels_and_says_both(kind: EntryKind) -> None:
    ledger = Ledger()
    ledger.add(kind, "見積を出す", Origin.PANEL, author_id=FIRST, author_name="🤖 企画")
    shown = _shown(ledger.view)
    assert all("**#1** 🤖" in text for text in shown)
    assert all("✅" not in _line(text) for text in shown)
    ledger.add(EntryKind.CONFIRMATION, "", Origin.REACTION, refers_to=1)
    for text in _shown(ledger.view):
        line = _line(text)
        assert "**#1** 🤖" in line
        assert line.count("✅") == 1


def _shown(view: LedgerView) -> tuple[str, str]:
    on_board = board(meeting(), view, (), START, language="ja").embeds[0].description
    return on_board, read_back(meeting(), view, "ja", START, None).text


def _line(text: str) -> str:
    return next(line for line in text.split("\n") if "**#1**" in line)


@pytest.mark.parametrize(
    ("language", "line", "in_minutes"),
    [
        ("ja", "💰 モデルは使っていません（費用なし）", "モデルは使っていません（費用なし）"),
        ("en", "💰 No model, no cost.", "No model, no cost."),
    ],
)
def test_without_a_model_there_is_no_bill(language: Language, line: str, in_minutes: str) -> None:
    assert bill.line([], language) == line
    assert bill.line([("offline", ModelUsage("offline-1", 3, 0, 0, 0, 0, 0))], language) == line
    both = [
        ("offline", ModelUsage("offline-1", 3, 0, 0, 0, 0, 0)),
        ("gemini-3.8-flash", ModelUsage("", 1, 0, 9, 0, 1, 9)),
    ]
    assert bill.line(both, language) != line
    part = PanelPart(
        turns=2, turns_taken=2, ended="turns", models=[], tokens_in=0, tokens_cached=0, tokens_out=0,
        cost_usd=0.0, cost_cap_usd=None,
    )  # fmt: skip
    made = document(meeting(), LedgerView(), (), None, How(), str, panel=part)
    assert f"- {in_minutes}" in render(made, language, say(language)).splitlines()

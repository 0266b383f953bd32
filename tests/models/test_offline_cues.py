"""What the engine without a model takes for an entry, and above all what it leaves alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.meeting.model import EntryKind, Language, Origin, Route
from bot.models.offline_cues import find_entries
from bot.prompts.outputs import EntryOut
from tests.minutes.made import view
from tests.models.scenes import messages, scene


def found(language: Language, *said: tuple[int, str], **more: object) -> list[EntryOut]:
    return find_entries(scene(Route.TURN, language, *said, **more))  # type: ignore[arg-type]


def kinds(language: Language, *said: tuple[int, str]) -> list[str]:
    return [entry.kind for entry in found(language, *said)]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ja", "公開日は1月27日に決まりました。"),
        ("ja", "では費用は20万円までで確定です"),
        ("ja", "ハガキは出さないことになりました"),
        ("ja", "A社で合意しました"),
        ("en", "We decided to ship on Friday."),
        ("en", "ok so we've decided on the blue one"),
        ("en", "We agreed that nobody deploys after 4 pm."),
        ("en", "We're going with Postgres 17."),
    ],
)
def test_a_statement_of_a_decision(language: Language, text: str) -> None:
    (entry,) = found(language, (1, text))
    assert entry.kind == "decision"
    assert entry.quote in text


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ja", "公開日は27日に決まりましたか？"),
        ("ja", "27日に決まりそうですか"),
        ("ja", "まだ27日に決まったわけではありません"),
        ("ja", "もしA社に決まりましたら連絡します"),
        ("ja", "前回の会議で、A社に決まりました"),
        ("ja", "A案がいいと思います"),
        ("ja", "それで決まりですね"),
        ("ja", "お昼にしましょう"),
        ("ja", "> 公開日は27日に決まりました"),
        ("en", "Have we decided on Friday?"),
        ("en", "We have to decide on Friday."),
        ("en", "If we decided to ship on Friday, we could rest."),
        ("en", "Last time we decided to ship on Friday."),
        ("en", "I think we decided to ship on Friday."),
        ("en", "Maybe we're going with Postgres."),
        ("en", "Nobody decided anything."),
        ("en", "> we decided to ship on Friday"),
        ("en", "```\nwe decided to ship on Friday\n```"),
    ],
)
def test_what_only_sounds_like_a_decision(language: Language, text: str) -> None:
    assert "decision" not in kinds(language, (1, text))


def test_an_earlier_meeting_told_over_two_messages_is_no_decision() -> None:
    assert kinds("en", (0, "Quick recap of last time."), (0, "We decided to drop the app.")) == []


@pytest.mark.parametrize(
    ("language", "call", "agreement"),
    [("ja", "A案でいきましょう", "いいですね"), ("en", "Let's go with plan A", "sounds good")],
)
class TestCalls:
    def test_from_the_chair_counts(self, language: Language, call: str, agreement: str) -> None:
        assert kinds(language, (0, call)) == ["decision"]

    def test_from_another_is_not_enough(self, language: Language, call: str, agreement: str) -> None:
        assert kinds(language, (1, call)) == []

    def test_from_another_counts_once_somebody_agrees(
        self, language: Language, call: str, agreement: str
    ) -> None:
        assert kinds(language, (1, call), (2, agreement)) == ["decision"]

    def test_own_agreement_does_not_count(self, language: Language, call: str, agreement: str) -> None:
        assert kinds(language, (1, call), (1, agreement)) == []

    def test_an_objection_undoes_even_the_chairs(self, language: Language, call: str, agreement: str) -> None:
        no = "いや、それは厳しいです" if language == "ja" else "wait, no"
        assert kinds(language, (0, call), (2, no), (1, agreement)) == []

    def test_agreement_in_the_next_turn_counts_once(
        self, language: Language, call: str, agreement: str
    ) -> None:
        before = messages(language, (1, call))
        (entry,) = found(language, (2, agreement), before=before)
        assert entry.quote == call
        later = (*before, *messages(language, (2, agreement), first=2))
        assert found(language, (2, agreement), before=later) == []

    def test_a_team_that_marks_its_decisions_is_taken_at_its_marks(
        self, language: Language, call: str, agreement: str
    ) -> None:
        marked = view((EntryKind.DECISION, "X"), origin=Origin.MARK)
        assert found(language, (0, call), (2, agreement), ledger=marked) == []


@pytest.mark.parametrize(
    ("language", "text", "owner", "due"),
    [
        ("ja", "来週の金曜までに見積もりを送ります", "田中", "来週の金曜"),
        ("ja", "文面は私がやります", "田中", None),
        ("ja", "鈴木さん、1月23日までに集計をお願いします", "鈴木", "1月23日"),
        ("ja", "鈴木さんが会場を手配します", "鈴木", None),
        ("en", "I'll send the quote by next Friday.", "Ben", "next Friday"),
        ("en", "leave it to me", "Ben", None),
        ("en", "Chris will check the logs by the end of the week", "Chris", "end of the week"),
        ("en", "Aiko, please book the room by 3 March", "Aiko", "3 March"),
        ("en", "Chris, I'd like you to write the summary", "Chris", None),
        ("en", "I'd like you to write the summary", None, None),
        ("en", "Chris: I'll update the docs", "Chris", None),
    ],
)
def test_an_action_with_owner_and_due_as_said(
    language: Language, text: str, owner: str | None, due: str | None
) -> None:
    (entry,) = found(language, (1, text))
    assert (entry.kind, entry.quote, entry.owner, entry.due) == ("action", text, owner, due)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ja", "よろしくお願いします"),
        ("ja", "確認しますか？"),
        ("ja", "これまでの話を続けます"),
        ("ja", "たぶん金曜までに送ります"),
        ("ja", "鈴木さんが好きです"),
        ("en", "I'll get a bike."),
        ("en", "I'll be back in a minute"),
        ("en", "Maybe I'll send it"),
        ("en", "Will Chris check the logs?"),
        ("en", "If it rains I'll call you"),
        ("en", "Chris was here"),
    ],
)
def test_what_only_sounds_like_an_action(language: Language, text: str) -> None:
    assert kinds(language, (1, text)) == []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ja", "予算の上限は次回決めましょう"),
        ("ja", "会場はまだ決まっていません"),
        ("en", "The budget is TBD."),
        ("en", "Let's leave that open: who tests the app."),
    ],
)
def test_an_open_question(language: Language, text: str) -> None:
    assert kinds(language, (1, text)) == ["question"]


@pytest.mark.parametrize("text", ["予算は次回決めましょうか？", "Is the budget still open?"])
def test_asking_whether_to_leave_it_open_leaves_nothing_open(text: str) -> None:
    assert kinds("ja", (1, text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "決定：公開日は27日に決まりました",
        "Decision: we decided to ship on Friday",
        "#agreed we're going with B",
    ],
)
def test_a_typed_mark_is_left_to_the_marks(text: str) -> None:
    assert kinds("ja", (1, text)) == []


def test_talk_right_beside_a_mark_of_its_kind_is_not_a_second_entry() -> None:
    assert kinds("en", (1, "We're going with Postgres 17."), (2, "Decision: Postgres 17")) == []


def test_what_the_ledger_holds_is_not_found_again() -> None:
    text = "We decided to ship on Friday."
    known = view((EntryKind.DECISION, text), origin=Origin.MODEL, message_id=1001)
    assert found("en", (1, text), ledger=known) == []


def test_only_the_sentence_is_quoted() -> None:
    text = "Thanks all. We decided to ship on Friday. What is next?"
    assert [e.quote for e in found("en", (1, text))] == ["We decided to ship on Friday."]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.text(max_size=80)), max_size=6), st.sampled_from(["ja", "en"])
)
def test_every_quote_stands_in_a_message(said: list[tuple[int, str]], language: Language) -> None:
    for entry in found(language, *said):
        assert any(entry.quote in text for _, text in said)

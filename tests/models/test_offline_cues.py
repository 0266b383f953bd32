"""What the engine without a model takes for an entry, and above all what it leaves alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.meeting.grounding import Claim, ground
from bot.meeting.ledger import fold
from bot.meeting.model import Entry, EntryKind, Language, LedgerView, NewEntry, Origin, Route
from bot.models.offline_cues import find_entries
from bot.prompts.outputs import EntryOut
from tests.minutes.made import START, view
from tests.models.scenes import PEOPLE, messages, scene


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
        ("ja", "朝会は来週から廃止することにします。"),
        ("ja", "広告は出さないことといたします"),
        ("en", "We decided to ship on Friday."),
        ("en", "ok so we've decided on the blue one"),
        ("en", "We agreed that nobody deploys after 4 pm."),
        ("en", "We're going with Postgres 17."),
        ("en", "We hereby decide to drop the morning call."),
        ("en", "It is decided that nobody is on call at night."),
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
        ("ja", "私は今日は欠席することにします"),
        ("ja", "次回決めることにします"),
        ("ja", "廃止することにしますか？"),
        ("ja", "> 公開日は27日に決まりました"),
        ("en", "Have we decided on Friday?"),
        ("en", "We have to decide on Friday."),
        ("en", "If we decided to ship on Friday, we could rest."),
        ("en", "Last time we decided to ship on Friday."),
        ("en", "I think we decided to ship on Friday."),
        ("en", "Maybe we're going with Postgres."),
        ("en", "Nobody decided anything."),
        ("en", "How do we decide on a name?"),
        ("en", "For myself I think we decide to wait."),
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
        ("ja", "会場は意見が割れ、未決です。"),
        ("ja", "価格については意見が分かれました"),
        ("ja", "担当は今日はまとまりませんでした"),
        ("en", "The budget is TBD."),
        ("en", "Opinions are split on the venue, so it is undecided."),
        ("en", "We couldn't agree on the price."),
        ("en", "Let's leave that open: who tests the app."),
    ],
)
def test_an_open_question(language: Language, text: str) -> None:
    assert kinds(language, (1, text)) == ["question"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ja", "意見が割れたら多数決にします"),
        ("ja", "会場は意見が割れていますか？"),
        ("en", "If opinions differ, the chair says what holds."),
        ("en", "Are opinions split on the venue?"),
    ],
)
def test_what_to_do_when_opinions_differ_leaves_nothing_open(language: Language, text: str) -> None:
    assert "question" not in kinds(language, (1, text))


def typed(*texts: str, owner: str | None = None, first: int = 1) -> LedgerView:
    """Actions typed as marks in the messages 1001, 1002 ..."""
    return fold(
        [
            Entry(42, n, EntryKind.ACTION, text, Origin.MARK, START, message_id=1000 + n, owner=owner)
            for n, text in enumerate(texts, start=first)
        ]
    )


@pytest.mark.parametrize(
    ("language", "action", "takes", "name"),
    [
        ("ja", "宿題：会場を3月3日までに予約する", "私がやります", "田中"),
        ("ja", "宿題：会場を予約する", "はい、では引き受けます！", "田中"),
        ("en", "TODO: book the venue by March 3", "I'll take it", "Ben"),
        ("en", "TODO: book the venue", "Sure, I'll do it!", "Ben"),
    ],
)
class TestSomebodyTakesIt:
    def test_the_action_just_named_is_theirs(
        self, language: Language, action: str, takes: str, name: str
    ) -> None:
        text = action.split("：")[-1].removeprefix("TODO: ")
        ledger = typed(text)
        (entry,) = found(language, (0, action), (1, takes), ledger=ledger)
        assert (entry.kind, entry.refers_to, entry.owner, entry.quote) == ("revision", 1, name, takes)
        claim = Claim(entry.kind, entry.text, entry.quote, entry.owner, refers_to=entry.refers_to)
        said = messages(language, (0, action), (1, takes))
        grounded = ground(claim, said, PEOPLE[language], cursor=0, view=ledger, language=language)
        assert isinstance(grounded, NewEntry)
        assert (grounded.origin, grounded.owner) == (Origin.MODEL, name)
        held = fold([*ledger.entries, replace(ledger.entries[0], **revised(grounded))])
        assert [(a.text, a.owner) for a in held.actions] == [(text, name)]

    def test_not_one_of_two(self, language: Language, action: str, takes: str, name: str) -> None:
        ledger = typed("X", "Y")
        assert not revisions(found(language, (0, action), (0, action), (1, takes), ledger=ledger))

    def test_not_one_that_has_an_owner(self, language: Language, action: str, takes: str, name: str) -> None:
        assert not revisions(found(language, (0, action), (1, takes), ledger=typed("X", owner="Z")))

    def test_not_one_from_long_before(self, language: Language, action: str, takes: str, name: str) -> None:
        talk = [(2, "…")] * 3
        assert not revisions(found(language, (0, action), *talk, (1, takes), ledger=typed("X")))

    def test_not_twice(self, language: Language, action: str, takes: str, name: str) -> None:
        entries = found(language, (0, action), (1, takes), (2, takes), ledger=typed("X"))
        assert [e.owner for e in revisions(entries)] == [name]

    def test_not_by_words_that_hold_more(
        self, language: Language, action: str, takes: str, name: str
    ) -> None:
        more = {"ja": "文面は私がやります", "en": "I'll take it to the board tomorrow"}[language]
        asked = {"ja": "私がやりますか？", "en": "I'll take it?"}[language]
        for text in (more, asked):
            assert not revisions(found(language, (0, action), (1, text), ledger=typed("X")))


def revisions(entries: list[EntryOut]) -> list[EntryOut]:
    return [e for e in entries if e.kind == "revision"]


def revised(entry: NewEntry) -> dict[str, object]:
    return {
        "number": 2,
        "kind": entry.kind,
        "text": entry.text,
        "origin": entry.origin,
        "message_id": entry.message_id,
        "owner": entry.owner,
        "refers_to": entry.refers_to,
    }


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

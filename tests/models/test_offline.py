"""The engine without a model: what it says on every route, and that the guard lets all of it pass."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from bot.clock import Deadline
from bot.facilitation.readback import read_back
from bot.guard.model import Candidate
from bot.guard.table import RoomFacts, rules_for
from bot.meeting.model import (
    LANGUAGES,
    EntryKind,
    Language,
    LedgerView,
    Origin,
    OwnPost,
    Persona,
    Phase,
    Route,
    Scene,
)
from bot.minutes import rules as prose_rules
from bot.models.base import Prompt, ProviderError, Request
from bot.models.offline import OfflineModel, respond
from bot.phrases import book
from bot.prompts.outputs import SILENCE, AnswerOut, MinutesOut, PanelOut, TurnOut
from tests.minutes.made import NASTY, START, Ledger, full, say, view
from tests.models.scenes import messages, scene

POSTING = (Route.OPENING, Route.TURN, Route.TIME_NOTICE, Route.CLOSING)


def turn(scene: Scene) -> TurnOut:
    found = respond(scene)
    assert isinstance(found, TurnOut)
    return found


def answer(scene: Scene) -> AnswerOut:
    found = respond(scene)
    assert isinstance(found, AnswerOut)
    return found


def minutes(scene: Scene) -> MinutesOut:
    found = respond(scene)
    assert isinstance(found, MinutesOut)
    return found


def own(count: int) -> tuple[OwnPost, ...]:
    return tuple(OwnPost(n, Persona.FACILITATOR, Route.TURN, "x", START) for n in range(count))


@pytest.mark.parametrize("language", LANGUAGES)
class TestOpening:
    def test_title_first_item_and_exactly_one_question(self, language: Language) -> None:
        for variant in range(6):
            made = scene(Route.OPENING, language, before=own(variant))
            text = turn(made).response
            assert made.meeting.title in text
            assert made.meeting.agenda[0] in text
            assert text.count("?") + text.count("？") == 1
            assert text[-1] in "?？"

    def test_constraints_are_called_to_mind(self, language: Language) -> None:
        ledger = view((EntryKind.CONSTRAINT, "max 3; 4以上は禁止"))
        assert "max 3; 4以上は禁止" in turn(scene(Route.OPENING, language, ledger=ledger)).response

    def test_many_constraints_are_not_half_told(self, language: Language) -> None:
        ledger = view(*((EntryKind.CONSTRAINT, f"rule {n}") for n in range(4)))
        assert "rule" not in turn(scene(Route.OPENING, language, ledger=ledger)).response

    def test_without_agenda(self, language: Language) -> None:
        text = turn(scene(Route.OPENING, language, changes={"agenda": ()})).response
        assert text.count("?") + text.count("？") == 1


def test_meetings_and_posts_differ_in_wording_and_the_same_moment_does_not() -> None:
    made = [scene(Route.OPENING, "en", changes={"id": n}) for n in range(12)]
    assert len({turn(s).response for s in made}) > 1
    assert turn(made[0]) == turn(made[0])
    assert turn(made[0]).response != turn(replace(made[0], history=own(1))).response


@pytest.mark.parametrize("language", LANGUAGES)
def test_talk_is_met_with_silence(language: Language) -> None:
    text = "それは面白いですね" if language == "ja" else "that is interesting"
    assert turn(scene(Route.TURN, language, (0, text), (1, text))).response == SILENCE


@pytest.mark.parametrize(
    ("language", "said", "part"),
    [
        ("en", "TODO: write the announcement", "write the announcement"),
        ("ja", "宿題：案内文を書く", "案内文を書く"),
    ],
)
def test_a_fresh_action_without_owner_is_asked_about_once(language: Language, said: str, part: str) -> None:
    ledger = view((EntryKind.ACTION, part), message_id=1001)
    text = turn(scene(Route.TURN, language, (1, said), ledger=ledger)).response
    assert part in text
    assert text.count("?") + text.count("？") == 1
    later = scene(Route.TURN, language, (1, "hm"), ledger=ledger, before=messages(language, (1, said)))
    assert turn(later).response == SILENCE


def test_a_missing_date_is_asked_of_the_owner() -> None:
    text = turn(scene(Route.TURN, "en", (1, "I'll write the announcement"))).response
    assert "Ben" in text
    assert text.endswith("?")


def test_a_complete_action_is_met_with_silence() -> None:
    assert turn(scene(Route.TURN, "en", (1, "I'll write the announcement by Friday"))).response == SILENCE


def test_while_closing_nothing_is_asked() -> None:
    changes = {"closing_since": START}
    made = scene(Route.TURN, "en", (1, "I'll write the announcement"), changes=changes)
    assert turn(made).response == SILENCE
    assert turn(made).phase is Phase.CLOSING


@pytest.mark.parametrize(
    ("language", "text"),
    [("ja", "そろそろこの会議を終わりにしましょう"), ("en", "Right, let's wrap up the meeting.")],
)
def test_a_wish_to_end_is_told_in_the_persons_words(language: Language, text: str) -> None:
    found = turn(scene(Route.TURN, language, (0, text)))
    assert found.wish_quote is not None
    assert found.wish_quote in text
    assert (found.closing_complete, found.phase, found.response) == (True, Phase.CLOSING, SILENCE)


def test_without_a_wish_nothing_closes() -> None:
    found = turn(scene(Route.TURN, "en", (0, "We are not finished yet.")))
    assert (found.closing_complete, found.wish_quote) == (False, None)


@pytest.mark.parametrize("language", LANGUAGES)
def test_somebody_alone_is_never_met_with_silence_or_twice_the_same(language: Language) -> None:
    said: list[str] = []
    for count in range(6):
        made = scene(Route.TURN, language, (0, "考え中" if language == "ja" else "thinking"), speakers=())
        said.append(turn(replace(made, history=(*own(count), *made.history))).response)
    assert SILENCE not in said
    assert all(a != b for a, b in pairwise(said))


@pytest.mark.parametrize(
    ("language", "text"),
    [("ja", "公開日はいつになりましたか？"), ("en", "What did we decide about the launch date?")],
)
def test_addressed_it_answers_from_the_ledger(language: Language, text: str) -> None:
    held = "公開日は1月27日" if language == "ja" else "The launch date is 27 January"
    made = scene(Route.TURN, language, (1, text), ledger=view((EntryKind.DECISION, held)))
    made = replace(made, addressed_by=made.unread[0])
    assert held in turn(made).response
    assert "#1" in turn(made).response


@pytest.mark.parametrize(
    ("language", "text"),
    [("ja", "天気はどうですか？"), ("en", "How is the weather?"), ("ja", "ありがとう"), ("en", "thank you")],
)
def test_addressed_it_is_never_silent(language: Language, text: str) -> None:
    made = scene(Route.TURN, language, (1, text))
    made = replace(made, addressed_by=made.unread[0])
    assert turn(made).response not in ("", SILENCE)
    assert "#" not in turn(made).response


@pytest.mark.parametrize(
    ("language", "text"), [("ja", "まとめをお願いします"), ("en", "Can you give us a summary?")]
)
def test_a_summary_asked_for_while_closing_is_met_with_the_minutes(language: Language, text: str) -> None:
    ledger = view((EntryKind.DECISION, "X"))
    made = scene(Route.TURN, language, (1, text), ledger=ledger, changes={"closing_since": START})
    made = replace(made, addressed_by=made.unread[0])
    assert ("議事録" if language == "ja" else "minutes follow") in turn(made).response
    assert "#1" not in turn(made).response


def test_catching_up_says_nothing_and_still_finds_entries() -> None:
    found = turn(scene(Route.TURN, "en", (1, "We decided to ship on Friday."), request="catch_up"))
    assert found.response == SILENCE
    assert [e.kind for e in found.entries] == ["decision"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("left", [30, 10, 1, 0, -10])
def test_a_notice_holds_its_number(language: Language, left: int) -> None:
    assert str(abs(left)) in turn(scene(Route.TIME_NOTICE, language, notice_minutes=left)).response


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("request_", ["read_back", "other", None])
def test_near_the_end_what_is_open_is_called_open(language: Language, request_: str | None) -> None:
    ledger = view((EntryKind.DECISION, "sealed"), (EntryKind.QUESTION, "who tests it?"))
    text = turn(scene(Route.CLOSING, language, ledger=ledger, request=request_)).response
    assert "#2" in text
    assert "who tests it" in text
    assert "sealed" not in text


@pytest.mark.parametrize("language", LANGUAGES)
class TestMinutes:
    def test_every_live_decision_is_cited_by_number(self, language: Language) -> None:
        ledger = full()
        summary = minutes(scene(Route.MINUTES, language, ledger=ledger.view)).summary.lower()
        word = "決定" if language == "ja" else "decision"
        for item in ledger.view.decisions:
            assert f"{word} #{item.number}" in summary
        assert f"{word} #3" in summary  # the one that was replaced, and called so

    def test_a_hundred_and_twenty_decisions_are_all_cited(self, language: Language) -> None:
        ledger = view(*((EntryKind.DECISION, f"item {n}") for n in range(120)))
        summary = minutes(scene(Route.MINUTES, language, ledger=ledger)).summary
        assert all(f"#{n}" in summary for n in range(1, 121))

    def test_a_long_text_is_cited_and_never_cut(self, language: Language) -> None:
        ledger = view((EntryKind.DECISION, "no " * 200 + "more than 3"))
        summary = minutes(scene(Route.MINUTES, language, ledger=ledger)).summary
        assert "#1" in summary
        assert "no no" not in summary

    def test_open_questions_are_open(self, language: Language) -> None:
        ledger = view((EntryKind.QUESTION, "who tests it"))
        summary = minutes(scene(Route.MINUTES, language, ledger=ledger)).summary
        assert ("未決 #1" if language == "ja" else "Open question #1") in summary
        assert "who tests it" in summary

    def test_one_item_for_each_line_of_the_agenda(self, language: Language) -> None:
        made = Ledger()
        lines = ("価格", "日程")
        made.add(EntryKind.TOPIC, "日程")
        made.add(EntryKind.DECISION, "来月に始める")
        items = minutes(scene(Route.MINUTES, language, ledger=made.view, changes={"agenda": lines})).items
        assert [i.agenda for i in items] == list(lines)
        assert "#2" not in items[0].text
        assert "#2" in items[1].text

    def test_a_withdrawn_text_stays_withdrawn(self, language: Language) -> None:
        made = Ledger()
        made.add(EntryKind.DECISION, "secret words", redacted=True)
        assert "secret" not in str(minutes(scene(Route.MINUTES, language, ledger=made.view)))


@pytest.mark.parametrize("language", LANGUAGES)
class TestAsk:
    def test_a_whole_kind(self, language: Language) -> None:
        question = "宿題は誰が担当ですか" if language == "ja" else "who has which actions?"
        made = Ledger()
        made.add(EntryKind.DECISION, "ペンは赤" if language == "ja" else "pens are red")
        made.add(EntryKind.ACTION, "ABC", owner="XYZ")
        found = answer(scene(Route.HAND_OFF, language, ledger=made.view, question=question))
        assert found.cites == ["#2"]
        assert "XYZ" in found.response

    def test_a_summary_tells_how_each_thing_stands(self, language: Language) -> None:
        question = "ここまでをまとめてください" if language == "ja" else "where do we stand?"
        ledger = view((EntryKind.DECISION, "ABC"), (EntryKind.QUESTION, "DEF"))
        found = answer(scene(Route.HAND_OFF, language, ledger=ledger, question=question))
        assert found.cites == ["#1", "#2"]
        assert ("まだ決まっていません" if language == "ja" else "still open") in found.response

    def test_what_the_record_does_not_say(self, language: Language) -> None:
        question = "駐車場は使えますか" if language == "ja" else "can we use the parking lot?"
        ledger = view((EntryKind.DECISION, "ABC"))
        found = answer(scene(Route.ASK, language, ledger=ledger, question=question))
        assert found.cites == []
        assert "ABC" not in found.response

    def test_a_long_record_fits_one_post(self, language: Language) -> None:
        ledger = view(*((EntryKind.DECISION, f"ABC {n} " + "x" * 150) for n in range(60)))
        question = "決定は？" if language == "ja" else "which decisions?"
        found = answer(scene(Route.ASK, language, ledger=ledger, question=question))
        assert len(found.response) <= 1_800
        assert "`/ledger`" in found.response


def ledgers() -> dict[str, LedgerView]:
    nasty = Ledger()
    for text in NASTY:
        nasty.add(EntryKind.DECISION, text)
        nasty.add(EntryKind.QUESTION, text)
        nasty.add(EntryKind.ACTION, text)
        nasty.add(EntryKind.CONSTRAINT, text, Origin.START)
    return {"empty": LedgerView(), "full": full().view, "nasty": nasty.view}


def facts(made: Scene, language: Language) -> RoomFacts:
    texts = [made.meeting.title, *made.meeting.agenda, *(e.text for e in made.ledger.entries)]
    return RoomFacts(
        language=language,
        title=made.meeting.title,
        closing=lambda: made.meeting.closing,
        near_end=lambda: True,
        open_questions=lambda: [i.text for i in made.ledger.open_questions],
        notice_minutes=made.notice_minutes,
        names=(*(s.name for s in made.speakers), "鈴木", "佐藤", "田中"),
        user_ids=frozenset({5, 6, 7}),
        entry_numbers=frozenset(e.number for e in made.ledger.entries),
        record=lambda: texts,
        allowed=(abs(made.notice_minutes or 0),),
    )


def fired(made: Scene, language: Language, text: str, route: Route) -> list[str]:
    candidate = Candidate(text, made.meeting.model_phase, False, made.meeting.closing)
    told = [(r.name, r.check(candidate)) for r in rules_for(route, facts(made, language))]
    return [f"{name}: {reason}" for name, reason in told if reason is not None]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("ledger", ["empty", "full"])
@pytest.mark.parametrize("route", POSTING)
def test_the_guard_passes_every_post(language: Language, ledger: str, route: Route) -> None:
    for variant in range(4):
        for request in ("read_back", "goodbye", None):
            made = scene(route, language, ledger=ledgers()[ledger], before=own(variant), request=request)
            changes: dict[str, Any] = {"closing_since": START} if route is Route.CLOSING else {}
            left = -10 if variant == 3 else (30, 1, 0)[variant]
            made = replace(made, meeting=replace(made.meeting, **changes), notice_minutes=left)
            if route is Route.TURN:
                (asked,) = messages(language, (1, "?"))
                made = replace(made, addressed_by=asked, unread=(asked,))
            text = turn(made).response
            assert fired(made, language, text, route) == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("title", NASTY)
def test_whatever_people_write_nobody_is_pinged_and_a_post_stays_a_post(
    language: Language, title: str
) -> None:
    for route in POSTING:
        made = scene(
            route,
            language,
            ledger=ledgers()["nasty"],
            changes={"title": title, "agenda": (title,)},
            notice_minutes=10,
        )
        text = turn(made).response
        assert "@everyone" not in text
        assert "<@" not in text
        assert len(text) <= 1_800


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("ledger", ["empty", "full"])
def test_the_minutes_rules_pass_its_prose(language: Language, ledger: str) -> None:
    made = scene(Route.MINUTES, language, ledger=ledgers()[ledger], changes={"agenda": ("価格", "日程")})
    found = minutes(made)
    text = "\n".join([found.summary, *(f"{i.agenda}\n{i.text}" for i in found.items)])
    texts = [made.meeting.title, *made.meeting.agenda]
    rules = prose_rules.all_rules(made.ledger, texts, ["鈴木", "佐藤", "田中"], say(language))
    told = [(r.name, r.check(Candidate(text))) for r in rules]
    assert [f"{name}: {reason}" for name, reason in told if reason is not None] == []


@pytest.mark.parametrize("route", list(Route))
async def test_as_a_model_it_answers_in_the_asked_type(route: Route) -> None:
    output = (
        PanelOut
        if route is Route.PANEL
        else MinutesOut
        if route is Route.MINUTES
        else AnswerOut
        if route in (Route.HAND_OFF, Route.ASK, Route.CHAT)
        else TurnOut
    )
    prompt = Prompt("", "", "", "", "", "")
    model = OfflineModel()
    draft = await model.generate(Request(scene(route, "en", question="?"), prompt, output, Deadline(1)))
    assert isinstance(draft.output, output)
    assert (model.name, draft.version, draft.usage.tokens_in) == ("offline", "offline-1", 0)
    other = AnswerOut if output is not AnswerOut else TurnOut
    with pytest.raises(ProviderError, match="invalid"):
        await model.generate(Request(scene(route, "en", question="?"), prompt, other, Deadline(1)))
    await model.close()


def test_both_languages_have_the_same_variants() -> None:
    keys = {language: {k for k in book(language) if k.startswith("offline.")} for language in LANGUAGES}
    assert keys["ja"] == keys["en"]


def test_time_alone_brings_convergence() -> None:
    early = scene(Route.TURN, "en", (0, "hm"), (1, "hm"))
    late = replace(early, now=early.meeting.planned_end - timedelta(minutes=5))
    assert (turn(early).phase, turn(late).phase) == (Phase.DISCUSSING, Phase.CONVERGING)


def _after_read_back(language: Language, ledger: LedgerView, minutes_in: int, variant: int) -> Scene:
    """The goodbye of a meeting whose read-back was posted `minutes_in` minutes after its start."""
    shown = read_back(scene().meeting, ledger, language, START, None).text
    told = OwnPost(900, Persona.FACILITATOR, Route.CLOSING, shown, START + timedelta(minutes=minutes_in))
    made = scene(
        Route.CLOSING, language, ledger=ledger, before=(*own(variant), told), request="goodbye",
        changes={"closing_since": START},
    )  # fmt: skip
    return made


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("variant", [0, 1])
def test_the_goodbye_does_not_list_again_what_was_just_read_back(language: Language, variant: int) -> None:
    ledger = view((EntryKind.QUESTION, "who tests it?"), (EntryKind.QUESTION, "who pays?"))
    made = _after_read_back(language, ledger, 30, variant)
    text = turn(made).response
    assert "who" not in text
    assert "2" in text
    room = replace(facts(made, language), allowed=(2,))
    candidate = Candidate(text, Phase.CLOSING, True, True)
    assert [r.name for r in rules_for(Route.CLOSING, room) if r.check(candidate) is not None] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_asked_after_the_read_back_is_named_in_the_goodbye(language: Language) -> None:
    ledger = view((EntryKind.QUESTION, "who tests it?"), (EntryKind.QUESTION, "who pays?"))
    assert "who pays" in turn(_after_read_back(language, ledger, 1, 0)).response
    without = scene(Route.CLOSING, language, ledger=ledger, request="goodbye")
    assert "who pays" in turn(without).response, "closed at once: nothing was read back"


@pytest.mark.parametrize("language", LANGUAGES)
def test_with_nothing_open_the_goodbye_is_a_goodbye(language: Language) -> None:
    text = turn(_after_read_back(language, view((EntryKind.DECISION, "sealed")), 30, 0)).response
    assert not any(c.isdigit() for c in text)


def test_one_constraint_is_spoken_of_as_one() -> None:
    said = {
        count: {turn(scene(Route.OPENING, "en", ledger=rules, changes={"id": n})).response for n in range(12)}
        for count in (1, 2)
        for rules in [view(*((EntryKind.CONSTRAINT, f"rule {n}") for n in range(count)))]
    }
    assert any("This constraint applies" in text for text in said[1])
    assert not any("These constraints apply" in text for text in said[1])
    assert any("These constraints apply" in text for text in said[2])

"""The prose of minutes without a model: whatever the ledger holds, the guard lets it pass."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.guard.model import Candidate
from bot.guard.table import RoomFacts, rules_for
from bot.meeting.model import LANGUAGES, EntryKind, Language, LedgerView, Origin, Route, Scene
from bot.minutes import rules as prose_rules
from bot.minutes.draft import prose_text
from bot.models.offline import respond
from bot.prompts.outputs import MinutesOut
from tests.minutes.made import NASTY, Ledger, full, say
from tests.models.scenes import scene

ORDINARY = (
    "we ship on Thursday 3 December",
    "do we print in colour?",
    "Ben renews the contract with the printer by 10 December",
    'the button is called "Go" and not "Start"',
    "no ads before May",
    "十二月三日に出荷する",
    "何色で刷るか",
    "「検索が速い」を一番の基準とする",
    "宣伝は五月より前に出さない",
    "SQLite",
)
AGENDAS: tuple[tuple[str, ...], ...] = (
    (),
    ("Date", "Contract"),
    ("出荷日", "契約"),
    ("Whether we ship in December or wait until the new year", "価格の決定"),
)
KINDS = (
    EntryKind.DECISION,
    EntryKind.QUESTION,
    EntryKind.ACTION,
    EntryKind.PROPOSAL,
    EntryKind.CONSTRAINT,
    EntryKind.TOPIC,
    EntryKind.NOTE,
    EntryKind.REVISION,
    EntryKind.RETRACTION,
    EntryKind.ANSWER,
    EntryKind.CONFIRMATION,
    EntryKind.OBJECTION,
)
OWNERS = (None, "Ben", "田中", "Müller", "佐藤 花子")


def made_of(text: st.SearchStrategy[str]) -> st.SearchStrategy[LedgerView]:
    """Any ledger whose entries are worded by `text`."""

    def build(rows: list[tuple[Any, ...]]) -> LedgerView:
        ledger = Ledger()
        for kind, words, owner, back, value, origin, redacted in rows:
            number = len(ledger.entries) + 1
            ledger.add(
                kind,
                "" if redacted else words,
                origin,
                owner=owner if kind is EntryKind.ACTION else None,
                refers_to=number - back if back and back < number else None,
                value=value if kind is EntryKind.DECISION else None,
                redacted=redacted,
            )
        return ledger.view

    row = st.tuples(
        st.sampled_from(KINDS),
        text,
        st.sampled_from(OWNERS),
        st.integers(0, 5),
        st.sampled_from((None, None, None, -1.0)),
        st.sampled_from((Origin.MARK, Origin.MODEL, Origin.PANEL, Origin.START)),
        st.sampled_from((False, False, False, True)),
    )
    return st.lists(row, max_size=14).map(build)


def fired(made: Scene, found: MinutesOut) -> list[str]:
    """Which rules of the minutes the prose breaks, as `minutes.draft` has them."""
    language, view = made.meeting.language, made.ledger
    owners = {i.owner for i in view.items if i.owner}
    names = (*(s.name for s in made.speakers), *owners)
    facts = RoomFacts(language, made.meeting.title, names=names, titles=made.meeting.agenda)
    texts = [made.meeting.title, *made.meeting.agenda]
    rules = (*rules_for(Route.MINUTES, facts), *prose_rules.all_rules(view, texts, names, say(language)))
    candidate = Candidate(prose_text(found))
    return [rule.name for rule in rules if rule.check(candidate) is not None]


def told(made: Scene, *, again: bool = False) -> MinutesOut:
    found = respond(made, again=again)
    assert isinstance(found, MinutesOut)
    return found


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=150, deadline=None)
@given(
    view=made_of(st.one_of(st.sampled_from((*ORDINARY, *NASTY)), st.text(max_size=60))),
    agenda=st.sampled_from(AGENDAS),
)
def test_what_the_guard_refuses_is_followed_by_what_no_ledger_can_break(
    language: Language, view: LedgerView, agenda: tuple[str, ...]
) -> None:
    made = scene(Route.MINUTES, language, ledger=view, changes={"agenda": agenda})
    assert fired(made, told(made, again=True)) == []


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=150, deadline=None)
@given(view=made_of(st.sampled_from(ORDINARY)), agenda=st.sampled_from(AGENDAS))
def test_the_first_prose_is_in_the_meetings_language_whatever_people_write_in(
    language: Language, view: LedgerView, agenda: tuple[str, ...]
) -> None:
    made = scene(Route.MINUTES, language, ledger=view, changes={"agenda": agenda})
    assert "in_language" not in fired(made, told(made))


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_ordinary_meeting_keeps_its_first_prose(language: Language) -> None:
    ledger = Ledger()
    ledger.add(EntryKind.DECISION, "we ship on Thursday 3 December")
    ledger.add(EntryKind.TOPIC, "Contract")
    ledger.add(EntryKind.ACTION, "Ben renews the contract by 10 December", owner="Ben")
    ledger.add(EntryKind.QUESTION, "do we print in colour?")
    changes = {"agenda": ("Date", "Contract")}
    made = scene(Route.MINUTES, language, ledger=ledger.view, changes=changes)
    assert fired(made, told(made)) == []
    texts = [item.text for item in told(made).items]
    assert "#1" in texts[0]
    assert "#3" in texts[1]


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("ja", "宿題 #1（田中）：「見積を『税込』で出す」。"),
        ("en", 'Action #1 (田中): "見積を「税込」で出す".'),
    ],
)
def test_an_action_says_what_it_is_and_whose(language: Language, line: str) -> None:
    ledger = Ledger()
    ledger.add(EntryKind.ACTION, "見積を「税込」で出す", owner="田中")
    ledger.add(EntryKind.ACTION, "会場を探す")
    ledger.add(EntryKind.PROPOSAL, "毎週集まる")
    made = scene(Route.MINUTES, language, ledger=ledger.view)
    summary = told(made).summary
    assert line in summary.splitlines()
    assert "会場を探す" in summary
    assert "毎週集まる" in summary
    assert fired(made, told(made)) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_would_be_too_much_is_named_by_number(language: Language) -> None:
    ledger = Ledger()
    for n in range(40):
        ledger.add(EntryKind.ACTION, f"x{n} " * 60)
    summary = told(scene(Route.MINUTES, language, ledger=ledger.view)).summary
    assert "x0 x0" not in summary
    assert all(f"#{n}" in summary for n in range(1, 41))


def test_everything_of_one_of_everything_is_told() -> None:
    made = scene(Route.MINUTES, "ja", ledger=full().view, changes={"agenda": ("価格", "日程")})
    assert fired(made, told(made)) == []

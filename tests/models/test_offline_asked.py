"""The facilitator is asked about the meeting under way and answers from clock, agenda and people."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.guard.model import Candidate
from bot.guard.table import RoomFacts, rules_for
from bot.meeting.model import EntryKind, Language, Route, Scene
from bot.models.offline import respond
from bot.prompts.outputs import TurnOut
from tests.minutes.made import view
from tests.models.scenes import AGENDA, PEOPLE, TITLE, scene


def asked(language: Language, text: str, **changes: object) -> Scene:
    made = scene(Route.TURN, language, (1, text), **changes)  # type: ignore[arg-type]
    return replace(made, addressed_by=made.unread[-1])


def told(made: Scene) -> str:
    found = respond(made)
    assert isinstance(found, TurnOut)
    return found.response


LEFT = {
    "ja": ["@Ketsugi あと何分ですか", "@Ketsugi 残り時間は？", "@Ketsugi 何時に終わりますか？"],
    "en": [
        "@Ketsugi how much time is left?",
        "@Ketsugi how many minutes do we have left",
        "@Ketsugi when do we finish?",
    ],
}
NEXT = {
    "ja": ["@Ketsugi 次の議題は何ですか", "@Ketsugi 次は何？"],
    "en": ["@Ketsugi what is next on the agenda?", "@Ketsugi what's next?"],
}
NOW = {
    "ja": ["@Ketsugi いま何の話ですか？", "@Ketsugi 今の議題は？"],
    "en": ["@Ketsugi what are we talking about?", "@Ketsugi which item are we on?"],
}
SILENT = {
    "ja": ["@Ketsugi まだ発言していない人は？", "@Ketsugi 誰がまだ話していませんか"],
    "en": ["@Ketsugi who has not spoken?", "@Ketsugi who hasn't said anything yet?"],
}
THANKS = {
    "ja": ["@Ketsugi ありがとう", "@Ketsugi ありがとうございます！"],
    "en": ["@Ketsugi thanks", "Thank you, @Ketsugi!"],
}
CASES = [
    (lang, text) for table in (LEFT, NEXT, NOW, SILENT, THANKS) for lang in table for text in table[lang]
]


@pytest.mark.parametrize(("language", "text"), [(la, s) for la in LEFT for s in LEFT[la]])  # type: ignore[index]
def test_time_left(language: Language, text: str) -> None:
    made = asked(language, text)
    left = replace(made, now=made.meeting.planned_end - timedelta(minutes=12, seconds=20))
    assert "13" in told(left)
    over = replace(made, now=made.meeting.planned_end + timedelta(minutes=4))
    assert "4" in told(over)
    assert told(over) != told(left)


@pytest.mark.parametrize(("language", "text"), [(la, s) for la in NEXT for s in NEXT[la]])  # type: ignore[index]
def test_what_comes_next(language: Language, text: str) -> None:
    assert AGENDA[language][1] in told(asked(language, text))
    ledger = view((EntryKind.TOPIC, AGENDA[language][1]))
    assert AGENDA[language][1] not in told(asked(language, text, ledger=ledger))
    assert "議題は" in told(asked(language, text, changes={"agenda": ()})) or language == "en"


@pytest.mark.parametrize(("language", "text"), [(la, s) for la in NOW for s in NOW[la]])  # type: ignore[index]
def test_what_is_on(language: Language, text: str) -> None:
    assert AGENDA[language][0] in told(asked(language, text))
    ledger = view((EntryKind.TOPIC, AGENDA[language][1]))
    assert AGENDA[language][1] in told(asked(language, text, ledger=ledger))


@pytest.mark.parametrize(("language", "text"), [(la, s) for la in SILENT for s in SILENT[la]])  # type: ignore[index]
def test_who_has_not_spoken(language: Language, text: str) -> None:
    made = asked(language, text)
    assert PEOPLE[language][2] in told(replace(made, silent=(PEOPLE[language][2],)))
    assert PEOPLE[language][2] not in told(made)


@pytest.mark.parametrize(("language", "text"), [(la, s) for la in THANKS for s in THANKS[la]])  # type: ignore[index]
def test_thanks_are_answered_shortly(language: Language, text: str) -> None:
    assert told(asked(language, text)) == ("どういたしまして。" if language == "ja" else "You're welcome.")


@pytest.mark.parametrize(
    ("language", "text", "answer"),
    [
        ("ja", "@Ketsugi 未決事項は？", "未決事項はありません。"),
        ("ja", "@Ketsugi 決まったことは？", "まだ決まったことはありません。"),
        ("en", "@Ketsugi any open questions?", "No question is open."),
        ("en", "@Ketsugi what was decided?", "Nothing has been decided yet."),
    ],
)
def test_an_empty_kind_is_said_to_be_empty(language: Language, text: str, answer: str) -> None:
    assert told(asked(language, text)) == answer


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ja", "@Ketsugi 次のリリースはどうしますか？"),
        ("ja", "@Ketsugi テストはいつ終わりますか？"),
        ("ja", "@Ketsugi いま何を使っていますか？"),
        ("en", "@Ketsugi how much time does the test take?"),
        ("en", "@Ketsugi when do we finish the translation?"),
        ("en", "@Ketsugi where are we meeting?"),
    ],
)
def test_other_questions_are_left_to_the_record(language: Language, text: str) -> None:
    said = told(asked(language, text))
    assert "記録" in said or "record" in said


@pytest.mark.parametrize(("language", "text"), CASES)
def test_the_guard_lets_every_answer_pass(language: Language, text: str) -> None:
    made = replace(asked(language, text), silent=(PEOPLE[language][2],))
    left = (made.meeting.planned_end - made.now).total_seconds() / 60
    facts = RoomFacts(
        language,
        TITLE[language],
        names=PEOPLE[language],
        titles=AGENDA[language],
        record=lambda: (TITLE[language], *AGENDA[language], text),
        allowed=(left,),
    )
    for rule in rules_for(Route.TURN, facts):
        assert rule.check(Candidate(told(made))) is None, (rule.name, told(made))

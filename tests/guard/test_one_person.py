"""The one-person loop of the first incident: a model that always comes back with the same question."""

from __future__ import annotations

import pytest

from bot.guard.model import Source
from bot.guard.similarity import repeats
from bot.guard.table import RoomFacts, rules_for
from bot.meeting.answers import is_answer
from bot.meeting.model import LANGUAGES, Language, Route
from bot.meeting.replies import last_question
from bot.phrases import words
from tests.guard.scripted import Say, play

_ASKS: dict[Language, str] = {
    "ja": "新しい料金表の案について、どう思いますか？",
    "en": "What do you think of the new price list?",
}
_MOVES_ON: dict[Language, str] = {
    "ja": "ありがとうございます。では、いつから切り替えるかを決めましょう。",
    "en": "Thank you. Then let's settle from when on it applies.",
}
_FALLBACK: dict[Language, str] = {"ja": "はい、承知しました。続けてください。", "en": "Got it. Please go on."}
_ANSWERS: dict[Language, tuple[str, ...]] = {
    "ja": ("とっても良いと思います", "進めましょう！", "いや、別の案で", "賛成です"),
    "en": ("I like it a lot", "sounds good", "no, another way", "let's do it!"),
}


def _room(language: Language, own: list[str], said: list[str]) -> RoomFacts:
    """What the room holds after the bot's posts `own` and what the one person said since the last of them."""
    question = last_question(own[-1]) if own else None
    return RoomFacts(
        language,
        question=question,
        answered=lambda: (
            question is not None and any(is_answer(question, text, words(language)) for text in said)
        ),
        human_since=lambda: len(said),
        alike=len(own) > 1 and repeats(own[-1], (own[-2],), language) is not None,
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_question_is_never_posted_twice(language: Language) -> None:
    for answer in _ANSWERS[language]:
        own = [_ASKS[language]]
        for _ in range(4):
            played = play(
                Say(_ASKS[language]),
                Say(_ASKS[language]),
                rules=rules_for(Route.TURN, _room(language, own, [answer])),
                fallback=_FALLBACK[language],
                recent=tuple(own),
                language=language,
            )
            assert played.generated.text is not None
            own.append(played.generated.text)
            if last_question(own[-1]) is None:
                break
        assert own.count(_ASKS[language]) == 1, (answer, own)


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_answer_in_any_form_lets_the_model_move_on(language: Language) -> None:
    for answer in _ANSWERS[language]:
        played = play(
            Say(_MOVES_ON[language]),
            rules=rules_for(Route.TURN, _room(language, [_ASKS[language]], [answer])),
            fallback=_FALLBACK[language],
            language=language,
        )
        assert (played.generated.text, played.generated.source) == (_MOVES_ON[language], Source.FIRST), answer


@pytest.mark.parametrize("language", LANGUAGES)
def test_asked_twice_in_vain_it_gives_up(language: Language) -> None:
    own = [_ASKS[language], _ASKS[language]]
    played = play(
        Say(_ASKS[language]),
        Say(_MOVES_ON[language]),
        rules=rules_for(Route.TURN, _room(language, own, ["…"])),
        fallback=_FALLBACK[language],
        language=language,
    )
    assert (played.generated.text, played.generated.source) == (_MOVES_ON[language], Source.REPHRASED)


@pytest.mark.parametrize("language", LANGUAGES)
def test_unanswered_the_note_is_conditional(language: Language) -> None:
    other = "ロゴの色の話をしましょう。" if language == "ja" else "Let's talk about the logo."
    aside = "おはようございます" if language == "ja" else "good morning"
    played = play(
        Say(other),
        Say(_MOVES_ON[language]),
        rules=rules_for(Route.TURN, _room(language, [_ASKS[language]], [aside])),
        fallback=_FALLBACK[language],
        language=language,
    )
    note = played.model.requests[1].prompt.note
    assert _ASKS[language] in note
    assert ("まだ誰も答えていないようなら" if language == "ja" else "If nobody has answered it yet") in note
    assert played.generated.text is not None

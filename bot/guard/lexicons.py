"""The lexicon of each language, out of phrase book and word lists."""

from __future__ import annotations

from functools import cache

from bot.guard.wording import Lexicon
from bot.meeting.model import LANGUAGES, Language
from bot.meeting.synonyms import Synonyms
from bot.phrases import book, words


@cache
def lexicon_of(language: Language) -> Lexicon:
    phrases = {key: text for key, text in book(language).items() if key.startswith("guard.")}
    return Lexicon(language, words(language), phrases)


def lexicons() -> tuple[Lexicon, ...]:
    return tuple(lexicon_of(language) for language in LANGUAGES)


@cache
def synonyms() -> Synonyms:
    """The groups of every language together: a question may be in one and the record in the other."""
    return Synonyms.of(words(language) for language in LANGUAGES)

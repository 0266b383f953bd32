"""Days as people write them, and two languages that have the same to say."""

from __future__ import annotations

import string
from datetime import date

import pytest

from bot.meeting.model import Language
from bot.phrases import DATA, book, short_day, t, words

NEAR = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("due", "language", "shown"),
    [
        ("2027-01-16", "en", "Sat 16 Jan"),
        ("2027-01-16", "ja", "1月16日（土）"),
        ("2025-01-16", "en", "Thu 16 Jan 2025"),
        ("2028-01-16", "ja", "2028年1月16日（日）"),
        ("リリース前", "ja", "リリース前"),
        ("before the release", "en", "before the release"),
    ],
)
def test_a_day_has_its_year_only_where_it_could_be_mistaken(due: str, language: Language, shown: str) -> None:
    assert short_day(due, language, NEAR) == shown


def _fields(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


def test_both_languages_have_every_phrase_with_the_same_placeholders() -> None:
    ja, en = book("ja"), book("en")
    # Variants of the offline engine's sentences are numbered; each language may have its own number of them.
    assert {k for k in ja if not k.startswith("offline.")} == {k for k in en if not k.startswith("offline.")}
    assert {k.rsplit(".", 1)[0] for k in ja} == {k.rsplit(".", 1)[0] for k in en}
    different = {k for k in ja.keys() & en.keys() if _fields(ja[k]) != _fields(en[k])}
    assert not different


def test_both_languages_have_every_list_of_words() -> None:
    assert set(words("ja").lists) == set(words("en").lists)


def test_an_unknown_language_reads_english() -> None:
    assert t("closing.goodbye", "fr") == t("closing.goodbye", "en")


def test_no_phrase_is_left_without_a_use() -> None:
    """A phrase that nothing names is dead text; tables whose keys are made up at run time are named here."""
    sources = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("bot", "cogs")
        for path in (DATA.parent / folder).rglob("*.py")
    )
    made_up = (
        "offline.",
        "guard.",
        "command.",
        "minutes",
        "board.",
        "readback.",
        "eval.",
        "rehearsal.",
        "day.",
        "notice.cap_",
    )
    dead = [
        key
        for key in book("en")
        if not key.startswith(made_up) and f'"{key}"' not in sources and key.rsplit(".", 1)[-1] not in sources
    ]
    assert dead == []

"""The phrase book: every text people see that no model wrote, and the words the domain recognises.

data/phrases/<language>.toml holds nested tables of templates ("error.no_meeting" = table error, key
no_meeting), data/words/<language>.toml the word lists. Loaded once, at first use.
"""

from __future__ import annotations

import tomllib
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from bot.meeting.model import LANGUAGES
from bot.meeting.words import Words

DATA = Path(__file__).resolve().parent.parent / "data"


def _flatten(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            flat.update(_flatten(value, f"{name}."))
        else:
            flat[name] = value
    return flat


@cache
def book(language: str) -> dict[str, str]:
    """All templates of one language, flat, by dotted key."""
    path = DATA / "phrases" / f"{language}.toml"
    return {k: str(v) for k, v in _flatten(tomllib.loads(path.read_text(encoding="utf-8"))).items()}


def t(key: str, language: str, /, **values: object) -> str:
    """The phrase `key` in `language` with `values` filled in.

    A language without a book reads the English one: someone with a third language set in Discord is
    answered in English. An unknown key raises KeyError, which the parity test keeps from happening.
    """
    return book(language if language in LANGUAGES else "en")[key].format(**values)


def short_day(due: str, language: str, near: date) -> str:
    """An ISO day as people write it ("Fri 16 Jan"), its year where it is not within months of `near`.

    Anything else, such as "before the release", comes back as it is.
    """
    try:
        day = date.fromisoformat(due)
    except ValueError:
        return due
    form = "day.short" if abs((day - near).days) < 300 else "day.short_year"
    weekday, month = t(f"minutes.weekday_{day.weekday()}", language), t(f"day.month_{day.month}", language)
    return t(form, language, year=day.year, month=month, day=day.day, weekday=weekday)


@cache
def words(language: str) -> Words:
    """The word lists of one language, each word folded as `meeting.text.fold` folds what people write."""
    from bot.meeting.text import fold

    path = DATA / "words" / f"{language}.toml"
    flat = _flatten(tomllib.loads(path.read_text(encoding="utf-8")))
    return Words(language, {name: tuple(fold(w) for w in ws) for name, ws in flat.items()})

"""The words and reasons of one language as rules use them. Pure: `guard.table.lexicon` does the loading.

Patterns stand in data/words/<language>.toml, table `guard`, as regular expressions over `plain` text: lower
case, one width, katakana as hiragana, no emphasis marks, lines kept. <who> in a pattern is the assistant's
name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from bot.meeting.model import Language
from bot.meeting.text import fold_kana
from bot.meeting.words import Words

_EMPHASIS = re.compile(r"[*_~`|]+")
_SENTENCE_END = re.compile(r"(?<=[。!?！？])|(?<=\.)\s|\n")
_ORNAMENT = re.compile(r"^[^\w@<「『\"“]+")  # emoji and list marks before the first word
_NEVER = re.compile(r"(?!)")


def plain(text: str) -> str:
    """Line by line folded in width, case and kana, without emphasis marks: what every rule reads."""
    lines = (fold_kana(_EMPHASIS.sub("", line)) for line in text.splitlines())
    return "\n".join(line for line in lines if line).replace("’", "'").replace("‘", "'")


def sentences(text: str) -> list[str]:
    """The sentences of `plain` text, trimmed, without ornament in front, empty ones left out."""
    return [s for s in (_ORNAMENT.sub("", part).strip() for part in _SENTENCE_END.split(text)) if s]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """`phrases` are the templates of the phrase book's table `guard` by their full key."""

    language: Language
    words: Words
    phrases: Mapping[str, str]

    def reason(self, rule: str, **values: object) -> str:
        return self.phrases[f"guard.reason.{rule}"].format(**values)

    def sentence(self, name: str, **values: object) -> str:
        return self.phrases[f"guard.add.{name}"].format(**values)

    def pattern(self, name: str) -> re.Pattern[str]:
        """The alternatives of the list `guard.<name>` as one pattern; one that never matches for an empty
        list.
        """
        names = self.words.lists.get("guard.assistant_names", ())
        return _compiled(self.words.lists.get(f"guard.{name}", ()), names)

    def list(self, name: str) -> tuple[str, ...]:
        return self.words.lists.get(f"guard.{name}", ())


@lru_cache(maxsize=256)
def _compiled(alternatives: tuple[str, ...], names: tuple[str, ...]) -> re.Pattern[str]:
    if not alternatives:
        return _NEVER
    spaced = "|".join(r"\s*".join(re.escape(c) for c in fold_kana(name)) for name in names)
    joined = "|".join(f"(?:{fold_kana(a)})" for a in alternatives)
    return re.compile(joined.replace("<who>", f"(?:{spaced})") if names else joined)

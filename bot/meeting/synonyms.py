"""Words that mean the same to whoever asks: release, ship, リリース, 公開. Pure; the groups are data.

The table `synonyms` of data/words holds one list a group; lists of one name in two languages are one group.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

from bot.meeting.terms import stem, terms
from bot.meeting.text import fold_kana
from bot.meeting.words import Words

_PREFIX = "synonyms."
_KANJI = r"[\u3400-\u4dbf\u4e00-\u9fff々]"
_ENGLISH = re.compile(r"[a-z0-9][a-z0-9'-]*")


@dataclass(frozen=True)
class Synonyms:
    groups: tuple[tuple[str, tuple[str, ...]], ...]  # name, words

    @classmethod
    def of(cls, books: Iterable[Words]) -> Synonyms:
        """From the word lists of every language."""
        joined: dict[str, list[str]] = {}
        for book in books:
            for name, words in book.lists.items():
                if name.startswith(_PREFIX):
                    joined.setdefault(name, []).extend(words)
        return cls(tuple((name.removeprefix(_PREFIX), tuple(words)) for name, words in joined.items()))

    @cached_property
    def _terms(self) -> tuple[tuple[tuple[str, frozenset[str]], ...], ...]:
        return tuple(tuple((w, terms(w)) for w in group) for _, group in self.groups)

    def alike(self, found: Collection[str]) -> frozenset[str]:
        """Terms (as `meeting.terms` makes them) of every word that means the same as one among `found`."""
        more: set[str] = set()
        for group in self._terms:
            if any(t and t <= set(found) for _, t in group):
                more.update(*(t for _, t in group))
        return frozenset(more)

    def others(self, text: str) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
        """(group, word of `text`, the group's other words) for every group of which a word stands in it."""
        folded = fold_kana(text)
        stems = {stem(w) for w in _ENGLISH.findall(folded)}
        found = []
        for name, group in self.groups:
            here = next((w for w in group if self._stands(w, folded, stems)), None)
            if here is not None:
                found.append((name, here, tuple(w for w in group if w != here)))
        return tuple(found)

    @staticmethod
    def _stands(word: str, folded: str, stems: set[str]) -> bool:
        key = fold_kana(word)
        if key.isascii() and " " not in key:
            return stem(key) in stems
        return stands(key, folded)


def stands(word: str, folded: str) -> bool:
    """Whether a Japanese word is in a text; one of a single character stands by itself: 宿 is not in 宿題."""
    if len(word) > 1:
        return word in folded
    return re.search(rf"(?<!{_KANJI}){re.escape(word)}(?!{_KANJI})", folded) is not None

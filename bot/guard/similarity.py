"""Does a post say again what an earlier one said? Pure.

Japanese: Jaccard coefficient of character bigrams, 0.30 at ordinary length. English has so few letters that
texts of 250 characters on different subjects share a median of 0.37 of their bigrams; of their trigrams they
share 0.09, so trigrams are compared there. Chance grows with length in both (Japanese bigrams 0.06 at 120
characters, 0.13 at 500; English trigrams 0.05 and 0.14), so the longest texts have a higher threshold. In a
short question the form ("...はありますか", "What are the ... of") outweighs the matter; there the mean of the
coefficient and of that of the content terms is taken: F 0.96 instead of 0.89 (ja), 0.98 instead of 0.95 (en).

Measured on the pairs of tests/guard/data/similarity_*.jsonl; tests/guard/test_similarity.py holds the floors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.meeting.model import Language
from bot.meeting.terms import terms
from bot.meeting.text import fold

_NOISE = re.compile(r"[\W_]+")
_GRAM: dict[Language, int] = {"ja": 2, "en": 3}
# Letters and digits of the shorter text up to which content terms count as well.
SHORT: dict[Language, int] = {"ja": 40, "en": 80}
LONG = 400
# Thresholds of short, ordinary and long pairs.
THRESHOLDS: dict[Language, tuple[float, float, float]] = {"ja": (0.34, 0.30, 0.35), "en": (0.38, 0.30, 0.36)}


def similarity(a: str, b: str, language: Language = "ja") -> float:
    """Jaccard coefficient of character n-grams after folding width and case, 0.0 to 1.0; n = 2 (ja) or 3
    (en).
    """
    return _jaccard(_grams(_letters(a), _GRAM[language]), _grams(_letters(b), _GRAM[language]))


def repeats(text: str, recent: Sequence[str], language: Language) -> str | None:
    """The newest of the earlier texts (oldest first) that `text` repeats, or None."""
    return next((earlier for earlier in reversed(recent) if alike(text, earlier, language)), None)


def alike(a: str, b: str, language: Language) -> bool:
    """Do two posts say the same? Measure and threshold go by the shorter one's length."""
    value = similarity(a, b, language)
    length = min(len(_letters(a)), len(_letters(b)))
    short, ordinary, long = THRESHOLDS[language]
    if length <= SHORT[language]:
        mine, other = terms(a), terms(b)
        return (value + _jaccard(mine, other)) / 2 >= short if mine or other else value >= ordinary
    return value >= (ordinary if length <= LONG else long)


def _letters(text: str) -> str:
    return _NOISE.sub("", fold(text))


def _grams(letters: str, size: int) -> frozenset[str]:
    return frozenset(letters[i : i + size] for i in range(len(letters) - size + 1)) or frozenset((letters,))


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b)

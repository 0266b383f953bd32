"""Does a post say again what an earlier one said? Pure.

Japanese: Jaccard coefficient of character bigrams, 0.30 at ordinary length. English has so few letters that
texts of 250 characters on different subjects share a median of 0.37 of their bigrams; of their trigrams they
share 0.09, so trigrams are compared there. Chance grows with length in both (Japanese bigrams 0.06 at 120
characters, 0.13 at 500; English trigrams 0.05 and 0.14), and a short question has few grams to keep when it is
turned round, so the threshold goes by the length of the shorter text. Measured on the pairs of
tests/guard/data/similarity_*.jsonl; tests/guard/test_similarity.py holds the floors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.meeting.model import Language
from bot.meeting.text import fold

_NOISE = re.compile(r"[\W_]+")
_GRAM: dict[Language, int] = {"ja": 2, "en": 3}
# (characters of the shorter text up to which it holds, threshold), letters and digits only
THRESHOLDS: dict[Language, tuple[tuple[int, float], ...]] = {
    "ja": ((30, 0.24), (400, 0.30), (10**9, 0.35)),
    "en": ((80, 0.25), (400, 0.30), (10**9, 0.36)),
}


def similarity(a: str, b: str, language: Language = "ja") -> float:
    """Jaccard coefficient of character n-grams after folding width and case, 0.0 to 1.0; n = 2 (ja) or 3 (en)."""
    return _jaccard(_grams(_letters(a), _GRAM[language]), _grams(_letters(b), _GRAM[language]))


def repeats(text: str, recent: Sequence[str], language: Language) -> str | None:
    """The newest of the earlier texts (oldest first) that `text` repeats, or None."""
    mine = _letters(text)
    grams = _grams(mine, _GRAM[language])
    for earlier in reversed(recent):
        other = _letters(earlier)
        value = _jaccard(grams, _grams(other, _GRAM[language]))
        if value >= threshold(min(len(mine), len(other)), language):
            return earlier
    return None


def threshold(length: int, language: Language) -> float:
    """From which coefficient on two texts count as one, by the length of the shorter (letters and digits)."""
    return next(value for limit, value in THRESHOLDS[language] if length <= limit)


def _letters(text: str) -> str:
    return _NOISE.sub("", fold(text))


def _grams(letters: str, size: int) -> frozenset[str]:
    return frozenset(letters[i : i + size] for i in range(len(letters) - size + 1)) or frozenset((letters,))


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b)

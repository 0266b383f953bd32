"""Numbers as people write them: digits, number words of English, kanji numerals. Grammar only, no units."""

from __future__ import annotations

import re
from itertools import pairwise

_UNIT_WORDS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen"""
_TEN_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINAL_WORDS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_UNITS = {w: n for n, w in enumerate(_UNIT_WORDS.split())}
_TENS = {w: 10 * n for n, w in enumerate(_TEN_WORDS.split(), start=2)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "dozen": 12}
_WORDS = {**_UNITS, **_TENS}
ORDINALS = {w: n for n, w in enumerate(_ORDINAL_WORDS.split(), start=1)}

_ONE_WORD = "|".join(sorted((*_WORDS, *_SCALES), key=len, reverse=True))
ENGLISH = rf"(?:(?:an?[ ]+(?=(?:hundred|thousand|million|billion|dozen)\b))?(?:{_ONE_WORD})\b)"
ENGLISH += rf"(?:(?:[ ]+and[ ]+|[ ]+point[ ]+|[ ]*-[ ]*|[ ]+)(?:{_ONE_WORD})\b)*"

KANJI_DIGITS = {c: n for n, c in enumerate("〇一二三四五六七八九")} | {"零": 0, "壱": 1, "弐": 2, "参": 3}
_KANJI_SCALES = {"十": 10, "百": 100, "千": 1_000}
_KANJI_GROUPS = {"万": 10_000, "億": 100_000_000, "兆": 1_000_000_000_000}
KANJI = "[〇零一二三四五六七八九十百千万億兆]+"
DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_LETTER_SCALES = {
    "k": 1e3,
    "m": 1e6,
    "bn": 1e9,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "hundred": 1e2,
}


def kanji_value(text: str) -> float:
    """Value of kanji numerals (二百五十 = 250, 二〇二六 = 2026). `text` matches KANJI."""
    if not any(c in _KANJI_SCALES or c in _KANJI_GROUPS for c in text):
        return float("".join(str(KANJI_DIGITS[c]) for c in text))
    total = group = digit = 0
    for c in text:
        if c in _KANJI_GROUPS:
            total += max(group + digit, 1) * _KANJI_GROUPS[c]
            group = digit = 0
        elif c in _KANJI_SCALES:
            group += max(digit, 1) * _KANJI_SCALES[c]
            digit = 0
        else:
            digit = digit * 10 + KANJI_DIGITS[c]
    return float(total + group + digit)


def mixed_value(text: str) -> float:
    """Value of digits with scales: 500k, 1.5 million, 50万, 1億2000万, 3千, 1,000."""
    total = 0.0
    for number, scale in re.findall(rf"({DIGITS})\s*([万億兆千百]+|[a-z]*)", text.lower()):
        value = float(number.replace(",", ""))
        for c in scale if scale[:1] in "万億兆千百" else ():
            value *= _KANJI_GROUPS.get(c) or _KANJI_SCALES[c]
        total += value * _LETTER_SCALES.get(scale, 1)
    return total


def english_values(text: str) -> list[tuple[float, bool]]:
    """Readings of a run of English number words, as (value, sure).

    "twenty-five" is 25, "a hundred and fifty" 150, "five point six" 5.6. Words that do not add up are several
    numbers ("one two three"); spoken prices ("twelve fifty") give 12.50 beside them, unsure like its parts.
    """
    tokens = [w for w in re.split(r"[\s-]+", text.lower()) if w not in ("a", "an", "and", "")]
    numbers: list[float] = []
    current: float | None = None
    room = 0.0  # a smaller word than this may still be added to the current number
    decimals = 0
    for token in tokens:
        if token == "point":
            decimals = 1
        elif decimals and current is not None and _WORDS.get(token, 99) < 10:
            current += _WORDS[token] / 10**decimals
            decimals += 1
        elif token in _SCALES:
            scale = _SCALES[token]
            if current is None or current == 0:
                current, room = float(scale), float(scale)
            elif scale == 100 or current < 1000:
                hundreds = current % 1000 if scale > 100 else current
                current, room = (current - hundreds) + hundreds * scale, float(scale)
            else:
                current, room = current // 1000 * 1000 + (current % 1000) * scale, float(scale)
        elif current is not None and _WORDS[token] < room:
            current += _WORDS[token]
            room = 10.0 if token in _TENS else 0.0
        else:
            if current is not None:
                numbers.append(current)
            current, decimals = float(_WORDS[token]), 0
            room = 10.0 if token in _TENS else 0.0
    if current is not None:
        numbers.append(current)
    alone = len(numbers) == 1
    readings = [(n, alone) for n in numbers]
    pairs = pairwise(numbers)
    readings += [(a + b / 100, False) for a, b in pairs if a < 100 and 10 <= b < 100]
    return readings

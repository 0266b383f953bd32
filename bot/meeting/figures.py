"""Figures of a text: numbers with their unit, dates, times, ranges, in both languages and any notation.

Two texts are compared by their figures, never by their digits: "twenty-five minutes", "２５分" and "25 min"
are one.
A number in another unit is another figure; a number whose unit one side leaves out is the same one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from bot.meeting import notation
from bot.meeting import numerals as n
from bot.meeting.notation import DAY, WEEK
from bot.meeting.text import strip_invisible


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure. `value` is in the canonical unit, `raw` the number as said; `span` are offsets into the
    text.

    unit: "min" (durations), "month", "%", "円", "$", "人" ...; "date" (value = month * 100 + day),
    "monthname", "year", "weekday" (0 = Monday), "time" (minutes of the day), or "" where none is said.
    `sure` is False where the words may be no figure at all ("one", "first", "half"): such a figure supports,
    but never accuses.
    """

    value: float
    unit: str
    span: tuple[int, int]
    written: str
    raw: float
    sure: bool = True

    @property
    def is_date(self) -> bool:
        return self.unit in ("date", "monthname", "year", "weekday")


class _Scan:
    """The text, widths folded, with what has been read blanked out; spans lead back to the original."""

    def __init__(self, text: str) -> None:
        self.original = text
        chars: list[str] = []
        self.back: list[int] = []
        i = 0
        while i < len(text):
            j = i + 1
            while j < len(text) and text[j] in "ﾞﾟ\u3099\u309a":
                j += 1
            folded = strip_invisible(unicodedata.normalize("NFKC", text[i:j]))
            chars += folded
            self.back += [i] * len(folded)
            i = j
        self.back.append(len(text))
        self.text = "".join(chars).replace("’", "'").replace("−", "-")
        self.found: list[Figure] = []

    def blank(self, start: int, end: int) -> None:
        self.text = self.text[:start] + "\0" * (end - start) + self.text[end:]

    def add(
        self, start: int, end: int, value: float, unit: str, raw: float | None = None, sure: bool = True
    ) -> None:
        a = self.back[start]
        b = self.back[end] if end < len(self.back) else len(self.original)
        written = self.original[a:b].strip()
        value = round(value, 6)
        self.found.append(Figure(value, unit, (a, b), written, round(value if raw is None else raw, 6), sure))


def _small(text: str) -> int:
    return int(text) if text.isdigit() else int(n.kanji_value(text))


def _read_dates(scan: _Scan) -> None:
    for pattern in notation.DATES:
        for m in pattern.finditer(scan.text):
            g = m.groupdict()
            month = notation.MONTHS[g["mw"].lower().rstrip(".")] if g.get("mw") else _small(g["m"])
            day = _small(g["d"])
            if not (1 <= month <= 12 and 1 <= day <= 31):
                continue
            scan.add(*m.span(), month * 100 + day, "date")
            if g.get("y"):
                scan.add(*m.span(), float(g["y"]), "year")
            if pattern is notation.DATES[-1] and day in range(2, 10) and month < day:
                scan.add(*m.span(), 100 * month / day, "%", raw=month / day, sure=False)
            scan.blank(*m.span())
    for m in notation.MONTH_ALONE.finditer(scan.text):
        name = m["mw"] or m["mp"]
        start = m.start("mw") if m["mw"] else m.start("mp") if m["mp"] else m.start()
        scan.add(start, m.end(), notation.MONTHS[name.lower()] if name else _small(m["m"]), "monthname")
        scan.blank(start, m.end())
    for m in notation.WEEKDAY.finditer(scan.text):
        kanji = m["k"] or m["p"]
        day = notation.KANJI_DAYS.index(kanji) if kanji else notation.WEEKDAYS.index(m["w"].lower())
        scan.add(*m.span(), day, "weekday")
        scan.blank(*m.span())


def _read_times(scan: _Scan) -> None:
    for pattern in notation.TIMES:
        for m in pattern.finditer(scan.text):
            g = m.groupdict()
            hour = _small(g["h"])
            minute = 30 if g.get("half_past") else _small(g["mi"]) if g.get("mi") else 0
            if hour > 24 or minute > 59:
                continue
            half = g.get("half") or ""
            if hour < 12 and ((g.get("ap") or "").lower() == "p" or half in ("午後", "夕方", "夜")):
                hour += 12
            scan.add(*m.span(), hour * 60 + minute, "time", raw=_small(g["h"]))
            scan.blank(*m.span())


def _read_fractions(scan: _Scan) -> None:
    for m in notation.FRACTION.finditer(scan.text):
        a, b = (m["a"], m["b"]) if m["a"] else (m["a2"], m["b2"])
        if _small(b):
            scan.add(*m.span(), 100 * _small(a) / _small(b), "%", raw=_small(a) / _small(b))
            scan.blank(*m.span())
    for m in notation.ENGLISH_FRACTION.finditer(scan.text):
        if m["b"].lower() == "half" and m["a"].lower() in ("a", "an"):
            continue
        top = {"two": 2, "three": 3}.get(m["a"].lower(), 1)
        bottom = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}[m["b"].lower()]
        scan.add(*m.span(), 100 * top / bottom, "%", raw=top / bottom, sure=False)
        scan.blank(*m.span())
    for m in notation.HALF_OF.finditer(scan.text):
        word = (m["u"] or m["e"]).lower()
        value, unit = {
            "日": (DAY / 2, "min"), "day": (DAY / 2, "min"), "時間": (30, "min"), "hour": (30, "min"),
            "年": (6, "month"), "year": (6, "month"), "月": (0.5, "month"), "month": (0.5, "month"),
            "week": (WEEK / 2, "min"), "dozen": (6, ""),
        }[word]  # fmt: skip
        scan.add(*m.span(), value, unit, raw=6 if word == "dozen" else 0.5)
        scan.blank(*m.span())


def _unit_at(text: str, at: int) -> tuple[str, float, int] | None:
    """(unit, factor, end) of the unit that begins at `at`; the longest spelling wins."""
    best: tuple[str, float, int] | None = None
    for unit, factor, pattern in notation.MARKED:
        m = pattern.match(text, at)
        if m and (best is None or m.end() > best[2]):
            best = (unit, factor, m.end())
    return best


def _half_more(text: str, end: int, unit: str) -> tuple[float, int]:
    """The "半" of 1時間半 and the "and a half" of two and a half hours, as a share of one unit."""
    m = notation.HALF_MORE.match(text, end)
    return (0.5, m.end()) if m and unit in ("min", "month", "倍", "") else (0.0, end)


def _measure(text: str, m: re.Match[str]) -> tuple[str, float, float, int]:
    """(unit, factor, halves to add, end) of the number matched at `m`."""
    start, end = m.span()
    before = text[start - 1] if start else " "
    if m["digits"] and before.isascii() and before.isalpha():
        return "", 1.0, 0.0, end  # RFC3986, x1: a name with a number in it
    half, end = _half_more(text, end, "")
    unit, factor, stop = _unit_at(text, end) or ("", 1.0, end)
    currency = m["c"] or m["c2"]
    if currency:
        unit, factor, stop = notation.CURRENCY[currency], 1.0, max(stop, end)
    more, stop = _half_more(text, stop, unit)
    return unit, factor, half + more, stop


def _read_numbers(scan: _Scan) -> None:
    pending: list[int] = []  # indexes of figures of an unfinished range, which take the unit of its end
    last_end = -1
    for m in notation.NUMBER.finditer(scan.text):
        readings, sure = _readings(scan.text, m)
        if not readings:
            continue
        start = m.start()
        unit, factor, halves, stop = _measure(scan.text, m)
        counted = stop > m.end()
        if m["kanji"] and not counted and len(m["kanji"]) < 2:
            continue  # a lone kanji digit with no counter is part of a word
        value = readings[0][0]
        if unit == "month" and factor == 12 and 1900 <= value <= 2200:
            unit, factor = "year", 1.0
        sure = sure and not _may_be_a_word(m, value, unit, counted)
        if notation.RANGE.fullmatch(scan.text[max(last_end, 0) : start]) is None:
            pending = []
        if unit:
            for i in pending:
                old = scan.found[i]
                scan.found[i] = replace(old, value=round(old.raw * factor, 6), unit=unit)
            pending = []
        scan.add(start, stop, (value + halves) * factor, unit, raw=value + halves, sure=sure)
        if not unit:
            pending.append(len(scan.found) - 1)
        for other, _ in readings[1:]:
            scan.add(start, stop, other * factor, unit, raw=other, sure=False)
        last_end = stop


def _may_be_a_word(m: re.Match[str], value: float, unit: str, counted: bool) -> bool:
    """ "one" and 一つ are pronouns more often than figures; kanji without a counter may be a name."""
    if m["kanji"] and not counted:
        return not (set(m["kanji"]) & set("十百千万億") and set(m["kanji"]) & set("一二三四五六七八九"))
    return value == 1 and not unit and bool(m["kanji"] or (m["words"] and not counted))


def _readings(text: str, m: re.Match[str]) -> tuple[list[tuple[float, bool]], bool]:
    if m["dotted"]:
        return [(float(int(re.sub(r"\D", "", m["dotted"])[:15])), True)], True
    if m["digits"]:
        return [(n.mixed_value(m["digits"]), True)], True
    if m["kanji"]:
        before = text[m.start() - 1] if m.start() else ""
        if (before and before in notation.NO_NUMBER_BEFORE) or notation.NO_NUMBER.match(text, m.start()):
            return [], False
        return [(n.kanji_value(m["kanji"]), True)], True
    values = n.english_values(m["words"])
    return values, values[0][1]


def _read_loose(scan: _Scan) -> None:
    for m in notation.ONE_UNIT.finditer(scan.text):
        unit, factor, _ = _unit_at(scan.text, m.start("u")) or ("", 1.0, 0)
        scan.add(*m.span(), factor, unit, raw=1, sure=False)
    for m in notation.AT_HOUR.finditer(scan.text):
        scan.add(*m.span(), 60.0 * int(m["h"]), "time", raw=int(m["h"]), sure=False)
    for m in notation.HALF.finditer(scan.text):
        scan.add(*m.span(), 50, "%", raw=0.5, sure=False)
    for m in notation.LOOSE.finditer(scan.text):
        word = m.group().lower()
        value = notation.LOOSE_VALUES.get(word, n.ORDINALS.get(word, 1))
        scan.add(*m.span(), value, "", sure=False)


@lru_cache(maxsize=8192)
def _figures(text: str) -> tuple[Figure, ...]:
    scan = _Scan(text)
    for m in notation.SKIP.finditer(scan.text):
        scan.blank(*m.span())
    _read_dates(scan)
    _read_times(scan)
    _read_fractions(scan)
    _read_numbers(scan)
    _read_loose(scan)
    return tuple(sorted(scan.found, key=lambda f: f.span))


def figures(text: str) -> list[Figure]:
    """All figures of `text` in order, unsure ones included. 数人 and "a few" hold none."""
    return list(_figures(text))


def _bare(figure: Figure) -> set[float]:
    """The plain numbers a reader may take from a figure whose unit is dropped."""
    if figure.unit == "date":
        return {figure.value // 100, figure.value % 100}
    return {figure.raw, figure.value} if figure.unit != "weekday" else set()


def _clear(time: Figure) -> bool:
    """Whether a time of day says which half of the day it means."""
    return time.raw > 12 or bool(notation.HALF_OF_DAY.search(time.written))


def supports(held: Figure, said: Figure) -> bool:
    """Whether a record that holds `held` bears out `said`."""
    if held.unit == said.unit:
        if said.unit == "time":
            near = 1440 if _clear(held) and _clear(said) else 720  # 3時 bears out 15:00
            return (held.value - said.value) % near == 0
        return held.value == said.value
    if "date" in (held.unit, said.unit):
        other, day = (said, held) if held.unit == "date" else (held, said)
        if other.unit == "monthname":
            return held.unit == "date" and other.value == day.value // 100
        if other.unit == "min" and other.written.endswith("日"):
            return other.raw == day.value % 100 and held.unit == "date"
        return other.unit == "" and held.unit == "date" and other.raw in _bare(day)
    if said.unit == "time":
        return False
    if "" in (held.unit, said.unit):
        return bool(_bare(held) & _bare(said))
    return False


def as_figure(value: Figure | float | date) -> Figure:
    """A plain number or a date, as a figure of no text."""
    if isinstance(value, Figure):
        return value
    if isinstance(value, date):
        return Figure(value.month * 100 + value.day, "date", (0, 0), value.isoformat(), value.day)
    return Figure(round(float(value), 6), "", (0, 0), str(value), round(float(value), 6))


def unborne(text: str, held: Sequence[Figure]) -> list[Figure]:
    """The sure figures of `text` that none of `held` bears out."""
    return [f for f in _figures(text) if f.sure and not any(supports(h, f) for h in held)]


def unsupported(text: str, record: Iterable[str], allowed: Iterable[Figure | float | date] = ()) -> list[str]:
    """The figures of `text`, as written, that neither `record` (any texts) nor `allowed` holds."""
    held = [as_figure(a) for a in allowed]
    for piece in record:
        held += _figures(piece)
    return list(dict.fromkeys(f.written for f in unborne(text, held)))

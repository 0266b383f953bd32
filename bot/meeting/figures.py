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

from bot.meeting import numerals as n
from bot.meeting.text import strip_invisible

DAY, WEEK = 1440.0, 10080.0

# Canonical unit -> (factor, spellings). Durations are minutes, except months, whose length varies.
_UNITS: tuple[tuple[str, float, str], ...] = (
    ("min", 1 / 60, r"秒間?|seconds?\b|secs?\b"),
    ("min", 60, r"時間|hours?\b|hrs?\b|h\b"),
    ("min", 1, r"分間?(?!の[\d一-十]|[担類野析割解離科配])|minutes?\b|mins?\b"),
    ("min", DAY, r"日間?(?!本)|営業日|days?\b"),
    ("min", WEEK, r"週間?|weeks?\b|wks?\b"),
    ("month", 1, r"[ヶヵかカケ箇]月間?|months?\b"),
    ("month", 12, r"年間?|years?\b|yrs?\b"),
    ("%", 1, r"%|パーセント|percent\b|per cent\b|pct\b|percentage points?\b|ポイント"),
    ("%", 10, r"割(?!り?[当込引])"),
    ("円", 1, r"円|yen\b|jpy\b"),
    ("$", 1, r"米?ドル|dollars?\b|usd\b|bucks\b"),
    ("€", 1, r"ユーロ|euros?\b|eur\b"),
    ("£", 1, r"ポンド|pounds?\b|gbp\b"),
    (
        "人",
        1,
        r"人(?![月日気件])|名(?![前称])|people\b|persons?\b|participants?\b|members?\b|attendees\b"
        r"|headcount\b",
    ),
    ("回", 1, r"回|times\b"),
    ("倍", 1, r"倍|-?fold\b|x\b"),
    ("page", 1, r"ページ|頁|pages?\b"),
    ("char", 1, r"文字|字|characters?\b|chars?\b"),
    ("byte", 1, r"バイト|bytes?\b"),
    ("byte", 1e3, r"kb\b|kib\b|キロバイト"),
    ("byte", 1e6, r"mb\b|mib\b|メガバイト"),
    ("byte", 1e9, r"gb\b|gib\b|ギガバイト"),
    ("m", 1, r"メートル|meters?\b|metres?\b"),
    ("m", 1e3, r"キロ(?!バイト|グ)|km\b|kilomet(?:er|re)s?\b"),
    ("歳", 1, r"[歳才]|years? old\b"),
    (
        "",
        1,
        r"つ|個|件|点(?!数)|本(?!当|来|番)|枚|台|社(?!内|員)|票|案(?!件|内)|種類?|段階|行(?!動|う|い|っ)"
        r"|階|章|項目?",
    ),
    (
        "",
        1,
        r"か所|ヶ所|箇所|品(?!質)|店舗?|冊|通(?!り|常|知)|問(?!題)|話|位|番|号|機能|画面|チーム|拠点|世帯"
        r"|部署|等",
    ),
)
_MARKED = [
    (u, f, re.compile(rf"(?:[ -]?(?:full |whole |more |business |working )?)(?:{p})", re.I))
    for u, f, p in _UNITS
]
_CURRENCY = {"$": "$", "¥": "円", "€": "€", "£": "£"}

_MONTH_WORDS = "january february march april may june july august september october november december".split()
_MONTHS = {w: i for i, w in enumerate(_MONTH_WORDS, start=1)}
_MONTHS |= {w[:3]: i for w, i in _MONTHS.items()} | {"sept": 9}
_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
_MONTH += r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_KANJI_DAYS = "月火水木金土日"
_NUM = rf"(?:\d{{1,2}}|{n.KANJI})"

# What is written with digits and is no figure: links, mentions, timestamps, emoji, entry numbers, list
# numbering.
_SKIP = re.compile(
    r"https?://\S+|<[@#:/at][^>\s]*>|`?#\d+\b|^\s*(?:[-*] )?\d{1,2}[.)](?=\s)"
    r"|(?:決定(?:事項)?|提案|論点|宿題|未決|制約|項番|番号)\s?\d+(?![\d.]*\s?[つ件個点人円%])"
    r"|\b[DQAP]\d{1,3}\b"
    r"|\b(?:decision|proposal|question|action|entry|constraint|item) (?:no\.? ?|#)?\d+\b",
    re.I | re.M,
)
_DATES = (
    re.compile(rf"(?:(?P<y>\d{{4}})年)?(?P<m>{_NUM})月(?P<d>{_NUM})日"),
    re.compile(r"(?<![\d.])(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?![\d.]\d)"),
    re.compile(
        rf"\b(?P<mw>{_MONTH}) (?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? (?P<y>(?:19|20)\d\d)\b)?", re.I
    ),
    re.compile(
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<mw>{_MONTH})(?:,? (?P<y>(?:19|20)\d\d)\b)?", re.I
    ),
    re.compile(r"(?<![\d/.])(?P<m>1[0-2]|0?[1-9])/(?P<d>3[01]|[12]\d|0?[1-9])(?![\d/.]\d|/)"),
)
_MONTH_ALONE = re.compile(
    r"(?P<m>1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月(?![曜間])"
    r"|\b(?P<mw>January|February|April|June|July|August|September|October|November|December|Sept?|Oct|Nov"
    r"|Dec|Jan"
    r"|Feb|Apr|Aug)\b|(?:\b(?:in|by|until|before|after|since|of|early|late|mid|next|this|from|to|for)[ -])"
    r"(?P<mp>May|March)\b"
)
_WEEKDAY = re.compile(
    rf"(?P<k>[{_KANJI_DAYS}])曜|[(](?P<p>[{_KANJI_DAYS}])[)]|\b(?P<w>{'|'.join(_WEEKDAYS)})s?\b", re.I
)
_TIMES = (
    re.compile(
        rf"(?P<half>午前|午後|朝|夕方|夜)?の?(?P<h>{_NUM})時(?!間|点|代|々|期)(?:(?P<half_past>半)"
        rf"|(?P<mi>{_NUM})分)?"
    ),
    re.compile(
        r"(?P<half>午前|午後)?(?<![\d:])(?P<h>[01]?\d"
        r"|2[0-4]):(?P<mi>[0-5]\d)(?!:?\d)(?:\s?(?P<ap>[ap])\.?m\b\.?)?",
        re.I,
    ),
    re.compile(r"(?<![\d.])(?P<h>1[0-2]|0?[1-9])\s?(?P<ap>[ap])\.?m\b\.?", re.I),
    re.compile(r"\b(?P<h>1[0-2]|[1-9]) ?o'clock", re.I),
)
_FRACTION = re.compile(
    rf"(?P<b>\d+|{n.KANJI})分の(?P<a>\d+|{n.KANJI})|(?<![\d/.])(?P<a2>\d)/(?P<b2>[2-9])(?![\d/])"
)
_ENGLISH_FRACTION = re.compile(
    r"\b(?P<a>an?|one|two|three)[ -](?P<b>half|third|quarter|fifth|tenth)s?\b(?! (?:party|parties|person"
    r"|time))",
    re.I,
)
_HALF_OF = re.compile(
    r"半(?P<u>日|年|月|時間)|\bhalf[ -](?:an?[ -])?(?P<e>hour|day|year|month|week|dozen)\b", re.I
)
_HALF = re.compile(r"半[分数額]|\bhalf\b|\bhalves\b|\bhalving\b", re.I)
_ONE_UNIT = re.compile(r"\b(?:an?|each|per|every) (?P<u>second|minute|hour|day|week|month|year)\b", re.I)
_LOOSE = re.compile(
    r"\b(?P<w>first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|once|twice|both|pair|couple"
    r"|double"
    r"|twofold|triple|single|alone|daily|weekly|nought|none)\b|両方|両者|双方|倍増|倍に|単独|唯一",
    re.I,
)
_LOOSE_VALUES = {
    "once": 1,
    "twice": 2,
    "both": 2,
    "pair": 2,
    "couple": 2,
    "double": 2,
    "twofold": 2,
    "triple": 3,
}
_LOOSE_VALUES |= {"両方": 2, "両者": 2, "双方": 2, "倍増": 2, "倍に": 2, "nought": 0, "none": 0}
_NUMBER = re.compile(
    rf"(?P<c>[$¥€£])?(?P<dotted>\d+(?:\.\d+){{2,}})"
    rf"|(?:(?P<c2>[$¥€£]) ?)?(?P<digits>(?:{n.DIGITS})(?:[ ]?(?:[万億兆千百]+(?:(?:{n.DIGITS})[万億千百]*)*"
    r"|k(?![a-z])|bn\b|m(?=[\s,.]|$)|thousand\b|million\b|billion\b|hundred\b))?)(?P<ord>st\b|nd\b|rd\b"
    r"|th\b)?"
    rf"|(?P<kanji>{n.KANJI})|\b(?P<words>{n.ENGLISH})",
    re.I,
)
# Kanji words that begin like a number with a counter and are none.
_NO_NUMBER = re.compile(
    r"一(?:部|度|番|緒|旦|方|般|切|貫|致|応|覧|括|律|時(?!間)|定|見|言|種|気|同|層|瞬|連|本化|人ひとり"
    r"|つ一つ|つひとつ)"
    r"|十分(?!間|前|後|以内|ほど|くらい|ぐらい|程度|休|延|短|早|遅|ずつ|経|おき|待|押)|万(?:が一|一|全)"
    r"|千葉|三重県|百科|四国|九州|八王子|一致"
)
_NO_NUMBER_BEFORE = "統唯逐均単同随専画数何幾万"
_RANGE = re.compile(r"\s?(?:〜|~|－|–|—|-|から|ないし|、|to|or|and)\s?", re.I)


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure. `value` is in the canonical unit, `raw` the number as said; `span` are offsets into the
    text.

    unit: "min" (durations), "month", "%", "円", "$", "人" ...; "date" (value = month * 100 + day),
    "monthname",
    "year", "weekday" (0 = Monday), "time" (minutes of the day), "version", or "" where none is said. `sure` is False
    where the words may be no figure at all ("one", "first", "half"): such a figure supports, but never accuses.
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
    for pattern in _DATES:
        for m in pattern.finditer(scan.text):
            g = m.groupdict()
            month = _MONTHS[g["mw"].lower().rstrip(".")] if g.get("mw") else _small(g["m"])
            day = _small(g["d"])
            if not (1 <= month <= 12 and 1 <= day <= 31):
                continue
            scan.add(*m.span(), month * 100 + day, "date")
            if g.get("y"):
                scan.add(*m.span(), float(g["y"]), "year")
            if pattern is _DATES[-1] and day in range(2, 10) and month < day:
                scan.add(*m.span(), 100 * month / day, "%", raw=month / day, sure=False)
            scan.blank(*m.span())
    for m in _MONTH_ALONE.finditer(scan.text):
        name = m["mw"] or m["mp"]
        start = m.start("mw") if m["mw"] else m.start("mp") if m["mp"] else m.start()
        scan.add(start, m.end(), _MONTHS[name.lower()] if name else _small(m["m"]), "monthname")
        scan.blank(start, m.end())
    for m in _WEEKDAY.finditer(scan.text):
        kanji = m["k"] or m["p"]
        day = _KANJI_DAYS.index(kanji) if kanji else _WEEKDAYS.index(m["w"].lower())
        scan.add(*m.span(), day, "weekday")
        scan.blank(*m.span())


def _read_times(scan: _Scan) -> None:
    for pattern in _TIMES:
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
    for m in _FRACTION.finditer(scan.text):
        a, b = (m["a"], m["b"]) if m["a"] else (m["a2"], m["b2"])
        if _small(b):
            scan.add(*m.span(), 100 * _small(a) / _small(b), "%", raw=_small(a) / _small(b))
            scan.blank(*m.span())
    for m in _ENGLISH_FRACTION.finditer(scan.text):
        if m["b"].lower() == "half" and m["a"].lower() in ("a", "an"):
            continue
        top = {"two": 2, "three": 3}.get(m["a"].lower(), 1)
        bottom = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}[m["b"].lower()]
        scan.add(*m.span(), 100 * top / bottom, "%", raw=top / bottom, sure=False)
        scan.blank(*m.span())
    for m in _HALF_OF.finditer(scan.text):
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
    for unit, factor, pattern in _MARKED:
        m = pattern.match(text, at)
        if m and (best is None or m.end() > best[2]):
            best = (unit, factor, m.end())
    return best


def _half_more(scan: _Scan, end: int, unit: str) -> tuple[float, int]:
    """The "半" of 1時間半 and the "and a half" of two and a half hours, as a share of one unit."""
    m = re.compile(r"半(?![分数額日年月])|\s?and a half\b").match(scan.text, end)
    return (0.5, m.end()) if m and unit in ("min", "month", "倍", "") else (0.0, end)


def _read_numbers(scan: _Scan) -> None:
    pending: list[int] = []  # indexes of figures of an unfinished range, which take the unit of its end
    last_end = -1
    for m in _NUMBER.finditer(scan.text):
        readings, sure = _readings(scan.text, m)
        if not readings:
            continue
        start, end = m.span()
        half, end = _half_more(scan, end, "")
        unit, factor, stop = _unit_at(scan.text, end) or ("", 1.0, end)
        currency = m["c"] or m["c2"]
        if currency:
            unit, factor, stop = _CURRENCY[currency], 1.0, max(stop, end)
        more, stop = _half_more(scan, stop, unit)
        glued = (
            m["digits"] is not None
            and start > 0
            and scan.text[start - 1].isascii()
            and scan.text[start - 1].isalpha()
        )
        if glued:
            unit, factor, stop = "", 1.0, end  # RFC3986, x1: a name with a number in it
        if m["kanji"] and stop == end and len(m["kanji"]) < 2 and not half:
            continue  # a lone kanji digit with no counter is part of a word
        if m["kanji"] and stop == end:
            sure = False
        value = readings[0][0]
        if unit == "month" and factor == 12 and 1900 <= value <= 2200:
            unit, factor = "year", 1.0
        if last_end >= 0 and _RANGE.fullmatch(scan.text[last_end:start]) is None:
            pending = []
        if unit:
            for i in pending:
                old = scan.found[i]
                scan.found[i] = replace(old, value=round(old.raw * factor, 6), unit=unit)
        pending = [] if unit else pending
        if not m["words"] or stop > end or value != 1:
            scan.add(start, stop, (value + half + more) * factor, unit, raw=value + half + more, sure=sure)
        else:
            scan.add(start, stop, value, "", sure=False)
        if not unit:
            pending.append(len(scan.found) - 1)
        for other, _ in readings[1:]:
            scan.add(start, stop, other * factor, unit, raw=other, sure=False)
        last_end = stop


def _readings(text: str, m: re.Match[str]) -> tuple[list[tuple[float, bool]], bool]:
    if m["dotted"]:
        return [(float(int(re.sub(r"\D", "", m["dotted"])[:15])), True)], True
    if m["digits"]:
        return [(n.mixed_value(m["digits"]), True)], True
    if m["kanji"]:
        before = text[m.start() - 1] if m.start() else ""
        if (before and before in _NO_NUMBER_BEFORE) or _NO_NUMBER.match(text, m.start()):
            return [], False
        return [(n.kanji_value(m["kanji"]), True)], True
    values = n.english_values(m["words"])
    return values, values[0][1]


def _read_loose(scan: _Scan) -> None:
    for m in _ONE_UNIT.finditer(scan.text):
        unit, factor, _ = _unit_at(scan.text, m.start("u")) or ("", 1.0, 0)
        scan.add(*m.span(), factor, unit, raw=1, sure=False)
    for m in _HALF.finditer(scan.text):
        scan.add(*m.span(), 50, "%", raw=0.5, sure=False)
    for m in _LOOSE.finditer(scan.text):
        word = m.group().lower()
        value = _LOOSE_VALUES.get(word, n.ORDINALS.get(word, 1))
        scan.add(*m.span(), value, "", sure=False)


@lru_cache(maxsize=8192)
def _figures(text: str) -> tuple[Figure, ...]:
    scan = _Scan(text)
    for m in _SKIP.finditer(scan.text):
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


def supports(held: Figure, said: Figure) -> bool:
    """Whether a record that holds `held` bears out `said`."""
    if held.unit == said.unit:
        if said.unit == "time":
            near = 720 if min(held.value, said.value) < 780 else 1440  # 3時 bears out 15:00
            return (held.value - said.value) % near == 0
        return held.value == said.value
    if "date" in (held.unit, said.unit):
        other, day = (said, held) if held.unit == "date" else (held, said)
        if other.unit == "monthname":
            return held.unit == "date" and other.value == day.value // 100
        if other.unit == "min" and other.written.endswith("日"):
            return other.raw == day.value % 100 and held.unit == "date"
        return other.unit == "" and held.unit == "date" and other.raw in _bare(day)
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

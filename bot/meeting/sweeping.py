"""Constraints that name no subject of their own, so that they hold for everything: days to keep free, and
the money there is.

"Not on a Friday" shares no word with "the offsite is on 12 June", nor "the budget is at most 2,000 euros" with
"we spend 2,500 euros on food": the day of the one and the spending of the other are what they have in common.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from bot.meeting import cues
from bot.meeting.figures import Figure, figures
from bot.meeting.polarity import Limit, clauses, limits, remaining_negations
from bot.meeting.terms import terms

_WEEKEND = re.compile(r"土日|週末|\bweekends?\b", re.I)
_WORKDAYS = re.compile(r"平日|\b(?:weekdays?|work(?:ing)? ?days?|business days?)\b", re.I)
_DAY_WORDS = re.compile(
    rf"{_WEEKEND.pattern}|{_WORKDAYS.pattern}|(?:毎週?)?[月火水木金土日](?:曜日?|(?=[はをがもに、・と]))|[（(][月火水木金土日][)）]"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
    re.I,
)
_SHUNS = re.compile(
    r"避け|除[くきい]|外[すしせ]|無理|都合が悪|ふさが|休み|\b(?:avoid\w*|except(?:ing)?|exclud\w+|but|other than"
    r"|apart from|out|bad|impossible|taken|off)\b",
    re.I,
)
# 金曜以外は不可: whatever is not that day is ruled out.
_ALL_BUT = re.compile(
    r"以外(?:は|に|で)?[^。]{0,6}?(?:不可|禁止|NG|だめ|ダメ|駄目|無理|ない|ません|避け)", re.I
)
# What may stand in such a sentence and is still no subject.
_FILLER = re.compile(
    r"以外|以内|曜日?|日程|日にち|開催日|開催|実施|予定|都合|毎週|必ず|なるべく|できれば|すべて|全て|不可|禁止|ください|下さい|お願い|使え|やら|行わ|入れ"
    r"|\b(?:days?|dates?|any|every|all|anything|nothing|please|possible|possibly|work|works|suit|suits|ok|okay"
    r"|fine|happen|happens|can't|cannot|can|held|hold|holding|schedule|scheduled|things|do|does|we|us|week|month|in|on|always|ca)\b",
    re.I,
)
_DUE = re.compile(
    r"締め?切|期限|納期|期日|提出|\b(?:due|deadline|expires?|ends?)\b",
    re.I,
)
_FROM = re.compile(r"から|\bfrom\b|\bstarting\b|\bbeginning\b", re.I)


@dataclass(frozen=True, slots=True)
class _Ban:
    """Days that are ruled out: weekdays (Monday = 0), months, dates (month * 100 + day)."""

    weekdays: frozenset[int]
    months: frozenset[int] = frozenset()
    dates: frozenset[int] = frozenset()


def takes_banned_day(said: str, held: str, on: date | None = None) -> bool:
    """Whether `said` puts something on a day that `held` rules out for everything.

    `on`: the day `said` was said, from which a date without its year has its weekday.
    """
    ban = _ban(held)
    if ban is None:
        return False
    parts = clauses(said)
    for part in [said] if not remaining_negations(said) else [p for p in parts if terms(_without_days(p))]:
        if remaining_negations(part) or _SHUNS.search(part) or _DUE.search(part):
            continue
        dates = _dates(part)
        if ban.weekdays & days_of(part, on):
            return True
        if any(d in ban.dates or d // 100 in ban.months for d in dates):
            return True
    return False


def days_of(text: str, on: date | None = None) -> frozenset[int]:
    """The weekdays on which something is, by what a text says: those that it names, else those of its dates.

    A day that is a deadline or a bound ("by Friday") is none on which something is.
    """
    taken = _taken(text)
    named = {int(f.value) for f in taken if f.unit == "weekday"}
    if _WEEKEND.search(text):
        named |= {5, 6}
    if named or on is None:
        return frozenset(named)
    year = next((int(f.value) for f in figures(text) if f.unit == "year"), None)
    found = (_day(int(f.value), year, on) for f in taken if f.unit == "date")
    return frozenset(d.weekday() for d in found if d is not None)


def _taken(text: str) -> list[Figure]:
    bounds = [b for b in limits(text) if b.figure is not None and b.figure.is_date and not _starts(text, b)]
    bounded = [b.figure.span for b in bounds if b.figure is not None]

    def beside(f: Figure) -> bool:  # "after Friday 12 June" bounds both
        return any(f.span[0] - end <= 2 and start - f.span[1] <= 2 for start, end in bounded)

    return [f for f in figures(text) if f.sure and f.is_date and not beside(f)]


def _starts(text: str, bound: Limit) -> bool:
    """From Friday to Sunday, 金曜から: the day itself is among them."""
    if bound.direction != "min" or bound.figure is None:
        return False
    start, end = bound.figure.span
    return _FROM.search(text[max(0, start - 14) : start] + text[end : end + 3]) is not None


def _dates(text: str) -> list[int]:
    """Month * 100 + day of each date; a month alone has day 0."""
    values = {"date": 1, "monthname": 100}
    return [int(f.value) * values[f.unit] for f in _taken(text) if f.unit in values]


def _day(value: int, year: int | None, on: date) -> date | None:
    """The day that a date names: of its year, else the next one. A day of grace covers time zones."""
    try:
        if year is not None:
            return date(year, value // 100, value % 100)
        this = date(on.year, value // 100, value % 100)
        return this if this >= on - timedelta(days=1) else date(on.year + 1, value // 100, value % 100)
    except ValueError:
        return None  # 31 June


def _without_days(text: str) -> str:
    for f in reversed([f for f in figures(text) if f.is_date]):
        text = f"{text[: f.span[0]]} {text[f.span[1] :]}"
    return _DAY_WORDS.sub(" ", text)


def _ban(held: str) -> _Ban | None:
    """The days that a text without a subject of its own rules out, if it is one."""
    bare = _without_days(held)
    if terms(_FILLER.sub(" ", _SHUNS.sub(" ", cues.NEGATION.sub(" ", cues.ONLY.sub(" ", bare))))):
        return None
    if any(b.figure is not None for b in limits(held)):
        return None
    named = frozenset(int(f.value) for f in figures(held) if f.unit == "weekday")
    named |= {5, 6} if _WEEKEND.search(held) else frozenset()
    named |= {0, 1, 2, 3, 4} if _WORKDAYS.search(held) else frozenset()
    months = frozenset(int(f.value) for f in figures(held) if f.unit == "monthname")
    dates = frozenset(int(f.value) for f in figures(held) if f.unit == "date")
    rest = frozenset(range(7)) - named if named else frozenset()
    other_months = frozenset(range(1, 13)) - months if months else frozenset()
    if _ALL_BUT.search(held) or cues.ONLY.search(held):
        return _Ban(rest, other_months)
    if remaining_negations(held) or _SHUNS.search(held):
        return _Ban(named, months, dates)
    return None


_SPENDS = re.compile(
    r"使[うわいっ]|費や|支払|払[うわいっ]|か(?:ける|けます|かる|かります)|掛け|買[うわいっ]|購入|発注|(?<=[一-龥ァ-ヶー])(?:費用?|代金?)|予算|費用|経費|コスト|支出|出費|金額|料金|価格|代金"
    r"|\b(?:spend(?:s|ing)?|spent|pay(?:s|ing)?|paid|cost(?:s|ing)?|budget(?:s|ed)?|buy(?:s|ing)?|bought|purchas\w+"
    r"|expens\w+|prices?d?|fees?|bills?)\b",
    re.I,
)
_BUDGET = re.compile(
    r"予算|費用|経費|コスト|支出|出費|総額|(?<=[一-龥ァ-ヶー])(?:費|代)(?=[はをがも])"
    r"|\b(?:budgets?|costs?|spend(?:ing)?|expens\w+)\b",
    re.I,
)
_EARNS = re.compile(
    r"売り?上|収入|協賛|寄付|集め|受け取|もら|利益|節約|削減|返金|値引|割引|補助|助成|売[るりっ]|[都毎]度"
    r"|\b(?:revenue|income|sponsor\w*|donat\w+|rais\w+|earn\w*|sell\w*|sold|sales?|profit\w*|sav(?:e|es|ed|ing|ings)"
    r"|refund\w*|discount\w*|grants?|win|prize|instead of|rather than)\b",
    re.I,
)
_WHOLE = re.compile(
    r"全体|全部|総額|合計|全額|すべて|全て|トータル|上限|最大|以内|以下|まで|超え|合わせて"
    r"|\b(?:total|overall|whole|entire|everything|altogether|full|available|max(?:imum)?|exceed\w*|all|amount|there"
    r"|money|stay|keep|euros?|eur|dollars?|usd|yen|pounds?|within)\b",
    re.I,
)
_BUDGET_IS = re.compile(r"予算|\bbudget\b", re.I)
_CURRENCIES = frozenset({"円", "$", "€", "£", "ドル", "ユーロ"})
_LEAST = 100  # a bare number from which on it is a sum of money where money is spoken of


def overspends(said: str, held: str) -> bool:
    """Whether `said` spends more on a part than `held` gives to the whole, or to that part."""
    edge = _most(held)
    if edge is None or not _SPENDS.search(said) or _EARNS.search(said) or remaining_negations(said):
        return False
    if not _matter(held) <= _matter(said):
        return False
    return any(f.value > edge.value for f in _sums(said) if f.unit == edge.unit)


def _most(held: str) -> Figure | None:
    """The sum that is the most to be spent: an upper bound, or what the budget is said to be."""
    if not _BUDGET.search(held) or _EARNS.search(held) or remaining_negations(held):
        return None
    sums = _sums(held)
    bounds = limits(held)
    most = [b.figure for b in bounds if b.direction == "max" and b.figure in sums]
    if not most and len(sums) == 1 and _BUDGET_IS.search(held) and not bounds:
        return sums[0]
    return most[0] if len(most) == 1 else None


def _sums(text: str) -> list[Figure]:
    found = [f for f in figures(text) if f.sure]
    return [f for f in found if f.unit in _CURRENCIES or (f.unit == "" and f.raw >= _LEAST)]


def _matter(text: str) -> frozenset[str]:
    """What the money is for: the text's terms without sums and words of spending; 食費 is for 食."""
    for f in reversed(figures(text)):
        text = f"{text[: f.span[0]]} {text[f.span[1] :]}"
    return terms(_WHOLE.sub(" ", _SPENDS.sub(" ", text)))

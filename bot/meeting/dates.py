"""Due dates as people say them, resolved against the day they were said on. Both languages, whatever the
meeting's.

Conventions (weeks begin on Monday):
- a bare weekday, 今度の金曜, "by Friday", "coming Friday": the next such day, today included only with 今日
  or "today";
- 今週の金曜, "this Friday": that day of the current week, though it may have passed;
- 来週の金曜, "Friday next week": that day of the next week; "next Friday" likewise (so that on a Wednesday
  it is
  nine days away, not two); 再来週, "the week after next": two weeks on;
- 今週中, 週末, "this week", "end of the week": Friday; 週明け: next Monday; 来週中, "next week": Friday of
  the next week;
- 月末, "end of month": the last day; 来月, "next month" alone: the last day of the next month; 上旬, 中旬,
  下旬: 10, 20, last;
- a date without a year is the next such date, today included; a day of the month likewise.
"""

from __future__ import annotations

import calendar
import re
from datetime import date, timedelta

from bot.meeting import numerals
from bot.meeting.text import fold

_KANJI_DAYS = "月火水木金土日"
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = r"(?P<wd>mon|tue|wed|thu|fri|sat(?=urday)|sun(?=day))(?:day|sday|s|nesday|rsday|rs|urday|r)?\b"
_MONTH_WORDS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<mw>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_N = rf"(?:\d{{1,3}}|{numerals.KANJI})"
_EN_N = rf"(?:\d{{1,3}}|an?|{numerals.ENGLISH})"

# What is over is no due date, and the day in it no other one.
_PAST = re.compile(
    rf"(?:先々週|先週|前回|先月|昨年|去年)の?(?:[{_KANJI_DAYS}]曜日?|{_N}日)?|昨日|一昨日|おととい"
    rf"|\b(?:last|previous) [a-z]+\b|\byesterday\b"
)
_ISO = re.compile(r"(?<!\d)(?P<y>\d{4})[-/.年](?P<m>\d{1,2})[-/.月](?P<d>\d{1,2})(?!\d)")
_DAY_FIRST = re.compile(r"(?<![\d/])(1[3-9]|2\d|3[01])/(1[0-2]|0?[1-9])(?![\d/])")
_JA_DATE = re.compile(
    rf"(?P<when>来年|今年|再来年)?の?(?P<m>{_N})月の?(?P<d>{_N})日"
    rf"|(?<![\d/])(?P<m2>\d{{1,2}})/(?P<d2>\d{{1,2}})(?![\d/])"
)
_EN_DATE = re.compile(
    rf"\b{_MONTH} (?:the )?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<y>\d{{4}})\b)?"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH.replace('mw', 'mw2')}(?:,? (?P<y2>\d{{4}})\b)?"
)
_JA_MONTH_DAY = re.compile(rf"(?P<when>再来月|来月|今月|翌月)の?(?P<d>{_N})日")
_JA_MONTH_PART = re.compile(
    rf"(?:(?P<when>再来月|来月|今月|翌月)|(?P<m>{_N})月)の?(?P<part>初め|上旬|中旬|半ば|下旬|末日?"
    rf"|中(?!旬)|いっぱい)?"
)
_JA_WEEKDAY = re.compile(
    rf"(?P<when>再来週|来週|翌週|今週|今度|次)?の?[、\s(]?(?P<wd>[{_KANJI_DAYS}])曜日?|(?P<when2>再来週"
    rf"|来週|今週)の?(?P<wd2>[{_KANJI_DAYS}])(?=[にまは。、\s]|$)"
)
_JA_WEEK = re.compile(
    r"(?P<when>再来週|来週|翌週|今週)(?:の?(?P<part>頭|前半|半ば|中|いっぱい|末|後半))?|(?P<end>週末)"
    r"|(?P<start>週明け)"
)
_JA_AFTER = re.compile(rf"(?P<n>{_N})(?P<u>日|週間?|[ヶヵかカケ]月|営業日|年)(?:後|以内|のうち)")
_JA_DAY = re.compile(
    r"(?P<w>明々後日|しあさって|明後日|あさって|明日|あした|あす|翌日|本日|今日|きょう|今晩|今夜|当日)"
)
_EN_DAY = re.compile(
    r"\bthe day after tomorrow\b|\btomorrow\b|\btoday\b|\btonight\b|\beod\b|\bend of (?:the )?day\b"
    r"|\bcob\b|\basap\b"
)
_EN_AFTER = re.compile(
    rf"\b(?:in|within)(?: the next)? (?P<n>{_EN_N}) (?P<u>day|business day|working day|week|month"
    rf"|year)s?\b|\b(?P<n2>{_EN_N}) (?P<u2>day|week|month)s? from (?:now|today)\b"
)
_EN_WEEKDAY = re.compile(
    rf"\b(?P<when>next|this|coming|on|by|until|before|due)? ?(?:week(?:'s)? (?:on )?)?\b{_WEEKDAY}"
    r"(?P<later> (?:of )?(?:next week|the week after next|this week|after next|week))?"
)
_EN_WEEK = re.compile(
    r"\b(?:the )?(?P<after>week after next)\b|\bend of (?P<next>next )?(?:the |this )?week\b|\beow\b"
    r"|\b(?P<which>this|next) week\b|\b(?:the )?(?P<we>weekend)\b"
)
_EN_MONTH = re.compile(
    r"\b(?P<part>early|beginning of|start of|mid(?:dle of)?|late|end of)?[ -]?(?:the )?(?P<which>this "
    r"|next )?month\b|\beom\b"
    rf"|\b(?P<part2>early|beginning of|mid(?:dle of)?|late|end of|in|by|before|until"
    rf"|during)[ -](?:the end of )?{_MONTH}"
)
_EN_QUARTER = re.compile(r"\bend of (?:the |this )?(?P<q>quarter|year)\b|\beoy\b|\beoq\b")
_EN_NTH = re.compile(r"\b(?:the )?(?P<d>\d{1,2})(?:st|nd|rd|th)\b(?P<next> of next month)?")
_JA_YEAR_END = re.compile(r"(?P<w>年末|年内|今年中|年度末|年明け)")
_JA_DAY_ALONE = re.compile(rf"(?<![月\d\-/〜~一-十])(?P<d>{_N})日(?=まで|に|中|締|〆|[(]|。|$)")


def resolve(text: str, today: date, language: str = "ja") -> date | None:
    """The day that `text` names, seen from `today`; None where it names none or more than a guess.

    3/5 is the fifth of March in either language; 13/5, which is no such date, the thirteenth of May where the
    meeting is held in English.
    """
    said = _PAST.sub(" ", fold(text).replace("’", "'"))
    if language == "en":
        said = _DAY_FIRST.sub(r"\2/\1", said)
    for read in _READERS:
        try:
            found = read(said, today)
        except (ValueError, OverflowError):
            return None  # 31 February and the like: no date
        if found is not None:
            return found
    return None


def _number(text: str) -> int:
    if text.isdigit():
        return int(text)
    if text in ("a", "an"):
        return 1
    if text.isascii():
        return int(numerals.english_values(text)[0][0])
    return int(numerals.kanji_value(text))


def _upcoming(month: int, day: int, today: date) -> date:
    this = date(today.year, month, day)
    return this if this >= today else date(today.year + 1, month, day)


def _last_day(year: int, month: int) -> date:
    return date(year, month, calendar.monthrange(year, month)[1])


def _months_on(today: date, months: int) -> tuple[int, int]:
    index = today.year * 12 + today.month - 1 + months
    return index // 12, index % 12 + 1


def _same_day(today: date, months: int) -> date:
    year, month = _months_on(today, months)
    return date(year, month, min(today.day, calendar.monthrange(year, month)[1]))


def _of_week(today: date, weeks: int, weekday: int) -> date:
    return today - timedelta(days=today.weekday()) + timedelta(weeks=weeks, days=weekday)


def _next_weekday(today: date, weekday: int) -> date:
    return today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)


def _business_days(today: date, days: int) -> date:
    day = today
    while days > 0:
        day += timedelta(days=1)
        days -= day.weekday() < 5
    return day


def _iso(said: str, today: date) -> date | None:
    m = _ISO.search(said)
    return date(int(m["y"]), int(m["m"]), int(m["d"])) if m else None


def _month_and_day(said: str, today: date) -> date | None:
    if m := _JA_DATE.search(said):
        month, day = _number(m["m"] or m["m2"]), _number(m["d"] or m["d2"])
        years = {"来年": 1, "再来年": 2, "今年": 0}.get(m["when"] or "")
        return _upcoming(month, day, today) if years is None else date(today.year + years, month, day)
    if m := _EN_DATE.search(said):
        month = _MONTH_WORDS.index((m["mw"] or m["mw2"])[:3]) + 1
        day, year = int(m["d"] or m["d2"]), m["y"] or m["y2"]
        return date(int(year), month, day) if year else _upcoming(month, day, today)
    return None


_JA_MONTHS = {"再来月": 2, "来月": 1, "翌月": 1, "今月": 0}
_JA_WEEKS = {"再来週": 2, "来週": 1, "翌週": 1, "今週": 0}


def _japanese_month(said: str, today: date) -> date | None:
    if m := _JA_MONTH_DAY.search(said):
        year, month = _months_on(today, _JA_MONTHS[m["when"]])
        return date(year, month, _number(m["d"]))
    if m := _JA_YEAR_END.search(said):
        if m["w"] == "年度末":
            return _upcoming(3, 31, today)
        return date(today.year + 1, 1, 4) if m["w"] == "年明け" else date(today.year, 12, 31)
    if m := _JA_MONTH_PART.search(said):
        if m["when"]:
            year, month = _months_on(today, _JA_MONTHS[m["when"]])
        else:
            month = _number(m["m"])
            year = today.year + (month < today.month)
        day = {"初め": 10, "上旬": 10, "中旬": 20, "半ば": 15}.get(m["part"] or "末")
        return date(year, month, day) if day else _last_day(year, month)
    return _last_day(today.year, today.month) if "月末" in said else None


def _japanese_week(said: str, today: date) -> date | None:
    if m := _JA_WEEKDAY.search(said):
        weekday, when = _KANJI_DAYS.index(m["wd"] or m["wd2"]), m["when"] or m["when2"]
        weeks = _JA_WEEKS.get(when or "")
        return _next_weekday(today, weekday) if weeks is None else _of_week(today, weeks, weekday)
    if m := _JA_WEEK.search(said):
        if m["start"]:
            return _of_week(today, 1, 0)
        if m["end"]:
            return _of_week(today, 0, 4)
        weekday = {"頭": 0, "前半": 2, "半ば": 2}.get(m["part"] or "末", 4)
        return _of_week(today, _JA_WEEKS[m["when"]], weekday)
    return None


def _japanese_day(said: str, today: date) -> date | None:
    if m := _JA_AFTER.search(said):
        count, unit = _number(m["n"]), m["u"]
        if unit == "営業日":
            return _business_days(today, count)
        if unit.startswith("週"):
            return today + timedelta(weeks=count)
        if unit == "日":
            return today + timedelta(days=count)
        return _same_day(today, count * (12 if unit == "年" else 1))
    if m := _JA_DAY.search(said):
        days = {"明々後日": 3, "しあさって": 3, "明後日": 2, "あさって": 2}
        if m["w"] in ("本日", "今日", "きょう", "今晩", "今夜", "当日"):
            return today
        return today + timedelta(days=days.get(m["w"], 1))
    if m := _JA_DAY_ALONE.search(said):
        return _coming_day(today, _number(m["d"]))
    return None


def _coming_day(today: date, day: int) -> date:
    """The next day of a month with that number, in the first month that has it."""
    for months in range(0 if day >= today.day else 1, 4):
        year, month = _months_on(today, months)
        if day <= calendar.monthrange(year, month)[1]:
            return date(year, month, day)
    raise ValueError(day)


def _english_day(said: str, today: date) -> date | None:
    if m := _EN_DAY.search(said):
        days = 2 if m.group().startswith("the day after") else 1 if m.group() == "tomorrow" else 0
        return None if m.group() == "asap" else today + timedelta(days=days)
    if m := _EN_AFTER.search(said):
        count, unit = _number(m["n"] or m["n2"]), m["u"] or m["u2"]
        if unit in ("business day", "working day"):
            return _business_days(today, count)
        if unit in ("day", "week"):
            return today + timedelta(days=count * (7 if unit == "week" else 1))
        return _same_day(today, count * (12 if unit == "year" else 1))
    return None


def _english_week(said: str, today: date) -> date | None:
    m = _EN_WEEKDAY.search(said)
    if m:
        weekday, later = _WEEKDAYS.index(m["wd"]), (m["later"] or "").strip().removeprefix("of ")
        if later in ("the week after next", "after next"):
            return _of_week(today, 2, weekday)
        if later == "next week" or m["when"] == "next":
            return _of_week(today, 1, weekday)
        if later == "this week" or m["when"] == "this":
            return _of_week(today, 0, weekday)
        return _next_weekday(today, weekday) + timedelta(weeks=later == "week")
    m = _EN_WEEK.search(said)
    if m is None:
        return None
    if m["we"]:
        return _of_week(today, 0, 5)
    return _of_week(today, 2 if m["after"] else 1 if m["next"] or m["which"] == "next" else 0, 4)


def _english_month(said: str, today: date) -> date | None:
    if m := _EN_QUARTER.search(said):
        if m["q"] == "quarter" or m.group() == "eoq":
            return _last_day(today.year, (today.month + 2) // 3 * 3)
        return date(today.year, 12, 31)
    if m := _EN_MONTH.search(said):
        part = m["part"] or m["part2"] or ""
        if m["mw"]:
            month = _MONTH_WORDS.index(m["mw"][:3]) + 1
            year = today.year + (month < today.month)
        elif m["which"] is None and not part and m.group() != "eom":
            return None
        else:
            year, month = _months_on(today, 1 if (m["which"] or "").strip() == "next" else 0)
        day = 10 if part in ("early", "beginning of", "start of") else 15 if part.startswith("mid") else None
        if part == "before":
            return date(year, month, 1) - timedelta(days=1)
        return date(year, month, day) if day else _last_day(year, month)
    if m := _EN_NTH.search(said):
        if m["next"]:
            year, month = _months_on(today, 1)
            return date(year, month, int(m["d"]))
        return _coming_day(today, int(m["d"]))
    return None


# The most exact notation first: a date beside a weekday is the date.
_READERS = (
    _iso,
    _month_and_day,
    _japanese_week,
    _japanese_month,
    _japanese_day,
    _english_week,
    _english_day,
    _english_month,
)

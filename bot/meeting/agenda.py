"""The agenda as a queue with time per item (pure): parsing lines, sharing the planned time, what is on now.

Which item is on, and since when, is read from the ledger: the newest topic. So a restart knows it, and a mark
("議題：価格", "Topic: price") and `/meeting agenda next` do the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.meeting.model import Activity, EntryKind, LedgerView, Meeting
from bot.meeting.text import fold

LONGEST_ITEM = 480  # minutes
# "公開日 10分", "公開日（10分）", "Release date (10m)", "Release date - 10 min", "10分：公開日"
_UNIT = r"(?:分間?|mins?\.?|minutes?|m|′|')"
_BARE_UNIT = r"(?:分間?|mins?\.?|minutes?)"  # "iPhone 16m" is no length
_HOURS = r"(?:時間|hours?|hrs?\.?|h)"


def _length(unit: str) -> str:
    return rf"(?:(?P<h>\d{{1,2}})\s*{_HOURS}\s*)?(?:(?P<m>\d{{1,3}})\s*{unit})?"


_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?P<title>.*?\S)\s*[(\[【〔]\s*(?:約|about\s|~)?{_length(_UNIT)}\s*[)\]】〕]\s*$",
        rf"(?P<title>.*?\S)(?:[\s:、,/|–—-]|(?<=[^\x00-\x7f]))\s*(?:約|~)?{_length(_BARE_UNIT)}\s*$",
        rf"^\s*[(\[【]?\s*{_length(_BARE_UNIT)}\s*[)\]】]?\s*[:、.\s]\s*(?P<title>\S.*)$",
    )
)
# A length that belongs to the words themselves: in "会議を30分" and "limit of 5 minutes" it is the subject.
_PART_OF_WORDS = re.compile(
    r"(?:を|は|が|に|で|から|まで|より|の|毎|以内|最大|上限"
    r"|\b(?:of|to|by|in|at|every|within|from|under|than|for|is))$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AgendaItem:
    """`minutes` None: the item gets an even share of what the others leave."""

    title: str
    minutes: int | None = None


@dataclass(frozen=True, slots=True)
class Current:
    """The item that is on. `index` None: a topic that is not on the agenda. `began` is when it came up."""

    title: str
    began: datetime
    index: int | None
    minutes: float | None  # planned for it; None for a topic off the agenda
    topic: int  # number of the entry that brought it up, 0 = the meeting's start

    @property
    def slot(self) -> str:
        """The item and the time it was given: what is said about it once."""
        return f"{self.topic}:{round(self.minutes or 0)}"

    def over_at(self) -> datetime | None:
        return None if self.minutes is None else self.began + timedelta(minutes=self.minutes)


def parse(line: str) -> AgendaItem:
    """An agenda line as entered; the length goes from the title only where it stands apart from the words."""
    text = unicodedata.normalize("NFKC", line).strip()
    for form in _FORMS:
        found = form.match(text)
        if found is None:
            continue
        minutes = int(found["h"] or 0) * 60 + int(found["m"] or 0)
        title = found["title"].strip().rstrip(":、,-–—/|").strip()
        if not 1 <= minutes <= LONGEST_ITEM or not title or _PART_OF_WORDS.search(title):
            continue
        return AgendaItem(_as_written(line, title), minutes)
    return AgendaItem(line.strip())


def _as_written(line: str, title: str) -> str:
    """The title in the letters of the line, where normalising only touched what was cut off."""
    return title if title not in line else line[line.index(title) : line.index(title) + len(title)]


def items(meeting: Meeting) -> tuple[AgendaItem, ...]:
    lengths = (*meeting.agenda_minutes, *(None for _ in meeting.agenda))
    return tuple(AgendaItem(title, minutes) for title, minutes in zip(meeting.agenda, lengths, strict=False))


def shares(agenda: Sequence[AgendaItem], total: float) -> tuple[float, ...]:
    """Minutes for each item: its own, or an even part of what is left of `total` (at least one minute)."""
    taken = sum(item.minutes for item in agenda if item.minutes is not None)
    free = sum(item.minutes is None for item in agenda)
    even = max(1.0, (total - taken) / free) if free else 0.0
    return tuple(even if item.minutes is None else float(item.minutes) for item in agenda)


def length(meeting: Meeting) -> float:
    """Planned minutes of the whole meeting."""
    return (meeting.planned_end - meeting.started_at).total_seconds() / 60


def current(meeting: Meeting, view: LedgerView) -> Current | None:
    """The item that is on: the newest topic, the first item until one was named; None without either."""
    agenda = items(meeting)
    given = shares(agenda, length(meeting))
    topics = view.of(EntryKind.TOPIC)
    if not topics:
        return Current(agenda[0].title, meeting.started_at, 0, given[0], 0) if agenda else None
    newest = max(topics, key=lambda item: item.original.number)
    index = position(agenda, newest.text)
    return Current(
        title=agenda[index].title if index is not None else newest.text,
        began=newest.original.at,
        index=index,
        minutes=given[index] if index is not None else None,
        topic=newest.original.number,
    )


def position(agenda: Sequence[AgendaItem], words: str) -> int | None:
    """The item that a topic's words mean: the same words, a number, or the only item that holds them."""
    key = fold(words)
    same = [n for n, item in enumerate(agenda) if fold(item.title) == key]
    if same:
        return same[0]
    if key.isdigit() and 1 <= int(key) <= len(agenda):
        return int(key) - 1
    holding = [n for n, item in enumerate(agenda) if len(key) >= 2 and key in fold(item.title)]
    return holding[0] if len(holding) == 1 else None


def subject(agenda: Sequence[AgendaItem], view: LedgerView, number: int) -> str | None:
    """What was on when entry `number` was recorded: an item's title, or a topic off the agenda in its own words.

    The first item is on until a topic is named, as in `current`; None without either.
    """
    before = [topic for topic in view.of(EntryKind.TOPIC) if topic.original.number < number]
    if not before:
        return agenda[0].title if agenda else None
    newest = max(before, key=lambda item: item.original.number)
    index = position(agenda, newest.text)
    return newest.text if index is None else agenda[index].title


def following(meeting: Meeting, view: LedgerView) -> AgendaItem | None:
    """The item after the current one; the first one not yet taken up where the talk has left the agenda."""
    agenda = items(meeting)
    now = current(meeting, view)
    if now is None:
        return None
    if now.index is not None:
        return agenda[now.index + 1] if now.index + 1 < len(agenda) else None
    taken = {position(agenda, item.text) for item in view.of(EntryKind.TOPIC)} | {0}
    return next((item for n, item in enumerate(agenda) if n not in taken), None)


# How far over its time an item may be before moving on is proposed, as a factor of its length.
PATIENCE = {Activity.QUIET: 1.5, Activity.NORMAL: 1.0, Activity.ACTIVE: 1.0}
LULL = timedelta(seconds=45)  # people who answer each other pause for 20 to 30 s
LULL_AT_MOST = timedelta(minutes=3)


def move_on_at(meeting: Meeting, view: LedgerView) -> datetime | None:
    """When moving on from the current item is to be proposed; None where nothing comes after it."""
    now = current(meeting, view)
    if now is None or now.minutes is None or following(meeting, view) is None:
        return None
    return now.began + timedelta(minutes=now.minutes * PATIENCE[meeting.activity])


def moved(agenda: Sequence[AgendaItem], index: int, to: int) -> tuple[AgendaItem, ...]:
    """The agenda with item `index` at place `to` (both from 0)."""
    rest = [item for n, item in enumerate(agenda) if n != index]
    return (*rest[:to], agenda[index], *rest[to:])


def in_a_lull(due: datetime, last_human_at: datetime | None) -> datetime:
    """When to propose moving on, due since `due`: in the next pause, for who is being asked something is not to be
    interrupted; where nobody pauses, three minutes late."""
    paused = due if last_human_at is None else last_human_at + LULL
    return min(max(due, paused), due + LULL_AT_MOST)

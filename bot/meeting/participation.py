"""Who has spoken how much, who is quiet, and when the facilitator may speak unprompted (SPEC 2.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.meeting.model import Activity, Message, Speaker
from bot.meeting.text import fold, strip_invisible

QUIET_AFTER = timedelta(minutes=10)
_SHARE = {  # human messages and seconds since the last unprompted post (SPEC 2.3)
    Activity.QUIET: (20, 300.0),
    Activity.NORMAL: (10, 120.0),
    Activity.ACTIVE: (5, 60.0),
}


def speakers(messages: Iterable[Message]) -> tuple[Speaker, ...]:
    """One `Speaker` a person, most characters first (then messages, then who spoke first).

    White space and invisible characters are not counted; a deleted message counts as nothing said. The name
    is the latest one the person used.
    """
    found: dict[int, Speaker] = {}
    for message in messages:
        if message.deleted_at is not None:
            continue
        so_far = found.get(message.author_id, Speaker(message.author_id, message.author_name))
        later = so_far.last_at is None or message.at >= so_far.last_at
        found[message.author_id] = replace(
            so_far,
            name=message.author_name if later else so_far.name,
            messages=so_far.messages + 1,
            characters=so_far.characters + len("".join(strip_invisible(message.text).split())),
            last_at=message.at if later else so_far.last_at,
        )
    return tuple(sorted(found.values(), key=lambda s: (-s.characters, -s.messages)))


def talk_share(people: Sequence[Speaker]) -> tuple[tuple[str, float], ...]:
    """(name, share of all characters), summing to 1; by messages where nobody wrote a visible character."""
    weights = [speaker.characters for speaker in people]
    if not sum(weights):
        weights = [speaker.messages for speaker in people]
    total = sum(weights)
    if not total:
        return ()
    return tuple((s.name, weight / total) for s, weight in zip(people, weights, strict=True))


def quiet_people(
    people: Sequence[Speaker],
    expected: Sequence[str],
    now: datetime,
    *,
    since: datetime | None = None,
    after: timedelta = QUIET_AFTER,
) -> tuple[str, ...]:
    """Names to bring in: expected people who never spoke, then those silent for `after`, the longest first.

    `since`: start of the meeting; nobody is quiet before `after` has passed from it. In a meeting of one
    nobody is quiet: there is no one else to hear.
    """
    if since is not None and now - since < after:
        return ()
    spoken = {fold(speaker.name) for speaker in people}
    unheard = [name for name in dict.fromkeys(expected) if fold(name) not in spoken]
    if len(people) + len(unheard) < 2:
        return ()
    silent = [s for s in people if s.last_at is not None and now - s.last_at >= after]
    # Where everybody has been silent for long, the room rests; nobody is being left out.
    if len(silent) == len(people):
        silent = []
    silent.sort(key=lambda s: s.last_at or now)
    return (*unheard, *(s.name for s in silent))


def may_speak(
    activity: Activity,
    human_messages_since_last_unprompted: int,
    seconds_since_last_unprompted: float | None,
    people: int,
) -> bool:
    """Whether an unprompted post stays within SPEC 2.3's share; None: there was none yet in this meeting.

    "Under one per ten messages" means that *more* than ten, and more than the time, stand between two posts.
    """
    if people <= 1:
        return True
    messages, seconds = _SHARE[activity]
    if human_messages_since_last_unprompted <= messages:
        return False
    return seconds_since_last_unprompted is None or seconds_since_last_unprompted > seconds


def speak_from(
    activity: Activity,
    human_messages_since_last_unprompted: int,
    last_unprompted: datetime | None,
    people: int,
    start: datetime,
) -> datetime | None:
    """The moment from which `may_speak` allows an unprompted post; None where more has to be said first."""
    if people <= 1:
        return start
    messages, seconds = _SHARE[activity]
    if human_messages_since_last_unprompted <= messages:
        return None
    return start if last_unprompted is None else last_unprompted + timedelta(seconds=seconds + 1)


@dataclass(frozen=True, slots=True)
class _Manner:
    """`in_vain`: how often somebody is asked before they speak; `again`: from one asking of them to the next;
    `spacing`: between askings of anybody."""

    in_vain: int
    again: timedelta
    spacing: timedelta


# Once per person per 10 minutes is the most there may be; in replayed calls, where people speak now and then, that
# reads like a roll call, so only an active facilitator does it.
_MANNERS = {
    Activity.NORMAL: _Manner(in_vain=1, again=timedelta(minutes=45), spacing=timedelta(minutes=15)),
    Activity.ACTIVE: _Manner(in_vain=2, again=timedelta(minutes=10), spacing=timedelta(0)),
}


def bring_in(
    activity: Activity,
    quiet_since: Mapping[int, datetime],
    asked: Mapping[int, Sequence[datetime]],
    last_human_at: datetime,
) -> tuple[int, datetime] | None:
    """Whom to bring in by name, and from when on: who has been quiet longest, where the others talk.

    `quiet_since`: when each participant last spoke, joined, or the meeting began. `asked`: when each was
    brought in. A quiet facilitator brings nobody in. Where all have been silent nobody is being left out.
    """
    if activity is Activity.QUIET or len(quiet_since) < 2:
        return None
    manner = _MANNERS[activity]
    latest = max((moment for moments in asked.values() for moment in moments), default=None)
    due: list[tuple[datetime, int]] = []
    for person, since in quiet_since.items():
        before = asked.get(person, ())
        if sum(moment > since for moment in before) < manner.in_vain:
            spaced = () if latest is None else (latest + manner.spacing,)
            due.append((max([since + QUIET_AFTER, *(m + manner.again for m in before), *spaced]), person))
    if not due:
        return None
    at, person = min(due)
    return (person, at) if last_human_at > at - QUIET_AFTER else None

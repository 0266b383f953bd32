"""Proof that a meeting's record was left alone (SPEC 4, 5): chain, sources, minutes, posted bytes, errata.

The chain holds the ledger to itself, the ledger holds the minutes (folded again, entry by entry), the minutes
hold their text (`minutes.coverage`), and a seal holds text, embeds and file to each other. Reads only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from bot.facilitation.clashes import ConflictMemo, with_conflicts
from bot.facilitation.delivery import outgoing_of
from bot.facilitation.erased import shown
from bot.facilitation.room import KEY_MINUTES
from bot.facilitation.showing import link
from bot.meeting.ledger import fold
from bot.meeting.model import Entry, Meeting, MeetingState, Message, Origin
from bot.meeting.text import squeeze
from bot.minutes import document as documents
from bot.minutes.coverage import covers
from bot.minutes.message import FILE
from bot.minutes.seal import SEAL, erratum_rows, seal
from bot.store import audit, ledger, meetings, minutes, outbox, servers
from bot.store.engine import Connection
from bot.store.minutes import Erratum, StoredMinutes
from bot.store.outbox import Post

_SECTIONS = (
    "constraints",
    "decisions",
    "questions",
    "answered_questions",
    "actions",
    "proposals",
    "decided_proposals",
    "notes",
    "replaced",
    "withdrawn",
    "ledger",
)
# What a later version may judge differently, or what was not yet known when the minutes were frozen.
_JUDGED = frozenset({"carried_from", "conflicts_with", "ended_at", "redacted"})
_NUMBERED = re.compile(r"#(\d+)")
_BY_MESSAGE = frozenset({Origin.MARK, Origin.MODEL, Origin.PANEL})


@dataclass(frozen=True, slots=True)
class Fault:
    """One broken link. `entry` is the ledger number it lies at, None where it lies at no entry."""

    meeting_id: int
    entry: int | None
    what: str

    def __str__(self) -> str:
        at = f", entry {self.entry}" if self.entry else ""
        return f"meeting {self.meeting_id}{at}: {self.what}"


@dataclass(frozen=True, slots=True)
class _Record:
    """Everything of one meeting that is held against each other."""

    meeting: Meeting
    entries: Sequence[Entry]
    messages: Mapping[int, Message]
    swept: bool  # its transcript is past its retention, or was when other days held
    erased: bool
    stored: StoredMinutes | None
    minutes_posts: Sequence[str]
    post: Post | None
    errata: Sequence[Erratum]
    errata_posts: Mapping[str, Post]
    start: str  # digest of the empty ledger


async def faults(c: Connection, meeting_id: int, now: datetime, transcript_days: int = 90) -> list[Fault]:
    """What is wrong with one meeting, the first broken link first; [] = everything holds.

    `transcript_days`: the retention of servers that set none.

    A chain that is broken is the only fault named: nothing else can be relied on then.
    """
    broken = await audit.chain(c, meeting_id)
    if broken is not None:
        return [Fault(meeting_id, broken.number or None, broken.what)]
    try:
        record = await _read(c, meeting_id, now, transcript_days)
        return [Fault(meeting_id, entry, what) for entry, what in _faults(record)]
    except (ValueError, TypeError, KeyError) as error:
        return [Fault(meeting_id, None, f"its rows cannot be read ({type(error).__name__})")]


async def _read(c: Connection, meeting_id: int, now: datetime, transcript_days: int) -> _Record:
    meeting = await meetings.get(c, meeting_id)
    assert meeting is not None  # the chain was looked at before
    days = (await servers.get(c, meeting.guild_id)).transcript_days or transcript_days
    past = meeting.closed_at is not None and meeting.closed_at + timedelta(days=days) <= now
    messages = await audit.messages(c, meeting_id)
    keys = [k for k in await audit.keys(c, meeting_id, "post") if k.startswith("erratum:")]
    posts = {key: await outbox.get(c, meeting_id, key) for key in keys}
    return _Record(
        meeting=meeting,
        entries=await ledger.everything(c, meeting_id),
        messages=messages,
        swept=past or await audit.swept(c, meeting_id),
        erased=await audit.somebody_erased(c, meeting_id),
        stored=await minutes.get(c, meeting_id),
        minutes_posts=await audit.keys(c, meeting_id, "minutes"),
        post=await outbox.get(c, meeting_id, KEY_MINUTES),
        errata=await minutes.errata(c, meeting_id),
        errata_posts={key: post for key, post in posts.items() if post is not None},
        start=audit.genesis(meeting.guild_id, meeting_id),
    )


_Found = Iterator[tuple[int | None, str]]


def _faults(record: _Record) -> _Found:
    if record.messages or not record.swept:
        yield from _sources(record)
    yield from _minutes(record)
    yield from _errata(record)


# ---------------------------------------------------------------- sources


def _sources(record: _Record) -> _Found:
    for entry in record.entries:
        if entry.message_id is None:
            continue
        message = record.messages.get(entry.message_id)
        if message is None:
            yield entry.number, "its source message is gone"
            continue
        what = _source(entry, message)
        if what is not None:
            yield entry.number, what


def _source(entry: Entry, message: Message) -> str | None:
    if message.deleted_at is not None:
        kept = entry.quote and entry.origin in (*_BY_MESSAGE, Origin.EDIT)
        return "its source message is deleted, and its quote still stands" if kept else None
    if entry.redacted or entry.origin not in (*_BY_MESSAGE, Origin.EDIT):
        return None
    edited_later = message.edited_at is not None and message.edited_at >= entry.at
    if not edited_later and squeeze(entry.quote) not in squeeze(message.text):
        return "its quote does not stand in its source message"
    if entry.origin not in _BY_MESSAGE:
        return None
    if (entry.author_id, entry.author_name) != (message.author_id, message.author_name):
        return "its source message has another author"
    if entry.origin is Origin.MARK and message.edited_at is None and entry.at != message.at:
        return "its source message has another time"
    return None


# ---------------------------------------------------------------- minutes


def _minutes(record: _Record) -> _Found:
    stored, meeting = record.stored, record.meeting
    if stored is None:
        held = meeting.state is MeetingState.CLOSED and meeting.kickoff_message_id is not None
        if held or record.minutes_posts:
            yield None, "its minutes are gone"
        return
    if record.erased and not stored.text:
        return
    yield from _against_ledger(record, stored)
    yield from _against_post(record, stored)


def _against_ledger(record: _Record, stored: StoredMinutes) -> _Found:
    digests = [record.start, *(entry.digest for entry in record.entries)]
    if stored.digest not in digests:
        yield None, "its minutes were not made from this ledger: their digest is none of its entries'"
        return
    count = digests.index(stored.digest)
    for entry in record.entries[count:]:
        yield entry.number, "it came after the minutes were frozen and stands in none"
    document = json.loads(stored.document)
    if document["made"]["ledger_digest"] != stored.digest:
        yield None, "the minutes' document names another ledger digest than its row"
    meeting = record.meeting
    view = shown(with_conflicts(fold(record.entries[:count]), ConflictMemo()), meeting.language)
    expected = documents.document(
        meeting,
        view,
        (),
        None,
        documents.How(),
        partial(link, meeting.guild_id, meeting.channel_id),
    )
    for name in _differences(document["meeting"], expected["meeting"]):
        yield None, f"the minutes' {name} differs from the meeting's"
    redacted = {entry.number for entry in record.entries if entry.redacted}
    for section in _SECTIONS:
        yield from _section(section, document[section], expected[section], redacted)
    yield from _attendance(record, stored, document["attendance"])
    for label in covers(document, stored.text):
        numbered = _NUMBERED.search(label)
        yield int(numbered[1]) if numbered else None, f"minutes.md lacks {label}"


def _section(
    section: str, there: Sequence[Mapping[str, Any]], ledgers: Sequence[Mapping[str, Any]], redacted: set[int]
) -> _Found:
    """One list of the document against the same list folded from the ledger now."""
    found = {part["number"]: part for part in there}
    wanted = {part["number"]: part for part in ledgers}
    for number in sorted(found.keys() | wanted.keys()):
        if number not in found:
            yield number, f"it is missing among the minutes' {section}"
        elif number not in wanted:
            yield number, f"the minutes' {section} hold it, the ledger does not"
        elif number not in redacted:
            for name in _differences(found[number], wanted[number]):
                yield number, f"its {name} in the minutes' {section} differs from the ledger"


def _differences(there: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """Names of fields that both have and that differ (a later version may add fields)."""
    return [n for n in there if n in expected and n not in _JUDGED and there[n] != expected[n]]


def _attendance(record: _Record, stored: StoredMinutes, there: Sequence[Mapping[str, Any]]) -> _Found:
    """Who wrote how much, against the transcript, where no message of theirs changed since."""
    if not record.messages or record.erased:
        return
    counts: dict[str, list[int]] = {}
    changed: set[str] = set()
    for message in record.messages.values():
        who = str(message.author_id)
        if any(at and at > stored.created_at for at in (message.edited_at, message.deleted_at)):
            changed.add(who)
        elif message.deleted_at is None:
            count = counts.setdefault(who, [0, 0])
            count[0] += 1
            count[1] += len(message.text)
    said = {person["user_id"]: [person["messages"], person["characters"]] for person in there}
    for who in sorted((counts.keys() | said.keys()) - changed):
        if counts.get(who, [0, 0]) != said.get(who, [0, 0]):  # who only joined has written nothing
            yield None, f"the transcript of user {who} is not the one the minutes were made from"


def _against_post(record: _Record, stored: StoredMinutes) -> _Found:
    post = record.post
    if post is None or list(record.minutes_posts) != [KEY_MINUTES]:
        yield None, f"{len(record.minutes_posts)} posts of its minutes were frozen, not exactly one"
        return
    if record.erased and not post.text and not post.files:
        return
    files = dict(post.files)
    if files.get(FILE) != stored.text.encode():
        yield None, f"the {FILE} that was posted is not the stored one"
    if set(files) - {FILE}:
        yield None, "the minutes' post has files that were never made"
    if post.payload.get(SEAL) != seal(outgoing_of(post), stored.document, stored.text, stored.digest):
        yield None, "text, embeds or file of the minutes' post, or the stored minutes, were altered"


# ---------------------------------------------------------------- errata


def _errata(record: _Record) -> _Found:
    numbers = [erratum.number for erratum in record.errata]
    posted = {int(key.removeprefix("erratum:")) for key in record.errata_posts}
    for number in sorted({*posted, *range(1, max(numbers, default=0) + 1)} - set(numbers)):
        yield None, f"erratum {number} is gone from the record"
    for erratum in record.errata:
        post = record.errata_posts.get(f"erratum:{erratum.number}")
        if post is None:
            yield None, f"erratum {erratum.number} was never put into the outbox"
        elif (record.erased or record.swept) and not post.text:
            continue  # forgotten with the rest of what the bot wrote
        elif post.payload.get(SEAL) != seal(outgoing_of(post), *erratum_rows(erratum)):
            yield None, f"erratum {erratum.number} or its post was altered"

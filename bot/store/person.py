"""Erasing one person from a server: what they wrote, and that it was them.

The ledger's numbers and its chain stay; a row of theirs is there and says nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.meeting.model import MeetingState
from bot.store import archive, cleanup, ledger, schema, search
from bot.store._gate import ERASED

_messages, _entries, _posts = schema.messages, schema.entries, schema.posts

TELLING = 6  # characters from which on the same words in a post of ours are a quotation: "OK" is none
NOBODY = 0  # author of a message whose author was erased


@dataclass(frozen=True, slots=True)
class ErasedPerson:
    """Meetings that were touched, and those of them whose minutes are empty now.

    The latter have to be rendered again from the ledger (`minutes.replace_erased`, in the same unit) and
    their posted file replaced.
    """

    meetings: tuple[int, ...]
    minutes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Traces:
    """Where the person stands in one meeting, gathered before anything is changed."""

    names: frozenset[str]
    words: frozenset[str]
    message_ids: frozenset[int]


async def erase_person(c: AsyncConnection, guild_id: int, user_id: int, now: datetime) -> ErasedPerson:
    """Erase a person's messages, reactions, names and words from every meeting of this server.

    Their messages stay as empty rows without an author, so that a later reading of the channel does not bring
    them back. Entries by them or on their messages lose words and author, others' actions owned by them the
    owner. What the bot wrote in these meetings goes too, since it may repeat them. An opt-out stays, and so does
    the moment it was taken back while that keeps a meeting from reading what was written before.
    """
    touched, without_minutes = [], []
    for meeting_id in await meetings_of(c, guild_id, user_id):
        traces = await _traces(c, meeting_id, user_id)
        await _from_ledger(c, meeting_id, user_id, traces)
        await _from_transcript(c, meeting_id, user_id, now)
        await _from_meeting(c, meeting_id, user_id)
        await _from_posts(c, meeting_id, user_id, traces, now)
        await _from_panel(c, meeting_id, traces, now)
        telling = {x for x in traces.words if len(x) >= TELLING}
        await cleanup.mark_resting(c, guild_id, meeting_id, {*traces.names, *telling})
        await archive.forget_own_words(c, meeting_id)
        table = schema.minutes
        emptied = await c.execute(
            sa.update(table).where(table.c.meeting_id == meeting_id).values(document="{}", text="")
        )
        touched.append(meeting_id)
        if emptied.rowcount:
            without_minutes.append(meeting_id)
    await search.reindex_erased(c, touched)
    await _from_opt_ins(c, guild_id, user_id)
    c.info[ERASED] = True
    return ErasedPerson(tuple(touched), tuple(without_minutes))


async def _from_opt_ins(c: AsyncConnection, guild_id: int, user_id: int) -> None:
    opt_ins, meetings = schema.opt_ins, schema.meetings
    under_way = sa.exists().where(meetings.c.guild_id == guild_id, meetings.c.state != MeetingState.CLOSED)
    mine = sa.and_(opt_ins.c.guild_id == guild_id, opt_ins.c.user_id == user_id)
    await c.execute(sa.delete(opt_ins).where(mine, ~under_way))


async def _from_panel(c: AsyncConnection, meeting_id: int, traces: _Traces, now: datetime) -> None:
    """What AI participants said is the bot's own: where it repeats the person, words and entries on them go too."""
    telling = traces.names | {x for x in traces.words if len(x) >= TELLING}
    query = sa.select(_messages.c.message_id, _messages.c.text).where(
        _messages.c.meeting_id == meeting_id, _messages.c.author_id < NOBODY
    )
    said = [row.message_id for row in await c.execute(query) if any(x in row.text for x in telling)]
    for message_id in said:
        same = sa.and_(_messages.c.meeting_id == meeting_id, _messages.c.message_id == message_id)
        await c.execute(sa.update(_messages).where(same).values(text="", deleted_at=now))
    entries = sa.select(_entries.c.number).where(
        _entries.c.meeting_id == meeting_id, _entries.c.message_id.in_(said)
    )
    for number in list((await c.execute(entries)).scalars()) if said else ():
        await ledger.redact_fields(c, meeting_id, number, ("text", "quote"))


async def meetings_of(c: AsyncConnection, guild_id: int, user_id: int) -> list[int]:
    """Meetings of the server that hold anything of this person."""
    meetings, reactions, errata = schema.meetings, schema.reactions, schema.errata
    sources = [
        sa.select(table.c.meeting_id).where(table.c.guild_id == guild_id, who == user_id)
        for table, who in (
            (_messages, _messages.c.author_id),
            (_entries, _entries.c.author_id),
            (reactions, reactions.c.user_id),
            (errata, errata.c.author_id),
        )
    ]
    chaired = sa.select(meetings.c.id).where(
        meetings.c.guild_id == guild_id,
        sa.or_(meetings.c.chair_id == user_id, meetings.c.wish_by == user_id),
    )
    return sorted((await c.execute(sa.union(chaired, *sources))).scalars())


async def _traces(c: AsyncConnection, meeting_id: int, user_id: int) -> _Traces:
    names, words, ids = set(), set(), set()
    query = sa.select(_messages).where(_messages.c.meeting_id == meeting_id, _messages.c.author_id == user_id)
    for row in await c.execute(query):
        names.add(row.author_name)
        words.add(row.text)
        ids.add(row.message_id)
    entries = sa.select(_entries).where(_entries.c.meeting_id == meeting_id, _entries.c.author_id == user_id)
    for row in await c.execute(entries):
        names.add(row.author_name)
        words |= {row.text, row.quote}
    reactions, meetings = schema.reactions, schema.meetings
    for column, where in (
        (reactions.c.user_name, (reactions.c.meeting_id == meeting_id, reactions.c.user_id == user_id)),
        (meetings.c.chair_name, (meetings.c.id == meeting_id, meetings.c.chair_id == user_id)),
    ):
        names |= set((await c.execute(sa.select(column).where(*where))).scalars())
    return _Traces(frozenset(names - {""}), frozenset(words - {""}), frozenset(ids))


async def _from_ledger(c: AsyncConnection, meeting_id: int, user_id: int, traces: _Traces) -> None:
    query = sa.select(_entries).where(_entries.c.meeting_id == meeting_id).order_by(_entries.c.number)
    for row in (await c.execute(query)).all():
        names: list[str] = []
        if row.author_id == user_id:
            names += ["text", "quote", "author_name", "author_id", "message_id", "due"]
        if row.message_id in traces.message_ids:
            names += ["text", "quote", "message_id"]
        if row.owner in traces.names:
            names.append("owner")
        if names:
            await ledger.redact_fields(c, meeting_id, row.number, names)


async def _from_transcript(c: AsyncConnection, meeting_id: int, user_id: int, now: datetime) -> None:
    await c.execute(
        sa.update(_messages)
        .where(_messages.c.meeting_id == meeting_id, _messages.c.author_id == user_id)
        .values(
            author_id=NOBODY,
            author_name="",
            text="",
            deleted_at=sa.func.coalesce(_messages.c.deleted_at, sa.literal(now, schema.Moment)),
        )
    )
    table = schema.reactions
    await c.execute(sa.delete(table).where(table.c.meeting_id == meeting_id, table.c.user_id == user_id))


async def _from_meeting(c: AsyncConnection, meeting_id: int, user_id: int) -> None:
    changes: tuple[tuple[sa.Table, sa.ColumnElement[bool], sa.ColumnElement[int], dict[str, Any]], ...]
    meetings, errata = schema.meetings, schema.errata
    changes = (
        (meetings, meetings.c.id == meeting_id, meetings.c.chair_id, {"chair_id": NOBODY, "chair_name": ""}),
        (meetings, meetings.c.id == meeting_id, meetings.c.wish_by, {"wish_by": None, "wish_quote": None}),
        (
            errata,
            errata.c.meeting_id == meeting_id,
            errata.c.author_id,
            {"author_id": None, "author_name": "", "text": ""},
        ),
    )
    for table, where, who, values in changes:
        await c.execute(sa.update(table).where(where, who == user_id).values(**values))


async def _from_posts(
    c: AsyncConnection, meeting_id: int, user_id: int, traces: _Traces, now: datetime
) -> None:
    """Give up what is still owed but repeats the person, owe the room its posts without them
    (`store.cleanup`), and empty the posted minutes' bytes."""
    query = sa.select(_posts).where(_posts.c.meeting_id == meeting_id, _posts.c.state == "pending")
    for row in (await c.execute(query)).all():
        said = row.text + json.dumps(row.payload, ensure_ascii=False)
        if row.kind == "minutes" or any(x in said for x in {*traces.names, *traces.words, str(user_id)}):
            values = {"state": "failed", "failure": "erased", "sent_at": now, "text": "", "payload": {}}
            await c.execute(sa.update(_posts).where(_posts.c.id == row.id).values(**values))
    telling = {x for x in traces.words if len(x) >= TELLING}
    await cleanup.mark(c, meeting_id, {*traces.names, *telling, str(user_id)})
    minutes = sa.and_(_posts.c.meeting_id == meeting_id, _posts.c.kind == "minutes")
    files = schema.post_files
    await c.execute(sa.delete(files).where(files.c.post_id.in_(sa.select(_posts.c.id).where(minutes))))
    await c.execute(sa.update(_posts).where(minutes).values(text="", payload={}))

"""What people wrote: messages by id, reactions, and who does not want to be stored."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.meeting.model import Late, Message, Speaker
from bot.store import schema
from bot.store._gate import ERASED

_messages = schema.messages
_reactions = schema.reactions
_FIELDS = [c for c in _messages.c if c.name != "guild_id"]


def _message(row: sa.Row[Any]) -> Message:
    return Message(**{**row._mapping, "late": Late(row.late)})


def _wants_nothing_stored(guild_id: Any, user_id: Any) -> sa.Exists:
    """Of ids, or of the parameters that will hold them."""
    return sa.exists().where(schema.opt_outs.c.guild_id == guild_id, schema.opt_outs.c.user_id == user_id)


def _opted_in_after(guild_id: Any, user_id: Any, at: Any) -> sa.Exists:
    """Of ids and a moment, or of the parameters that will hold them."""
    table = schema.opt_ins
    return sa.exists().where(table.c.guild_id == guild_id, table.c.user_id == user_id, table.c.at > at)


async def _add(
    c: AsyncConnection, table: sa.Table, guild_id: int, user_id: int, values: dict[str, Any]
) -> bool:
    """Insert unless the row is there or the person opted out (a promise that hangs on no caller's check)."""
    whose = {"of_guild": guild_id, "of_user": user_id}
    return (await c.execute(_insertion(table, tuple(values)), values | whose)).rowcount == 1


@cache  # of every message's way into the store, putting this statement together took the most
def _insertion(table: sa.Table, names: tuple[str, ...]) -> sa.Insert:
    row = sa.select(*(sa.bindparam(name, type_=table.c[name].type) for name in names))
    whose: tuple[Any, Any] = (sa.bindparam("of_guild"), sa.bindparam("of_user"))
    unwanted: sa.ColumnElement[bool] = _wants_nothing_stored(*whose)
    if table is _messages:  # a reaction's moment is ours, not Discord's: one cannot be held against the other
        unwanted = sa.or_(unwanted, _opted_in_after(*whose, sa.bindparam("at", type_=table.c.at.type)))
    statement = insert(table).from_select(list(names), row.where(~unwanted), include_defaults=False)
    return statement.on_conflict_do_nothing()


async def add(c: AsyncConnection, message: Message, guild_id: int) -> bool:
    """Store a message; False (and nothing changes) if its id is known already or its author wants it unheard."""
    values = {name.name: getattr(message, name.name) for name in _FIELDS} | {"guild_id": guild_id}
    return await _add(c, _messages, guild_id, message.author_id, values)


async def get(c: AsyncConnection, meeting_id: int, message_id: int) -> Message | None:
    """One message, deleted ones too (their text is empty)."""
    query = sa.select(*_FIELDS).where(
        _messages.c.meeting_id == meeting_id, _messages.c.message_id == message_id
    )
    row = (await c.execute(query)).first()
    return None if row is None else _message(row)


async def _change(c: AsyncConnection, meeting_id: int, message_id: int, **values: Any) -> None:
    await c.execute(
        sa.update(_messages)
        .where(_messages.c.meeting_id == meeting_id, _messages.c.message_id == message_id)
        .values(**values)
    )


async def edit(
    c: AsyncConnection, meeting_id: int, message_id: int, text: str, at: datetime
) -> Message | None:
    """Put new text; returns the message as it was, or None if it is unknown, deleted or unchanged."""
    before = await get(c, meeting_id, message_id)
    if before is None or before.deleted_at is not None or before.text == schema.storable(text):
        return None
    await _change(c, meeting_id, message_id, text=text, edited_at=at)
    return before


async def delete(c: AsyncConnection, meeting_id: int, message_id: int, at: datetime) -> Message | None:
    """Blank the text, mark the row deleted; returns the message as it was, None if unknown or deleted.

    The row stays, so that a later reading of the channel's history does not bring the message back.
    """
    before = await get(c, meeting_id, message_id)
    if before is None or before.deleted_at is not None:
        return None
    await _change(c, meeting_id, message_id, text="", deleted_at=at)
    c.info[ERASED] = True
    return before


def _of(meeting_id: int) -> sa.Select[Any]:
    return sa.select(*_FIELDS).where(_messages.c.meeting_id == meeting_id, _messages.c.deleted_at.is_(None))


async def after(
    c: AsyncConnection, meeting_id: int, message_id: int, limit: int | None = None
) -> list[Message]:
    """Messages with an id above `message_id`, oldest first; deleted ones are left out."""
    query = _of(meeting_id).where(_messages.c.message_id > message_id).order_by(_messages.c.message_id)
    return [_message(row) for row in await c.execute(query if limit is None else query.limit(limit))]


async def unread(
    c: AsyncConnection, meeting_id: int, cursor: int, limit: int | None = None, *, newest: bool = False
) -> list[Message]:
    """What comes after the cursor, and what came in late before it, oldest first.

    `newest`: of more than `limit` those that no turn has dealt with, and then the last ones.
    """
    key = _messages.c.message_id
    query = _of(meeting_id).where((key > cursor) | (_messages.c.late != Late.NO))
    order = [(_messages.c.late == Late.WAITING).desc(), key.desc()] if newest else [key]
    found = [_message(row) for row in await c.execute(query.order_by(*order).limit(limit))]
    return sorted(found, key=lambda m: m.message_id)


async def overtaken(c: AsyncConnection, meeting_id: int, after: int, to: int, read: Collection[int]) -> None:
    """Late is what stands between these two ids and is none of those read: it came in while they were.

    Who opted out is read by nobody, so that nothing of theirs waits.
    """
    statement = sa.update(_messages).where(
        _messages.c.meeting_id == meeting_id,
        _messages.c.message_id > after,
        _messages.c.message_id <= to,
        _messages.c.message_id.not_in(list(read)),
        _messages.c.deleted_at.is_(None),
        ~_wants_nothing_stored(_messages.c.guild_id, _messages.c.author_id),
    )
    await c.execute(statement.values(late=Late.WAITING))


async def dealt_with(c: AsyncConnection, meeting_id: int, message_ids: Collection[int], now: Late) -> None:
    """Of these messages those that came in late are now read (`Late.NO`), or answered unread."""
    statement = sa.update(_messages).where(
        _messages.c.meeting_id == meeting_id,
        _messages.c.message_id.in_(list(message_ids)),
        _messages.c.late != Late.NO,
    )
    await c.execute(statement.values(late=now))


async def read_again(
    c: AsyncConnection, meeting_id: int, message_ids: Collection[int], late: Late = Late.ANSWERED
) -> None:
    """The next reading reads these messages too: they changed after a model had read them, and nobody waits for it;
    or a turn passed over them, and their authors do (`Late.WAITING`)."""
    statement = sa.update(_messages).where(
        _messages.c.meeting_id == meeting_id,
        _messages.c.message_id.in_(list(message_ids)),
        _messages.c.deleted_at.is_(None),
        _messages.c.late == Late.NO,
        ~_wants_nothing_stored(_messages.c.guild_id, _messages.c.author_id),
    )
    await c.execute(statement.values(late=late))


async def recent(c: AsyncConnection, meeting_id: int, limit: int) -> list[Message]:
    """The newest `limit` messages, oldest first."""
    query = _of(meeting_id).order_by(_messages.c.message_id.desc()).limit(limit)
    return [_message(row) for row in await c.execute(query)][::-1]


async def some(c: AsyncConnection, meeting_id: int, message_ids: Collection[int]) -> list[Message]:
    """Of these messages those that are not deleted, oldest first."""
    if not message_ids:
        return []
    query = _of(meeting_id).where(_messages.c.message_id.in_(list(message_ids)))
    return [_message(row) for row in await c.execute(query.order_by(_messages.c.message_id))]


async def everything(c: AsyncConnection, meeting_id: int) -> list[Message]:
    """All messages that are not deleted, oldest first."""
    return await after(c, meeting_id, -1)


async def count(c: AsyncConnection, meeting_id: int) -> int:
    """Messages that are not deleted."""
    query = sa.select(sa.func.count()).where(
        _messages.c.meeting_id == meeting_id, _messages.c.deleted_at.is_(None)
    )
    return int((await c.execute(query)).scalar_one())


async def count_since(c: AsyncConnection, guild_id: int, since: datetime) -> int:
    """Messages of one server stored with a time from `since` on: what its daily cap counts."""
    query = sa.select(sa.func.count()).where(_messages.c.guild_id == guild_id, _messages.c.at >= since)
    return int((await c.execute(query)).scalar_one())


async def last_id(c: AsyncConnection, meeting_id: int) -> int:
    """The highest message id stored (deleted ones count: they were seen), 0 if there is none."""
    query = sa.select(sa.func.max(_messages.c.message_id)).where(_messages.c.meeting_id == meeting_id)
    return (await c.execute(query)).scalar() or 0


async def last_at(c: AsyncConnection, meeting_id: int) -> datetime | None:
    """When the newest message was written that is not deleted."""
    query = (
        sa.select(_messages.c.at)
        .where(_messages.c.meeting_id == meeting_id, _messages.c.deleted_at.is_(None))
        .order_by(_messages.c.message_id.desc())
        .limit(1)
    )
    return (await c.execute(query)).scalar()


async def speakers(c: AsyncConnection, meeting_id: int) -> tuple[Speaker, ...]:
    """Everyone who wrote, most talkative first, under the name of their newest message."""
    length = sa.func.sum(sa.func.length(_messages.c.text))
    totals = (
        sa.select(
            _messages.c.author_id,
            sa.func.count().label("messages"),
            length.label("characters"),
            sa.func.max(_messages.c.message_id).label("last_id"),
        )
        .where(_messages.c.meeting_id == meeting_id, _messages.c.deleted_at.is_(None))
        .group_by(_messages.c.author_id)
        .subquery()
    )
    query = (
        sa.select(totals, _messages.c.author_name, _messages.c.at)
        .join(
            _messages,
            sa.and_(_messages.c.meeting_id == meeting_id, _messages.c.message_id == totals.c.last_id),
        )
        .order_by(totals.c.characters.desc(), totals.c.author_id)
    )
    return tuple(
        Speaker(row.author_id, row.author_name, row.messages, row.characters, row.at)
        for row in await c.execute(query)
    )


async def react(
    c: AsyncConnection,
    guild_id: int,
    meeting_id: int,
    message_id: int,
    user_id: int,
    user_name: str,
    emoji: str,
    added: bool,
    at: datetime,
) -> bool:
    """Put or take away one person's reaction; False if it was so already (or the person opted out)."""
    key = {"meeting_id": meeting_id, "message_id": message_id, "user_id": user_id, "emoji": emoji}
    if added:
        values = key | {"guild_id": guild_id, "user_name": user_name, "at": at}
        return await _add(c, _reactions, guild_id, user_id, values)
    statement = sa.delete(_reactions).where(*(_reactions.c[name] == value for name, value in key.items()))
    return (await c.execute(statement)).rowcount == 1


async def reactions(
    c: AsyncConnection, meeting_id: int, message_id: int
) -> list[tuple[int, str, str, datetime]]:
    """(user id, user name, emoji, at) of every reaction that stands on the message, in order of time."""
    query = (
        sa.select(_reactions.c.user_id, _reactions.c.user_name, _reactions.c.emoji, _reactions.c.at)
        .where(_reactions.c.meeting_id == meeting_id, _reactions.c.message_id == message_id)
        .order_by(_reactions.c.at, _reactions.c.user_id, _reactions.c.emoji)
    )
    return [(row.user_id, row.user_name, row.emoji, row.at) for row in await c.execute(query)]


async def reactions_on(
    c: AsyncConnection, meeting_id: int, message_ids: Collection[int]
) -> list[tuple[int, int, str, str]]:
    """(message id, user id, user name, emoji) of every reaction on these messages."""
    columns = (_reactions.c.message_id, _reactions.c.user_id, _reactions.c.user_name, _reactions.c.emoji)
    # Not by a list of ids: a long meeting has more of them than a statement may hold.
    query = sa.select(*columns).where(
        _reactions.c.meeting_id == meeting_id, _reactions.c.message_id >= min(message_ids, default=0)
    )
    asked = set(message_ids)
    rows = [row for row in await c.execute(query) if row.message_id in asked]
    return [(row.message_id, row.user_id, row.user_name, row.emoji) for row in rows]


async def joined(c: AsyncConnection, meeting_id: int, message_ids: Collection[int]) -> dict[int, str]:
    """Who said by a reaction to one of these messages (the board) that they take part: name by user id.

    ❌ and 👎 say the opposite.
    """
    query = (
        sa.select(_reactions.c.user_id, _reactions.c.user_name)
        .where(
            _reactions.c.meeting_id == meeting_id,
            _reactions.c.message_id.in_(list(message_ids)),
            _reactions.c.emoji.not_in(["❌", "👎"]),
        )
        .order_by(_reactions.c.at, _reactions.c.user_id)
    )
    return {row.user_id: row.user_name for row in await c.execute(query)}


async def opt_out(c: AsyncConnection, guild_id: int, user_id: int, at: datetime) -> bool:
    """From now on nothing this person writes in this server is stored; False if it was so already."""
    statement = insert(schema.opt_outs).values(guild_id=guild_id, user_id=user_id, at=at)
    return (await c.execute(statement.on_conflict_do_nothing())).rowcount == 1


async def opt_in(c: AsyncConnection, guild_id: int, user_id: int, at: datetime) -> bool:
    """Take an opt-out back; False if there was none. What was written before `at` (Discord's time) stays unheard."""
    table = schema.opt_outs
    statement = sa.delete(table).where(table.c.guild_id == guild_id, table.c.user_id == user_id)
    if (await c.execute(statement)).rowcount != 1:
        return False
    noted = insert(schema.opt_ins).values(guild_id=guild_id, user_id=user_id, at=at)
    await c.execute(
        noted.on_conflict_do_update(index_elements=["guild_id", "user_id"], set_={"at": noted.excluded.at})
    )
    return True


async def opted_in_at(c: AsyncConnection, guild_id: int, user_id: int) -> datetime | None:
    """When this person last took an opt-out back, by Discord's time."""
    table = schema.opt_ins
    query = sa.select(table.c.at).where(table.c.guild_id == guild_id, table.c.user_id == user_id)
    return (await c.execute(query)).scalar()


async def opted_out(c: AsyncConnection, guild_id: int, user_id: int) -> bool:
    return bool((await c.execute(sa.select(_wants_nothing_stored(guild_id, user_id)))).scalar())


async def unheard(c: AsyncConnection, guild_id: int, user_id: int, at: datetime) -> bool:
    """Whether this person wants nothing stored of what they wrote at that moment (Discord's time)."""
    wanted = sa.or_(_wants_nothing_stored(guild_id, user_id), _opted_in_after(guild_id, user_id, at))
    return bool((await c.execute(sa.select(wanted))).scalar())


async def opted_out_of(c: AsyncConnection, guild_id: int, user_ids: Collection[int]) -> frozenset[int]:
    """Those of `user_ids` who opted out on this server."""
    table = schema.opt_outs
    mine = (table.c.guild_id == guild_id, table.c.user_id.in_(list(user_ids)))
    query = sa.select(table.c.user_id).where(*mine)
    return frozenset((await c.execute(query)).scalars()) if user_ids else frozenset()

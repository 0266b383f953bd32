"""The tables, and what the database itself refuses (DESIGN: SQL stands only in this package).

Statements are portable between SQLite and PostgreSQL; the triggers are SQLite's. A change here needs a
revision in `migrations/versions` beside it: a test holds the two against each other.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator


class Moment(TypeDecorator[datetime]):
    """An aware datetime, kept in UTC with its microseconds; SQLite keeps no zone, it is put back."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment without a time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        moment: datetime = value
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def storable(text: str) -> str:
    """`text` without what no database takes: lone surrogates (JSON can carry them) and NUL.

    The error for a lone surrogate would hold the whole message, and the message would be lost.
    """
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


class Words(TypeDecorator[str]):
    """Text that people or models wrote."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else storable(value)


metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)

# SQLite counts only plain INTEGER keys up by itself.
_Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_Word = sa.String(64)


def _column(name: str, kind: Any, *, default: str | None = None) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False, server_default=default)


def _optional(name: str, kind: Any) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=True)


def _snowflake(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.BigInteger, nullable=False)


def _meeting(*, primary_key: bool = False) -> sa.Column[Any]:
    return sa.Column("meeting_id", _Id, sa.ForeignKey("meetings.id"), primary_key=primary_key, nullable=False)


def _key(name: str, kind: Any) -> sa.Column[Any]:
    return sa.Column(name, kind, primary_key=True, autoincrement=False)


meta = sa.Table("meta", metadata, _key("key", _Word), _column("value", sa.Text))

meetings = sa.Table(
    "meetings",
    metadata,
    sa.Column("id", _Id, primary_key=True),
    _snowflake("guild_id"),
    _snowflake("channel_id"),
    _column("channel_kind", _Word),
    _column("title", Words),
    _column("language", _Word),
    _column("timezone", _Word),
    _snowflake("chair_id"),
    _column("chair_name", Words),
    _column("agenda", sa.JSON),
    _column("started_at", Moment),
    _column("planned_end", Moment),
    _column("state", _Word),
    _column("activity", _Word),
    _optional("kickoff_message_id", sa.BigInteger),
    _optional("thread_id", sa.BigInteger),
    _column("model_phase", _Word),
    _column("cursor", sa.BigInteger, default="0"),
    _optional("closing_since", Moment),
    _optional("wish_quote", Words),
    _optional("wish_by", sa.BigInteger),
    _optional("close_at", Moment),
    _optional("quiet_asked_at", Moment),
    _optional("closed_at", Moment),
    # The end of the chain stands apart from it, so that dropping the last entries is noticed too.
    _column("ledger_count", sa.Integer, default="0"),
    _column("ledger_head", _Word, default=""),
    _column("agenda_minutes", sa.JSON, default="[]"),  # minutes or null, one an agenda item
    _optional("parent_id", sa.BigInteger),  # the channel of a public thread or forum post
    _column("heard_to", sa.BigInteger, default="0"),  # nothing was missed up to this message
    sa.Index(
        "uq_meetings_open_channel",
        "guild_id",
        "channel_id",
        unique=True,
        sqlite_where=sa.text("state <> 'closed'"),
        postgresql_where=sa.text("state <> 'closed'"),
    ),
    sa.Index("ix_meetings_guild_id", "guild_id", "channel_id", "started_at"),
    sqlite_autoincrement=True,  # an erased meeting's number never comes back
)

messages = sa.Table(
    "messages",
    metadata,
    _meeting(primary_key=True),
    _key("message_id", sa.BigInteger),
    _snowflake("guild_id"),
    _snowflake("author_id"),
    _column("author_name", Words),
    _column("text", Words),
    _column("at", Moment),
    _optional("reply_to", sa.BigInteger),
    _optional("edited_at", Moment),
    _optional("deleted_at", Moment),
    _column("late", sa.SmallInteger, default="0"),  # bot.meeting.model.Late
    sa.Index("ix_messages_guild_id", "guild_id", "author_id"),
)

reactions = sa.Table(
    "reactions",
    metadata,
    _meeting(primary_key=True),
    _key("message_id", sa.BigInteger),
    _key("user_id", sa.BigInteger),
    _key("emoji", sa.String(128)),
    _snowflake("guild_id"),
    _column("user_name", Words),
    _column("at", Moment),
)

entries = sa.Table(
    "entries",
    metadata,
    _meeting(primary_key=True),
    _key("number", sa.Integer),
    _snowflake("guild_id"),
    _column("kind", _Word),
    _column("text", Words),
    _column("origin", _Word),
    _column("at", Moment),
    _optional("author_id", sa.BigInteger),
    _column("author_name", Words),
    _column("quote", Words),
    _optional("message_id", sa.BigInteger),
    _optional("refers_to", sa.Integer),
    _optional("owner", Words),
    _optional("due", Words),
    _optional("value", sa.Float),
    _column("source_key", sa.String(255)),
    _column("seals", sa.JSON),  # {field: [salt or null, digest]}, see bot.store.ledger
    _column("digest", _Word),
    sa.UniqueConstraint("meeting_id", "source_key"),
    sa.Index("ix_entries_guild_id", "guild_id", "author_id"),
)

redactions = sa.Table(
    "redactions",
    metadata,
    _meeting(primary_key=True),
    _key("number", sa.Integer),
    _key("field", _Word),
)

notices = sa.Table(
    "notices",
    metadata,
    _meeting(primary_key=True),
    _key("planned_end", Moment),
    _key("minutes", sa.Integer),
    _column("at", Moment),
)

posts = sa.Table(
    "posts",
    metadata,
    sa.Column("id", _Id, primary_key=True),
    _snowflake("guild_id"),
    _meeting(),
    _column("key", sa.String(255)),
    _optional("route", _Word),
    _column("persona", _Word),
    _column("kind", _Word),
    _column("place", _Word),
    _column("text", Words),
    _column("payload", sa.JSON),
    _optional("reply_to", sa.BigInteger),
    _optional("source", _Word),
    _optional("generation_id", _Id),
    _column("nonce", _Word),
    _column("state", _Word),
    _column("created_at", Moment),
    _optional("message_id", sa.BigInteger),
    _optional("sent_at", Moment),
    _optional("failure", sa.Text),
    sa.UniqueConstraint("meeting_id", "key"),
    sa.Index("ix_posts_state", "meeting_id", "state"),
    sqlite_autoincrement=True,
)

post_files = sa.Table(
    "post_files",
    metadata,
    sa.Column("post_id", _Id, sa.ForeignKey("posts.id"), primary_key=True),
    _key("position", sa.Integer),
    _column("name", Words),
    _column("content", sa.LargeBinary),
)

attempts = sa.Table(
    "attempts",
    metadata,
    sa.Column("id", _Id, primary_key=True),
    sa.Column("post_id", _Id, sa.ForeignKey("posts.id"), nullable=False, index=True),
    _column("owner", sa.String(128)),
    _column("at", Moment),
)

minutes = sa.Table(
    "minutes",
    metadata,
    _meeting(primary_key=True),
    _snowflake("guild_id"),
    _column("document", Words),
    _column("text", Words),
    _column("digest", _Word),  # head of the ledger the minutes were rendered from
    _column("created_at", Moment),
)

errata = sa.Table(
    "errata",
    metadata,
    _meeting(primary_key=True),
    _key("number", sa.Integer),
    _snowflake("guild_id"),
    _column("text", Words),
    _optional("author_id", sa.BigInteger),
    _column("author_name", Words),
    _column("source_key", sa.String(255)),
    _column("at", Moment),
    sa.UniqueConstraint("meeting_id", "source_key"),
)

generations = sa.Table(
    "generations",
    metadata,
    sa.Column("id", _Id, primary_key=True),
    _snowflake("guild_id"),
    sa.Column("meeting_id", _Id, sa.ForeignKey("meetings.id"), nullable=True),  # null: ask and chat outside
    _column("route", _Word),
    _column("model", sa.String(128)),
    _column("source", _Word),
    _optional("text", Words),
    _column("verdicts", sa.JSON),  # of the chosen text
    _column("at", Moment),
    sa.Index("ix_generations_guild_id", "guild_id", "at"),
    sa.Index("ix_generations_meeting_id", "meeting_id"),
)

generation_attempts = sa.Table(
    "generation_attempts",
    metadata,
    sa.Column("generation_id", _Id, sa.ForeignKey("generations.id"), primary_key=True),
    _key("number", sa.Integer),
    _optional("text", Words),
    _optional("failure", _Word),
    _column("silent", sa.Boolean),
    _column("verdicts", sa.JSON),
    _column("version", sa.String(128)),
    _column("latency_ms", sa.Integer),
    _column("tokens_in", sa.Integer),
    _column("tokens_cached", sa.Integer),
    _column("tokens_out", sa.Integer),
)

servers = sa.Table(
    "servers",
    metadata,
    _key("guild_id", sa.BigInteger),
    _optional("language", _Word),
    _column("timezone", _Word),
    _column("activity", _Word),
    _column("transcript_days", sa.Integer),
    _optional("ledger_days", sa.Integer),
    _optional("messages_per_day", sa.Integer),
    _optional("generations_per_day", sa.Integer),
    _optional("cost_per_day", sa.Float),
    _column("models", sa.JSON),
    _column("starter_roles", sa.JSON),
    _optional("consent_by", sa.BigInteger),
    _optional("consent_at", Moment),
    _column("reminders", sa.Boolean, default="1"),
)

# What holds at the end of closed meetings, normalised for searching; rebuilt from the ledger at any time.
decided = sa.Table(
    "decided",
    metadata,
    _meeting(primary_key=True),
    _key("number", sa.Integer),
    _snowflake("guild_id"),
    _column("text", Words),
    _column("folded", Words),
    _column("confirmed", sa.Boolean),
    _column("against", sa.Boolean),
    _column("at", Moment),
    _optional("message_id", sa.BigInteger),
    sa.Index("ix_decided_guild_id", "guild_id", "at"),
)

# The panel of a meeting that has one, and every turn of it; what is due next is computed from these.
panels = sa.Table(
    "panels",
    metadata,
    _meeting(primary_key=True),
    _snowflake("guild_id"),
    _column("roles", sa.JSON),  # [[name, standpoint]]
    _column("turns", sa.Integer),
    _column("created_at", Moment),
    _optional("cost_cap", sa.Float),  # US dollars
    _optional("webhook_id", sa.BigInteger),  # its token is a secret and stands nowhere
    _optional("webhook_unusable", _Word),
    _optional("stop_reason", _Word),
    _optional("stopped_at", Moment),
)

panel_turns = sa.Table(
    "panel_turns",
    metadata,
    _meeting(primary_key=True),
    _key("number", sa.Integer),
    _snowflake("guild_id"),
    _column("role", sa.Integer),
    _column("outcome", _Word),
    _column("at", Moment),
    _column("agrees", sa.Boolean),
    _column("seen_to", sa.BigInteger),
)

# What the full-text index holds (bot.store.passages): tokens, a row for each thing that can be found.
passages = sa.Table(
    "passages",
    metadata,
    sa.Column("id", _Id, primary_key=True),
    _snowflake("guild_id"),
    _meeting(),
    _column("kind", _Word),  # message, entry, minutes
    _column("ref", sa.BigInteger),  # message id, an item's first number, section
    _optional("author_id", sa.BigInteger),
    _column("terms", Words),
    sa.UniqueConstraint("meeting_id", "kind", "ref"),
    sa.Index("ix_passages_guild_id", "guild_id", "meeting_id"),
)

# How far a meeting is indexed: its last message, ledger entries, and minutes that are in `passages`.
indexed = sa.Table(
    "indexed",
    metadata,
    _meeting(primary_key=True),
    _snowflake("guild_id"),
    _column("message_id", sa.BigInteger),
    _column("entries", sa.Integer),
    _column("minutes", sa.String(128)),
)

opt_outs = sa.Table(
    "opt_outs",
    metadata,
    _key("guild_id", sa.BigInteger),
    _key("user_id", sa.BigInteger),
    _column("at", Moment),
)

# When somebody who had opted out opted in again: what they wrote before that moment stays unheard.
opt_ins = sa.Table(
    "opt_ins",
    metadata,
    _key("guild_id", sa.BigInteger),
    _key("user_id", sa.BigInteger),
    _column("at", Moment),
)

interactions = sa.Table(
    "interactions",
    metadata,
    _key("interaction_id", sa.BigInteger),
    sa.Column("meeting_id", _Id, sa.ForeignKey("meetings.id"), nullable=True, index=True),
    _column("at", Moment),
)

erasure_gate = sa.Table("erasure_gate", metadata, _meeting(primary_key=True))

heartbeats = sa.Table(
    "heartbeats",
    metadata,
    _key("name", _Word),
    _column("at", Moment),
    _column("failures", sa.Integer),
    _column("detail", sa.Text),
)


def _refusal(table: str, verb: str, word: str) -> str:
    return (
        f"CREATE TRIGGER {table}_refuse_{word} BEFORE {verb} ON {table}"
        f" WHEN NOT EXISTS (SELECT 1 FROM erasure_gate WHERE meeting_id = OLD.meeting_id)"
        f" BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
    )


# With recursive_triggers on, the delete trigger also stops INSERT OR REPLACE.
TRIGGERS: dict[str, str] = {
    f"{table}_refuse_{word}": _refusal(table, verb, word)
    for table in ("entries", "redactions")
    for verb, word in (("UPDATE", "update"), ("DELETE", "delete"))
}

"""The first layout.

Revision ID: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_MOMENT = sa.DateTime(timezone=True)


def _refusal(table: str, verb: str, word: str) -> str:
    return (
        f"CREATE TRIGGER {table}_refuse_{word} BEFORE {verb} ON {table}"
        f" WHEN NOT EXISTS (SELECT 1 FROM erasure_gate WHERE meeting_id = OLD.meeting_id)"
        f" BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
    )


def upgrade() -> None:
    """Make every table and the triggers that keep ledger rows as they are."""
    op.create_table(
        "heartbeats",
        sa.Column("name", sa.String(length=64), autoincrement=False, nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_heartbeats")),
    )
    op.create_table(
        "meetings",
        sa.Column("id", _ID, nullable=False),
        sa.Column("guild_id", sa.BigInteger(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=False),
        sa.Column("channel_kind", sa.String(length=64), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("language", sa.String(length=64), nullable=False),
        sa.Column("timezone", sa.String(length=64), nullable=False),
        sa.Column("chair_id", sa.BigInteger(), nullable=False),
        sa.Column("chair_name", sa.Text(), nullable=False),
        sa.Column("agenda", sa.JSON(), nullable=False),
        sa.Column("started_at", _MOMENT, nullable=False),
        sa.Column("planned_end", _MOMENT, nullable=False),
        sa.Column("state", sa.String(length=64), nullable=False),
        sa.Column("activity", sa.String(length=64), nullable=False),
        sa.Column("kickoff_message_id", sa.BigInteger(), nullable=True),
        sa.Column("thread_id", sa.BigInteger(), nullable=True),
        sa.Column("model_phase", sa.String(length=64), nullable=False),
        sa.Column("cursor", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("closing_since", _MOMENT, nullable=True),
        sa.Column("wish_quote", sa.Text(), nullable=True),
        sa.Column("wish_by", sa.BigInteger(), nullable=True),
        sa.Column("close_at", _MOMENT, nullable=True),
        sa.Column("quiet_asked_at", _MOMENT, nullable=True),
        sa.Column("closed_at", _MOMENT, nullable=True),
        sa.Column("ledger_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("ledger_head", sa.String(length=64), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_meetings")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_meetings_guild_id", "meetings", ["guild_id", "channel_id", "started_at"], unique=False
    )
    op.create_index(
        "uq_meetings_open_channel",
        "meetings",
        ["guild_id", "channel_id"],
        unique=True,
        sqlite_where=sa.text("state <> 'closed'"),
        postgresql_where=sa.text("state <> 'closed'"),
    )
    op.create_table(
        "meta",
        sa.Column("key", sa.String(length=64), autoincrement=False, nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_meta")),
    )
    op.create_table(
        "opt_outs",
        sa.Column("guild_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("guild_id", "user_id", name=op.f("pk_opt_outs")),
    )
    op.create_table(
        "servers",
        sa.Column("guild_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("language", sa.String(length=64), nullable=True),
        sa.Column("timezone", sa.String(length=64), nullable=False),
        sa.Column("activity", sa.String(length=64), nullable=False),
        sa.Column("transcript_days", sa.Integer(), nullable=False),
        sa.Column("ledger_days", sa.Integer(), nullable=True),
        sa.Column("messages_per_day", sa.Integer(), nullable=True),
        sa.Column("generations_per_day", sa.Integer(), nullable=True),
        sa.Column("cost_per_day", sa.Float(), nullable=True),
        sa.Column("models", sa.JSON(), nullable=False),
        sa.Column("starter_roles", sa.JSON(), nullable=False),
        sa.Column("consent_by", sa.BigInteger(), nullable=True),
        sa.Column("consent_at", _MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("guild_id", name=op.f("pk_servers")),
    )
    op.create_table(
        "entries",
        sa.Column("meeting_id", _ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("guild_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("origin", sa.String(length=64), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("author_id", sa.BigInteger(), nullable=True),
        sa.Column("author_name", sa.Text(), nullable=False),
        sa.Column("quote", sa.Text(), nullable=False),
        sa.Column("message_id", sa.BigInteger(), nullable=True),
        sa.Column("refers_to", sa.Integer(), nullable=True),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("due", sa.Text(), nullable=True),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("source_key", sa.String(length=255), nullable=False),
        sa.Column("seals", sa.JSON(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["meeting_id"], ["meetings.id"], name=op.f("fk_entries_meeting_id")),
        sa.PrimaryKeyConstraint("meeting_id", "number", name=op.f("pk_entries")),
        sa.UniqueConstraint("meeting_id", "source_key", name=op.f("uq_entries_meeting_id")),
    )
    op.create_index("ix_entries_guild_id", "entries", ["guild_id", "author_id"], unique=False)
    op.create_table(
        "erasure_gate",
        sa.Column("meeting_id", _ID, nullable=False),
        sa.ForeignKeyConstraint(["meeting_id"], ["meetings.id"], name=op.f("fk_erasure_gate_meeting_id")),
        sa.PrimaryKeyConstraint("meeting_id", name=op.f("pk_erasure_gate")),
    )
    op.create_table(
        "errata",
        sa.Column("meeting_id", _ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("guild_id", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("author_id", sa.BigInteger(), nullable=True),
        sa.Column("author_name", sa.Text(), nullable=False),
        sa.Column("source_key", sa.String(length=255), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["meeting_id"], ["meetings.id"], name=op.f("fk_errata_meeting_id")),
        sa.PrimaryKeyConstraint("meeting_id", "number", name=op.f("pk_errata")),
        sa.UniqueConstraint("meeting_id", "source_key", name=op.f("uq_errata_meeting_id")),
    )
    op.create_table(
        "generations",
        sa.Column("id", _ID, nullable=False),
        sa.Column("guild_id", sa.BigInteger(), nullable=False),
        sa.Column("meeting_id", _ID, nullable=True),
        sa.Column("route", sa.String(length=64), nullable=False),
        sa.Column("model", sa.String(length=128), nullable=False),
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("verdicts", sa.JSON(), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["meeting_id"], ["meetings.id"], name=op.f("fk_generations_meeting_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_generations")),
    )
    op.create_index("ix_generations_guild_id", "generations", ["guild_id", "at"], unique=False)
    op.create_index("ix_generations_meeting_id", "generations", ["meeting_id"], unique=False)
    op.create_table(
        "interactions",
        sa.Column("interaction_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("meeting_id", _ID, nullable=True),
        sa.Column("at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["meeting_id"], ["meetings.id"], name=op.f("fk_interactions_meeting_id")),
        sa.PrimaryKeyConstraint("interaction_id", name=op.f("pk_interactions")),
    )
    op.create_index(op.f("ix_interactions_meeting_id"), "interactions", ["meeting_id"], unique=False)
    op.create_table(
        "messages",
        sa.Column("meeting_id", _ID, nullable=False),
        sa.Column("message_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("guild_id", sa.BigInteger(), nullable=False),
        sa.Column("author_id", sa.BigInteger(), nullable=False),
        sa.Column("author_name", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("reply_to", sa.BigInteger(), nullable=True),
        sa.Column("edited_at", _MOMENT, nullable=True),
        sa.Column("deleted_at", _MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["meeting_id"], ["meetings.id"], name=op.f("fk_messages_meeting_id")),
        sa.PrimaryKeyConstraint("meeting_id", "message_id", name=op.f("pk_messages")),
    )
    op.create_index("ix_messages_guild_id", "messages", ["guild_id", "author_id"], unique=False)
    op.create_table(
        "minutes",
        sa.Column("meeting_id", _ID, nullable=False),
        sa.Column("guild_id", sa.BigInteger(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["meeting_id"], ["meetings.id"], name=op.f("fk_minutes_meeting_id")),
        sa.PrimaryKeyConstraint("meeting_id", name=op.f("pk_minutes")),
    )
    op.create_table(
        "notices",
        sa.Column("meeting_id", _ID, nullable=False),
        sa.Column("planned_end", _MOMENT, autoincrement=False, nullable=False),
        sa.Column("minutes", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["meeting_id"], ["meetings.id"], name=op.f("fk_notices_meeting_id")),
        sa.PrimaryKeyConstraint("meeting_id", "planned_end", "minutes", name=op.f("pk_notices")),
    )
    op.create_table(
        "posts",
        sa.Column("id", _ID, nullable=False),
        sa.Column("guild_id", sa.BigInteger(), nullable=False),
        sa.Column("meeting_id", _ID, nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("route", sa.String(length=64), nullable=True),
        sa.Column("persona", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("place", sa.String(length=64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("reply_to", sa.BigInteger(), nullable=True),
        sa.Column("source", sa.String(length=64), nullable=True),
        sa.Column("generation_id", _ID, nullable=True),
        sa.Column("nonce", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=64), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("message_id", sa.BigInteger(), nullable=True),
        sa.Column("sent_at", _MOMENT, nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["meeting_id"], ["meetings.id"], name=op.f("fk_posts_meeting_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_posts")),
        sa.UniqueConstraint("meeting_id", "key", name=op.f("uq_posts_meeting_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_posts_state", "posts", ["meeting_id", "state"], unique=False)
    op.create_table(
        "reactions",
        sa.Column("meeting_id", _ID, nullable=False),
        sa.Column("message_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("emoji", sa.String(length=128), autoincrement=False, nullable=False),
        sa.Column("guild_id", sa.BigInteger(), nullable=False),
        sa.Column("user_name", sa.Text(), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["meeting_id"], ["meetings.id"], name=op.f("fk_reactions_meeting_id")),
        sa.PrimaryKeyConstraint("meeting_id", "message_id", "user_id", "emoji", name=op.f("pk_reactions")),
    )
    op.create_table(
        "redactions",
        sa.Column("meeting_id", _ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("field", sa.String(length=64), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["meeting_id"], ["meetings.id"], name=op.f("fk_redactions_meeting_id")),
        sa.PrimaryKeyConstraint("meeting_id", "number", "field", name=op.f("pk_redactions")),
    )
    op.create_table(
        "attempts",
        sa.Column("id", _ID, nullable=False),
        sa.Column("post_id", _ID, nullable=False),
        sa.Column("owner", sa.String(length=128), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["post_id"], ["posts.id"], name=op.f("fk_attempts_post_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempts")),
    )
    op.create_index(op.f("ix_attempts_post_id"), "attempts", ["post_id"], unique=False)
    op.create_table(
        "generation_attempts",
        sa.Column("generation_id", _ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("failure", sa.String(length=64), nullable=True),
        sa.Column("silent", sa.Boolean(), nullable=False),
        sa.Column("verdicts", sa.JSON(), nullable=False),
        sa.Column("version", sa.String(length=128), nullable=False),
        sa.Column("latency_ms", sa.Integer(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_cached", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["generation_id"], ["generations.id"], name=op.f("fk_generation_attempts_generation_id")
        ),
        sa.PrimaryKeyConstraint("generation_id", "number", name=op.f("pk_generation_attempts")),
    )
    op.create_table(
        "post_files",
        sa.Column("post_id", _ID, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["post_id"], ["posts.id"], name=op.f("fk_post_files_post_id")),
        sa.PrimaryKeyConstraint("post_id", "position", name=op.f("pk_post_files")),
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute(_refusal("entries", "UPDATE", "update"))
        op.execute(_refusal("entries", "DELETE", "delete"))
        op.execute(_refusal("redactions", "UPDATE", "update"))
        op.execute(_refusal("redactions", "DELETE", "delete"))


def downgrade() -> None:
    """There is nothing before the first layout; going back would drop people's ledgers."""
    raise NotImplementedError("no layout before the first")

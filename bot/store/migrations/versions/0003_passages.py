"""The full-text index for questions to the assistant.

Revision ID: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision: str | None = "0002"
branch_labels: str | None = None
depends_on: str | None = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_FTS = (
    "CREATE VIRTUAL TABLE passages_fts USING fts5(terms, content='passages', content_rowid='id',"
    " tokenize='unicode61 remove_diacritics 0', detail='none')"
)
_TRIGGERS = (
    (
        "CREATE TRIGGER passages_added AFTER INSERT ON passages BEGIN INSERT INTO passages_fts"
        " (rowid, terms) VALUES (NEW.id, NEW.terms); END"
    ),
    (
        "CREATE TRIGGER passages_gone AFTER DELETE ON passages BEGIN INSERT INTO passages_fts"
        " (passages_fts, rowid, terms) VALUES ('delete', OLD.id, OLD.terms); INSERT OR REPLACE INTO"
        " meta (key, value) VALUES ('passages to scrub', '1'); END"
    ),
    (
        "CREATE TRIGGER passages_changed AFTER UPDATE ON passages BEGIN INSERT INTO passages_fts"
        " (passages_fts, rowid, terms) VALUES ('delete', OLD.id, OLD.terms); INSERT INTO"
        " passages_fts (rowid, terms) VALUES (NEW.id, NEW.terms); INSERT OR REPLACE INTO meta (key,"
        " value) VALUES ('passages to scrub', '1'); END"
    ),
    (
        "CREATE TRIGGER messages_leave_passages_update AFTER UPDATE ON messages BEGIN DELETE FROM"
        " passages WHERE meeting_id = OLD.meeting_id AND kind = 'message' AND ref = OLD.message_id;"
        " UPDATE indexed SET message_id = min(message_id, OLD.message_id - 1) WHERE meeting_id ="
        " OLD.meeting_id; END"
    ),
    (
        "CREATE TRIGGER messages_leave_passages_delete AFTER DELETE ON messages BEGIN DELETE FROM"
        " passages WHERE meeting_id = OLD.meeting_id AND kind = 'message' AND ref = OLD.message_id;"
        " UPDATE indexed SET message_id = min(message_id, OLD.message_id - 1) WHERE meeting_id ="
        " OLD.meeting_id; END"
    ),
    (
        "CREATE TRIGGER entries_leave_passages_update AFTER UPDATE ON entries BEGIN DELETE FROM"
        " passages WHERE meeting_id = OLD.meeting_id AND kind = 'entry'; UPDATE indexed SET entries"
        " = -1 WHERE meeting_id = OLD.meeting_id; END"
    ),
    (
        "CREATE TRIGGER entries_leave_passages_delete AFTER DELETE ON entries BEGIN DELETE FROM"
        " passages WHERE meeting_id = OLD.meeting_id AND kind = 'entry'; UPDATE indexed SET entries"
        " = -1 WHERE meeting_id = OLD.meeting_id; END"
    ),
    (
        "CREATE TRIGGER minutes_leave_passages_update AFTER UPDATE ON minutes BEGIN DELETE FROM"
        " passages WHERE meeting_id = OLD.meeting_id AND kind = 'minutes'; UPDATE indexed SET"
        " minutes = '' WHERE meeting_id = OLD.meeting_id; END"
    ),
    (
        "CREATE TRIGGER minutes_leave_passages_delete AFTER DELETE ON minutes BEGIN DELETE FROM"
        " passages WHERE meeting_id = OLD.meeting_id AND kind = 'minutes'; UPDATE indexed SET"
        " minutes = '' WHERE meeting_id = OLD.meeting_id; END"
    ),
    (
        "CREATE TRIGGER errata_leave_passages_update AFTER UPDATE ON errata BEGIN DELETE FROM"
        " passages WHERE meeting_id = OLD.meeting_id AND kind = 'minutes'; UPDATE indexed SET"
        " minutes = '' WHERE meeting_id = OLD.meeting_id; END"
    ),
    (
        "CREATE TRIGGER errata_leave_passages_delete AFTER DELETE ON errata BEGIN DELETE FROM"
        " passages WHERE meeting_id = OLD.meeting_id AND kind = 'minutes'; UPDATE indexed SET"
        " minutes = '' WHERE meeting_id = OLD.meeting_id; END"
    ),
)
_NAMES = (
    "passages_added",
    "passages_gone",
    "passages_changed",
    "messages_leave_passages_update",
    "messages_leave_passages_delete",
    "entries_leave_passages_update",
    "entries_leave_passages_delete",
    "minutes_leave_passages_update",
    "minutes_leave_passages_delete",
    "errata_leave_passages_update",
    "errata_leave_passages_delete",
)


def upgrade() -> None:
    """Tables that fill themselves when somebody asks; nothing is indexed here."""
    op.create_table(
        "passages",
        sa.Column("id", _ID, nullable=False),
        sa.Column("guild_id", sa.BigInteger(), nullable=False),
        sa.Column("meeting_id", _ID, nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("ref", sa.BigInteger(), nullable=False),
        sa.Column("author_id", sa.BigInteger(), nullable=True),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["meeting_id"], ["meetings.id"], name=op.f("fk_passages_meeting_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_passages")),
        sa.UniqueConstraint("meeting_id", "kind", "ref", name=op.f("uq_passages_meeting_id")),
    )
    op.create_index("ix_passages_guild_id", "passages", ["guild_id", "meeting_id"], unique=False)
    op.create_table(
        "indexed",
        sa.Column("meeting_id", _ID, nullable=False),
        sa.Column("guild_id", sa.BigInteger(), nullable=False),
        sa.Column("message_id", sa.BigInteger(), nullable=False),
        sa.Column("entries", sa.Integer(), nullable=False),
        sa.Column("minutes", sa.String(length=128), nullable=False),
        sa.ForeignKeyConstraint(["meeting_id"], ["meetings.id"], name=op.f("fk_indexed_meeting_id")),
        sa.PrimaryKeyConstraint("meeting_id", name=op.f("pk_indexed")),
    )
    op.execute(_FTS)
    for trigger in _TRIGGERS:
        op.execute(trigger)


def downgrade() -> None:
    """Take the index away; everything in it can be read from the record again."""
    for name in _NAMES:
        op.execute(f"DROP TRIGGER {name}")
    op.execute("DROP TABLE passages_fts")
    op.drop_table("indexed")
    op.drop_table("passages")

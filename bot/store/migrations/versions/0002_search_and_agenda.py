"""Minutes per agenda item, the channel of a thread, reminders, and what searching reads.

Revision ID: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision: str | None = "0001"
branch_labels: str | None = None
depends_on: str | None = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Add columns one by one: a batch would rebuild the table and drop its triggers silently."""
    op.add_column("meetings", sa.Column("agenda_minutes", sa.JSON(), server_default="[]", nullable=False))
    op.add_column("meetings", sa.Column("parent_id", sa.BigInteger(), nullable=True))
    op.add_column("servers", sa.Column("reminders", sa.Boolean(), server_default="1", nullable=False))
    op.create_table(
        "decided",
        sa.Column("meeting_id", _ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("guild_id", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("folded", sa.Text(), nullable=False),
        sa.Column("confirmed", sa.Boolean(), nullable=False),
        sa.Column("against", sa.Boolean(), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("message_id", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["meeting_id"], ["meetings.id"], name=op.f("fk_decided_meeting_id")),
        sa.PrimaryKeyConstraint("meeting_id", "number", name=op.f("pk_decided")),
    )
    op.create_index("ix_decided_guild_id", "decided", ["guild_id", "at"], unique=False)


def downgrade() -> None:
    """Take away what was added; nothing that people said stands in it."""
    op.drop_table("decided")
    op.drop_column("servers", "reminders")
    op.drop_column("meetings", "parent_id")
    op.drop_column("meetings", "agenda_minutes")

"""Panels of AI participants: who takes part, and every turn that was taken.

Revision ID: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision: str | None = "0003"
branch_labels: str | None = None
depends_on: str | None = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Two new tables; nothing that exists changes."""
    op.create_table(
        "panels",
        sa.Column("meeting_id", _ID, nullable=False),
        sa.Column("guild_id", sa.BigInteger(), nullable=False),
        sa.Column("roles", sa.JSON(), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("cost_cap", sa.Float(), nullable=True),
        sa.Column("webhook_id", sa.BigInteger(), nullable=True),
        sa.Column("webhook_unusable", sa.String(length=64), nullable=True),
        sa.Column("stop_reason", sa.String(length=64), nullable=True),
        sa.Column("stopped_at", _MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["meeting_id"], ["meetings.id"], name=op.f("fk_panels_meeting_id")),
        sa.PrimaryKeyConstraint("meeting_id", name=op.f("pk_panels")),
    )
    op.create_table(
        "panel_turns",
        sa.Column("meeting_id", _ID, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("guild_id", sa.BigInteger(), nullable=False),
        sa.Column("role", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(length=64), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("agrees", sa.Boolean(), nullable=False),
        sa.Column("seen_to", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["meeting_id"], ["meetings.id"], name=op.f("fk_panel_turns_meeting_id")),
        sa.PrimaryKeyConstraint("meeting_id", "number", name=op.f("pk_panel_turns")),
    )


def downgrade() -> None:
    """Take away what was added; what panelists said stands in the transcript like everybody's words."""
    op.drop_table("panel_turns")
    op.drop_table("panels")

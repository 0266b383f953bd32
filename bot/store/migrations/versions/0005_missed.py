"""What was missed: how far nothing was, and which messages were heard of late.

Revision ID: 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision: str | None = "0004"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Two new columns. A meeting under way is read from its kickoff once more: nothing vouches for less."""
    op.add_column("meetings", sa.Column("heard_to", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("messages", sa.Column("late", sa.SmallInteger(), server_default="0", nullable=False))


def downgrade() -> None:
    """What is late by then counts as read."""
    op.drop_column("messages", "late")
    op.drop_column("meetings", "heard_to")

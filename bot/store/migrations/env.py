"""Run by Alembic inside the transaction that `bot.store.engine` opened."""

from __future__ import annotations

from alembic import context

from bot.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()

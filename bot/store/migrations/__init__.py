"""Alembic's home. `bot.store.engine` runs it from code at every start; there is no alembic.ini.

A new revision is a file in `versions` with `revision` one up and `down_revision` the one before; it is
written out in full and never imports `bot.store.schema`, which moves on. Batch mode drops triggers silently:
create them again in the same revision (the start asserts that they stand).
"""

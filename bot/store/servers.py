"""What a server has set for itself; a server that set nothing has the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from types import MappingProxyType

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.meeting.model import Activity, Language
from bot.store import schema


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """None means: the application's own setting, or no end (ledger_days).

    `transcript_days`: how long transcripts are kept after the meeting closed (SPEC 6: 90 by default).
    `models`: route -> model name, for routes that differ from the default. `starter_roles`: who may start a
    meeting; empty = everyone. `consent_by/at`: who agreed for the server that messages go to a model.
    """

    guild_id: int
    language: Language | None = None
    timezone: str | None = None
    activity: Activity = Activity.NORMAL
    transcript_days: int | None = None
    ledger_days: int | None = None
    messages_per_day: int | None = None
    generations_per_day: int | None = None
    cost_per_day: float | None = None  # US dollars
    models: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    starter_roles: tuple[int, ...] = ()
    consent_by: int | None = None
    consent_at: datetime | None = None
    reminders: bool = True  # one post on the day an action is due


# What a row holds where the server chose nothing: these two columns take no NULL.
_NO_ZONE, _NO_DAYS = "", 0


async def get(c: AsyncConnection, guild_id: int) -> ServerSettings:
    """The settings of one server, the defaults where it has none."""
    row = (await c.execute(sa.select(schema.servers).where(schema.servers.c.guild_id == guild_id))).first()
    if row is None:
        return ServerSettings(guild_id)
    values = dict(row._mapping)
    values["timezone"] = values["timezone"] or None
    values["transcript_days"] = values["transcript_days"] or None
    values["activity"] = Activity(values["activity"])
    values["models"] = MappingProxyType(values["models"])
    values["starter_roles"] = tuple(values["starter_roles"])
    return ServerSettings(**values)


async def save(c: AsyncConnection, settings: ServerSettings) -> None:
    """Put all settings of one server in the place of the old ones."""
    values = {f.name: getattr(settings, f.name) for f in fields(ServerSettings)}
    values["timezone"] = settings.timezone or _NO_ZONE
    values["transcript_days"] = settings.transcript_days or _NO_DAYS
    values["models"] = dict(settings.models)
    values["starter_roles"] = list(settings.starter_roles)
    changes = {name: value for name, value in values.items() if name != "guild_id"}
    statement = insert(schema.servers).values(**values)
    await c.execute(statement.on_conflict_do_update(index_elements=["guild_id"], set_=changes))

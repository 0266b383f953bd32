"""What a server sets for itself (`/settings`), checked when it is entered: no meeting meets it wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import cache
from zoneinfo import available_timezones

from bot.errors import BadInput, NotAllowed
from bot.facilitation.core import Core
from bot.facilitation.policy import Today
from bot.facilitation.requests import Person
from bot.meeting.model import LANGUAGES, Activity, Language, Route
from bot.meeting.text import fold
from bot.models.base import Usage
from bot.models.prices import cost
from bot.store import servers
from bot.store.engine import Connection
from bot.store.servers import ServerSettings

DAYS = 3650
SUGGESTED = 25
DEFAULT = "default"  # takes a model or a time zone back to the application's own
EVERY_ROUTE = "all"
ROUTES = (EVERY_ROUTE, *(route.value for route in Route))


@dataclass(frozen=True, slots=True)
class Wanted:
    """Changes as entered; None leaves a setting as it is. 0 takes a number back to the application's own
    (days of the ledger: kept until erased). `starter_role`: the only role that starts meetings; the server's own id
    means everyone. `model` goes with `route`, one of `ROUTES`."""

    language: str | None = None
    timezone: str | None = None
    activity: str | None = None
    transcript_days: int | None = None
    ledger_days: int | None = None
    route: str | None = None
    model: str | None = None
    messages_per_day: int | None = None
    generations_per_day: int | None = None
    cost_per_day: float | None = None
    starter_role: int | None = None
    reminders: bool | None = None


@dataclass(frozen=True, slots=True)
class InForce:
    """What holds on one server now, and what it has used today. `cost_per_day` None: no limit;
    `ledger_days` None: until erased; `models`: (route, model) of every route."""

    language: Language
    timezone: str
    activity: Activity
    transcript_days: int
    ledger_days: int | None
    models: tuple[tuple[Route, str], ...]
    messages_per_day: int
    generations_per_day: int
    cost_per_day: float | None
    starter_roles: tuple[int, ...]
    reminders: bool
    today: Today


class Servers:
    """`models`: the names that a server may choose. Public methods raise NotAllowed without Manage Server."""

    def __init__(self, core: Core, models: Sequence[str]) -> None:
        self._core, self._models = core, tuple(models)

    async def show(self, guild_id: int, by: Person) -> InForce:
        _allow(by)
        now = self._core.clock.now()
        return await self._core.db.unit(lambda c: self._in_force(c, guild_id, now))

    async def change(self, guild_id: int, by: Person, wanted: Wanted) -> InForce:
        """All changes or, where one cannot be used, none: BadInput says which and what to enter."""
        _allow(by)
        if all(getattr(wanted, f.name) is None for f in fields(wanted)):
            raise BadInput("error.settings_nothing")
        now = self._core.clock.now()

        async def work(c: Connection) -> InForce:
            settings = self._changed(await servers.get(c, guild_id), wanted)
            self._check(settings)
            await servers.save(c, settings)
            return await self._in_force(c, guild_id, now)

        return await self._core.db.unit(work)

    async def _in_force(self, c: Connection, guild_id: int, now: datetime) -> InForce:
        core, policy = self._core, self._core.policy
        settings = await policy.load(c, guild_id)
        language = policy.language(settings)
        caps = policy.caps(settings)
        return InForce(
            language=language,
            timezone=policy.timezone(settings, language),
            activity=settings.activity,
            transcript_days=policy.transcript_days(settings),
            ledger_days=settings.ledger_days,
            models=tuple((route, core.model_for(route, guild_id)) for route in Route),
            messages_per_day=int(caps["messages"] or 0),
            generations_per_day=int(caps["generations"] or 0),
            cost_per_day=caps["cost"],
            starter_roles=settings.starter_roles,
            reminders=settings.reminders,
            today=replace(await policy.count(c, guild_id, now)),
        )

    # ------------------------------------------------------------------ what may be entered

    def _changed(self, old: ServerSettings, wanted: Wanted) -> ServerSettings:
        most = self._core.policy.defaults
        new = old
        if wanted.language is not None:
            new = replace(new, language=_language(wanted.language))
        if wanted.timezone is not None:
            new = replace(new, timezone=_zone(wanted.timezone))
        if wanted.activity is not None:
            new = replace(new, activity=_activity(wanted.activity))
        if wanted.transcript_days is not None:
            new = replace(new, transcript_days=_number(wanted.transcript_days, DAYS))
        if wanted.ledger_days is not None:
            new = replace(new, ledger_days=_number(wanted.ledger_days, DAYS))
        if wanted.messages_per_day is not None:
            new = replace(new, messages_per_day=_number(wanted.messages_per_day, most.messages_per_day))
        if wanted.generations_per_day is not None:
            new = replace(
                new, generations_per_day=_number(wanted.generations_per_day, most.generations_per_day)
            )
        if wanted.cost_per_day is not None:
            new = replace(new, cost_per_day=_dollars(wanted.cost_per_day, most.cost_per_day))
        if wanted.starter_role is not None:
            everyone = wanted.starter_role == old.guild_id
            new = replace(new, starter_roles=() if everyone else (wanted.starter_role,))
        if wanted.reminders is not None:
            new = replace(new, reminders=wanted.reminders)
        if wanted.model is not None or wanted.route is not None:
            new = replace(new, models=self._with_model(new, wanted.route, wanted.model))
        return new

    def _with_model(self, settings: ServerSettings, route: str | None, model: str | None) -> dict[str, str]:
        if model is None:
            raise BadInput("error.settings_model_missing")
        name = model.strip()
        if name != DEFAULT and name not in self._models:
            raise BadInput("error.settings_model", model=name[:60], known=", ".join(self._models))
        if (route or EVERY_ROUTE) not in ROUTES:
            raise BadInput("error.settings_route", known=", ".join(ROUTES))
        routes = [r.value for r in Route] if route in (None, EVERY_ROUTE) else [str(route)]
        kept = {key: value for key, value in settings.models.items() if key not in routes}
        return kept if name == DEFAULT else kept | dict.fromkeys(routes, name)

    def _check(self, settings: ServerSettings) -> None:
        """What only shows when all settings are seen together."""
        policy = self._core.policy
        transcript = policy.transcript_days(settings)
        if settings.ledger_days is not None and settings.ledger_days < transcript:
            raise BadInput("error.settings_ledger_shorter", days=transcript)
        if policy.caps(settings)["cost"] is None:
            return
        for route in Route:
            name = settings.models.get(route.value) or self._core.model_name(route)
            if cost(Usage(1, 0, 1), name) is None:
                raise BadInput("error.settings_no_price", model=name)

    # ------------------------------------------------------------------ suggestions

    def models(self, typed: str) -> list[str]:
        wanted = fold(typed.strip())
        return [name for name in (DEFAULT, *self._models) if wanted in fold(name)][:SUGGESTED]

    def zones(self, typed: str) -> list[str]:
        """Those that begin with what was typed, then those that hold it."""
        wanted = fold(typed.strip()).replace(" ", "_")
        found = [name for name in (DEFAULT, *sorted(available_timezones())) if wanted in fold(name)]
        return sorted(found, key=lambda name: not fold(name.rpartition("/")[2]).startswith(wanted))[
            :SUGGESTED
        ]


def _allow(by: Person) -> None:
    if not by.manager:
        raise NotAllowed("error.settings_rights")


def _language(entered: str) -> Language:
    for language in LANGUAGES:
        if entered == language:
            return language
    raise BadInput("error.language", known=", ".join(LANGUAGES))


@cache
def _zones() -> dict[str, str]:
    return {fold(name): name for name in available_timezones()}


def _zone(entered: str) -> str | None:
    """The zone's own spelling, however its letters were typed; None for the application's own."""
    typed = entered.strip()
    if typed == DEFAULT:
        return None
    name = _zones().get(fold(typed).replace(" ", "_"))
    if name is None:
        raise BadInput("error.settings_timezone", entered=typed[:60])
    return name


def _activity(entered: str) -> Activity:
    try:
        return Activity(entered)
    except ValueError:
        raise BadInput("error.settings_activity", known=", ".join(a.value for a in Activity)) from None


def _number(entered: int, most: int) -> int | None:
    if not 0 <= entered <= most:
        raise BadInput("error.settings_range", most=most)
    return entered or None


def _dollars(entered: float, most: float | None) -> float | None:
    """Above the application's own cap nobody goes, for its owner pays."""
    if not math.isfinite(entered) or entered < 0 or (most is not None and entered > most):
        raise BadInput("error.settings_cost", most="∞" if most is None else f"{most:g}")
    return entered or None

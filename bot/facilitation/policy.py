"""What each server set for its meetings, and what it has used of its day (SPEC 6, issue: load).

A cap reached means marks-only operation: no provider is asked until the day is over, everything else goes on.
Counts live in memory and are read from rows once a day and server, so that a flood costs no counting.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from bot.guard.model import Generated
from bot.meeting.model import Language
from bot.models.base import Usage
from bot.models.prices import at_most, cost
from bot.store import generations, servers, transcript
from bot.store.engine import Connection
from bot.store.servers import ServerSettings

JAPAN = "Asia/Tokyo"  # where a server that speaks Japanese most likely is
FREE = "offline"  # the engine whose answers no cap counts
Cap = str  # "messages", "generations" or "cost"


@dataclass(frozen=True, slots=True)
class Defaults:
    """The application's own: what holds where a server set nothing, and the most a server may set."""

    language: Language = "en"
    timezone: str = "UTC"
    transcript_days: int = 90
    messages_per_day: int = 20_000
    generations_per_day: int = 2_000
    cost_per_day: float | None = None  # US dollars


@dataclass(slots=True)
class Today:
    """What one server has used since midnight in its own time zone."""

    day: date
    messages: int = 0
    generations: int = 0
    cost: float = 0.0
    told: set[Cap] = field(default_factory=set)  # caps that the operator's log has named today


class Policy:
    def __init__(
        self, defaults: Defaults | None = None, reached: Callable[[int, Cap], None] | None = None
    ) -> None:
        """`reached(guild_id, cap)` is called once a day and cap."""
        self.defaults = defaults or Defaults()
        self._reached = reached or (lambda guild_id, cap: None)
        self._settings: dict[int, ServerSettings] = {}
        self._today: dict[int, Today] = {}

    # ------------------------------------------------------------------ settings

    def settings(self, guild_id: int) -> ServerSettings:
        """As last read; the defaults where nothing was read yet."""
        return self._settings.get(guild_id) or ServerSettings(guild_id)

    async def load(self, c: Connection, guild_id: int) -> ServerSettings:
        found = self._settings[guild_id] = await servers.get(c, guild_id)
        return found

    def language(self, settings: ServerSettings) -> Language:
        return settings.language or self.defaults.language

    def timezone(self, settings: ServerSettings, language: Language) -> str:
        if settings.timezone is not None:
            return settings.timezone
        return JAPAN if language == "ja" else self.defaults.timezone

    def transcript_days(self, settings: ServerSettings) -> int:
        return settings.transcript_days or self.defaults.transcript_days

    # ------------------------------------------------------------------ caps

    def caps(self, settings: ServerSettings) -> dict[Cap, float | None]:
        """What holds for the server: its own caps, never above the application's."""
        mine = self.defaults
        return {
            "messages": _least(settings.messages_per_day, mine.messages_per_day),
            "generations": _least(settings.generations_per_day, mine.generations_per_day),
            "cost": _least(settings.cost_per_day, mine.cost_per_day),
        }

    async def count(self, c: Connection, guild_id: int, now: datetime) -> Today:
        """What the server has used today; read from rows where the day is new or the process is."""
        settings = self.settings(guild_id)
        zone = ZoneInfo(self.timezone(settings, self.language(settings)))
        day = now.astimezone(zone).date()
        known = self._today.get(guild_id)
        if known is not None and known.day == day:
            return known
        since = datetime.combine(day, time.min, zone)
        spent = await generations.usage(c, guild_id, since)
        found = self._today[guild_id] = Today(
            day,
            await transcript.count_since(c, guild_id, since),
            await generations.count_since(c, guild_id, since, free=FREE),
            sum(price_of(Usage(u.tokens_in, u.tokens_cached, u.tokens_out), u.version) for u in spent),
        )
        return found

    def reached(self, guild_id: int) -> tuple[Cap, ...]:
        """Caps that the server has used up, by the counts as last read."""
        today = self._today.get(guild_id)
        if today is None:
            return ()
        used = {"messages": today.messages, "generations": today.generations, "cost": today.cost}
        caps = self.caps(self.settings(guild_id))
        over = tuple(name for name, cap in caps.items() if cap is not None and used[name] >= cap)
        for cap in over:
            if cap not in today.told:
                today.told.add(cap)
                self._reached(guild_id, cap)
        return over

    def heard(self, guild_id: int) -> None:
        """One message was stored."""
        if guild_id in self._today:
            self._today[guild_id].messages += 1

    def spent(self, guild_id: int, generated: Generated) -> None:
        """One generation was recorded: it counts, and every call of it costs."""
        today = self._today.get(guild_id)
        if today is None or generated.model == FREE:
            return
        today.generations += 1
        today.cost += sum(
            price_of(Usage(a.tokens_in, a.tokens_cached, a.tokens_out), a.version, generated.model)
            for a in generated.attempts
        )


def _least(own: float | None, most: float | None) -> float | None:
    known = [cap for cap in (own, most) if cap is not None]
    return min(known) if known else None


def price_of(usage: Usage, *names: str) -> float:
    """US dollars, by the first name that has a price: the returned version, then the model asked for."""
    known = (cost(usage, name) for name in names if name)
    return next((price for price in known if price is not None), at_most(usage))

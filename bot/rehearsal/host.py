"""What a rehearsal drives: something that starts a bot, stops it, and can say what it has recorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from discord.ext import commands

from bot.models.base import Model


@dataclass(frozen=True, slots=True)
class Seam:
    """What a rehearsal puts in the place of the real world."""

    now: Callable[[], datetime]
    wait: Callable[[Awaitable[Any], str], Awaitable[Any]]
    watch: Callable[[str, Mapping[str, Any]], None]
    wrap_model: Callable[[Model], Model]


class Host(Protocol):
    async def start(self, seam: Seam) -> commands.Bot:
        """A new bot over the same stored state, its services open; not logged in yet."""

    async def stop(self, *, crashed: bool) -> None:
        """Let go of what the last bot held; after a crash nothing more may be written."""

    async def ledger(self, meeting_id: int) -> list[dict[str, Any]]:
        """All entries of a meeting as output lines name their fields."""

    async def minutes(self, meeting_id: int) -> dict[str, Any] | None:
        """{"text": the minutes.md, "document": the JSON export}, or None where there are none."""

"""The product as a rehearsal drives it: the real bot over the real store, seamed where the world begins."""

from __future__ import annotations

from typing import Any

from discord.ext import commands

from bot.app import App, build
from bot.client import build_bot
from bot.meeting.model import Language
from bot.rehearsal.host import Seam
from bot.settings import Settings


class Product:
    """Implements `Host`. Every start builds services and bot anew over the same database."""

    def __init__(self, database_url: str, model: str, language: Language, seed: int) -> None:
        self._settings = Settings(
            database_url=database_url, model=model, light_model=model, language=language, seed=seed
        )
        self._app: App | None = None

    @property
    def app(self) -> App:
        assert self._app is not None, "no bot has been started"
        return self._app

    async def start(self, seam: Seam) -> commands.Bot:
        self._app = build(self._settings, now=seam.now, wait=seam.wait, wrap_model=seam.wrap_model)
        self._app.watchers.append(seam.watch)
        await self._app.open()
        return build_bot(self._app)

    async def stop(self, *, crashed: bool) -> None:
        if crashed:
            # Its tasks are cancelled already; only the file must be let go of for the next one to open it.
            await self.app.db.close()
        else:
            await self.app.close()

    async def ledger(self, meeting_id: int) -> list[dict[str, Any]]:
        return await self.app.ledger_export(meeting_id)

    async def minutes(self, meeting_id: int) -> dict[str, Any] | None:
        return await self.app.minutes_export(meeting_id)

"""`/minutes show` and `/minutes export`."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import discord
from discord.ext import commands

from bot.phrases import t
from cogs._commands import add_command
from cogs._render import answer, answer_post, defer, place, reader

if TYPE_CHECKING:
    from bot.client import KetsugiBot

FORMS = ("md", "json", "csv")


class Archive(commands.Cog):
    def __init__(self, bot: KetsugiBot) -> None:
        self.bot = bot
        add_command(bot.tree, "minutes.show", self.show)
        add_command(bot.tree, "minutes.export", self.export, choices={"form": FORMS})

    async def show(self, interaction: discord.Interaction[KetsugiBot], meeting: int | None = None) -> None:
        await defer(interaction)
        await answer_post(interaction, await self.bot.app.minutes.show(place(interaction), meeting))

    async def export(
        self, interaction: discord.Interaction[KetsugiBot], form: str = "md", meeting: int | None = None
    ) -> None:
        await defer(interaction)
        name, content = await self.bot.app.minutes.export(place(interaction), meeting, form)
        text = t("reply.exported", reader(interaction), name=name)
        await answer(interaction, text, files=[discord.File(io.BytesIO(content), name)])


async def setup(bot: KetsugiBot) -> None:
    await bot.add_cog(Archive(bot))

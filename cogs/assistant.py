"""`/ask`: a question to the record, answered to the person who asked, from what that person can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
from discord import app_commands
from discord.ext import commands

from bot.meeting.model import Persona
from cogs._commands import add_command
from cogs._render import answer, defer, person, place
from cogs._rights import readable_channels
from cogs._stage import name_line

if TYPE_CHECKING:
    from bot.client import KetsugiBot


class Assistant(commands.Cog):
    def __init__(self, bot: KetsugiBot) -> None:
        self.bot = bot
        add_command(bot.tree, "ask", self.ask)

    async def ask(
        self, interaction: discord.Interaction[KetsugiBot], question: app_commands.Range[str, 1, 1000]
    ) -> None:
        await defer(interaction)
        where, by = place(interaction), person(interaction)
        told = await self.bot.app.assistant.ask(where, by, question, readable_channels(interaction))
        await answer(interaction, f"{name_line(Persona.ASSISTANT, told.language)}\n{told.text}")


async def setup(bot: KetsugiBot) -> None:
    await bot.add_cog(Assistant(bot))

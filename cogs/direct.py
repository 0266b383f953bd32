"""Direct messages: each becomes a call of the chat service, which answers it there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
from discord.ext import commands

from cogs._direct import DirectLine, Members
from cogs._render import seen
from cogs.turns import by_person

if TYPE_CHECKING:
    from bot.client import KetsugiBot


class Direct(commands.Cog):
    def __init__(self, bot: KetsugiBot) -> None:
        self.bot = bot
        self._members = Members(bot)

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        if message.guild is not None or not by_person(message):
            return
        assert self.bot.user is not None  # messages come only after the login
        line = DirectLine(self.bot, self._members, message.channel.id, message.author.id)
        await self.bot.app.chat.receive(line, seen(message, self.bot.user.id))


async def setup(bot: KetsugiBot) -> None:
    await bot.add_cog(Direct(bot))

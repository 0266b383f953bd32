"""`/meeting end` and `/meeting extend`, and the buttons under posts, which work across restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
from discord import app_commands
from discord.ext import commands

from cogs._commands import add_command
from cogs._render import answer_phrase, clock_time, defer, person, place
from cogs._views import EXTEND_MINUTES, MeetingButton

if TYPE_CHECKING:
    from bot.client import KetsugiBot

LONGEST_EXTENSION = 240  # minutes


class Closing(commands.Cog):
    def __init__(self, bot: KetsugiBot) -> None:
        self.bot = bot
        add_command(bot.tree, "meeting.end", self.end)
        add_command(bot.tree, "meeting.extend", self.extend)

    async def end(self, interaction: discord.Interaction[KetsugiBot], now: bool = False) -> None:
        await defer(interaction)
        where, by = place(interaction), person(interaction)
        await self.bot.app.meetings.end(where, by, now=now, interaction_id=interaction.id)
        await answer_phrase(interaction, "reply.ending_now" if now else "reply.ending")

    async def extend(
        self,
        interaction: discord.Interaction[KetsugiBot],
        minutes: app_commands.Range[int, 1, LONGEST_EXTENSION] = EXTEND_MINUTES,
    ) -> None:
        await defer(interaction)
        where, by = place(interaction), person(interaction)
        end = await self.bot.app.meetings.extend(where, by, minutes, interaction.id)
        await answer_phrase(interaction, "reply.extended", minutes=minutes, end=clock_time(end))


async def setup(bot: KetsugiBot) -> None:
    bot.add_dynamic_items(MeetingButton)
    await bot.add_cog(Closing(bot))

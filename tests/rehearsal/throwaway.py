"""A bot that does a little of everything, so that the stage can be proven without the product.

It minutes nothing; it starts, echoes, waits, asks its model, and ends with one `minutes.md` in a thread. Its
state outlives it in a `Notebook`, as the product's does in its database.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import aiohttp
import discord
from discord import app_commands
from discord.ext import commands

from bot.models.base import ProviderError
from bot.rehearsal.host import Seam


@dataclass
class Notebook:
    kickoff: tuple[int, int] | None = None
    closed: bool = False
    starts: int = 0
    stops: list[bool] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    locales: list[str] = field(default_factory=list)
    tries: list[str] = field(default_factory=list)


class Model:
    """Answers after a number of real seconds, like a provider over the network."""

    name = "throwaway"

    def __init__(self, real_seconds: float = 0.0) -> None:
        self.real_seconds = real_seconds

    async def generate(self, request: Any) -> Any:
        if self.real_seconds:
            await asyncio.get_running_loop().run_in_executor(None, lambda: None)
            done = asyncio.Event()
            asyncio.get_running_loop().call_later(self.real_seconds, done.set)
            await done.wait()
        return SimpleNamespace(text="an answer")

    async def close(self) -> None:
        pass


class Deadline:
    def remaining(self) -> float:
        return 25.0


class Throwaway(commands.Bot):
    def __init__(self, book: Notebook, seam: Seam, model: Any) -> None:
        intents = discord.Intents(
            guilds=True, guild_messages=True, guild_reactions=True, message_content=True
        )
        super().__init__((), intents=intents, allowed_mentions=discord.AllowedMentions.none())
        self.book, self.seam, self.model = book, seam, seam.wrap_model(model)

    async def setup_hook(self) -> None:
        group = app_commands.Group(name="meeting", description="meeting")
        group.add_command(app_commands.Command(name="start", description="start", callback=self._start))
        group.add_command(app_commands.Command(name="end", description="end", callback=self._end))
        self.tree.add_command(group)
        self.tree.add_command(app_commands.ContextMenu(name="Record as decision", callback=self._record))
        self.add_view(Buttons(self))
        await self.tree.sync()

    async def _start(
        self,
        interaction: discord.Interaction,
        title: str,
        minutes: app_commands.Range[int, 5, 480],
        agenda: str = "",
        constraints: str = "",
        language: str = "",
    ) -> None:
        await interaction.response.defer(ephemeral=True)
        self.book.options = {"title": title, "minutes": minutes, "agenda": agenda, "language": language}
        self.book.locales.append(str(interaction.locale))
        channel = interaction.channel
        assert isinstance(channel, discord.TextChannel)
        message = await channel.send(f"**🧭 Facilitator**\n{title}", view=Buttons(self))
        await message.pin()
        self.book.kickoff = (channel.id, message.id)
        self.seam.watch(
            "posted",
            {
                "meeting_id": 1,
                "message_id": message.id,
                "persona": "facilitator",
                "route": "opening",
                "source": "first",
            },
        )
        await interaction.followup.send("started", ephemeral=True)

    async def _end(self, interaction: discord.Interaction, now: bool = False) -> None:
        await interaction.response.send_message("ending", ephemeral=True)
        await self.finish()

    async def _record(self, interaction: discord.Interaction, message: discord.Message) -> None:
        await message.add_reaction("📌")
        await interaction.response.send_message(f"recorded {message.content}", ephemeral=True)

    async def finish(self) -> None:
        assert self.book.kickoff is not None
        channel_id, message_id = self.book.kickoff
        channel = self.get_channel(channel_id)
        assert isinstance(channel, discord.TextChannel)
        try:
            thread: Any = await channel.get_partial_message(message_id).create_thread(name="minutes")
        except discord.HTTPException as error:
            if error.code != 160004:
                raise
            thread = channel.guild.get_thread(message_id)
        embed = discord.Embed(title="Minutes", description="nothing was decided")
        file = discord.File(io.BytesIO(b"# Minutes"), filename="minutes.md")
        await thread.send("**📝 Assistant**\nhere", embed=embed, file=file, nonce="minutes-1")
        self.book.closed = True

    async def on_message(self, message: discord.Message) -> None:
        if message.author.bot:
            return
        verb, _, rest = message.content.partition(" ")
        if verb == "echo":
            await self._try(message.channel.send(rest))
        elif verb == "twice":
            for _ in range(2):
                await message.channel.send(rest, nonce="twice")
        elif verb == "later":
            await self.seam.wait(asyncio.sleep(float(rest)), "later")
            await message.channel.send(f"later {rest}")
        elif verb == "think":
            await self.seam.wait(self._think(message), "model")
        elif verb == "mark":
            await message.add_reaction("📌")
        elif verb == "boom":
            raise RuntimeError("boom")

    async def on_message_edit(self, before: discord.Message, after: discord.Message) -> None:
        await after.channel.send(f"edited to {after.content}")

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        channel = self.get_channel(payload.channel_id)
        assert isinstance(channel, discord.TextChannel)
        await channel.send("deleted")

    async def on_raw_reaction_add(self, payload: discord.RawReactionActionEvent) -> None:
        if payload.user_id != self.application_id and str(payload.emoji) == "🎉":
            channel = self.get_channel(payload.channel_id)
            assert isinstance(channel, discord.TextChannel)
            await channel.send("party")

    async def _think(self, message: discord.Message) -> None:
        try:
            answer = await self.model.generate(SimpleNamespace(deadline=Deadline()))
            text = answer.text
        except ProviderError as error:
            text = f"failed: {error.kind}"
        await message.channel.send(text)

    async def _try(self, act: Awaitable[Any]) -> None:
        """Notes how a request went, within 20 seconds."""
        try:
            async with asyncio.timeout(20):
                await act
        except discord.HTTPException as error:
            self.book.tries.append(f"status {error.status}")
        except (TimeoutError, aiohttp.ClientError) as error:
            self.book.tries.append(type(error).__name__)
        else:
            self.book.tries.append("sent")


class Buttons(discord.ui.View):
    def __init__(self, bot: Throwaway) -> None:
        super().__init__(timeout=None)
        self._bot = bot

    @discord.ui.button(label="✅ End", custom_id="throwaway:end:1")
    async def end(self, interaction: discord.Interaction, button: Any) -> None:
        await interaction.response.send_message("ending", ephemeral=True)
        await self._bot.finish()

    @discord.ui.button(label="Extend", custom_id="throwaway:extend:1")
    async def extend(self, interaction: discord.Interaction, button: Any) -> None:
        await interaction.response.edit_message(content="extended")


class ThrowawayHost:
    def __init__(self, model: Any = None) -> None:
        self.book, self.model = Notebook(), model or Model()

    async def start(self, seam: Seam) -> commands.Bot:
        self.book.starts += 1
        return Throwaway(self.book, seam, self.model)

    async def stop(self, *, crashed: bool) -> None:
        self.book.stops.append(crashed)

    async def ledger(self, meeting_id: int) -> list[dict[str, Any]]:
        return []

    async def minutes(self, meeting_id: int) -> dict[str, Any] | None:
        return {"text": "# Minutes", "document": {}} if self.book.closed else None

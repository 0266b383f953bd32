"""The whole product on the simulated Discord: real application, real store in a file, virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import discord
import simcord
import simcord.interactions

from bot.app import App, build
from bot.client import KetsugiBot, build_bot
from bot.rehearsal.timing import Timing
from bot.settings import Settings
from bot.store import meetings
from bot.store.engine import Connection

MANAGE = discord.Permissions(manage_guild=True)


@dataclass
class Product:
    """One server "Team" with #general: `chair` and `guest` are members, `manager` holds Manage Server."""

    env: simcord.Env
    timing: Timing
    folder: Path
    settings: dict[str, Any]
    app: App = field(init=False)
    bot: KetsugiBot = field(init=False)
    guild: Any = None
    channel: Any = None
    chair: Any = None
    guest: Any = None
    manager: Any = None
    locale: str = "en-US"

    @property
    def database(self) -> Path:
        return self.folder / "real.db"

    def files(self) -> dict[str, bytes]:
        """Every file the product wrote: database, write-ahead log, whatever else lies there."""
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}

    async def run(self, seconds: float) -> None:
        await self.timing.run_until(self.timing.seconds() + seconds)

    async def do(self, act: Any) -> Any:
        """Something a person does, and all that follows of it at once."""
        result = await act
        await self.timing.settle()
        return result

    async def say(self, who: Any, *texts: str, channel: Any = None) -> list[Any]:
        said = []
        for text in texts:
            said.append(await self.do(who.send(channel or self.channel, text)))
            await self.run(6)
        return said

    async def slash(self, who: Any, name: str, channel: Any = None, **options: Any) -> str:
        """The one answer, which is the caller's alone."""
        result = await self.do(who.slash(channel or self.channel, name, **options))
        return self.answered(result)

    def answered(self, result: Any) -> str:
        answers = {f.id: f for f in ([result.response] if result.response else []) + list(result.followups)}
        assert len(answers) == 1, answers
        (self.last,) = answers.values()
        assert self.last.ephemeral
        return str(self.last.content)

    async def press(self, who: Any, message: Any = None) -> str:
        """Click on the one button of an answer, the latest unless one is named."""
        message = message or self.last
        (row,) = message.components
        button = row["components"][0] if isinstance(row, dict) else row.children[0]
        custom_id = button["custom_id"] if isinstance(button, dict) else button.custom_id
        return self.answered(await self.do(who.click(message, custom_id=custom_id)))

    async def meet(self, *lines: tuple[Any, str], channel: Any = None, **options: Any) -> int:
        """A whole meeting from start to minutes; its number."""
        options = {"title": "Launch", "minutes": 30} | options
        await self.slash(self.chair, "meeting start", channel, **options)
        await self.run(10)
        for who, text in lines:
            await self.say(who, text, channel=channel)
        await self.slash(self.chair, "meeting end", channel, now=True)
        await self.run(60)
        place = (channel or self.channel).id

        async def newest(c: Connection) -> int:
            found = await meetings.latest_in(c, self.guild.id, place)
            assert found is not None
            assert found.state.value == "closed"
            return found.id

        return int(await self.app.db.unit(newest))

    def mine(self, channel_id: int | None = None) -> list[Any]:
        """The bot's messages as they stand in Discord now, in all channels and threads unless one is named.

        What Discord itself writes in its name ("pinned a message") and answers to one person are none.
        """
        backend = self.env.backend
        places = [channel_id] if channel_id is not None else list(backend.messages)
        found = [m for place in places for m in backend.messages.get(place, {}).values()]
        return [
            m for m in found if m.author_id == backend.bot_user.id and m.type in (0, 19) and not m.flags & 64
        ]


@asynccontextmanager
async def product(folder: Path, monkeypatch: Any, **settings: Any) -> AsyncIterator[Product]:
    """Not a fixture: simulated time belongs to one context, and a fixture ends in another than it began."""
    env = simcord.Env(discord.Client(intents=discord.Intents.none()))
    timing = Timing(env)
    env.backend.bot_user.name = "Ketsugi"
    made = Product(env, timing, folder, settings)
    original = simcord.interactions.base_payload

    def payload(*args: Any, **kwargs: Any) -> Any:
        record, body = original(*args, **kwargs)
        return record, body | {"locale": made.locale, "guild_locale": made.locale}

    monkeypatch.setattr(simcord.interactions, "base_payload", payload)
    options = {"model": "offline", "seed": 1} | settings
    made.app = build(
        Settings(database_url=f"sqlite+aiosqlite:///{made.database}", **options), env.now, timing.wait
    )
    await made.app.open()
    made.bot = build_bot(made.app)
    made.guild = env.create_guild("Team")
    made.channel = made.guild.create_text_channel("general")
    made.chair = made.guild.add_member(env.create_user("sato"))
    made.guest = made.guild.add_member(env.create_user("suzuki"))
    role = made.guild.create_role("admins", permissions=MANAGE)
    made.manager = made.guild.add_member(env.create_user("tanaka"), roles=[role])
    env.bot = made.bot
    timing.attached = True
    await env.start()
    try:
        yield made
    finally:
        await made.app.close()
        timing.attached = False
        await env.shutdown()

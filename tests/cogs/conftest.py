from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest
import simcord
import simcord.interactions

from bot.client import KetsugiBot, build_bot
from bot.errors import UserError
from bot.stage import Place
from tests.cogs.fakes import RecordingApp, RecordingMeetings


class Planned(RuntimeError):
    """A failure that a test put into a service; every other error of the bot fails the test."""


@dataclass
class World:
    """One server with a channel and two members, and the real bot over recording services."""

    env: simcord.Env
    app: RecordingApp
    bot: KetsugiBot
    guild: Any
    channel: Any
    chair: Any
    guest: Any

    @property
    def meetings(self) -> RecordingMeetings:
        return self.app.meetings

    @property
    def place(self) -> Place:
        return Place(self.guild.id, self.channel.id)

    async def do(self, work: Any) -> Any:
        """Run the stage's own calls as the bot would, then let everything settle."""
        result = await work
        await self.env.settle()
        return result


@pytest.fixture
def speak(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Set the language of everyone's Discord; simcord itself knows only en-US."""
    original = simcord.interactions.base_payload
    locale = {"now": "en-US"}

    def payload(*args: Any, **kwargs: Any) -> Any:
        record, made = original(*args, **kwargs)
        return record, made | {"locale": locale["now"], "guild_locale": locale["now"]}

    monkeypatch.setattr(simcord.interactions, "base_payload", payload)

    def choose(language: str) -> None:
        locale["now"] = language

    return choose


@pytest.fixture
async def world() -> AsyncIterator[World]:
    app = RecordingApp()
    bot = build_bot(app)  # type: ignore[arg-type]
    # Not `simcord.run`: its clock belongs to one context, and a fixture ends in another one than it began.
    env = simcord.Env(bot)
    await env.start()
    try:
        guild = env.create_guild("Team")
        channel = guild.create_text_channel("general")
        chair = guild.add_member(env.create_user("sato"))
        guest = guild.add_member(env.create_user("suzuki"))
        yield World(env, app, bot, guild, channel, chair, guest)
    finally:
        await env.shutdown()
    unexpected = [e for e in env.errors if not isinstance(e.__cause__ or e, UserError | Planned)]
    assert not unexpected

"""The client: command sync, lost acknowledgements, error replies."""

from __future__ import annotations

import discord
import pytest
import simcord
from discord import app_commands
from discord.ext import commands

from bot.client import build_bot, reply_to_error
from bot.phrases import t
from tests.cogs.conftest import Planned, World
from tests.cogs.fakes import RecordingApp


def syncs(env: simcord.Env) -> int:
    return sum(1 for r in env.http_requests if r.method == "PUT" and r.path.endswith("/commands"))


async def test_commands_are_synced_only_when_they_changed(world: World) -> None:
    assert syncs(world.env) == 1
    assert world.app.digest
    again = RecordingApp(world.app.digest)
    await world.env.restart_bot(build_bot(again))  # type: ignore[arg-type]
    assert syncs(world.env) == 1
    changed = RecordingApp("something older")
    await world.env.restart_bot(build_bot(changed))  # type: ignore[arg-type]
    assert syncs(world.env) == 2
    assert changed.digest == world.app.digest


async def test_a_failing_sync_is_not_fatal_and_tried_again(world: World) -> None:
    world.env.inject_error("PUT", "/applications/*/commands", status=400, code=30034)
    app = RecordingApp()
    await world.env.restart_bot(build_bot(app))  # type: ignore[arg-type]
    assert app.digest is None
    await world.chair.send(world.channel, "聞こえますか")
    assert app.meetings.named("receive")


async def test_the_bot_pings_nobody_and_asks_for_no_more_than_it_needs(world: World) -> None:
    mentions = world.bot.allowed_mentions
    assert mentions is not None
    assert mentions.to_dict() == discord.AllowedMentions.none().to_dict()
    asked = {name for name, on in world.bot.intents if on}
    assert asked == {
        "guilds",
        "guild_messages",
        "guild_reactions",
        "guild_typing",
        "dm_messages",
        "message_content",
    }


def test_a_rate_limit_is_waited_out_for_half_a_minute_at_most() -> None:
    """discord.py alone waits as long as a 429 says; 30 s is the least it can be told."""
    assert build_bot(RecordingApp()).http.max_ratelimit_timeout == 30.0  # type: ignore[arg-type]


def test_the_application_is_the_only_attribute_added() -> None:
    plain = commands.Bot((), intents=discord.Intents(guilds=True))
    assert vars(build_bot(RecordingApp())).keys() - vars(plain).keys() == {"app"}  # type: ignore[arg-type]


@pytest.mark.parametrize(("status", "code"), [(404, 10062), (400, 40060), (500, 0), (503, 0)])
async def test_a_lost_acknowledgement_carries_the_command_out_once(
    world: World, status: int, code: int
) -> None:
    world.env.inject_error("POST", "/interactions/*/*/callback", status=status, code=code)
    await world.chair.slash(world.channel, "meeting end")
    assert len(world.meetings.named("end")) == 1


async def test_a_lost_answer_is_no_failure(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.env.inject_error("*", "/webhooks/*", status=404, code=10015)
    await world.chair.slash(world.channel, "meeting extend", minutes=5)
    assert len(world.meetings.named("extend")) == 1
    assert "not delivered" in caplog.text


async def test_a_wrong_answer_of_ours_is_a_failure(world: World) -> None:
    world.env.inject_error("*", "/webhooks/*", status=400, code=50035)
    world.meetings.failing["status"] = Planned("x")
    await world.chair.slash(world.channel, "meeting status")
    assert len(world.meetings.named("status")) == 1


_WORD = app_commands.Transformer()


class _Deaf:
    """An interaction whose answers go into a list."""

    def __init__(self, locale: discord.Locale) -> None:
        self.locale = locale
        self.id = 1
        self.extras: dict[str, object] = {}
        self.sent: list[str] = []
        self.response = self

    def is_done(self) -> bool:
        return False

    async def send_message(
        self, text: str, *, ephemeral: bool, allowed_mentions: discord.AllowedMentions
    ) -> None:
        assert ephemeral
        assert allowed_mentions.to_dict() == discord.AllowedMentions.none().to_dict()
        self.sent.append(text)


@pytest.mark.parametrize(
    ("error", "key"),
    [
        (app_commands.CommandNotFound("old", []), "error.outdated_command"),
        (app_commands.TransformerError("x", discord.AppCommandOptionType.integer, _WORD), "error.bad_option"),
        (Planned("secret"), "error.unexpected"),
    ],
)
async def test_each_kind_of_error_has_its_reply(error: Exception, key: str) -> None:
    for locale, language in ((discord.Locale.japanese, "ja"), (discord.Locale.german, "en")):
        interaction = _Deaf(locale)
        await reply_to_error(interaction, error)  # type: ignore[arg-type]
        assert interaction.sent == [t(key, language)]

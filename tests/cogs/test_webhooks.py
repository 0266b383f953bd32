"""Our webhook in a channel: found, made, missing, and what Discord's refusals mean."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import discord
import pytest

from bot.errors import StageError
from bot.meeting.model import Persona
from bot.stage import Outgoing, Place, Refused, Uncertain
from cogs._stage import stage_error
from cogs._webhooks import Webhooks

ME, CHANNEL = 1, 20
PLACE = Place(10, CHANNEL)
POST = Outgoing("a point", Persona.PANEL, "en", speaker="🤖 Design", webhook_id=7)


def _http(status: int, code: int) -> discord.HTTPException:
    response: Any = SimpleNamespace(status=status, reason="", headers={})
    return discord.HTTPException(response, {"code": code, "message": "no"})


class Hook:
    def __init__(self, hook_id: int, user: int | None = ME, token: str | None = "t") -> None:
        self.id, self.token = hook_id, token
        self.user = None if user is None else SimpleNamespace(id=user)
        self.sent: list[dict[str, Any]] = []
        self.deleted: list[int] = []
        self.fails: Exception | None = None

    async def send(self, content: str, **options: Any) -> Any:
        if self.fails is not None:
            raise self.fails
        self.sent.append({"content": content, **options})
        return SimpleNamespace(id=99)

    async def delete_message(self, message_id: int, **options: Any) -> None:
        if self.fails is not None:
            raise self.fails
        self.deleted.append(message_id)


class Channel:
    def __init__(self, *hooks: Hook) -> None:
        self.id, self.hooks, self.made = CHANNEL, list(hooks), 0
        self.fails: Exception | None = None

    async def webhooks(self) -> list[Hook]:
        if self.fails is not None:
            raise self.fails
        return self.hooks

    async def create_webhook(self, name: str) -> Hook:
        if self.fails is not None:
            raise self.fails
        self.made += 1
        self.hooks.append(Hook(7))
        return self.hooks[-1]


@asynccontextmanager
async def _request() -> AsyncIterator[None]:
    try:
        yield
    except discord.DiscordException as error:
        raise stage_error(error) from error


def over(channel: Any) -> Webhooks:
    guild = SimpleNamespace(get_channel_or_thread=lambda channel_id: channel)
    bot: Any = SimpleNamespace(user=SimpleNamespace(id=ME), get_guild=lambda guild_id: guild)
    return Webhooks(bot, _request)


async def test_one_is_made_and_then_used_again() -> None:
    channel = Channel(Hook(3, user=2), Hook(4, token=None), Hook(5, user=None))
    webhooks = over(channel)
    assert await webhooks.id_of(PLACE, None) == 7
    assert await webhooks.id_of(PLACE, 7) == 7
    assert await over(channel).id_of(PLACE, None) == 7, "another process finds it"
    assert channel.made == 1


@pytest.mark.parametrize(
    ("error", "why"),
    [(_http(403, 50013), "forbidden"), (_http(403, 50001), "forbidden"), (_http(400, 30007), "full")],
)
async def test_where_there_can_be_none_it_says_why(error: Exception, why: str) -> None:
    channel = Channel()
    channel.fails = error
    with pytest.raises(Refused) as refused:
        await over(channel).id_of(PLACE, None)
    assert (refused.value.reason, refused.value.detail) == ("no_webhook", why)


async def test_a_place_without_webhooks() -> None:
    with pytest.raises(Refused) as refused:
        await over(SimpleNamespace(id=CHANNEL)).id_of(PLACE, None)
    assert refused.value.detail == "kind"


async def test_a_known_one_that_is_gone_is_not_made_again() -> None:
    channel = Channel(Hook(8))
    with pytest.raises(Refused) as refused:
        await over(channel).id_of(PLACE, 7)
    assert refused.value.detail == "deleted"
    assert channel.made == 0


async def test_it_speaks_under_the_name_and_pings_nobody() -> None:
    hook = Hook(7)
    webhooks = over(Channel(hook))
    await webhooks.id_of(PLACE, 7)
    assert await webhooks.say(PLACE, POST) == 99
    (sent,) = hook.sent
    assert (sent["content"], sent["username"], sent["wait"]) == ("a point", "🤖 Design", True)
    assert sent["allowed_mentions"].everyone is False


@pytest.mark.parametrize("error", [_http(404, 10015), _http(401, 50027), _http(403, 50013)])
async def test_deleted_meanwhile_it_is_no_webhook_and_not_the_end_of_the_meeting(error: Exception) -> None:
    hook = Hook(7)
    webhooks = over(Channel(hook))
    await webhooks.id_of(PLACE, 7)
    hook.fails = error
    with pytest.raises(Refused) as refused:
        await webhooks.say(PLACE, POST)
    assert (refused.value.reason, refused.value.detail) == ("no_webhook", "deleted")


async def test_an_uncertain_answer_stays_uncertain() -> None:
    hook = Hook(7)
    webhooks = over(Channel(hook))
    await webhooks.id_of(PLACE, 7)
    hook.fails = _http(500, 0)
    with pytest.raises(Uncertain):
        await webhooks.say(PLACE, POST)


async def test_it_takes_back_what_it_said() -> None:
    stranger, mine = Hook(6), Hook(7)
    stranger.fails = _http(404, 10008)
    assert await over(Channel(stranger, mine)).delete(PLACE, 99)
    assert mine.deleted == [99]
    assert not await over(Channel()).delete(PLACE, 99)
    closed = Channel()
    closed.fails = _http(403, 50013)
    assert not await over(closed).delete(PLACE, 99)
    assert issubclass(Refused, StageError)

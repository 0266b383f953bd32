"""How interactions are answered over discord.py's real HTTP client: whatever Discord does, the wish is carried out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import discord
import pytest
from aiohttp import web
from discord.webhook.async_ import AsyncWebhookAdapter, async_context

from bot.client import KetsugiBot, build_bot
from bot.errors import BadInput
from bot.phrases import t
from cogs import _render
from tests.cogs.fakes import RecordingApp
from tests.cogs.wire import USER, VIA, Answer, Stub, failing, listening, message, reply

PERSON = USER | {"id": "4", "username": "sato", "bot": False}
ALL_RIGHTS = str(discord.Permissions.all().value)
CHANNEL = {"id": "2", "type": 0, "name": "general", "position": 0, "permission_overwrites": []}
SUBCOMMAND, ROW, BUTTON, FORM_FIELD, LABEL = 1, 1, 2, 4, 18


async def taking(request: web.Request) -> web.StreamResponse:
    """A Discord that takes every answer."""
    first = request.path.endswith("/callback")
    return reply({"interaction": {"id": "1", "type": 2}} if first else message())


async def hanging(request: web.Request) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError


LOST: dict[str, Answer] = {
    "10062": failing(404, 10062),
    "40060": failing(400, 40060),
    "hang": hanging,
    "429": failing(429, headers=VIA, retry_after=3600.0),
    "429 of the edge": failing(429),
    "500": failing(500),
    "503": failing(503),
}


@dataclass
class Desk:
    """The real bot over recording services, and one person who uses it."""

    stub: Stub
    app: RecordingApp
    bot: KetsugiBot
    numbers: Iterator[int]

    async def use(self, kind: int, data: dict[str, Any], **more: Any) -> int:
        """Let an interaction arrive and be dealt with to its end; its id."""
        number = next(self.numbers)
        payload = {
            "id": str(number),
            "application_id": "99",
            "type": kind,
            "token": f"token{number}",
            "version": 1,
            "guild_id": "1",
            "channel_id": "2",
            "channel": CHANNEL,
            "member": {"user": PERSON, "roles": [], "permissions": ALL_RIGHTS, "flags": 0, "joined_at": None},
            "app_permissions": ALL_RIGHTS,
            "locale": "ja",
            "entitlements": [],
            "authorizing_integration_owners": {},
            "attachment_size_limit": 1,
            "data": data,
        } | more
        async_context.set(AsyncWebhookAdapter())  # a simulated Discord of another test may have left its own
        before = asyncio.all_tasks()
        self.bot._connection.parse_interaction_create(payload)  # type: ignore[arg-type]
        begun = asyncio.all_tasks() - before
        assert begun
        await asyncio.wait_for(asyncio.gather(*begun), 10.0)
        return number

    async def slash(self, group: str, name: str) -> int:
        inner = {"name": name, "type": SUBCOMMAND, "options": []}
        return await self.use(2, {"id": "5", "name": group, "type": 1, "options": [inner]})

    async def press(self, custom_id: str) -> int:
        button = {"type": BUTTON, "style": 1, "label": "x", "custom_id": custom_id, "id": 2}
        post = message(8) | {"components": [{"type": ROW, "id": 1, "components": [button]}]}
        return await self.use(3, {"custom_id": custom_id, "component_type": BUTTON}, message=post)

    async def send_in(self, custom_id: str, **values: str) -> int:
        fields = [
            {"type": LABEL, "id": n, "component": {"type": FORM_FIELD, "id": 0, "custom_id": k, "value": v}}
            for n, (k, v) in enumerate(values.items())
        ]
        return await self.use(5, {"custom_id": custom_id, "components": fields})

    def lose(self, how: str, *, follow_ups: bool = True) -> None:
        """First answers are lost from now on; follow-ups too, unless they get through."""

        async def answer(request: web.Request) -> web.StreamResponse:
            first = request.path.endswith("/callback")
            return await (LOST[how] if first or follow_ups else taking)(request)

        self.stub.answer = answer

    @property
    def follow_ups(self) -> list[str]:
        pairs = zip(self.stub.requests, self.stub.bodies, strict=True)
        return [body["content"] for (_, path), body in pairs if path.startswith("/webhooks/")]


@pytest.fixture
async def desk(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    monkeypatch.setattr(_render, "ACKNOWLEDGE_TIMEOUT", 0.1)
    monkeypatch.setattr(_render, "ANSWER_TIMEOUT", 0.1)
    stub, app = Stub(), RecordingApp()
    bot = build_bot(app)  # type: ignore[arg-type]

    async def no_commands(request: web.Request) -> web.StreamResponse:
        return reply([])

    stub.answer = no_commands
    async with listening(stub, monkeypatch):
        await bot.login("a.b.c")
        bot._connection._add_guild_from_data({"id": "1", "name": "g", "roles": []})  # type: ignore[typeddict-item]
        stub.answer = taking
        stub.requests.clear()
        stub.bodies.clear()
        yield Desk(stub, app, bot, count(1000))
        await bot.close()


@contextmanager
def only_warned(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """What is logged meanwhile: warnings that name the interaction, no failure."""
    caplog.clear()
    yield
    assert not [r for r in caplog.records if r.levelname == "ERROR"], caplog.text
    assert "not delivered" in caplog.text


def test_an_acknowledgement_is_waited_for_no_longer_than_discord_takes_it() -> None:
    assert _render.ACKNOWLEDGE_TIMEOUT <= 3.0
    assert _render.ANSWER_TIMEOUT <= 20.0


@pytest.mark.parametrize("how", LOST)
async def test_a_command_is_carried_out_though_its_acknowledgement_is_lost(
    desk: Desk, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    desk.lose(how, follow_ups=False)
    with only_warned(caplog):
        number = await desk.slash("meeting", "end")
    (call,) = desk.app.meetings.named("end")
    assert call[-1] == number
    assert desk.follow_ups == [t("reply.ending", "ja")]


@pytest.mark.parametrize("how", LOST)
async def test_a_command_and_a_button_are_carried_out_once_though_every_answer_is_lost(
    desk: Desk, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    desk.lose(how)
    with only_warned(caplog):
        await desk.slash("meeting", "end")
        await desk.press("ketsugi:end:17")
    assert len(desk.app.meetings.named("end")) == 2
    assert t("reply.ending", "ja") not in caplog.text


@pytest.mark.parametrize("how", LOST)
async def test_an_error_is_told_in_a_follow_up_where_the_acknowledgement_is_lost(
    desk: Desk, how: str
) -> None:
    desk.app.meetings.failing["end"] = BadInput("error.no_meeting")
    desk.lose(how, follow_ups=False)
    await desk.slash("meeting", "end")
    assert desk.follow_ups == [t("error.no_meeting", "ja")]


@pytest.mark.parametrize("how", LOST)
async def test_a_lost_error_reply_breaks_nothing(
    desk: Desk, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    desk.app.meetings.failing["end"] = BadInput("error.no_meeting")
    desk.lose(how)
    with only_warned(caplog):
        await desk.slash("meeting", "end")
        await desk.press("ketsugi:of another time:17".replace(" ", "_"))


@pytest.mark.parametrize("how", LOST)
async def test_a_form_that_stands_there_though_its_delivery_was_uncertain_works(
    desk: Desk, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    desk.lose(how)
    with only_warned(caplog):
        await desk.slash("meeting", "start")
    assert not desk.app.meetings.named("start")
    form = desk.stub.bodies[0]["data"]["custom_id"]
    desk.stub.answer = taking
    await desk.send_in(form, meeting_title="定例", minutes="30")
    (call,) = desk.app.meetings.named("start")
    assert (call[0].title, call[0].minutes) == ("定例", 30)


@pytest.mark.parametrize("how", LOST)
async def test_turning_a_page_in_vain_is_no_failure(
    desk: Desk, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    desk.lose(how)
    with only_warned(caplog):
        await desk.press("ketsugi:page:1")


async def test_a_form_that_was_shown_works_as_ever(desk: Desk) -> None:
    await desk.slash("meeting", "start")
    await desk.send_in(desk.stub.bodies[0]["data"]["custom_id"], meeting_title="定例", minutes="30")
    assert len(desk.app.meetings.named("start")) == 1

"""The stage over discord.py's real HTTP client, against a server that fails in every way Discord does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import discord
import pytest
from aiohttp import web

from bot.errors import StageError
from bot.meeting.model import Persona
from bot.stage import Attachment, Busy, Button, Outgoing, Place, Refused, Uncertain
from cogs._stage import DiscordStage, stage_error
from tests.cogs.wire import VIA, Stub, failing, listening, logged_in, reset

PLACE = Place(1, 2)
POST = Outgoing("本文", Persona.FACILITATOR, "ja", nonce="0123456789abcdef012345678")


@pytest.fixture
async def stub(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stub]:
    made = Stub()
    async with listening(made, monkeypatch):
        yield made


@pytest.fixture
async def client(stub: Stub) -> AsyncIterator[discord.Client]:
    async with logged_in() as made:
        yield made


@pytest.fixture
def stage(client: discord.Client) -> DiscordStage:
    return DiscordStage(client, timeout=5.0)


async def say(stage: DiscordStage) -> StageError:
    with pytest.raises(StageError) as failed:
        await stage.say(PLACE, POST)
    return failed.value


async def test_a_post_carries_its_nonce_and_pings_nobody(stub: Stub, stage: DiscordStage) -> None:
    assert await stage.say(PLACE, POST) == 7
    (sent,) = stub.bodies
    assert sent["nonce"] == POST.nonce
    assert sent["enforce_nonce"] is True
    assert sent["allowed_mentions"] == {"parse": []}
    assert sent["content"] == "**🧭 進行**\n本文"


async def test_a_reply_survives_the_loss_of_what_it_answers(stub: Stub, stage: DiscordStage) -> None:
    await stage.say(PLACE, Outgoing("x", reply_to=5))
    reference = stub.bodies[0]["message_reference"]
    assert reference == {
        "message_id": 5,
        "channel_id": 2,
        "guild_id": 1,
        "type": 0,
        "fail_if_not_exists": False,
    }
    assert stub.bodies[0]["allowed_mentions"] == {"parse": [], "replied_user": False}


async def test_files_and_buttons_go_out_in_one_message(stub: Stub, stage: DiscordStage) -> None:
    files = (Attachment("minutes.md", b"# m"), Attachment("minutes.json", b"{}"))
    post = Outgoing("", files=files, buttons=(Button("end", "終える"),), meeting_id=3, nonce="n")
    await stage.say(PLACE, post)
    (sent,) = stub.bodies
    assert [a["filename"] for a in sent["attachments"]] == ["minutes.md", "minutes.json"]
    assert sent["files"] == ["files[0]", "files[1]"]
    assert sent["components"][0]["components"][0]["custom_id"] == "ketsugi:end:3"


@pytest.mark.parametrize(("status", "requests"), [(500, 5), (502, 5), (504, 5), (524, 5), (501, 1)])
async def test_a_server_error_leaves_it_open_whether_it_was_done(
    stub: Stub, stage: DiscordStage, status: int, requests: int
) -> None:
    stub.answer = failing(status)
    assert isinstance(await say(stage), Uncertain)
    assert len(stub.requests) == requests
    assert {body["nonce"] for body in stub.bodies} == {POST.nonce}


async def test_an_overloaded_server_is_asked_again_later(stub: Stub, stage: DiscordStage) -> None:
    stub.answer = failing(503)
    error = await say(stage)
    assert isinstance(error, Busy)
    assert error.retry_after == 5.0
    assert len(stub.requests) == 1


@pytest.mark.parametrize(
    ("headers", "body", "wait"),
    [
        (VIA, {"retry_after": 3600.0}, 3600.0),
        ({"Retry-After": "40"}, {}, 40.0),
        ({}, {}, 60.0),
        ({"Retry-After": "soon"}, {}, 60.0),
    ],
)
async def test_rate_limits_name_their_wait(
    stub: Stub, stage: DiscordStage, headers: dict[str, str], body: dict[str, Any], wait: float
) -> None:
    stub.answer = failing(429, headers=headers, **body)
    error = await say(stage)
    assert isinstance(error, Busy)
    assert error.retry_after == wait


async def test_a_short_rate_limit_is_waited_out(stub: Stub, stage: DiscordStage) -> None:
    async def once(request: web.Request) -> web.StreamResponse:
        stub.answer = stub.ok
        return await failing(429, headers=VIA, retry_after=0.5)(request)

    stub.answer = once
    assert await stage.say(PLACE, POST) == 7


@pytest.mark.parametrize(
    ("status", "code", "reason"),
    [
        (404, 10003, "gone"),
        (404, 10004, "gone"),
        (404, 10008, "gone"),
        (404, 10015, "gone"),
        (403, 50001, "forbidden"),
        (403, 50013, "forbidden"),
        (403, 50007, "forbidden"),
        (403, 20028, "forbidden"),
        (401, 50027, "forbidden"),
        (400, 160005, "locked"),
        (403, 160005, "locked"),
        (400, 50083, "locked"),
        (400, 30046, "too_old"),
        (400, 50035, "invalid"),
        (400, 160004, "invalid"),
        (413, 40005, "invalid"),
    ],
)
async def test_refusals_say_why(stub: Stub, stage: DiscordStage, status: int, code: int, reason: str) -> None:
    stub.answer = failing(status, code)
    error = await say(stage)
    assert isinstance(error, Refused)
    assert error.reason == reason
    assert len(stub.requests) == 1


async def test_a_token_that_was_reset_ends_no_meeting(stub: Stub, stage: DiscordStage) -> None:
    stub.answer = failing(401)
    error = await say(stage)
    assert isinstance(error, Busy)
    assert error.retry_after == 60.0
    assert len(stub.requests) == 1


@pytest.mark.parametrize("status", [403, 404])
async def test_what_a_proxy_says_is_not_discords_word_on_the_channel(
    stub: Stub, stage: DiscordStage, status: int
) -> None:
    async def page(request: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>Sorry, you have been blocked</html>", status=status)

    for answer in (page, failing(status)):
        stub.answer = answer
        assert isinstance(await say(stage), Uncertain)


async def test_a_dropped_connection_and_a_hang_are_uncertain(stub: Stub, client: discord.Client) -> None:
    async def drop(request: web.Request) -> web.StreamResponse:
        return reset(request)

    async def hang(request: web.Request) -> web.StreamResponse:
        await stub.never.wait()
        return web.Response()

    for answer in (drop, hang):
        stub.answer = answer
        assert isinstance(await say(DiscordStage(client, timeout=0.2)), Uncertain)


async def test_nobody_listening_and_a_closed_client_are_uncertain(
    stub: Stub, client: discord.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = DiscordStage(client, timeout=5.0)
    base = discord.http.Route.BASE
    monkeypatch.setattr(discord.http.Route, "BASE", "http://127.0.0.1:9/api")
    assert isinstance(await say(stage), Uncertain)
    monkeypatch.setattr(discord.http.Route, "BASE", base)
    await client.close()
    assert isinstance(await say(stage), Uncertain)


async def test_an_existing_thread_is_used(stub: Stub, stage: DiscordStage) -> None:
    stub.answer = failing(400, 160004)
    assert await stage.open_thread(PLACE, 55, "議事録") == Place(1, 55)
    assert stub.requests == [("POST", "/channels/2/messages/55/threads")]
    stub.answer = failing(403, 50013)
    with pytest.raises(Refused) as refused:
        await stage.open_thread(PLACE, 55, "議事録")
    assert refused.value.reason == "forbidden"


async def test_every_other_request_fails_the_same_way(stub: Stub, stage: DiscordStage) -> None:
    stub.answer = failing(403, 50001)
    for call in (
        stage.edit(PLACE, 7, POST),
        stage.react(PLACE, 7, "📌"),
        stage.history(PLACE, 0),
        stage.reactors(PLACE, 7, "👍"),
        stage.direct_message(4, POST),
        stage.withdraw(4, 7),
    ):
        with pytest.raises(Refused) as refused:
            await call
        assert refused.value.reason == "forbidden"


async def test_a_failed_pin_does_not_unsay_the_post(stub: Stub, stage: DiscordStage) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return await (failing(403, 50013) if request.method == "PUT" else stub.ok)(request)

    stub.answer = answer
    assert await stage.say(PLACE, Outgoing("ボード", pin=True)) == 7
    assert [method for method, _ in stub.requests] == ["POST", "PUT"]


@pytest.mark.parametrize("error", [TimeoutError(), ConnectionResetError(), aiohttp.ServerDisconnectedError()])
def test_a_broken_connection_says_nothing_of_the_deed(error: Exception) -> None:
    assert isinstance(stage_error(error), Uncertain)

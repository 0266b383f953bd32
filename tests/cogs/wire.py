"""discord.py's real HTTP client against a Discord on this machine that answers as told, or remembers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import discord
import pytest
from aiohttp import web

from bot.facilitation.delivery import snowflake

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
USER = {"id": "99", "username": "ketsugi", "discriminator": "0", "avatar": None, "bot": True}
VIA = {"Via": "1.1 google"}  # discord.py takes a 429 without it for Cloudflare's


def message(message_id: int = 7) -> dict[str, Any]:
    return {
        "id": str(message_id),
        "channel_id": "2",
        "author": USER,
        "content": "本文",
        "timestamp": "2026-12-01T09:00:00+00:00",
        "edited_timestamp": None,
        "tts": False,
        "mention_everyone": False,
        "mentions": [],
        "mention_roles": [],
        "attachments": [],
        "embeds": [],
        "pinned": False,
        "type": 0,
    }


def reply(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> web.StreamResponse:
    """JSON as Discord sends it: discord.py reads no other content type than exactly this one as JSON."""
    content = json.dumps(body).encode()
    return web.Response(
        body=content, status=status, headers={"Content-Type": "application/json"} | (headers or {})
    )


class Stub:
    """A Discord that logs requests in and answers all others as told; `bodies` holds what was posted."""

    def __init__(self) -> None:
        self.answer: Answer = self.ok
        self.requests: list[tuple[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.never = asyncio.Event()

    async def ok(self, request: web.Request) -> web.StreamResponse:
        return reply(message())

    async def handle(self, request: web.Request) -> web.StreamResponse:
        path = request.path.removeprefix("/api")
        if path == "/users/@me":
            return reply(USER)
        if path == "/oauth2/applications/@me":
            application = {"id": "99", "name": "k", "description": "", "flags": 0, "verify_key": ""}
            return reply(
                application
                | {"icon": None, "owner": USER, "bot_public": True, "bot_require_code_grant": False}
            )
        self.requests.append((request.method, path))
        if request.content_type == "application/json":
            self.bodies.append(await request.json())
        elif request.content_type == "multipart/form-data":
            form = await request.post()
            self.bodies.append(
                json.loads(str(form["payload_json"])) | {"files": [k for k in form if k != "payload_json"]}
            )
        return await self.answer(request)


class Remembering(Stub):
    """A channel that keeps what is posted, one message a nonce, and shows it again, as Discord does.

    `lose`: whether the answer to what was just stored is lost. `blind`: the history shows nothing of it yet.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__()
        self._now = now
        self.answer = self.discord
        self.messages: list[dict[str, Any]] = []
        self.nonces: dict[str, dict[str, Any]] = {}
        self.lose: Callable[[web.Request], web.StreamResponse] | None = None
        self.blind = False

    async def discord(self, request: web.Request) -> web.StreamResponse:
        if not request.path.endswith("/messages"):
            return web.Response(status=204)  # pins
        return self._posted(request) if request.method == "POST" else self._history(request)

    def _posted(self, request: web.Request) -> web.StreamResponse:
        sent = self.bodies[-1]
        known = self.nonces.get(sent["nonce"]) if sent["enforce_nonce"] else None
        if known is None:
            known = self._stored(sent)
            self.nonces[sent["nonce"]] = known
        if self.lose is None:
            return reply(known)
        lost, self.lose = self.lose, None
        return lost(request)

    def _stored(self, sent: dict[str, Any]) -> dict[str, Any]:
        """The message of a request's body; its id holds the time, and nothing of it shows the nonce."""
        made = message(snowflake(self._now()) + len(self.messages)) | {"content": sent["content"]}
        made["embeds"] = sent.get("embeds", [])
        made["attachments"] = [
            {"id": str(n), "filename": a["filename"], "size": 1, "url": "", "proxy_url": ""}
            for n, a in enumerate(sent.get("attachments", []))
        ]
        self.messages.append(made)
        return made

    def _history(self, request: web.Request) -> web.StreamResponse:
        after, limit = int(request.query.get("after", 0)), int(request.query["limit"])
        before = int(request.query.get("before", 1 << 63))
        found = [] if self.blind else [m for m in self.messages if after < int(m["id"]) < before]
        return reply(found[-limit:][::-1])


def reset(request: web.Request) -> web.StreamResponse:
    """The connection breaks instead of an answer."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


@asynccontextmanager
async def listening(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """`stub` is Discord for every request of discord.py meanwhile."""
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", stub.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    monkeypatch.setattr(discord.http.Route, "BASE", f"http://127.0.0.1:{port}/api")

    async def at_once(seconds: float) -> None:
        """discord.py's pauses between its own attempts."""

    monkeypatch.setattr(discord.http, "asyncio", SimpleNamespace(**(vars(asyncio) | {"sleep": at_once})))
    try:
        yield
    finally:
        stub.never.set()
        await runner.cleanup()


@asynccontextmanager
async def logged_in() -> AsyncIterator[discord.Client]:
    """A plain client that knows server 1."""
    made = discord.Client(intents=discord.Intents(guilds=True), max_ratelimit_timeout=30.0)
    await made.login("a.b.c")
    made._connection._add_guild_from_data({"id": "1", "name": "g", "roles": []})  # type: ignore[typeddict-item]
    try:
        yield made
    finally:
        await made.close()


def failing(status: int, code: int = 0, headers: dict[str, str] | None = None, **body: Any) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        return reply({"code": code, "message": "no"} | body, status=status, headers=headers)

    return answer

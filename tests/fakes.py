"""FakeGemini: a real HTTP server on loopback that speaks Gemini's REST wire as a test tells it to."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from aiohttp import web


@dataclass(frozen=True)
class Reply:
    """What one request is met with. `text` is the model's answer; everything else is how it goes wrong."""

    text: str = ""
    finish: str | None = "STOP"  # SAFETY, MAX_TOKENS, ...; None leaves it out
    thought: str | None = None  # a thinking part before the text
    blocked: str | None = None  # promptFeedback.blockReason
    candidates: bool = True  # False: an answer without any
    status: int = 200
    retry_delay: str | None = None  # "2s", as RetryInfo in an error's details
    delay_s: float = 0.0
    drop: bool = False  # the connection breaks instead of an answer
    hang: bool = False  # no answer until the server closes
    raw: bytes | None = None  # these bytes as the whole body
    pieces: tuple[str, ...] | None = None  # a stream's events, each with this much of the text; None: 24 each
    cut: int | None = None  # bytes of one write to the wire, wherever that cuts an event or a character
    pause_s: float = 0.0  # before each event of a stream but the first
    # How a stream ends after its last piece instead of with a finish reason: the connection breaks, nothing more
    # comes, an error of the server, a clean end.
    breaks: Literal["drop", "hang", "error", "end"] | None = None
    version: str = "fake-model-001"
    usage: dict[str, int] = field(
        default_factory=lambda: {
            "promptTokenCount": 120,
            "cachedContentTokenCount": 100,
            "candidatesTokenCount": 30,
            "thoughtsTokenCount": 12,
            "totalTokenCount": 162,
        }
    )


@dataclass(frozen=True)
class Asked:
    """One request as it came in."""

    model: str
    method: str  # generateContent, streamGenerateContent, get
    body: dict[str, Any]
    key: str | None

    @property
    def system(self) -> str:
        return _text(self.body.get("systemInstruction"))

    @property
    def prompt(self) -> str:
        return "\n".join(_text(content) for content in self.body.get("contents", []))

    @property
    def config(self) -> dict[str, Any]:
        found: dict[str, Any] = self.body.get("generationConfig", {})
        return found


def answer(content: Any, **more: Any) -> Reply:
    """A reply whose text is `content` as JSON."""
    return Reply(json.dumps(content, ensure_ascii=False), **more)


class FakeGemini:
    """`async with FakeGemini() as fake:` then point a client at `fake.url`.

    Requests are met with `script` in order, then with what `respond` makes of them (default: an empty answer
    of every field). `requests` holds all of them; `left` is set once a client has gone away in mid-stream.
    """

    def __init__(self, *script: Reply, respond: Callable[[Asked], Reply] | None = None) -> None:
        self.script: deque[Reply] = deque(script)
        self.requests: list[Asked] = []
        self.arrived = asyncio.Event()  # set once a request has come in
        self.left = asyncio.Event()
        self.url = ""
        self._respond = respond or (lambda _asked: answer({"response": "fine", "summary": "fine"}))
        self._closing = asyncio.Event()
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> FakeGemini:
        app = web.Application(client_max_size=2**26)
        app.router.add_get("/{version}/models/{model}", self._get)
        app.router.add_post("/{version}/models/{target}", self._post)
        self._runner = web.AppRunner(app, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_error: object) -> None:
        self._closing.set()
        assert self._runner is not None
        await self._runner.cleanup()

    def _next(self, asked: Asked) -> Reply:
        self.requests.append(asked)
        self.arrived.set()
        return self.script.popleft() if self.script else self._respond(asked)

    async def _get(self, request: web.Request) -> web.StreamResponse:
        asked = Asked(request.match_info["model"], "get", {}, request.headers.get("x-goog-api-key"))
        reply = self._next(asked)
        if reply.status != 200 or reply.drop or reply.hang:
            return await self._fail(request, reply)
        return web.json_response({"name": f"models/{asked.model}", "version": reply.version})

    async def _post(self, request: web.Request) -> web.StreamResponse:
        model, _, method = request.match_info["target"].partition(":")
        asked = Asked(model, method, await request.json(), request.headers.get("x-goog-api-key"))
        reply = self._next(asked)
        if reply.delay_s:
            await asyncio.sleep(reply.delay_s)
        if reply.status != 200 or reply.drop or reply.hang or reply.raw is not None:
            return await self._fail(request, reply)
        if method == "streamGenerateContent":
            return await self._stream(request, reply)
        return web.json_response(_body(reply, reply.text))

    async def _fail(self, request: web.Request, reply: Reply) -> web.StreamResponse:
        if reply.hang:
            await self._closing.wait()
        if reply.drop or reply.hang:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if reply.raw is not None:
            return web.Response(status=reply.status, body=reply.raw, content_type="application/json")
        kind = "type.googleapis.com/google.rpc.RetryInfo"
        details = [{"@type": kind, "retryDelay": reply.retry_delay}] if reply.retry_delay else []
        error = {"code": reply.status, "status": "SCRIPTED", "message": reply.text, "details": details}
        return web.json_response({"error": error}, status=reply.status)

    async def _stream(self, request: web.Request, reply: Reply) -> web.StreamResponse:
        """Server-sent events; every one tells the usage so far, only the last a finish reason, as Gemini's do."""
        out = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await out.prepare(request)
        text = reply.text
        pieces = reply.pieces or tuple(text[at : at + 24] for at in range(0, len(text), 24)) or ("",)
        for number, piece in enumerate(pieces):
            if number and reply.pause_s:
                await asyncio.sleep(reply.pause_s)
            last = number == len(pieces) - 1 and reply.breaks is None
            told = (
                reply if last else replace(reply, finish=None, thought=reply.thought if not number else None)
            )
            await self._write(
                out, f"data: {json.dumps(_body(told, piece), ensure_ascii=False)}\r\n\r\n", reply.cut
            )
        if reply.breaks == "error":
            error = {"error": {"code": 500, "status": "INTERNAL", "message": "scripted"}}
            await self._write(out, f"data: {json.dumps(error)}\r\n\r\n", reply.cut)
        elif reply.breaks in ("drop", "hang"):
            assert request.transport is not None
            if reply.breaks == "hang":
                await self._hang(request.transport)
            request.transport.abort()
        return out

    async def _write(self, out: web.StreamResponse, event: str, cut: int | None) -> None:
        data = event.encode()
        for at in range(0, len(data), cut or len(data)):
            await out.write(data[at : at + (cut or len(data))])
            if cut:
                await asyncio.sleep(0)  # so that the other side reads what there is

    async def _hang(self, transport: asyncio.BaseTransport) -> None:
        while not self._closing.is_set():
            if transport.is_closing():
                self.left.set()
                return
            await asyncio.sleep(0.002)


def _body(reply: Reply, text: str) -> dict[str, Any]:
    whole: dict[str, Any] = {"usageMetadata": reply.usage, "modelVersion": reply.version}
    if reply.blocked:
        return whole | {"promptFeedback": {"blockReason": reply.blocked}}
    if not reply.candidates:
        return whole | {"candidates": []}
    parts = [{"text": reply.thought, "thought": True}] if reply.thought else []
    if text:
        parts.append({"text": text})
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    if reply.finish:
        candidate["finishReason"] = reply.finish
    return whole | {"candidates": [candidate]}


def _text(content: dict[str, Any] | None) -> str:
    return "\n".join(part.get("text", "") for part in (content or {}).get("parts", []))

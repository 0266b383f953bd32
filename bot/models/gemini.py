"""Gemini through google-genai: the only module that imports google.

Facts about the SDK that shape it (3.6.1, found in its source and by running it): the import costs about 0.5 s
and 50 MiB, so it happens in a thread and only in `prepare`. A request timeout under 10 s is refused by the
API, so the real deadline is ours. Without `retry_options` the aiohttp transport sleeps 1 to 10 s after a
connection error and repeats: one attempt is asked for, retries are made here. `.parsed` is None for a dozen
reasons: never used.
"""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from bot.clock import Clock, Deadline
from bot.models.base import Draft, Out, ProviderError, Request
from bot.models.gemini_answer import Gathered
from bot.models.gemini_wire import response_schema, retry_delay

if TYPE_CHECKING:
    from google.genai import Client, types

Thinking = Literal["minimal", "low", "medium", "high"]

_QUICK = 0.3  # seconds before a call that failed on the provider's side or on the way is made again
_WORTH = 1.0  # seconds that must be left for a second call to make sense: the fastest turns measured took 1.6
_HTTP_MIN = 10_000  # milliseconds; the API refuses less
_THOUGHTS = 2_048  # tokens on top of the answer's: thoughts count towards the limit
_REPHRASE_TEMPERATURE = 1.3


@dataclass(frozen=True, slots=True)
class _Failure:
    """A call that gave nothing: what to raise, and after how many seconds it may be made again (None:
    never)."""

    error: ProviderError
    again_after: float | None = None


class GeminiModel:
    """Implements `Model` for one model name.

    `thinking` None sends no thinking level (for models before Gemini 3, or a stand-in). A temperature is sent
    only for a rephrase and only to models that honour one: Gemini 3 and later ignore it. `generate` never
    touches `clock`: its caller awaits the whole of it through `Clock.wait`, and that must not nest.
    """

    def __init__(
        self,
        name: str,
        api_key: str,
        clock: Clock,
        base_url: str | None = None,
        *,
        thinking: Thinking | None = "low",
        quick_retry_s: float = _QUICK,
    ) -> None:
        self._name, self._key, self._base_url, self._clock = name, api_key, base_url, clock
        modern = not name.startswith(("gemini-1", "gemini-2"))
        self._thinking = thinking if modern else None
        self._honours_temperature = not modern
        self._quick = quick_retry_s
        self._client: Client | None = None

    def __repr__(self) -> str:
        return f"GeminiModel({self._name!r})"

    @property
    def name(self) -> str:
        return self._name

    async def prepare(self) -> None:
        """Import the SDK and build the client, off the loop. At start, so that no meeting waits for it."""
        if self._client is None:
            await self._clock.wait(self._load(), "import")

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        """One answer, validated. At most one second call: when the provider names a delay that fits (429), or
        after a 5xx or a broken connection; never once text was given to `on_text`. Raises ProviderError only,
        at the deadline at the latest."""
        started = asyncio.get_running_loop().time()
        outcome: Draft[Out] | _Failure
        gathered = Gathered(self._name, request.on_text)
        try:
            async with request.deadline.timeout():
                outcome = await self._attempt(request, gathered)
                if isinstance(outcome, _Failure) and _fits(outcome.again_after, request.deadline):
                    await asyncio.sleep(outcome.again_after or 0.0)
                    gathered = Gathered(self._name, request.on_text)
                    outcome = await self._attempt(request, gathered)
        except TimeoutError:
            outcome = _Failure(gathered.failed("timeout"))
        latency = round((asyncio.get_running_loop().time() - started) * 1000)
        if isinstance(outcome, _Failure):
            outcome.error.latency_ms = latency
            raise outcome.error
        return Draft(outcome.output, outcome.usage, outcome.version, latency)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aio.aclose()
            await asyncio.to_thread(client.close)

    async def check(self, timeout_s: float = 10.0) -> tuple[bool, str]:
        """Whether key and model are usable: one cheap request. (True, "ok") or (False, one of the error
        kinds)."""
        try:
            async with asyncio.timeout(timeout_s):
                client = self._client or await self._load()
                failure = await self._detached(client.aio.models.get(model=self._name))
        except TimeoutError:
            return False, "timeout"
        return (False, failure.error.kind) if isinstance(failure, _Failure) else (True, "ok")

    async def _load(self) -> Client:
        self._client = await asyncio.to_thread(self._build)
        return self._client

    def _build(self) -> Client:
        genai = importlib.import_module("google.genai")
        options: dict[str, Any] = {"retry_options": {"attempts": 1}, "timeout": _HTTP_MIN}
        if self._base_url:
            options["base_url"] = self._base_url
        client: Client = genai.Client(api_key=self._key, vertexai=False, http_options=options)
        return client

    async def _attempt(self, request: Request[Out], gathered: Gathered) -> Draft[Out] | _Failure:
        client = self._client or await self._load()
        ask = _whole if request.on_text is None else _streamed
        call = ask(
            client,
            gathered,
            model=self._name,
            contents=request.prompt.user_text(),
            config=self._config(request),
        )
        failure = await self._detached(call)
        if isinstance(failure, _Failure):
            error = failure.error
            error.usage, error.version = gathered.usage, gathered.version
            return _Failure(error) if gathered.heard else failure
        answer = gathered.read(request.output)
        return _Failure(answer) if isinstance(answer, ProviderError) else answer

    def _config(self, request: Request[Any]) -> types.GenerateContentConfig:
        wire: Any = importlib.import_module("google.genai.types")
        left = math.ceil(request.deadline.remaining() * 1000)
        config: dict[str, Any] = {
            "system_instruction": request.prompt.system,
            "response_mime_type": "application/json",
            "response_schema": response_schema(request.output),
            "max_output_tokens": request.max_output_tokens + (_THOUGHTS if self._thinking else 0),
            "automatic_function_calling": {"disable": True},
            "automatic_continuation": False,  # on, it bills requests that nobody sees
            "http_options": {"timeout": max(_HTTP_MIN, left + 1000)},
        }
        if self._thinking:
            config["thinking_config"] = {"thinking_level": self._thinking.upper()}
        if request.attempt > 0 and self._honours_temperature:
            config["temperature"] = _REPHRASE_TEMPERATURE
        made: types.GenerateContentConfig = wire.GenerateContentConfig(**config)
        return made

    async def _detached(self, call: Any) -> Any:
        """The call's result, or a _Failure.

        The request runs in an empty context: aiohttp's keep-alive timer outlives it, and in a borrowed
        context simulated time would wait for that timer. Errors become values here, so that no traceback
        carries the SDK's messages on, which can hold what was sent.
        """
        task: asyncio.Task[Any] = contextvars.Context().run(asyncio.ensure_future, _awaited(call))
        try:
            return await task
        except TimeoutError:
            return _Failure(ProviderError("timeout"))
        except Exception as error:
            return self._failure(error)

    def _failure(self, error: Exception) -> _Failure:
        """Which kind an error of SDK or transport is; only its status goes into the message."""
        code = getattr(error, "code", None)
        if not isinstance(code, int):
            kind = "unreachable" if _is_transport(error) else "server"
            return _Failure(ProviderError(kind, type(error).__name__), self._quick)
        told = f"HTTP {code}"
        if code == 429:
            delay = retry_delay(getattr(error, "details", None))
            return _Failure(ProviderError("rate_limited", told), delay)
        if code >= 500:
            return _Failure(ProviderError("server", told), self._quick)
        if code == 408:
            return _Failure(ProviderError("timeout", told))
        return _Failure(ProviderError("refused", told))


async def _awaited(call: Any) -> Any:
    return await call


async def _whole(client: Client, gathered: Gathered, **asked: Any) -> None:
    gathered.add(await client.aio.models.generate_content(**asked))


async def _streamed(client: Client, gathered: Gathered, **asked: Any) -> None:
    """Runs wholly inside one task, so that cancelling it reaches the SDK's innermost generator, which is the one
    that lets go of the connection; closing the outer one alone would leave that to the garbage collector."""
    chunks: Any = await client.aio.models.generate_content_stream(**asked)
    async for chunk in chunks:
        gathered.add(chunk)


def _fits(delay: float | None, deadline: Deadline) -> bool:
    return delay is not None and delay + _WORTH <= deadline.remaining()


def _is_transport(error: Exception) -> bool:
    """Errors of sockets, aiohttp or httpx: what the SDK passes on untouched when no answer came."""
    root = type(error).__module__.partition(".")[0]
    return isinstance(error, OSError) or root in ("aiohttp", "httpx", "httpx2", "httpcore", "httpcore2")

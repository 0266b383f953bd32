"""What Discord does and simcord does not, and what a scenario wants to go wrong: put around its transport.

All of it is process-wide, which a rehearsal may be: it is a process of its own, never beside a live bot.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import aiohttp
import aiosqlite.core
from simcord import interactions
from simcord.backend import serializers
from simcord.backend.errors import BackendError
from simcord.backend.models import Interaction
from simcord.env import Env
from simcord.http import router
from simcord.http.client import FakeHTTPClient, FakeWebhookAdapter

from bot.meeting.model import Language
from bot.rehearsal.faults import Faults
from bot.rehearsal.timing import IDLE_S

NONCE_S = 300.0  # "a few minutes" in Discord's documentation
HANG_S = 600.0  # far beyond any limit the bot sets itself
LOCALES: dict[Language, str] = {"ja": "ja", "en": "en-US"}

Request = Callable[..., Awaitable[Any]]


@contextmanager
def webhook_in_thread(backend: Any, parts: list[str], params: Any) -> Iterator[None]:
    """A webhook's request with `thread_id` goes to that thread of its channel; simcord 3.2.1 passes over it."""
    webhook = backend.webhooks.get(int(parts[1])) if parts[0] == "webhooks" and parts[1].isdigit() else None
    thread = backend.channels.get(int((params or {}).get("thread_id") or 0))
    if webhook is None or thread is None or thread.parent_id != webhook.channel_id:
        yield
        return
    home, webhook.channel_id = webhook.channel_id, thread.id
    try:
        yield
    finally:
        webhook.channel_id = home


class Wire:
    """The line between the bot and the simulated Discord of one Env."""

    def __init__(
        self,
        env: Env,
        faults: Faults,
        sleep: Callable[[float], Awaitable[None]],
        language: Language,
        interaction_changed: Callable[[str], None],
    ) -> None:
        self._env, self._faults, self._sleep, self._language = env, faults, sleep, language
        self._interaction_changed = interaction_changed
        self._nonces: dict[str, tuple[float, int, int]] = {}

    @contextmanager
    def installed(self) -> Iterator[None]:
        settle: Any = Env._settle_internal
        self._dispatch_to, self._payload_of = router.dispatch, interactions.base_payload
        idle = settle.__kwdefaults__["idle"]
        transports: tuple[Any, ...] = (FakeHTTPClient, FakeWebhookAdapter)
        originals = [transport.request for transport in transports]
        router.dispatch = self._dispatch
        interactions.base_payload = self._payload
        for transport, original in zip(transports, originals, strict=True):
            transport.request = self._faulty(original)
        settle.__kwdefaults__["idle"] = IDLE_S
        try:
            with _sqlite_without_thread():
                yield
        finally:
            settle.__kwdefaults__["idle"] = idle
            router.dispatch, interactions.base_payload = self._dispatch_to, self._payload_of
            for transport, original in zip(transports, originals, strict=True):
                transport.request = original

    def _faulty(self, original: Request) -> Request:
        async def request(transport: Any, route: Any, *args: Any, **kwargs: Any) -> Any:
            # Nobody waits for a typing indicator: a fault spent on one would test nothing.
            hit = None if route.url.endswith("/typing") else self._faults.take()
            if hit is None:
                return await original(transport, route, *args, **kwargs)
            if hit.error == "timeout":
                await self._sleep(HANG_S)
                raise TimeoutError
            if hit.error == "lost":
                await original(transport, route, *args, **kwargs)
            if hit.status is None:
                raise aiohttp.ServerDisconnectedError
            self._refuse(hit.status)

        return request

    def _refuse(self, status: int) -> None:
        from simcord.http.client import _raise_for

        _raise_for(BackendError(status, 0, "injected by the scenario"))

    def _dispatch(self, backend: Any, method: str, path: str, *, json: Any = None, **kwargs: Any) -> Any:
        parts = path.strip("/").split("/")
        if method == "POST" and parts[0] == "channels" and parts[2:] == ["messages"]:
            return self._post(backend, method, path, json, kwargs)
        if (
            method == "POST"
            and parts[-1] == "threads"
            and len(parts) == 5
            and int(parts[3]) in backend.channels
        ):
            raise BackendError(400, 160004, "A thread has already been created for this message")
        with webhook_in_thread(backend, parts, kwargs.get("params")):
            answer = self._dispatch_to(backend, method, path, json=json, **kwargs)
        if parts[0] in ("interactions", "webhooks") and method != "GET":
            self._interaction_changed(parts[2])
        return answer

    def _post(self, backend: Any, method: str, path: str, json: Any, kwargs: dict[str, Any]) -> Any:
        """The message a nonce already made, or a new one."""
        body = json if isinstance(json, dict) else {}
        nonce = str(body["nonce"]) if body.get("nonce") is not None and body.get("enforce_nonce") else None
        now = backend.clock.elapsed
        if nonce is not None and nonce in self._nonces:
            made, channel_id, message_id = self._nonces[nonce]
            message = backend.messages.get(channel_id, {}).get(message_id)
            if now - made < NONCE_S and message is not None:
                return serializers.message_payload(backend, message)
        answer = self._dispatch_to(backend, method, path, json=json, **kwargs)
        if nonce is not None:
            self._nonces[nonce] = (now, int(answer["channel_id"]), int(answer["id"]))
        return answer

    def _payload(self, backend: Any, **kwargs: Any) -> tuple[Interaction, dict[str, Any]]:
        record, payload = self._payload_of(backend, **kwargs)
        payload["locale"] = LOCALES[self._language]
        if "guild_locale" in payload:
            payload["guild_locale"] = LOCALES[self._language]
        return record, payload


class _Inline:
    """In the place of the queue to aiosqlite's thread: what is put in is done at once."""

    def put_nowait(self, item: tuple[asyncio.Future[Any] | None, Callable[[], Any]]) -> None:
        future, function = item
        try:
            result = function()
        except BaseException as error:
            if future is None:
                raise
            future.set_exception(error)
        else:
            if future is not None:
                future.set_result(result)


@contextmanager
def _sqlite_without_thread() -> Iterator[None]:
    """Connections opened meanwhile work in the loop's own thread.

    Virtual time stands still during a statement, so a second thread gains nothing; waking it 12,000 times a
    meeting of 250 messages costs as much as everything else together on a busy machine.
    """
    core: Any = aiosqlite.core
    queue, worker = core.SimpleQueue, core._connection_worker_thread
    core.SimpleQueue, core._connection_worker_thread = _Inline, lambda queue: None
    try:
        yield
    finally:
        core.SimpleQueue, core._connection_worker_thread = queue, worker

"""A direct conversation with the real chat service in virtual time: real store, a model by script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.app import App, build
from bot.assistant.shelf import Reader
from bot.models.base import Draft, Out, ProviderError, Request, Usage
from bot.settings import Settings
from bot.stage import Outgoing, Refused, Seen, Uncertain
from tests.crash.instant import Folder, run_instant

EPOCH = datetime(2026, 9, 1, 0, 0, tzinfo=UTC)
BOT, CHANNEL, PERSON = 1, 700, 11


class Tells:
    """One answer of the model: each piece after `pause_s`, then the end, or the error instead of it."""

    def __init__(
        self, *pieces: str, pause_s: float = 0.5, error: str | None = None, hangs: bool = False
    ) -> None:
        self.pieces, self.pause_s, self.error, self.hangs = pieces, pause_s, error, hangs


class Model:
    """Implements `Model`. Answers by script, then with what the last of it says."""

    name = "scripted"

    def __init__(self, *script: Tells) -> None:
        self.script = script
        self.requests: list[Request[Any]] = []

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        tells = self.script[min(len(self.requests), len(self.script) - 1)]
        self.requests.append(request)
        text = ""
        for piece in tells.pieces:
            await asyncio.sleep(tells.pause_s)
            text += piece
            if request.on_text is not None:
                request.on_text(text)
        if tells.hangs:
            await asyncio.sleep(request.deadline.remaining())
            raise ProviderError("timeout")
        await asyncio.sleep(tells.pause_s)
        if tells.error is not None:
            raise ProviderError(tells.error, usage=Usage(50, 0, 7), version="scripted-1")
        return Draft(
            request.output.model_validate({"response": text}), Usage(100, 10, 20), "scripted-1", 1000
        )

    async def close(self) -> None:
        return None

    def prompts(self) -> list[str]:
        return [request.prompt.user_text() for request in self.requests]


@dataclass
class Shown:
    message_id: int
    text: str
    mine: bool
    at: datetime
    files: tuple[str, ...] = ()
    nonce: str | None = None


class Channel:
    """Implements `Line` over one direct channel in memory. `faults`: what the next requests meet, in order:
    an error to raise before anything happens, or ("lost", error) to apply the request and raise then.
    """

    channel_id = CHANNEL

    def __init__(self, now: Callable[[], datetime], user_id: int = PERSON, channel_id: int = CHANNEL) -> None:
        self._now, self._user_id, self.channel_id = now, user_id, channel_id
        self.messages: list[Shown] = []
        self.log: list[tuple[float, str, str]] = []  # second, what, text
        self.typed: list[float] = []
        self.faults: dict[str, list[Any]] = {"say": [], "edit": [], "recent": [], "reader": []}
        self.channels: dict[int, frozenset[int]] = {}

    @property
    def user_id(self) -> int:
        return self._user_id

    @property
    def mine(self) -> list[str]:
        return [message.text for message in self.messages if message.mine]

    def seconds(self) -> float:
        return round((self._now() - EPOCH).total_seconds(), 3)

    def write(self, text: str, files: tuple[str, ...] = ()) -> Seen:
        """The person writes."""
        made = self._add(text, mine=False, files=files)
        return self._seen(made)

    def _add(self, text: str, **more: Any) -> Shown:
        number = 1000 * (int((self._now() - EPOCH).total_seconds() * 1000) + 1) + len(self.messages)
        made = Shown(number, text, at=self._now(), **more)
        self.messages.append(made)
        return made

    def _seen(self, shown: Shown) -> Seen:
        who = (BOT, "Ketsugi") if shown.mine else (self._user_id, "佐藤")
        return Seen(
            shown.message_id, *who, shown.text, shown.at, mine=shown.mine, bot=shown.mine, files=shown.files
        )

    async def _request(self, kind: str, work: Callable[[], Any]) -> Any:
        await asyncio.sleep(0.1)
        fault = self.faults[kind].pop(0) if self.faults[kind] else None
        if isinstance(fault, tuple):
            work()
            raise fault[1]
        if fault is not None:
            raise fault
        return work()

    async def say(self, post: Outgoing) -> int:
        def apply() -> int:
            for message in self.messages:
                if post.nonce is not None and message.nonce == post.nonce:
                    return message.message_id
            self.log.append((self.seconds(), "say", post.text))
            return self._add(post.text, mine=True, nonce=post.nonce).message_id

        return int(await self._request("say", apply))

    async def edit(self, message_id: int, post: Outgoing) -> None:
        def apply() -> None:
            message = next((m for m in self.messages if m.message_id == message_id), None)
            if message is None:
                raise Refused("gone")
            self.log.append((self.seconds(), "edit", post.text))
            message.text = post.text

        await self._request("edit", apply)

    async def typing(self) -> None:
        self.typed.append(self.seconds())

    async def recent(self, before: int | None, limit: int) -> list[Seen]:
        def read() -> list[Seen]:
            found = [m for m in self.messages if before is None or m.message_id < before]
            return [self._seen(m) for m in found[-limit:]]

        found: list[Seen] = await self._request("recent", read)
        return found

    async def reader(self, guild_ids: Sequence[int]) -> Reader:
        def read() -> Reader:
            return Reader(self._user_id, {g: c for g, c in self.channels.items() if g in guild_ids})

        found: Reader = await self._request("reader", read)
        return found


class Conversation:
    """What a test gets: the application, the person's channel, the model. `say` writes and waits for the end."""

    def __init__(self, app: App, channel: Channel, model: Model) -> None:
        self.app, self.channel, self.model = app, channel, model

    async def receive(self, text: str, files: tuple[str, ...] = ()) -> None:
        """Returns at once."""
        await self.app.chat.receive(self.channel, self.channel.write(text, files))

    async def say(self, text: str, files: tuple[str, ...] = ()) -> str:
        """The text that stands at the end."""
        await self.receive(text, files)
        await self.over()
        return self.channel.mine[-1]

    async def over(self) -> None:
        while self.app.chat._tasks:
            await asyncio.wait(set(self.app.chat._tasks))
            await asyncio.sleep(0)

    @property
    def log(self) -> list[tuple[float, str, str]]:
        return self.channel.log

    def seen(self) -> list[str]:
        """Every text that was ever visible, in order."""
        return [text for _, _, text in self.channel.log]


def converse(
    test: Callable[[Conversation], Coroutine[Any, Any, None]],
    *script: Tells,
    folder: Folder,
    model: str = "scripted",
    **settings: Any,
) -> Conversation:
    """Run one test on a new database; hands back what there was, for looking at it afterwards."""
    double = Model(*script)
    kept: list[Conversation] = []
    url = folder.fresh()

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def now() -> datetime:
            return EPOCH + timedelta(seconds=loop.time())

        options = {"database_url": url, "model": model, "gemini_base_url": "http://127.0.0.1:9"}
        app = build(Settings(**(options | settings), seed=1, models=""), now, wrap_model=lambda _: double)
        await app.db.open()
        made = Conversation(app, Channel(now), double)
        kept.append(made)
        try:
            await test(made)
        finally:
            await app.chat.close(0.0)
            await app.db.close()

    run_instant(main())
    return kept[0]


def lost() -> tuple[str, Uncertain]:
    """Discord does it, and its answer never arrives."""
    return ("lost", Uncertain("reset"))

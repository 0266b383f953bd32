"""How long a request that hangs may keep the bot, by what it is for: measured on the stage in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from bot.stage import Attachment, Outgoing, Place, Uncertain
from cogs._stage import DiscordStage
from tests.virtual_time import run_virtual

PLACE = Place(1, 2)
TEXT = Outgoing("本文", nonce="n")
FILE = Outgoing("", files=(Attachment("minutes.md", b"# m"),), nonce="n")
BOARD = Outgoing("本文", pin=True, nonce="n")


class Tar:
    """Everything of discord.py that the stage touches; every request hangs, but those named in `fine`."""

    def __init__(self, *fine: str) -> None:
        self.fine, self.id = fine, 7

    def is_closed(self) -> bool:
        return False

    def get_partial_messageable(self, *_: Any, **__: Any) -> Tar:
        return self

    def get_partial_message(self, _: int) -> Tar:
        return self

    def get_user(self, _: int) -> Tar:
        return self

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def request(*_: Any, **__: Any) -> Any:
            if name not in self.fine:
                await asyncio.sleep(1e6)
            return self

        return request


Calls = Callable[[DiscordStage], Awaitable[Any]]


@pytest.mark.parametrize(
    ("call", "seconds"),
    [
        (lambda s: s.say(PLACE, TEXT), 7.0),
        (lambda s: s.say(PLACE, FILE), 20.0),
        (lambda s: s.direct_message(4, TEXT), 7.0),
        (lambda s: s.direct_message(4, FILE), 20.0),
        (lambda s: s.edit(PLACE, 7, TEXT), 5.0),
        (lambda s: s.edit(PLACE, 7, FILE), 20.0),
        (lambda s: s.react(PLACE, 7, "📌"), 5.0),
        (lambda s: s.reactors(PLACE, 7, "📌"), 7.0),
        (lambda s: s.delete(PLACE, 7), 7.0),
    ],
)
def test_a_request_that_hangs_is_cut_off(call: Calls, seconds: float) -> None:
    async def scene() -> None:
        with pytest.raises(Uncertain):
            await call(DiscordStage(Tar()))  # type: ignore[arg-type]
        assert asyncio.get_running_loop().time() == pytest.approx(seconds)

    run_virtual(scene())


def test_a_pin_that_hangs_does_not_keep_the_post() -> None:
    async def scene() -> None:
        assert await DiscordStage(Tar("send")).say(PLACE, BOARD) == 7  # type: ignore[arg-type]
        assert asyncio.get_running_loop().time() == pytest.approx(5.0)

    run_virtual(scene())


def test_typing_keeps_nobody() -> None:
    async def scene() -> None:
        stage = DiscordStage(Tar())  # type: ignore[arg-type]
        await stage.typing(PLACE)
        assert asyncio.get_running_loop().time() == 0.0
        await asyncio.sleep(5.1)
        assert not stage._typing

    run_virtual(scene())


def test_a_limit_of_its_own_holds_for_every_request() -> None:
    async def scene() -> None:
        with pytest.raises(Uncertain):
            await DiscordStage(Tar(), timeout=0.5).say(PLACE, FILE)  # type: ignore[arg-type]
        assert asyncio.get_running_loop().time() == pytest.approx(0.5)

    run_virtual(scene())

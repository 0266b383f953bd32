"""The pictures of docs/: the shipped demos, played by the real bot, photographed in the simulated Discord.

    pip install -e . 'simcord[screenshot]'; apt-get install chromium fonts-noto-cjk pngquant
    python docs/make_pictures.py [ja|en ...]

Writes docs/pictures/<language>/*.png. CHROMIUM names another browser than /usr/bin/chromium.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserType
from simcord.builders import ChannelHandle
from simcord.preview._capture import ManagedCapture

from bot.meeting.model import Language
from bot.rehearsal.command import demo
from bot.rehearsal.driver import Rehearsal
from bot.rehearsal.product import Product
from bot.rehearsal.scenario import Command, Event, Say, load

PICTURES = Path(__file__).parent / "pictures"
WIDTH = 680
ZONES: dict[Language, str] = {"ja": "Asia/Tokyo", "en": "UTC"}
LOCALES: dict[Language, str] = {"ja": "ja", "en": "en-US"}
# The preview's own fonts hold Chinese forms of kanji; system fonts have the Japanese ones.
FONTS = '"Noto Sans CJK JP", "Noto Color Emoji", sans-serif'
SET_FONTS = """fonts => document.querySelectorAll("*:not(code):not(pre)").forEach(
    element => element.style.setProperty("font-family", fonts, "important"))"""
SEARCHED: dict[Language, str] = {"ja": "公開日", "en": "move"}
# Where in the demo a room is photographed: after the line that holds these words.
TURN: dict[Language, str] = {"ja": "27日の火曜なら", "en": "TODO: cancel"}
ANSWER: dict[Language, str] = {"ja": "@アシスタント", "en": "@assistant"}
WISH: dict[Language, str] = {"ja": "終わりにしましょう", "en": "let's wrap up"}


class Photographer(Rehearsal):
    """A rehearsal that takes a picture at the moments that the documentation shows."""

    async def _do(self, event: Event) -> None:
        await super()._do(event)
        match event:
            case Command(command="meeting start"):
                await self._picture("kickoff", height=810)
            case Say(say=text) if TURN[self.language] in text:
                await self._reach(self._now() + 25)
                await self._picture("turn", height=640)
            case Say(say=text) if ANSWER[self.language] in text:
                await self._reach(self._now() + 10)
                await self._picture("board", self._board(), height=1000)
                await self._picture("answer", height=480)
            case Say(say=text) if WISH[self.language] in text:
                await self._reach(self._now() + 6)
                await self._picture("readback", height=620)
            case _:
                pass

    async def _run_on(self) -> None:
        await super()._run_on()
        thread = self.server.channel.threads[0]
        await self._picture("minutes", max(self.observer.minutes), channel=thread, height=1300)
        chair = self.scenario.header.chair
        result = await self.server.command(chair, "decisions search", {"query": SEARCHED[self.language]})
        await self._picture("search", result, height=700)

    def _board(self) -> int:
        return min(self.observer._posts)

    async def _picture(
        self, name: str, target: Any = None, *, channel: ChannelHandle | None = None, height: int
    ) -> None:
        """One PNG: a single message where there is a target, else the end of the room."""
        viewer = self.server.person(self.scenario.header.chair)
        path = PICTURES / self.language / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        async with self.env.preview(
            channel or self.server.channel,
            viewers=[viewer],
            locale=LOCALES[self.language],
            timezone=ZONES[self.language],
            presentation_time=self.env.now() + timedelta(seconds=1),
        ) as preview:
            whole = name == "kickoff" or target is None
            await preview.screenshot(
                path,
                target=target,
                mode="viewport" if whole else "surface",
                layout="channel" if whole else "message",
                viewport=(WIDTH, height),
                allow_incomplete=True,
            )


def prepare_browser() -> None:
    launch, freeze = BrowserType.launch, ManagedCapture._freeze

    async def launch_installed(self: Any, **options: Any) -> Any:
        where = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        return await launch(self, executable_path=where, args=["--no-sandbox"], **options)

    async def freeze_in_system_fonts(page: Any) -> None:
        await page.evaluate(SET_FONTS, FONTS)  # a style tag is refused by the page's own policy
        await freeze(page)

    BrowserType.launch = launch_installed  # type: ignore[method-assign]
    ManagedCapture._freeze = staticmethod(freeze_in_system_fonts)  # type: ignore[method-assign]


def main(languages: list[str]) -> None:
    prepare_browser()
    for language in languages or ["ja", "en"]:
        assert language in ("ja", "en"), language
        with tempfile.TemporaryDirectory() as folder:
            host = Product(f"sqlite+aiosqlite:///{folder}/pictures.db", "offline", language, 0)
            asyncio.run(Photographer(load(demo(language)), host, language=language).play())
        for path in sorted((PICTURES / language).glob("*.png")):
            subprocess.run(
                ["pngquant", "--force", "--skip-if-larger", "--output", path, "64", path], check=False
            )


if __name__ == "__main__":
    main(sys.argv[1:])

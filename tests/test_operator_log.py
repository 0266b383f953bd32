"""What the log holds after a whole meeting at the chattiest level: what happened, and nobody's words."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.run import set_up_logging
from tests.cogs.real import product
from tests.fakes import Asked, FakeGemini, Reply, answer

KEY = "AIzaSecretKeyOfTheOperator"
TOKEN = "MTA1.secret-token.of-the-bot"
TITLE = "Moonshot pricing"
WORDS = (
    "the pelican costs 4711 euros",
    "who reviews the albatross?",
    "I would rather keep it quiet",
    "never before May, says finance",
)


class Kept(logging.Handler):
    """All records as lines, tracebacks and their text included."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = self.format(record) + repr(record.args) + str(record.exc_text or "") + repr(record.exc_info)
        self.lines.append((record.name, text))


@pytest.fixture
def kept() -> Iterator[Kept]:
    """The logging of `ketsugi run` at DEBUG, with what it would print."""
    root = logging.getLogger()
    before = {name: logging.getLogger(name).level for name in ("", "ketsugi", "bot", "cogs")}
    handler = Kept()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    set_up_logging("DEBUG")
    try:
        yield handler
    finally:
        root.removeHandler(handler)
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def _respond(asked: Asked) -> Reply:
    """Every fourth answer fails, with the words of the room in the provider's message."""
    _respond.count += 1  # type: ignore[attr-defined]
    if _respond.count % 4 == 0:  # type: ignore[attr-defined]
        return Reply(" ".join(WORDS), status=500)
    if _respond.count % 4 == 2:  # type: ignore[attr-defined]
        return Reply(f'{{"response": "{WORDS[0]}')  # no JSON
    return answer({"response": f"Noted: {WORDS[0]}", "summary": f"{WORDS[0]} #2"})


async def test_no_word_name_title_key_or_token_is_ever_logged(
    kept: Kept, tmp_path: Path, monkeypatch: Any
) -> None:
    _respond.count = 0  # type: ignore[attr-defined]
    async with FakeGemini(respond=_respond) as gemini:
        options = {
            "model": "gemini-3.8-flash",
            "gemini_base_url": gemini.url,
            "gemini_api_key": KEY,
            "discord_token": TOKEN,
            "generations_per_day": 6,
        }
        async with product(tmp_path, monkeypatch, **options) as world:
            stage = world.app.core.stage
            real, sends = stage.say, [0]

            async def say(place: Any, post: Any) -> int:
                sends[0] += 1
                if sends[0] % 3 == 0:
                    raise RuntimeError(post.text)  # a fault nobody foresaw, whose message quotes the post
                return await real(place, post)

            monkeypatch.setattr(stage, "say", say)
            number = await world.meet(
                (world.chair, f"Decision: {WORDS[0]}"),
                (world.guest, f"Open: {WORDS[1]}"),
                (world.chair, WORDS[2]),
                (world.guest, f"Constraint: {WORDS[3]}"),
                title=TITLE,
                agenda=WORDS[2],
            )
            await world.run(300)
            await world.slash(world.guest, "privacy erase", what="me")
            await world.press(world.guest)
            names = ("sato", "suzuki", "tanaka")
    whole = [text for _, text in kept.lines]
    for word in (*WORDS, TITLE, KEY, TOKEN, *names):
        assert [line for line in whole if word in line] == [], word
    told = [text for name, text in kept.lines if name == "ketsugi"]
    for wanted in (
        rf"meeting {number} started: server \d+ channel \d+, 30 min, 1 agenda items",
        rf"meeting {number}: state writing",
        rf"meeting {number}: state closed",
        rf"meeting {number}: minutes published as message \d+ \(\d+ entries, 4 messages\)",
        rf"meeting {number}: \w+ got no usable answer from gemini-3.8-flash \(\w+",
        r"server \d+: the daily cap on generations is used up",
        r"erased on server \d+: a person, 1 meetings touched",
        "RuntimeError",
    ):
        assert any(re.search(wanted, line) for line in told), (wanted, told)


async def test_an_outage_and_its_end_are_one_line_each(kept: Kept, tmp_path: Path, monkeypatch: Any) -> None:
    down = [True]

    def respond(_: Asked) -> Reply:
        return Reply("down", status=503) if down[0] else answer({"response": "", "summary": ""})

    async with FakeGemini(respond=respond) as gemini:
        options = {"model": "gemini-3.8-flash", "gemini_base_url": gemini.url}
        async with product(tmp_path, monkeypatch, **options) as world:
            await world.slash(world.chair, "meeting start", title=TITLE, minutes=60)
            await world.run(30)
            for _ in range(4):
                await world.say(
                    world.chair,
                    "Let us go on.",
                )
                await world.say(world.guest, "Yes, let us.")
            down[0] = False
            await world.run(600)
            for _ in range(3):
                await world.say(world.chair, "And now?")
                await world.say(world.guest, "On it goes.")
                await world.run(60)
    told = [text for name, text in kept.lines if name == "ketsugi"]
    assert sum("the offline engine takes over" in line for line in told) == 1
    assert sum("the model provider answers again" in line for line in told) == 1

"""One load, in a process of its own: `python -m bot.evaluation.load MEETINGS SECONDS` prints one JSON line.

The application as it runs, on a database file, with discord.py and the provider's library in memory; only
Discord itself is a stage that takes everything at once, and the model answers at once.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import pkgutil
import random
import resource
import sys
import tempfile
import time
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.app import App, build
from bot.facilitation.delivery import snowflake
from bot.facilitation.requests import Person, StartRequest
from bot.meeting.model import ChannelKind, Route
from bot.meeting.schedule import BURST, QUIET
from bot.models.base import Draft, Out, Request, Usage
from bot.models.offline import respond
from bot.prompts.outputs import TurnOut
from bot.settings import OFFLINE, Settings
from bot.stage import BOT_NAME, Outgoing, Place, Refused, Seen

GUILD = 1
PEOPLE = 4
PAUSE_S = (8.0, 14.0)  # between bursts of one meeting: livelier than people are
BURST_MESSAGES = (1, 3)
ANSWER = "Understood, thank you."


class AtOnce:
    """Implements `Model`: the cost of a call is our own."""

    name = OFFLINE

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        scene = request.scene
        answer: Any = respond(scene) if scene.route is not Route.TURN else TurnOut(response=ANSWER)
        return Draft(answer, Usage(), "at once", 0)

    async def close(self) -> None:
        return None


class Nowhere:
    """Implements `Stage`; remembers when each channel's answers came."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, float]] = []
        self._last = 0

    async def say(self, place: Place, post: Outgoing) -> int:
        if post.text == ANSWER:
            self.answers.append((place.channel_id, time.time()))
        self._last = max(self._last + 1, snowflake(datetime.now(UTC)))
        return self._last

    async def webhook(self, place: Place, known: int | None) -> int:
        raise Refused("no_webhook", "kind")

    async def edit(self, place: Place, message_id: int, post: Outgoing) -> None:
        return None

    async def delete(self, place: Place, message_id: int) -> None:
        return None

    async def react(self, place: Place, message_id: int, emoji: str) -> None:
        return None

    async def reactors(self, place: Place, message_id: int, emoji: str) -> list[tuple[int, str]]:
        return []

    async def open_thread(self, place: Place, message_id: int, name: str) -> Place:
        return Place(place.guild_id, message_id)

    async def history(self, place: Place, after: int, limit: int | None = None) -> list[Seen]:
        return []

    async def readable_by_all(self, place: Place, other: Place) -> bool:
        return True

    async def direct_message(self, user_id: int, post: Outgoing) -> int:
        return await self.say(Place(GUILD, user_id), post)

    async def withdraw(self, user_id: int, message_id: int) -> None:
        return None

    async def typing(self, place: Place) -> None:
        return None


class Load:
    """Meetings that talk for a while; all times in seconds."""

    def __init__(self, app: App, stage: Nowhere, count: int) -> None:
        self._app, self._stage, self._random = app, stage, random.Random(count)
        self._places = [Place(GUILD, 1000 + n) for n in range(count)]
        self._ids = snowflake(datetime.now(UTC))
        self.stored: list[float] = []
        self.at_once: list[float] = []
        self._sent: dict[int, list[float]] = defaultdict(list)

    async def start(self) -> None:
        for place in self._places:
            chair = Person(1, "person 1", manager=False)
            await self._app.meetings.start(
                StartRequest(
                    place, ChannelKind.TEXT, chair, "A load", ("one", "two"), ("at most 3",), 60, "en", None
                )
            )

        for who in (1, 2):  # somebody alone is answered later (SPEC 2.3), which is not what is measured
            for place in self._places:
                await self._say(place, who, "Hello")
        await asyncio.sleep(2 * QUIET.total_seconds())
        self._stage.answers.clear()

    async def talk(self, seconds: float) -> None:
        end = time.time() + seconds
        await asyncio.gather(*(self._meeting(place, end) for place in self._places))

    async def everybody(self) -> None:
        """One message in every meeting in the same instant: the worst that arrival can do."""
        took = await asyncio.gather(*(self._say(place, 1, "All at once") for place in self._places))
        self.at_once += took

    async def _meeting(self, place: Place, end: float) -> None:
        await asyncio.sleep(self._random.uniform(0, PAUSE_S[1]))
        while time.time() < end:
            size = self._random.randint(*BURST_MESSAGES)
            for number in range(size):
                who = self._random.randint(1, PEOPLE)
                text = self._random.choice(
                    ("Decision: the limit stays at {n}", "I think {n} is enough", "+1", "Question: why {n}?")
                )
                last = f"@{BOT_NAME} " if number == size - 1 else ""
                self._sent[place.channel_id].append(time.time())
                words = last + text.format(n=self._random.randint(1, 999))
                self.stored.append(await self._say(place, who, words))
                await asyncio.sleep(self._random.uniform(0.2, 1.5) if number < size - 1 else 0)
            await asyncio.sleep(self._random.uniform(*PAUSE_S))

    async def _say(self, place: Place, who: int, text: str) -> float:
        now = datetime.now(UTC)
        self._ids = max(self._ids + 1, snowflake(now))
        began = time.perf_counter()
        seen = Seen(self._ids, who, f"person {who}", text, now, mine=False, bot=False)
        await self._app.meetings.receive(place, seen)
        return time.perf_counter() - began

    def delays(self) -> list[float]:
        """From the end of each burst's quiet to its answer."""
        found: list[float] = []
        for channel, at in self._stage.answers:
            sent = self._sent[channel]
            if not sent:
                continue
            first = last = sent.pop(0)
            while sent and sent[0] <= min(last + QUIET.total_seconds(), first + BURST.total_seconds()):
                last = sent.pop(0)
            found.append(at - min(last + QUIET.total_seconds(), first + BURST.total_seconds()))
        return found


def resident_mib() -> float:
    """Resident memory of this process now; where /proc is missing, its highest so far."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize() / 2**20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def load_everything() -> None:
    """All that `ketsugi run` has in memory with a provider's model: discord.py, the cogs, google-genai."""
    importlib.import_module("bot.client")
    cogs = importlib.import_module("cogs")
    for module in pkgutil.iter_modules(cogs.__path__, "cogs."):
        importlib.import_module(module.name)
    importlib.import_module("google.genai")


def percentile(values: list[float], share: float) -> float | None:
    """Of sorted values the one at `share` (nearest rank); None where there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


async def measure(count: int, seconds: float) -> dict[str, Any]:
    """Times in milliseconds, memory in MiB."""
    load_everything()
    with tempfile.TemporaryDirectory(prefix="ketsugi-bench-") as folder:
        settings = Settings(
            database_url=f"sqlite+aiosqlite:///{folder}/bench.db", model=OFFLINE, light_model=OFFLINE
        )
        app, stage = build(settings, lambda: datetime.now(UTC), wrap_model=lambda _: AtOnce()), Nowhere()
        await app.open()
        app.attach(stage)
        gc.collect()
        idle = resident_mib()
        load = Load(app, stage, count)
        await load.start()
        used = time.process_time()
        await load.talk(seconds)
        await asyncio.sleep(QUIET.total_seconds() + 1)
        used = time.process_time() - used
        gc.collect()
        busy = resident_mib()
        await load.everybody()
        await app.close()
    delays = load.delays()
    return {
        "meetings": count,
        "seconds": seconds,
        "messages": len(load.stored),
        "cpu_ms": round(1000 * used / max(1, len(load.stored)), 2),  # a message, its turn and board included
        **milliseconds("stored", load.stored),
        "answers": len(delays),
        **milliseconds("post", delays),
        **milliseconds("at_once", load.at_once),
        "idle_mib": round(idle, 1),
        "busy_mib": round(busy, 1),
    }


def milliseconds(name: str, values: list[float], digits: int = 2) -> dict[str, float | None]:
    """Median and 95th percentile of seconds, in milliseconds."""
    found = {"median": percentile(values, 0.5), "p95": percentile(values, 0.95)}
    return {f"{name}_{k}_ms": None if v is None else round(1000 * v, digits) for k, v in found.items()}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(int(sys.argv[1]), float(sys.argv[2])))))  # noqa: T201

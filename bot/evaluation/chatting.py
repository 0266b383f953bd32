"""Direct messages measured, in a process of its own: `python -m bot.evaluation.chatting PEOPLE` prints one JSON line.

The chat service as it runs, on a database file, in real time; only the model is a double that writes prepared
answers at an even pace, and Discord a channel in memory that takes everything at once.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.app import build
from bot.assistant.shelf import Reader
from bot.evaluation.load import milliseconds, percentile
from bot.guard.streaming import ends
from bot.models.base import Draft, Out, Request, Usage
from bot.settings import OFFLINE, Settings
from bot.stage import Outgoing, Seen

CHARACTERS, PAUSE_S = 12, 0.06  # of one piece of the stream, and before it: 200 characters a second
BEFORE_S = 0.4  # until the first one
ANSWER_AT_MOST_S = 30.0
APART_S = 0.15  # between two people's questions
ANSWERS = (
    "目的を先に一行で書くと、話が脱線しにくくなります。次に、決めたいことを箇条書きにしてみましょう。\n"
    "- 何を選ぶのか\n- 選ぶための条件\n- 選ばない場合にどうするか\n最後に、誰がいつまでに動くかを空欄で用意しておくと、"
    "会議の終わりに埋めるだけで済みます。ほかに迷っている点があれば、そのまま書いてください。",
    "どちらの案にも良いところがあります。比べる前に、何が満たされれば十分なのかを先に決めておくと楽です。"
    "条件が決まらないうちに案を並べると、声の大きい人の案に寄りがちです。まず条件だけを話し合う短い時間を取ってみませんか。",
    "Put the goal in one line first; it keeps the talk on its way. Then list what you would like to settle:\n"
    "- what is to be chosen\n- what it has to fulfil\n- what happens if nothing is chosen\nLeave a line open for who "
    "does what, so that the end of the meeting only has to fill it in. If anything is unclear, just write it here.",
    "Both have something for them. Before you compare, agree on what would be good enough. Options that are listed "
    "before that tend to follow whoever speaks the loudest. How about a short round on the conditions alone? After "
    "that the choice often makes itself.",
)


@dataclass
class Answered:
    """Moments of one answer, in seconds of the loop. `whole`: the first sentence had left the provider."""

    first: float = 0.0
    whole: float = 0.0
    visible: float = 0.0
    done: float = 0.0
    edits: int = 0


@dataclass
class Steady:
    """Implements `Model`: writes the answer that belongs to a question ("<number>: ...") at an even pace."""

    answered: Sequence[Answered]
    name: str = OFFLINE

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        number = int((request.scene.question or "0").split(":")[0])
        text, times, clock = (
            ANSWERS[number % len(ANSWERS)],
            self.answered[number],
            asyncio.get_running_loop().time,
        )
        await asyncio.sleep(BEFORE_S)
        for end in range(CHARACTERS, len(text) + CHARACTERS, CHARACTERS):
            times.first = times.first or clock()
            if not times.whole and any(ends(text[:end])):
                times.whole = clock()
            if request.on_text is not None:
                request.on_text(text[:end])
            await asyncio.sleep(PAUSE_S)
        return Draft(request.output.model_validate({"response": text}), Usage(), "steady", 0)

    async def close(self) -> None:
        return None


@dataclass
class Direct:
    """Implements `Line` in memory."""

    number: int
    times: Answered
    clock: Callable[[], float]
    messages: list[Seen] = field(default_factory=list)

    @property
    def channel_id(self) -> int:
        return self.number + 1

    @property
    def user_id(self) -> int:
        return self.number + 1

    async def say(self, post: Outgoing) -> int:
        self.times.visible = self.times.done = self.clock()
        return 1

    async def edit(self, message_id: int, post: Outgoing) -> None:
        self.times.edits += 1
        self.times.done = self.clock()

    async def typing(self) -> None:
        return None

    async def recent(self, before: int | None, limit: int) -> list[Seen]:
        return []

    async def reader(self, guild_ids: Sequence[int]) -> Reader:
        return Reader(self.user_id)


async def measure(people: int) -> dict[str, Any]:
    """Everybody asks once, `APART_S` apart. Times in milliseconds."""
    answered = [Answered() for _ in range(people)]
    loop = asyncio.get_running_loop()
    with tempfile.TemporaryDirectory(prefix="ketsugi-bench-") as folder:
        url = f"sqlite+aiosqlite:///{Path(folder) / 'bench.db'}"
        settings = Settings(database_url=url, model=OFFLINE, light_model=OFFLINE)
        app = build(settings, lambda: datetime.now(UTC), wrap_model=lambda _: Steady(answered))
        await app.open()
        for number, times in enumerate(answered):
            now = datetime.now(UTC)
            language = "どう書けばいいですか" if number % len(ANSWERS) < 2 else "how should I write it"
            seen = Seen(
                number + 1, number + 1, "someone", f"{number}: {language}?", now, mine=False, bot=False
            )
            await app.chat.receive(Direct(number, times, loop.time), seen)
            await asyncio.sleep(APART_S)
        await app.chat.close(ANSWER_AT_MOST_S)
        await app.close()
    return {
        "people": people,
        **milliseconds("first_visible", [a.visible - a.first for a in answered], digits=1),
        **milliseconds("sentence_visible", [a.visible - a.whole for a in answered], digits=1),
        **milliseconds("answer", [a.done - a.first for a in answered], digits=1),
        "edits_median": percentile([float(a.edits) for a in answered], 0.5),
        "edits_most": max(a.edits for a in answered),
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(int(sys.argv[1])))))  # noqa: T201

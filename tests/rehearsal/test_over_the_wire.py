"""A Japanese meeting with a model behind Gemini's wire that breaks what SPEC's opening tells of, and fails in between.

The double answers over real HTTP as flash-lite was measured to: it opens without announcing the start, leaves the
number out of a notice, hands off while closing in every answer, and inverts a limit in its prose.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.guard.table import hand_off
from bot.phrases import DATA
from bot.rehearsal.command import rehearse
from tests.fakes import Asked, FakeGemini, Reply, answer

HAND_OFF = "@アシスタント ここまでの内容をまとめてもらえますか？"


class Facilitator:
    """Realistic Japanese texts, route by route, with the measured misbehaviour; faults at the given rates."""

    def __init__(self, faults: dict[str, float], seed: int) -> None:
        self._faults, self._random = faults, random.Random(seed)
        self._systems = {
            path.stem: path.read_text(encoding="utf-8").strip()
            for path in (DATA / "prompts" / "ja").glob("*.md")
            if path.stem != "common"
        }
        self.routes: list[str] = []

    def __call__(self, asked: Asked) -> Reply:
        route = next(name for name, text in self._systems.items() if text in asked.system)
        self.routes.append(route)
        roll = self._random.random()
        for fault, rate in self._faults.items():
            if roll < rate:
                return self._fault(fault, route, asked)
            roll -= rate
        return answer(self._say(route, asked))

    def _fault(self, fault: str, route: str, asked: Asked) -> Reply:
        if fault == "429":
            return Reply("", status=429, retry_delay="0.05s")
        if fault == "500":
            return Reply("", status=500)
        if fault == "blocked":
            return Reply("", blocked="SAFETY")
        if fault == "empty":
            return Reply("", candidates=False)
        whole = json.dumps(self._say(route, asked), ensure_ascii=False)
        return Reply(whole[: len(whole) // 2], finish="MAX_TOKENS")

    def _say(self, route: str, asked: Asked) -> dict[str, Any]:
        if route == "minutes":
            return {"summary": "公開日の上限は撤廃され、山本さんが9件を担当します。", "items": []}
        if route in ("ask", "hand_off", "chat"):
            return {"response": "記録のとおりです。", "cites": []}
        said = {
            "opening": "今日は公開日から見ていきたいと思います。皆さん、いかがでしょうか？",
            "time_notice": "そろそろ時間を意識していきましょう。",
            "closing": f"本日はありがとうございました。{HAND_OFF}",
            "turn": "[SILENCE]" if self._random.random() < 0.8 else f"なるほど、いい流れですね。{HAND_OFF}",
        }[route]
        return {"response": said, "phase": "CLOSING" if route == "closing" else "DISCUSSING", "entries": []}


@contextmanager
def serving(double: Facilitator) -> Iterator[str]:
    """The double on a loop of its own: the rehearsal's loop runs in simulated time."""
    ready, done = threading.Event(), asyncio.Event()
    found: dict[str, Any] = {}

    async def serve() -> None:
        async with FakeGemini(respond=double) as fake:
            found["url"], found["loop"] = fake.url, asyncio.get_running_loop()
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield found["url"]
    finally:
        found["loop"].call_soon_threadsafe(done.set)
        thread.join(10)


@pytest.mark.parametrize(
    "faults",
    [{}, {"429": 0.1, "500": 0.05, "truncate": 0.1, "blocked": 0.05, "empty": 0.02}],
    ids=["no faults", "faults"],
)
def test_a_japanese_meeting(
    faults: dict[str, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    double = Facilitator(faults, seed=3)
    out = tmp_path / "out.jsonl"
    with serving(double) as url:
        monkeypatch.setenv("GEMINI_BASE_URL", url)
        monkeypatch.setenv("GEMINI_API_KEY", "test")
        status = rehearse(None, "ja", "gemini-3.5-flash-lite", None, out, 0, None, True)
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    posts = [line for line in lines if line["kind"] == "post"]
    summary = lines[-1]
    assert status == 0
    assert summary["minutes_messages"] == 1
    assert summary["longest_wait_s"] <= 25
    assert {"opening", "turn", "time_notice", "closing", "minutes"} <= set(double.routes)
    texts = [re.sub(r"^\*\*.*?\*\*\n", "", post["text"]) for post in posts if post["by"] == "facilitator"]
    closing = [post["text"] for post in posts if post["route"] == "closing"]
    assert closing
    assert not [text for text in closing if hand_off(text)]
    opening = next(post["text"] for post in posts if post["route"] == "opening")
    assert "始め" in opening
    notices = [post["text"] for post in posts if post["route"] == "time_notice"]
    assert notices
    assert all(re.search(r"\d", text) for text in notices)
    assert all(len(text) <= 1800 for text in texts)
    minutes = next(line for line in lines if line["kind"] == "minutes")["text"]
    assert "山本" not in minutes
    assert "撤廃" not in minutes
    hand_offs = [post for post in posts if post["route"] == "turn" and hand_off(post["text"])]
    answers = [post for post in posts if post["route"] == "hand_off"]
    assert len(answers) == len(hand_offs)

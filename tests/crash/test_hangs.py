"""What hangs instead of failing: nobody waits longer for it than for an answer that never needed it."""

from __future__ import annotations

import asyncio

from bot import phrases
from bot.models.base import Draft, Out, Request
from tests.crash.script import ScriptedModel
from tests.crash.table import Table, at_table

LONGEST_S = 25.0


class HangingModel(ScriptedModel):
    """A provider that takes requests and never answers them while `down`."""

    def __init__(self) -> None:
        super().__init__(0.5)
        self.down, self.answered = False, 0

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        if self.down:
            await asyncio.sleep(1e6)
        draft = await super().generate(request)
        self.answered += 1
        return draft


async def _answered(t: Table, who: str, text: str) -> float:
    """Ask the assistant; the seconds until its answer stands in the channel."""
    asked = await t.say(who, text)
    return await t.until(lambda: any(m.reply_to == asked for m in t.posts()), 120)


def _board_text(t: Table) -> str:
    post = t.board().post
    assert post is not None
    return post.text + "".join(e.description for e in post.embeds)


def test_a_provider_that_hangs_is_stood_in_for_at_once_and_handed_back() -> None:
    model = HangingModel()

    async def scenario(t: Table) -> None:
        await t.start(minutes=60)
        await asyncio.sleep(30)
        await t.say("佐藤", "決定：公開日は木曜にする", then=30)
        model.down = True
        degraded = phrases.t("board.degraded", "ja")
        waited = [await _answered(t, "Tom", f"@assistant what was decided? ({n})") for n in range(4)]
        assert max(waited) <= LONGEST_S
        assert waited[-1] <= 5.0
        await t.until(lambda: degraded in _board_text(t), 120)
        model.down, before = False, model.answered
        for n in range(6):
            await t.say("佐藤", f"続きの話です{'あいうえおか'[n]}", then=60)
        assert model.answered > before
        await t.until(lambda: degraded not in _board_text(t), 120)
        await t.end(now=True)
        await t.over()
        assert len(t.minutes) == 1

    at_table(scenario, model)

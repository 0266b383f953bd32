"""What hangs instead of failing: nobody waits longer for it than for an answer that never needed it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import pytest

from bot import phrases
from bot.meeting.model import MeetingState, Route
from bot.models.base import Draft, Out, Request
from bot.stage import Busy, Uncertain
from bot.store import outbox, overview
from cogs._stage import COSMETIC_TIMEOUT, TIMEOUT
from tests.crash.script import PLACE, ScriptedModel, person
from tests.crash.table import Table, at_table
from tests.crash.world import Calm

T = TypeVar("T")

LONGEST_S = 25.0
MARKED = (
    "決定：公開日は木曜にする",
    "TODO: Tom writes the announcement",
    "未決：写真をどうするか",
    "Note: the photos arrive on the 20th",
    "Decision: we keep the old form",
    "メモ：棚卸しは29日",
    "Question: who tells the customers?",
)
LIMITS = {"say": TIMEOUT, "react": COSMETIC_TIMEOUT, "edit": COSMETIC_TIMEOUT}


class Tar(Calm):
    """A Discord in which the next `times` calls of some names hang until they are cut off, applied or not."""

    def __init__(self, *names: str, applied: bool = False) -> None:
        self.names, self.applied, self.times, self.hung = names, applied, 0, 0

    async def call(self, kind: Literal["stage", "model"], name: str, apply: Callable[[], T]) -> T:
        if name not in self.names or self.hung >= self.times:
            return await super().call(kind, name, apply)
        self.hung += 1
        if self.applied:
            apply()
        await asyncio.sleep(LIMITS[name])
        raise Uncertain("timeout")


class Slow(ScriptedModel):
    """A healthy model that takes as long as the strong one does."""

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        self.seconds = 8.0 if request.scene.route in (Route.TURN, Route.ASK, Route.CLOSING) else 0.5
        return await super().generate(request)


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


async def _some_talk(t: Table) -> None:
    await asyncio.sleep(200)
    await t.say("Tom", "I agree with that", then=20)


def _once(t: Table) -> None:
    """Nothing that was sent twice is seen twice."""
    tags = [m.tag for m in t.world.mine]
    assert len(set(tags)) == len(tags)


async def _closed_in_order(t: Table, meeting_id: int) -> None:
    rows = await t.app.db.unit(lambda c: overview.posts(c, meeting_id))
    assert not [row.key for row in rows if row.state == "pending"]
    assert not await t.app.db.unit(outbox.unsettled)
    sent = [r.message_id for r in rows if r.kind == "post" and r.message_id]
    assert sent == sorted(sent)
    assert len(t.minutes) == 1
    assert t.app.meetings.count == 0


@pytest.mark.parametrize("applied", [True, False])
def test_a_post_that_hangs_once_is_there_in_time_and_once(applied: bool) -> None:
    tar = Tar("say", applied=applied)

    async def scenario(t: Table) -> None:
        await t.start()
        await _some_talk(t)
        tar.times = 1
        assert await _answered(t, "Tom", "@assistant what was decided?") <= LONGEST_S
        tar.times = 2
        await t.end()
        assert await t.until(lambda: bool(t.with_button("close_now"))) <= LONGEST_S
        await t.over()
        assert tar.hung == 2
        _once(t)

    at_table(scenario, Slow(), tar)


def test_a_question_behind_a_post_that_hangs_is_answered_in_time() -> None:
    tar = Tar("say")

    async def scenario(t: Table) -> None:
        await t.start()
        await _some_talk(t)
        tar.times = 1
        first = await t.say("佐藤", "@assistant what was decided?")
        await t.until(lambda: tar.hung == 1)
        assert await _answered(t, "Tom", "@assistant what is still open?") <= LONGEST_S
        assert any(m.reply_to == first for m in t.posts())
        _once(t)

    at_table(scenario, Slow(), tar)


@pytest.mark.parametrize("names", [("react",), ("react", "edit")])
def test_signs_that_hang_keep_nobody_waiting(names: tuple[str, ...]) -> None:
    tar = Tar(*names)

    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await _some_talk(t)
        tar.times = 1000
        for text in MARKED:
            marked = await t.say("佐藤", text)
        waited = await _answered(t, "Tom", "@assistant what was decided?")
        assert waited <= 8.0 + len(names) * COSMETIC_TIMEOUT + 2.0
        await asyncio.sleep(30)
        tar.times = 0
        await t.until(lambda: bool(t.world.find(t.board().channel_id, marked).reactions), 120)
        await t.end()
        assert await t.until(lambda: bool(t.with_button("close_now"))) <= LONGEST_S
        await t.over()
        await _closed_in_order(t, meeting.id)

    at_table(scenario, Slow(), tar)


def test_signs_that_are_slow_let_a_question_pass() -> None:
    class Sluggish(Calm):
        async def call(self, kind: Literal["stage", "model"], name: str, apply: Callable[[], T]) -> T:
            if name == "react":
                await asyncio.sleep(3.0)
            return await super().call(kind, name, apply)

    async def scenario(t: Table) -> None:
        await t.start()
        await _some_talk(t)
        marked = [await t.say("佐藤", text) for text in MARKED]
        assert await _answered(t, "Tom", "@assistant what was decided?") <= 8.0 + 3.0 + 2.0
        await t.until(lambda: all(t.world.find(t.board().channel_id, m).reactions for m in marked), 120)

    at_table(scenario, Slow(), Sluggish())


def test_a_sign_that_can_never_be_put_holds_nothing_up_and_is_given_up() -> None:
    class Never(Calm):
        tried = 0

        async def call(self, kind: Literal["stage", "model"], name: str, apply: Callable[[], T]) -> T:
            if name == "react":
                self.tried += 1
                raise Uncertain("500")
            return await super().call(kind, name, apply)

    never = Never()

    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await _some_talk(t)
        for text in MARKED:
            await t.say("佐藤", text, then=20)
        before = never.tried
        for n in range(5):
            assert await _answered(t, "Tom", f"@assistant what was decided? ({n})") <= LONGEST_S
        assert never.tried - before <= 1
        await t.end()
        assert await t.until(lambda: bool(t.with_button("close_now"))) <= LONGEST_S
        await t.until(lambda: t.app.meetings.count == 0, 180)
        again, _, _ = await t.record(meeting)
        assert again.state is MeetingState.CLOSED
        await _closed_in_order(t, meeting.id)

    at_table(scenario, tap=never)


def test_a_sign_that_is_late_is_given_up_while_the_meeting_goes_on() -> None:
    class Limited(Calm):
        bad = True

        async def call(self, kind: Literal["stage", "model"], name: str, apply: Callable[[], T]) -> T:
            if name == "react" and self.bad:
                raise Busy(400.0)
            return await super().call(kind, name, apply)

    limited = Limited()

    async def scenario(t: Table) -> None:
        meeting = await t.start(minutes=60)
        await asyncio.sleep(5)
        await t.say("佐藤", "決定：公開日は木曜にする", then=900)
        limited.bad = False
        fresh = await t.say("Tom", "TODO: Tom writes the announcement", then=300)
        rows = await t.app.db.unit(lambda c: overview.posts(c, meeting.id))
        settled = {row.key.split(":")[1]: row.state for row in rows if row.kind == "reaction"}
        assert list(settled.values()) == ["failed", "sent"]
        assert settled[str(fresh)] == "sent"

    at_table(scenario, tap=limited)


def test_ask_is_answered_in_time_however_long_the_search_takes() -> None:
    model = HangingModel()

    async def scenario(t: Table) -> None:
        await t.start()
        await asyncio.sleep(30)
        await t.say("佐藤", "決定：公開日は木曜にする", then=30)
        model.down = True
        assistant = t.app.assistant
        find = assistant.shelf.find

        async def slowly(*asked: Any, **more: Any) -> Any:
            await asyncio.sleep(15)
            return await find(*asked, **more)

        assistant.shelf.find = slowly  # type: ignore[method-assign]
        before = t.seconds
        told = await assistant.ask(PLACE, person("Tom"), "公開日はいつですか？", {PLACE.channel_id})
        assert told.attempts
        assert t.seconds - before <= LONGEST_S - 1.0
        assert "木曜" in told.text

    at_table(scenario, model)

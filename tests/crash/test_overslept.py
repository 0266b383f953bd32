"""A failure while a meeting is taken up or looked at costs the meeting some seconds, never its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Literal, TypeVar

import pytest

from bot.errors import StoreError
from bot.facilitation import backfill, steps
from bot.facilitation.room import Room
from bot.stage import Place, Uncertain
from bot.store import outbox
from tests.crash import world
from tests.crash.script import CHANNEL, GUILD
from tests.crash.table import Table, at_table
from tests.crash.world import Calm

T = TypeVar("T")
OTHER = Place(GUILD, CHANNEL + 1)


def once(really: Callable[..., Coroutine[Any, Any, Any]], chosen: Callable[..., bool]) -> Any:
    """`really`, but for the first call that is `chosen`: there the disk is full."""
    failed = False

    async def call(*args: Any) -> Any:
        nonlocal failed
        if not failed and chosen(*args):
            failed = True
            raise StoreError("database or disk is full")
        return await really(*args)

    return call


async def forget(t: Table) -> None:
    """What a process knows that has just begun: nothing."""
    for room in t.app.meetings.rooms_of(GUILD):
        t.app.meetings.forget(room.id)


async def held_twice(t: Table) -> None:
    await t.start(minutes=30)
    await t.start("en", minutes=30, place=OTHER)
    await asyncio.sleep(30)


async def both_end_with_minutes(t: Table) -> None:
    await t.over()
    assert len(t.minutes) == 2
    assert all("StoreError" in line for line in t.errors)
    t.errors.clear()  # what was injected


def test_a_gap_that_the_database_fails_on_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(t: Table) -> None:
        await held_twice(t)
        t.world.person_says(CHANNEL, 11, "佐藤", "決定：公開日は木曜にする")
        monkeypatch.setattr(backfill, "read", once(backfill.read, lambda core, room: room.id == 1))
        await forget(t)
        await t.app.meetings.recover()
        await asyncio.sleep(20)
        assert {d.text for d in t.app.meetings.room(1).view.decisions} == {"公開日は木曜にする"}
        await both_end_with_minutes(t)

    at_table(scenario)


def test_a_meeting_that_could_not_be_taken_up_holds_up_no_other_and_is_by_the_next_sweep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(t: Table) -> None:
        await held_twice(t)
        t.world.person_says(CHANNEL, 11, "佐藤", "決定：公開日は木曜にする")
        await forget(t)
        monkeypatch.setattr(Room, "reload", once(Room.reload, lambda room: room.id == 1))
        await t.app.meetings.recover()
        assert [room.id for room in t.app.meetings.rooms_of(GUILD)] == [2]
        await t.app.meetings.sweep()
        await asyncio.sleep(20)
        assert {d.text for d in t.app.meetings.room(1).view.decisions} == {"公開日は木曜にする"}
        await both_end_with_minutes(t)

    at_table(scenario)


def test_a_look_at_a_room_that_fails_is_not_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(t: Table) -> None:
        await held_twice(t)
        monkeypatch.setattr(steps, "run", once(steps.run, lambda core, room: room.id == 1))
        await both_end_with_minutes(t)

    at_table(scenario)


def test_a_start_that_failed_half_way_is_taken_up_by_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(t: Table) -> None:
        begin = once(outbox.begin_attempt, lambda *_: True)
        monkeypatch.setattr(outbox, "begin_attempt", begin)
        with pytest.raises(StoreError):
            await t.start(minutes=30)
        assert not t.world.channels.get(CHANNEL)
        await t.app.meetings.sweep()
        await asyncio.sleep(10)
        assert t.board()
        await t.over()
        assert len(t.minutes) == 1

    at_table(scenario)


class SlowAndLost(Calm):
    """The first post stands there after four seconds, and its sender never hears of it."""

    def __init__(self) -> None:
        self.began = False

    async def call(self, kind: Literal["stage", "model"], name: str, apply: Callable[[], T]) -> T:
        if name != "say" or self.began:
            return await super().call(kind, name, apply)
        self.began = True
        await asyncio.sleep(4)
        apply()
        raise Uncertain("reset")


def test_two_that_deliver_at_once_send_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world, "NONCE_S", 0.0)

    async def scenario(t: Table) -> None:
        starting = asyncio.create_task(t.start(minutes=30))
        await asyncio.sleep(1)
        await t.app.meetings.recover()  # RESUMED, while the kickoff is on its way
        await starting
        await t.over()
        assert len([m for m in t.world.channels[CHANNEL] if m.mine and m.post and m.post.pin]) == 1

    at_table(scenario, tap=SlowAndLost())

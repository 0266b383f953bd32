"""Edits that Discord refuses because the message is too old (30046): the board goes on in a new message."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Literal, TypeVar

import pytest

from bot.meeting.model import Language, MeetingState
from bot.phrases import t as phrase
from bot.stage import Refused
from bot.store import outbox
from tests.crash.judging import minutes_messages
from tests.crash.script import CHANNEL, PLACE, person
from tests.crash.table import Table, at_table
from tests.crash.test_recovery import Weather
from tests.crash.world import Calm, Posted

T = TypeVar("T")


def boards(t: Table) -> list[Posted]:
    """Every message that is or was the board, oldest first; `Outgoing.pin` asks for each to be pinned."""
    return [m for m in t.world.channels[CHANNEL] if m.post is not None and m.post.pin]


def shown(board: Posted) -> str:
    assert board.post is not None
    return "\n".join([board.text, *(e.description for e in board.post.embeds)])


def actions(board: Posted) -> list[str]:
    assert board.post is not None
    return [b.action for b in board.post.buttons if not b.disabled]


def age(t: Table) -> Posted:
    """The board is too old to be edited from now on."""
    old = boards(t)[-1]
    t.world.too_old[old.message_id] = 0
    return old


def test_a_board_too_old_to_edit_goes_on_in_a_new_message() -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await asyncio.sleep(5)
        old = age(t)
        before = shown(old)
        await t.say("佐藤", "決定：公開日は木曜にする", then=20)
        assert len(boards(t)) == 2
        new = boards(t)[-1]
        assert "公開日は木曜にする" in shown(new)
        assert actions(new) == actions(old) != []
        assert new.post is not None
        assert new.post.meeting_id == meeting.id  # with the action all that a button is
        later = await t.app.meetings.extend(meeting.id, person("佐藤"), 10, t.interaction())
        await t.app.meetings.join(meeting.id, person("Maya"))
        await t.app.meetings.reacted(PLACE, new.message_id, person("田中"), "👋", True)
        await t.say("Tom", "決定：旧フォームは残す", then=20)
        assert later == meeting.planned_end + timedelta(minutes=10)
        assert f"<t:{int(later.timestamp())}:t>" in shown(new)
        assert "旧フォームは残す" in shown(new)
        await t.end(now=True)
        await t.over()
        assert "終わりました" in shown(new)
        assert actions(new) == ["correct"]
        assert len(boards(t)) == 2
        assert t.world.too_old == {old.message_id: 1}  # asked once, then left alone
        assert shown(old) == before
        assert len(t.minutes) == 1
        _, _, stored = await t.record(meeting)
        assert "Maya" in stored.text
        assert "田中" in stored.text

    at_table(scenario)


def test_a_board_too_old_for_its_last_word_says_it_in_a_new_message() -> None:
    class Aging(Calm):
        """The board grows too old while the minutes go out."""

        table: Table

        async def call(self, kind: Literal["stage", "model"], name: str, apply: Callable[[], T]) -> T:
            if name == "edit" and minutes_messages(self.table.world) and not self.table.world.too_old:
                age(self.table)
            return await super().call(kind, name, apply)

    aging = Aging()

    async def scenario(t: Table) -> None:
        aging.table = t
        meeting = await t.start()
        await asyncio.sleep(5)
        await t.say("佐藤", "決定：公開日は木曜にする", then=10)
        await t.end(now=True)
        await t.over()
        old, new = boards(t)
        assert t.world.too_old == {old.message_id: 1}
        assert "終わりました" in shown(new)
        assert actions(new) == ["correct"]
        closed, _, _ = await t.record(meeting)
        assert closed.state is MeetingState.CLOSED
        assert await t.app.db.unit(outbox.unsettled) == []
        assert len(t.minutes) == 1

    at_table(scenario, tap=aging)


def test_an_outage_makes_one_new_board_and_no_more() -> None:
    weather = Weather("say")

    async def scenario(t: Table) -> None:
        await t.start()
        await asyncio.sleep(5)
        await t.say("佐藤", "決定：公開日は木曜にする", then=20)
        age(t)
        weather.bad = True
        for number in range(6):
            t.app.meetings.room(1).stale = True  # as after a restart: everything is read from the rows
            await t.say("Tom", f"決定：旧フォームは{number}年残す", then=30)
        weather.bad = False
        await asyncio.sleep(60)
        assert weather.failed > 1
        assert len(boards(t)) == 2
        assert "5年残す" in shown(boards(t)[-1])
        await t.end(now=True)
        await t.over()
        assert len(boards(t)) == 2
        assert "終わりました" in shown(boards(t)[-1])

    at_table(scenario, tap=weather)


def test_a_new_board_that_discord_takes_as_malformed_is_tried_anew() -> None:
    weather = Weather("say", error=Refused("invalid", "50035"))

    async def scenario(t: Table) -> None:
        await t.start()
        await asyncio.sleep(5)
        age(t)
        weather.bad = True
        await t.say("佐藤", "決定：公開日は木曜にする", then=20)
        weather.bad = False
        await t.say("Tom", "決定：旧フォームは残す", then=20)
        assert len(boards(t)) == 2
        assert "旧フォームは残す" in shown(boards(t)[-1])
        await t.end(now=True)
        await t.over()
        assert len(t.minutes) == 1

    at_table(scenario, tap=weather)


@pytest.mark.parametrize("language", ["ja", "en"])
def test_who_started_what_could_not_begin_is_told_where_that_was(language: Language) -> None:
    weather = Weather("say")

    async def scenario(t: Table) -> None:
        weather.bad = True
        meeting = await t.start(language)
        await asyncio.sleep(3)
        t.world.forbidden.add(CHANNEL)
        weather.bad = False
        await asyncio.sleep(60)
        assert (await t.record(meeting))[0].state is MeetingState.CLOSED
        ((to, told),) = t.world.dms
        assert to == meeting.chair_id
        assert f"<#{CHANNEL}>" in told.text
        assert phrase("reply.permission.send_messages_in_threads", language) in told.text

    at_table(scenario, tap=weather)

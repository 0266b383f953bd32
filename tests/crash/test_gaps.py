"""What people did while Discord told us nothing: read however late that becomes possible, and nothing of it twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import pytest

from bot.errors import StoreError
from bot.facilitation.room import Room
from bot.meeting.model import EntryKind, LedgerView, Meeting, MeetingState, Route
from bot.models.base import Draft, ProviderError, Request
from bot.store import meetings, transcript
from tests.crash.script import CHANNEL, GUILD, PEOPLE, PLACE, ScriptedModel, person
from tests.crash.table import Table, at_table
from tests.crash.test_overslept import forget, once
from tests.crash.test_recovery import Weather

T = TypeVar("T")

AGREED = "サポートは一日以内に返信することで合意しました"  # no mark: only a model finds it
MARKED = "決定：サポートは一日以内に返信する"
ASKED = "@Ketsugi 次は何を話せばいいですか？"


class Reading(ScriptedModel):
    """Keeps which messages it was given as unread, and whom of them a turn answered; may answer nothing."""

    def __init__(self, seconds: float = 0.5) -> None:
        super().__init__(seconds)
        self.read: list[int] = []
        self.answered: list[int] = []
        self.away = False

    async def generate(self, request: Request[Any]) -> Draft[Any]:
        scene = request.scene
        if scene.route is Route.TURN and scene.addressed_by is not None:
            self.answered.append(scene.addressed_by.message_id)
        if self.away:
            await asyncio.sleep(1.0)
            raise ProviderError("blocked", "injected")  # and no other engine answers instead
        if scene.route is Route.TURN:
            self.read += [m.message_id for m in scene.unread]
        return await super().generate(request)


class History(Weather):
    """Keeps what the channel's history was asked for: the number of messages that came back."""

    def __init__(self) -> None:
        super().__init__("history")
        self.sizes: list[int] = []

    async def call(self, kind: Literal["stage", "model"], name: str, apply: Callable[[], T]) -> T:
        found = await super().call(kind, name, apply)
        if name == "history" and isinstance(found, list):
            self.sizes.append(len(found))
        return found


def missed(t: Table, who: str, text: str) -> int:
    """Written while nothing reaches the bot."""
    return t.world.person_says(CHANNEL, PEOPLE[who], who, text)


async def view(t: Table, meeting: Meeting) -> LedgerView:
    return (await t.record(meeting))[1]


async def decided(t: Table, meeting: Meeting) -> list[str]:
    return [d.text for d in (await view(t, meeting)).decisions]


def answers(t: Table, message_id: int) -> int:
    return sum(post.reply_to == message_id for post in t.posts())


async def talk(t: Table) -> None:
    await asyncio.sleep(200)
    await t.say("佐藤", "決定：公開日は木曜にする", then=10)
    await t.say("Tom", "I agree with that", then=10)


async def a_long_gap(t: Table, weather: Weather, *words: str) -> list[int]:
    """Nothing can be read for longer than the room waits for it, and people go on talking."""
    await talk(t)
    weather.bad = True
    said = [missed(t, "Maya", text) for text in words]
    await asyncio.sleep(3)
    await t.app.meetings.recover()
    await asyncio.sleep(16)
    await t.say("佐藤", "では次に進みましょう", then=12)
    return said


def test_a_decision_by_menu_from_before_the_kickoff_stays_while_deletions_are_noticed() -> None:
    async def scenario(t: Table) -> None:
        old = missed(t, "Tom", "We launch on the 27th")
        await asyncio.sleep(60)
        meeting = await t.start()
        await asyncio.sleep(10)
        gone = await t.say("佐藤", "決定：公開日は木曜にする", then=5)
        await t.say("佐藤", "それでは", then=5)
        seen = t.world.seen(t.world.find(CHANNEL, old))
        await t.app.meetings.record(PLACE, seen, EntryKind.DECISION, person("佐藤"), t.interaction())
        for _ in range(2):
            await t.app.meetings.recover()
            assert len(await decided(t, meeting)) == 2
        t.world.person_deletes(CHANNEL, gone)
        for _ in range(2):
            await t.app.meetings.recover()
            live = [d for d in (await view(t, meeting)).decisions if d.live]
            assert [(d.text, d.entry.quote) for d in live] == [("We launch on the 27th",) * 2]
        await t.end(now=True)
        await t.over()
        _, _, stored = await t.record(meeting)
        assert "27th" in stored.text

    at_table(scenario)


def test_what_could_be_read_only_long_after_is_found_by_the_model_and_answered_once() -> None:
    weather, model = Weather("history"), Reading()

    async def scenario(t: Table) -> None:
        meeting = await t.start()
        agreed, asked = await a_long_gap(t, weather, AGREED, ASKED)
        aside = missed(t, "Maya", "@アシスタント 公開日はいつですか？")
        before = await t.say("Tom", "@assistant what was decided?", then=12)
        assert answers(t, before) == 1
        assert await decided(t, meeting) == ["公開日は木曜にする"]
        weather.bad = False
        assert await t.until(lambda: answers(t, aside) > 0, 120) <= 60
        await asyncio.sleep(120)
        assert await decided(t, meeting) == ["公開日は木曜にする", AGREED]
        assert model.answered == [asked]
        assert [model.read.count(i) for i in (agreed, asked, aside, before)] == [1, 1, 1, 1]
        said = len(t.posts())
        for _ in range(2):
            await t.app.meetings.recover()
            await asyncio.sleep(60)
        assert len(t.posts()) == said
        assert answers(t, aside) == answers(t, before) == 1
        await t.end(now=True)
        await t.over()
        assert model.read.count(agreed) == 1
        assert await decided(t, meeting) == ["公開日は木曜にする", AGREED]

    at_table(scenario, model, weather)


def test_what_was_heard_late_waits_for_its_turn_in_the_next_process_too() -> None:
    weather, model = Weather("history"), Reading(3.0)

    async def scenario(t: Table) -> None:
        meeting = await t.start()
        _, asked = await a_long_gap(t, weather, AGREED, ASKED)
        weather.bad = False
        await t.until(lambda: asked in model.answered, 120)  # the turn has begun, and nothing of it is stored
        at_once, afterwards = Room(t.app.core, meeting), Room(t.app.core, meeting)
        await at_once.reload()
        assert at_once.pending is not None
        assert at_once.pending.urgent
        await asyncio.sleep(30)
        await afterwards.reload()
        assert afterwards.pending is None
        assert await decided(t, meeting) == ["公開日は木曜にする", AGREED]

    at_table(scenario, model, weather)


@pytest.mark.parametrize("from_the_gap_on", [True, False])
def test_what_was_heard_late_while_no_model_could_read_is_answered_once_and_read_later(
    from_the_gap_on: bool,
) -> None:
    weather, model = Weather("history"), Reading()

    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await talk(t)
        model.away, weather.bad = from_the_gap_on, True
        missed(t, "Maya", AGREED)
        asked = missed(t, "Maya", ASKED)
        await t.app.meetings.recover()
        await asyncio.sleep(16)
        newer = await t.say("Tom", "@Ketsugi what is next?", then=20)
        assert model.answered.count(newer) >= 1
        before = len(t.posts())
        model.away, weather.bad = True, False
        await asyncio.sleep(60)
        assert asked in model.answered
        assert len(t.posts()) == before + 1
        tries = len(model.answered)
        await forget(t)
        await t.app.meetings.recover()
        await asyncio.sleep(60)
        assert len(model.answered) == tries
        model.away = False
        await t.end(now=True)
        await t.over()
        assert (await decided(t, meeting)).count(AGREED) == 1

    at_table(scenario, model, weather)


def test_a_message_that_comes_in_behind_the_turn_under_way_has_one_of_its_own() -> None:
    model = Reading(5.0)

    async def scenario(t: Table) -> None:
        await t.start()
        await talk(t)
        asked = missed(t, "Maya", ASKED)
        await t.say("Tom", "Let us go on with the form", then=6)
        assert asked not in model.read
        await t.app.meetings.receive(PLACE, t.world.seen(t.world.find(CHANNEL, asked)))
        await asyncio.sleep(30)
        assert model.read.count(asked) == model.answered.count(asked) == 1

    at_table(scenario, model)


@pytest.mark.parametrize("restarted", [False, True])
def test_a_gap_is_read_from_its_beginning_however_much_was_said_since(restarted: bool) -> None:
    weather = Weather("history")

    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await asyncio.sleep(20)
        await t.say("佐藤", "それでは", then=10)
        weather.bad = True
        missed(t, "Maya", MARKED)
        await asyncio.sleep(3)
        await t.app.meetings.recover()
        for number in range(110):
            await t.say("Tom", f"line {number}", then=0.6)
            if number % 50 == 0:
                await t.app.meetings.sweep()
        if restarted:
            await forget(t)
        await t.app.meetings.recover()
        await t.app.meetings.sweep()
        weather.bad = False
        await t.app.meetings.recover()
        assert await decided(t, meeting) == ["サポートは一日以内に返信する"]

    at_table(scenario, tap=weather)


def test_what_was_heard_without_a_gap_is_not_read_again_and_again() -> None:
    history = History()

    async def scenario(t: Table) -> None:
        meeting = await t.start(minutes=120)
        for number in range(400):
            await t.say("Tom", f"line {number}", then=0.5)
            if number % 100 == 0:
                await t.app.meetings.sweep()
        await t.app.meetings.sweep()
        await forget(t)
        missed(t, "Maya", MARKED)
        history.sizes.clear()
        await t.app.meetings.recover()
        assert history.sizes[0] < 150  # the second look is for the board alone
        assert await decided(t, meeting) == ["サポートは一日以内に返信する"]
        history.sizes.clear()
        await t.app.meetings.recover()
        assert history.sizes[0] < 150

    at_table(scenario, tap=history)


def test_a_sweep_between_a_gap_and_the_reconnect_vouches_for_nothing_after_the_gap() -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await t.say("佐藤", "それでは", then=60)
        await t.app.meetings.sweep()
        missed(t, "Maya", MARKED)
        for number in range(110):  # heard already, while the library does not say that it is ready
            await t.say("Tom", f"line {number}", then=0.1)
        await t.app.meetings.sweep()
        await t.app.meetings.recover()
        assert await decided(t, meeting) == ["サポートは一日以内に返信する"]

    at_table(scenario)


async def _done(t: Table, what: str, said: int) -> None:
    """Somebody writes, or does something to what was said, and the bot is told of it."""
    service, other = t.app.meetings, "提案：サポートは二日以内に返信する"
    if what == "said":
        await t.say("Maya", MARKED)
    elif what == "reacted":
        t.world.person_reacts(CHANNEL, said, PEOPLE["Tom"], "Tom", "👍")
        await service.reacted(PLACE, said, person("Tom"), "👍", True)
    elif what == "edited":
        t.world.person_edits(CHANNEL, said, other)
        await service.edited(PLACE, said, other, t.now())
    else:
        t.world.person_deletes(CHANNEL, said)
        await service.deleted(PLACE, [said], t.now())


@pytest.mark.parametrize("what", ["said", "reacted", "edited", "deleted"])
def test_what_the_store_could_not_take_for_a_moment_is_read_soon(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await talk(t)
        said = await t.say("Maya", "提案：サポートは一日以内に返信する", then=5)
        failing = {"said": "add", "reacted": "react", "edited": "edit", "deleted": "delete"}[what]
        monkeypatch.setattr(transcript, failing, once(getattr(transcript, failing), lambda *_: True))
        with pytest.raises(StoreError):
            await _done(t, what, said)
        await asyncio.sleep(10)
        now = await view(t, meeting)
        if what == "said":
            assert [d.text for d in now.decisions] == ["公開日は木曜にする", "サポートは一日以内に返信する"]
        elif what == "reacted":
            assert [v.voter_name for v in now.open_proposals[0].votes] == ["Tom"]
        elif what == "edited":
            assert [p.text for p in now.open_proposals] == ["サポートは二日以内に返信する"]
        else:
            assert not now.open_proposals

    at_table(scenario)


def test_a_reconnect_at_which_the_store_fails_is_made_up_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await talk(t)
        missed(t, "Maya", MARKED)
        monkeypatch.setattr(meetings, "open_all", once(meetings.open_all, lambda *_: True))
        with pytest.raises(StoreError):
            await t.app.meetings.recover()
        await asyncio.sleep(10)
        assert "サポートは一日以内に返信する" in await decided(t, meeting)

    at_table(scenario)


def test_what_is_lost_while_a_gap_is_being_read_is_read_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await talk(t)
        recovering = asyncio.create_task(t.app.meetings.recover())
        await asyncio.sleep(0.1)  # Discord has answered, and the answer is on its way
        monkeypatch.setattr(transcript, "add", once(transcript.add, lambda *_: True))
        with pytest.raises(StoreError):
            await t.say("Maya", MARKED)
        await recovering
        await asyncio.sleep(10)
        assert "サポートは一日以内に返信する" in await decided(t, meeting)

    at_table(scenario)


def test_an_objection_in_a_gap_of_the_read_back_is_waited_for() -> None:
    weather = Weather("history")

    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await talk(t)
        await t.end()
        await t.until(lambda: bool(t.with_button("close_now")))
        await asyncio.sleep(20)
        weather.bad = True
        missed(t, "Tom", "待って、まだあります")
        await t.app.meetings.recover()
        await asyncio.sleep(60)  # the minute is over
        again, _, _ = await t.record(meeting)
        assert again.state is MeetingState.READ_BACK
        weather.bad = False
        await asyncio.sleep(40)
        again, _, _ = await t.record(meeting)
        assert again.state is MeetingState.OPEN
        assert not t.minutes

    at_table(scenario, tap=weather)


def test_a_history_that_stays_unreadable_ends_no_meeting_late_by_more_than_minutes() -> None:
    weather = Weather("history")

    async def scenario(t: Table) -> None:
        await t.start()
        await talk(t)
        await t.end()
        await t.until(lambda: bool(t.with_button("close_now")))
        weather.bad = True
        await t.app.meetings.recover()
        assert await t.until(lambda: bool(t.minutes)) <= 300

    at_table(scenario, tap=weather)


def test_an_edit_in_a_gap_of_what_is_in_the_ledger_is_found_late() -> None:
    weather = Weather("history")

    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await a_long_gap(t, weather)
        said = next(m for m in t.world.channels[CHANNEL] if "木曜" in m.text and not m.mine)
        t.world.person_edits(CHANNEL, said.message_id, "決定：公開日は金曜にする")
        weather.bad = False
        await asyncio.sleep(40)
        assert await decided(t, meeting) == ["公開日は金曜にする"]

    at_table(scenario, tap=weather)


def test_what_somebody_who_opted_out_wrote_in_a_gap_stays_unread() -> None:
    weather, model = Weather("history"), Reading()

    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await t.app.privacy.opt_out(GUILD, person("Maya"))
        said = await a_long_gap(t, weather, AGREED, MARKED)
        weather.bad = False
        await asyncio.sleep(60)
        await t.end(now=True)
        await t.over()
        assert not set(said) & set(model.read)
        assert await decided(t, meeting) == ["公開日は木曜にする"]

    at_table(scenario, model, weather)


def test_gaps_in_a_row_keep_nobody_waiting_and_lose_nothing() -> None:
    weather = Weather("history")

    async def scenario(t: Table) -> None:
        meeting = await t.start()
        await talk(t)
        weather.bad = True
        missed(t, "Maya", MARKED)
        await t.app.meetings.recover()
        asked = await t.say("Tom", "@assistant what was decided?")
        for _ in range(6):  # the connection comes and goes
            await asyncio.sleep(8)
            await t.app.meetings.recover()
        missed(t, "佐藤", "決定：棚卸しは29日にする")
        answer = next(p for p in t.posts() if p.reply_to == asked)
        assert (answer.at - t.world.find(CHANNEL, asked).at).total_seconds() <= 25
        await t.app.meetings.recover()
        weather.bad = False
        await asyncio.sleep(40)
        assert set(await decided(t, meeting)) == {
            "公開日は木曜にする", "サポートは一日以内に返信する", "棚卸しは29日にする"
        }  # fmt: skip

    at_table(scenario, tap=weather)

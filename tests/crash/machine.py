"""A search over whole lives of meetings: people, crashes, gaps, lost rights and outages in any order."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bot.app import App, build
from bot.errors import UserError
from bot.meeting import lifecycle
from bot.meeting.model import EntryKind, MeetingState
from bot.models.base import ProviderError
from bot.settings import Settings
from bot.stage import Place
from bot.store import ledger, meetings, minutes, overview, schema
from tests.crash.injecting import EPOCH, Injector, Killed, TappedModel, watching
from tests.crash.instant import Folder, instant_sqlite
from tests.crash.script import GUILD, PEOPLE, ScriptedModel, person, start_request
from tests.crash.waiting import ASKS, Debt, Waits
from tests.crash.world import Link, World
from tests.virtual_time import VirtualLoop

CHANNELS = (901, 902)
TALK = (
    "そうですね",
    "I had a look at the numbers yesterday",
    "サポートは毎日返信することで合意しました",
    "we all agree that the launch stays where it is",
    "@アシスタント いまの状況は？",
    "@Ketsugi what is next?",
    "はい",
    "特にありません",
    "待って、まだあります",
    "一旦この会議を終わらせてください",
    "まとめてもらえますか",
    "論点を整理したいです",
)
RECORDED = ("決定：", "Decision:", "提案：", "Question:", "TODO:", "制約：", "Note:")
MARKS = (
    "決定：公開日は{n}日にする",
    "Decision: we order {n} desks",
    "提案：{n}階に移る",
    "Question: who pays for {n} tickets?",
    "TODO: Tom writes page {n}",
    "制約：{n}万円以内",
    "撤回：#{n}",
    "Note: room {n} is free",
)
FAULTS = ("crash before", "crash after", "lost", "500", "expired", "busy")
SETTLED_AFTER_S = 5 * 3600.0

_folder: Folder | None = None


def folder() -> Folder:
    global _folder
    _folder = _folder or Folder()
    return _folder


class Lifecycle(RuleBasedStateMachine):
    """Every rule is one thing that happens; whatever the order, the promises of SPEC 6 hold."""

    def __init__(self) -> None:
        super().__init__()
        url = folder().fresh()
        self.stack = ExitStack()
        self.stack.enter_context(instant_sqlite())
        self.loop = VirtualLoop()
        asyncio.set_event_loop(self.loop)
        self.world = World(self.now)
        self.tap = Injector(dict[int, str]())
        self.tap.world = self.world
        self.url = url
        self.provider_down = False
        self.number = 0
        self.app: App | None = None
        self.errors: list[str] = []
        self.wrong: list[str] = []
        self.states: dict[int, MeetingState] = {}
        self.waits, self.disturbed = Waits(self.world), 0
        self.marked: dict[int, str] = {}  # messages whose mark the bot has certainly heard of
        self.run(self._watch())

    # -- the machinery

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.loop.time())

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    async def _watch(self) -> None:
        self.errors = self.stack.enter_context(watching())

    async def _open(self) -> None:
        while True:
            self.tap.revive()
            self.states.clear()
            app = build(
                Settings(database_url=self.url, model="offline", seed=1),
                self.now,
                wrap_model=lambda m: TappedModel(_Provider(self), self.tap),
            )
            self.app = app
            app.core.watchers.append(self._observe)
            await app.open()
            app.db.hooks.append(self.tap.commit)
            app.attach(Link(self.world, self.tap))
            if await self._carefully(app.meetings.recover()):
                return
            await self._die(5.0)

    def _observe(self, kind: str, facts: Any) -> None:
        if kind != "state":
            return
        after = MeetingState(facts["state"])
        before = self.states.get(facts["meeting_id"])
        if before is not None and not lifecycle.allowed(before, after):
            self.wrong.append(f"{before.value} -> {after.value}")
        self.states[facts["meeting_id"]] = after

    @property
    def troubles(self) -> int:
        """Everything so far that may rightly keep an answer back; a provider that is down may not."""
        return self.disturbed + sum(point < len(self.tap.points) for point in self.tap.plan)

    def _held(self, channel: int) -> bool:
        """Whether people can talk to the bot there, in a meeting that is not closing for good."""
        rooms = [r for r in self.service.rooms_of(GUILD) if r.place == Place(GUILD, channel)]
        reachable = channel not in self.world.gone | self.world.forbidden
        return reachable and any(r.meeting.state in lifecycle.TALKING for r in rooms)

    def _asked(self, what: str, channel: int, message_id: int | None = None) -> None:
        """From now on the room is owed an answer, where a meeting is held in it."""
        if self._held(channel):
            self.waits.asked(Debt(what, self.loop.time(), channel, self.troubles, message_id))

    async def _die(self, down_s: float) -> None:
        self.disturbed += 1
        self.tap.dead = True
        me = asyncio.current_task()
        while others := [t for t in asyncio.all_tasks(self.loop) if t is not me]:
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
        assert self.app is not None
        self.app.db.hooks.clear()
        await self.app.db.close()
        await asyncio.sleep(down_s)

    async def _carefully(self, work: Coroutine[Any, Any, Any]) -> bool:
        """One call of the bot; False where the process died of it. What people are told is no fault."""
        task = asyncio.ensure_future(work)
        dying = asyncio.ensure_future(self.tap.died.wait())
        await asyncio.wait({task, dying}, return_when=asyncio.FIRST_COMPLETED)
        dying.cancel()
        if not task.done():
            return False
        try:
            task.result()
        except Killed:
            return False
        except UserError:
            pass
        return not self.tap.dead

    async def _do(self, work: Coroutine[Any, Any, Any], seconds: float = 0.0) -> None:
        if not await self._carefully(work):
            await self._restart(5.0)
        await self._pass(seconds)

    async def _pass(self, seconds: float) -> None:
        until = self.loop.time() + seconds
        while self.loop.time() < until:
            try:
                await asyncio.wait_for(self.tap.died.wait(), until - self.loop.time())
            except TimeoutError:
                return
            await self._restart(5.0)

    async def _restart(self, down_s: float) -> None:
        await self._die(down_s)
        await self._open()

    def _interaction(self) -> int:
        self.number += 1
        return 7000 + self.number

    @property
    def service(self) -> Any:
        assert self.app is not None
        return self.app.meetings

    # -- what happens

    @initialize(minutes=st.sampled_from((5, 15, 40)), language=st.sampled_from(("ja", "en")))
    def begin(self, minutes: int, language: str) -> None:
        self.run(self._open())
        self.run(self._start(CHANNELS[0], minutes, language))

    async def _start(self, channel: int, minutes: int, language: str) -> None:
        request = start_request(language, minutes, Place(GUILD, channel))
        await self._do(self.service.start(request), 5.0)

    @rule(channel=st.sampled_from(CHANNELS), minutes=st.sampled_from((5, 40)))
    def start(self, channel: int, minutes: int) -> None:
        self.run(self._start(channel, minutes, "en"))

    @rule(
        channel=st.sampled_from(CHANNELS),
        who=st.sampled_from(sorted(PEOPLE)),
        text=st.sampled_from(TALK),
        seconds=st.sampled_from((0.0, 1.0, 6.0, 40.0)),
    )
    def talk(self, channel: int, who: str, text: str, seconds: float) -> None:
        self.run(self._says(channel, who, text, seconds))

    @rule(
        channel=st.sampled_from(CHANNELS),
        who=st.sampled_from(sorted(PEOPLE)),
        mark=st.sampled_from(MARKS),
        n=st.integers(1, 9),
        seconds=st.sampled_from((0.0, 6.0)),
    )
    def mark(self, channel: int, who: str, mark: str, n: int, seconds: float) -> None:
        self.run(self._says(channel, who, mark.format(n=n), seconds))

    @rule(channel=st.sampled_from(CHANNELS), who=st.sampled_from(sorted(PEOPLE)), vote=st.sampled_from("+-0"))
    def vote(self, channel: int, who: str, vote: str) -> None:
        self.run(self._says(channel, who, vote if vote == "0" else f"{vote}1", 1.0))

    async def _says(self, channel: int, who: str, text: str, seconds: float) -> None:
        message_id = self.world.person_says(channel, PEOPLE[who], who, text)
        seen = self.world.seen(self.world.find(channel, message_id))
        if text.startswith(ASKS):
            self._asked(text, channel, message_id)
        held, troubles = self._held(channel), self.troubles
        await self._do(self.service.receive(Place(GUILD, channel), seen))
        if held and troubles == self.troubles and text.startswith(RECORDED):
            self.marked[message_id] = text
        await self._pass(seconds)

    def _theirs(self, channel: int) -> list[int]:
        return [m.message_id for m in self.world.channels.get(channel, []) if not m.mine]

    @rule(channel=st.sampled_from(CHANNELS), back=st.integers(1, 4), mark=st.sampled_from(MARKS))
    def edit(self, channel: int, back: int, mark: str) -> None:
        ids = self._theirs(channel)[-back:]
        if ids:
            text = mark.format(n=8)
            self.world.person_edits(channel, ids[0], text)
            self.run(self._do(self.service.edited(Place(GUILD, channel), ids[0], text, self.now()), 1.0))

    @rule(channel=st.sampled_from(CHANNELS), back=st.integers(1, 4))
    def delete(self, channel: int, back: int) -> None:
        ids = self._theirs(channel)[-back:]
        if ids:
            self.world.person_deletes(channel, ids[0])
            self.run(self._do(self.service.deleted(Place(GUILD, channel), [ids[0]], self.now()), 1.0))

    @rule(channel=st.sampled_from(CHANNELS), back=st.integers(1, 4), emoji=st.sampled_from("✅❌👍"))
    def react(self, channel: int, back: int, emoji: str) -> None:
        ids = self._theirs(channel)[-back:]
        if ids:
            by = person("Maya")
            self.world.person_reacts(channel, ids[0], by.id, by.name, emoji)
            self.run(self._do(self.service.reacted(Place(GUILD, channel), ids[0], by, emoji, True), 1.0))

    @rule(channel=st.sampled_from(CHANNELS), minutes=st.sampled_from((5, 10)))
    def extend(self, channel: int, minutes: int) -> None:
        place = Place(GUILD, channel)
        self.run(self._do(self.service.extend(place, person("Tom"), minutes, self._interaction()), 1.0))

    @rule(channel=st.sampled_from(CHANNELS), now=st.booleans(), seconds=st.sampled_from((0.0, 0.5, 10.0)))
    def end(self, channel: int, now: bool, seconds: float) -> None:
        place, number = Place(GUILD, channel), self._interaction()
        if not any(r.meeting.closing for r in self.service.rooms_of(GUILD) if r.place == place):
            self._asked("end", channel)  # a second wish changes nothing
        work = self.service.end(place, person("佐藤"), now=now, interaction_id=number)
        self.run(self._do(work, seconds))

    @rule(meeting=st.integers(1, 3), who=st.sampled_from(("佐藤", "Tom")))
    def close_now(self, meeting: int, who: str) -> None:
        self.run(self._do(self.service.close_now(meeting, person(who), self._interaction()), 0.5))

    @rule(meeting=st.integers(1, 3))
    def keep_going(self, meeting: int) -> None:
        self.run(self._do(self.service.keep_going(meeting, person("Tom"), self._interaction()), 0.5))

    @rule(down_s=st.sampled_from((1.0, 5.0, 400.0, 3000.0)))
    def crash(self, down_s: float) -> None:
        self.run(self._restart(down_s))

    @rule(ahead=st.integers(0, 6), how=st.sampled_from(FAULTS))
    def something_will_fail(self, ahead: int, how: str) -> None:
        assert isinstance(self.tap.plan, dict)
        self.tap.plan[len(self.tap.points) + ahead] = how

    @rule(
        channel=st.sampled_from(CHANNELS),
        said=st.lists(st.sampled_from((*TALK, "決定：三階に移る", "Decision: no fee")), max_size=3),
        delete=st.booleans(),
    )
    def gap(self, channel: int, said: list[str], delete: bool) -> None:
        """The gateway was away for a while; the process was not."""
        self.disturbed += 1
        new = {text: self.world.person_says(channel, PEOPLE["Maya"], "Maya", text) for text in said}
        ids = self._theirs(channel)
        if delete and ids:
            self.world.person_deletes(channel, ids[0])
        self.run(self._pass(20.0))
        held, troubles = self._held(channel), self.troubles
        self.run(self._do(self.service.recover()))
        if held and troubles == self.troubles:
            gone = ids[0] if delete and ids else None
            heard = {number: text for text, number in new.items() if number != gone}
            self.marked |= {number: text for number, text in heard.items() if text.startswith(RECORDED)}

    @rule(channel=st.sampled_from(CHANNELS), seconds=st.sampled_from((1.0, 60.0, 700.0)))
    def permission_is_lost(self, channel: int, seconds: float) -> None:
        self.world.forbidden.add(channel)
        self.disturbed += 1
        self.run(self._pass(seconds))

    @precondition(lambda self: bool(self.world.forbidden))
    @rule()
    def permission_comes_back(self) -> None:
        self.world.forbidden.clear()
        self.disturbed += 1
        self.run(self._pass(1.0))

    @rule(channel=st.sampled_from(CHANNELS))
    def channel_is_deleted(self, channel: int) -> None:
        self.world.gone.add(channel)
        self.disturbed += 1
        self.run(self._pass(1.0))

    @rule(channel=st.sampled_from(CHANNELS))
    def thread_is_deleted(self, channel: int) -> None:
        """Also one that the minutes have yet to open: it will have the kickoff's id."""
        boards = [m.message_id for m in self.world.channels.get(channel, []) if m.post and m.post.pin]
        self.world.gone |= set(boards[-1:])
        self.disturbed += 1
        self.run(self._pass(1.0))

    @rule(down=st.booleans())
    def provider(self, down: bool) -> None:
        self.provider_down = down
        self.run(self._pass(1.0))

    @rule(seconds=st.sampled_from((0.3, 2.0, 20.0, 70.0, 400.0, 1900.0)))
    def time_passes(self, seconds: float) -> None:
        self.run(self._pass(seconds))

    # -- what must hold

    @invariant()
    def transitions_follow_the_table(self) -> None:
        assert not self.wrong, self.wrong

    @invariant()
    def nothing_is_posted_twice(self) -> None:
        twice = [tag for tag, count in Counter(m.tag for m in self.world.mine).items() if count > 1]
        assert not twice, [m.text for m in self.world.mine if m.tag in twice]

    @invariant()
    def nobody_waits_in_silence(self) -> None:
        late = self.waits.overdue(self.loop.time(), self.troubles)
        assert not late, late

    @invariant()
    def no_step_fails_unforeseen(self) -> None:
        assert not self.errors, self.errors

    def teardown(self) -> None:
        try:
            if self.app is not None:
                assert isinstance(self.tap.plan, dict)
                self.tap.plan.clear()
                self.run(self._settle())
                self.nothing_is_posted_twice()
                self.no_step_fails_unforeseen()
                self.transitions_follow_the_table()
                self.run(self._judge())
        finally:
            if self.app is not None:
                self.run(self._die(0.0))
            self.stack.close()
            self.loop.close()
            asyncio.set_event_loop(None)

    async def _settle(self) -> None:
        until = self.loop.time() + SETTLED_AFTER_S
        while self.loop.time() < until and (self.service.count or self.tap.dead):
            await self._pass(60.0)
        await self._pass(60.0)

    async def _judge(self) -> None:
        assert self.app is not None
        for line in await self.app.db.unit(self._read):
            raise AssertionError(line)

    async def _read(self, c: Any) -> list[str]:
        ids = (await c.execute(sa.select(schema.meetings.c.id))).scalars().all()
        entries = [e for i in ids for e in await ledger.everything(c, i)]
        heard, texts = {e.message_id for e in entries}, [e.text for e in entries if e.text]
        found = [
            f"the mark of message {number} is in no ledger"
            for number, text in self.marked.items()  # what is said twice in the same words is recorded once
            if number not in heard and not any(known in text for known in texts)
        ]
        for meeting_id in ids:
            meeting = await meetings.get(c, meeting_id)
            assert meeting is not None
            if meeting.state is not MeetingState.CLOSED:
                found.append(f"meeting {meeting_id} is {meeting.state.value} after {SETTLED_AFTER_S:.0f} s")
            posts = await overview.posts(c, meeting_id)
            pending = [p.key for p in posts if p.state == "pending"]
            if pending:
                found.append(f"never sent: {pending}")
            stored = await minutes.get(c, meeting_id)
            if any(p.key == "kickoff" and p.state == "sent" for p in posts):
                found += _of_minutes(meeting_id, posts, stored, await ledger.everything(c, meeting_id))
        published = [
            m.tag for m in self.world.mine if m.post and any(f.name == "minutes.md" for f in m.post.files)
        ]
        found += [f"minutes {tag} twice" for tag, n in Counter(published).items() if n > 1]
        return found


class _Provider(ScriptedModel):
    """The scripted model, while the machine's provider is up."""

    def __init__(self, machine: Lifecycle) -> None:
        super().__init__()
        self._machine = machine

    async def generate(self, request: Any) -> Any:
        if self._machine.provider_down:
            await asyncio.sleep(0.2)
            raise ProviderError("unreachable", "injected")
        return await super().generate(request)


def _of_minutes(meeting_id: int, posts: Any, stored: Any, entries: Any) -> list[str]:
    """The minutes of one meeting that came to be: stored, delivered or offered, nothing decided left out."""
    if stored is None:
        return [f"meeting {meeting_id} has no minutes"]
    found = []
    row = next((p for p in posts if p.key == "minutes"), None)
    if row is None:
        found.append(f"the minutes of meeting {meeting_id} were never put out")
    elif row.state == "failed" and not any(p.key == "minutes_dm" and p.state != "pending" for p in posts):
        found.append(f"the minutes of meeting {meeting_id} were neither posted nor offered")
    gone = {e.refers_to for e in entries if e.kind is EntryKind.RETRACTION}
    for e in entries:
        if e.kind is EntryKind.DECISION and e.number not in gone and f"#{e.number}" not in stored.text:
            found.append(f"decision {e.number} of meeting {meeting_id} is not in its minutes")
    return found

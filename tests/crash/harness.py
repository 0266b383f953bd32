"""Crashes a whole meeting at a chosen point, lets it come back, and says what is wrong with what came of it.

Every commit, Discord call and model call of a run is a numbered point. A run is deterministic, so point n of
the undisturbed run is point n of a run in which something happens there for the first time.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeVar

from bot import phrases
from bot.app import App, build
from bot.errors import UserError
from bot.meeting import ledger as folding
from bot.meeting.model import Entry, Meeting, MeetingState
from bot.models.base import Draft, Model, Out, ProviderError, Request
from bot.settings import Settings
from bot.stage import Refused, Uncertain
from bot.store import ledger, meetings, minutes, outbox, overview
from bot.store.outbox import Post
from tests.crash.script import CHANNEL, MEETING, PEOPLE, PLACE, Act, ScriptedModel, person, start_request
from tests.crash.world import Link, Posted, World, failing

T = TypeVar("T")

EPOCH = datetime(2026, 9, 1, 9, 0, tzinfo=UTC)
LONGEST_WAIT_S = 25.0
NOTICE_LATE_S = 5.0  # so long a notice may be on its way
PATIENCE_S = 3 * 3600.0  # after the last act; a meeting that is not closed by then never will be

# What may happen at a point. Commits know the two crashes only.
COMMIT_FAULTS = ("crash before", "crash after")
STAGE_FAULTS = ("crash before", "crash after", "lost", "500", "expired", "busy", "hang")
HANG_S = 7.0  # the product's own limit of one request
MODEL_FAULTS = ("crash before", "crash after", "500", "hang")
PERMANENT = ("gone", "forbidden")


class Killed(BaseException):
    """The process is dead: raised wherever its code still tries to do something."""


@dataclass(frozen=True)
class Point:
    kind: Literal["commit", "stage", "model"]
    name: str
    at: float  # seconds since the start of the run


@dataclass
class Injector:
    """Numbers the points of a run, over all lives of the process, and does what `plan` says at them."""

    plan: Mapping[int, str] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list)
    died: asyncio.Event = field(default_factory=asyncio.Event)
    dead: bool = False
    world: World | None = None
    _committing: str | None = None

    def _next(self, kind: Literal["commit", "stage", "model"], name: str) -> str | None:
        how = self.plan.get(len(self.points))
        self.points.append(Point(kind, name, asyncio.get_running_loop().time()))
        return how

    def die(self) -> None:
        self.dead = True
        self.died.set()
        raise Killed

    def revive(self) -> None:
        self.dead, self.died, self._committing = False, asyncio.Event(), None

    def alive(self) -> None:
        if self.dead:
            raise Killed

    def commit(self, moment: str) -> None:
        if moment == "before":
            self.alive()
            self._committing = self._next("commit", "commit")
            if self._committing == "crash before":
                self.die()
        else:
            how, self._committing = self._committing, None
            self.alive()
            if how is not None:
                self.die()

    async def call(self, kind: Literal["stage", "model"], name: str, apply: Callable[[], T]) -> T:
        self.alive()
        how = self._next(kind, name)
        await asyncio.sleep(0.08)
        self.alive()
        if how == "crash before":
            self.die()
        if how in ("500", "busy"):
            raise failing(how)
        if how == "hang" and kind == "stage":
            await asyncio.sleep(HANG_S)
            raise Uncertain("timeout")
        if how in PERMANENT:
            assert self.world is not None
            (self.world.gone if how == "gone" else self.world.forbidden).add(CHANNEL)
        value = apply()
        if how == "crash after":
            self.die()
        if how in ("lost", "expired"):
            if how == "expired" and self.world is not None:
                self.world.expire_nonces()
            raise Uncertain(how)
        await asyncio.sleep(0.04)
        self.alive()
        return value


class TappedModel:
    """A model whose calls are points too."""

    def __init__(self, inner: Model, tap: Injector) -> None:
        self._inner, self._tap = inner, tap

    @property
    def name(self) -> str:
        return self._inner.name

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        tap = self._tap
        tap.alive()
        how = tap._next("model", request.scene.route.value)
        if how == "crash before":
            tap.die()
        if how == "hang":
            await asyncio.sleep(1e6)
        if how == "500":
            raise ProviderError("server", "injected")
        draft = await self._inner.generate(request)
        tap.alive()
        if how == "crash after":
            tap.die()
        return draft

    async def close(self) -> None:
        await self._inner.close()


class Failures(logging.Handler):
    """What the product itself reports as unforeseen: a step, rule or unit that raised."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = record.getMessage()
        if "was refused" in line or "could not be read" in line or "cannot be edited" in line:
            return  # Discord said no, and the product said so
        self.lines.append(line)


@contextmanager
def watching() -> Any:
    """Collect error lines of the product's logs; nothing is printed."""
    handler, log, units = Failures(), logging.getLogger("ketsugi"), logging.getLogger("bot.store.engine")
    asyncio.get_running_loop().set_exception_handler(_of_the_dead)
    log.addHandler(handler)
    before, log.propagate, units.disabled = log.propagate, False, True
    try:
        yield handler.lines
    finally:
        log.removeHandler(handler)
        log.propagate, units.disabled = before, False


def _of_the_dead(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A task that died with its process is nobody's to look after; anything else is reported as always."""
    if not isinstance(context.get("exception"), Killed):
        loop.default_exception_handler(context)


@dataclass
class Outcome:
    """What was left when a run was over."""

    world: World
    points: list[Point]
    meeting: Meeting | None = None
    entries: list[Entry] = field(default_factory=list)
    rows: list[Post] = field(default_factory=list)
    stored: minutes.StoredMinutes | None = None
    ups: list[float] = field(default_factory=list)  # when the process came back, seconds since the start
    ids: dict[str, int] = field(default_factory=dict)  # message ids by reference
    said: dict[str, float] = field(default_factory=dict)  # when
    errors: list[str] = field(default_factory=list)
    crashed: bool = False
    downs: list[float] = field(default_factory=list)  # and when it had gone away before
    unseen_change: bool = False  # an edit or a deletion came before its message was heard of
    ended_at: float = 0.0

    @property
    def recorded(self) -> Counter[tuple[Any, ...]]:
        """The ledger without numbers: what was recorded, from whose words, about what."""
        text = {e.number: (e.kind.value, e.text) for e in self.entries}
        return Counter(
            (
                e.kind.value,
                e.text,
                e.quote,
                e.owner,
                e.due,
                e.author_id,
                e.value,
                e.origin.value,
                text.get(e.refers_to or 0),
            )
            for e in self.entries
        )

    @property
    def standing(self) -> Counter[tuple[Any, ...]]:
        """What holds at the end."""
        view = folding.fold(self.entries)
        return Counter((i.kind.value, i.text, i.status, i.owner, len(i.votes)) for i in view.items if i.live)


@dataclass
class Run:
    """One meeting with what `plan` does to it. `down_s`: how long the process is away after each crash."""

    url: str
    plan: Mapping[int, str] = field(default_factory=dict)
    down_s: float = 5.0
    model: str = "scripted"
    language: str = "ja"
    acts: Sequence[Act] = MEETING
    fresh_nonces: bool = False
    blind: bool = False
    clock_ahead_s: float = 0.0  # the bot's clock before Discord's

    def __post_init__(self) -> None:
        self.tap = Injector(self.plan)
        self.world = World(lambda: self.now() - timedelta(seconds=self.clock_ahead_s))
        self.tap.world = self.world
        self.out = Outcome(self.world, self.tap.points)
        self.app: App | None = None
        self._owed: list[Act] = []  # commands and reactions whose answer never came: people try again
        self._next = 0
        self._interaction = 5000
        self._heard: set[str] = set()
        self._again = False  # what is told now was tried before

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=asyncio.get_running_loop().time())

    # -- the lives of the process

    async def play(self) -> Outcome:
        with watching() as errors:
            try:
                await self._live()
                while self._next < len(self.acts) and not self._refused():
                    if not await self._wait_until(self._due()):
                        await self._come_back()
                        continue
                    act = self.acts[self._next]
                    self._next += 1
                    self._happens(act)
                    await self._told(act)
                await self._end()
            finally:
                await self._stop()
        self.out.errors = list(errors)
        return self.out

    async def _live(self) -> None:
        """Start a process and let it recover; it may die on the way, and comes back then."""
        self.tap.revive()
        app = build(
            Settings(database_url=self.url, model="offline", seed=1),
            self.now,
            wrap_model=lambda m: TappedModel(ScriptedModel() if self.model == "scripted" else m, self.tap),
        )
        self.app = app
        await app.open()
        app.db.hooks.append(self.tap.commit)
        app.attach(Link(self.world, self.tap, fresh_nonces=self.fresh_nonces, blind=self.blind))
        if not await self._carefully(self._begin(app)):
            await self._come_back()
            return
        owed, self._owed = self._owed, []
        for act in owed:
            if act.do == "react" and not await self._wait_until(asyncio.get_running_loop().time() + 10.0):
                self._owed.append(act)  # they wait for what the bot shows of the message
                await self._come_back()
            elif act.do != "react" or not self._counted(act):
                self._again = True
                await self._told(act)
                self._again = False

    def _counted(self, act: Act) -> bool:
        """What people put while the bot was away was found in the history: they have no reason to try again."""
        assert self.app is not None
        mine, who = f"r:{self.out.ids[act.ref]}:", PEOPLE[act.who]
        entries = [e for room in self.app.meetings.rooms_of(PLACE.guild_id) for e in room.entries]
        return any(e.source_key.startswith(mine) and e.author_id == who for e in entries)

    async def _begin(self, app: App) -> None:
        await app.meetings.recover()
        if self._kickoff is None and app.meetings.count == 0:
            await app.meetings.start(start_request(self.language))

    def _refused(self) -> bool:
        """The channel took no kickoff: there is no meeting, and the chair was told so."""
        assert self.app is not None
        return self._kickoff is None and self.app.meetings.count == 0

    async def _come_back(self) -> None:
        self.out.crashed = True
        await self._kill()
        self.out.downs.append(asyncio.get_running_loop().time())
        until = self.out.downs[-1] + self.down_s
        while self._kickoff and self._next < len(self.acts) and self._due() <= until:
            await asyncio.sleep(max(0.0, self._due() - asyncio.get_running_loop().time()))
            act = self.acts[self._next]
            self._next += 1
            self._happens(act)
            if act.do in ("react", "extend", "end"):
                self._owed.append(act)
        await asyncio.sleep(until - asyncio.get_running_loop().time())
        self.out.ups.append(until)
        await self._live()

    @property
    def _kickoff(self) -> Posted | None:
        return next((m for m in self.world.mine if m.post and m.post.pin), None)

    def _due(self) -> float:
        """When the next act happens: people talk once they have seen the kickoff."""
        kickoff = self._kickoff
        begun = (kickoff.at - EPOCH).total_seconds() if kickoff else asyncio.get_running_loop().time()
        return begun + self.acts[self._next].at

    async def _kill(self) -> None:
        """Nothing of the old process runs on; what it had not committed is gone."""
        self.tap.dead = True
        me = asyncio.current_task()
        for _ in range(20):
            others = [t for t in asyncio.all_tasks() if t is not me]
            if not others:
                break
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
        assert self.app is not None
        self.app.db.hooks.clear()
        await self.app.db.close()

    async def _stop(self) -> None:
        await self._kill()

    # -- people

    async def _wait_until(self, at: float) -> bool:
        """False where the process died first."""
        left = at - asyncio.get_running_loop().time()
        with suppress(TimeoutError):
            await asyncio.wait_for(self.tap.died.wait(), max(0.0, left))
        return not self.tap.dead

    async def _carefully(self, work: Any) -> bool:
        """Run one call of the process; False where it died of it."""
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
        except (UserError, Uncertain, Refused) as error:
            self.out.errors.append(repr(error))
        return not self.tap.dead

    def _happens(self, act: Act) -> None:
        """In Discord, whether the bot is there or not."""
        self.apply(act, asyncio.get_running_loop().time())
        if act.do in ("edit", "delete") and act.ref not in self._heard:
            self.out.unseen_change = True

    def apply(self, act: Act, seconds: float) -> None:
        world, ids = self.world, self.out.ids
        match act.do:
            case "say":
                ref = act.ref or f"at {act.at:g}"
                ids[ref] = world.person_says(CHANNEL, PEOPLE[act.who], act.who, act.text)
                self.out.said[ref] = seconds
            case "edit":
                world.person_edits(CHANNEL, ids[act.ref], act.text)
            case "delete":
                world.person_deletes(CHANNEL, ids[act.ref])
            case "react":
                world.person_reacts(CHANNEL, ids[act.ref], PEOPLE[act.who], act.who, act.text)
                self.out.said[f"{act.text} {act.ref}"] = seconds
            case "end":
                self.out.said["end"] = seconds

    async def _told(self, act: Act) -> None:
        """The bot hears of it, and perhaps dies of it."""
        assert self.app is not None
        if not await self._carefully(self._event(act)):
            if act.do in ("react", "extend", "end"):
                self._owed.append(act)
            await self._come_back()
        elif act.do == "say":
            self._heard.add(act.ref)

    async def _event(self, act: Act) -> None:
        assert self.app is not None
        meetings_, who = self.app.meetings, person(act.who)
        self._interaction += 1
        match act.do:
            case "say":
                posted = self.world.find(CHANNEL, self.out.ids[act.ref or f"at {act.at:g}"])
                await meetings_.receive(PLACE, self.world.seen(posted))
            case "edit":
                await meetings_.edited(PLACE, self.out.ids[act.ref], act.text, self.now())
            case "delete":
                await meetings_.deleted(PLACE, [self.out.ids[act.ref]], self.now())
            case "react":
                if self._again:  # it stands there already: to put it anew it is taken back first
                    await meetings_.reacted(PLACE, self.out.ids[act.ref], who, act.text, False)
                await meetings_.reacted(PLACE, self.out.ids[act.ref], who, act.text, True)
            case "extend":
                status = await meetings_.status(PLACE)
                if status.meeting.planned_end - status.meeting.started_at == timedelta(
                    minutes=60
                ):  # see the board
                    await meetings_.extend(PLACE, who, int(act.text), self._interaction)
            case "end":
                await meetings_.end(PLACE, who, now=False, interaction_id=self._interaction)

    async def _end(self) -> None:
        """Until the process has nothing left to do."""
        limit = asyncio.get_running_loop().time() + PATIENCE_S
        while asyncio.get_running_loop().time() < limit:
            if not await self._wait_until(asyncio.get_running_loop().time() + 5.0):
                await self._come_back()
            elif self.app is not None and self.app.meetings.count == 0:
                break
        self.out.ended_at = asyncio.get_running_loop().time()
        await asyncio.sleep(60)  # whatever still runs shows itself
        if self.tap.dead:
            await self._come_back()
            await asyncio.sleep(60)
        await self._read()

    async def _read(self) -> None:
        assert self.app is not None

        async def work(c: Any) -> None:
            found = await meetings.latest_in(c, PLACE.guild_id, PLACE.channel_id)
            self.out.meeting = found
            if found is None:
                return
            self.out.entries = await ledger.everything(c, found.id)
            self.out.stored = await minutes.get(c, found.id)
            keys = [row.key for row in await overview.posts(c, found.id)]
            self.out.rows = [row for key in keys if (row := await outbox.get(c, found.id, key)) is not None]

        await self.app.db.unit(work)


# ---------------------------------------------------------------------- what must hold


def problems(out: Outcome, calm: Outcome | None, *, reachable: bool = True) -> list[str]:
    """What is wrong with an outcome, in words; nothing where all promises are kept.

    `calm`: the undisturbed run. `reachable` False: the channel was taken away, minutes go to the chair.
    """
    found: list[str] = list(_state(out))
    found += _posts(out, reachable)
    if reachable:
        found += _owed(out)
        found += _notices(out, calm) if calm is not None else []
        found += _waits(out)
        found += _window(out)
    if calm is not None and reachable:
        found += _ledger(out, calm)
    found += [f"unforeseen: {line.splitlines()[0]}" for line in out.errors]
    return found


def _state(out: Outcome) -> list[str]:
    if out.meeting is None:
        return ["there is no meeting"]
    if out.rows[0].state == "failed" and out.meeting.state is MeetingState.CLOSED:
        # It never came to be, and was known not to: nothing more is owed than word to whoever started it.
        return [
            f"without a kickoff: {r.key}" for r in out.rows[1:] if (r.key, r.state) != ("never_began", "sent")
        ]
    found = []
    if out.meeting.state is not MeetingState.CLOSED:
        found.append(f"the meeting is {out.meeting.state.value}")
    pending = [r.key for r in out.rows if r.state == "pending"]
    if pending:
        found.append(f"never sent: {pending}")
    if out.stored is None:
        found.append("no minutes are stored")
    else:
        missing = [
            e.number for e in out.entries if e.text and e.kind.value == "decision" and not _held(out, e)
        ]
        if missing:
            found.append(f"decisions {missing} are not in the minutes")
    return found


def _held(out: Outcome, entry: Entry) -> bool:
    assert out.stored is not None
    if entry.text in out.stored.text:
        return True
    view = folding.fold(out.entries)
    item = view.item(entry.number)
    return item is not None and not item.live  # a retracted one is counted, not quoted


def minutes_messages(world: World) -> list[Posted]:
    return [m for m in world.mine if m.post and any(f.name == "minutes.md" for f in m.post.files)]


def _posts(out: Outcome, reachable: bool) -> list[str]:
    found = []
    tags = Counter(m.tag for m in out.world.mine)
    keys = {r.nonce: r.key for r in out.rows}
    for tag, count in tags.items():
        if count > 1:
            found.append(f"posted {count} times: {keys.get(tag or '', tag)}")
    # A later planned end has notices of its own, in the same words.
    spoken = Counter(
        (m.text, key.split(":")[1] if key.startswith("notice:") else "")
        for m in out.world.mine
        if (key := keys.get(m.tag or "", "")).startswith(("turn:", "notice:", "opening", "goodbye"))
    )
    found += [f"said twice: {text!r}" for (text, _), count in spoken.items() if count > 1]
    published = minutes_messages(out.world)
    by_dm = [p for _, p in out.world.dms if any(f.name == "minutes.md" for f in p.files)]
    if reachable and len(published) != 1:
        found.append(f"{len(published)} minutes messages")
    if not reachable and len(published) + len(by_dm) != bool(out.stored):
        found.append(f"{len(published)} minutes messages and {len(by_dm)} by direct message")
    for post in [*(m.post for m in published if m.post), *by_dm]:
        content = next(f.content for f in post.files if f.name == "minutes.md").decode()
        if out.stored is not None and content != out.stored.text:
            found.append("the minutes posted are not the minutes stored")
    return found


def _owed(out: Outcome) -> list[str]:
    keys = [r.key for r in out.rows if r.state == "sent"]
    found = [f"missing: {key}" for key in ("kickoff", "opening", "goodbye") if key not in keys]
    if not any(key.startswith("read_back:") for key in keys):
        found.append("missing: the read-back")
    board = next((m for m in out.world.mine if m.post and m.post.pin), None)
    if board is None:
        return [*found, "missing: the board"]
    title = out.meeting.title if out.meeting else ""
    if board.text != phrases.t(
        "board.closed_headline", out.meeting.language if out.meeting else "ja", title=title
    ):
        found.append("the board does not say that the meeting is closed")
    for ref in ("ask one", "ask three"):
        if ref in out.ids and not any(m.reply_to == out.ids[ref] for m in out.world.mine):
            found.append(f"{ref} was never answered")
    marked = {e.message_id for e in out.entries if e.origin.value == "mark" and e.message_id}
    by_id = {m.message_id: m for m in out.world.channels[CHANNEL]}
    silent = [i for i in marked if i in by_id and not by_id[i].reactions]
    if silent:
        found.append(f"{len(silent)} marks were not acknowledged")
    return found


def _notices(out: Outcome, calm: Outcome) -> list[str]:
    """Every notice of the undisturbed run, but for those that something overtook while the process was away:
    a later notice, or the end."""

    def due(of: Outcome) -> dict[tuple[float, int], float]:
        """When by how long the meeting was to last, and how many minutes were left."""
        assert of.meeting is not None
        began = of.meeting.started_at.timestamp()
        keys = [r.key.split(":") for r in of.rows if r.key.startswith("notice:") and r.state == "sent"]
        shift = began - EPOCH.timestamp()
        return {
            (round(int(end) - began), int(left)): int(end) - began - 60 * int(left) + shift
            for _, end, left in keys
        }

    wanted = due(calm)
    ends = [*wanted.values(), out.said.get("end", 0.0)]
    overtaken = {
        key
        for key, at in wanted.items()
        for down, up in zip(out.downs, out.ups, strict=True)
        if down - NOTICE_LATE_S <= at <= up and any(at < later <= up for later in ends)
    }
    missing = wanted.keys() - due(out).keys() - overtaken
    return [f"missing: the notice of {left} minutes of {total / 60:g}" for total, left in sorted(missing)]


def _waits(out: Outcome) -> list[str]:
    found = []
    for what, at, answered in _debts(out):
        answers = [moment for moment in answered if moment >= at]
        begin = max([at, *(up for up in out.ups if not answers or up <= answers[0])])
        if not answers:
            found.append(f"{what}: never answered")
        elif answers[0] - begin > LONGEST_WAIT_S:
            found.append(f"{what}: waited {answers[0] - begin:.0f} s")
    return found


def _window(out: Outcome) -> list[str]:
    """From the read-back until the goodbye people have their minute, or one of them said yes to it."""
    keys = {r.nonce: r.key for r in out.rows}
    shown = [m for m in out.world.mine if keys.get(m.tag or "", "").startswith("read_back:")]
    goodbye = [m for m in out.world.mine if keys.get(m.tag or "") == "goodbye"]
    if not shown or not goodbye:
        return []
    given = (goodbye[0].at - shown[-1].at).total_seconds()
    yes = out.ids.get(f"at {MEETING[-1].at:g}", 0)
    if given < 60 and not shown[-1].message_id < yes < goodbye[0].message_id:
        return [f"the read-back stood for {given:.0f} s only"]
    return []


def _debts(out: Outcome) -> list[tuple[str, float, list[float]]]:
    def moments(chosen: Callable[[Posted, str], bool]) -> list[float]:
        keys = {r.nonce: r.key for r in out.rows}
        return [
            (m.at - EPOCH).total_seconds() for m in out.world.mine if chosen(m, keys.get(m.tag or "", ""))
        ]

    debts = []
    for ref in ("ask one", "ask three"):
        if ref in out.said:
            debts.append((ref, out.said[ref], moments(lambda m, k, ref=ref: m.reply_to == out.ids[ref])))  # type: ignore[misc]
    if "ask two" in out.said:
        facing = ("turn:", "read_back:", "goodbye")
        debts.append(("ask two", out.said["ask two"], moments(lambda m, k: k.startswith(facing))))
    if "end" in out.said:
        debts.append(("end", out.said["end"], moments(lambda m, k: k.startswith(("read_back:", "goodbye")))))
    return debts


def _ledger(out: Outcome, calm: Outcome) -> list[str]:
    early = _found_after_the_confirmation(out)

    def judged(rows: Counter[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
        """Without whether these are confirmed."""
        kept: Counter[tuple[Any, ...]] = Counter()
        for row, count in rows.items():
            about = row[-1] if isinstance(row[-1], tuple) else ("", "")
            if row[0] != "confirmation" or about[1] not in early:
                kept[tuple("any" if part in STATUSES and row[1] in early else part for part in row)] += count
        return kept

    if judged(out.standing) != judged(calm.standing):
        more, less = out.standing - calm.standing, calm.standing - out.standing
        return [f"what holds differs: {list(more)} instead of {list(less)}"]
    if not out.unseen_change and judged(out.recorded) != judged(calm.recorded):
        more, less = out.recorded - calm.recorded, calm.recorded - out.recorded
        return [f"the ledger differs: {list(more)} instead of {list(less)}"]
    return []


STATUSES = ("confirmed", "unconfirmed")


def _found_after_the_confirmation(out: Outcome) -> set[str]:
    """Words that a model read only after somebody had put ✅ to them: that confirms nothing (docs/reliability.md)."""
    put = {out.ids[ref]: at for ref in out.ids if (at := out.said.get(f"✅ {ref}")) is not None}
    return {
        e.text
        for e in out.entries
        if e.origin.value == "model"
        and e.message_id in put
        and (e.at - EPOCH).total_seconds() > put[e.message_id]
    }

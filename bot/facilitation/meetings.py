"""The service behind every command and event of a meeting: finds the room, calls the use case, arms the clock."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from datetime import datetime, timedelta
from typing import TypeVar

from bot.clock import Scheduler
from bot.errors import BadInput, NoMeeting, StoreError
from bot.facilitation import (
    attendance,
    backfill,
    chair,
    closing,
    corrections,
    intake,
    opening,
    past,
    queue,
    reminders,
    steps,
    timekeeper,
)
from bot.facilitation.core import Core
from bot.facilitation.delivery import RETRY, deliver
from bot.facilitation.requests import AgendaShown, Person, StartRequest, Status
from bot.facilitation.room import GAP_HOLDS, Room
from bot.meeting.model import Entry, EntryKind, Language, LedgerView, Meeting, MeetingState
from bot.stage import Place, Refused, Seen
from bot.store import meetings, outbox, servers
from bot.store.engine import Connection
from bot.supervision import log_failure

T = TypeVar("T")

AGAIN = timedelta(seconds=15)
REMINDERS = 0  # the scheduler's key of what belongs to no open meeting; meetings count from 1


class Meetings:
    """All open meetings of this process. Public methods raise UserError for what people are to be told."""

    def __init__(self, core: Core, default_language: Language) -> None:
        self._core = core
        self._default_language = default_language
        self._rooms: dict[int, Room] = {}
        self._by_place: dict[Place, int] = {}
        self._reading: set[int] = set()  # rooms whose gap is being read
        self._scheduler = Scheduler(core.clock, self._step)
        core.arm = self._scheduler.arm

    # ------------------------------------------------------------------ rooms

    def _keep(self, room: Room) -> Room:
        """The one room of that meeting: this one, or the one that was quicker."""
        kept = self._rooms.setdefault(room.id, room)
        if kept.meeting.state is not MeetingState.CLOSED:
            self._by_place[kept.place] = kept.id
        return kept

    def _at(self, place: Place) -> Room | None:
        """The open meeting of a channel; its minutes thread is no part of it."""
        found = self._by_place.get(place)
        return self._rooms.get(found) if found is not None else None

    def _open(self, where: Place | int) -> Room:
        room = self._rooms.get(where) if isinstance(where, int) else self._at(where)
        if room is None or room.meeting.state is MeetingState.CLOSED:
            raise NoMeeting()
        return room

    def room(self, where: Place | int) -> Room:
        """The open meeting of a channel, or of that number; NoMeeting where there is none."""
        return self._open(where)

    def rooms_of(self, guild_id: int) -> list[Room]:
        """The open meetings of one server, always in the same order."""
        return [r for _, r in sorted(self._rooms.items()) if r.meeting.guild_id == guild_id]

    def forget(self, meeting_id: int) -> None:
        """Drop the cache of a meeting that is no more."""
        room = self._rooms.pop(meeting_id, None)
        if room is not None and self._by_place.get(room.place) == room.id:
            del self._by_place[room.place]

    async def held_still(self, rooms: Sequence[Room], work: Callable[[], Awaitable[T]]) -> T:
        """Run `work` while nothing is stored in these rooms; afterwards they read everything anew, and what
        they thought up before is neither stored nor said (`Room.era`)."""
        async with AsyncExitStack() as held:
            for room in rooms:
                await held.enter_async_context(room.write)
            try:
                done = await work()
            finally:
                for room in rooms:
                    room.era, room.stale = room.era + 1, True
        for room in rooms:
            await room.freshen()
            room.rearm()
        return done

    async def _step(self, meeting_id: int) -> datetime | None:
        try:
            return await self._look_at(meeting_id)
        except Exception as error:  # the scheduler must never lose a room
            log_failure(f"meeting {meeting_id} is looked at again", error)
            return self._core.clock.now() + AGAIN

    async def _look_at(self, meeting_id: int) -> datetime | None:
        if meeting_id == REMINDERS:
            return await self._remind()
        if meeting_id not in self._rooms:
            await self._take_up_unsettled()  # an erratum, say, that Discord did not take at once
        room = self._rooms.get(meeting_id)
        if room is None:
            return None
        if room.id in self._reading and room.holding:
            return self._core.clock.now() + timedelta(seconds=1)
        if room.gap and room.gap_at is not None and room.gap_at <= self._core.clock.now():
            await self._read_gap(room)
        again = await steps.run(self._core, room)
        room.gap = room.gap and room.meeting.state is not MeetingState.CLOSED
        if room.gap and room.gap_at is not None and room.meeting.state is not MeetingState.STARTING:
            gap_at = room.gap_at
            if room.id in self._reading:  # a gap in the gap: looked at again once this reading is over
                gap_at = max(gap_at, self._core.clock.now() + timedelta(seconds=1))
            again = gap_at if again is None else min(again, gap_at)
        if room.meeting.state is MeetingState.CLOSED and room.owing_at is None and again is None:
            self._rooms.pop(room.id, None)
            if self._by_place.get(room.place) == room.id:
                del self._by_place[room.place]
            self._scheduler.arm(REMINDERS, self._core.clock.now())
        return again

    async def _remind(self) -> datetime | None:
        def owe(room: Room) -> None:
            self._keep(room)
            room.rearm()

        try:
            return await reminders.run(self._core, self._rooms.get, owe)
        except Exception as error:  # the scheduler must never lose its step
            log_failure("reminders are looked at again in ten minutes", error)
            return self._core.clock.now() + timedelta(minutes=10)

    @property
    def count(self) -> int:
        return len(self._rooms)

    # ------------------------------------------------------------------ start and end

    async def start(self, request: StartRequest) -> Meeting:
        """Raises BadInput (also where the kickoff cannot be posted), NotAllowed, AlreadyOpen."""
        core = self._core
        settings = await core.db.unit(lambda c: opening.allow(c, core, request))
        language: Language = settings.language or self._default_language
        if request.language in ("ja", "en"):
            language = "ja" if request.language == "ja" else "en"
        room = self._keep(
            await opening.create(core, request, language, core.policy.timezone(settings, language))
        )
        await deliver(core, room)
        room.whole = not room.gap
        if room.meeting.state is MeetingState.CLOSED:
            self._rooms.pop(room.id, None)
            self._by_place.pop(room.place, None)
            raise BadInput("error.cannot_post")
        core.watch(
            "started",
            meeting_id=room.id,
            guild_id=request.place.guild_id,
            channel_id=request.place.channel_id,
            minutes=request.minutes,
            agenda=len(request.agenda),
            constraints=len(request.constraints),
        )
        room.rearm()
        return room.meeting

    async def end(self, place: Place, by: Person, *, now: bool, interaction_id: int) -> None:
        room = self._open(place)
        if await self._first(room, interaction_id):
            await closing.end(self._core, room, by, now_flag=now)

    async def close_now(self, meeting_id: int, by: Person, interaction_id: int) -> None:
        room = self._open(meeting_id)
        if await self._first(room, interaction_id):
            await closing.close_now(self._core, room, by)

    async def keep_going(self, meeting_id: int, by: Person, interaction_id: int) -> None:
        room = self._open(meeting_id)
        if await self._first(room, interaction_id):
            await closing.keep_going(self._core, room, by)

    async def extend(self, where: Place | int, by: Person, minutes: int, interaction_id: int) -> datetime:
        room = self._open(where)
        if not await self._first(room, interaction_id):
            return room.meeting.planned_end
        return await timekeeper.extend(self._core, room, minutes)

    async def _first(self, room: Room, interaction_id: int) -> bool:
        """An interaction is carried out once, however often it arrives."""
        now = self._core.clock.now()
        return await self._core.db.unit(lambda c: meetings.once(c, interaction_id, room.id, now))

    # ------------------------------------------------------------------ events

    async def receive(self, place: Place, seen: Seen) -> bool:
        """Whether a meeting is held there; outside of one nothing is kept."""
        room = self._at(place)
        if room is not None and not seen.bot and not seen.mine:
            with self._read_again_where_lost(room):
                await intake.receive(self._core, room, seen)
        return room is not None

    @contextmanager
    def _read_again_where_lost(self, room: Room) -> Iterator[None]:
        """What people did and the store could not take (a full disk, for a moment) is read from the channel."""
        try:
            yield
        except StoreError:
            self._missed(room)
            self._scheduler.arm(room.id, self._core.clock.now())
            raise

    async def edited(self, place: Place, message_id: int, text: str, at: datetime) -> None:
        room = self._at(place)
        if room is not None:
            with self._read_again_where_lost(room):
                await intake.edited(self._core, room, message_id, text, at)

    async def deleted(self, place: Place, message_ids: Iterable[int], at: datetime) -> None:
        room = self._at(place)
        if room is not None:
            with self._read_again_where_lost(room):
                for message_id in message_ids:
                    await intake.deleted(self._core, room, message_id, at)

    async def reacted(self, place: Place, message_id: int, person: Person, emoji: str, added: bool) -> None:
        room = self._at(place)
        if room is not None:
            with self._read_again_where_lost(room):
                await intake.reacted(self._core, room, message_id, person, emoji, added)

    async def typing(self, place: Place, person: Person) -> None:
        room = self._at(place)
        if room is not None:
            intake.typing(self._core, room)

    # ------------------------------------------------------------------ ledger by hand

    async def record(
        self, place: Place, seen: Seen, kind: EntryKind, by: Person, interaction_id: int
    ) -> Entry:
        return await corrections.record(self._core, self._open(place), seen, kind, by, interaction_id)

    async def correct(self, meeting_id: int, by: Person, text: str, interaction_id: int) -> list[Entry]:
        room = self._rooms.get(meeting_id)
        if room is None or room.meeting.state is MeetingState.CLOSED:
            return await corrections.amend(self._core, meeting_id, by, text, interaction_id)
        return await corrections.correct(self._core, room, by, text, interaction_id)

    async def revise(self, place: Place, number: int, text: str, by: Person, interaction_id: int) -> Entry:
        return await corrections.revise(self._core, self._open(place), number, text, by, interaction_id)

    async def retract(self, place: Place, number: int, by: Person, interaction_id: int) -> Entry:
        return await corrections.retract(self._core, self._open(place), number, by, interaction_id)

    async def answer(self, place: Place, number: int, text: str, by: Person, interaction_id: int) -> Entry:
        return await corrections.answer(self._core, self._open(place), number, text, by, interaction_id)

    async def assign(
        self, place: Place, number: int, owner: str | None, due: str | None, by: Person, interaction_id: int
    ) -> Entry:
        return await corrections.assign(self._core, self._open(place), number, owner, due, by, interaction_id)

    async def confirm(self, place: Place, number: int | None, by: Person, interaction_id: int) -> list[Entry]:
        return await corrections.confirm(self._core, self._open(place), number, by, interaction_id)

    # ------------------------------------------------------------------ agenda, chair, attendance

    async def agenda(self, place: Place) -> AgendaShown:
        return queue.shown(self._open(place))

    async def agenda_add(self, place: Place, line: str) -> AgendaShown:
        return await queue.add(self._core, self._open(place), line)

    async def agenda_move(self, place: Place, number: int, to: int) -> AgendaShown:
        return await queue.move(self._core, self._open(place), number, to)

    async def agenda_drop(self, place: Place, number: int) -> AgendaShown:
        return await queue.drop(self._core, self._open(place), number)

    async def agenda_minutes(self, place: Place, number: int, minutes: int | None) -> AgendaShown:
        return await queue.set_minutes(self._core, self._open(place), number, minutes)

    async def agenda_next(self, place: Place, by: Person, interaction_id: int) -> AgendaShown:
        return await queue.take_up_next(self._core, self._open(place), by, interaction_id)

    async def hand_over(self, place: Place, by: Person, to: Person, interaction_id: int) -> None:
        await chair.hand_over(self._core, self._open(place), by, to, interaction_id)

    async def join(self, meeting_id: int, by: Person) -> bool:
        return await attendance.join(self._core, self._open(meeting_id), by)

    async def replace_past(self, meeting_id: int, message_id: int, by: Person) -> Entry:
        return await past.replace_past(self._core, self._open(meeting_id), message_id, by)

    async def done(self, place: Place, number: int, by: Person, interaction_id: int) -> Entry:
        return await corrections.done(self._core, self._open(place), number, by, interaction_id)

    # ------------------------------------------------------------------ reading

    async def ledger(self, place: Place) -> LedgerView:
        return self._open(place).view

    async def status(self, place: Place) -> Status:
        room = self._open(place)
        return Status(room.meeting, room.view, room.ranked_speakers, self._core.clock.now())

    async def language_of(self, place: Place) -> Language:
        room = self._at(place)
        if room is not None:
            return room.meeting.language
        settings = await self._core.db.unit(lambda c: servers.get(c, place.guild_id))
        return settings.language or self._default_language

    # ------------------------------------------------------------------ lives of the process

    async def recover(self) -> None:
        """After READY and RESUMED: take up open meetings, read what was missed, let the clock go on."""
        try:
            await self._take_up_all()
        finally:  # the meetings that are known missed something, whatever the store says
            rooms = [room for room in self._rooms.values() if room.meeting.state is not MeetingState.CLOSED]
            for room in rooms:
                self._missed(room)
                self._scheduler.arm(room.id, self._core.clock.now() + timedelta(seconds=1))
        self._scheduler.arm(REMINDERS, self._core.clock.now())
        await asyncio.gather(*(self._read_gap(room) for room in rooms))
        for room in list(self._rooms.values()):
            room.rearm()
            if room.gap and room.gap_at is not None:
                self._scheduler.arm(room.id, room.gap_at)

    async def sweep(self) -> None:
        """What is due comes from the database: a meeting that some failure let slip is taken up again."""
        known = set(self._rooms)
        await self._take_up_all()
        for room in list(self._rooms.values()):
            if room.id not in known and room.meeting.state is not MeetingState.CLOSED:
                self._missed(room)
                self._scheduler.arm(room.id, self._core.clock.now())
            room.rearm()
            try:
                await backfill.note_heard(self._core, room)
            except StoreError as error:  # the next sweep notes it
                log_failure(f"how far meeting {room.id} was heard is not noted", error)

    async def _take_up_all(self) -> None:
        await self._take_up(await self._core.db.unit(meetings.open_all))
        await self._take_up_unsettled()

    def _missed(self, room: Room) -> None:
        """From now on the room waits for what was missed to be read, for a while."""
        now = self._core.clock.now()
        # Where the history stays unreadable a connection that comes and goes must not hold the room all the time.
        if not room.gap or room.gap_until is None or now >= room.gap_until + 2 * GAP_HOLDS:
            room.gap_until = now + GAP_HOLDS
        room.gap, room.gap_tries, room.gap_at = True, 0, now
        room.gaps, room.whole = room.gaps + 1, False

    async def _take_up(self, found: Iterable[Meeting]) -> None:
        for meeting in found:
            if meeting.id in self._rooms:
                continue
            room = Room(self._core, meeting)
            try:
                await room.reload()
            except Exception as error:  # the others are taken up all the same, and this one by the next sweep
                log_failure(f"meeting {meeting.id} could not be taken up", error)
            else:
                self._keep(room)

    async def _take_up_unsettled(self) -> None:
        """Closed meetings may owe posts too: the minutes offered to the chair, an erratum."""

        async def work(c: Connection) -> list[Meeting]:
            found = [await meetings.get(c, meeting_id) for meeting_id in await outbox.unsettled(c)]
            return [meeting for meeting in found if meeting is not None]

        await self._take_up(await self._core.db.unit(work))

    async def _read_gap(self, room: Room) -> None:
        """Read what was missed, again at `gap_at` where that fails; a kickoff that may stand is looked for first."""
        if room.id in self._reading:
            return
        self._reading.add(room.id)
        gaps = room.gaps
        room.gap_at = self._core.clock.now() + timedelta(seconds=RETRY[-1])  # not again while this goes on
        try:
            if room.meeting.state is MeetingState.STARTING:
                await deliver(self._core, room)
            if room.meeting.state is not MeetingState.STARTING:
                await backfill.read(self._core, room)
                room.gap = room.gaps != gaps  # something was missed meanwhile, and is perhaps not in it
                room.gap_at, room.whole = self._core.clock.now(), not room.gap
        except Exception as error:
            log_failure(f"history of meeting {room.id} could not be read", error)
            pause = RETRY[min(room.gap_tries, len(RETRY) - 1)]
            room.gap_at = self._core.clock.now() + timedelta(seconds=pause)
            room.gap_tries += 1
            if isinstance(error, Refused):
                room.gap = False
                if error.reason in ("gone", "forbidden"):
                    room.unreachable = error.reason
        finally:
            self._reading.discard(room.id)

    async def close(self, grace: float = 10.0) -> None:
        await self._scheduler.close(grace)

"""The service behind every command and event of a meeting: finds the room, calls the use case, arms the clock."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from bot.clock import Scheduler
from bot.errors import BadInput
from bot.facilitation import (
    attendance,
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
from bot.facilitation.delivery import deliver
from bot.facilitation.recovery import Recovery
from bot.facilitation.requests import AgendaShown, Person, StartRequest, Status
from bot.facilitation.room import Room
from bot.facilitation.rooms import Rooms, held_still
from bot.meeting.model import Entry, EntryKind, Language, LedgerView, Meeting, MeetingState
from bot.stage import Place, Seen
from bot.store import meetings, servers
from bot.supervision import log_failure

T = TypeVar("T")

AGAIN = timedelta(seconds=15)
REMINDERS = 0  # the scheduler's key of what belongs to no open meeting; meetings count from 1


class Meetings:
    """All open meetings of this process. Public methods raise UserError for what people are to be told."""

    def __init__(self, core: Core, default_language: Language) -> None:
        self._core = core
        self._default_language = default_language
        self._rooms = Rooms()
        self._recovery = Recovery(core, self._rooms)
        self._scheduler = Scheduler(core.clock, self._step)
        core.arm = self._scheduler.arm

    # ------------------------------------------------------------------ rooms

    def room(self, where: Place | int) -> Room:
        """The open meeting of a channel, or of that number; NoMeeting where there is none."""
        return self._rooms.held(where)

    def rooms_of(self, guild_id: int) -> list[Room]:
        """The open meetings of one server, always in the same order."""
        return self._rooms.of(guild_id)

    def forget(self, meeting_id: int) -> None:
        """Drop the cache of a meeting that is no more."""
        self._rooms.drop(meeting_id)

    async def held_still(self, kept: Sequence[Room], work: Callable[[], Awaitable[T]]) -> T:
        """Run `work` while nothing is stored in these rooms; afterwards they read everything anew."""
        return await held_still(kept, work)

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
            await self._recovery.take_up_unsettled()  # an erratum, say, that Discord did not take at once
        room = self._rooms.get(meeting_id)
        if room is None:
            return None
        if self._recovery.reading(room) and room.holding:
            return self._core.clock.now() + timedelta(seconds=1)
        if room.gap and room.gap_at is not None and room.gap_at <= self._core.clock.now():
            await self._recovery.read_gap(room)
        again = await steps.run(self._core, room)
        room.gap = room.gap and room.meeting.state is not MeetingState.CLOSED
        if room.gap and room.gap_at is not None and room.meeting.state is not MeetingState.STARTING:
            gap_at = room.gap_at
            if self._recovery.reading(room):  # a gap in the gap: looked at again once this reading is over
                gap_at = max(gap_at, self._core.clock.now() + timedelta(seconds=1))
            again = gap_at if again is None else min(again, gap_at)
        if room.meeting.state is MeetingState.CLOSED and room.owing_at is None and again is None:
            self._rooms.drop(room.id)
            self._scheduler.arm(REMINDERS, self._core.clock.now())
        return again

    async def _remind(self) -> datetime | None:
        def owe(room: Room) -> None:
            self._rooms.keep(room)
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
        room = self._rooms.keep(
            await opening.create(core, request, language, core.policy.timezone(settings, language))
        )
        await deliver(core, room)
        room.whole = not room.gap
        if room.meeting.state is MeetingState.CLOSED:
            self._rooms.drop(room.id)
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
        room = self._rooms.held(place)
        if await self._first(room, interaction_id):
            await closing.end(self._core, room, by, now_flag=now)

    async def close_now(self, meeting_id: int, by: Person, interaction_id: int) -> None:
        room = self._rooms.held(meeting_id)
        if await self._first(room, interaction_id):
            await closing.close_now(self._core, room, by)

    async def keep_going(self, meeting_id: int, by: Person, interaction_id: int) -> None:
        room = self._rooms.held(meeting_id)
        if await self._first(room, interaction_id):
            await closing.keep_going(self._core, room, by)

    async def extend(self, where: Place | int, by: Person, minutes: int, interaction_id: int) -> datetime:
        room = self._rooms.held(where)
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
        room = self._rooms.at(place)
        if room is not None and not seen.bot and not seen.mine:
            with self._recovery.where_lost(room):
                await intake.receive(self._core, room, seen)
        return room is not None

    async def edited(self, place: Place, message_id: int, text: str, at: datetime) -> None:
        room = self._rooms.at(place)
        if room is not None:
            with self._recovery.where_lost(room):
                await intake.edited(self._core, room, message_id, text, at)

    async def deleted(self, place: Place, message_ids: Iterable[int], at: datetime) -> None:
        room = self._rooms.at(place)
        if room is not None:
            with self._recovery.where_lost(room):
                for message_id in message_ids:
                    await intake.deleted(self._core, room, message_id, at)

    async def reacted(self, place: Place, message_id: int, person: Person, emoji: str, added: bool) -> None:
        room = self._rooms.at(place)
        if room is not None:
            with self._recovery.where_lost(room):
                await intake.reacted(self._core, room, message_id, person, emoji, added)

    async def typing(self, place: Place, person: Person) -> None:
        room = self._rooms.at(place)
        if room is not None:
            intake.typing(self._core, room)

    # ------------------------------------------------------------------ ledger by hand

    async def record(
        self, place: Place, seen: Seen, kind: EntryKind, by: Person, interaction_id: int
    ) -> Entry:
        return await corrections.record(self._core, self._rooms.held(place), seen, kind, by, interaction_id)

    async def correct(self, meeting_id: int, by: Person, text: str, interaction_id: int) -> list[Entry]:
        room = self._rooms.get(meeting_id)
        if room is None or room.meeting.state is MeetingState.CLOSED:
            return await corrections.amend(self._core, meeting_id, by, text, interaction_id)
        return await corrections.correct(self._core, room, by, text, interaction_id)

    async def revise(self, place: Place, number: int, text: str, by: Person, interaction_id: int) -> Entry:
        return await corrections.revise(self._core, self._rooms.held(place), number, text, by, interaction_id)

    async def retract(self, place: Place, number: int, by: Person, interaction_id: int) -> Entry:
        return await corrections.retract(self._core, self._rooms.held(place), number, by, interaction_id)

    async def answer(self, place: Place, number: int, text: str, by: Person, interaction_id: int) -> Entry:
        return await corrections.answer(self._core, self._rooms.held(place), number, text, by, interaction_id)

    async def assign(
        self, place: Place, number: int, owner: str | None, due: str | None, by: Person, interaction_id: int
    ) -> Entry:
        return await corrections.assign(
            self._core, self._rooms.held(place), number, owner, due, by, interaction_id
        )

    async def confirm(self, place: Place, number: int | None, by: Person, interaction_id: int) -> list[Entry]:
        return await corrections.confirm(self._core, self._rooms.held(place), number, by, interaction_id)

    # ------------------------------------------------------------------ agenda, chair, attendance

    async def agenda(self, place: Place) -> AgendaShown:
        return queue.shown(self._rooms.held(place))

    async def agenda_add(self, place: Place, line: str) -> AgendaShown:
        return await queue.add(self._core, self._rooms.held(place), line)

    async def agenda_move(self, place: Place, number: int, to: int) -> AgendaShown:
        return await queue.move(self._core, self._rooms.held(place), number, to)

    async def agenda_drop(self, place: Place, number: int) -> AgendaShown:
        return await queue.drop(self._core, self._rooms.held(place), number)

    async def agenda_minutes(self, place: Place, number: int, minutes: int | None) -> AgendaShown:
        return await queue.set_minutes(self._core, self._rooms.held(place), number, minutes)

    async def agenda_next(self, place: Place, by: Person, interaction_id: int) -> AgendaShown:
        return await queue.take_up_next(self._core, self._rooms.held(place), by, interaction_id)

    async def hand_over(self, place: Place, by: Person, to: Person, interaction_id: int) -> None:
        await chair.hand_over(self._core, self._rooms.held(place), by, to, interaction_id)

    async def join(self, meeting_id: int, by: Person) -> bool:
        return await attendance.join(self._core, self._rooms.held(meeting_id), by)

    async def replace_past(self, meeting_id: int, message_id: int, by: Person) -> Entry:
        return await past.replace_past(self._core, self._rooms.held(meeting_id), message_id, by)

    async def done(self, place: Place, number: int, by: Person, interaction_id: int) -> Entry:
        return await corrections.done(self._core, self._rooms.held(place), number, by, interaction_id)

    # ------------------------------------------------------------------ reading

    async def ledger(self, place: Place) -> LedgerView:
        return self._rooms.held(place).view

    async def status(self, place: Place) -> Status:
        room = self._rooms.held(place)
        return Status(room.meeting, room.view, room.ranked_speakers, self._core.clock.now())

    async def language_of(self, place: Place) -> Language:
        room = self._rooms.at(place)
        if room is not None:
            return room.meeting.language
        settings = await self._core.db.unit(lambda c: servers.get(c, place.guild_id))
        return settings.language or self._default_language

    # ------------------------------------------------------------------ lives of the process

    async def recover(self) -> None:
        """After READY and RESUMED: take up open meetings, read what was missed, let the clock go on."""
        try:
            await self._recovery.recover()
        finally:
            self._scheduler.arm(REMINDERS, self._core.clock.now())

    async def sweep(self) -> None:
        """What is due comes from the database: a meeting that some failure let slip is taken up again."""
        await self._recovery.sweep()

    async def close(self, grace: float = 10.0) -> None:
        await self._scheduler.close(grace)

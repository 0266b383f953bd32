"""The service behind every command and event of a meeting: finds the room, calls the use case, arms the clock."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime, timedelta

from bot.clock import Scheduler
from bot.errors import BadInput, NoMeeting, StageError
from bot.facilitation import closing, corrections, intake, opening, steps, timekeeper
from bot.facilitation.core import Core
from bot.facilitation.delivery import deliver, snowflake
from bot.facilitation.requests import Person, StartRequest, Status
from bot.facilitation.room import KEY_KICKOFF, Room
from bot.meeting.model import Entry, EntryKind, Language, LedgerView, Meeting, MeetingState, Message
from bot.stage import Place, Refused, Seen
from bot.store import meetings, servers, transcript
from bot.store.engine import Connection
from bot.supervision import log_failure

BACKFILL_AGAIN = 100  # stored messages looked at again after a gap, for edits and deletions missed


class Meetings:
    """All open meetings of this process. Public methods raise UserError for what people are to be told."""

    def __init__(self, core: Core, default_language: Language) -> None:
        self._core = core
        self._default_language = default_language
        self._rooms: dict[int, Room] = {}
        self._by_place: dict[Place, int] = {}
        self._scheduler = Scheduler(core.clock, self._step)
        core.arm = self._scheduler.arm

    # ------------------------------------------------------------------ rooms

    def _keep(self, room: Room) -> None:
        self._rooms[room.id] = room
        self._by_place[room.place] = room.id

    def _at(self, place: Place) -> Room | None:
        """The open meeting of a channel; its minutes thread is no part of it."""
        found = self._by_place.get(place)
        return self._rooms.get(found) if found is not None else None

    def _open(self, where: Place | int) -> Room:
        room = self._rooms.get(where) if isinstance(where, int) else self._at(where)
        if room is None or room.meeting.state is MeetingState.CLOSED:
            raise NoMeeting()
        return room

    async def _step(self, meeting_id: int) -> datetime | None:
        room = self._rooms.get(meeting_id)
        if room is None:
            return None
        again = await steps.run(self._core, room)
        if room.meeting.state is MeetingState.CLOSED and room.deliver_at is None and again is None:
            self._rooms.pop(room.id, None)
            if self._by_place.get(room.place) == room.id:
                del self._by_place[room.place]
        return again

    @property
    def count(self) -> int:
        return len(self._rooms)

    # ------------------------------------------------------------------ start and end

    async def start(self, request: StartRequest) -> Meeting:
        """Raises BadInput, AlreadyOpen, or BadInput("error.cannot_post") where the kickoff cannot be posted."""
        core = self._core
        settings = await core.db.unit(lambda c: servers.get(c, request.place.guild_id))
        language: Language = settings.language or self._default_language
        if request.language in ("ja", "en"):
            language = "ja" if request.language == "ja" else "en"
        room = await opening.create(core, request, language, settings.timezone)
        self._keep(room)
        await deliver(core, room)
        if room.unreachable is not None:
            await steps.abandon(core, room)
            self._rooms.pop(room.id, None)
            self._by_place.pop(room.place, None)
            raise BadInput("error.cannot_post")
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

    async def receive(self, place: Place, seen: Seen) -> None:
        room = self._at(place)
        if room is not None and not seen.bot and not seen.mine:
            await intake.receive(self._core, room, seen)

    async def edited(self, place: Place, message_id: int, text: str, at: datetime) -> None:
        room = self._at(place)
        if room is not None:
            await intake.edited(self._core, room, message_id, text, at)

    async def deleted(self, place: Place, message_ids: Iterable[int], at: datetime) -> None:
        room = self._at(place)
        for message_id in message_ids if room is not None else ():
            assert room is not None
            await intake.deleted(self._core, room, message_id, at)

    async def reacted(self, place: Place, message_id: int, person: Person, emoji: str, added: bool) -> None:
        room = self._at(place)
        if room is not None:
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

    async def ask(self, place: Place, by: Person, question: str, interaction_id: int) -> str:
        return await corrections.ask(self._core, self._open(place), by, question, interaction_id)

    # ------------------------------------------------------------------ lives of the process

    async def recover(self) -> None:
        """After READY and RESUMED: take up open meetings, read what was missed, let the clock go on."""
        found = await self._core.db.unit(meetings.open_all)
        for meeting in found:
            if meeting.id not in self._rooms:
                room = Room(self._core, meeting)
                await room.reload()
                self._keep(room)
        for room in list(self._rooms.values()):
            await self._guarded(room, self._backfill)
            room.rearm()

    async def _guarded(self, room: Room, work: Callable[[Room], Awaitable[None]]) -> None:
        try:
            await work(room)
        except StageError as error:
            log_failure(f"history of meeting {room.id} could not be read", error)
            if isinstance(error, Refused) and error.reason in ("gone", "forbidden"):
                room.unreachable = error.reason

    async def _backfill(self, room: Room) -> None:
        """Messages, edits and deletions of a gap, by message id."""
        if KEY_KICKOFF not in room.keys or room.meeting.state is MeetingState.STARTING:
            return

        async def known(c: Connection) -> list[Message]:
            return list(await transcript.recent(c, room.id, BACKFILL_AGAIN))

        stored = await self._core.db.unit(known)
        start = snowflake(room.meeting.started_at - timedelta(seconds=1))
        after = max(start, stored[0].message_id - 1) if stored else start
        seen = {s.message_id: s for s in await self._core.stage.history(room.place, after)}
        for message in seen.values():
            if not message.mine and not message.bot:
                await intake.receive(self._core, room, message)
        for old in stored:
            now = seen.get(old.message_id)
            if now is None:
                await intake.deleted(self._core, room, old.message_id, self._core.clock.now())
            elif now.edited_at is not None and now.edited_at != old.edited_at:
                await intake.edited(self._core, room, old.message_id, now.text, now.edited_at)

    async def close(self, grace: float = 10.0) -> None:
        await self._scheduler.close(grace)

"""Lives of the process: open meetings are taken up, what they missed is read, and nothing that is due is overslept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from bot.errors import StoreError
from bot.facilitation import backfill
from bot.facilitation.core import Core
from bot.facilitation.delivery import RETRY, deliver
from bot.facilitation.room import GAP_HOLDS, Room
from bot.facilitation.rooms import Rooms
from bot.meeting.model import Meeting, MeetingState
from bot.stage import Refused
from bot.store import meetings, outbox
from bot.store.engine import Connection
from bot.supervision import log_failure


class Recovery:
    """Takes up what the rows hold. Rooms are armed, so that their steps go on by themselves."""

    def __init__(self, core: Core, rooms: Rooms) -> None:
        self._core, self._rooms = core, rooms
        self._reading: set[int] = set()  # rooms whose gap is being read

    def reading(self, room: Room) -> bool:
        return room.id in self._reading

    async def recover(self) -> None:
        """After READY and RESUMED: take up open meetings, read what was missed, let the clock go on."""
        try:
            await self._take_up_all()
        finally:  # the meetings that are known missed something, whatever the store says
            rooms = self._rooms.open
            for room in rooms:
                self.missed(room)
                self._core.arm(room.id, self._core.clock.now() + timedelta(seconds=1))
        await asyncio.gather(*(self.read_gap(room) for room in rooms))
        for room in self._rooms.all:
            room.rearm()
            if room.gap and room.gap_at is not None:
                self._core.arm(room.id, room.gap_at)

    async def sweep(self) -> None:
        """What is due comes from the database: a meeting that some failure let slip is taken up again."""
        known = {room.id for room in self._rooms.all}
        await self._take_up_all()
        for room in self._rooms.all:
            if room.id not in known and room.meeting.state is not MeetingState.CLOSED:
                self.missed(room)
                self._core.arm(room.id, self._core.clock.now())
            room.rearm()
            try:
                await backfill.note_heard(self._core, room)
            except StoreError as error:  # the next sweep notes it
                log_failure(f"how far meeting {room.id} was heard is not noted", error)

    async def _take_up_all(self) -> None:
        await self._take_up(await self._core.db.unit(meetings.open_all))
        await self.take_up_unsettled()

    def missed(self, room: Room) -> None:
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
                self._rooms.keep(room)

    async def take_up_unsettled(self) -> None:
        """Closed meetings may owe posts too: the minutes offered to the chair, an erratum."""

        async def work(c: Connection) -> list[Meeting]:
            found = [await meetings.get(c, meeting_id) for meeting_id in await outbox.unsettled(c)]
            return [meeting for meeting in found if meeting is not None]

        await self._take_up(await self._core.db.unit(work))

    async def read_gap(self, room: Room) -> None:
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

    @contextmanager
    def where_lost(self, room: Room) -> Iterator[None]:
        """What people did and the store could not take (a full disk, for a moment) is read from the channel."""
        try:
            yield
        except StoreError:
            self.missed(room)
            self._core.arm(room.id, self._core.clock.now())
            raise

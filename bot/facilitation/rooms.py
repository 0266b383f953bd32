"""The rooms that this process keeps: one a meeting, found by its number or its channel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import TypeVar

from bot.errors import NoMeeting
from bot.facilitation.room import Room
from bot.meeting.model import MeetingState
from bot.stage import Place

T = TypeVar("T")


class Rooms:
    """Open meetings, and closed ones that owe a post."""

    def __init__(self) -> None:
        self._by_id: dict[int, Room] = {}
        self._by_place: dict[Place, int] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, meeting_id: int) -> bool:
        return meeting_id in self._by_id

    @property
    def all(self) -> list[Room]:
        return list(self._by_id.values())

    @property
    def open(self) -> list[Room]:
        return [room for room in self._by_id.values() if room.meeting.state is not MeetingState.CLOSED]

    def of(self, guild_id: int) -> list[Room]:
        """Those of one server, always in the same order."""
        return [r for _, r in sorted(self._by_id.items()) if r.meeting.guild_id == guild_id]

    def get(self, meeting_id: int) -> Room | None:
        return self._by_id.get(meeting_id)

    def at(self, place: Place) -> Room | None:
        """The open meeting of a channel; its minutes thread is no part of it."""
        found = self._by_place.get(place)
        return self._by_id.get(found) if found is not None else None

    def held(self, where: Place | int) -> Room:
        """The open meeting of a channel, or of that number; NoMeeting where there is none."""
        room = self._by_id.get(where) if isinstance(where, int) else self.at(where)
        if room is None or room.meeting.state is MeetingState.CLOSED:
            raise NoMeeting()
        return room

    def keep(self, room: Room) -> Room:
        """The one room of that meeting: this one, or the one that was quicker."""
        kept = self._by_id.setdefault(room.id, room)
        if kept.meeting.state is not MeetingState.CLOSED:
            self._by_place[kept.place] = kept.id
        return kept

    def drop(self, meeting_id: int) -> None:
        """Of a meeting that is over, or no more."""
        room = self._by_id.pop(meeting_id, None)
        if room is not None and self._by_place.get(room.place) == room.id:
            del self._by_place[room.place]


async def held_still(rooms: Sequence[Room], work: Callable[[], Awaitable[T]]) -> T:
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

"""What was held and decided on a server, for whoever may read the channels where it was (SPEC 2.11).

The channels come with every call: rights are those of this very act, and nothing is found outside of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bot.errors import BadInput, NoMeeting
from bot.facilitation import corrections
from bot.facilitation.core import Core
from bot.facilitation.erased import shown
from bot.facilitation.past import link_of
from bot.facilitation.requests import Person
from bot.meeting import ledger as folding
from bot.meeting import seeking
from bot.meeting.model import Entry, LedgerView, Meeting
from bot.stage import Place
from bot.store import ledger, meetings, search
from bot.store.engine import Connection
from bot.store.search import Found

PAGE = 10
SUGGESTED = 25  # Discord's limit of suggestions


@dataclass(frozen=True, slots=True)
class Hit:
    """A decision that was found, with the link to where it was said."""

    found: Found
    link: str


@dataclass(frozen=True, slots=True)
class Page:
    """Meetings of one page, counted from 0, and how many pages there are (at least one)."""

    meetings: tuple[Meeting, ...]
    number: int
    pages: int
    count: int


@dataclass(frozen=True, slots=True)
class Record:
    """A meeting with its ledger as it stands."""

    meeting: Meeting
    ledger: LedgerView


class Records:
    def __init__(self, core: Core) -> None:
        self._core = core

    async def search(self, guild_id: int, query: str, channel_ids: Collection[int]) -> list[Hit]:
        """Decisions that fit, best first. BadInput where the query holds nothing to look for."""
        if not seeking.pieces(query):
            raise BadInput("error.nothing_to_find")
        found = await self._core.db.unit(lambda c: search.decisions(c, guild_id, query, channel_ids))
        return [Hit(f, link_of(guild_id, f)) for f in found]

    async def page(self, guild_id: int, channel_ids: Collection[int], number: int) -> Page:
        """Meetings newest first, those under way included; beyond the last page it is the last one."""

        async def work(c: Connection) -> Page:
            _, count = await search.held(c, guild_id, channel_ids, 0)
            pages = max(1, -(-count // PAGE))
            at = min(max(0, number), pages - 1)
            found, _ = await search.held(c, guild_id, channel_ids, PAGE, at * PAGE)
            return Page(tuple(found), at, pages, count)

        return await self._core.db.unit(work)

    async def latest(self, place: Place) -> Record:
        """The channel's open meeting, else its last closed one; of a minutes thread the meeting it is of."""

        async def work(c: Connection) -> Record | None:
            meeting = await meetings.open_in(c, place.guild_id, place.channel_id) or await _closed(c, place)
            if meeting is None:
                return None
            view = folding.fold(await ledger.everything(c, meeting.id))
            return Record(meeting, shown(view, meeting.language))

        found = await self._core.db.unit(work)
        if found is None:
            raise NoMeeting()
        return found

    async def closed_here(self, place: Place) -> list[Meeting]:
        """Closed meetings of this channel, newest first: what a meeting's number may be."""

        async def work(c: Connection) -> Sequence[Meeting]:
            found, _ = await search.held(c, place.guild_id, [place.channel_id], 4 * SUGGESTED)
            return found

        here = await self._core.db.unit(work)
        return [m for m in here if m.closed_at is not None and m.channel_id == place.channel_id][:SUGGESTED]

    async def amend(
        self, place: Place, meeting_id: int | None, by: Person, text: str, interaction_id: int
    ) -> tuple[Meeting, list[Entry]]:
        """A numbered erratum to the minutes of a meeting of this channel, the last one by default."""

        async def work(c: Connection) -> Meeting | None:
            if meeting_id is None:
                return await _closed(c, place)
            found = await meetings.get(c, meeting_id, guild_id=place.guild_id)
            here = found is not None and place.channel_id in (found.channel_id, found.thread_id)
            return found if here else None

        meeting = await self._core.db.unit(work)
        if meeting is None:
            raise NoMeeting("error.no_minutes_here")
        if meeting.closed_at is None:
            raise BadInput("error.minutes_not_yet")
        return meeting, await corrections.amend(self._core, meeting.id, by, text, interaction_id)


async def _closed(c: Connection, place: Place) -> Meeting | None:
    return await meetings.last_held(c, place.guild_id, place.channel_id) or await meetings.of_thread(
        c, place.guild_id, place.channel_id
    )

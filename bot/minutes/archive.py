"""Minutes after the fact: shown, exported, and handed to whoever drives the bot from outside."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import Any

from bot import phrases
from bot.errors import BadInput, NoMeeting
from bot.facilitation.core import Core
from bot.facilitation.requests import Person
from bot.facilitation.room import KEY_MINUTES, Room
from bot.meeting.display import one_line, shorten
from bot.meeting.model import ChannelKind, Meeting, MeetingState
from bot.minutes import document as documents
from bot.minutes.message import minutes_outgoing
from bot.stage import Outgoing, Place
from bot.store import meetings, minutes, outbox
from bot.store.engine import Connection
from bot.store.minutes import StoredMinutes

FORMS = ("md", "json", "csv")
TITLE = 60  # characters of a title among others
NAMED = 5  # kept minutes that an answer names; suggestions hold more
SUGGESTED = 25  # Discord's limit of suggestions


@dataclass(frozen=True, slots=True)
class Access:
    """Channel ids of one server, as Discord states them at the moment of a command.

    `readable`: those whose messages the caller can read. `standing`: all that exist, threads aside (they are
    not all known); None where that is not certain.
    """

    readable: frozenset[int]
    standing: frozenset[int] | None


class Minutes:
    def __init__(self, core: Core) -> None:
        self._core = core

    async def show(self, place: Place, meeting_id: int | None, by: Person, access: Access) -> Outgoing:
        """The minutes as they were posted. Raises NoMeeting or BadInput("error.minutes_not_yet")."""
        meeting, stored = await self._find(place, meeting_id, by, access)
        say = partial(_say, meeting.language)
        return minutes_outgoing(json.loads(stored.document), stored.text, meeting, say, meeting.language)

    async def export(
        self, place: Place, meeting_id: int | None, form: str, by: Person, access: Access
    ) -> tuple[str, bytes]:
        """(file name, bytes) of md, json or the csv of actions; raises as `show`, and BadInput for other forms."""
        if form not in FORMS:
            raise BadInput("error.export_form", forms=", ".join(FORMS))
        meeting, stored = await self._find(place, meeting_id, by, access)
        return file_of(meeting, stored, form)

    async def kept(self, guild_id: int, by: Person, access: Access) -> list[Meeting]:
        """Meetings whose minutes found no place to stand, newest first, as far as `by` may see them from anywhere."""
        return await self._core.db.unit(lambda c: _kept(c, guild_id, by, access, SUGGESTED))

    async def _find(
        self, place: Place, meeting_id: int | None, by: Person, access: Access
    ) -> tuple[Meeting, StoredMinutes]:
        """Of this channel alone: what another channel holds, a member may not be allowed to read.

        A channel that is gone takes no command any more. Minutes that could not be posted are therefore shown in
        every channel of the server, but only to their chair and, where `_may_know` says so, to those with Manage
        Server.
        """

        async def work(c: Connection) -> tuple[Meeting | None, StoredMinutes | None, list[Meeting]]:
            if meeting_id is None:
                meeting = await meetings.latest_in(c, place.guild_id, place.channel_id)
            else:
                meeting = await meetings.get(c, meeting_id, guild_id=place.guild_id)
            if meeting is None or not await _may_see(c, meeting, place, by, access):
                return None, None, await _kept(c, place.guild_id, by, access, NAMED)
            return meeting, await minutes.get(c, meeting.id, guild_id=place.guild_id), []

        meeting, stored, kept = await self._core.db.unit(work)
        if meeting is None:
            raise _nothing_here(kept)
        if stored is None:
            raise BadInput("error.minutes_not_yet")
        return meeting, stored

    async def ledger_export(self, meeting_id: int) -> list[dict[str, Any]]:
        """Every entry of a meeting with what became of it, for the rehearsal's `ledger` line."""
        meeting = await self._core.db.unit(lambda c: meetings.get(c, meeting_id))
        if meeting is None:
            raise NoMeeting()
        room = Room(self._core, meeting)
        await room.reload()
        return documents.ledger_rows(room.view)

    async def minutes_export(self, meeting_id: int) -> dict[str, Any] | None:
        """{"text", "document"} of the stored minutes, or None."""
        stored = await self._core.db.unit(lambda c: minutes.get(c, meeting_id))
        return None if stored is None else {"text": stored.text, "document": json.loads(stored.document)}

    async def closed(self, meeting_id: int) -> bool:
        meeting = await self._core.db.unit(lambda c: meetings.get(c, meeting_id))
        return meeting is not None and meeting.state is MeetingState.CLOSED


async def _may_see(c: Connection, meeting: Meeting, place: Place, by: Person, access: Access) -> bool:
    if place.channel_id in (meeting.channel_id, meeting.thread_id):
        return True
    if not _may_know(meeting, by, access):
        return False
    post = await outbox.get(c, meeting.id, KEY_MINUTES)
    return post is not None and post.state == "failed"


def _may_know(meeting: Meeting, by: Person, access: Access) -> bool:
    """Whether `by` may learn, anywhere on the server, of minutes that could not be posted.

    A channel that is only closed to the bot may be private: a manager counts as long as they can read it, or where
    it is certainly gone. A thread may be there and private without the bot knowing; it is judged by its public
    parent, with which it also goes, and one without a known parent is not shown.
    """
    if by.id == meeting.chair_id:
        return True
    if not by.manager:
        return False
    inside = meeting.channel_kind in (ChannelKind.THREAD, ChannelKind.FORUM_POST)
    base = meeting.parent_id if inside else meeting.channel_id
    if access.readable & {meeting.channel_id, base}:
        return True
    return base is not None and access.standing is not None and base not in access.standing


async def _kept(c: Connection, guild_id: int, by: Person, access: Access, limit: int) -> list[Meeting]:
    found = await meetings.unposted(c, guild_id)
    return [meeting for meeting in found if _may_know(meeting, by, access)][:limit]


def _nothing_here(kept: list[Meeting]) -> NoMeeting:
    if not kept:
        return NoMeeting("error.no_minutes_here")
    named = " / ".join(f"#{meeting.id} {shorten(one_line(meeting.title), TITLE)}" for meeting in kept)
    return NoMeeting("error.minutes_kept", meetings=named, meeting=kept[0].id)


def _say(language: str, key: str, **values: object) -> str:
    return phrases.t(key, language, **values)


def file_of(meeting: Meeting, stored: StoredMinutes, form: str) -> tuple[str, bytes]:
    """(file name, bytes) of stored minutes in one of `FORMS`."""
    name = f"minutes-{meeting.id}"
    if form == "md":
        return f"{name}.md", stored.text.encode()
    document = json.loads(stored.document)
    if form == "json":
        return f"{name}.json", documents.as_json(document).encode()
    return f"{name}-actions.csv", documents.actions_csv(document, partial(_say, meeting.language))

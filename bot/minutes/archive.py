"""Minutes after the fact: shown, exported, and handed to whoever drives the bot from outside."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from bot import phrases
from bot.errors import BadInput, NoMeeting
from bot.facilitation.core import Core
from bot.facilitation.requests import Person
from bot.facilitation.room import KEY_MINUTES, Room
from bot.meeting.display import one_line, shorten
from bot.meeting.model import Meeting, MeetingState
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


class Minutes:
    def __init__(self, core: Core) -> None:
        self._core = core

    async def show(self, place: Place, meeting_id: int | None, by: Person) -> Outgoing:
        """The minutes as they were posted. Raises NoMeeting or BadInput("error.minutes_not_yet")."""
        meeting, stored = await self._find(place, meeting_id, by)
        say = partial(_say, meeting.language)
        return minutes_outgoing(json.loads(stored.document), stored.text, meeting, say, meeting.language)

    async def export(self, place: Place, meeting_id: int | None, form: str, by: Person) -> tuple[str, bytes]:
        """(file name, bytes) of md, json or the csv of actions; raises as `show`, and BadInput for other forms."""
        if form not in FORMS:
            raise BadInput("error.export_form", forms=", ".join(FORMS))
        meeting, stored = await self._find(place, meeting_id, by)
        return file_of(meeting, stored, form)

    async def kept(self, guild_id: int, by: Person) -> list[Meeting]:
        """Meetings whose minutes found no place to stand, newest first, as far as `by` may see them from anywhere."""
        return await self._core.db.unit(lambda c: _kept(c, guild_id, by, SUGGESTED))

    async def _find(self, place: Place, meeting_id: int | None, by: Person) -> tuple[Meeting, StoredMinutes]:
        """Of this channel alone: what another channel holds, a member may not be allowed to read.

        A channel that is gone takes no command any more. Minutes that could not be posted are therefore shown in
        every channel of the server, but only to their chair and to those with Manage Server.
        """

        async def work(c: Connection) -> tuple[Meeting | None, StoredMinutes | None, list[Meeting]]:
            if meeting_id is None:
                meeting = await meetings.latest_in(c, place.guild_id, place.channel_id)
            else:
                meeting = await meetings.get(c, meeting_id, guild_id=place.guild_id)
            if meeting is None or not await _may_see(c, meeting, place, by):
                return None, None, await _kept(c, place.guild_id, by, NAMED)
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


async def _may_see(c: Connection, meeting: Meeting, place: Place, by: Person) -> bool:
    if place.channel_id in (meeting.channel_id, meeting.thread_id):
        return True
    if not by.manager and by.id != meeting.chair_id:
        return False
    post = await outbox.get(c, meeting.id, KEY_MINUTES)
    return post is not None and post.state == "failed"


async def _kept(c: Connection, guild_id: int, by: Person, limit: int) -> list[Meeting]:
    return await meetings.unposted(c, guild_id, limit, chair_id=None if by.manager else by.id)


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

"""Minutes after the fact: shown, exported, and handed to whoever drives the bot from outside."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from bot import phrases
from bot.errors import BadInput, NoMeeting
from bot.facilitation.core import Core
from bot.facilitation.room import Room
from bot.meeting.model import Meeting, MeetingState
from bot.minutes import document as documents
from bot.minutes.message import minutes_outgoing
from bot.stage import Outgoing, Place
from bot.store import meetings, minutes
from bot.store.engine import Connection
from bot.store.minutes import StoredMinutes

FORMS = ("md", "json", "csv")


class Minutes:
    def __init__(self, core: Core) -> None:
        self._core = core

    async def show(self, place: Place, meeting_id: int | None) -> Outgoing:
        """The minutes as they were posted. Raises NoMeeting or BadInput("error.minutes_not_yet")."""
        meeting, stored = await self._find(place, meeting_id)
        say = partial(_say, meeting.language)
        return minutes_outgoing(json.loads(stored.document), stored.text, meeting, say, meeting.language)

    async def export(self, place: Place, meeting_id: int | None, form: str) -> tuple[str, bytes]:
        """(file name, bytes) of md, json or the csv of actions."""
        if form not in FORMS:
            raise BadInput("error.export_form", forms=", ".join(FORMS))
        meeting, stored = await self._find(place, meeting_id)
        return file_of(meeting, stored, form)

    async def _find(self, place: Place, meeting_id: int | None) -> tuple[Meeting, StoredMinutes]:
        """Of this channel alone: what another channel holds, a member may not be allowed to read."""

        async def work(c: Connection) -> tuple[Meeting | None, StoredMinutes | None]:
            if meeting_id is None:
                meeting = await meetings.latest_in(c, place.guild_id, place.channel_id)
            else:
                meeting = await meetings.get(c, meeting_id, guild_id=place.guild_id)
            if meeting is None or place.channel_id not in (meeting.channel_id, meeting.thread_id):
                return None, None
            return meeting, await minutes.get(c, meeting.id, guild_id=place.guild_id)

        meeting, stored = await self._core.db.unit(work)
        if meeting is None:
            raise NoMeeting("error.no_minutes_here")
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

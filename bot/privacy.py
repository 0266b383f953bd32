"""What a person may know, refuse and take back (SPEC 6): opting out, their own data, erasing.

The database comes first, in one transaction with the minutes rendered again; what Discord still shows is
owed by rows (`store.cleanup`) until it is changed, so that no crash and no fault leaves it standing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from bot import phrases
from bot.errors import BadInput, NoMeeting, NotAllowed
from bot.facilitation.clashes import ConflictMemo, with_conflicts
from bot.facilitation.core import Core
from bot.facilitation.delivery import RETRY
from bot.facilitation.erased import shown
from bot.facilitation.meetings import Meetings
from bot.facilitation.requests import Person
from bot.facilitation.room import Room
from bot.facilitation.showing import board_now, link
from bot.meeting.ledger import fold
from bot.meeting.model import Language, Meeting, MeetingState
from bot.minutes import document as documents
from bot.minutes.message import minutes_outgoing
from bot.minutes.render import render
from bot.minutes.schema import Attendee
from bot.stage import Busy, Place, Refused, Uncertain
from bot.store import archive, cleanup, ledger, meetings, minutes, own_data, transcript
from bot.store import person as people
from bot.store.cleanup import Posted
from bot.store.engine import Connection
from bot.supervision import log_failure

TRIES = 3  # requests for one post before the caller is asked to come back
TOO_OLD_S = 600.0
IDLE_S = 30.0  # how long a generation under way is waited for
LISTS = ("messages", "reactions", "entries", "corrections", "chaired")


@dataclass(frozen=True, slots=True)
class Kept:
    """What is stored of one person on one server. `file`: all of it as JSON."""

    opted_out: bool
    counts: dict[str, int]  # by the names of `LISTS`
    transcript_days: int
    ledger_days: int | None
    models: tuple[str, ...]
    file: bytes


@dataclass(frozen=True, slots=True)
class Target:
    """A meeting that is to be erased."""

    meeting_id: int
    title: str


@dataclass(frozen=True, slots=True)
class Erased:
    """`meetings` were touched; `left`: posts that Discord does not let us take away."""

    meetings: int
    left: int = 0


class Privacy:
    """Public methods raise UserError for what people are to be told."""

    def __init__(self, core: Core, rooms: Meetings) -> None:
        self._core, self._rooms = core, rooms

    # ------------------------------------------------------------------ one's own data

    async def kept(self, guild_id: int, by: Person) -> Kept:
        core = self._core

        async def work(c: Connection) -> dict[str, Any]:
            await core.policy.load(c, guild_id)
            return await own_data.everything(c, guild_id, by.id)

        found = await core.db.unit(work)
        settings = core.policy.settings(guild_id)
        whole = {"server_id": str(guild_id), "user_id": str(by.id), **found}
        return Kept(
            opted_out=found["opted_out"],
            counts={name: len(found[name]) for name in LISTS},
            transcript_days=core.policy.transcript_days(settings),
            ledger_days=settings.ledger_days,
            models=core.models_of(guild_id),
            file=(json.dumps(whole, ensure_ascii=False, indent=2) + "\n").encode(),
        )

    async def opt_out(self, guild_id: int, by: Person) -> bool:
        """False where it was so already."""
        now = self._core.clock.now()
        return await self._core.db.unit(lambda c: transcript.opt_out(c, guild_id, by.id, now))

    async def opt_in(self, guild_id: int, by: Person, at: datetime) -> bool:
        """False where there was nothing to take back. `at`: when it was asked for, by Discord's clock."""
        return await self._core.db.unit(lambda c: transcript.opt_in(c, guild_id, by.id, at))

    # ------------------------------------------------------------------ erasing a meeting

    async def meeting_to_erase(self, place: Place, meeting_id: int | None, by: Person) -> Target:
        """The named meeting, or this channel's latest; its chair and Manage Server erase it, once closed."""

        async def work(c: Connection) -> Meeting | None:
            if meeting_id is not None:
                return await meetings.get(c, meeting_id, guild_id=place.guild_id)
            return await meetings.latest_in(c, place.guild_id, place.channel_id)

        meeting = await self._core.db.unit(work)
        if meeting is None:
            raise NoMeeting("error.erase_unknown")
        if not by.manager and by.id != meeting.chair_id:
            raise NotAllowed("error.erase_rights")
        if meeting.state is not MeetingState.CLOSED:
            raise BadInput("error.erase_open")
        return Target(meeting.id, meeting.title)

    async def erase_meeting(self, place: Place, meeting_id: int, by: Person) -> Erased:
        """Our posts first, for the rows alone know them; a transient fault leaves all to be tried again."""
        await self.meeting_to_erase(place, meeting_id, by)
        core = self._core
        meeting = await core.db.unit(lambda c: meetings.get(c, meeting_id, guild_id=place.guild_id))
        assert meeting is not None
        left = 0
        for post in await core.db.unit(lambda c: cleanup.messages(c, meeting_id)):
            try:
                left += not await self._remove(meeting, post)
            except (Busy, Uncertain) as error:
                raise BadInput("error.erase_again") from error
        await core.db.unit(lambda c: archive.erase_meeting(c, place.guild_id, meeting_id))
        self._rooms.forget(meeting_id)
        core.watch("erased", guild_id=place.guild_id, what="a meeting", meetings=1)
        return Erased(1, left)

    async def _remove(self, meeting: Meeting, post: Posted) -> bool:
        """False where Discord forbids it for good; raises Busy or Uncertain after `TRIES`."""
        for attempt in range(TRIES):
            try:
                if post.kind == "dm":
                    await self._core.stage.withdraw(meeting.chair_id, post.message_id)
                else:
                    await self._core.stage.delete(_place(meeting, post), post.message_id)
            except Refused as refused:
                return refused.reason == "gone"
            except (Busy, Uncertain) as error:
                if attempt == TRIES - 1:
                    raise
                pause = error.retry_after if isinstance(error, Busy) else RETRY[attempt]
                await self._core.clock.sleep(min(pause, RETRY[-1]), "a post to be taken away")
            else:
                return True
        return False

    # ------------------------------------------------------------------ erasing a person

    def check_person(self, user_id: int, by: Person) -> None:
        """Everybody erases themselves, Manage Server anybody."""
        if user_id != by.id and not by.manager:
            raise NotAllowed("error.erase_rights_person")

    async def erase_person(self, guild_id: int, user_id: int, by: Person) -> Erased:
        """Rows and minutes in one transaction, then the posts; what cannot be done at once `settle` does."""
        self.check_person(user_id, by)
        core = self._core
        rooms = self._rooms.rooms_of(guild_id)
        if any(room.meeting.state is MeetingState.WRITING for room in rooms):
            raise BadInput("error.erase_writing")
        waited = 0.0
        while any(room.deadlines for room in rooms) and waited < IDLE_S:
            await core.clock.sleep(0.5, "generations under way before an erasure")
            waited += 0.5
        now = core.clock.now()  # taken here: inside a unit simulated time does not reach
        touched = await self._rooms.held_still(
            rooms, lambda: core.db.unit(partial(self._forget, guild_id, user_id, now))
        )
        core.watch("erased", guild_id=guild_id, what="a person", meetings=len(touched))
        await self.settle()
        return Erased(len(touched))

    async def _forget(self, guild_id: int, user_id: int, now: datetime, c: Connection) -> tuple[int, ...]:
        before = {
            meeting_id: await minutes.get(c, meeting_id)
            for meeting_id in await people.meetings_of(c, guild_id, user_id)
        }
        erased = await people.erase_person(c, guild_id, user_id, now)
        for meeting_id in erased.minutes:
            stored = before[meeting_id]
            if stored is not None and stored.document:
                await _render_again(c, meeting_id, json.loads(stored.document), user_id)
        return erased.meetings

    # ------------------------------------------------------------------ what Discord still shows

    async def settle(self) -> None:
        """Carry out what erasures owe in Discord; what fails for now stays owed. Run again and again."""
        core = self._core
        for post in await core.db.unit(cleanup.owed) if core.has_stage else ():
            meeting = await core.db.unit(partial(meetings.get, meeting_id=post.meeting_id))
            try:
                if meeting is not None and post.owed == "remove":
                    await self._remove(meeting, post)
                elif meeting is not None:
                    await self._replace(meeting, post)
            except (Busy, Uncertain) as error:
                log_failure(f"post {post.key} of meeting {post.meeting_id} is still to be changed", error)
                continue
            await core.db.unit(partial(cleanup.done, post_id=post.post_id))

    async def _replace(self, meeting: Meeting, post: Posted) -> None:
        """The board or the minutes as the ledger has them now; where an edit is refused for good, it goes."""
        core = self._core
        if post.kind == "minutes":
            stored = await core.db.unit(lambda c: minutes.get(c, meeting.id))
            if stored is None or not stored.text:
                return
            document = json.loads(stored.document)
            fresh = minutes_outgoing(
                document, stored.text, meeting, partial(_say, meeting.language), meeting.language
            )
        else:
            room = Room(core, meeting)
            await room.reload()
            fresh = await board_now(core, room, core.clock.now())
        try:
            await core.stage.edit(_place(meeting, post), post.message_id, fresh)
        except Refused as refused:
            if refused.reason == "too_old":
                raise Busy(TOO_OLD_S) from refused  # Discord limits such edits an hour: later it may be taken
            if refused.reason != "gone":
                await self._remove(meeting, post)


def _place(meeting: Meeting, post: Posted) -> Place:
    channel = meeting.thread_id if post.thread and meeting.thread_id is not None else meeting.channel_id
    return Place(post.guild_id, channel)


def _say(language: Language, key: str, **values: object) -> str:
    return phrases.t(key, language, **values)


async def _render_again(c: Connection, meeting_id: int, old: dict[str, Any], user_id: int) -> None:
    """The minutes from the redacted ledger. Prose is left out, for it may repeat the person; attendance and
    how the minutes were made stand only in the old ones, since the transcript may be swept."""
    meeting = await meetings.get(c, meeting_id)
    assert meeting is not None
    stored = await minutes.get(c, meeting_id)
    assert stored is not None
    entries = await ledger.everything(c, meeting_id)
    frozen = [entry for entry in entries if entry.number <= len(old["ledger"])]
    made = documents.How(
        **{**old["made"], "models": tuple(old["made"]["models"]), "prose_omitted_reason": "erased"}
    )
    view = shown(with_conflicts(fold(frozen), ConflictMemo()), meeting.language)
    fresh = documents.document(
        meeting, view, (), None, made, partial(link, meeting.guild_id, meeting.channel_id)
    )
    fresh["attendance"] = [
        Attendee(**person).model_dump() for person in old["attendance"] if person["user_id"] != str(user_id)
    ]
    fresh["meeting"]["ended_at"] = old["meeting"]["ended_at"]
    fresh["panel"] = old.get("panel")
    text = render(fresh, meeting.language, partial(_say, meeting.language))
    await minutes.replace_erased(c, meeting_id, json.dumps(fresh, ensure_ascii=False), text, stored.digest)

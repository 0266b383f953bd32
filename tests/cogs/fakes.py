"""Services that record what cogs ask of them. Signatures are the real ones: a wrong call fails."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.assistant.line import Line
from bot.assistant.service import Answer
from bot.facilitation.records import PAGE, Hit, Page, Record
from bot.facilitation.requests import AgendaShown, Person, StartRequest, Status
from bot.meeting.agenda import AgendaItem, Current
from bot.meeting.model import (
    ChannelKind,
    Entry,
    EntryKind,
    Item,
    Language,
    LedgerView,
    Meeting,
    MeetingState,
    Origin,
    Speaker,
)
from bot.minutes.archive import Access
from bot.stage import Attachment, Embed, Outgoing, Place, Seen, Stage

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
END = NOW + timedelta(minutes=30)


def entry(number: int, kind: EntryKind, text: str, **more: Any) -> Entry:
    return Entry(1, number, kind, text, Origin.MARK, NOW, **more)


def item(number: int, kind: EntryKind, text: str, status: str, **more: Any) -> Item:
    made = entry(number, kind, text)
    return Item(made, number, made, status, **more)


LEDGER = LedgerView(
    items=(
        item(1, EntryKind.CONSTRAINT, "予算は100万円以内", "live"),
        item(2, EntryKind.DECISION, "価格は980円", "unconfirmed"),
        item(3, EntryKind.DECISION, "出荷は5月", "confirmed"),
        item(4, EntryKind.QUESTION, "誰が審査するか", "open"),
        item(5, EntryKind.ACTION, "見積もりを取る", "live", owner="佐藤", due="2026-12-05"),
        item(6, EntryKind.DECISION, "古い決定", "replaced", replaced_by=2),
        item(7, EntryKind.NOTE, "@everyone **大事**", "live"),
    )
)


class RecordingMeetings:
    """`calls` holds (method, arguments); `failing` maps a method to what it raises."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.failing: dict[str, BaseException] = {}
        self.view = LEDGER
        self.held = True  # whether a meeting is held where messages come from

    def _note(self, name: str, *arguments: Any) -> None:
        self.calls.append((name, arguments))
        if name in self.failing:
            raise self.failing[name]

    def named(self, name: str) -> list[tuple[Any, ...]]:
        return [arguments for called, arguments in self.calls if called == name]

    def meeting(self, request: StartRequest | None = None) -> Meeting:
        return Meeting(
            id=1,
            guild_id=1,
            channel_id=2,
            channel_kind=request.channel_kind if request else ChannelKind.TEXT,
            title=request.title if request else "**値段** <@1>",
            language="ja",
            timezone="Asia/Tokyo",
            chair_id=3,
            chair_name="@everyone",
            agenda=(),
            started_at=NOW - timedelta(minutes=30),
            planned_end=END,
            state=MeetingState.OPEN,
        )

    async def start(self, request: StartRequest) -> Meeting:
        self._note("start", request)
        return self.meeting(request)

    async def receive(self, place: Place, seen: Seen) -> bool:
        self._note("receive", place, seen)
        return self.held

    async def edited(self, place: Place, message_id: int, text: str, at: datetime) -> None:
        self._note("edited", place, message_id, text, at)

    async def deleted(self, place: Place, message_ids: Sequence[int], at: datetime) -> None:
        self._note("deleted", place, message_ids, at)

    async def reacted(self, place: Place, message_id: int, person: Person, emoji: str, added: bool) -> None:
        self._note("reacted", place, message_id, person, emoji, added)

    async def typing(self, place: Place, person: Person) -> None:
        self._note("typing", place, person)

    async def end(self, place: Place, by: Person, *, now: bool, interaction_id: int | None) -> None:
        self._note("end", place, by, now, interaction_id)

    async def close_now(self, meeting_id: int, by: Person, interaction_id: int | None) -> None:
        self._note("close_now", meeting_id, by, interaction_id)

    async def keep_going(self, meeting_id: int, by: Person, interaction_id: int | None) -> None:
        self._note("keep_going", meeting_id, by, interaction_id)

    async def extend(
        self, where: Place | int, by: Person, minutes: int, interaction_id: int | None
    ) -> datetime:
        self._note("extend", where, by, minutes, interaction_id)
        return END

    async def correct(
        self, meeting_id: int, by: Person, text: str, interaction_id: int | None
    ) -> list[Entry]:
        self._note("correct", meeting_id, by, text, interaction_id)
        return [entry(9, EntryKind.DECISION, "価格は1,080円"), entry(10, EntryKind.RETRACTION, "")]

    async def record(
        self, place: Place, seen: Seen, kind: EntryKind, by: Person, interaction_id: int | None
    ) -> Entry:
        self._note("record", place, seen, kind, by, interaction_id)
        return entry(8, kind, seen.text)

    async def status(self, place: Place) -> Status:
        self._note("status", place)
        speakers = (Speaker(3, "@everyone", 3, 75), Speaker(4, "佐藤_花子_", 1, 25))
        return Status(self.meeting(), self.view, speakers, NOW)

    async def ledger(self, place: Place) -> LedgerView:
        self._note("ledger", place)
        return self.view

    async def revise(
        self, place: Place, number: int, text: str, by: Person, interaction_id: int | None
    ) -> Entry:
        self._note("revise", place, number, text, by, interaction_id)
        return entry(9, EntryKind.REVISION, text)

    async def retract(self, place: Place, number: int, by: Person, interaction_id: int | None) -> Entry:
        self._note("retract", place, number, by, interaction_id)
        return entry(9, EntryKind.RETRACTION, "")

    async def answer(
        self, place: Place, number: int, text: str, by: Person, interaction_id: int | None
    ) -> Entry:
        self._note("answer", place, number, text, by, interaction_id)
        return entry(9, EntryKind.ANSWER, text)

    async def assign(
        self,
        place: Place,
        number: int,
        owner: str | None,
        due: str | None,
        by: Person,
        interaction_id: int | None,
    ) -> Entry:
        self._note("assign", place, number, owner, due, by, interaction_id)
        return entry(9, EntryKind.REVISION, "見積もりを取る", owner=owner, due=due)

    async def confirm(
        self, place: Place, number: int | None, by: Person, interaction_id: int | None
    ) -> list[Entry]:
        self._note("confirm", place, number, by, interaction_id)
        return [entry(9, EntryKind.CONFIRMATION, ""), entry(10, EntryKind.CONFIRMATION, "")]

    async def language_of(self, place: Place) -> Language:
        self._note("language_of", place)
        return "ja"

    async def agenda(self, place: Place) -> AgendaShown:
        self._note("agenda", place)
        items = (AgendaItem("**価格**", 10), AgendaItem("公開日"))
        return AgendaShown(items, (10.0, 20.0), Current("公開日", NOW, 1, 20.0, 3), NOW)

    async def agenda_add(self, place: Place, line: str) -> AgendaShown:
        self._note("agenda_add", place, line)
        return await self.agenda(place)

    async def agenda_move(self, place: Place, number: int, to: int) -> AgendaShown:
        self._note("agenda_move", place, number, to)
        return await self.agenda(place)

    async def agenda_drop(self, place: Place, number: int) -> AgendaShown:
        self._note("agenda_drop", place, number)
        return AgendaShown((), (), None, NOW)

    async def agenda_minutes(self, place: Place, number: int, minutes: int | None) -> AgendaShown:
        self._note("agenda_minutes", place, number, minutes)
        return await self.agenda(place)

    async def agenda_next(self, place: Place, by: Person, interaction_id: int | None) -> AgendaShown:
        self._note("agenda_next", place, by, interaction_id)
        return await self.agenda(place)

    async def hand_over(self, place: Place, by: Person, to: Person, interaction_id: int | None) -> None:
        self._note("hand_over", place, by, to, interaction_id)

    async def join(self, meeting_id: int, by: Person) -> bool:
        self._note("join", meeting_id, by)
        return len(self.named("join")) == 1

    async def replace_past(self, meeting_id: int, message_id: int, by: Person) -> Entry:
        self._note("replace_past", meeting_id, message_id, by)
        return entry(9, EntryKind.NOTE, "置き換え")

    async def done(self, place: Place, number: int, by: Person, interaction_id: int | None) -> Entry:
        self._note("done", place, number, by, interaction_id)
        return entry(9, EntryKind.ANSWER, "")

    async def recover(self) -> None:
        self._note("recover")


class RecordingMinutes:
    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    async def show(self, place: Place, meeting_id: int | None, by: Person, access: Access) -> Outgoing:
        self.calls.append(("show", place, meeting_id, by))
        return Outgoing(
            "議事録", embeds=(Embed(title="決定事項"),), files=(Attachment("minutes.md", b"# m"),)
        )

    async def export(
        self, place: Place, meeting_id: int | None, form: str, by: Person, access: Access
    ) -> tuple[str, bytes]:
        self.calls.append(("export", place, meeting_id, form, by))
        return f"minutes.{form}", b"x"

    async def kept(self, guild_id: int, by: Person, access: Access) -> list[Meeting]:
        self.calls.append(("kept", guild_id, by))
        return []


class RecordingRecords:
    """Finds what `hits` and `held` hold, whoever asks; `calls` says which channels were named as readable."""

    def __init__(self, meetings: RecordingMeetings) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self._meetings = meetings
        self.hits: list[Hit] = []
        self.held: list[Meeting] = []
        self.closed = False

    async def latest(self, place: Place) -> Record:
        self.calls.append(("latest", place))
        meeting = self._meetings.meeting()
        state = MeetingState.CLOSED if self.closed else MeetingState.OPEN
        return Record(replace(meeting, state=state), self._meetings.view)

    async def search(self, guild_id: int, query: str, channel_ids: Collection[int]) -> list[Hit]:
        self.calls.append(("search", guild_id, query, channel_ids))
        return self.hits

    async def page(self, guild_id: int, channel_ids: Collection[int], number: int) -> Page:
        self.calls.append(("page", guild_id, channel_ids, number))
        pages = max(1, -(-len(self.held) // PAGE))
        at = min(max(0, number), pages - 1)
        return Page(tuple(self.held[at * PAGE : (at + 1) * PAGE]), at, pages, len(self.held))

    async def closed_here(self, place: Place) -> list[Meeting]:
        self.calls.append(("closed_here", place))
        return self.held

    async def amend(
        self, place: Place, meeting_id: int | None, by: Person, text: str, interaction_id: int
    ) -> tuple[Meeting, list[Entry]]:
        self.calls.append(("amend", place, meeting_id, by, text, interaction_id))
        return self._meetings.meeting(), []


class RecordingChat:
    def __init__(self) -> None:
        self.calls: list[tuple[Line, Seen]] = []

    async def receive(self, line: Line, seen: Seen) -> None:
        self.calls.append((line, seen))


class RecordingAssistant:
    def __init__(self, meetings: RecordingMeetings) -> None:
        self._meetings = meetings

    async def ask(self, place: Place, by: Person, question: str, channels: Collection[int]) -> Answer:
        self._meetings._note("ask", place, by, question, channels)
        return Answer("980円です。", "ja", (), (), "first")


class RecordingApp:
    def __init__(self, digest: str | None = None) -> None:
        self.meetings = RecordingMeetings()
        self.minutes = RecordingMinutes()
        self.records = RecordingRecords(self.meetings)
        self.assistant = RecordingAssistant(self.meetings)
        self.chat = RecordingChat()
        self.stage: Stage | None = None
        self.digest = digest

    def attach(self, stage: Stage) -> None:
        self.stage = stage

    async def synced_commands(self) -> str | None:
        return self.digest

    async def remember_commands(self, digest: str) -> None:
        self.digest = digest

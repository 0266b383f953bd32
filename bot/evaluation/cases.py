"""Scenarios of `ketsugi eval`: a room at one moment, what is asked of the model there, and which rules it
tempts.

data/scenarios/eval/<language>.jsonl: lines with the key "room" describe a room under a name; lines with the
key "case" take a room (`in`), may override any of its fields, append `lines` to its own, and add the
moment. Each case carries texts for the scripted doubles (`bot.evaluation.scripted`): `good`, and `bad` ones
with the rules they break.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.clock import Clock, Now
from bot.errors import ConfigError
from bot.facilitation import recording
from bot.facilitation.core import Core, Limits
from bot.facilitation.room import Room
from bot.facilitation.thinking import Material
from bot.guard.generator import Generator
from bot.meeting import ledger
from bot.meeting.model import (
    LANGUAGES,
    ChannelKind,
    Entry,
    EntryKind,
    Language,
    Meeting,
    MeetingState,
    Message,
    NewEntry,
    Origin,
    OwnPost,
    Persona,
    Phase,
    Route,
)
from bot.models.base import Model
from bot.panel.roles import TURNS_USUAL, Panel, Role, author_id
from bot.phrases import DATA
from bot.store.engine import Database

FOLDER = DATA / "scenarios" / "eval"
START = datetime(2026, 9, 1, 4, 0, tzinfo=UTC)  # 13:00 in Tokyo
FIRST_PERSON_ID, FIRST_MESSAGE_ID = 101, 1001


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Spoken(_Strict):
    """One line of the room: of a person (`who`), or of the bot (`own`: its persona). `at` in minutes."""

    at: float
    say: str
    who: str = ""
    own: Persona | None = None
    route: Route = Route.TURN
    reply_to: int | None = None  # index of an earlier line


class Told(_Strict):
    """One answer of a scripted double. `breaks` names the rules that it breaks in this room, and no
    others."""

    say: str
    phase: Phase = Phase.DISCUSSING
    closing_complete: bool = False
    breaks: tuple[str, ...] = ()
    times: int = 1  # the text so often in a row, for texts whose length is the point

    @property
    def text(self) -> str:
        return self.say * self.times


class Case(_Strict):
    """A room at one moment. `at` is minutes since the start; `unread` the newest messages not yet read."""

    case: str
    language: Language
    route: Route
    tempts: tuple[str, ...]
    title: str
    chair: str
    minutes: int = 60
    agenda: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    lines: tuple[Spoken, ...] = ()
    at: float
    state: MeetingState = MeetingState.OPEN
    phase: Phase = Phase.DISCUSSING
    unread: int = 1
    request: str | None = None
    notice: int | None = None
    addressed: bool = False
    why: str = ""
    roles: tuple[tuple[str, str], ...] = ()  # of a panel: names and standpoints
    speaks: int = 0  # the role whose turn it is
    good: Told
    bad: tuple[Told, ...] = Field(min_length=1)

    @property
    def now(self) -> datetime:
        return START + timedelta(minutes=self.at)


def load(language: Language | None = None, rules: Sequence[str] = (), folder: Path = FOLDER) -> list[Case]:
    """The shipped cases, of one language and tempting one of `rules` where these are given.

    Raises ConfigError naming file, line and reason.
    """
    found: list[Case] = []
    for spoken in LANGUAGES if language is None else (language,):
        found += _read(folder / f"{spoken}.jsonl", spoken)
    names = [case.case for case in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ConfigError(f"{folder}: two scenarios are called {sorted(twice)[0]}")
    return [case for case in found if not rules or set(rules) & set(case.tempts)]


def _read(path: Path, language: Language) -> list[Case]:
    rooms: dict[str, dict[str, Any]] = {}
    cases: list[Case] = []
    for number, raw in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if not raw.strip():
            continue
        try:
            value = json.loads(raw)
            if "room" in value:
                rooms[value.pop("room")] = value
                continue
            room = rooms[value.pop("in")]
            lines = [*(() if value.pop("fresh", False) else room.get("lines", ())), *value.pop("lines", ())]
            whole = {**room, **value, "lines": lines, "language": language}
            cases.append(Case.model_validate({**whole, "case": f"{language}/{value['case']}"}))
        except (ValueError, KeyError, ValidationError) as error:
            raise ConfigError(f"{path}:{number}: {error}") from error
    return cases


def generator(model: Model, now: Now) -> Generator:
    return Generator(lambda route: model, Clock(now))


def core_of(model: Model, now: datetime, patience: float = 1.0) -> Core:
    """Services for one case: the real generator over `model`, the clock standing at `now`, a store never
    opened.

    `patience`: deadlines so many times the product's, for a model whose machine is the slow part.
    """
    return Core(
        db=Database("sqlite+aiosqlite:///:memory:"),
        clock=Clock(lambda: now),
        generator=generator(model, lambda: now),
        salt=bytes,
        owner="evaluation",
        limits=Limits(Limits().deadline_s * patience, patience=patience),
        model_name=lambda route: model.name,
        degraded=lambda: False,
    )


def open_room(
    core: Core,
    *,
    title: str,
    language: Language,
    chair: str,
    minutes: int,
    agenda: tuple[str, ...],
    constraints: tuple[str, ...],
    people: dict[str, int],
    meeting_id: int = 1,
) -> Room:
    """A meeting that began at START, its constraints in the ledger, nothing said yet."""
    meeting = Meeting(
        id=meeting_id,
        guild_id=1,
        channel_id=2,
        channel_kind=ChannelKind.TEXT,
        title=title,
        language=language,
        timezone="Asia/Tokyo" if language == "ja" else "UTC",
        chair_id=people[chair],
        chair_name=chair,
        agenda=agenda,
        started_at=START,
        planned_end=START + timedelta(minutes=minutes),
        state=MeetingState.OPEN,
    )
    room = Room(core, meeting)
    put(room, _constraints(meeting, constraints), START)
    return room


def stand(case: Case, core: Core, meeting_id: int = 1) -> tuple[Room, Material]:
    """The room as it stands in `case`, its ledger made from constraints and marks as the product makes it."""
    people = _people(case)
    room = open_room(
        core,
        title=case.title,
        language=case.language,
        chair=case.chair,
        minutes=case.minutes,
        agenda=case.agenda,
        constraints=case.constraints,
        people=people,
        meeting_id=meeting_id,
    )
    if case.roles:
        roles = tuple(Role(name, standpoint) for name, standpoint in case.roles)
        room.panel = Panel(meeting_id, room.meeting.guild_id, roles, TURNS_USUAL, START)
    lines = [_line(case, people, index) for index in range(len(case.lines))]
    said = [line for line in lines if isinstance(line, Message)]
    for message in said:
        hear(room, message)
    unread = tuple(said[-case.unread :]) if case.unread else ()
    read = said[: len(said) - len(unread)]
    room.meeting = replace(
        room.meeting,
        state=case.state,
        model_phase=case.phase,
        closing_since=None if case.state is MeetingState.OPEN else case.now,
        cursor=read[-1].message_id if read else 0,
    )
    own = tuple(line for line in lines if isinstance(line, OwnPost))
    return room, Material(unread, tuple(lines), own)


def hear(room: Room, message: Message) -> None:
    """Count a message and record its marks, as the product does on arrival."""
    room.heard(message)
    entries = recording.from_panelist if message.by_panel else recording.from_message
    put(room, entries(room.meeting, message, room.view, room.names), message.at)


def put(room: Room, entries: Sequence[NewEntry], at: datetime) -> None:
    """Number entries and add them to the room's ledger; a source key that is there already adds nothing."""
    known = {e.source_key for e in room.entries}
    for new in entries:
        if new.source_key in known:
            continue
        known.add(new.source_key)
        values = {name: getattr(new, name) for name in NewEntry.__dataclass_fields__}
        room.entries.append(Entry(meeting_id=room.id, number=len(room.entries) + 1, at=at, **values))
    room.view = ledger.fold(room.entries)


def _people(case: Case) -> dict[str, int]:
    names = dict.fromkeys((case.chair, *(line.who for line in case.lines if line.who)))
    panelists = {Role(*role).shown: author_id(number) for number, role in enumerate(case.roles)}
    return {name: FIRST_PERSON_ID + index for index, name in enumerate(names)} | panelists


def _constraints(meeting: Meeting, texts: Sequence[str]) -> list[NewEntry]:
    return [
        NewEntry(
            EntryKind.CONSTRAINT, text, f"start:{n}", Origin.START, meeting.chair_id, meeting.chair_name, text
        )
        for n, text in enumerate(texts)
    ]


def _line(case: Case, people: dict[str, int], index: int) -> Message | OwnPost:
    spoken = case.lines[index]
    message_id, at = FIRST_MESSAGE_ID + index, START + timedelta(minutes=spoken.at)
    if spoken.own is not None:
        return OwnPost(message_id, spoken.own, spoken.route, spoken.say, at)
    replied = None if spoken.reply_to is None else FIRST_MESSAGE_ID + spoken.reply_to
    return Message(1, message_id, people[spoken.who], spoken.who, spoken.say, at, replied)

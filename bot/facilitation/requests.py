"""What people ask of a meeting and what they are shown of it, as values both sides import."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.meeting.agenda import AgendaItem, Current
from bot.meeting.model import ChannelKind, LedgerView, Meeting, Speaker
from bot.panel.roles import Plan
from bot.stage import Place


@dataclass(frozen=True, slots=True)
class Person:
    """Who acts, with the rights they hold at the moment of the act (Discord may take them away any time)."""

    id: int
    name: str  # as shown in the server; "" where the event does not tell (a removed reaction)
    manager: bool  # holds Manage Server
    roles: tuple[int, ...] = ()  # the server's own role for everyone has the server's id


@dataclass(frozen=True, slots=True)
class StartRequest:
    """A wish to start a meeting. `minutes` is its planned length, `language` None means the server's."""

    place: Place
    channel_kind: ChannelKind
    by: Person
    title: str
    agenda: tuple[str, ...]
    constraints: tuple[str, ...]
    minutes: int
    language: str | None
    interaction_id: int | None  # the same interaction never starts two meetings
    carry: bool = True  # take over what the channel's last meeting left open
    parent_id: int | None = None  # the channel of a public thread or forum post
    panel: Plan | None = None  # AI participants discuss; checked already


@dataclass(frozen=True, slots=True)
class Status:
    """What `/meeting status` shows: the state at the moment `now`, speakers most talkative first."""

    meeting: Meeting
    ledger: LedgerView
    speakers: tuple[Speaker, ...]
    now: datetime


@dataclass(frozen=True, slots=True)
class AgendaShown:
    """The agenda as it stands: items with their shares in minutes, and which one is on since when."""

    items: tuple[AgendaItem, ...]
    shares: tuple[float, ...]
    current: Current | None
    now: datetime

"""The nouns of a meeting (SPEC section 1). Pure values: no I/O, no clock.

All moments are timezone-aware UTC datetimes. Discord ids are plain ints (snowflakes).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from bot.meeting.citing import Passage

Language = Literal["ja", "en"]
LANGUAGES: tuple[Language, ...] = ("ja", "en")


class MeetingState(StrEnum):
    """Where a meeting stands; transitions in `meeting.lifecycle`."""

    STARTING = "starting"  # row exists, kickoff not yet visible
    OPEN = "open"
    CLOSING = "closing"  # a wish to end is stored, the read-back is not yet out
    READ_BACK = "read_back"  # read-back posted, objection window runs
    WRITING = "writing"  # window over: goodbye and minutes are due
    CLOSED = "closed"  # minutes are published (or kept, where no place is left)


class Phase(StrEnum):
    """The phase the *model* believes in (REHEARSAL.md, answer types)."""

    OPENING = "OPENING"
    DISCUSSING = "DISCUSSING"
    CONVERGING = "CONVERGING"
    CLOSING = "CLOSING"


class Activity(StrEnum):
    """How much the facilitator speaks unprompted (SPEC 2.3)."""

    QUIET = "quiet"
    NORMAL = "normal"
    ACTIVE = "active"


class Persona(StrEnum):
    FACILITATOR = "facilitator"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    PANEL = "panel"  # an AI participant, under a name of its own


class Route(StrEnum):
    """Kind of a generation (SPEC 1), recorded with it; the generator never branches on it."""

    OPENING = "opening"
    TURN = "turn"
    TIME_NOTICE = "time_notice"
    CLOSING = "closing"
    MINUTES = "minutes"
    HAND_OFF = "hand_off"
    ASK = "ask"
    CHAT = "chat"
    PANEL = "panel"


class ChannelKind(StrEnum):
    TEXT = "text"
    THREAD = "thread"
    FORUM_POST = "forum"
    VOICE = "voice"


class EntryKind(StrEnum):
    CONSTRAINT = "constraint"
    PROPOSAL = "proposal"
    VOTE = "vote"
    DECISION = "decision"
    QUESTION = "question"
    ACTION = "action"
    NOTE = "note"
    TOPIC = "topic"  # the agenda item that is being talked about from here on
    ANSWER = "answer"
    REVISION = "revision"
    RETRACTION = "retraction"
    CONFIRMATION = "confirmation"
    OBJECTION = "objection"


class Origin(StrEnum):
    """How an entry came about. Everything but MODEL and PANEL is a person's own act and needs no confirmation."""

    START = "start"
    MARK = "mark"
    MODEL = "model"
    COMMAND = "command"
    MENU = "menu"
    BUTTON = "button"
    REACTION = "reaction"
    EDIT = "edit"
    DELETE = "delete"
    PANEL = "panel"  # from words of an AI participant, by mark or by a model

    @property
    def by_person(self) -> bool:
        return self not in (Origin.MODEL, Origin.PANEL)


def is_panelist(author_id: int | None) -> bool:
    """AI participants have the ids -1, -2 ...; ids of Discord are above 0, and 0 is an erased author."""
    return author_id is not None and author_id < 0


@dataclass(frozen=True, slots=True)
class Meeting:
    id: int
    guild_id: int
    channel_id: int
    channel_kind: ChannelKind
    title: str
    language: Language
    timezone: str  # IANA name, the server's
    chair_id: int
    chair_name: str
    agenda: tuple[str, ...]
    started_at: datetime
    planned_end: datetime
    state: MeetingState
    activity: Activity = Activity.NORMAL
    kickoff_message_id: int | None = None  # the board
    thread_id: int | None = None  # where minutes are posted
    model_phase: Phase = Phase.OPENING
    cursor: int = 0  # id of the last message that a model (or the offline engine) has read for entries
    closing_since: datetime | None = None  # the latch: set by the wish to end, cleared only by cancelling
    wish_quote: str | None = None
    wish_by: int | None = None
    close_at: datetime | None = None  # READ_BACK: when it closes by itself
    quiet_asked_at: datetime | None = None  # the "still going?" of 30 quiet minutes, once
    closed_at: datetime | None = None
    agenda_minutes: tuple[int | None, ...] = ()  # planned minutes, one an agenda item; None = its even share
    parent_id: int | None = None  # the channel a public thread or forum post belongs to

    @property
    def closing(self) -> bool:
        """SPEC 1: true from the wish to end until the minutes."""
        return self.closing_since is not None


class Late(IntEnum):
    """Of a message that came in after later ones had been dealt with: what was missed and read much later."""

    NO = 0
    WAITING = 1  # no turn has dealt with it
    ANSWERED = 2  # a turn has, but no model could read it


@dataclass(frozen=True, slots=True)
class Message:
    """One message as stored: a person's, or an AI participant's (other bots are never stored)."""

    meeting_id: int
    message_id: int
    author_id: int
    author_name: str
    text: str
    at: datetime
    reply_to: int | None = None
    edited_at: datetime | None = None
    deleted_at: datetime | None = None
    late: Late = Late.NO

    @property
    def by_panel(self) -> bool:
        return is_panelist(self.author_id)


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry before the ledger numbered it.

    `source_key` makes recording idempotent within a meeting: the same key is never stored twice
    (marks: "m:<message id>:<line>", model: "g:<message id of quote>:<kind>:<hash>", commands: "i:<interaction id>").
    """

    kind: EntryKind
    text: str
    source_key: str
    origin: Origin
    author_id: int | None = None
    author_name: str = ""
    quote: str = ""
    message_id: int | None = None
    refers_to: int | None = None  # number of the entry this one replaces, answers, votes on, confirms
    owner: str | None = None  # of a revision: None = as before, "" = nobody any more; `due` likewise
    due: str | None = None  # ISO date, or the words as said where they name no date
    value: float | None = None  # vote: -1..+1; decision: -1.0 = decided against (#rejected)


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the append-only ledger; numbers count from 1 within the meeting."""

    meeting_id: int
    number: int
    kind: EntryKind
    text: str
    origin: Origin
    at: datetime
    author_id: int | None = None
    author_name: str = ""
    quote: str = ""
    message_id: int | None = None
    refers_to: int | None = None
    owner: str | None = None
    due: str | None = None
    value: float | None = None
    source_key: str = ""
    redacted: bool = False
    digest: str = ""  # hex SHA-256, chained (SPEC 4)


@dataclass(frozen=True, slots=True)
class OwnPost:
    """A post of the bot as history needs it."""

    message_id: int
    persona: Persona
    route: Route | None
    text: str
    at: datetime
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Speaker:
    """What participation knows of one person (SPEC: talk share)."""

    user_id: int
    name: str
    messages: int = 0
    characters: int = 0
    last_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Vote:
    voter_id: int
    voter_name: str
    value: float
    words: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One live (or once live) thing of the ledger after folding (`meeting.ledger.fold`).

    status: decision: "confirmed" | "unconfirmed" | "replaced" | "retracted";
    question: "open" | "answered" | "retracted" | "replaced"; action: "live" | "done" | "replaced" | "retracted";
    constraint, note, topic: "live" | "replaced" | "retracted"; proposal: "open" | "decided" | "retracted" | "replaced".
    """

    entry: Entry  # the newest wording (a revision's text with the original's kind)
    number: int  # number of the entry whose wording is current (the revision's own number)
    original: Entry
    status: str
    history: tuple[Entry, ...] = ()  # older wordings, oldest first
    owner: str | None = None
    due: str | None = None
    answers: tuple[Entry, ...] = ()
    positions: tuple[str, ...] = ()  # question: the stands people took ("name: words")
    votes: tuple[Vote, ...] = ()
    confirmed_by: tuple[str, ...] = ()
    objections: tuple[Entry, ...] = ()
    replaced_by: int | None = None
    conflicts_with: tuple[int, ...] = ()

    @property
    def kind(self) -> EntryKind:
        return self.original.kind

    @property
    def text(self) -> str:
        return self.entry.text

    @property
    def live(self) -> bool:
        return self.status not in ("replaced", "retracted")

    @property
    def panels(self) -> bool:
        """The panel's wording, for which no person stands yet."""
        return self.entry.origin is Origin.PANEL and not self.confirmed_by

    @property
    def waits(self) -> bool:
        """Whether a person's confirmation changes anything: an unconfirmed decision, or whatever the panel made."""
        return self.live and (self.status == "unconfirmed" or self.panels)


@dataclass(frozen=True, slots=True)
class LedgerView:
    """The ledger folded: what holds now. Tuples are in order of first number."""

    items: tuple[Item, ...] = ()
    entries: tuple[Entry, ...] = ()

    def of(self, kind: EntryKind, *, live: bool = True) -> tuple[Item, ...]:
        return tuple(i for i in self.items if i.kind is kind and (i.live or not live))

    @property
    def constraints(self) -> tuple[Item, ...]:
        return self.of(EntryKind.CONSTRAINT)

    @property
    def decisions(self) -> tuple[Item, ...]:
        return self.of(EntryKind.DECISION)

    @property
    def open_questions(self) -> tuple[Item, ...]:
        return tuple(i for i in self.of(EntryKind.QUESTION) if i.status == "open")

    @property
    def actions(self) -> tuple[Item, ...]:
        return self.of(EntryKind.ACTION)

    @property
    def open_proposals(self) -> tuple[Item, ...]:
        return tuple(i for i in self.of(EntryKind.PROPOSAL) if i.status == "open")

    def item(self, number: int) -> Item | None:
        """The item that entry `number` belongs to (as original, revision, vote, answer ...), or None."""
        for i in self.items:
            if number in (i.number, i.original.number) or any(h.number == number for h in i.history):
                return i
        return None


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything a generation may know of a meeting at one moment, as values.

    The prompt builder turns it into text for a provider; the offline engine reads it directly;
    guard rules take from it what the record holds.
    """

    route: Route
    meeting: Meeting
    now: datetime
    ledger: LedgerView
    history: tuple[Message | OwnPost, ...] = ()  # oldest first, unread included
    unread: tuple[Message, ...] = ()  # not yet read for entries, oldest first
    speakers: tuple[Speaker, ...] = ()  # most talkative first
    addressed_by: Message | None = None  # the message that waits for an answer
    question: str | None = None  # what was asked (ask, chat, hand_off)
    notice_minutes: int | None = None  # time_notice: minutes left, 0 = time up, negative = over
    quiet_people: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()  # who takes part and has not written anything yet
    request: str | None = (
        None  # what this generation is for, beyond its route ("opening", "read_back", "goodbye" ...)
    )
    extra: dict[str, str] = field(default_factory=dict)
    passages: tuple[Passage, ...] = ()  # what an answer may rest on (ask, hand_off, chat)

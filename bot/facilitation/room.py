"""One open meeting in memory: a cache of rows, and what is due next. Everything here can be rebuilt from the store."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot import phrases
from bot.clock import Deadline
from bot.errors import StoreError
from bot.facilitation import carry
from bot.facilitation.addressing import waits_for_answer
from bot.facilitation.clashes import ConflictMemo, with_conflicts
from bot.facilitation.core import Change, Core
from bot.facilitation.erased import shown
from bot.meeting import agenda, participation, replies
from bot.meeting import ledger as folding
from bot.meeting.model import (
    Entry,
    Item,
    Late,
    LedgerView,
    Meeting,
    MeetingState,
    Message,
    Speaker,
    is_panelist,
)
from bot.meeting.schedule import BOARD_EVERY, RoomState, Step, next_step
from bot.panel import order
from bot.panel.roles import Panel
from bot.stage import Outgoing, Place
from bot.store import ledger, meetings, overview, panels, transcript
from bot.store.engine import Connection

KEY_OPENING, KEY_GOODBYE, KEY_MINUTES, KEY_KICKOFF = "opening", "goodbye", "minutes", "kickoff"
GAP_HOLDS = timedelta(seconds=15)  # so long a room waits for a gap to be read: nobody may wait 25 s for it
GAP_KEEPS_OPEN = timedelta(minutes=2)  # so much longer a read-back waits for the objections in it


@dataclass
class Pending:
    """The burst of messages that waits to be handled in a turn."""

    first_at: datetime
    last_at: datetime
    urgent: bool = False


@dataclass
class Room:
    core: Core
    meeting: Meeting
    entries: list[Entry] = field(default_factory=list)
    view: LedgerView = field(default_factory=LedgerView)
    speakers: dict[int, Speaker] = field(default_factory=dict)
    own_ids: set[int] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)  # outbox keys that exist
    fired: set[tuple[datetime, int]] = field(default_factory=set)
    pending: Pending | None = None
    handled_to: int = 0  # newest message that a turn has dealt with, whether or not a model could read it
    assist: list[str] = field(
        default_factory=list
    )  # outbox keys of posts whose hand-off waits for the assistant
    deliver_at: datetime | None = None
    react_at: datetime | None = None  # set: reactions that could not be put are tried again then, none before
    react_tries: int = 0
    puts: int = 0  # outbox rows put so far, so that a delivery sees what came in meanwhile
    tries: int = 0
    typing_until: datetime | None = None
    last_human_at: datetime | None = None
    present_at: datetime | None = None  # when somebody last wrote of whom nothing is stored
    human_count: int = 0
    unprompted_count: int | None = None  # human messages when the facilitator last spoke unprompted
    unprompted_at: datetime | None = None
    substance: int = 0  # messages of substance since the read-back
    draft_done: bool = False
    minutes_sent: bool = False
    board_last: Outgoing | None = None
    board_dirty: bool = True
    board_edited_at: datetime | None = None
    board_message_id: int | None = None
    board_owed: bool = False  # a new message for the board is in the outbox
    read_back_id: int | None = None  # the newest read-back, once people can see it
    retention_days: int = 90
    progress: str | None = None  # what the board says while minutes are written
    unreachable: str | None = None
    gap: bool = False  # the channel's history has yet to be read for what was missed
    gap_tries: int = 0
    gap_at: datetime | None = None  # when reading it is tried again
    gap_until: datetime | None = None  # when the room goes on without it
    gaps: int = 0  # opened so far, so that a reading sees what was missed while it went on
    whole: bool = False  # nothing was missed since the channel was last read, or the kickoff
    newest_id: int = 0  # of the messages that this process has heard ...
    newest_before: int = 0  # ... and the same at the last sweep
    stale: bool = False
    write: asyncio.Lock = field(default_factory=asyncio.Lock)
    deadlines: set[Deadline] = field(default_factory=set)  # of the generations under way
    failures: int = 0
    era: int = 0  # counts erasures: what was thought up before one is not to be stored or said after it
    joined: dict[int, str] = field(default_factory=dict)  # by a reaction to the board, or its button
    board_ids: set[int] = field(default_factory=set)  # every message that was the board
    carried: dict[int, str] = field(default_factory=dict)  # links of what came over from the last meeting
    asked: dict[int, list[datetime]] = field(default_factory=dict)  # when quiet people were brought in
    checked: set[int] = field(default_factory=set)  # decisions held against those of past meetings
    memo: ConflictMemo = field(default_factory=ConflictMemo)
    panel: Panel | None = None
    panel_turns: list[order.Turn] = field(default_factory=list)
    panel_cost: float = 0.0  # US dollars, as last counted, and the same as the board says it
    panel_bill: str = ""
    people_at: datetime | None = None  # when a person last wrote; `last_human_at` counts panelists too

    @property
    def id(self) -> int:
        return self.meeting.id

    @property
    def place(self) -> Place:
        return Place(self.meeting.guild_id, self.meeting.channel_id)

    @property
    def names(self) -> list[str]:
        """Everybody the record knows by name."""
        named = {self.meeting.chair_name, *self.participants.values()}
        if self.panel is not None:  # people call a role by its bare name
            named |= {name for role in self.panel.roles for name in (role.name, role.shown)}
        return sorted(named | {i.owner for i in self.view.items if i.owner})

    @property
    def expected(self) -> list[str]:
        """Everybody who might speak up: a panel's roles have their turns anyway."""
        if self.panel is None:
            return self.names
        people = {self.meeting.chair_name, *(n for user, n in self.participants.items() if user > 0)}
        roles = {name for role in self.panel.roles for name in (role.name, role.shown)}
        return [name for name in self.names if name in people or name not in roles]

    @property
    def ranked_speakers(self) -> tuple[Speaker, ...]:
        return tuple(sorted(self.speakers.values(), key=lambda s: (-s.characters, s.user_id)))

    @property
    def holding(self) -> bool:
        """Nothing is thought, closed or written while what was missed may still be read: it may change all of it."""
        if not self.gap or self.gap_until is None or self.meeting.state is MeetingState.STARTING:
            return False
        return self.core.clock.now() < self.gap_until

    @property
    def participants(self) -> dict[int, str]:
        """Who spoke or joined, by name."""
        return {**self.joined, **{person: s.name for person, s in self.speakers.items()}}

    @property
    def attendees(self) -> tuple[Speaker, ...]:
        """Speakers, then who only joined."""
        silent = [Speaker(p, name) for p, name in self.joined.items() if p not in self.speakers]
        return (*self.ranked_speakers, *silent)

    @property
    def one_person(self) -> bool:
        return self.panel is None and len(self.participants) <= 1

    @property
    def unchecked(self) -> list[Item]:
        return [item for item in self.view.decisions if item.number not in self.checked]

    def _speak_from(self) -> datetime | None:
        said = self.human_count - (self.unprompted_count or 0)
        people, start = len(self.participants), self.meeting.started_at
        return participation.speak_from(self.meeting.activity, said, self.unprompted_at, people, start)

    def move_on_at(self) -> datetime | None:
        """When moving on from the agenda item may be proposed; None where it was, or more must be said first."""
        at, budget = agenda.move_on_at(self.meeting, self.view), self._speak_from()
        here = agenda.current(self.meeting, self.view)
        if at is None or here is None or budget is None or self.one_person:
            return None
        if f"move_on:{here.slot}" in self.keys:
            return None
        return agenda.in_a_lull(max(at, budget), self.last_human_at)

    def to_bring_in(self) -> tuple[int, datetime] | None:
        """Whom to bring in by name, and when."""
        meeting, budget = self.meeting, self._speak_from()
        if budget is None or self.last_human_at is None or self.core.clock.now() >= meeting.planned_end:
            return None
        since = {
            person: (spoke.last_at if (spoke := self.speakers.get(person)) else None) or meeting.started_at
            for person, name in self.participants.items()
            if name and not is_panelist(person)
        }
        found = participation.bring_in(meeting.activity, since, self.asked, self.last_human_at)
        return None if found is None else (found[0], max(found[1], budget))

    def panel_at(self) -> datetime | None:
        """When the panel's next turn (or its end) is due. What people said, and the posts under way, come first."""
        panel = self.panel
        if panel is None or panel.stop_reason is not None or self.pending is not None:
            return None
        if self.deliver_at is not None or self.meeting.state is not MeetingState.OPEN:
            return None
        return order.due(panel, self.panel_turns, self.people_at)

    @property
    def owing_at(self) -> datetime | None:
        """When the outbox wants its next try; None where it is empty. Reactions wait for the posts before them."""
        return self.react_at if self.deliver_at is None else self.deliver_at

    def apply(self, change: Change) -> None:
        if change.meeting is not None:
            if change.meeting.state is not self.meeting.state:
                self.core.watch("state", meeting_id=self.id, state=change.meeting.state.value)
            self.meeting = change.meeting
            self.board_dirty = True
        if change.entries:
            self.entries.extend(change.entries)
            self.view = self._folded(self.entries)
            self.board_dirty = True
        if change.posts and self.deliver_at is None:
            self.deliver_at = self.core.clock.now()

    async def freshen(self) -> None:
        """Read everything again where a unit failed or its caller was cancelled in between."""
        if not self.stale:
            return
        async with self.write:
            if self.stale:
                await self.reload()
                self.stale = False

    async def reload(self) -> None:
        """Read everything again from the store (start of a process, or after a caller was cancelled)."""
        now = self.core.clock.now()  # taken here: inside a unit simulated time does not reach
        due = await self.core.db.unit(lambda c: self._load(c, now))
        self.deliver_at = self.core.clock.now() if due else None
        self.view = self._folded(self.entries)
        self.board_dirty = True

    def _folded(self, entries: list[Entry]) -> LedgerView:
        return shown(with_conflicts(folding.fold(entries), self.memo), self.meeting.language)

    async def _load(self, c: Connection, now: datetime) -> bool:
        """Fill the cache; True where the outbox has something to send."""
        found = await meetings.get(c, self.meeting.id)
        if found is None:
            raise StoreError(f"meeting {self.meeting.id} is gone from the store")
        self.meeting = found
        policy = self.core.policy
        self.retention_days = policy.transcript_days(await policy.load(c, found.guild_id))
        await policy.count(c, found.guild_id, now)
        self.entries = await ledger.everything(c, self.id)
        self.fired = await meetings.notices(c, self.id)
        self.speakers = {s.user_id: s for s in await transcript.speakers(c, self.id)}
        self.human_count = await transcript.count(c, self.id)
        self.last_human_at = await transcript.last_at(c, self.id)
        posts = await overview.posts(c, self.id)
        self.own_ids = {p.message_id for p in posts if p.message_id and p.kind != "reaction"}
        self.keys = {p.key for p in posts}
        # Refused ones are settled too: they are kept, and offered to the chair.
        self.minutes_sent = any(p.key == KEY_MINUTES and p.state != "pending" for p in posts)
        back = [p for p in posts if p.key.startswith("read_back:")]
        self.read_back_id = back[-1].message_id if back else None
        self.draft_done = KEY_MINUTES in self.keys
        self.assist = [
            p.key
            for p in posts
            if p.payload.get("hand_off") and p.state == "sent" and f"assist:{p.key}" not in self.keys
        ]
        boards = [p for p in posts if p.key == KEY_KICKOFF or p.key.startswith("board:")]
        self.board_message_id = next((p.message_id for p in reversed(boards) if p.message_id), None)
        self.board_owed = any(p.state == "pending" for p in boards)
        self.board_ids = {p.message_id for p in boards if p.message_id}
        self.joined = await transcript.joined(c, self.id, self.board_ids)
        self.carried = await carry.links(c, found, self.entries)
        self.asked = {}
        for p in posts:
            if p.key.startswith("bring_in:"):
                self.asked.setdefault(int(p.key.split(":")[1]), []).append(p.created_at)
        spoken = [p for p in posts if p.payload.get("unprompted") is not None and p.state == "sent"]
        if spoken:
            self.unprompted_at, self.unprompted_count = (
                spoken[-1].created_at,
                int(spoken[-1].payload["unprompted"]),
            )
        self.panel = await panels.get(c, self.id)
        self.panel_turns = await panels.turns(c, self.id)
        self.people_at = await panels.people_at(c, self.id)
        unread = await transcript.unread(c, self.id, self.meeting.cursor)
        self.pending = None
        turns = [int(key.removeprefix("turn:")) for key in self.keys if key.startswith("turn:")]
        self.handled_to = max([self.handled_to, self.meeting.cursor, *turns])
        for message in unread:
            if self.waits(message):
                self.note_pending(message, urgent=waits_for_answer(message))
        if self.meeting.state is MeetingState.READ_BACK:
            await self._recount_substance(c)
        return any(p.state == "pending" for p in posts)

    async def _recount_substance(self, c: Connection) -> None:
        words = phrases.words(self.meeting.language)
        back = [
            p for p in await overview.posts(c, self.id) if p.key.startswith("read_back:") and p.message_id
        ]
        since = (back[-1].message_id or 0) if back else 0
        later = await transcript.after(c, self.id, since)
        self.substance = sum(replies.adds_substance(m.text, words) for m in later if not m.by_panel)

    def waits(self, message: Message) -> bool:
        """No turn has dealt with it yet."""
        if message.late is not Late.NO:
            return message.late is Late.WAITING
        return message.message_id > self.handled_to

    def asking(self, messages: Sequence[Message]) -> list[Message]:
        """Those whose authors wait for an answer."""
        return [m for m in messages if self.waits(m) and waits_for_answer(m)]

    def note_pending(self, message: Message, *, urgent: bool) -> None:
        if self.pending is None:
            self.pending = Pending(message.at, message.at, urgent)
        else:
            self.pending.last_at = max(self.pending.last_at, message.at)
            self.pending.urgent = self.pending.urgent or urgent

    def preview(self, added: list[Entry]) -> LedgerView:
        """The ledger as it will be once `added` is committed."""
        return self._folded([*self.entries, *added]) if added else self.view

    def hurry(self, seconds: float) -> None:
        """Let the generations under way end within `seconds`: somebody waits for what comes after them."""
        for deadline in self.deadlines:
            deadline.shorten(seconds)

    def after_turn(self, read_to: int, newer: list[Message] | None = None) -> None:
        """The burst up to `read_to` is handled; what came in meanwhile waits for the next turn."""
        self.pending = None
        self.handled_to = max(self.handled_to, read_to)
        for message in newer or ():
            self.note_pending(message, urgent=waits_for_answer(message))

    def heard(self, message: Message) -> None:
        """Count a newly stored message."""
        old = self.speakers.get(message.author_id) or Speaker(message.author_id, message.author_name)
        self.speakers[message.author_id] = Speaker(
            message.author_id,
            message.author_name,
            old.messages + 1,
            old.characters + len(message.text),
            message.at if old.last_at is None else max(old.last_at, message.at),
        )
        self.newest_id = max(self.newest_id, message.message_id)
        self.human_count += 1
        if not message.by_panel:
            self.people_at = message.at if self.people_at is None else max(self.people_at, message.at)
        self.last_human_at = message.at if self.last_human_at is None else max(self.last_human_at, message.at)
        self.board_dirty = True

    def present(self, at: datetime) -> None:
        """Somebody is there: the room is not quiet, though nothing of it is stored (a cap, an opt-out)."""
        self.present_at = at if self.present_at is None else max(self.present_at, at)

    def state(self) -> RoomState:
        meeting, pending = self.meeting, self.pending
        return RoomState(
            meeting=meeting,
            last_human_at=max(
                at for at in (self.last_human_at, self.present_at, meeting.started_at) if at is not None
            ),
            fired=frozenset(self.fired),
            opening_done=KEY_OPENING in self.keys,
            pending_first_at=pending.first_at if pending else None,
            pending_last_at=pending.last_at if pending else None,
            pending_urgent=bool(pending and pending.urgent),
            alone=self.one_person and not meeting.closing,
            assist_due=bool(self.assist),
            deliver_at=self.owing_at,
            typing_until=self.typing_until,
            goodbye_done=KEY_GOODBYE in self.keys,
            draft_done=self.draft_done,
            minutes_sent=self.minutes_sent,
            past_due=bool(self.unchecked),
            move_on_at=self.move_on_at(),
            bring_in_at=found[1] if (found := self.to_bring_in()) else None,
            panel_at=self.panel_at(),
            board_at=self._board_at(),
            unheard_until=self.gap_until + GAP_KEEPS_OPEN if self.gap and self.gap_until else None,
        )

    def _board_at(self) -> datetime | None:
        """The next edit of the board: soon where something changed, else when the bar of time moves."""
        if self.board_message_id is None or self.meeting.state is MeetingState.CLOSED:
            return None
        last = self.board_edited_at
        if self.board_dirty:
            return self.core.clock.now() if last is None else last + BOARD_EVERY
        total = self.meeting.planned_end - self.meeting.started_at
        tick = max(timedelta(minutes=1), total / 20)
        return (last or self.meeting.started_at) + tick

    def next(self) -> Step | None:
        return next_step(self.state(), self.core.clock.now())

    def rearm(self) -> None:
        if self.meeting.state is MeetingState.CLOSED and self.owing_at is None:
            return
        step = self.next()
        if step is not None:
            self.core.arm(self.id, step.at)

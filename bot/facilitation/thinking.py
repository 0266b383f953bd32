"""One generation about a room, from scene to record: shared by opening, turns, notices and closing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from zoneinfo import ZoneInfo

from pydantic import BaseModel

from bot import phrases
from bot.clock import Deadline
from bot.facilitation import limits, recording
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import put_reaction
from bot.facilitation.room import Room
from bot.facilitation.sources import holds_quote
from bot.guard.generator import Call, response_of
from bot.guard.model import Generated, Rule, Source
from bot.guard.similarity import repeats
from bot.guard.table import RoomFacts, rules_for
from bot.meeting import grounding, participation, replies
from bot.meeting.answers import is_answer
from bot.meeting.figures import Figure
from bot.meeting.grounding import Claim
from bot.meeting.model import (
    EntryKind,
    Message,
    NewEntry,
    Origin,
    OwnPost,
    Persona,
    Phase,
    Route,
    Scene,
    is_panelist,
)
from bot.prompts import builder
from bot.prompts.outputs import TurnOut
from bot.store import generations, ledger, outbox, transcript
from bot.store.engine import Connection

HISTORY = 2000  # messages a post may rest on; of these the builder shows the window that SPEC 4 names
UNREAD_AT_ONCE = 200
RECENT_OWN = 5
POSTING_S = 1.5  # of the time a person waits, what storing and posting the answer take
EXTEND_BY = 10


@dataclass
class Thought:
    """What one generation came to, before anything of it is stored."""

    room: Room
    route: Route
    at: datetime
    call: Call
    generated: Generated
    unread: tuple[Message, ...] = ()
    read_to: int = 0
    gap: bool = False  # older messages than those it saw have not been read
    entries: list[NewEntry] = field(default_factory=list)
    generation_id: int | None = None
    era: int = 0
    after_erasure: str | None = None  # said instead of the fallback where that may repeat who was erased

    @property
    def output(self) -> TurnOut | None:
        return self.generated.output if isinstance(self.generated.output, TurnOut) else None

    @property
    def output_wish(self) -> str | None:
        return self.output.wish_quote if self.output is not None else None

    @property
    def cursor(self) -> int:
        """How far the room has been read for entries after this: no further where no valid answer came, or where
        older messages still wait."""
        before = self.room.meeting.cursor
        return before if self.generated.output is None or self.gap else max(before, self.read_to)

    def final(self, core: Core) -> tuple[str | None, str]:
        """Step 6, at posting: the text against the room as it is now, and where it came from."""
        self.forget_if_erased()
        self.generated = core.generator.recheck(self.call, self.generated)
        return self.generated.text, self.generated.source.value

    def forget_if_erased(self) -> None:
        """Somebody was erased since this was read: nothing of it is stored or said, for it may repeat them."""
        if self.era == self.room.era:
            return
        generated, fallback = self.generated, self.after_erasure or self.call.fallback
        self.entries, self.era = [], self.room.era
        self.generated = replace(
            generated,
            text=fallback,
            source=Source.SILENT if fallback is None else Source.FIXED,
            attempts=tuple(replace(a, text=None, verdicts=()) for a in generated.attempts),
            output=None,
            chosen_output=None,
            final_verdicts=(),
        )


@dataclass(frozen=True)
class Material:
    """What was read from the store for one scene."""

    unread: tuple[Message, ...]
    history: tuple[Message | OwnPost, ...]
    own: tuple[OwnPost, ...]
    reactions: tuple[str, ...] = ()  # emojis that people put on the facilitator's last post
    era: int = 0
    unheard: frozenset[int] = frozenset()  # people who opted out: no model sees what they said before
    gap: bool = False  # `unread` is the newest part of a longer backlog


async def material(core: Core, room: Room, *, oldest: bool = False) -> Material:
    """What a generation is about, read in one unit.

    Of a backlog that no model has read (a provider gave nothing for long) a turn takes the newest part, so that
    who speaks now is heard; catching up before the minutes takes the `oldest` first.
    """
    now = core.clock.now()

    async def work(c: Connection) -> Material:
        await core.policy.count(c, room.meeting.guild_id, now)
        era = room.era
        unheard = await transcript.opted_out_of(c, room.meeting.guild_id, room.speakers)
        cursor = room.meeting.cursor
        more = await transcript.unread(c, room.id, cursor, UNREAD_AT_ONCE + 1)
        gap = len(more) > UNREAD_AT_ONCE and not oldest
        unread = more[:UNREAD_AT_ONCE]
        if gap:
            unread = await transcript.unread(c, room.id, cursor, UNREAD_AT_ONCE, newest=True)
        newest = await transcript.recent(c, room.id, HISTORY)
        last = max(cursor, unread[-1].message_id) if unread else None
        recent = [m for m in newest if last is None or m.message_id <= last]
        own = await outbox.recent_own(c, room.id, 40)
        known = {m.message_id for m in recent}
        lines: list[Message | OwnPost] = [*recent, *(m for m in unread if m.message_id not in known), *own]
        if unheard:
            unread = [m for m in unread if m.author_id not in unheard]
            lines = [x for x in lines if isinstance(x, OwnPost) or x.author_id not in unheard]
        lines.sort(key=lambda line: (line.at, line.message_id))
        asked = _last_words(own)
        found = await transcript.reactions(c, room.id, asked.message_id) if asked else []
        reactions = tuple(emoji for who, _, emoji, _ in found if who not in unheard)
        return Material(tuple(unread), tuple(lines), tuple(own), reactions, era, unheard, gap)

    return await core.db.unit(work)


def _last_words(own: Sequence[OwnPost]) -> OwnPost | None:
    """The facilitator's last post, notices aside."""
    mine = (p for p in reversed(own) if p.persona is Persona.FACILITATOR and p.route is not Route.TIME_NOTICE)
    return next(mine, None)


def scene_of(room: Room, route: Route, stuff: Material, now: datetime) -> Scene:
    speakers = tuple(s for s in room.ranked_speakers if s.user_id not in stuff.unheard)
    unheard = {room.speakers[user].name for user in stuff.unheard if user in room.speakers}
    names = [name for name in room.expected if name not in unheard]
    return Scene(
        route=route,
        meeting=room.meeting,
        now=now,
        ledger=room.view,
        history=stuff.history,
        unread=stuff.unread,
        speakers=speakers,
        quiet_people=tuple(
            participation.quiet_people([s for s in speakers if not is_panelist(s.user_id)], names, now)
        ),
        silent=tuple(n for n in names if n not in {s.name for s in speakers if s.messages}),
    )


def record_texts(room: Room, stuff: Material) -> tuple[str, ...]:
    """Everything that a figure or a name in a post may rest on."""
    meeting = room.meeting
    return (
        meeting.title,
        *meeting.agenda,
        *(e.text for e in room.entries),
        *(e.quote for e in room.entries),
        *(words for e in room.entries for words in (e.owner, e.due) if words),
        *(line.text for line in stuff.history if isinstance(line, Message)),
    )


async def think(
    core: Core,
    room: Room,
    route: Route,
    *,
    request: str | None = None,
    fallback: str | None = None,
    seconds: float | None = None,
    may_be_silent: bool = False,
    extract: bool = True,
    judge_repetition: bool = False,
    addressed_by: Message | None = None,
    notice_minutes: int | None = None,
    stuff: Material | None = None,
    rules: Sequence[Rule] | None = None,
    output: type[BaseModel] = TurnOut,
    question: str | None = None,
    text_of: Callable[[BaseModel], str] = response_of,
    extra: Mapping[str, str] | None = None,
) -> Thought:
    """One guarded generation; ends within `seconds` whatever the model does, and raises only cancellation."""
    now = core.clock.now()
    stuff = stuff or await material(core, room)
    scene = replace(
        scene_of(room, route, stuff, now),
        request=request,
        addressed_by=addressed_by,
        notice_minutes=notice_minutes,
        question=question,
        extra=dict(extra or {}),
    )
    language = room.meeting.language
    deadline = Deadline(max(1.0, core.limits.deadline_s - POSTING_S) if seconds is None else seconds)
    posts = [
        p.text for p in stuff.own if p.route is not Route.TIME_NOTICE and p.persona is Persona.FACILITATOR
    ]
    call = Call(
        route=route,
        scene=scene,
        prompt=builder.build(scene, language=language),
        output=output,
        deadline=deadline,
        rules=tuple(rules)
        if rules is not None
        else rules_for(route, facts(room, stuff, now, notice_minutes)),
        fallback=fallback,
        may_be_silent=may_be_silent,
        recent=tuple(posts[-RECENT_OWN:]),
        judge_repetition=judge_repetition and not room.one_person,
        language=language,
        text_of=text_of,
    )
    thought = await carry_out(core, room, call, stuff, now)
    if extract:
        thought.entries = grounded(room, thought)
    return thought


async def carry_out(core: Core, room: Room, call: Call, stuff: Material, now: datetime) -> Thought:
    """The generation of a call about a room. While it runs an erasure waits for it (`room.deadlines`)."""
    room.deadlines.add(call.deadline)
    try:
        generated = await core.generator.generate(call)
    finally:
        room.deadlines.discard(call.deadline)
    thought = thought_of(room, call, stuff, generated, now)
    _tell(core, room, thought)
    return thought


def thought_of(room: Room, call: Call, stuff: Material, generated: Generated, now: datetime) -> Thought:
    thought = Thought(room, call.route, now, call, generated, stuff.unread, era=stuff.era, gap=stuff.gap)
    thought.read_to = stuff.unread[-1].message_id if stuff.unread else room.meeting.cursor
    return thought


def facts(room: Room, stuff: Material, now: datetime, notice_minutes: int | None = None) -> RoomFacts:
    """What the guard's rules may look at; the callables see the room as it is when a rule is run."""
    meeting = room.meeting
    mine = [p for p in stuff.own if p.persona is Persona.FACILITATOR and p.route is not Route.TIME_NOTICE]
    asked = mine[-1] if mine else None
    question = replies.last_question(asked.text) if asked else None
    since = [m for m in stuff.history if isinstance(m, Message) and asked and m.message_id > asked.message_id]
    language = meeting.language
    alike = len(mine) > 1 and repeats(mine[-1].text, (mine[-2].text,), language) is not None
    texts = record_texts(room, stuff)

    def answered() -> bool:
        if question is None or asked is None:
            return False
        words = phrases.words(language)
        return any(
            is_answer(question, m.text, words, is_reply=m.reply_to == asked.message_id) for m in since
        ) or any(is_answer(question, emoji, words, reaction=True) for emoji in stuff.reactions)

    def near_end() -> bool:
        left = room.meeting.planned_end - now
        late = left <= (room.meeting.planned_end - room.meeting.started_at) / 5
        return late or room.meeting.model_phase in (Phase.CONVERGING, Phase.CLOSING)

    return RoomFacts(
        language=language,
        title=meeting.title,
        closing=lambda: room.meeting.closing,
        near_end=near_end,
        open_questions=lambda: [i.text for i in room.view.open_questions],
        notice_minutes=notice_minutes,
        question=question,
        answered=answered,
        human_since=lambda: len(since),
        alike=alike,
        names=tuple(room.names),
        titles=tuple(meeting.agenda),
        user_ids=frozenset(room.speakers) | {meeting.chair_id},
        entry_numbers=frozenset(e.number for e in room.entries),
        record=lambda: texts,
        allowed=clock_facts(room, now, notice_minutes),
    )


def clock_facts(room: Room, now: datetime, notice_minutes: int | None) -> tuple[Figure | float | date, ...]:
    """Figures that the clock and the ledger's own counts hold, so that a post may name them."""
    meeting, view = room.meeting, room.view
    zone = ZoneInfo(meeting.timezone)
    left = math.ceil((meeting.planned_end - now).total_seconds() / 60)
    numbers: set[float] = {
        abs(left),
        abs(left) + 1,
        max(0, abs(left) - 1),
        round((meeting.planned_end - meeting.started_at).total_seconds() / 60),
        (now - meeting.started_at).total_seconds() // 60,
        len(room.speakers),
        len(view.decisions),
        len(view.open_questions),
        len(view.actions),
        len(view.open_proposals),
        len(meeting.agenda),
        *(minutes for minutes in meeting.agenda_minutes if minutes),
        *(e.number for e in room.entries),
        *range(1, len(meeting.agenda) + 1),
    }
    if notice_minutes is not None:
        # The notices name the board's button, "Extend 10 min".
        numbers.update((abs(notice_minutes), EXTEND_BY))
    moments = [m.astimezone(zone) for m in (meeting.started_at, meeting.planned_end, now)]
    return (*sorted(float(n) for n in numbers), *(m.date() for m in moments))


def grounded(room: Room, thought: Thought) -> list[NewEntry]:
    """The entries of the first valid output that stand on a person's words (SPEC 2.5)."""
    output = thought.output
    if output is None:
        return []
    known = {m.message_id: m for m in thought.call.scene.history if isinstance(m, Message)}
    known.update({m.message_id: m for m in thought.unread})
    found: list[NewEntry] = []
    view = room.view
    for proposed in output.entries:
        claim = Claim(
            proposed.kind, proposed.text, proposed.quote, proposed.owner, proposed.due, proposed.refers_to
        )
        entry = grounding.ground(
            claim,
            list(known.values()),
            room.names,
            cursor=room.meeting.cursor,
            view=view,
            language=room.meeting.language,
            timezone=room.meeting.timezone,
            late={m.message_id for m in thought.unread},
        )
        if isinstance(entry, NewEntry):
            found.append(recording.of_panel(entry) if is_panelist(entry.author_id) else entry)
    return found


def _tell(core: Core, room: Room, thought: Thought) -> None:
    generated = thought.generated
    core.watch(
        "generation",
        meeting_id=room.id,
        route=thought.route.value,
        model=generated.model,
        attempts=[
            {
                "verdicts": {v.rule: v.outcome.value for v in a.verdicts},
                "text": a.text,
                "failure": a.failure,
                "latency_ms": a.latency_ms,
                "tokens_in": a.tokens_in,
                "tokens_out": a.tokens_out,
                "version": a.version,
            }
            for a in generated.attempts
        ],
        source=generated.source.value,
    )
    core.watch("degraded_now", degraded=core.degraded())


async def record(c: Connection, room: Room, thought: Thought) -> Change:
    """Store the generation and its entries; reactions show people what was found, so that they can confirm it."""
    meeting = room.meeting
    thought.forget_if_erased()
    thought.generation_id = await generations.record(
        c,
        guild_id=meeting.guild_id,
        meeting_id=room.id,
        route=thought.route,
        generated=thought.generated,
        at=thought.at,
    )
    posts = _count(room, thought) and await limits.tell(c, room, thought.at)
    found = await _still_said(c, room, thought.entries)
    if not found:
        return Change(posts=posts)
    stored = await ledger.append(c, meeting.guild_id, room.id, found, thought.at, room.core.salt)
    for entry in stored:
        if entry.message_id is not None and entry.kind is not EntryKind.NOTE:
            posts |= await put_reaction(
                c, room, entry.message_id, recording.emoji_of_found(entry), thought.at
            )
    return Change(entries=stored, posts=posts)


async def _still_said(c: Connection, room: Room, found: list[NewEntry]) -> list[NewEntry]:
    """Finds whose source was neither deleted nor edited to other words while they were thought about.

    What was found before, and lost to an edit since taken back, is found anew.
    """
    ids = {e.message_id for e in found if e.message_id is not None}
    there = {m.message_id: m for m in await transcript.some(c, room.id, ids)}
    standing = [
        e
        for e in found
        if e.message_id is None or (e.message_id in there and holds_quote(there[e.message_id], e.quote))
    ]
    edited_away = {
        e.refers_to
        for e in room.entries
        if e.kind is EntryKind.RETRACTION and e.origin is Origin.EDIT and e.refers_to is not None
    }
    lost = {e.source_key: e.number for e in room.entries if e.number in edited_away}
    return [
        replace(e, source_key=f"{e.source_key}:{lost[e.source_key]}") if e.source_key in lost else e
        for e in standing
    ]


def _count(room: Room, thought: Thought) -> bool:
    """Count towards the caps of the day; True where one of them is used up."""
    guild = room.meeting.guild_id
    room.core.policy.spent(guild, thought.generated)
    return bool(room.core.policy.reached(guild))

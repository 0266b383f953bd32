"""One turn (SPEC 2.3): a burst of human messages, what is recorded from it, and what is said, if anything."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import datetime

from bot import phrases
from bot.assistant import answers
from bot.facilitation import closing, pointing, reading, recording, signs
from bot.facilitation.addressing import addresses_facilitator
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import put_post, put_reaction
from bot.facilitation.room import Room
from bot.facilitation.thinking import POSTING_S, Material, Thought, material, record, think
from bot.guard.table import hand_off
from bot.meeting import participation, replies
from bot.meeting.model import LANGUAGES, MeetingState, Message, Persona, Route
from bot.meeting.schedule import ALONE_FROM
from bot.meeting.text import fold, squeeze
from bot.stage import Outgoing
from bot.store import meetings
from bot.store.engine import Connection

AT_LEAST_S = 5.0  # for an answer, however long the message has waited (it may be from before a restart)
OVERTAKEN = 3  # an unprompted draft that so many newer messages have overtaken is dropped (SPEC 2.3)


async def step_turn(core: Core, room: Room) -> None:
    stuff = await material(core, room)
    if not stuff.unread:
        room.pending = None
        return
    asking = room.asking(stuff.unread)
    to_facilitator = [m for m in asking if addresses_facilitator(m)]
    seconds = _seconds_left(core, asking)
    async with signs.shown(core, room, asking) if asking else nullcontext():
        thought, *replied = await asyncio.gather(
            reply(core, room, stuff, to_facilitator[-1] if to_facilitator else None, seconds),
            *answers.for_waiting(core, room, stuff, seconds),
        )
    await _settle(core, room, thought, replied, addressed=bool(to_facilitator))


def _seconds_left(core: Core, asking: Sequence[Message]) -> float | None:
    """What is left of the time that whoever waits longest may be kept waiting; None where nobody waits."""
    if not asking:
        return None
    waited = (core.clock.now() - min(message.at for message in asking)).total_seconds()
    return max(AT_LEAST_S, core.limits.deadline_s - POSTING_S - waited)


async def reply(
    core: Core, room: Room, stuff: Material, addressed_by: Message | None, seconds: float | None = None
) -> Thought:
    """The generation behind a turn; silent where nobody addressed the facilitator and nothing helps."""
    return await think(
        core,
        room,
        Route.TURN,
        stuff=stuff,
        addressed_by=addressed_by,
        seconds=seconds,
        may_be_silent=addressed_by is None,
        fallback=phrases.t("fixed.turn.addressed", room.meeting.language) if addressed_by else None,
        judge_repetition=addressed_by is None,
    )


async def _settle(
    core: Core, room: Room, thought: Thought, replied: list[Thought], *, addressed: bool
) -> None:
    """Everything the turn came to, in one transaction."""
    now = core.clock.now()
    wish = _wish(room, thought)
    text, source = thought.final(core)
    unprompted = not addressed and not room.one_person
    answered = answers.finals(core, replied)

    async def work(c: Connection) -> Change:
        change = await record(c, room, thought)
        newer = await reading.settle(c, room, thought)
        await pointing.point_out(c, room, change, now)
        change.meeting = await meetings.update(
            c,
            room.id,
            cursor=thought.cursor,
            **_phase(thought),
        )
        if wish is not None and room.meeting.state is MeetingState.OPEN:
            begun = await closing.begin(c, room, by=wish.author_id, quote=thought.output_wish, at=now)
            change.meeting = begun.meeting or change.meeting
        elif not addressed and _waits_for_company(room, now):
            change.posts |= await put_reaction(c, room, thought.read_to, recording.SEEN_EMOJI, now)
        elif text is not None and (addressed or _may_speak(room, now, len(newer), unprompted)):
            change.posts |= await _put(c, room, thought, text, source, now, unprompted)
        change.posts |= await answers.put_all(c, room, answered, now)
        change.value = newer
        return change

    change = await core.commit(room, work)
    room.after_turn(thought.read_to, change.value)


def _waits_for_company(room: Room, now: datetime) -> bool:
    """The first minutes of most meetings are one person's: they see that they are read, and nobody talks over them."""
    return room.one_person and now < room.meeting.started_at + ALONE_FROM


def _phase(thought: Thought) -> dict[str, object]:
    phase = thought.generated.phase
    return {} if phase is None else {"model_phase": phase}


def _may_speak(room: Room, now: datetime, newer: int, unprompted: bool) -> bool:
    if not unprompted:
        return not room.meeting.closing or room.one_person
    if newer >= OVERTAKEN or room.meeting.closing:
        return False
    since = None if room.unprompted_at is None else (now - room.unprompted_at).total_seconds()
    return participation.may_speak(
        room.meeting.activity, room.human_count - (room.unprompted_count or 0), since, len(room.participants)
    )


async def _put(
    c: Connection, room: Room, thought: Thought, text: str, source: str, now: datetime, unprompted: bool
) -> bool:
    language = room.meeting.language
    hands_off = hand_off(text) and not room.meeting.closing
    details: dict[str, object] = {"hand_off": hands_off}
    if unprompted:
        details["unprompted"] = room.human_count
    key, asked = f"turn:{thought.read_to}", thought.call.scene.addressed_by
    if key in room.keys and asked is not None:  # a turn ended there that no model could read for
        key = f"turn:{asked.message_id}"
    put = await put_post(
        c,
        room,
        key,
        Outgoing(text, Persona.FACILITATOR, language, meeting_id=room.id),
        now=now,
        route=Route.TURN,
        source=source,
        generation_id=thought.generation_id,
        facts=details,
    )
    if put and unprompted:
        room.unprompted_at, room.unprompted_count = now, room.human_count
    return put


def _wish(room: Room, thought: Thought) -> Message | None:
    """A wish to end that the model noticed counts only by the words of a person (SPEC 2.9)."""
    quote = squeeze(thought.output_wish or "")
    if len(quote) < 4:
        return None
    for message in reversed(thought.unread):
        if quote in squeeze(message.text) and not message.by_panel and _is_wish(room, message):
            return message
    return None


def _is_wish(room: Room, message: Message) -> bool:
    """Two witnesses: the model's quote, and words that at least speak of ending."""
    return any(
        replies.holds_any(fold(message.text), phrases.words(language), "wish.ending")
        for language in LANGUAGES
    )


async def step_assist(core: Core, room: Room) -> None:
    """A hand-off of the facilitator is answered by the assistant, except while closing (the second lock)."""
    key = room.assist[0]
    if room.meeting.closing or room.meeting.state is not MeetingState.OPEN:
        room.assist.clear()
        return
    stuff = await material(core, room)
    async with signs.shown(core, room, ()):
        thought = await answers.hand_off(core, room, stuff)
    now = core.clock.now()
    text, source = thought.final(core)

    async def work(c: Connection) -> Change:
        change = await record(c, room, thought)
        change.posts |= await answers.put(c, room, thought, text, source, now, key=f"assist:{key}")
        return change

    await core.commit(room, work)
    room.assist.remove(key)

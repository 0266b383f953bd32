"""How a meeting comes to its end (SPEC 2.9): a person's wish, a read-back with a window, a goodbye."""

from __future__ import annotations

import asyncio
from datetime import datetime

from bot import phrases
from bot.assistant import answers
from bot.errors import BadInput, NotAllowed
from bot.facilitation import reading, signs
from bot.facilitation.addressing import addresses_assistant, addresses_facilitator, waits_for_answer
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import put_post
from bot.facilitation.readback import read_back
from bot.facilitation.requests import Person
from bot.facilitation.room import KEY_GOODBYE, Room
from bot.facilitation.thinking import Material, Thought, material, record, think
from bot.meeting import replies
from bot.meeting.model import LANGUAGES, Meeting, MeetingState, Message, Persona, Route
from bot.meeting.schedule import READ_BACK_WINDOW
from bot.meeting.words import Words
from bot.stage import Outgoing
from bot.store import meetings, outbox
from bot.store.engine import Connection

SUBSTANCE_CANCELS = 3
CHAIR_SILENT_S = 300.0
# A wish to end cuts a turn under way short, so that turn and read-back together stay within 25 s (SPEC 2.9), also where
# Discord hangs on the post (7 s) and it has to be sent again.
TURN_AFTER_WISH_S = 5.0
READ_BACK_AFTER_WISH_S = 16.0
GOODBYE_S = 15.0


def _words(room: Room) -> list[Words]:
    """The meeting's language first; people mix languages."""
    mine = room.meeting.language
    return [phrases.words(language) for language in sorted(LANGUAGES, key=lambda name: name != mine)]


def wish_in(room: Room, message: Message) -> str | None:
    """The words of `message` that ask to end this meeting, verbatim; what is asked of the assistant is no such wish."""
    if room.meeting.state not in (MeetingState.OPEN, MeetingState.READ_BACK) or addresses_assistant(message):
        return None
    for words in _words(room):
        quote = replies.closing_wish(message.text, words)
        if quote is not None:
            return quote
    return None


async def begin(c: Connection, room: Room, *, by: int | None, quote: str | None, at: datetime) -> Change:
    """OPEN -> CLOSING; nothing where it is closing already, so any number of wishes make one closing."""
    moved = await meetings.move(
        c, room.id, {MeetingState.OPEN}, MeetingState.CLOSING, closing_since=at, wish_by=by, wish_quote=quote
    )
    return Change(meeting=moved, value=moved is not None)


def cut_short(room: Room) -> None:
    room.hurry(TURN_AFTER_WISH_S)


async def on_message(
    c: Connection, room: Room, message: Message, wish: str | None, change: Change, now: datetime
) -> None:
    """What a new message means for the end, in the transaction that stores it."""
    state = room.meeting.state
    if state is MeetingState.OPEN and wish is not None:
        change.meeting = (await begin(c, room, by=message.author_id, quote=wish, at=now)).meeting
        return
    if state not in (MeetingState.CLOSING, MeetingState.READ_BACK, MeetingState.WRITING):
        return
    words = _words(room)
    await promise(c, room, message, now, change)
    if state is not MeetingState.WRITING and any(replies.cancels_closing(message.text, w) for w in words):
        await cancel(c, room, now, change, key=f"cancelled:{message.message_id}")
    elif state is MeetingState.READ_BACK and _saw_read_back(room, message):
        await _in_window(c, room, message, wish is not None, now, change)


def _saw_read_back(room: Room, message: Message) -> bool:
    """What was written before the read-back stood there (and read later, after a gap) is no answer to it."""
    return room.read_back_id is not None and message.message_id > room.read_back_id


async def _in_window(
    c: Connection, room: Room, message: Message, wish: bool, now: datetime, change: Change
) -> None:
    words = _words(room)
    if wish or any(replies.says_yes(message.text, w) or replies.nothing_more(message.text, w) for w in words):
        change.meeting = await expire(c, room)
    elif all(replies.adds_substance(message.text, w) for w in words):
        if room.substance + 1 >= SUBSTANCE_CANCELS:
            await cancel(c, room, now, change, key=f"cancelled:{message.message_id}")
        else:
            change.meeting = await meetings.update(c, room.id, close_at=now + READ_BACK_WINDOW)


def after_message(core: Core, room: Room, message: Message) -> None:
    """Cache and owed answers, once the message is stored."""
    state = room.meeting.state
    if state is MeetingState.CLOSING:
        if room.meeting.wish_by == message.author_id and room.meeting.closing_since is not None:
            core.watch("owed", meeting_id=room.id, who=message.author_name, why="wished to end")
        cut_short(room)
    elif state is MeetingState.READ_BACK:
        room.substance += _saw_read_back(room, message) and all(
            replies.adds_substance(message.text, w) for w in _words(room)
        )


async def promise(c: Connection, room: Room, message: Message, now: datetime, change: Change) -> None:
    """Who asks for what the minutes will tell hears that they follow; who asks anything else once they are being
    written, where to go on."""
    if any(replies.asks_summary(message.text, w) for w in _words(room)):
        await _say(c, room, f"soon:{message.message_id}", "closing.summary_soon", now, change)
    elif room.meeting.state is MeetingState.WRITING and waits_for_answer(message):
        await _say(c, room, f"late:{message.message_id}", "closing.too_late", now, change, message.message_id)


async def _say(
    c: Connection,
    room: Room,
    key: str,
    phrase: str,
    now: datetime,
    change: Change,
    reply_to: int | None = None,
) -> None:
    text, language = phrases.t(phrase, room.meeting.language), room.meeting.language
    post = Outgoing(text, Persona.FACILITATOR, language, meeting_id=room.id, reply_to=reply_to)
    change.posts |= await put_post(c, room, key, post, now=now, route=Route.CLOSING, source="fixed")


async def cancel(c: Connection, room: Room, now: datetime, change: Change, *, key: str) -> None:
    """Back to talking: the latch opens, and the room is told so."""
    moved = await meetings.move(
        c,
        room.id,
        {MeetingState.CLOSING, MeetingState.READ_BACK},
        MeetingState.OPEN,
        closing_since=None,
        wish_by=None,
        wish_quote=None,
        close_at=None,
    )
    if moved is None:
        return
    change.meeting = moved
    room.substance, room.typing_until = 0, None
    await _say(c, room, key, "closing.cancelled", now, change)


async def expire(c: Connection, room: Room) -> Meeting | None:
    """READ_BACK -> WRITING."""
    return await meetings.move(c, room.id, {MeetingState.READ_BACK}, MeetingState.WRITING, close_at=None)


def may_close(room: Room, by: Person, now: datetime) -> bool:
    """The chair; anyone after the planned end or when the chair has been silent for 5 min (SPEC 2.9)."""
    meeting = room.meeting
    if by.id == meeting.chair_id or now >= meeting.planned_end:
        return True
    chair = room.speakers.get(meeting.chair_id)
    last = chair.last_at if chair and chair.last_at else meeting.started_at
    return (now - last).total_seconds() >= CHAIR_SILENT_S


async def end(core: Core, room: Room, by: Person, *, now_flag: bool) -> None:
    """`/meeting end` and the End button. With `now_flag` (chair only) the read-back is skipped."""
    now = core.clock.now()
    if room.meeting.state is MeetingState.STARTING:
        raise BadInput("error.not_begun")
    if now_flag and by.id != room.meeting.chair_id and not by.manager:
        raise NotAllowed("error.only_chair", chair=room.meeting.chair_name)

    async def work(c: Connection) -> Change:
        if not now_flag:
            return await begin(c, room, by=by.id, quote=None, at=now)
        moved = await meetings.move(
            c,
            room.id,
            {MeetingState.OPEN, MeetingState.CLOSING, MeetingState.READ_BACK},
            MeetingState.WRITING,
            closing_since=room.meeting.closing_since or now,
            wish_by=by.id,
            close_at=None,
        )
        return Change(meeting=moved, value=moved is not None)

    change = await core.commit(room, work)
    if change.value:
        core.watch("owed", meeting_id=room.id, who=by.name, why="wished to end")
        cut_short(room)


async def close_now(core: Core, room: Room, by: Person) -> None:
    """The button of the read-back; a second click finds it done and changes nothing."""
    now = core.clock.now()
    if room.meeting.state is MeetingState.OPEN:
        raise BadInput("error.not_closing")
    if not may_close(room, by, now):
        raise NotAllowed("error.only_chair_closes", chair=room.meeting.chair_name)

    async def work(c: Connection) -> Change:
        return Change(meeting=await expire(c, room))

    await core.commit(room, work)


def refuse_closed(room: Room) -> None:
    """BadInput where the meeting can no longer go on. To be asked inside the unit: who closes it may be quicker."""
    if room.meeting.state in (MeetingState.WRITING, MeetingState.CLOSED):
        raise BadInput("error.closed_already")


async def keep_going(core: Core, room: Room, by: Person) -> None:
    now = core.clock.now()

    async def work(c: Connection) -> Change:
        refuse_closed(room)
        change = Change()
        stamp = int((room.meeting.closing_since or now).timestamp())
        await cancel(c, room, now, change, key=f"cancelled:{stamp}")
        return change

    await core.commit(room, work)


async def read_back_lead(core: Core, room: Room, stuff: Material, seconds: float) -> Thought:
    """The generation behind the words over the read-back; whatever is unread is read with it."""
    return await think(
        core,
        room,
        Route.CLOSING,
        request="read_back",
        stuff=stuff,
        fallback=phrases.t("closing.lead", room.meeting.language),
        seconds=seconds,
    )


async def step_read_back(core: Core, room: Room) -> None:
    """CLOSING -> READ_BACK: read what is unread once more, say what would be closed with, ask the one question."""
    meeting = room.meeting
    since = meeting.closing_since or core.clock.now()
    seconds = max(2.0, READ_BACK_AFTER_WISH_S - (core.clock.now() - since).total_seconds())
    stuff = await material(core, room)
    async with signs.shown(core, room, room.asking(stuff.unread)):
        thought, *replied = await asyncio.gather(
            read_back_lead(core, room, stuff, seconds),
            *answers.for_waiting(core, room, stuff, seconds),
        )
    now = core.clock.now()
    text, source = thought.final(core)
    answered = answers.finals(core, replied)

    async def work(c: Connection) -> Change:
        change = await record(c, room, thought)
        change.value = await reading.settle(c, room, thought)
        change.posts |= await answers.put_all(c, room, answered, now)
        close_at = now + READ_BACK_WINDOW
        moved = await meetings.move(
            c,
            room.id,
            {MeetingState.CLOSING},
            MeetingState.READ_BACK,
            close_at=close_at,
            cursor=thought.cursor,
        )
        if moved is None:  # called off meanwhile; what was read stays recorded
            change.meeting = await meetings.update(c, room.id, cursor=thought.cursor)
            return change
        change.meeting = moved
        view = room.preview(change.entries)
        post = read_back(moved, view, meeting.language, close_at, text)
        number = sum(k.startswith("read_back:") for k in room.keys) + 1
        change.posts |= await put_post(
            c, room, f"read_back:{number}", post, now=now, route=Route.CLOSING, source=source
        )
        return change

    change = await core.commit(room, work)
    room.substance, room.read_back_id = 0, None
    room.after_turn(thought.read_to, change.value)  # what was asked meanwhile is still to be answered


async def step_expire(core: Core, room: Room) -> None:
    core.watch("owed", meeting_id=room.id, who="", why="read-back expired")
    later = core.clock.now() + READ_BACK_WINDOW

    async def work(c: Connection) -> Change:
        if await _unseen(c, room):
            # The window runs from the moment people can see what they are asked.
            return Change(meeting=await meetings.update(c, room.id, close_at=later))
        return Change(meeting=await expire(c, room))

    await core.commit(room, work)


async def _unseen(c: Connection, room: Room) -> bool:
    """The read-back waits to be sent: Discord is away, or we were."""
    number = sum(key.startswith("read_back:") for key in room.keys)
    row = await outbox.get(c, room.id, f"read_back:{number}")
    return row is not None and row.state == "pending"


async def goodbye(core: Core, room: Room, stuff: Material | None = None) -> Thought:
    """The generation behind the last words."""
    return await think(
        core,
        room,
        Route.CLOSING,
        request="goodbye",
        stuff=stuff,
        fallback=phrases.t("closing.goodbye", room.meeting.language),
        seconds=core.limits.seconds(GOODBYE_S),
        extract=False,
    )


async def step_goodbye(core: Core, room: Room) -> None:
    """The last words in the channel; they announce the minutes, so nobody has to ask for them."""
    stuff = await material(core, room)
    async with signs.shown(core, room, room.asking(stuff.unread)):
        thought, *replied = await asyncio.gather(
            goodbye(core, room, stuff),
            *answers.for_waiting(core, room, stuff, core.limits.seconds(GOODBYE_S)),
        )
    now = core.clock.now()
    text, source = thought.final(core)
    answered = answers.finals(core, replied)
    unheard = [m for m in stuff.unread if room.waits(m) and addresses_facilitator(m)]

    async def work(c: Connection) -> Change:
        change = await record(c, room, thought)
        change.posts |= await answers.put_all(c, room, answered, now)
        for message in unheard:
            await promise(c, room, message, now, change)
        post = Outgoing(
            text or phrases.t("closing.goodbye", room.meeting.language),
            Persona.FACILITATOR,
            room.meeting.language,
            meeting_id=room.id,
        )
        change.posts |= await put_post(
            c, room, KEY_GOODBYE, post, now=now, route=Route.CLOSING, source=source
        )
        return change

    await core.commit(room, work)
    core.watch("owed", meeting_id=room.id, who="", why="minutes due")

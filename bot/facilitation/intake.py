"""What people do in a meeting's channel: stored before anything else happens with it (SPEC 2.3)."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from bot import phrases
from bot.errors import StageError
from bot.facilitation import closing, edits, limits, pointing, reading, recording
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import put_reaction
from bot.facilitation.requests import Person
from bot.facilitation.room import KEY_MINUTES, Room
from bot.facilitation.sources import Ledger
from bot.meeting import lookup, marks, replies
from bot.meeting.model import Entry, EntryKind, MeetingState, Message, NewEntry, Origin
from bot.meeting.text import strip_invisible
from bot.stage import Seen
from bot.store import ledger, transcript
from bot.store.engine import Connection
from bot.supervision import log_failure

CONFIRM, OBJECT = "✅", "❌"
UNHEARD = "🔕"
VOTES = {"👍": 1.0, "👎": -1.0}
HURRY_S = 8.0  # what a generation under way may still take once somebody waits for an answer
TYPING = timedelta(seconds=10)  # Discord repeats the event while somebody types


def message_of(room: Room, seen: Seen) -> Message:
    return Message(
        meeting_id=room.id,
        message_id=seen.message_id,
        author_id=seen.author_id,
        author_name=seen.author_name,
        text=strip_invisible(seen.text),
        at=seen.at,
        reply_to=seen.reply_to,
        edited_at=seen.edited_at,
    )


def frozen(room: Room) -> bool:
    """The minutes are drafted: what comes now would stand in no minutes. To be asked inside a unit."""
    return KEY_MINUTES in room.keys


async def append(c: Connection, room: Room, entries: list[NewEntry], now: datetime) -> list[Entry]:
    if not entries:
        return []
    return await ledger.append(c, room.meeting.guild_id, room.id, entries, now, room.core.salt)


async def receive(core: Core, room: Room, seen: Seen) -> None:
    """One human message: message, entries of its marks, their reactions and a wish to end, in one transaction."""
    if room.meeting.state is MeetingState.CLOSED:
        return
    message = message_of(room, seen)
    now = core.clock.now()
    wish = closing.wish_in(room, message)

    async def work(c: Connection) -> Change:
        if await transcript.unheard(c, room.meeting.guild_id, message.author_id, message.at):
            return Change(value=UNHEARD)
        if frozen(room):
            change = Change()
            if room.meeting.state is MeetingState.WRITING:
                await closing.promise(c, room, message, now, change)
            return change
        new = recording.from_message(room.meeting, message, room.view, room.names)
        if not new and marks.correction(message.text) is not None:
            before = await transcript.recent(c, room.id, recording.LINES_BACK)
            earlier = [m for m in before if m.message_id != message.message_id]
            fixed = recording.correction(room.meeting, message, earlier, room.view)
            new = [fixed] if fixed else []
        await core.policy.count(c, room.meeting.guild_id, now)
        if _beyond(room) and not (new or wish or room.meeting.closing or addressed(seen)):
            return Change(posts=await limits.tell(c, room, now))
        if not await transcript.add(c, reading.as_heard(room, message), room.meeting.guild_id):
            return Change()
        core.policy.heard(room.meeting.guild_id)
        stored = await append(c, room, new, message.at)
        reacted = False
        for entry in stored:
            reacted |= await put_reaction(
                c, room, message.message_id, recording.EMOJI.get(entry.kind, "📝"), now
            )
        change = Change(entries=stored, posts=reacted, value=True)
        await pointing.point_out(c, room, change, now)
        await closing.on_message(c, room, message, wish, change, now)
        return change

    change = await core.commit(room, work, first=True)
    if not change.value or change.value == UNHEARD:
        room.present(message.at)
    if change.value == UNHEARD:
        await _show_unheard(core, room, seen)
        return
    if not change.value:
        return
    room.heard(message)
    room.note_pending(message, urgent=addressed(seen) is not None)
    if addressed(seen) is not None:
        room.hurry(HURRY_S)
    closing.after_message(core, room, message)
    room.rearm()


async def _show_unheard(core: Core, room: Room, seen: Seen) -> None:
    """Somebody who opted out addressed the bot: a sign instead of silence, and nothing of it in any row."""
    if addressed(seen) is None:
        return
    try:
        await core.stage.react(room.place, seen.message_id, UNHEARD)
    except StageError as error:
        log_failure(f"no sign for somebody who opted out in meeting {room.id}", error, level=logging.INFO)


def _beyond(room: Room) -> bool:
    """The server has used up its messages of the day: only what is marked, or waited for, is still recorded."""
    return "messages" in room.core.policy.reached(room.meeting.guild_id)


def addressed(seen: Seen) -> str | None:
    """Whom of the two personas a message addresses: "assistant", "facilitator" or nobody."""
    for language in ("ja", "en"):
        if replies.addressed(seen.text, phrases.words(language)) is not None:
            return "assistant"
    return "facilitator" if seen.mentions_me else None


async def edited(core: Core, room: Room, message_id: int, text: str, at: datetime) -> None:
    now = core.clock.now()

    async def work(c: Connection) -> Change:
        known = await transcript.get(c, room.id, message_id)
        if known is None or await transcript.unheard(c, room.meeting.guild_id, known.author_id, at):
            return Change()
        before = await transcript.edit(c, room.id, message_id, strip_invisible(text), at)
        after = await transcript.get(c, room.id, message_id)
        if before is None or after is None or frozen(room):
            return Change()
        others = await _others(c, room, after)
        if edits.outdated(after, Ledger(room.view)):
            await transcript.read_again(c, room.id, [message_id])
        new = edits.from_edit(room.meeting, after, room.view, others, room.names)
        stored = await append(c, room, new, now)
        posts = False
        for entry in stored:
            posts |= await put_reaction(c, room, message_id, recording.EMOJI.get(entry.kind, "✏️"), now)
        change = Change(entries=stored, posts=posts)
        await pointing.point_out(c, room, change, now)
        return change

    await core.commit(room, work)


async def _others(c: Connection, room: Room, changed: Message) -> list[Message]:
    """What else stands in the meeting, whatever was said in it: an entry may stand on any of it.

    Nothing where the message bears no entry and corrects none: most edits are of plain talk, in long channels too.
    """
    concerned = any(e.message_id == changed.message_id for e in room.entries)
    if not concerned and marks.correction(changed.text) is None:
        return []
    return [m for m in await transcript.everything(c, room.id) if m.message_id != changed.message_id]


async def deleted(core: Core, room: Room, message_id: int, at: datetime) -> None:
    async def work(c: Connection) -> Change:
        before = await transcript.delete(c, room.id, message_id, at)
        if before is None:
            return Change()
        gone: list[NewEntry] = []
        if not frozen(room):
            others = await _others(c, room, before)
            gone = edits.from_deletion(before, room.view, others, room.names)
        stored = await append(c, room, gone, at)
        for entry in room.entries:
            if entry.message_id == message_id and not entry.redacted:
                await ledger.redact(c, room.id, entry.number)
        return Change(entries=stored, value="redacted")

    change = await core.commit(room, work)
    if change.value == "redacted":
        room.stale = True
        await room.freshen()
        room.rearm()


async def reacted(
    core: Core,
    room: Room,
    message_id: int,
    person: Person,
    emoji: str,
    added: bool,
    *,
    since: datetime | None = None,
) -> None:
    """✅ confirms and ❌ objects to what was recorded from a message; 👍 and 👎 vote on a proposal.

    Taking the reaction back takes back what it said. `since`: where nobody saw it being put, the earliest moment
    at which it can have been.
    """
    now = core.clock.now()
    plain = bare(emoji)

    async def work(c: Connection) -> Change:
        guild_id = room.meeting.guild_id
        if await transcript.opted_out(c, guild_id, person.id):
            return Change()
        if added and since is not None and await transcript.unheard(c, guild_id, person.id, since):
            return Change()  # perhaps put while they had opted out, and Discord does not tell when
        changed = await transcript.react(
            c, guild_id, room.id, message_id, person.id, person.name, plain, added, now
        )
        if not changed or frozen(room):
            return Change()
        if message_id in room.board_ids:
            return Change(value=await transcript.joined(c, room.id, room.board_ids))
        made = _from_reaction if added else _from_reaction_taken_back
        return Change(entries=await append(c, room, made(room, message_id, person, plain), now))

    change = await core.commit(room, work)
    if change.value is not None:
        room.joined, room.board_dirty = change.value, True
        room.rearm()


def bare(emoji: str) -> str:
    """Without the selector that asks for the coloured form: it is the same reaction either way."""
    return emoji.replace("\ufe0f", "")


def _from_reaction(room: Room, message_id: int, person: Person, emoji: str) -> list[NewEntry]:
    meant = [i for i in room.view.items if i.live and i.original.message_id == message_id]
    new: list[NewEntry] = []
    if emoji == CONFIRM:  # the panel's answers and rewordings are no items of their own
        said = [e.number for e in room.entries if e.message_id == message_id]
        offered = [n for n in said if lookup.offered(room.view, n) is not None]
        new = [_confirmation(room, message_id, person, number) for number in offered]
    for item in meant:
        kind: EntryKind | None = None
        value: float | None = None
        if item.kind is EntryKind.PROPOSAL and emoji in VOTES:
            kind, value = EntryKind.VOTE, VOTES[emoji]
        elif emoji == CONFIRM and item.waits and item.kind is not EntryKind.PROPOSAL:
            kind = EntryKind.CONFIRMATION
        elif emoji == OBJECT and item.kind is not EntryKind.TOPIC:
            kind = EntryKind.OBJECTION
        if kind is not None:
            new.append(
                NewEntry(
                    kind=kind,
                    text="",
                    source_key=_reaction_key(room, f"r:{message_id}:{item.number}:{person.id}:{emoji}"),
                    origin=Origin.REACTION,
                    author_id=person.id,
                    author_name=person.name,
                    message_id=message_id,
                    refers_to=item.number,
                    value=value,
                )
            )
    return new


def _confirmation(room: Room, message_id: int, person: Person, number: int) -> NewEntry:
    key = _reaction_key(room, f"r:{message_id}:{number}:{person.id}:{CONFIRM}")
    return NewEntry(
        EntryKind.CONFIRMATION, "", key, Origin.REACTION, person.id, person.name,
        message_id=message_id, refers_to=number,
    )  # fmt: skip


def _reaction_key(room: Room, key: str) -> str:
    """`key`, counted on where the same reaction was put before and taken back."""
    before = sum(e.source_key == key or e.source_key.startswith(f"{key}:") for e in room.entries)
    return f"{key}:{before}" if before else key


def _from_reaction_taken_back(room: Room, message_id: int, person: Person, emoji: str) -> list[NewEntry]:
    taken = {e.refers_to for e in room.entries if e.kind is EntryKind.RETRACTION}
    begin, end = f"r:{message_id}:", f":{person.id}:{emoji}"
    return [
        NewEntry(
            EntryKind.RETRACTION,
            "",
            f"u:{entry.source_key}",
            Origin.REACTION,
            person.id,
            entry.author_name,
            message_id=message_id,
            refers_to=entry.number,
        )
        for entry in room.entries
        if entry.number not in taken
        and entry.source_key.startswith(begin)
        and (entry.source_key.endswith(end) or f"{end}:" in entry.source_key)
    ]


def typing(core: Core, room: Room) -> None:
    """Somebody types: a countdown waits for them (SPEC 2.9)."""
    if room.meeting.state is MeetingState.READ_BACK:
        room.typing_until = core.clock.now() + TYPING
        room.rearm()

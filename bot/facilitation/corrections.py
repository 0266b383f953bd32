"""What people do to the ledger by hand: message menus, /ledger, the Correct button, errata after the close."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from zoneinfo import ZoneInfo

from bot.errors import BadInput, NoMeeting
from bot.facilitation import intake, pointing, recording
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import deliver, put_post, put_reaction
from bot.facilitation.requests import Person
from bot.facilitation.room import Room
from bot.meeting import dates, lookup
from bot.meeting.model import Entry, EntryKind, Item, MeetingState, Message, NewEntry, Origin
from bot.meeting.text import strip_invisible
from bot.minutes.message import erratum
from bot.minutes.seal import SEAL, erratum_rows, seal
from bot.stage import Seen
from bot.store import meetings, minutes, transcript
from bot.store.engine import Connection

_STATES_OF_RECORD = frozenset(
    {MeetingState.OPEN, MeetingState.CLOSING, MeetingState.READ_BACK, MeetingState.STARTING}
)
ENTRY_CHARACTERS = 2000


def _words(text: str) -> str:
    cleaned = strip_invisible(text).strip()
    if not cleaned:
        raise BadInput("error.text_missing")
    if len(cleaned) > ENTRY_CHARACTERS:
        raise BadInput("error.text_long", limit=ENTRY_CHARACTERS)
    return cleaned


def _item(room: Room, number: int) -> Item:
    item = room.view.item(number)
    if item is None:
        raise BadInput("error.no_entry", number=number)
    return item


def _standing(room: Room, number: int) -> Item:
    """An entry that still holds: what is done to one that was replaced or retracted would change nothing, and nobody
    would be told."""
    item = _item(room, number)
    if not item.live:
        raise BadInput("error.retracted_already", number=number)
    return item


async def _append(core: Core, room: Room, entries: list[NewEntry]) -> list[Entry]:
    return await _append_made(core, room, lambda: entries)


async def _append_made(core: Core, room: Room, make: Callable[[], list[NewEntry]]) -> list[Entry]:
    """Store what `make` gives inside the unit, since entries may name each other by number; the entries as they stand
    in the ledger, also where this very act was carried out before."""
    if room.meeting.state not in _STATES_OF_RECORD:
        raise BadInput("error.closed_already")
    now = core.clock.now()
    keys: set[str] = set()

    async def work(c: Connection) -> Change:
        entries = make()
        keys.update(e.source_key for e in entries)
        await _recordable(c, room.meeting.guild_id, entries[0].author_id)
        change = Change(entries=await intake.append(c, room, entries, now))
        await pointing.point_out(c, room, change, now)
        return change

    await core.commit(room, work)
    return [e for e in room.entries if e.source_key in keys]


async def _recordable(c: Connection, guild_id: int, user_id: int | None) -> None:
    """Raises BadInput where this person asked not to be recorded: what they enter by hand is no exception."""
    if user_id is not None and await transcript.opted_out(c, guild_id, user_id):
        raise BadInput("error.you_opted_out")


async def _one(core: Core, room: Room, entry: NewEntry) -> Entry:
    return (await _append(core, room, [entry]))[-1]


def _by(by: Person, interaction_id: int, kind: EntryKind, text: str, **more: object) -> NewEntry:
    origin = more.pop("origin", Origin.COMMAND)
    assert isinstance(origin, Origin)
    return NewEntry(kind, text, f"i:{interaction_id}", origin, by.id, by.name, **more)  # type: ignore[arg-type]


async def _quotable(c: Connection, room: Room, message: Message) -> None:
    """Raises BadInput where these words were not to be recorded when they were written, or are not to be now."""
    guild_id, author, written = room.meeting.guild_id, message.author_id, message.edited_at or message.at
    known = await transcript.get(c, room.id, message.message_id)
    recorded = known is not None and known.text == message.text
    if await transcript.opted_out(c, guild_id, author) or (
        not recorded and await transcript.unheard(c, guild_id, author, written)
    ):
        raise BadInput("error.author_opted_out")


async def record(
    core: Core, room: Room, seen: Seen, kind: EntryKind, by: Person, interaction_id: int
) -> Entry:
    """Message menu: the message's own words become an entry, quoted whole; a person's act, so it is confirmed."""
    message = intake.message_of(room, seen)
    if seen.bot or seen.mine:
        known = await core.db.unit(lambda c: transcript.get(c, room.id, seen.message_id))
        if known is None or not known.by_panel:
            raise BadInput("error.not_a_persons_message")
        message = known
    text = _words(message.text)
    now = core.clock.now()

    async def work(c: Connection) -> Change:
        await _quotable(c, room, message)
        return Change(value=await transcript.add(c, message, room.meeting.guild_id))

    if (await core.commit(room, work)).value:
        room.heard(message)
    existing = [i for i in room.view.of(kind) if i.original.message_id == message.message_id]
    if existing and existing[-1].waits:
        return await _one(
            core,
            room,
            _by(
                by,
                interaction_id,
                EntryKind.CONFIRMATION,
                "",
                origin=Origin.MENU,
                refers_to=existing[-1].number,
                message_id=message.message_id,
            ),
        )
    if existing:
        return existing[-1].entry
    words = recording.by_menu(kind, text, room.names)
    due: str | None = None
    if kind is EntryKind.ACTION:
        day = dates.resolve(text, recording.today(room.meeting, message), room.meeting.language)
        due = day.isoformat() if day else None
    entry = await _one(
        core,
        room,
        _by(
            by,
            interaction_id,
            kind,
            words.text,
            origin=Origin.MENU,
            quote=text,
            message_id=message.message_id,
            owner=words.owner,
            due=due,
            value=words.value,
        ),
    )

    async def react(c: Connection) -> Change:
        return Change(posts=await put_reaction(c, room, message.message_id, recording.EMOJI[kind], now))

    await core.commit(room, react)
    return entry


async def correct(core: Core, room: Room, by: Person, text: str, interaction_id: int) -> list[Entry]:
    """The Correct button: mark lines become entries, anything else a note that stands in the minutes."""
    words = _words(text)
    now = core.clock.now()
    as_message = Message(room.id, interaction_id, by.id, by.name, words, now)

    def made() -> list[NewEntry]:
        marked = recording.from_message(room.meeting, as_message, room.view, room.names)
        return [
            replace(e, source_key=f"i:{interaction_id}:{n}", origin=Origin.BUTTON, message_id=None)
            for n, e in enumerate(marked)
        ] or [_by(by, interaction_id, EntryKind.NOTE, words, origin=Origin.BUTTON, quote=words)]

    return await _append_made(core, room, made)


async def amend(core: Core, meeting_id: int, by: Person, text: str, interaction_id: int) -> list[Entry]:
    """After the close: a numbered erratum in the thread and in the record; the original stays (SPEC 2.11)."""
    words = _words(text)
    now = core.clock.now()
    meeting = await core.db.unit(lambda c: meetings.get(c, meeting_id))
    if meeting is None:
        raise NoMeeting()
    room = Room(core, meeting)
    await room.reload()

    async def work(c: Connection) -> Change:
        await _recordable(c, meeting.guild_id, by.id)
        added = await minutes.add_erratum(
            c,
            guild_id=meeting.guild_id,
            meeting_id=meeting_id,
            text=words,
            author_id=by.id,
            author_name=by.name,
            source_key=f"i:{interaction_id}",
            now=now,
        )
        if added is None:
            return Change()
        post = erratum(added.number, words, by.name, now, meeting.language, meeting_id=meeting_id)
        return Change(
            posts=await put_post(
                c,
                room,
                f"erratum:{added.number}",
                post,
                now=now,
                route=None,
                where="thread",
                facts={SEAL: seal(post, *erratum_rows(added))},
            )
        )

    await core.commit(room, work)
    await deliver(core, room)
    if room.unreachable is not None:
        raise BadInput("error.erratum_kept")
    return []


async def revise(core: Core, room: Room, number: int, text: str, by: Person, interaction_id: int) -> Entry:
    item = _standing(room, number)
    if item.kind is EntryKind.TOPIC:
        raise BadInput("error.agenda_item", number=number)
    return await _one(
        core,
        room,
        _by(
            by,
            interaction_id,
            EntryKind.REVISION,
            _words(text),
            refers_to=item.number,
            quote=text.strip(),
            owner=item.owner,
            due=item.due,
        ),
    )


async def retract(core: Core, room: Room, number: int, by: Person, interaction_id: int) -> Entry:
    item = _item(room, number)
    if item.status == "retracted":
        raise BadInput("error.retracted_already", number=number)
    return await _one(core, room, _by(by, interaction_id, EntryKind.RETRACTION, "", refers_to=item.number))


async def answer(core: Core, room: Room, number: int, text: str, by: Person, interaction_id: int) -> Entry:
    item = _standing(room, number)
    if item.kind is not EntryKind.QUESTION:
        raise BadInput("error.not_a_question", number=number)
    return await _one(
        core,
        room,
        _by(by, interaction_id, EntryKind.ANSWER, _words(text), refers_to=item.number, quote=text.strip()),
    )


async def done(core: Core, room: Room, number: int, by: Person, interaction_id: int) -> Entry:
    """An action is finished; it stays in this meeting's minutes as done and is carried over no further."""
    item = _item(room, number)
    if item.kind is not EntryKind.ACTION:
        raise BadInput("error.not_an_action", number=number)
    if item.status != "live":
        raise BadInput("error.done_already", number=number)
    return await _one(core, room, _by(by, interaction_id, EntryKind.ANSWER, "", refers_to=item.number))


async def assign(
    core: Core, room: Room, number: int, owner: str | None, due: str | None, by: Person, interaction_id: int
) -> Entry:
    item = _standing(room, number)
    if item.kind is not EntryKind.ACTION:
        raise BadInput("error.not_an_action", number=number)
    when = item.due
    if due:
        day = _day(room, core, due)
        if day is None:
            raise BadInput("error.due_unclear", due=due)
        when = day.isoformat()
    return await _one(
        core,
        room,
        _by(
            by,
            interaction_id,
            EntryKind.REVISION,
            item.text,
            refers_to=item.number,
            owner=owner or item.owner,
            due=when,
        ),
    )


def _day(room: Room, core: Core, due: str) -> date | None:
    here = core.clock.now().astimezone(ZoneInfo(room.meeting.timezone)).date()
    return dates.resolve(due, here, room.meeting.language) or dates.resolve(
        due, here, "en" if room.meeting.language == "ja" else "ja"
    )


async def confirm(core: Core, room: Room, number: int | None, by: Person, interaction_id: int) -> list[Entry]:
    """One entry, or with None everything that waits for a confirmation."""
    waiting = [i.number for i in room.view.items if i.live and i.status == "unconfirmed"]
    if number is not None and lookup.offered(room.view, number) is not None:
        waiting = [number]
    elif number is not None:
        item = _standing(room, number)
        open_proposal = item.kind is EntryKind.PROPOSAL and item.status == "open"
        if not open_proposal and not item.waits:
            raise BadInput("error.confirmed_already", number=number)
        waiting = [item.number]
    if not waiting:
        raise BadInput("error.nothing_to_confirm")
    return await _append(
        core,
        room,
        [
            NewEntry(
                EntryKind.CONFIRMATION,
                "",
                f"i:{interaction_id}:{waits}",
                Origin.COMMAND,
                by.id,
                by.name,
                refers_to=waits,
            )
            for waits in waiting
        ],
    )

"""The agenda by hand: shown, added to, moved, dropped, given minutes, and taken to the next item."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot import phrases
from bot.errors import BadInput
from bot.facilitation import intake
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import put_post
from bot.facilitation.requests import AgendaShown, Person
from bot.facilitation.room import Room
from bot.meeting import agenda
from bot.meeting.agenda import AgendaItem
from bot.meeting.display import brief
from bot.meeting.lifecycle import TALKING
from bot.meeting.model import EntryKind, NewEntry, Origin, Persona
from bot.meeting.text import fold, strip_invisible
from bot.stage import Outgoing
from bot.store import meetings
from bot.store.engine import Connection

MOST_ITEMS = 20
ITEM_CHARACTERS = 200

Edit = Callable[[tuple[AgendaItem, ...]], Sequence[AgendaItem]]


def shown(room: Room) -> AgendaShown:
    meeting = room.meeting
    items = agenda.items(meeting)
    return AgendaShown(
        items,
        agenda.shares(items, agenda.length(meeting)),
        agenda.current(meeting, room.view),
        room.core.clock.now(),
    )


async def add(core: Core, room: Room, line: str) -> AgendaShown:
    item = agenda.parse(" ".join(strip_invisible(line).split()))
    if not item.title:
        raise BadInput("error.text_missing")
    if len(item.title) > ITEM_CHARACTERS:
        raise BadInput("error.text_long", limit=ITEM_CHARACTERS)

    def edit(items: tuple[AgendaItem, ...]) -> Sequence[AgendaItem]:
        if any(fold(known.title) == fold(item.title) for known in items):
            raise BadInput("error.agenda_known", title=item.title)
        if len(items) >= MOST_ITEMS:
            raise BadInput("error.too_many_items", count=len(items) + 1, most=MOST_ITEMS)
        return (*items, item)

    return await _change(core, room, edit)


async def move(core: Core, room: Room, number: int, to: int) -> AgendaShown:
    """Item `number` to place `to`, both counted from 1; beyond the end means the end."""

    def edit(items: tuple[AgendaItem, ...]) -> Sequence[AgendaItem]:
        index = _index(items, number)
        return agenda.moved(items, index, min(max(1, to), len(items)) - 1)

    return await _change(core, room, edit)


async def drop(core: Core, room: Room, number: int) -> AgendaShown:
    def edit(items: tuple[AgendaItem, ...]) -> Sequence[AgendaItem]:
        index = _index(items, number)
        return [item for n, item in enumerate(items) if n != index]

    return await _change(core, room, edit)


async def set_minutes(core: Core, room: Room, number: int, minutes: int | None) -> AgendaShown:
    """Planned minutes of an item; None gives it an even share again."""

    def edit(items: tuple[AgendaItem, ...]) -> Sequence[AgendaItem]:
        index = _index(items, number)
        return [AgendaItem(i.title, minutes) if n == index else i for n, i in enumerate(items)]

    return await _change(core, room, edit)


async def take_up_next(core: Core, room: Room, by: Person, interaction_id: int) -> AgendaShown:
    """The next item is on from now: a topic in the ledger, and a word in the room, where nobody else sees the
    command. BadInput where no item follows.
    """
    now = core.clock.now()

    async def work(c: Connection) -> Change:
        _talking(room)
        following = agenda.following(room.meeting, room.view)
        if following is None:
            raise BadInput("error.agenda_last" if room.meeting.agenda else "error.agenda_empty")
        new = NewEntry(
            EntryKind.TOPIC,
            following.title,
            f"i:{interaction_id}",
            Origin.COMMAND,
            by.id,
            by.name,
        )
        change = Change(entries=await intake.append(c, room, [new], now))
        if change.entries:
            change.posts |= await put_post(
                c, room, f"topic:{interaction_id}", _announced(room, following), now=now, route=None
            )
        return change

    await core.commit(room, work)
    return shown(room)


def _announced(room: Room, item: AgendaItem) -> Outgoing:
    meeting = room.meeting
    items = agenda.items(meeting)
    share = agenda.shares(items, agenda.length(meeting))[items.index(item)]
    text = phrases.t(
        "agenda.next", meeting.language, title=brief(item.title, 160), minutes=max(1, round(share))
    )
    return Outgoing(text, Persona.FACILITATOR, meeting.language, meeting_id=room.id)


async def _change(core: Core, room: Room, edit: Edit) -> AgendaShown:
    async def work(c: Connection) -> Change:
        _talking(room)
        items = edit(agenda.items(room.meeting))
        changed = await meetings.update(
            c,
            room.id,
            agenda=[item.title for item in items],
            agenda_minutes=[item.minutes for item in items],
        )
        return Change(meeting=changed)

    await core.commit(room, work)
    return shown(room)


def _index(items: Sequence[AgendaItem], number: int) -> int:
    if not items:
        raise BadInput("error.agenda_empty")
    if not 1 <= number <= len(items):
        raise BadInput("error.agenda_number", number=number, most=len(items))
    return number - 1


def _talking(room: Room) -> None:
    if room.meeting.state not in TALKING:
        raise BadInput("error.closed_already")

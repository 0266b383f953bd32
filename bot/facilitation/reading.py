"""How far a room has been read. What was missed may turn up behind that: it is late, and is read and answered all
the same, while what had been dealt with stays so."""

from __future__ import annotations

from dataclasses import replace

from bot.facilitation.room import Room
from bot.facilitation.thinking import Thought
from bot.meeting.model import Late, Message
from bot.store import transcript
from bot.store.engine import Connection


def as_heard(room: Room, message: Message) -> Message:
    """`message` as it is stored: late where later ones have been dealt with. To be asked inside a unit."""
    late = message.message_id <= max(room.meeting.cursor, room.handled_to)
    return replace(message, late=Late.WAITING) if late else message


async def settle(c: Connection, room: Room, thought: Thought) -> list[Message]:
    """`thought` has dealt with what it read, in the unit that records it; what waits for the next turn."""
    await mark(c, room, thought, read=thought.generated.output is not None)
    front = max(thought.read_to, room.handled_to)
    waiting = await transcript.unread(c, room.id, front)
    return [m for m in waiting if m.late is not Late.ANSWERED]


async def mark(c: Connection, room: Room, thought: Thought, *, read: bool) -> None:
    """What came in late is read now, or (`read` False) answered at least; what came in behind it meanwhile is late,
    and what was edited while it was read is to be read again."""
    ids = [m.message_id for m in thought.unread]
    if not ids:
        return
    begin = room.meeting.cursor
    if thought.gap:
        # Of a backlog only its newest part was read: what stands before that waits for the catching up, but for
        # questions in it, which the next turns answer.
        first = next((m.message_id for m in thought.unread if m.late is Late.NO), thought.read_to)
        begin = max(begin, first)
        newer = await transcript.after(c, room.id, max(room.meeting.cursor, room.handled_to))
        passed_over = [m.message_id for m in room.asking(newer) if m.message_id < first]
        await transcript.read_again(c, room.id, passed_over, Late.WAITING)
    await transcript.overtaken(c, room.id, begin, thought.read_to, ids)
    await transcript.dealt_with(c, room.id, ids, Late.NO if read else Late.ANSWERED)
    as_read = {m.message_id: m.text for m in thought.unread}
    edited = [m.message_id for m in await transcript.some(c, room.id, ids) if m.text != as_read[m.message_id]]
    await transcript.read_again(c, room.id, edited)

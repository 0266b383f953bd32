"""What the channel's last meeting left open is offered to the next one (issue: the Discord experience, 5).

Open questions and unfinished actions become entries of the new ledger, so that answering or finishing them is
recorded there. Their source key "carry:<meeting>:<number>" says where they come from.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.facilitation.display import message_link
from bot.meeting import ledger as folding
from bot.meeting.model import Entry, EntryKind, Item, LedgerView, Meeting, NewEntry, Origin
from bot.store import ledger, meetings
from bot.store.engine import Connection

KEY = "carry"
MOST = 15  # of each kind, the newest; more is a backlog, not an agenda


def left_open(view: LedgerView) -> list[Item]:
    """Open questions, then actions that nobody said are done."""
    actions = [item for item in view.actions if item.status == "live"]
    return [*view.open_questions[-MOST:], *actions[-MOST:]]


def source_key(meeting_id: int, number: int) -> str:
    return f"{KEY}:{meeting_id}:{number}"


def source_of(entry: Entry) -> tuple[int, int] | None:
    """(meeting, number) that an entry was carried over from, or None."""
    parts = entry.source_key.split(":")
    if len(parts) != 3 or parts[0] != KEY or not (parts[1].isdigit() and parts[2].isdigit()):
        return None
    return int(parts[1]), int(parts[2])


async def entries(c: Connection, guild_id: int, channel_id: int) -> list[NewEntry]:
    """The new ledger's entries for what the channel's last closed meeting left open."""
    last = await meetings.last_held(c, guild_id, channel_id)
    if last is None:
        return []
    view = folding.fold(await ledger.everything(c, last.id))
    return [
        NewEntry(
            kind=item.kind,
            text=item.text,
            source_key=source_key(last.id, item.number),
            origin=Origin.PANEL if item.panels else Origin.START,  # what no person stands for stays so
            author_id=item.original.author_id,
            author_name=item.original.author_name,
            quote=item.entry.quote,
            owner=item.owner,
            due=item.due,
        )
        for item in left_open(view)
        if item.text.strip()
    ]


async def links(c: Connection, meeting: Meeting, entries: Sequence[Entry]) -> dict[int, str]:
    """Link to where each carried entry was said (else to that meeting's board), by the number it has here."""
    found: dict[int, str] = {}
    sources = {entry.number: source for entry in entries if (source := source_of(entry)) is not None}
    old: dict[int, tuple[Meeting | None, dict[int, Entry]]] = {}
    for number, (meeting_id, there) in sources.items():
        if meeting_id not in old:
            held = await meetings.get(c, meeting_id, guild_id=meeting.guild_id)
            rows = await ledger.everything(c, meeting_id) if held is not None else []
            old[meeting_id] = held, {entry.number: entry for entry in rows}
        held, by_number = old[meeting_id]
        if held is None or held.channel_id != meeting.channel_id:
            continue
        message = by_number[there].message_id if there in by_number else None
        target = message or held.kickoff_message_id
        if target is not None:
            found[number] = message_link(held.guild_id, held.channel_id, target)
    return found


def kind_counts(carried: Sequence[NewEntry]) -> tuple[int, int]:
    """(questions, actions)"""
    questions = sum(entry.kind is EntryKind.QUESTION for entry in carried)
    return questions, len(carried) - questions

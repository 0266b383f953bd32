"""Conflicts between what was just decided and what binds: pointed out at once, decided by people (SPEC 2.6)."""

from __future__ import annotations

from datetime import datetime

from bot import phrases
from bot.facilitation.core import Change
from bot.facilitation.delivery import put_post
from bot.facilitation.room import Room
from bot.meeting.display import brief
from bot.meeting.model import EntryKind, Persona, Route
from bot.stage import Outgoing
from bot.store.engine import Connection


async def point_out(c: Connection, room: Room, change: Change, now: datetime) -> None:
    """One post for each decision that `change` brings into conflict: both sides, and a request to settle it."""
    if not change.entries:
        return
    before, after = room.view, room.preview(change.entries)
    known = {(i.number, other) for i in before.decisions for other in i.conflicts_with}
    language = room.meeting.language
    for item in after.decisions:
        fresh = [n for n in item.conflicts_with if (item.number, n) not in known]
        if not fresh:
            continue
        other = after.item(fresh[0])
        if other is None:
            continue
        constraint = other.kind is EntryKind.CONSTRAINT
        text = phrases.t(
            "fixed.turn.conflict_constraint" if constraint else "fixed.turn.conflict_decision",
            language,
            number=item.number,
            text=brief(item.text, 160),
            other=other.number,
            other_text=brief(other.text, 160),
        )
        post = Outgoing(
            text, Persona.FACILITATOR, language, meeting_id=room.id, reply_to=item.entry.message_id
        )
        change.posts |= await put_post(
            c, room, f"conflict:{item.number}:{other.number}", post, now=now, route=Route.TURN, source="fixed"
        )

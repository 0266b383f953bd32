"""What a room missed while the bot was away: messages, edits, deletions and reactions, read from the channel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from bot.facilitation import intake
from bot.facilitation.core import Core
from bot.facilitation.delivery import CLOCKS_APART, snowflake
from bot.facilitation.requests import Person
from bot.facilitation.room import Room
from bot.meeting.model import Message
from bot.stage import Refused, Seen
from bot.store import meetings, transcript
from bot.store.engine import Connection

AGAIN = 100  # stored messages looked at again, for edits, deletions and reactions missed
HEARD = frozenset(
    {intake.CONFIRM, intake.OBJECT, *intake.VOTES}
)  # what a reaction to people's words can mean


async def read(core: Core, room: Room) -> None:
    """By message id, so that reading twice is reading once. Raises StageError where Discord gives nothing."""
    kickoff = room.meeting.kickoff_message_id or snowflake(room.meeting.started_at - CLOCKS_APART)

    async def known(c: Connection) -> tuple[int, list[Message]]:
        start = await _start(c, room, kickoff)
        return start, await transcript.after(c, room.id, start - 1)

    start, stored = await core.db.unit(known)
    seen = {s.message_id: s for s in await core.stage.history(room.place, start - 1)}
    newest = max(seen, default=0)
    if start > kickoff:  # the board stands before them, and people join by reacting to it
        seen |= {s.message_id: s for s in await core.stage.history(room.place, kickoff - 1, 1)}
    known_ids = {m.message_id for m in stored}
    for message in seen.values():
        if not message.mine and not message.bot and message.message_id not in known_ids:
            await intake.receive(core, room, message)
    for old in stored:  # none of them older than what was read: of those nothing says that they are gone
        now = seen.get(old.message_id)
        if now is None:
            await intake.deleted(core, room, old.message_id, core.clock.now())
        elif now.edited_at is not None and now.edited_at != old.edited_at:
            await intake.edited(core, room, old.message_id, now.text, now.edited_at)
    await _reactions(core, room, seen.values())
    await core.db.unit(lambda c: meetings.hear(c, room.id, newest))


async def _start(c: Connection, room: Room, kickoff: int) -> int:
    """The first message to be read: nothing before it was missed, and it is never before the kickoff."""
    latest = await transcript.recent(c, room.id, AGAIN)
    if len(latest) < AGAIN:
        return kickoff
    return max(kickoff, min(latest[0].message_id, await meetings.heard_to(c, room.id)))


async def note_heard(core: Core, room: Room) -> None:
    """With every sweep: what was heard by the one before need not be read again.

    Not what was heard just now: after a gap people's new messages come in before the library says that it is ready.
    """
    heard, room.newest_before = room.newest_before, room.newest_id if room.whole else 0
    if heard and room.whole and heard != room.newest_before:
        await core.db.unit(lambda c: meetings.hear(c, room.id, heard))


async def _reactions(core: Core, room: Room, seen: Iterable[Seen]) -> None:
    """Put and taken back ones; who reacted is asked only where the number differs from what is stored."""
    there = {s.message_id: s for s in seen}
    stored: dict[tuple[int, str], dict[int, str]] = defaultdict(dict)
    for message_id, user, name, emoji in await core.db.unit(
        lambda c: transcript.reactions_on(c, room.id, list(there))
    ):
        stored[message_id, emoji][user] = name
    shown = {
        (s.message_id, intake.bare(emoji)): (emoji, count)
        for s in there.values()
        for emoji, count in s.reactions
        if s.mine or intake.bare(emoji) in HEARD
    }
    for message_id, emoji in sorted(shown.keys() | stored.keys()):
        written, count = shown.get((message_id, emoji), (emoji, 0))
        before = stored[message_id, emoji]
        if count == len(before):
            continue
        try:
            found = await core.stage.reactors(room.place, message_id, written) if count else []
        except Refused as refused:
            if refused.reason != "gone":
                raise
            continue  # the message was deleted since the page was read; of the channel the next page tells
        people = dict(found)
        for user in sorted(people.keys() ^ before.keys()):
            person = Person(user, people.get(user) or before.get(user, ""), manager=False)
            since = there[message_id].at
            await intake.reacted(core, room, message_id, person, emoji, user in people, since=since)

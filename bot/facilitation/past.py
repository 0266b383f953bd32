"""A decision held against those of the server's past meetings: pointed out once, replaced when people say so.

Only where everyone in this channel may read the source channel; another channel's words show to nobody else.
"""

from __future__ import annotations

from zoneinfo import ZoneInfo

from bot import phrases
from bot.errors import BadInput, StageError
from bot.facilitation import intake
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import put_post
from bot.facilitation.display import message_link, stamp
from bot.facilitation.requests import Person
from bot.facilitation.room import Room
from bot.meeting.conflicts import contradiction
from bot.meeting.display import brief
from bot.meeting.lifecycle import TALKING
from bot.meeting.model import Entry, EntryKind, Item, NewEntry, Origin, Persona, Route
from bot.stage import Button, Outgoing, Place
from bot.store import overview, search
from bot.store.engine import Connection
from bot.store.search import Found
from bot.supervision import log_failure

COMPARED = 25  # past decisions that one decision is compared with, the most alike
ALIKE = 0.35  # share of the words; less than for an answer, since the values differ


async def step_past(core: Core, room: Room) -> None:
    """Every decision not yet looked at. What was pointed out stands in the outbox, so that it comes once."""
    for item in room.unchecked:
        try:
            found = await _against(core, room, item)
            if found is not None:
                await _point_out(core, room, item, found)
        except Exception as error:  # a hint is not worth a meeting that stands still
            log_failure(f"decision {item.number} of meeting {room.id} was not held against past ones", error)
        room.checked.add(item.number)


async def _against(core: Core, room: Room, item: Item) -> Found | None:
    meeting = room.meeting
    alike = await core.db.unit(
        lambda c: search.decisions(c, meeting.guild_id, item.text, None, without=room.id, least=ALIKE)
    )
    standing = [f for f in alike[:COMPARED] if f.replaced_by is None and f.against == _against_it(item)]
    for found in sorted(standing, key=lambda f: f.at, reverse=True):
        if contradiction(item.text, found.text, item.entry.at.date()) and await _may_be_shown(
            core, room, found
        ):
            return found
    return None


def _against_it(item: Item) -> bool:
    return (item.entry.value or 0) < 0


async def _may_be_shown(core: Core, room: Room, found: Found) -> bool:
    if found.channel_id == room.meeting.channel_id:
        return True
    try:
        source = Place(room.meeting.guild_id, found.channel_id)
        return await core.stage.readable_by_all(room.place, source)
    except StageError as error:
        log_failure(f"who may read channel {found.channel_id} is unknown", error)
        return False


def link_of(guild_id: int, found: Found) -> str:
    target = found.message_id or found.kickoff_message_id or found.channel_id
    return message_link(guild_id, found.channel_id, target)


async def _point_out(core: Core, room: Room, item: Item, found: Found) -> None:
    now = core.clock.now()
    meeting = room.meeting
    text = phrases.t(
        "past.conflict",
        meeting.language,
        number=item.number,
        text=brief(item.text, 160),
        title=brief(found.title, 80),
        day=stamp(found.at, "d"),
        other=found.number,
        other_text=brief(found.text, 160),
        link=link_of(meeting.guild_id, found),
    )
    post = Outgoing(
        text,
        Persona.FACILITATOR,
        meeting.language,
        buttons=(Button("replace", phrases.t("past.button_replace", meeting.language)),),
        meeting_id=room.id,
        reply_to=item.entry.message_id,
    )
    key = f"past:{item.number}:{found.meeting_id}:{found.number}"
    facts = {"replaces": [found.meeting_id, found.number], "decision": item.number}

    async def work(c: Connection) -> Change:
        posts = await put_post(c, room, key, post, now=now, route=Route.TURN, source="fixed", facts=facts)
        return Change(posts=posts)

    await core.commit(room, work)


async def replace_past(core: Core, room: Room, message_id: int, by: Person) -> Entry:
    """The button under what was pointed out: people say that the new decision takes the old one's place."""
    now = core.clock.now()

    async def work(c: Connection) -> Change:
        if room.meeting.state not in TALKING:
            raise BadInput("error.closed_already")
        posts = await overview.posts(c, room.id)
        post = next((p for p in posts if p.message_id == message_id and p.payload.get("replaces")), None)
        if post is None:
            raise BadInput("error.outdated_button")
        meeting_id, number = post.payload["replaces"]
        old = await search.one(c, room.meeting.guild_id, meeting_id, number)
        item = room.view.item(int(post.payload["decision"]))
        if old is None or item is None or not item.live:
            raise BadInput("error.retracted_already", number=post.payload["decision"])
        text = phrases.t(
            "past.replaces",
            room.meeting.language,
            number=item.number,
            title=old.title,
            day=f"{old.at.astimezone(ZoneInfo(room.meeting.timezone)):%Y-%m-%d}",
            other=old.number,
            other_text=old.text,
        )
        key = search.replaces(old.meeting_id, old.number)
        note = NewEntry(
            EntryKind.NOTE, text, key, Origin.BUTTON, by.id, by.name, refers_to=item.original.number
        )
        return Change(entries=await intake.append(c, room, [note], now), value=key)

    change = await core.commit(room, work)
    return next(entry for entry in room.entries if entry.source_key == change.value)

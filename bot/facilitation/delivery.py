"""The outbox: every post is a row of frozen bytes first, and reaches Discord at least once and shows up once.

Row and draft in one transaction; an attempt row committed before the request; a nonce that depends on the row alone;
where an attempt was made before, a look into the channel's history first; recorded by compare-and-set
(RELIABILITY.md, sending).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from bot import phrases
from bot.facilitation import reacting
from bot.facilitation.core import Change, Core
from bot.facilitation.room import KEY_KICKOFF, KEY_MINUTES, Room
from bot.meeting.display import display
from bot.meeting.model import ChannelKind, MeetingState, Persona, Route
from bot.meeting.schedule import READ_BACK_WINDOW
from bot.meeting.text import squeeze
from bot.stage import Attachment, Busy, Button, Embed, Outgoing, Place, Refused, Seen, Uncertain
from bot.store import meetings, outbox
from bot.store.engine import Connection
from bot.store.outbox import Post
from bot.supervision import log_failure

RETRY = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)  # seconds between tries; the last one for ever
READ_BACK_LATE = timedelta(seconds=5)
CLOCKS_APART = timedelta(minutes=2)  # how far ours may be ahead of Discord's, whose time is in the ids
_SNOWFLAKE_EPOCH_MS = 1_420_070_400_000


def snowflake(at: datetime) -> int:
    """The smallest Discord id of that moment."""
    return max(0, int(at.timestamp() * 1000) - _SNOWFLAKE_EPOCH_MS) << 22


def moment(message_id: int) -> datetime:
    """When a message with this id was made, by Discord's clock."""
    return datetime.fromtimestamp(((message_id >> 22) + _SNOWFLAKE_EPOCH_MS) / 1000, UTC)


async def put_post(
    c: Connection,
    room: Room,
    key: str,
    post: Outgoing,
    *,
    now: datetime,
    route: Route | None,
    source: str | None = None,
    kind: str = "post",
    where: str = "channel",
    generation_id: int | None = None,
    facts: Mapping[str, Any] | None = None,
) -> bool:
    """Freeze `post` under `key`; False where that key was put before (then nothing changes)."""
    payload: dict[str, Any] = {
        "embeds": [asdict(e) for e in post.embeds],
        "buttons": [asdict(b) for b in post.buttons],
        "pin": post.pin,
        "language": post.language,
        **(facts or {}),
    }
    row = await outbox.put(
        c,
        guild_id=room.meeting.guild_id,
        meeting_id=room.id,
        key=key,
        route=route.value if route else None,
        persona=post.persona.value,
        kind=kind,
        where=where,
        text=post.text,
        payload=payload,
        files=[(f.name, f.content) for f in post.files],
        reply_to=post.reply_to,
        source=source,
        now=now,
        generation_id=generation_id,
    )
    if row is not None:
        room.keys.add(key)
        room.puts += 1
    return row is not None


async def put_reaction(c: Connection, room: Room, message_id: int, emoji: str, now: datetime) -> bool:
    """Our reaction on a message, through the outbox like everything the room relies on."""
    post = await outbox.put(
        c,
        guild_id=room.meeting.guild_id,
        meeting_id=room.id,
        key=f"react:{message_id}:{emoji}",
        route=None,
        persona="system",
        kind="reaction",
        where="channel",
        text="",
        payload={"target": message_id, "emoji": emoji},
        files=(),
        reply_to=None,
        source=None,
        now=now,
    )
    if post is not None:
        room.keys.add(post.key)
        room.puts += 1
    return post is not None


def outgoing_of(row: Post) -> Outgoing:
    """The frozen post as the stage takes it."""
    payload = row.payload
    return Outgoing(
        text=row.text,
        persona=Persona(row.persona),
        language=payload.get("language", "en"),
        embeds=tuple(
            Embed(e["title"], e["description"], tuple((f[0], f[1]) for f in e["fields"]), e["footer"])
            for e in payload.get("embeds", ())
        ),
        files=tuple(Attachment(name, content) for name, content in row.files),
        buttons=tuple(Button(**b) for b in payload.get("buttons", ())),
        meeting_id=row.meeting_id,
        reply_to=row.reply_to,
        nonce=row.nonce,
        pin=bool(payload.get("pin")),
        speaker=str(payload.get("speaker", "")),
    )


def _same(seen: Seen, post: Outgoing) -> bool:
    """Whether a message of ours found in the history is this very post."""
    if post.speaker:  # under its own name, or with the name in front: whichever way it went out
        named = seen.webhook_id is not None and squeeze(seen.author_name) == squeeze(post.speaker)
        prefixed = seen.mine and squeeze(seen.text) == squeeze(f"**{post.speaker}**\n{post.text}")
        return prefixed or (named and squeeze(seen.text) == squeeze(post.text))
    if not seen.mine:
        return False
    footers = {e.footer for e in post.embeds if e.footer}
    if footers:
        return footers <= set(seen.embed_footers)
    return squeeze(seen.text) == squeeze(post.text) and {f.name for f in post.files} <= set(seen.files)


async def deliver(core: Core, room: Room) -> None:
    """Send what is due until the outbox is empty or Discord wants a pause; one sender a meeting.

    Posts keep their order. Reactions come after them, and one that cannot be put holds nothing up.
    """
    async with core.sending(room.id):
        while True:
            put_before = room.puts
            due = await core.db.unit(lambda c: outbox.due(c, room.id))
            if not await _send_posts(core, room, [row for row in due if row.kind != "reaction"]):
                return
            if room.puts == put_before:  # what was put meanwhile may be a post: that goes first
                await reacting.put_all(core, room, [row for row in due if row.kind == "reaction"])
            if room.puts == put_before:
                room.deliver_at, room.tries = None, 0
                return


async def _send_posts(core: Core, room: Room, rows: Sequence[Post]) -> bool:
    """In order; False where the first that cannot be sent now has to be waited for."""
    for row in rows:
        try:
            await _one(core, room, row)
            room.tries = 0
        except Busy as busy:
            _later(core, room, max(busy.retry_after, RETRY[min(room.tries, 2)]))
            return False
        except Uncertain:
            _later(core, room, RETRY[min(room.tries, len(RETRY) - 1)])
            return False
        except Refused as refused:
            await _refused(core, room, row, refused)
    return True


def _later(core: Core, room: Room, seconds: float) -> None:
    room.tries += 1
    room.deliver_at = core.clock.now() + timedelta(seconds=seconds)


async def _one(core: Core, room: Room, row: Post) -> None:
    from bot.panel import speech  # it puts posts itself

    now = core.clock.now()
    before = await core.db.unit(lambda c: outbox.begin_attempt(c, row.id, core.owner, now))
    post = outgoing_of(row)
    if row.kind == "dm":
        await _record(core, room, row, await core.stage.direct_message(int(row.payload["target"]), post))
        return
    place = await _place(core, room, row)
    message_id = await _already_there(core, room, place, row, post) if before else None
    if message_id is None:
        message_id = await (speech.say(core, room, post) if post.speaker else core.stage.say(place, post))
    await _record(core, room, row, message_id, place)


async def _place(core: Core, room: Room, row: Post) -> Place:
    """Where a row goes; the minutes' thread is opened (or found again) on the way."""
    meeting = room.meeting
    if row.where != "thread":
        return room.place
    if meeting.thread_id is not None:
        return Place(meeting.guild_id, meeting.thread_id)
    # A thread or post is the minutes' place itself, and the chats of voice channels have no threads.
    if room.board_message_id is None or meeting.channel_kind is not ChannelKind.TEXT:
        return room.place
    name = str(row.payload.get("thread_name", meeting.title))
    place = await _thread(core, room, (meeting.kickoff_message_id, room.board_message_id), name)
    if place is None:
        return room.place

    async def work(c: Connection) -> Change:
        return Change(meeting=await meetings.update(c, room.id, thread_id=place.channel_id))

    await core.commit(room, work)
    return place


async def _thread(core: Core, room: Room, starters: Iterable[int | None], name: str) -> Place | None:
    """The thread at the first of these messages that still stands there.

    None where there can be none (no right to open one, all of them deleted): then the minutes go to the channel
    itself, and where that is gone too, the post itself is refused.
    """
    for message_id in dict.fromkeys(m for m in starters if m is not None):
        try:
            return await core.stage.open_thread(room.place, message_id, name)
        except Refused as refused:
            if refused.reason != "gone":
                return None
    return None


async def _already_there(core: Core, room: Room, place: Place, row: Post, post: Outgoing) -> int | None:
    """After an attempt of unknown outcome: the message it left, if it left one."""
    known = await core.db.unit(lambda c: outbox.sent_ids(c, room.id))
    since = snowflake(row.created_at - CLOCKS_APART)
    for seen in await core.stage.history(place, since):
        if seen.message_id not in known and _same(seen, post):
            return seen.message_id
    return None


async def _record(core: Core, room: Room, row: Post, message_id: int, place: Place | None = None) -> None:
    from bot.panel import speech

    now = core.clock.now()
    meeting = room.meeting

    async def work(c: Connection) -> Change:
        first = await outbox.sent(c, row.id, message_id, now)
        change = Change(value=first)
        if first and row.persona is Persona.PANEL:
            await speech.hear(c, room, row, message_id, change, now)
        if first and row.key == KEY_KICKOFF:
            change.meeting = await meetings.move(
                c, room.id, {MeetingState.STARTING}, MeetingState.OPEN, kickoff_message_id=message_id
            )
        late = now - row.created_at > READ_BACK_LATE
        if first and late and row.key.startswith("read_back:"):
            # People have their whole minute, however long the read-back was on its way.
            change.meeting = await meetings.move(
                c,
                room.id,
                {MeetingState.READ_BACK},
                MeetingState.READ_BACK,
                close_at=now + READ_BACK_WINDOW,
            )
        return change

    change = await core.commit(room, work)
    if not change.value:
        return
    if change.said is not None:
        room.heard(change.said)
        room.note_pending(change.said, urgent=False)
    if row.kind in ("post", "minutes"):
        room.own_ids.add(message_id)
        core.watch(
            "posted",
            meeting_id=room.id,
            message_id=message_id,
            persona=row.persona,
            route=row.route,
            source=row.source,
            name=row.payload.get("speaker"),
            where="thread" if place and place.channel_id != meeting.channel_id else "channel",
        )
    if row.key == KEY_KICKOFF or row.key.startswith("board:"):
        room.board_message_id = message_id
        room.board_ids.add(message_id)
        room.board_edited_at, room.board_dirty = now, row.key != KEY_KICKOFF  # it may have waited for long
        room.board_owed = False
    if row.key.startswith("read_back:"):
        room.read_back_id = message_id
    if row.key == KEY_MINUTES:
        room.minutes_sent = True
        core.watch(
            "published",
            meeting_id=room.id,
            message_id=message_id,
            entries=len(room.entries),
            messages=room.human_count,
        )
    if row.payload.get("hand_off"):
        room.assist.append(row.key)


async def _never_began(c: Connection, room: Room, row: Post, now: datetime) -> Change:
    """The kickoff was refused. Known in one transaction: a crash after it must not leave the channel taken."""
    meeting = room.meeting
    change = Change(
        meeting=await meetings.move(c, room.id, {MeetingState.STARTING}, MeetingState.CLOSED, closed_at=now)
    )
    if await outbox.attempts(c, row.id) > 1:  # whoever started it was told that it begins
        channel = f"<#{meeting.channel_id}>"
        text = phrases.t("post.never_began", meeting.language, title=display(meeting.title), channel=channel)
        post = Outgoing(text, Persona.SYSTEM, meeting.language, meeting_id=room.id)
        change.posts = await put_post(
            c, room, "never_began", post, now=now, route=None, kind="dm", facts={"target": meeting.chair_id}
        )
    return change


async def _refused(core: Core, room: Room, row: Post, refused: Refused) -> None:
    """Sending the same again will not help: the row is set aside; what it holds stays readable in the store."""
    log_failure(f"post {row.key} of meeting {room.id} was refused ({refused.reason})", refused)
    now = core.clock.now()

    async def work(c: Connection) -> Change:
        await outbox.fail(c, row.id, refused.reason, now)
        return await _never_began(c, room, row, now) if row.key == KEY_KICKOFF else Change()

    await core.commit(room, work)
    if row.key.startswith("board:"):
        room.board_owed = False
    # One post that Discord takes as malformed stops nothing; a channel that takes none ends the meeting.
    if row.kind in ("post", "minutes") and (refused.reason != "invalid" or row.key == KEY_KICKOFF):
        room.unreachable = refused.reason
    if row.key == KEY_MINUTES:
        room.minutes_sent = True  # kept, shown by /minutes show and offered to the chair

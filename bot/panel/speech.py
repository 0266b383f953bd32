"""A panelist's post on its way: under its own name where a webhook serves, and into the transcript once it stands.

What panelists say becomes part of the record as a participant's words do, but binds nobody: its entries are the
panel's, and it is never a wish to end, an answer to the read-back or a confirmation.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from bot import phrases
from bot.facilitation import pointing, recording
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import moment, put_post, put_reaction
from bot.facilitation.room import KEY_MINUTES, Room
from bot.meeting.model import Message, Persona
from bot.panel.roles import author_id
from bot.stage import Outgoing, Refused
from bot.store import ledger, panels, transcript
from bot.store.engine import Connection
from bot.store.outbox import Post

PREFIX = "panel:"  # of the outbox keys, followed by the turn's number
KEY_NO_WEBHOOK = "panel_names"


async def say(core: Core, room: Room, post: Outgoing) -> int:
    """Post through the webhook; where that cannot be, by name prefix, which the room is told once."""
    webhook_id = await _webhook(core, room)
    if webhook_id is not None:
        try:
            return await core.stage.say(room.place, replace(post, webhook_id=webhook_id))
        except Refused as refused:
            if refused.reason == "no_webhook":
                await _without(core, room, refused.detail)
            elif (
                refused.reason != "invalid"
            ):  # a name that Discord takes as malformed is shown in front instead
                raise
    return await core.stage.say(room.place, post)


async def _webhook(core: Core, room: Room) -> int | None:
    """Its id, stored before anything goes out through it: after a restart it is known again as ours."""
    panel = room.panel
    if panel is None or panel.webhook_unusable is not None:
        return None
    try:
        webhook_id = await core.stage.webhook(room.place, panel.webhook_id)
    except Refused as refused:
        if refused.reason != "no_webhook":
            raise
        await _without(core, room, refused.detail)
        return None
    if panel.webhook_id != webhook_id:

        async def work(c: Connection) -> Change:
            return Change(value=await panels.update(c, room.id, webhook_id=webhook_id))

        room.panel = (await core.commit(room, work)).value
    return webhook_id


async def _without(core: Core, room: Room, why: str) -> None:
    """From now on by prefix; said once, with what would mend it."""
    now, language = core.clock.now(), room.meeting.language
    reason = why if why in ("forbidden", "deleted", "full", "kind") else "kind"

    async def work(c: Connection) -> Change:
        change = Change(value=await panels.update(c, room.id, webhook_unusable=reason))
        text = phrases.t(f"panel.no_webhook.{reason}", language)
        post = Outgoing(text, Persona.SYSTEM, language, meeting_id=room.id)
        change.posts = await put_post(c, room, KEY_NO_WEBHOOK, post, now=now, route=None, source="fixed")
        return change

    room.panel = (await core.commit(room, work)).value


async def hear(c: Connection, room: Room, row: Post, message_id: int, change: Change, now: datetime) -> None:
    """The post joins the transcript with the entries of its marks, in the transaction that records its message id."""
    if KEY_MINUTES in room.keys:
        return  # the minutes are drafted: what comes now would stand in none
    meeting = room.meeting
    message = Message(
        meeting_id=room.id,
        message_id=message_id,
        author_id=author_id(int(row.payload["role"])),
        author_name=str(row.payload["speaker"]),
        text=row.text,
        at=moment(message_id),
    )
    if not await transcript.add(c, message, meeting.guild_id):
        return
    room.core.policy.heard(meeting.guild_id)
    change.said = message
    new = recording.from_panelist(meeting, message, room.view, room.names)
    if new:
        change.entries = await ledger.append(c, meeting.guild_id, room.id, new, message.at, room.core.salt)
        change.posts |= await put_reaction(c, room, message_id, recording.PANEL_EMOJI, now)
        await pointing.point_out(c, room, change, now)

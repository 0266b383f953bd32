"""Keeping the board true: the kickoff post edited in place, or moved to a new message where Discord limits edits."""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.errors import StageError
from bot.facilitation.board import board
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import put_post
from bot.facilitation.room import KEY_MINUTES, Room
from bot.meeting.lifecycle import TALKING
from bot.meeting.model import Meeting, MeetingState
from bot.panel import bill
from bot.stage import Busy, Outgoing, Refused
from bot.store import outbox
from bot.store.engine import Connection
from bot.supervision import log_failure


def link(guild_id: int, channel_id: int, message_id: int) -> str:
    return f"https://discord.com/channels/{guild_id}/{channel_id}/{message_id}"


async def step_board(core: Core, room: Room) -> None:
    """Make the kickoff post show what holds now, where it shows anything else."""
    now = core.clock.now()
    shown = await board_now(core, room, now)
    room.board_dirty, room.board_edited_at = False, now
    if shown == room.board_last or room.board_message_id is None:
        return
    if room.board_owed:
        room.board_dirty = True  # what holds by then is shown once the new message is there
        return
    try:
        await core.stage.edit(room.place, room.board_message_id, shown)
        room.board_last = shown
        core.watch("board", meeting_id=room.id, message_id=room.board_message_id)
    except Refused as refused:
        if refused.reason == "too_old" or (refused.reason == "gone" and room.meeting.state in TALKING):
            await new_board(core, room, shown, now)
        elif refused.reason in ("gone", "forbidden") and room.meeting.state is MeetingState.OPEN:
            log_failure(f"board of meeting {room.id} cannot be edited ({refused.reason})", refused)
            room.board_message_id = None
    except Busy as busy:
        room.board_dirty, room.board_edited_at = True, now + timedelta(seconds=busy.retry_after)
    except StageError:
        room.board_dirty = True


async def board_now(core: Core, room: Room, now: datetime, meeting: Meeting | None = None) -> Outgoing:
    meeting = meeting or room.meeting
    minutes_link = None
    if room.minutes_sent:
        row = await core.db.unit(lambda c: outbox.get(c, room.id, KEY_MINUTES))
        if row is not None and row.message_id is not None:
            minutes_link = link(meeting.guild_id, meeting.thread_id or meeting.channel_id, row.message_id)
    return board(
        meeting,
        room.view,
        room.ranked_speakers,
        now,
        language=meeting.language,
        degraded=core.degraded(),
        state_note=room.progress,
        minutes_link=minutes_link,
        retention_days=room.retention_days,
        carried=room.carried,
        joined=len(room.attendees) - len(room.ranked_speakers),
        ledger_days=core.policy.settings(meeting.guild_id).ledger_days,
        model_name=core.models_shown(meeting.guild_id, meeting.language),
        limited=bool(core.policy.reached(meeting.guild_id)),
        panel=bill.board_lines(room),
    )


async def new_board(core: Core, room: Room, shown: Outgoing, now: datetime) -> None:
    """Edits of messages older than an hour are limited (30046), or somebody deleted it: it goes on in a new one."""
    number = sum(key.startswith("board:") for key in room.keys) + 1

    async def work(c: Connection) -> Change:
        return Change(posts=await put_post(c, room, f"board:{number}", shown, now=now, route=None))

    await core.commit(room, work)
    room.board_owed, room.board_last = True, shown

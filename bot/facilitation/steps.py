"""Taking one room's due steps, one after the other, and what happens when a step fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta

from bot import phrases
from bot.facilitation import closing, nudges, opening, past, timekeeper, turn
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import RETRY, deliver, put_post
from bot.facilitation.room import KEY_MINUTES, Room
from bot.facilitation.showing import board_now, new_board, step_board
from bot.meeting.display import display
from bot.meeting.lifecycle import TALKING
from bot.meeting.model import MeetingState, Persona
from bot.meeting.schedule import StepKind
from bot.minutes.draft import step_draft
from bot.panel.turn import step_panel
from bot.stage import Attachment, Busy, Outgoing, Refused, Uncertain
from bot.store import meetings, minutes, outbox, passages, search
from bot.store.engine import Connection
from bot.supervision import log_failure

BACKOFF = (1.0, 2.0, 5.0, 15.0, 60.0)
STEPS_AT_ONCE = 50  # then other rooms have their turn


async def run(core: Core, room: Room) -> datetime | None:
    """All steps that are due; returns when the room wants to be looked at next. Never raises but for cancellation."""
    try:
        await room.freshen()
        for _ in range(STEPS_AT_ONCE):
            if room.holding:
                return min(room.gap_at or core.clock.now(), room.gap_until or core.clock.now())
            if room.unreachable is not None and room.meeting.state in TALKING:
                await give_up_on_channel(core, room)
            step = room.next()
            if step is None:
                return None
            if step.at > core.clock.now():
                return step.at
            await _STEPS[step.kind](core, room)
            room.failures = 0
        return core.clock.now()
    except Exception as error:
        room.failures += 1
        room.stale = True
        log_failure(f"step of meeting {room.id} failed, it is tried again", error)
        return core.clock.now() + timedelta(seconds=BACKOFF[min(room.failures, len(BACKOFF)) - 1])


async def step_finish(core: Core, room: Room) -> None:
    """Minutes are out (or kept, where no place is left): the meeting is closed, the board says so."""
    now = core.clock.now()
    row = await core.db.unit(lambda c: outbox.get(c, room.id, KEY_MINUTES))
    undelivered = row is not None and row.state == "failed"
    room.progress = None
    await _last_board(core, room, now)  # a thread may be closed to us where the channel is not

    async def work(c: Connection) -> Change:
        change = Change(
            meeting=await meetings.move(
                c, room.id, {MeetingState.WRITING}, MeetingState.CLOSED, closed_at=now
            )
        )
        await search.index(c, room.id)
        await passages.fill(c, room.meeting.guild_id)
        if undelivered:
            await _offer_to_chair(c, room, now, change)
        return change

    await core.commit(room, work)


async def _last_board(core: Core, room: Room, now: datetime) -> None:
    """The board says that the meeting is closed before the row does: a crash in between does it once more."""
    if room.board_message_id is None:
        return
    meeting = replace(room.meeting, state=MeetingState.CLOSED, closed_at=now)
    shown = await board_now(core, room, now, meeting)
    for pause in RETRY[:5]:
        try:
            await core.stage.edit(room.place, room.board_message_id, shown)
            core.watch("board", meeting_id=room.id, message_id=room.board_message_id)
            return
        except Refused as refused:
            if refused.reason == "too_old":
                await new_board(core, room, shown, now)
            return
        except Busy as busy:
            await core.clock.sleep(max(pause, min(busy.retry_after, RETRY[-1])), "the last board")
        except Uncertain:
            await core.clock.sleep(pause, "the last board")


async def _offer_to_chair(c: Connection, room: Room, now: datetime, change: Change) -> None:
    """The channel or thread is gone or closed to us: the chair gets the minutes directly, `/minutes show` has
    them, in any channel of the server (bot.minutes.archive)."""
    meeting = room.meeting
    stored = await minutes.get(c, room.id)
    if stored is None:
        return
    post = Outgoing(
        phrases.t("post.minutes_by_dm", meeting.language, title=display(meeting.title), number=meeting.id),
        Persona.ASSISTANT,
        meeting.language,
        files=(Attachment("minutes.md", stored.text.encode()),),
        meeting_id=room.id,
    )
    change.posts |= await put_post(
        c, room, "minutes_dm", post, now=now, route=None, kind="dm", facts={"target": meeting.chair_id}
    )


async def give_up_on_channel(core: Core, room: Room) -> None:
    """The channel is gone or closed to us: what was recorded becomes minutes all the same."""
    now = core.clock.now()

    async def work(c: Connection) -> Change:
        return Change(
            meeting=await meetings.move(
                c,
                room.id,
                TALKING,
                MeetingState.WRITING,
                closing_since=room.meeting.closing_since or now,
                close_at=None,
            )
        )

    await core.commit(room, work)


async def step_expire(core: Core, room: Room) -> None:
    """The window is over: the board says at once that the minutes are being written."""
    await closing.step_expire(core, room)
    await step_board(core, room)


_STEPS: dict[StepKind, Callable[[Core, Room], Awaitable[None]]] = {
    StepKind.DELIVER: deliver,
    StepKind.EXPIRE: step_expire,
    StepKind.READ_BACK: closing.step_read_back,
    StepKind.GOODBYE: closing.step_goodbye,
    StepKind.DRAFT: step_draft,
    StepKind.FINISH: step_finish,
    StepKind.OPENING: opening.step_opening,
    StepKind.ASSIST: turn.step_assist,
    StepKind.TURN: turn.step_turn,
    StepKind.PAST: past.step_past,
    StepKind.NOTICE: timekeeper.step_notice,
    StepKind.MOVE_ON: nudges.step_move_on,
    StepKind.BRING_IN: nudges.step_bring_in,
    StepKind.PANEL: step_panel,
    StepKind.QUIET_ASK: timekeeper.step_quiet_ask,
    StepKind.QUIET_CLOSE: timekeeper.step_quiet_close,
    StepKind.BOARD: step_board,
}

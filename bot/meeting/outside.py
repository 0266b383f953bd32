"""Where no meeting is held: what a scene names as its meeting when somebody asks outside of one. Pure."""

from __future__ import annotations

from datetime import datetime

from bot.meeting.model import ChannelKind, Language, Meeting, MeetingState

NOWHERE = 0  # no meeting has this number, no server this id


def nowhere(language: Language, timezone: str, now: datetime, guild_id: int = NOWHERE) -> Meeting:
    """No meeting: without title, agenda, chair or ledger. `guild_id` NOWHERE: a direct conversation."""
    return Meeting(
        id=NOWHERE,
        guild_id=guild_id,
        channel_id=NOWHERE,
        channel_kind=ChannelKind.TEXT,
        title="",
        language=language,
        timezone=timezone,
        chair_id=NOWHERE,
        chair_name="",
        agenda=(),
        started_at=now,
        planned_end=now,
        state=MeetingState.CLOSED,
    )


def is_nowhere(meeting: Meeting) -> bool:
    return meeting.id == NOWHERE

"""One guarded answer from passages: its prompt, its rules, and when no model is worth asking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from bot.clock import Deadline
from bot.facilitation.policy import FREE
from bot.guard.generator import Call
from bot.guard.model import Generated, Source
from bot.guard.table import RoomFacts, rules_for
from bot.meeting import retrieving
from bot.meeting.citing import Passage, prompt_text
from bot.meeting.model import LedgerView, Scene
from bot.meeting.outside import nowhere
from bot.prompts import builder
from bot.prompts.outputs import AnswerOut


def relevant(passages: Sequence[Passage]) -> bool:
    """Whether anything speaks of what was asked; where nothing does, no model is asked: it could only invent."""
    return any(p.score >= retrieving.RELEVANT for p in passages)


def fixed(text: str) -> Generated:
    """The fixed text without any generation."""
    return Generated(text, Source.FIXED, (), model=FREE)


def call_about(scene: Scene, held: RoomFacts, fallback: str, seconds: float) -> Call:
    """The call of an answer from `scene.passages`. The prompt holds these alone, whatever meeting is under way:
    what has no number cannot be cited."""
    meeting = scene.meeting
    records = prompt_text(scene.passages, held.language, ZoneInfo(meeting.timezone))
    alone = replace(
        scene,
        meeting=nowhere(held.language, meeting.timezone, scene.now, meeting.guild_id),
        ledger=LedgerView(),
        history=(),
        unread=(),
        speakers=(),
        extra={"records": records},
    )
    return Call(
        route=scene.route,
        scene=scene,
        prompt=builder.build(alone, language=held.language),
        output=AnswerOut,
        deadline=Deadline(max(1.0, seconds)),
        rules=rules_for(scene.route, held),
        fallback=fallback,
        language=held.language,
    )

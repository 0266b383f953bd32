"""What the product asks for in a case: the same prompt, rules, fallback and deadline as its own step
would use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from bot import phrases
from bot.assistant import answers
from bot.evaluation.cases import Case
from bot.facilitation.closing import GOODBYE_S, READ_BACK_AFTER_WISH_S
from bot.facilitation.core import Core, Limits
from bot.facilitation.opening import OPENING_S
from bot.facilitation.room import Room
from bot.facilitation.thinking import Material, Thought, clock_facts, facts, record_texts, think
from bot.facilitation.timekeeper import NOTICE_S, fixed_notice
from bot.guard.model import Rule
from bot.guard.table import rules_for
from bot.meeting.model import Message, Route
from bot.minutes import rules as prose_rules
from bot.minutes.draft import PROSE_S, prose_text
from bot.prompts.outputs import MinutesOut


async def ask(core: Core, room: Room, stuff: Material, case: Case) -> Thought:
    """One guarded generation for the case's moment; nothing is stored or posted."""
    last = next((m for m in reversed(stuff.history) if isinstance(m, Message)), None)
    match case.route:
        case Route.OPENING:
            return await _opening(core, room, stuff)
        case Route.TIME_NOTICE:
            return await _notice(core, room, stuff, case.notice or 0)
        case Route.CLOSING:
            return await _closing(core, room, stuff, case.request or "read_back")
        case Route.MINUTES:
            return await minutes(core, room, stuff)
        case Route.HAND_OFF:
            return await answers.hand_off(core, room, stuff)
        case Route.ASK if last is not None:
            return await answers.answer(core, room, stuff, last)
        case _:
            return await turn(core, room, stuff, last if case.addressed else None)


def _seconds(core: Core, product: float) -> float:
    """A step's own deadline, as much longer as the core's is than the product's."""
    return product * core.limits.deadline_s / Limits().deadline_s


async def turn(core: Core, room: Room, stuff: Material, addressed_by: Message | None = None) -> Thought:
    language = room.meeting.language
    return await think(
        core,
        room,
        Route.TURN,
        stuff=stuff,
        addressed_by=addressed_by,
        may_be_silent=addressed_by is None,
        fallback=phrases.t("fixed.turn.addressed", language) if addressed_by else None,
        judge_repetition=addressed_by is None,
    )


async def minutes(core: Core, room: Room, stuff: Material) -> Thought:
    """The prose of minutes over the whole transcript, with the minutes' own rules."""
    whole = replace(stuff, unread=())
    return await think(
        core,
        room,
        Route.MINUTES,
        request="minutes",
        stuff=whole,
        rules=minutes_rules(room, whole),
        output=MinutesOut,
        extract=False,
        seconds=_seconds(core, PROSE_S),
        fallback=phrases.t("post.prose_omitted", room.meeting.language),
        text_of=prose_text,
    )


def minutes_rules(room: Room, whole: Material) -> Sequence[Rule]:
    now, language = room.core.clock.now(), room.meeting.language
    return (
        *rules_for(Route.MINUTES, replace(facts(room, whole, now), record=None)),
        *prose_rules.all_rules(
            room.view,
            record_texts(room, whole),
            room.names,
            partial(_say, language),
            clock_facts(room, now, None),
        ),
    )


def _say(language: str, key: str, **values: object) -> str:
    return phrases.t(key, language, **values)


async def _opening(core: Core, room: Room, stuff: Material) -> Thought:
    agenda = room.meeting.agenda
    fallback = phrases.t(
        "fixed.opening.agenda" if agenda else "fixed.opening.plain",
        room.meeting.language,
        title=room.meeting.title,
        first=agenda[0] if agenda else "",
    )
    return await think(
        core,
        room,
        Route.OPENING,
        request="opening",
        stuff=stuff,
        fallback=fallback,
        seconds=_seconds(core, OPENING_S),
    )


async def _notice(core: Core, room: Room, stuff: Material, minutes_left: int) -> Thought:
    return await think(
        core,
        room,
        Route.TIME_NOTICE,
        stuff=stuff,
        notice_minutes=minutes_left,
        seconds=_seconds(core, NOTICE_S),
        extract=False,
        fallback=fixed_notice(minutes_left, room.meeting.language),
    )


async def _closing(core: Core, room: Room, stuff: Material, request: str) -> Thought:
    goodbye = request == "goodbye"
    return await think(
        core,
        room,
        Route.CLOSING,
        request=request,
        stuff=stuff,
        extract=not goodbye,
        seconds=_seconds(core, GOODBYE_S if goodbye else READ_BACK_AFTER_WISH_S),
        fallback=phrases.t("closing.goodbye" if goodbye else "closing.lead", room.meeting.language),
    )

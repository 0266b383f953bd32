"""What the product asks for in a case: the very generation of its own step, for a moment that is given."""

from __future__ import annotations

from dataclasses import replace

from bot.assistant import answers
from bot.evaluation.cases import Case
from bot.facilitation import closing, opening, timekeeper
from bot.facilitation import turn as turns
from bot.facilitation.core import Core
from bot.facilitation.room import Room
from bot.facilitation.thinking import Material, Thought
from bot.meeting.model import Message, Route
from bot.minutes import draft
from bot.panel import turn as panel


async def ask(core: Core, room: Room, stuff: Material, case: Case) -> Thought:
    """One guarded generation for the case's moment; nothing is stored or posted."""
    last = next((m for m in reversed(stuff.history) if isinstance(m, Message)), None)
    match case.route:
        case Route.OPENING:
            return await opening.opened(core, room, stuff)
        case Route.TIME_NOTICE:
            return await timekeeper.noticed(core, room, case.notice or 0, stuff)
        case Route.CLOSING if case.request == "goodbye":
            return await closing.goodbye(core, room, stuff)
        case Route.CLOSING:
            seconds = core.limits.seconds(closing.READ_BACK_AFTER_WISH_S)
            return await closing.read_back_lead(core, room, stuff, seconds)
        case Route.MINUTES:
            return await minutes(core, room, stuff)
        case Route.PANEL if room.panel is not None:
            return await panel.speak(core, room, room.panel, case.speaks, stuff)
        case Route.HAND_OFF:
            return await answers.hand_off(core, room, stuff)
        case Route.ASK if last is not None:
            return await answers.answer(core, room, stuff, last)
        case _:
            return await turns.reply(core, room, stuff, last if case.addressed else None)


async def minutes(core: Core, room: Room, stuff: Material) -> Thought:
    """The prose of minutes over the whole transcript, with the minutes' own rules."""
    return await draft.prose(core, room, replace(stuff, unread=()), ())

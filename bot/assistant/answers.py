"""The assistant's answers in a meeting: to a hand-off of the facilitator, and to people who write @assistant."""

from __future__ import annotations

from collections.abc import Coroutine
from datetime import datetime
from typing import Any

from bot import phrases
from bot.facilitation.addressing import addresses_assistant
from bot.facilitation.core import Core
from bot.facilitation.delivery import put_post
from bot.facilitation.room import Room
from bot.facilitation.thinking import Material, Thought, record, think
from bot.meeting import replies
from bot.meeting.display import brief
from bot.meeting.model import LANGUAGES, LedgerView, Message, Persona, Route
from bot.prompts.outputs import AnswerOut
from bot.stage import Outgoing
from bot.store.engine import Connection

SHOWN = 6
AT_ONCE = 3
LINE = 120


def standing(view: LedgerView, language: str) -> str:
    """What the ledger holds, in short: the fixed answer where no model gives a usable one."""
    lines: list[str] = []
    for head, items in (
        ("decisions", view.decisions),
        ("questions", view.open_questions),
        ("actions", view.actions),
    ):
        if items:
            lines.append(
                f"**{phrases.t(f'readback.{head}' if head != 'actions' else 'board.actions', language)}**"
            )
            lines.extend(f"#{i.number} {brief(i.text, LINE)}" for i in items[-SHOWN:])
    return "\n".join(lines) or phrases.t("fixed.ask.nothing", language)


def asks_for_minutes(message: Message) -> bool:
    return any(replies.asks_summary(message.text, phrases.words(language)) for language in LANGUAGES)


def for_waiting(
    core: Core, room: Room, stuff: Material, seconds: float | None = None
) -> list[Coroutine[Any, Any, Thought]]:
    """An answer for everybody who wrote to the assistant in the unread messages (the newest few at once).

    Who asks for a summary while closing was answered by a fixed sentence when the message came in.
    """
    waiting = [
        m
        for m in stuff.unread
        if m.message_id > room.handled_to
        and addresses_assistant(m)
        and f"ask:{m.message_id}" not in room.keys
        and not (room.meeting.closing and asks_for_minutes(m))
    ]
    return [answer(core, room, stuff, m, seconds) for m in waiting[-AT_ONCE:]]


async def answer(
    core: Core, room: Room, stuff: Material, message: Message, seconds: float | None = None
) -> Thought:
    """To a person in the meeting; never silent."""
    return await think(
        core,
        room,
        Route.ASK,
        stuff=stuff,
        addressed_by=message,
        question=message.text,
        extract=False,
        output=AnswerOut,
        fallback=_fallback(room),
        seconds=seconds,
    )


async def hand_off(core: Core, room: Room, stuff: Material) -> Thought:
    asked = next((p.text for p in reversed(stuff.own) if p.persona is Persona.FACILITATOR), "")
    return await think(
        core,
        room,
        Route.HAND_OFF,
        stuff=stuff,
        question=asked,
        extract=False,
        output=AnswerOut,
        fallback=_fallback(room),
    )


def _fallback(room: Room) -> str:
    language = room.meeting.language
    return phrases.t("fixed.ask.standing", language, standing=standing(room.view, language))


async def put(
    c: Connection,
    room: Room,
    thought: Thought,
    text: str | None,
    source: str,
    now: datetime,
    key: str | None = None,
) -> bool:
    asked = thought.call.scene.addressed_by
    if key is None:
        await record(c, room, thought)
        key = f"ask:{asked.message_id if asked else thought.read_to}"
    post = Outgoing(
        text or _fallback(room),
        Persona.ASSISTANT,
        room.meeting.language,
        meeting_id=room.id,
        reply_to=asked.message_id if asked else None,
    )
    return await put_post(
        c, room, key, post, now=now, route=thought.route, source=source, generation_id=thought.generation_id
    )

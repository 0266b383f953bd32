"""The assistant's answers in a meeting: to a hand-off of the facilitator, and to people who write @assistant.

They are public, so they rest on what everyone in the channel may read: this meeting, and earlier ones in
channels as open as this one.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot import phrases
from bot.assistant import asked
from bot.assistant.call import call_about, fixed, relevant
from bot.assistant.shelf import Shelf, fallback
from bot.facilitation.addressing import addresses_assistant
from bot.facilitation.core import Core
from bot.facilitation.delivery import put_post
from bot.facilitation.room import Room
from bot.facilitation.thinking import (
    POSTING_S,
    Material,
    Thought,
    carry_out,
    facts,
    record,
    scene_of,
    thought_of,
)
from bot.meeting import replies
from bot.meeting.citing import Passage, shown
from bot.meeting.display import display, fit, one_line, shorten
from bot.meeting.model import LANGUAGES, EntryKind, Message, Persona, Route
from bot.stage import Outgoing
from bot.store.engine import Connection

AT_ONCE = 3  # questions that are each answered by a generation; older ones of the same burst share a post
TOGETHER = 12  # questions that the shared post answers; the others are counted


def asks_for_minutes(message: Message) -> bool:
    return any(replies.asks_summary(message.text, phrases.words(language)) for language in LANGUAGES)


def for_waiting(
    core: Core, room: Room, stuff: Material, seconds: float | None = None
) -> list[Coroutine[Any, Any, Thought]]:
    """An answer for everybody who wrote to the assistant in the unread messages: the newest few by themselves,
    all before them together, from the record as it stands.

    Who asks for a summary while closing was answered by a fixed sentence when the message came in.
    """
    waiting = [
        m
        for m in stuff.unread
        if room.waits(m)
        and addresses_assistant(m)
        and not room.keys & {f"ask:{m.message_id}", f"late:{m.message_id}"}
        and not (room.meeting.closing and asks_for_minutes(m))
    ]
    older = waiting[:-AT_ONCE]
    alone = [answer(core, room, stuff, m, seconds) for m in waiting[-AT_ONCE:]]
    return [together(core, room, stuff, older), *alone] if older else alone


async def answer(
    core: Core, room: Room, stuff: Material, message: Message, seconds: float | None = None
) -> Thought:
    """To a person in the meeting; never silent."""
    return await _answered(core, room, stuff, Route.ASK, message.text, message, seconds)


async def hand_off(core: Core, room: Room, stuff: Material) -> Thought:
    said = next((p.text for p in reversed(stuff.own) if p.persona is Persona.FACILITATOR), "")
    return await _answered(core, room, stuff, Route.HAND_OFF, said, None, None)


async def _answered(
    core: Core,
    room: Room,
    stuff: Material,
    route: Route,
    said: str,
    message: Message | None,
    seconds: float | None,
) -> Thought:
    now, language = core.clock.now(), room.meeting.language
    question = asked.subject(said)
    found = await _passages(core, room, stuff, question, now, [message] if message else [])
    scene = replace(
        scene_of(room, route, stuff, now), addressed_by=message, question=question or said, passages=found
    )
    held = replace(facts(room, stuff, now), passages=found, asked=question)
    limit = core.limits.deadline_s - POSTING_S if seconds is None else seconds
    call = call_about(scene, held, fallback(found, question, language), limit)
    if relevant(found):
        thought = await carry_out(core, room, call, stuff, now)
    else:
        thought = thought_of(room, call, stuff, fixed(call.fallback or ""), now)
    thought.after_erasure = phrases.t("ask.changed", language)
    return thought


async def together(core: Core, room: Room, stuff: Material, waiting: Sequence[Message]) -> Thought:
    """One post for several who asked in one burst: each gets what the record says, without a generation."""
    now, language = core.clock.now(), room.meeting.language
    blocks: list[str] = []
    found: tuple[Passage, ...] = ()
    for message in waiting[-TOGETHER:]:
        question = asked.subject(message.text)
        mine = await _passages(core, room, stuff, question, now, waiting)
        mine = tuple(replace(p, cite=str(len(found) + n)) for n, p in enumerate(mine, start=1))
        told = phrases.t(
            "ask.one_of_several",
            language,
            name=display(message.author_name, 40),
            question=display(shorten(one_line(question), 80), 90),
            answer="\n".join(fallback(mine[:2], question, language).split("\n")[:3]),
        )
        found += mine
        blocks.append(told)
    head = phrases.t("ask.several", language)
    more = len(waiting) - len(blocks)
    rows = fit([*blocks, *([""] * more)], 1300, lambda count: phrases.t("cite.more", language, count=count))
    scene = replace(
        scene_of(room, Route.ASK, stuff, now), addressed_by=waiting[-1], question="", passages=found
    )
    held = replace(facts(room, stuff, now), passages=found)
    call = call_about(scene, held, "\n".join([head, *(row for row in rows if row)]), 1.0)
    thought = thought_of(room, call, stuff, fixed(call.fallback or ""), now)
    thought.after_erasure = phrases.t("ask.changed", language)
    return thought


async def _passages(
    core: Core, room: Room, stuff: Material, question: str, now: datetime, asking: Sequence[Message]
) -> tuple[Passage, ...]:
    return await Shelf(core).for_room(
        room, stuff, question, now=now, without=[m.message_id for m in asking], also=(EntryKind.QUESTION,)
    )


def finals(core: Core, replied: Sequence[Thought]) -> list[tuple[Thought, str | None, str]]:
    """Each answer with its text as the room is now, and where that came from."""
    return [(thought, *thought.final(core)) for thought in replied]


async def put_all(
    c: Connection, room: Room, answered: Sequence[tuple[Thought, str | None, str]], now: datetime
) -> bool:
    """All of `finals`, each under its question's key; whether any was new."""
    posts = False
    for thought, text, source in answered:
        posts |= await put(c, room, thought, text, source, now)
    return posts


async def put(
    c: Connection,
    room: Room,
    thought: Thought,
    text: str | None,
    source: str,
    now: datetime,
    key: str | None = None,
) -> bool:
    scene = thought.call.scene
    by = scene.addressed_by
    if key is None:
        await record(c, room, thought)
        key = f"ask:{by.message_id if by else thought.read_to}"
    told = text or thought.call.fallback or ""
    post = Outgoing(
        shown(told, scene.passages),
        Persona.ASSISTANT,
        room.meeting.language,
        meeting_id=room.id,
        reply_to=by.message_id if by else None,
    )
    others = sorted({p.meeting_id for p in scene.passages} - {room.id})
    return await put_post(
        c,
        room,
        key,
        post,
        now=now,
        route=thought.route,
        source=source,
        generation_id=thought.generation_id,
        facts={"rests_on": others} if others else None,
    )

"""One answer in a direct conversation: what it may rest on, how it is made, and what stands in the end."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from bot import phrases
from bot.assistant.asked import is_question
from bot.assistant.shelf import fallback
from bot.clock import Deadline
from bot.facilitation.core import Core
from bot.facilitation.policy import FREE
from bot.guard.generator import Call, Generator
from bot.guard.model import Attempt, Generated, Source
from bot.guard.rules_citing import citing_rules
from bot.guard.table import RoomFacts, rules_for
from bot.meeting.citing import Passage, prompt_text, shown
from bot.meeting.display import units
from bot.meeting.model import Language, LedgerView, Message, OwnPost, Persona, Route, Scene
from bot.meeting.outside import NOWHERE, nowhere
from bot.prompts import builder
from bot.prompts.outputs import AnswerOut
from bot.stage import Seen
from bot.store import generations

LENGTH = 1900  # of a message, links and remarks included; Discord takes 2,000 with the name line
# Failures after which what stands already is worth keeping. Where the provider itself refused to go on
# ("blocked") it is not.
BROKEN_OFF = frozenset(
    {"timeout", "unreachable", "server", "rate_limited", "truncated", "invalid", "empty", "error"}
)
# What the application added to an answer; a model that saw it would write links and remarks of its own.
_LINKED = re.compile(r" ?\[[^\]\n]*\]\(https://discord\.com/channels/[^)\s]*\)")
_REMARK = re.compile(r"\n-# .*\Z", re.DOTALL)


@dataclass(frozen=True)
class Asked:
    """What one answer is about. `history`: what was said before it, oldest first, own posts included."""

    user_id: int
    language: Language
    question: str
    history: tuple[Seen, ...] = ()
    passages: tuple[Passage, ...] = ()
    remarks: tuple[str, ...] = ()  # keys of `chat.remark`, said below the answer
    free: bool = False  # no model is asked


def fallback_text(asked: Asked) -> str:
    """Where no usable answer comes: what the record says, or that there is no answer now."""
    if asked.passages or (asked.free and is_question(asked.question)):
        return fallback(asked.passages, asked.question, asked.language)
    return phrases.t("chat.unavailable", asked.language)


def call_of(core: Core, asked: Asked, deadline: Deadline, on_visible: Callable[[str], None]) -> Call:
    now = core.clock.now()
    zone = core.policy.timezone(core.policy.settings(NOWHERE), asked.language)
    standing = fallback_text(asked)
    scene = Scene(
        route=Route.CHAT,
        meeting=nowhere(asked.language, zone, now),
        now=now,
        ledger=LedgerView(),
        history=tuple(_line(seen) for seen in asked.history),
        question=asked.question,
        extra={
            "records": prompt_text(asked.passages, asked.language, ZoneInfo(zone)),
            "standing": standing if asked.passages or is_question(asked.question) else "",
        },
    )
    said = tuple({text for p in asked.passages for text in (p.title, p.who, p.owner) if text})
    facts = RoomFacts(asked.language, names=said, user_ids=frozenset({asked.user_id}))
    return Call(
        route=Route.CHAT,
        scene=scene,
        prompt=builder.build(scene, language=asked.language),
        output=AnswerOut,
        deadline=deadline,
        rules=(
            *rules_for(Route.CHAT, facts),
            *citing_rules(asked.passages, asked.language, strict=False, question=asked.question),
        ),
        fallback=standing,
        language=asked.language,
        on_visible=on_visible,
    )


def _line(seen: Seen) -> Message | OwnPost:
    if seen.mine:
        text = _LINKED.sub("", _REMARK.sub("", seen.text)).strip()
        return OwnPost(seen.message_id, Persona.ASSISTANT, Route.CHAT, text, seen.at)
    return Message(NOWHERE, seen.message_id, seen.author_id, seen.author_name, seen.text, seen.at)


async def make(
    core: Core,
    generator: Generator,
    asked: Asked,
    deadline: Deadline,
    on_visible: Callable[[str], None],
    still: Callable[[], Awaitable[bool]],
) -> str:
    """The final text as it is to be read. `on_visible` hears the text so far, links included.

    `still`: whether the passages read as they did. Where something of them was erased or changed meanwhile,
    nothing made of them is said.
    """
    seen = ""

    def see(text: str) -> None:
        nonlocal seen
        seen = text
        on_visible(shown(text, asked.passages, LENGTH))

    call = call_of(core, asked, deadline, see)
    generated = await generator.generate(call)
    await _record(core, generated)
    if not await still():
        return phrases.t("chat.unavailable", asked.language)
    return _worded(asked, *settled(seen, generated))


def settled(seen: str, generated: Generated) -> tuple[str, bool]:
    """The text that stands in the end, and whether it broke off.

    Where a provider failed in the middle and no model mended it, what people read already remains.
    """
    first = generated.attempts[0] if generated.attempts else Attempt(None)
    unmended = generated.source is Source.FIXED or generated.attempts[-1].version.startswith(FREE)
    if seen and first.text is None and first.failure in BROKEN_OFF and unmended:
        return seen, True
    return generated.text or "", False


def _worded(asked: Asked, text: str, broke_off: bool) -> str:
    remarks = (*(("broke_off",) if broke_off else ()), *asked.remarks)
    told = "".join(f"\n-# {phrases.t(f'chat.remark.{key}', asked.language)}" for key in remarks)
    return shown(text, asked.passages, LENGTH - units(told)) + told


async def _record(core: Core, generated: Generated) -> None:
    """Which model, how it ended, what it cost: no text, no person, no server."""
    now = core.clock.now()
    bare = generated.without_words()
    await core.db.unit(lambda c: generations.record(c, NOWHERE, None, Route.CHAT, bare, now))
    core.policy.spent(NOWHERE, generated)

"""Whom a message speaks to: readable from its stored words, so that it is known again after a restart."""

from __future__ import annotations

import re

from bot import phrases
from bot.meeting import replies
from bot.meeting.model import LANGUAGES, Message
from bot.meeting.text import fold
from bot.stage import BOT_NAME

_MENTION = re.compile(rf"(?<![a-z0-9._%+-])@\s?{BOT_NAME.lower()}(?![a-z0-9_-])")


def addresses_facilitator(message: Message) -> bool:
    """A mention of the bot (cogs write it as @Ketsugi). A reply is talk like any other: it may be an answer."""
    return not message.by_panel and bool(_MENTION.search(fold(message.text)))


def addresses_assistant(message: Message) -> bool:
    """Panelists address nobody but each other: the assistant answers people."""
    if message.by_panel:
        return False
    return any(replies.addressed(message.text, phrases.words(language)) for language in LANGUAGES)


def waits_for_answer(message: Message) -> bool:
    return addresses_facilitator(message) or addresses_assistant(message)

"""What is taken off a model's text before anything judges it."""

from __future__ import annotations

import re

from bot.meeting.text import fold, strip_invisible
from bot.prompts.outputs import SILENCE

_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
# The name line that the stage adds itself. A bare "Assistant:" stays: it may address the assistant, and the
# rules must see that.
_NAME_LINE = re.compile(
    r"\A\s*(?:"
    r"\**\s*🧭\s*\**\s*(?:進行役?|ファシリテーター|facilitator)\s*\**\s*[:：]?\s*\**"
    r"|\**\s*(?:進行役?|ファシリテーター|facilitator)\s*\**\s*[:：]\s*\**"
    r"|\**\s*(?:進行役?|ファシリテーター|facilitator)\s*\**[ \t]*\n"
    r"|\**\s*📝\s*\**\s*(?:アシスタント|assistant)\s*\**\s*[:：]?\s*\**"
    r")[ \t]*",
    re.IGNORECASE,
)
# Struck out, a true sentence reads as taken back; hidden, nobody reads it.
_STRUCK = re.compile(r"(~~|\|\|)(?=\S)(.+?)(?<=\S)\1", re.DOTALL)
_WRAPPING = " \t\n\"'`*_.。「」『』()（）"


def sanitise(text: str) -> str:
    """Without invisible characters, without a name line of its own, with nothing struck out or hidden, with at most
    one blank line in a row, trimmed.
    """
    clean = _STRUCK.sub(r"\2", strip_invisible(text)).strip()
    for _ in range(2):
        clean = _NAME_LINE.sub("", clean, count=1).strip()
    return _BLANK_LINES.sub("\n\n", clean)


def is_wordless(text: str) -> bool:
    """A date alone, "1.", "...", an emoji: nothing that could be read as a sentence in any script."""
    return not any(c.isalpha() for c in text)


def is_silence(text: str) -> bool:
    """Nothing, or the silence token in any case, width or wrapping."""
    folded = fold(text).strip(_WRAPPING)
    return folded in ("", fold(SILENCE), fold(SILENCE).strip("[]"))

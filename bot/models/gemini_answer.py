"""What came back over Gemini's wire, whole or in chunks, put together into one answer or one failure.

Takes the SDK's response objects but imports nothing of it: a chunk of a stream has the same shape as a whole
answer (candidates with parts, usage so far, a finish reason in the last one).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.models.base import Draft, Out, ProviderError, Usage
from bot.models.gemini_wire import read_answer
from bot.models.partial import Partial

_BLOCKED = frozenset(
    {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"}
)


class Gathered:
    """One answer as it comes in. `heard` says that `on_text` was given some of its text already."""

    def __init__(self, name: str, on_text: Callable[[str], None] | None = None) -> None:
        self._on_text = on_text
        self._partial = Partial()
        self._texts: list[str] = []
        self._half = ""  # first half of a surrogate pair that a chunk ended with
        self._blocked: str | None = None
        self._finish: str | None = None
        self._candidates = False
        self.heard = ""
        self.usage = Usage()
        self.version = ""  # nothing came yet
        self._name = name

    def add(self, response: Any) -> None:
        """One chunk, or the whole answer: a `google.genai.types.GenerateContentResponse`."""
        self.version = response.model_version or self.version or self._name
        if response.usage_metadata is not None:
            self.usage = _usage(response.usage_metadata)  # counts are of the whole so far
        if response.prompt_feedback is not None and response.prompt_feedback.block_reason is not None:
            self._blocked = "prompt"
        if not response.candidates:
            return
        self._candidates = True
        candidate = response.candidates[0]
        reason = candidate.finish_reason
        if reason is not None:
            self._finish = str(getattr(reason, "value", reason))
            if self._finish in _BLOCKED:
                self._blocked = self._finish
        parts = candidate.content.parts if candidate.content else None
        self._add_text("".join(p.text for p in parts or () if p.text and not p.thought))

    def _add_text(self, piece: str) -> None:
        piece = self._half + piece
        self._half = ""
        if piece and "\ud800" <= piece[-1] <= "\udbff":
            piece, self._half = piece[:-1], piece[-1]
        if any("\ud800" <= char <= "\udfff" for char in piece):
            piece = piece.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        if not piece:
            return
        self._texts.append(piece)
        if self._on_text is None or self._blocked:
            return
        text = self._partial.feed(piece)
        if len(text) > len(self.heard):
            self.heard = text
            self._on_text(text)

    def failed(self, kind: str, detail: str = "") -> ProviderError:
        """What was used is paid for, whether or not it made an answer."""
        return ProviderError(kind, detail, self.usage, self.version)

    def read(self, output: type[Out]) -> Draft[Out] | ProviderError:
        """The answer, validated, once everything is in."""
        if self._blocked:
            return self.failed("blocked", self._blocked)
        if not self._candidates:
            return self.failed("empty", "no candidate")
        text = "".join(self._texts)
        if self._finish == "MAX_TOKENS":
            return self.failed("truncated", self._finish)
        if not text.strip():
            return self.failed("empty", self._finish or "STOP")
        answer = read_answer(text, output)
        if answer is not None:
            return Draft(answer, self.usage, self.version, 0)
        if self._finish is None and self.heard:
            return self.failed("truncated", "ended without a finish reason")
        return self.failed("invalid", f"{len(text)} characters")


def _usage(told: Any) -> Usage:
    """Tokens as billed: the prompt with its cached part, and thoughts as output."""
    return Usage(
        tokens_in=told.prompt_token_count or 0,
        tokens_cached=told.cached_content_token_count or 0,
        tokens_out=(told.candidates_token_count or 0) + (told.thoughts_token_count or 0),
    )

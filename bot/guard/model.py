"""Types of the guard: what a rule is, what it says of a text, what one generation came to (SPEC 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from bot.meeting.model import Phase


class Strength(StrEnum):
    MUST = "must"  # a text that breaks it is never posted
    SHOULD = "should"  # posting beats silence


class Remedy(StrEnum):
    REPHRASE = "rephrase"
    COMPLETE = "complete"
    FIXED = "fixed"
    DROP = "drop"


class Outcome(StrEnum):
    PASS = "pass"
    FIRED = "fired"
    BROKEN = "broken"  # the rule itself failed; counts as neither


class Source(StrEnum):
    FIRST = "first"
    REPHRASED = "rephrased"
    COMPLETED = "completed"
    RESTORED = "restored"
    FIXED = "fixed"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text as rules see it, with what the model said beside it."""

    text: str
    phase: Phase | None = None
    closing_complete: bool = False
    closing_seen: bool = (
        False  # closing_complete or phase CLOSING in *any* attempt of this generation (the latch)
    )


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that must or should hold of a text.

    `check` returns None (passes) or the reason, in the meeting's language, why the text is to be written
    again and why it matters; it looks at the room through closures, so that running it again later judges
    the room as it is then. `complete` returns the text with the missing sentence added: at once for remedy
    COMPLETE, after a rephrase that did not help for REPHRASE. `whole`: what the rule asks for may stand anywhere
    or shows only in the proportion of the whole, so that a beginning which breaks it may still become a text
    that does not; without it, a beginning that breaks the rule is beyond repair (`guard.streaming`).
    """

    name: str
    strength: Strength
    remedy: Remedy
    check: Callable[[Candidate], str | None]
    complete: Callable[[str], str] | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    rule: str
    outcome: Outcome
    reason: str = ""
    strength: Strength = Strength.MUST
    remedy: Remedy = Remedy.REPHRASE


@dataclass(frozen=True, slots=True)
class Attempt:
    """One model call and what the rules said of it. `text` is None where there was no draft (`failure` says
    why).
    """

    text: str | None
    verdicts: tuple[Verdict, ...] = ()
    # ProviderError.kind, "silence" (where it is forbidden), "too_long", or "error" (unforeseen, reported)
    failure: str | None = None
    latency_ms: int = 0
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    version: str = ""
    silent: bool = False  # the model chose silence (valid, where allowed)

    def fired(self, strength: Strength | None = None) -> tuple[Verdict, ...]:
        return tuple(
            v for v in self.verdicts if v.outcome is Outcome.FIRED and strength in (None, v.strength)
        )


@dataclass(frozen=True, slots=True)
class Generated:
    """What a guarded generation came to. `text` is None for silence. `output` is the first valid output."""

    text: str | None
    source: Source
    attempts: tuple[Attempt, ...]
    output: Any | None = None
    chosen_output: Any | None = (
        None  # of the attempt whose text was chosen; None for fixed and silence nobody wrote
    )
    final_verdicts: tuple[Verdict, ...] = ()  # of the chosen text (empty for fixed and silent)
    phase: Phase | None = None
    closing_seen: bool = False
    model: str = ""
    info: Mapping[str, str] = field(default_factory=dict)

    def without_words(self) -> Generated:
        """What counts and costs of it: no text, no output, no reason of a verdict (they quote the text)."""
        bare = tuple(replace(a, text=None, verdicts=_without_reasons(a.verdicts)) for a in self.attempts)
        return replace(
            self,
            text=None,
            output=None,
            chosen_output=None,
            attempts=bare,
            final_verdicts=_without_reasons(self.final_verdicts),
        )


def _without_reasons(verdicts: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    return tuple(replace(verdict, reason="") for verdict in verdicts)

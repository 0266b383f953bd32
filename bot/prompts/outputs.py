"""What the model is asked to answer with. Names are a contract (REHEARSAL.md).

No defaults in the schema that Gemini refuses: plain fields, no unions beyond null, no dicts, no extra="forbid".
Lenient on the way in: a missing optional field is its default, unknown fields are ignored.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.meeting.model import Phase


class EntryOut(BaseModel):
    """One thing the model believes belongs in the ledger; it counts only if its quote stands in a message."""

    kind: Literal[
        "proposal", "decision", "question", "action", "note", "answer", "revision", "retraction", "constraint"
    ]
    text: str
    quote: str
    owner: str | None = None
    due: str | None = None
    refers_to: int | None = None


class TurnOut(BaseModel):
    """Answer of turn, opening, time_notice and closing."""

    model_config = ConfigDict(use_enum_values=False)

    response: str = ""
    phase: Phase = Phase.DISCUSSING
    closing_complete: bool = False
    entries: list[EntryOut] = Field(default_factory=list)
    wish_quote: str | None = None  # the person's words that ask to end the meeting, verbatim


class MinutesItem(BaseModel):
    agenda: str
    text: str


class MinutesOut(BaseModel):
    summary: str = ""
    items: list[MinutesItem] = Field(default_factory=list)


class AnswerOut(BaseModel):
    """Answer of hand_off, ask and chat."""

    response: str = ""
    cites: list[str] = Field(default_factory=list)


class PanelOut(BaseModel):
    """One turn of an AI participant. `agrees`: with the proposal on the table."""

    response: str = ""
    agrees: bool | None = None


SILENCE = "[SILENCE]"

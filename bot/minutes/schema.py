"""The shape of the minutes as data: what `/minutes export json` gives and `ketsugi verify` reads.

`data/minutes.schema.json` is this, as JSON Schema (a test keeps the two alike). The format may grow; a field
that is here keeps its name and meaning within `version` 1. Moments are ISO 8601 in UTC; Discord ids are
strings, because they do not fit into a JavaScript number. Texts are as people wrote them: escape before use.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class MeetingPart(_Part):
    id: int
    title: str
    language: str
    timezone: str = Field(description="IANA name; minutes.md shows times in it")
    guild_id: str
    channel_id: str
    chair: str
    agenda: list[str]
    started_at: str
    planned_end: str
    ended_at: str | None


class Wording(_Part):
    """One wording of something at one time."""

    number: int = Field(description="number of the ledger entry that holds this wording")
    text: str
    who: str
    at: str
    link: str | None = Field(description="URL of the message it comes from")


class Old(Wording):
    """A wording that no longer holds."""

    kind: str
    owner: str | None
    due: str | None
    replaced_by: int | None = Field(description="number of the entry that holds instead; None = retracted")


class VotePart(_Part):
    who: str
    panel: bool = Field(default=False, description="of an AI participant")
    value: float = Field(description="-1 against .. 0 neither .. 1 in favour")
    words: str


class Live(Wording):
    """Something that holds at the end of the meeting."""

    first_number: int = Field(
        description="number of the entry that began it; differs from `number` if revised"
    )
    quote: str = Field(description="verbatim words of the source message, empty if redacted or none")
    origin: str = Field(description="start, mark, model, panel, command, menu, button, reaction, edit")
    status: str
    confirmed_by: list[str]
    conflicts_with: list[int] = Field(
        description="numbers of live constraints and decisions it seems to break"
    )
    objections: list[Wording]
    carried_from: str | None = Field(
        default=None, description="link to the meeting that left it open, where it came over from one"
    )
    repeated: list[Wording] = Field(description="the same said again, joined to this entry")


class Decision(Live):
    confirmed: bool
    against: bool = Field(description="a decision not to do it (#rejected)")


class Question(Live):
    positions: list[str]
    answers: list[Wording]


class Action(Live):
    owner: str | None
    due: str | None = Field(description="ISO date, or the words as said")


class Proposal(Live):
    votes: list[VotePart]


class Replaced(_Part):
    number: int
    replaced_by: int = Field(description="number of the entry that holds instead")


class AgendaPart(_Part):
    title: str
    entries: list[int] = Field(
        description="live entries recorded while this item was on; the first one is until a topic is named"
    )
    replaced: list[Replaced] = Field(
        default=[], description="decisions recorded while it was on that another decision took the place of"
    )
    text: str | None = Field(description="prose of what happened, where it passed the checks")


class Attendee(_Part):
    user_id: str
    name: str
    messages: int
    characters: int
    share: float = Field(description="of all characters written, 0..1")
    panel: bool = Field(default=False, description="an AI participant; user_id is no Discord id then")
    standpoint: str | None = Field(default=None, description="what an AI participant was asked to stand for")


class Made(_Part):
    models: list[str] = Field(description="name and version as the provider returned it")
    generations: int
    rephrased: int
    fixed: int
    silent: int
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    ledger_digest: str = Field(description="hex SHA-256 of the chain's last entry")
    prose_omitted_reason: str | None


class PanelPart(_Part):
    """What a panel of AI participants was, and what it cost."""

    turns: int = Field(description="the limit")
    turns_taken: int
    ended: str | None = Field(
        description="turns, agreed, cost, stopped, limits, provider; None = people ended it"
    )
    models: list[str] = Field(
        description="version as the provider returned it, else the name asked for; none: no model was used"
    )
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    cost_usd: float = Field(description="of every generation of this meeting, minutes included")
    cost_cap_usd: float | None


class Row(_Part):
    """One entry of the append-only ledger, whatever became of it."""

    number: int
    kind: str
    text: str
    quote: str
    who: str
    at: str
    status: str
    refers_to: int | None
    owner: str | None
    due: str | None
    value: float | None
    origin: str
    redacted: bool
    digest: str


class MinutesDocument(_Part):
    version: int
    meeting: MeetingPart
    summary: str | None
    agenda: list[AgendaPart]
    constraints: list[Live]
    decisions: list[Decision]
    questions: list[Question] = Field(description="open ones")
    answered_questions: list[Question]
    actions: list[Action]
    proposals: list[Proposal] = Field(description="not decided")
    decided_proposals: list[Proposal]
    notes: list[Live]
    replaced: list[Old] = Field(description="older wordings and replaced entries, of every kind")
    withdrawn: list[Old] = Field(description="retracted entries, of every kind")
    attendance: list[Attendee]
    made: Made
    panel: PanelPart | None = Field(default=None, description="only of a meeting held by AI participants")
    ledger: list[Row]

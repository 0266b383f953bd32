"""The read-back: what the room is about to close with, and the one question it is asked (SPEC 2.9)."""

from __future__ import annotations

import re
from datetime import datetime

from bot.facilitation.display import decision_line, numbered, proposal_line, sections, stamp, stood_for
from bot.meeting.display import brief, shorten, units, visible
from bot.meeting.model import Item, Language, LedgerView, Meeting, Origin, Persona
from bot.phrases import t
from bot.stage import Button, Outgoing

LIMIT = 1800  # SPEC 3: no post is longer
LEAD = 400
LINE = 120


def read_back(
    meeting: Meeting, view: LedgerView, language: Language, close_at: datetime, lead: str | None
) -> Outgoing:
    """At most 1,800 characters; what is left out is counted and stands on the board.

    `lead` is the model's sentence or None. Sentences of it that ask something are left out: a "yes" from the
    room may mean only one thing.
    """
    opening = _lead(lead)
    question = t("readback.question", language)
    timer = t("readback.closes", language, at=stamp(close_at, "R"))
    body = _body(view, language, LIMIT - units(opening) - units(question) - units(timer) - 8)
    text = "\n\n".join(part for part in (opening, body, f"{question}\n{timer}") if part)
    return Outgoing(
        text=text,
        persona=Persona.FACILITATOR,
        language=language,
        buttons=_buttons(view, language),
        meeting_id=meeting.id,
    )


def _lead(lead: str | None) -> str:
    sentences = re.split(r"(?<=[。！？!?\n])|(?<=[.])(?=\s)", visible(lead or ""))
    kept = "".join(s for s in sentences if not s.rstrip().endswith(("?", "？")))
    return shorten(kept.strip(), LEAD)


def _body(view: LedgerView, language: Language, budget: int) -> str:
    decisions = [decision_line(item, view, language, LINE) for item in view.decisions]
    proposals = [proposal_line(item, language, LINE) for item in _panels_proposals(view)]
    questions = [_line(item, language) for item in view.open_questions]
    ownerless = [_line(item, language) for item in view.actions if not item.owner and item.status != "done"]
    return sections(
        [
            (
                _head("decisions", len(decisions), language),
                decisions or [t("readback.no_decisions", language)],
            ),
            (
                f"{_head('proposals', len(proposals), language)}\n{t('readback.proposals_hint', language)}",
                proposals,
            ),
            (
                _head("questions", len(questions), language),
                questions or [t("readback.no_questions", language)],
            ),
            (_head("ownerless", len(ownerless), language), ownerless),
        ],
        budget,
        lambda count: t("readback.more", language, count=count),
    )


def _panels_proposals(view: LedgerView) -> tuple[Item, ...]:
    """What AI participants proposed and nobody has taken up: without a person it comes to nothing."""
    return tuple(item for item in view.open_proposals if item.entry.origin is Origin.PANEL)


def _line(item: Item, language: Language) -> str:
    return f"{numbered(item)} {brief(item.text, LINE)}{stood_for(item, language)}"


def _head(key: str, count: int, language: Language) -> str:
    return f"**{t(f'readback.{key}', language)}** ({count})"


def _buttons(view: LedgerView, language: Language) -> tuple[Button, ...]:
    """Confirming is offered only where something waits for it."""
    buttons = [
        Button("close_now", t("readback.button_close", language), "primary"),
        Button("keep_going", t("readback.button_keep", language)),
    ]
    if any(item.status == "unconfirmed" for item in view.decisions):
        buttons.append(Button("confirm_all", t("readback.button_confirm", language), "success"))
    return tuple(buttons)

"""Whose turn it is, and whether the panel has come to an end. Pure: rows in, answers out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal

from bot.meeting.text import fold_kana
from bot.panel.roles import Panel, Role

PAUSE = timedelta(seconds=8)  # between turns, so that people can come in
AFTER_PEOPLE = timedelta(seconds=3)  # of quiet after somebody's message
AFTER_FAILURE = (timedelta(seconds=20), timedelta(seconds=40), timedelta(seconds=60))
FAILURES_END = 3  # failed turns in a row

Outcome = Literal["said", "passed", "failed"]
Stop = Literal["turns", "agreed", "cost", "stopped", "limits", "provider"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn as stored. `number` counts from 1, failed ones included; `seen_to`: newest message it saw.

    said: posted (key "panel:<number>"); passed: nothing new to say; failed: no model answered, the role's turn is
    not used up.
    """

    number: int
    role: int
    outcome: Outcome
    at: datetime
    agrees: bool = False
    seen_to: int = 0


def due(panel: Panel, turns: Sequence[Turn], people_at: datetime | None) -> datetime:
    """When the next turn may begin."""
    if not turns:
        at = panel.created_at + PAUSE
    elif failed := failures(turns):
        at = turns[-1].at + AFTER_FAILURE[min(failed, len(AFTER_FAILURE)) - 1]
    else:
        at = turns[-1].at + PAUSE
    return at if people_at is None else max(at, people_at + AFTER_PEOPLE)


def used(turns: Sequence[Turn]) -> int:
    """Turns that count towards the limit."""
    return sum(turn.outcome != "failed" for turn in turns)


def item_due(panel: Panel, turns: Sequence[Turn], items: int) -> int:
    """The agenda item, from 0, that the next turn is about: every item has its share of the turns."""
    return min(items - 1, used(turns) * items // panel.turns)


def next_role(roles: Sequence[Role], turns: Sequence[Turn], called: int | None) -> int:
    """The role addressed by name, else the one that has waited longest; at first they come in their order."""
    if called is not None:
        return called
    last = {turn.role: turn.number for turn in turns if turn.outcome != "failed"}
    return min(range(len(roles)), key=lambda role: (last.get(role, 0), role))


def called(text: str, roles: Sequence[Role]) -> int | None:
    """The role that a text speaks to by its name: "企画さん、…", "@Design", "Design: …", "Design, what ...?".

    Only speaking of a role is not addressing it. Of several the last one named counts: that is who is asked.
    """
    found: list[tuple[int, int, int]] = []
    for number, line in enumerate(text.split("\n")):
        plain = fold_kana(line)
        for index, role in enumerate(roles):
            found += [(number, m.start(), index) for m in _calls(role.name).finditer(plain)]
    return max(found)[2] if found else None


@lru_cache(maxsize=256)
def _calls(name: str) -> re.Pattern[str]:
    """At the head of a sentence with a pause behind it, with a mention's sign, with さん and a pause or a question."""
    name = rf"(?:🤖\s?)?{re.escape(fold_kana(name))}"
    head, polite = r"(?:^|[。.！!？?、,]\s?)", r"(?:さん|様|氏)"
    return re.compile(
        rf"@\s?{name}(?![a-z0-9])"
        rf"|{head}{name}\s?{polite}?\s?[、,:?]"
        rf"|{head}{name}\s?{polite}(?:は|の|に|から|も|へ)"
        rf"|(?<![a-z0-9]){name}{polite}(?:[、,?]|[はもの].{{0,60}}(?:ですか|ますか|でしょうか|\?))"
    )


def agreed(
    roles: Sequence[Role], turns: Sequence[Turn], on_the_table: bool, people_at: datetime | None
) -> bool:
    """Every role's newest turn agrees with what is on the table, and no person has come in since the first of them."""
    newest = {turn.role: turn for turn in turns if turn.outcome == "said"}
    if not on_the_table or len(newest) < len(roles) or not all(t.agrees for t in newest.values()):
        return False
    return people_at is None or people_at < min(t.at for t in newest.values())


def failures(turns: Sequence[Turn]) -> int:
    """Failed turns in a row, up to now."""
    count = 0
    for turn in reversed(turns):
        if turn.outcome != "failed":
            break
        count += 1
    return count

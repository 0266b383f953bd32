"""Who takes part in a panel: roles with a name and a standpoint. Pure.

Every role is shown as "🤖 name", in Discord, in the ledger and in the minutes, so that none can be taken for a
member of the server, whatever the members are called.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.errors import BadInput
from bot.meeting.text import fold, strip_invisible

MARKER = "🤖 "
FEWEST, MOST = 2, 5
NAME_CHARACTERS = 32
STANDPOINT_CHARACTERS = 300
TURNS_FEWEST, TURNS_USUAL, TURNS_MOST = 1, 12, 60
SHORTEST, MINUTES_A_TURN = 15, 2
COST_MOST = 1_000.0  # US dollars; more is a slip of the finger

# Voices that are taken, and names that Discord refuses for webhooks (docs: webhook resource, "clyde", "discord").
_TAKEN = frozenset(
    fold(name)
    for name in (
        *("進行", "進行役", "司会", "議長", "ファシリテーター", "facilitator", "moderator", "chair"),
        *("アシスタント", "assistant", "書記", "ketsugi", "bot", "system", "システム", "ai"),
        *("everyone", "here", "全員"),
    )
)
_REFUSED_PARTS = (
    "clyde",
    "discord",
    "ketsugi",
    "アシスタント",
    "assistant",
    "facilitator",
    "ファシリテーター",
)
_PUNCTUATION = frozenset(" -'’.・･ー()（）&／/")
_LINE = re.compile(r"^(?P<name>[^:：]*)[:：](?P<standpoint>.*)$", re.S)
_BULLET = re.compile(r"^\s*(?:[-*•・]\s+|\d{1,2}[.)．）]\s*)")


@dataclass(frozen=True, slots=True)
class Role:
    name: str
    standpoint: str

    @property
    def shown(self) -> str:
        return MARKER + self.name


def author_id(role: int) -> int:
    """The author of what role number `role` (from 0) says; no member ever has such an id."""
    return -(role + 1)


def role_of(author: int) -> int:
    return -author - 1


def planned_minutes(turns: int) -> int:
    """The planned length of a panel's meeting: a turn with the facilitator's reading takes half a minute."""
    return max(SHORTEST, MINUTES_A_TURN * turns)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a panel is asked to be. `cost_cap` in US dollars; None = no cap of its own."""

    roles: tuple[Role, ...]
    turns: int = TURNS_USUAL
    cost_cap: float | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """The panel of one meeting as stored. `webhook_unusable`: why posts carry a name prefix instead, None = they
    go through the webhook."""

    meeting_id: int
    guild_id: int
    roles: tuple[Role, ...]
    turns: int
    created_at: datetime
    cost_cap: float | None = None
    webhook_id: int | None = None
    webhook_unusable: str | None = None
    stop_reason: str | None = None
    stopped_at: datetime | None = None

    def name(self, author: int) -> str:
        """How the author of a panelist's message is shown."""
        number = role_of(author)
        return self.roles[number].shown if 0 <= number < len(self.roles) else MARKER.strip()


def parse(text: str) -> tuple[Role, ...]:
    """Roles as entered: "name: standpoint" one a line, or separated by ; where there is one line.

    Raises BadInput that says what to do; does not look at how many there are (`check` does).
    """
    text = strip_invisible(text)
    parts = text.split("\n") if "\n" in text.strip() else re.split(r"[;；]", text)
    roles = []
    for part in (_BULLET.sub("", p).strip() for p in parts):
        if not part:
            continue
        found = _LINE.match(part)
        if found is None:
            raise BadInput("panel.error.role_form", start=part[:40])
        roles.append(Role(found["name"].strip(), found["standpoint"].strip()))
    return tuple(roles)


def check(plan: Plan) -> Plan:
    """The plan with names and standpoints tidied. Raises BadInput for the first thing that cannot be used."""
    roles = tuple(_checked(role) for role in plan.roles)
    if not FEWEST <= len(roles) <= MOST:
        raise BadInput("panel.error.role_count", count=len(roles), fewest=FEWEST, most=MOST)
    _distinct(roles)
    if not TURNS_FEWEST <= plan.turns <= TURNS_MOST:
        raise BadInput("panel.error.turns", turns=plan.turns, fewest=TURNS_FEWEST, most=TURNS_MOST)
    cap = plan.cost_cap
    if cap is not None and not 0 < cap <= COST_MOST:
        raise BadInput("panel.error.cost", cap=f"{cap:g}", most=f"{COST_MOST:g}")
    return Plan(roles, plan.turns, cap)


def _checked(role: Role) -> Role:
    name = " ".join(strip_invisible(role.name).replace(MARKER.strip(), "").split())
    standpoint = " ".join(strip_invisible(role.standpoint).split())
    if not any(unicodedata.category(c)[0] in "LN" for c in name):  # marks and dots alone are no name
        raise BadInput("panel.error.name_missing", standpoint=standpoint[:40] or "…")
    if len(name) > NAME_CHARACTERS:
        raise BadInput("panel.error.name_long", start=name[:20], length=len(name), most=NAME_CHARACTERS)
    strange = [c for c in name if not _letter(c)]
    if strange:
        raise BadInput("panel.error.name_characters", name=name, found=" ".join(dict.fromkeys(strange)))
    folded = fold(name)
    if folded in _TAKEN or any(fold(part) in folded for part in _REFUSED_PARTS):
        raise BadInput("panel.error.name_taken", name=name)
    if not standpoint:
        raise BadInput("panel.error.standpoint_missing", name=name)
    if len(standpoint) > STANDPOINT_CHARACTERS:
        raise BadInput(
            "panel.error.standpoint_long", name=name, length=len(standpoint), most=STANDPOINT_CHARACTERS
        )
    return Role(name, standpoint)


def _letter(c: str) -> bool:
    """Letters, marks and digits of any script, and a little punctuation: no markdown, no mention, no emoji."""
    return c in _PUNCTUATION or unicodedata.category(c)[0] in "LMN"


def _distinct(roles: Sequence[Role]) -> None:
    seen: set[str] = set()
    for role in roles:
        key = fold(role.name).replace(" ", "")
        if key in seen:
            count = sum(fold(r.name).replace(" ", "") == key for r in roles)
            raise BadInput("panel.error.names_same", name=role.name, count=count)
        seen.add(key)

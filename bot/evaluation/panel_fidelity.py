"""`ketsugi eval fidelity --panel FILE`: a panel is held, and its conclusion set against one from a history window.

The old way reads the last 8 messages, cut to 400 characters, as in SPEC's second experience; the new way is the
minutes that the panel's own meeting ended in. The truth is the file's "gold", or where it has none what stands in
the ledger at the end: then the table shows how much of the record a window would have lost.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.errors import ConfigError
from bot.evaluation import cases
from bot.evaluation.fidelity import WITH_LEDGER, Outcome, Played, history_only
from bot.evaluation.gold import Gold, Truth, score
from bot.meeting.figures import unsupported
from bot.meeting.model import Message
from bot.meeting.names import unknown_names
from bot.meeting.terms import terms
from bot.models.base import Model
from bot.rehearsal.driver import Rehearsal
from bot.rehearsal.host import Host
from bot.rehearsal.product import Product
from bot.rehearsal.scenario import PanelHeader, Scenario, load_panel
from bot.settings import OFFLINE

SCRIPTED = "scripted:"  # models of the evaluation alone: the panel itself is then held offline


@dataclass(frozen=True)
class Held:
    """A panel that was held. `lines` are the rehearsal's."""

    played: Played
    lines: Sequence[Mapping[str, Any]]

    @property
    def minutes(self) -> str:
        return next((str(line["text"]) for line in self.lines if line["kind"] == "minutes"), "")

    @property
    def entries(self) -> list[dict[str, Any]]:
        return next((list(line["entries"]) for line in self.lines if line["kind"] == "ledger"), [])


async def hold(path: Path, model: str) -> Held:
    """Play the file with a model of the product. Raises ScenarioError, ConfigError."""
    scenario = load_panel(path)
    name = OFFLINE if model.startswith(SCRIPTED) else model
    with tempfile.TemporaryDirectory(prefix="ketsugi-") as folder:
        host = Product(f"sqlite+aiosqlite:///{folder}/panel.db", name, scenario.header.language, 0)
        return await play(scenario, host, _gold(path))


async def play(scenario: Scenario, host: Host, gold: Gold | None = None) -> Held:
    """The same with a host of one's own. Raises ConfigError where no minutes came of it."""
    rehearsal = Rehearsal(scenario, host)
    lines = await rehearsal.play()
    messages = _messages(lines)
    people = {m.author_name: m.author_id for m in messages}
    for silent in (scenario.header.chair, *scenario.header.participants):
        people.setdefault(silent, cases.FIRST_PERSON_ID + len(people))
    name = Path(scenario.path).name.removesuffix(".jsonl").removesuffix(".json") or "panel"
    held = Held(Played(name, scenario.header, tuple(messages), gold or Gold(), people), lines)
    if not held.minutes or not messages:
        raise ConfigError(f"{scenario.path}: no minutes came of this panel")
    if gold is None:
        held = Held(Played(name, scenario.header, tuple(messages), _from_ledger(held), people), lines)
    return held


def _gold(path: Path) -> Gold | None:
    text = path.read_text(encoding="utf-8-sig")
    try:
        first = json.loads(text)
    except json.JSONDecodeError:
        first = json.loads(text.split("\n", 1)[0])
    given = first.get("gold")
    return None if given is None else Gold.model_validate(given)


def _messages(lines: Sequence[Mapping[str, Any]]) -> list[Message]:
    """What panelists and people said, in order."""
    said = [
        (float(line["at"]), str(line.get("name") or line.get("who")), str(line["text"]))
        for line in lines
        if line["kind"] == "human" or (line["kind"] == "post" and line.get("by") == "panel")
    ]
    people: dict[str, int] = {}
    return [
        Message(
            1,
            cases.FIRST_MESSAGE_ID + number,
            people.setdefault(who, cases.FIRST_PERSON_ID + len(people)),
            who,
            text,
            cases.START + timedelta(seconds=at),
        )
        for number, (at, who, text) in enumerate(said)
    ]


def _from_ledger(held: Held) -> Gold:
    def truths(kind: str) -> tuple[Truth, ...]:
        rows = [e for e in held.entries if e["kind"] == kind and e["status"] not in ("replaced", "retracted")]
        return tuple(Truth(name=e["text"], holds=_words(e["text"])) for e in rows if _words(e["text"]))

    return Gold(constraints=truths("constraint"), decisions=truths("decision"), open=truths("question"))


def _words(text: str) -> tuple[str, ...]:
    return tuple(f"(?i:{re.escape(term)})" for term in sorted(terms(text)))


async def conclude(model: Model, held: Held) -> list[Outcome]:
    """Old way, new way."""
    return [await history_only(model, held.played), _minutes(held, model.name)]


def _minutes(held: Held, name: str) -> Outcome:
    made = [line for line in held.lines if line["kind"] == "generation"]
    attempts = [a for line in made for a in line["attempts"]]
    count = len(held.played.messages)
    prose = any(line["route"] == "minutes" and line["source"] in ("first", "rephrased") for line in made)
    return Outcome(
        held.played.name,
        WITH_LEDGER,
        name,
        next((a["version"] for a in attempts if a.get("version")), ""),
        held.minutes,
        score(held.played.gold, held.minutes, _strange(held)),
        1.0,
        count,
        count,
        len(attempts),
        sum(a["tokens_in"] for a in attempts),
        sum(a["tokens_out"] for a in attempts),
        "published" if prose else "left out",
        sum(a["failure"] is not None for a in attempts),
    )


def _strange(held: Held) -> list[str]:
    """Figures and names among the entries that nobody mentioned."""
    header = held.played.header
    record = [
        header.title,
        *header.agenda,
        *header.constraints,
        *(m.text for m in held.played.messages),
        *held.played.people,
    ]
    if isinstance(header, PanelHeader):
        record += [f"{role.name} {role.standpoint}" for role in header.roles]
    claims = "\n".join(str(e["text"]) for e in held.entries)
    names = [*held.played.people, *(n.removeprefix("🤖 ") for n in held.played.people)]
    numbers = [int(e["number"]) for e in held.entries]
    return [*unsupported(claims, record, numbers), *unknown_names(claims, names, record)]

"""`ketsugi eval fidelity`: the same meeting concluded from a history window alone, and from the ledger.

history-only is what SPEC's second experience had: the last 8 messages, each cut to its first 400
characters, and nothing else. With the ledger it is the product: every message read whole in its turn,
entries grounded in quotes, minutes rendered from the ledger and the prose guarded. Same model, same
instructions.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from bot import phrases
from bot.clock import Deadline
from bot.errors import ConfigError
from bot.evaluation import asking, cases
from bot.evaluation.gold import Gold, Score, score
from bot.facilitation import turn as turns
from bot.facilitation.core import Core
from bot.facilitation.room import Room
from bot.facilitation.showing import link
from bot.facilitation.thinking import Material, scene_of
from bot.guard.model import Attempt, Source
from bot.meeting.figures import unsupported
from bot.meeting.model import EntryKind, LedgerView, Message, Route, Scene
from bot.meeting.names import unknown_names
from bot.minutes import document as documents
from bot.minutes.draft import PROSE_S, prose_text
from bot.minutes.render import render
from bot.models.base import Model, Prompt, ProviderError, Request, Usage
from bot.phrases import DATA
from bot.prompts import builder
from bot.prompts.outputs import MinutesOut
from bot.rehearsal.scenario import Header, PanelHeader, Say, load

FOLDER = DATA / "scenarios" / "fidelity"
HISTORY_ONLY, WITH_LEDGER = "history only", "ledger"
MESSAGES, CHARACTERS = 8, 400  # SPEC's second experience


@dataclass(frozen=True)
class Played:
    """A meeting as it was said: `messages` in order, `gold` its truth."""

    name: str
    header: Header | PanelHeader
    messages: tuple[Message, ...]
    gold: Gold
    people: dict[str, int]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one way of concluding came to. `seen`: share of the transcript's characters that the model was
    shown at any time for it; `whole`: messages shown uncut. `tokens` as the model reported them. `prose`:
    how the guard left the model's own text ("" where nothing guards it)."""

    meeting: str
    way: str
    model: str
    version: str
    text: str
    score: Score
    seen: float
    whole: int
    messages: int
    calls: int
    tokens_in: int
    tokens_out: int
    prose: str
    failures: int


def meetings(folder: Path = FOLDER) -> list[Played]:
    """The shipped meetings, in the rehearsal's format with "gold" in the heading. Raises ScenarioError,
    ConfigError."""
    return [_meeting(path) for path in sorted(folder.glob("*.jsonl"))]


def _meeting(path: Path) -> Played:
    scenario = load(path)
    gold = json.loads(path.read_text(encoding="utf-8").split("\n", 1)[0]).get("gold")
    if gold is None:
        raise ConfigError(f"{path}:1: no 'gold', so there is nothing to compare with")
    said = [event for event in scenario.events if isinstance(event, Say)]
    names = dict.fromkeys((scenario.header.chair, *scenario.header.participants, *(s.who for s in said)))
    people = {name: cases.FIRST_PERSON_ID + index for index, name in enumerate(names)}
    messages = tuple(
        Message(
            1, cases.FIRST_MESSAGE_ID + n, people[s.who], s.who, s.say, cases.START + timedelta(seconds=s.at)
        )
        for n, s in enumerate(said)
    )
    return Played(
        path.name.removesuffix(".jsonl"), scenario.header, messages, Gold.model_validate(gold), people
    )


async def conclude(model: Model, played: Played, runs: int = 1) -> AsyncIterator[Outcome]:
    """The meeting concluded in both ways, `runs` times."""
    for _ in range(runs):
        yield await history_only(model, played)
        yield await with_ledger(model, played)


# -- from a window of the history alone


async def history_only(model: Model, played: Played) -> Outcome:
    now = _end(played)
    room = _room(played, cases.core_of(model, now))
    shown = tuple(replace(m, text=m.text[:CHARACTERS]) for m in played.messages[-MESSAGES:])
    whole = scene_of(room, Route.MINUTES, Material((), shown, ()), now)
    bare = replace(room.meeting, agenda=())
    scene = replace(whole, meeting=bare, request="minutes", ledger=LedgerView())
    request = Request(scene, window_prompt(scene), MinutesOut, Deadline(PROSE_S))
    text, version, usage, failures = "", "", Usage(), 0
    try:
        draft = await model.generate(request)
        text, version, usage = prose_text(draft.output), draft.version, draft.usage
    except ProviderError as error:
        version, usage, failures = error.version, error.usage, 1
    return Outcome(
        played.name,
        HISTORY_ONLY,
        model.name,
        version,
        text,
        score(played.gold, text, _strange(played, text)),
        sum(len(m.text) for m in shown) / _characters(played),
        sum(len(m.text) == len(o.text) for m, o in zip(shown, played.messages[-MESSAGES:], strict=True)),
        len(played.messages),
        1,
        usage.tokens_in,
        usage.tokens_out,
        "",
        failures,
    )


def window_prompt(scene: Scene) -> Prompt:
    """The product's prompt without ledger, agenda and constraints: instructions, title, what the window
    shows."""
    prompt = builder.build(scene, language=scene.meeting.language)
    title = "\n".join(prompt.stable.split("\n")[:2])
    return replace(prompt, stable=title, ledger="")


# -- with the ledger


async def with_ledger(model: Model, played: Played) -> Outcome:
    hands = _Hands(played.messages[0].at)
    core = cases.core_of(model, hands.now())
    core = replace(
        core, clock=replace(core.clock, now=hands.now), generator=cases.generator(model, hands.now)
    )
    room = _room(played, core)
    attempts: list[Attempt] = []
    history: list[Message] = []
    for message in played.messages:
        hands.at = message.at
        cases.hear(room, message)
        history.append(message)
        thought = await turns.reply(core, room, Material((message,), tuple(history), ()), None)
        cases.put(room, thought.entries, message.at)
        room.meeting = replace(room.meeting, cursor=message.message_id)
        attempts += thought.generated.attempts
    hands.at = _end(played)
    thought = await asking.minutes(core, room, Material((), tuple(history), ()))
    attempts += thought.generated.attempts
    prose = _prose(thought.generated.chosen_output, thought.generated.source)
    text = _minutes(room, prose, attempts, hands.at)
    claims = "\n".join([*(i.text for i in room.view.items), prose.summary if prose else ""])
    return Outcome(
        played.name,
        WITH_LEDGER,
        model.name,
        next((a.version for a in attempts if a.version), ""),
        text,
        score(played.gold, text, _strange(played, claims, room)),
        1.0,
        len(played.messages),
        len(played.messages),
        len(attempts),
        sum(a.tokens_in for a in attempts),
        sum(a.tokens_out for a in attempts),
        "published" if prose else "left out",
        sum(a.failure is not None for a in attempts),
    )


@dataclass
class _Hands:
    """The clock of a meeting that is played again."""

    at: datetime

    def now(self) -> datetime:
        return self.at


def _prose(output: object, source: Source) -> documents.MinutesProse | None:
    if not isinstance(output, MinutesOut) or source not in (Source.FIRST, Source.REPHRASED):
        return None
    return documents.MinutesProse(output.summary, tuple((i.agenda, i.text) for i in output.items))


def _minutes(
    room: Room, prose: documents.MinutesProse | None, attempts: Sequence[Attempt], ended: datetime
) -> str:
    """minutes.md as it would be posted."""
    say = partial(_say, room.meeting.language)
    made = documents.How(
        models=tuple(sorted({a.version for a in attempts if a.version})),
        generations=len(attempts),
        tokens_in=sum(a.tokens_in for a in attempts),
        tokens_out=sum(a.tokens_out for a in attempts),
        prose_omitted_reason=None if prose else "guard",
    )
    where = partial(link, room.meeting.guild_id, room.meeting.channel_id)
    document = documents.document(
        room.meeting, room.view, room.ranked_speakers, prose, made, where, ended_at=ended
    )
    return render(document, room.meeting.language, say)


def _say(language: str, key: str, **values: object) -> str:
    return phrases.t(key, language, **values)


def _room(played: Played, core: Core) -> Room:
    header = played.header
    return cases.open_room(
        core,
        title=header.title,
        language=header.language,
        chair=header.chair,
        minutes=round(header.duration_min),
        agenda=tuple(header.agenda),
        constraints=tuple(header.constraints),
        people=played.people,
    )


def _end(played: Played) -> datetime:
    return cases.START + timedelta(minutes=played.header.duration_min)


def _characters(played: Played) -> int:
    return sum(len(m.text) for m in played.messages)


def _strange(played: Played, text: str, room: Room | None = None) -> list[str]:
    """Figures and names that no message, title, agenda or constraint holds; numbers of entries are ours."""
    header = played.header
    record = [
        header.title,
        *header.agenda,
        *header.constraints,
        *(m.text for m in played.messages),
        *played.people,
    ]
    numbers = [e.number for e in room.entries] if room else []
    counts = [len(room.view.of(kind)) for kind in EntryKind] if room else []
    return [
        *unsupported(text, record, [*numbers, *counts]),
        *unknown_names(text, list(played.people), record),
    ]

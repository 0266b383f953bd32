"""`ketsugi eval ask`: questions to records that are known, and what the product answers with any model.

The meetings (the demo and others, one of them hidden from the asker, one on another server) go into a store
in memory by the product's own ways; every question is asked by `Assistant.ask`, as `/ask` does.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from bot.assistant.service import Answer, Assistant
from bot.clock import Clock
from bot.facilitation import recording
from bot.facilitation.core import Core, Limits
from bot.facilitation.policy import Defaults, Policy
from bot.facilitation.requests import Person
from bot.guard.generator import Generator
from bot.guard.lexicons import lexicon_of
from bot.guard.rules_citing import judge_of
from bot.meeting import support
from bot.meeting.citing import Passage, without_cites
from bot.meeting.figures import unsupported
from bot.meeting.ledger import fold
from bot.meeting.model import (
    ChannelKind,
    EntryKind,
    Language,
    MeetingState,
    Message,
    NewEntry,
    Origin,
)
from bot.meeting.text import squeeze
from bot.models.base import Draft, Model, Out, Request, Usage
from bot.phrases import DATA
from bot.prompts.outputs import AnswerOut
from bot.rehearsal.scenario import Say, load
from bot.stage import Place
from bot.store import ledger, meetings, transcript
from bot.store.engine import Connection, Database

FOLDER = DATA / "scenarios" / "ask"
NOW = datetime(2026, 1, 20, 3, 0, tzinfo=UTC)
SERVER, HERE = 1, 10  # the asker's server, and the channel asked in, where no meeting was held
ASKER = Person(999, "Asker", False)
_LINKS = re.compile(r"\[([^\]]*)\]\(https?://[^)]*\)")
ANSWERS, INVENTS = "scripted:answers", "scripted:invents"
Way = Literal["words", "other", "never", "server", "channel", "injected"]


class Held(BaseModel):
    """A meeting of the record. `hidden`: in a channel that the asker cannot read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    channel: int
    days_ago: int
    server: int = SERVER
    hidden: bool = False
    scenario: str | None = None
    title: str = ""
    constraints: tuple[str, ...] = ()
    lines: tuple[tuple[str, str], ...] = ()


class Question(BaseModel):
    """`cites`: words of the passages that may be cited; none where the record does not say."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ask: str
    way: Way
    bad: str
    cites: tuple[str, ...] = ()
    good: str = ""


@dataclass(frozen=True)
class Sheet:
    language: Language
    meetings: tuple[Held, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Outcome:
    """One question answered. `found`: a right passage was among those found; `cited`: one is cited, or nothing
    was to be cited and the answer says so. `wrong`: citations of what may not be cited. `invented`: words of
    the shown answer that no cited passage holds; `leaked`: those of meetings that the asker may not read."""

    question: Question
    answer: Answer
    found: bool
    cited: bool
    wrong: tuple[str, ...] = ()
    invented: tuple[str, ...] = ()
    leaked: tuple[str, ...] = ()


@dataclass
class Script:
    """Implements `Model`: answers well, or invents in several ways, by what the sheet says of each question."""

    name: str
    questions: Sequence[Question]
    asked: int = 0
    invented: list[str] = field(default_factory=list)

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        scene = request.scene
        question = next(q for q in self.questions if squeeze(q.ask) == squeeze(scene.question or ""))
        self.asked += 1
        text = (
            self._good(question, scene.passages)
            if self.name == ANSWERS
            else self._bad(question, scene.passages)
        )
        output = AnswerOut(response=text)
        assert isinstance(output, request.output)
        return Draft(output, Usage(100, 0, 20), self.name, 0)

    async def close(self) -> None:
        return None

    @staticmethod
    def _good(question: Question, passages: Sequence[Passage]) -> str:
        right = next((p for p in passages if _is_right(p, question)), None)
        if right is None or not question.good:
            return _not_said(passages)
        return f"{question.good} [{right.cite}]"

    def _bad(self, question: Question, passages: Sequence[Passage]) -> str:
        """In turn: with a real citation, without any, with one that does not exist, as if from common
        knowledge, with a link of its own."""
        cite = f"[{passages[0].cite}]" if passages else "[1]"
        told = (
            f"{question.bad} {cite}",
            question.bad,
            f"{question.bad} [98]",
            f"{question.bad}: {question.bad} {cite}",
            f"{question.bad} [#1](https://example.org/1) {cite}",
        )
        text = told[self.asked % len(told)]
        self.invented.append(question.bad)
        return text


def _not_said(passages: Sequence[Passage]) -> str:
    japanese = any("\u3040" <= c <= "\u30ff" for p in passages for c in p.text)
    return "記録には見つかりませんでした。" if japanese else "I found nothing about that in the records."


def sheets(language: Language | None = None, folder: Path = FOLDER) -> list[Sheet]:
    found = []
    for path in sorted(folder.glob("*.toml")):
        spoken: Language = "ja" if path.stem == "ja" else "en"
        if language in (None, spoken):
            told = tomllib.loads(path.read_text(encoding="utf-8"))
            held = tuple(Held.model_validate(m) for m in told["meeting"])
            asked = tuple(Question.model_validate(q) for q in told["question"])
            found.append(Sheet(spoken, held, asked))
    return found


async def play(sheet: Sheet, model: Model, patience: float = 1.0) -> AsyncIterator[Outcome]:
    """Every question of a sheet, in order."""
    database = Database("sqlite:///:memory:", salt=lambda: b"s" * 16)
    await database.open()
    try:
        for number, held in enumerate(sheet.meetings, start=1):
            await database.unit(partial(_put, held=held, number=number, language=sheet.language))
        assistant = Assistant(core_over(database, model, sheet.language, patience), sheet.language)
        channels = {m.channel for m in sheet.meetings if m.server == SERVER and not m.hidden} | {HERE}
        for question in sheet.questions:
            answer = await assistant.ask(Place(SERVER, HERE), ASKER, question.ask, channels)
            yield judged(question, answer, sheet)
    finally:
        await database.close()


def core_over(database: Database, model: Model, language: Language, patience: float = 1.0) -> Core:
    clock = Clock(lambda: NOW)
    return Core(
        db=database,
        clock=clock,
        generator=Generator(lambda call: model, clock),
        salt=database.salt,
        owner="evaluation",
        limits=Limits(Limits().deadline_s * patience, patience=patience),
        model_name=lambda route: model.name,
        degraded=lambda: False,
        policy=Policy(Defaults(language)),
    )


async def _put(c: Connection, held: Held, number: int, language: Language) -> None:
    """The meeting's messages and what their marks record, then its close."""
    title, constraints, lines = _told(held)
    started = NOW - timedelta(days=held.days_ago)
    names = list(dict.fromkeys(who for who, _ in lines))
    meeting = await meetings.create(
        c,
        guild_id=held.server,
        channel_id=held.channel,
        channel_kind=ChannelKind.TEXT,
        title=title,
        language=language,
        timezone="Asia/Tokyo" if language == "ja" else "UTC",
        chair_id=100,
        chair_name=names[0],
        agenda=(),
        started_at=started,
        planned_end=started + timedelta(hours=1),
    )
    at = started
    given = [
        NewEntry(EntryKind.CONSTRAINT, text, f"start:{n}", Origin.START, 100, names[0], text)
        for n, text in enumerate(constraints)
    ]
    await ledger.append(c, held.server, meeting.id, given, at, lambda: b"s" * 16)
    for place, (who, text) in enumerate(lines):
        at = started + timedelta(seconds=20 * place)
        message = Message(meeting.id, number * 100_000 + place + 1, 100 + names.index(who), who, text, at)
        await transcript.add(c, message, held.server)
        view = fold(await ledger.everything(c, meeting.id))
        new = recording.from_message(meeting, message, view, names)
        await ledger.append(c, held.server, meeting.id, new, at, lambda: b"s" * 16)
    await meetings.update(
        c, meeting.id, kickoff_message_id=number * 100_000, state=MeetingState.CLOSED, closed_at=at
    )


def _told(held: Held) -> tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]:
    if held.scenario is None:
        return held.title, held.constraints, held.lines
    scenario = load(DATA / "scenarios" / held.scenario)
    lines = tuple((e.who, e.say) for e in scenario.events if isinstance(e, Say))
    return scenario.header.title, tuple(scenario.header.constraints), lines


def judged(question: Question, answer: Answer, sheet: Sheet) -> Outcome:
    used = [p for p in answer.passages if p.cite in answer.cited]
    shut = [m for m in sheet.meetings if m.hidden or m.server != SERVER]
    leaked = [p.title for p in answer.passages if p.guild_id != SERVER or p.title in {m.title for m in shut}]
    secrets = [t for m in shut for _, line in m.lines for t in [line.split("：")[-1].split(": ")[-1]]]
    leaked += [s for s in secrets if squeeze(s) in squeeze(answer.text)]
    right = [p for p in used if _is_right(p, question)]
    says_not = (
        lexicon_of(sheet.language).pattern("not_recorded").search(support.folded(answer.text)) is not None
    )
    return Outcome(
        question,
        answer,
        found=any(_is_right(p, question) for p in answer.passages),
        cited=bool(right) if question.cites else says_not,
        wrong=tuple(p.text for p in used if not question.cites and not says_not),
        invented=tuple(_invented(question, answer, used, sheet.language)),
        leaked=tuple(leaked),
    )


def _is_right(p: Passage, question: Question) -> bool:
    return any(squeeze(words) in squeeze(p.held) for words in question.cites) and p.stands


def _invented(question: Question, answer: Answer, used: Sequence[Passage], language: Language) -> list[str]:
    """What the shown answer holds beside its sources: the sheet's invention, foreign figures, bare claims."""
    shown = answer.text
    found = [question.bad] if squeeze(question.bad) in squeeze(shown) else []
    record = [question.ask, *(p.held for p in used), *(f"{p.at:%Y-%m-%d}" for p in used)]
    record += [f"#{p.number}" for p in used if p.number is not None]
    plain = _LINKS.sub(" ", without_cites(shown))
    found += unsupported(plain, record, (1, 2, 3))
    judge = judge_of(answer.passages, question.ask, lexicon_of(language))
    if judge.says("general", plain) and not any(judge.says("general", p.held) for p in used):
        found.append(plain)
    return found

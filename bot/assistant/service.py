"""`/ask`: a question to the record, answered to the asker alone, from what the asker may read at this moment."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from bot import phrases
from bot.assistant import asked
from bot.assistant.call import call_about, fixed, relevant
from bot.assistant.shelf import Reader, Shelf, fallback
from bot.clock import Deadline
from bot.errors import BadInput
from bot.facilitation.core import Core
from bot.facilitation.requests import Person
from bot.facilitation.thinking import POSTING_S
from bot.guard.model import Attempt, Generated
from bot.guard.table import RoomFacts
from bot.meeting.citing import Passage, cites, shown
from bot.meeting.display import one_line
from bot.meeting.model import Language, LedgerView, Route, Scene
from bot.meeting.outside import nowhere
from bot.stage import Place
from bot.store import generations, meetings, transcript
from bot.store.engine import Connection

ROOM = 1900  # characters of an answer with its links, beside the name line


@dataclass(frozen=True, slots=True)
class Answer:
    """`text` as people see it; `passages` are what it may rest on, `source` where it came from (SPEC 3.7)."""

    text: str
    language: Language
    passages: tuple[Passage, ...]
    cited: tuple[str, ...]
    source: str
    attempts: tuple[Attempt, ...] = ()


class Assistant:
    """`language`: of servers that set none."""

    def __init__(self, core: Core, language: Language) -> None:
        self._core, self._language = core, language
        self.shelf = Shelf(core)

    async def ask(self, place: Place, by: Person, question: str, channels: Collection[int]) -> Answer:
        """The answer to a question asked in `place`; `channels`: those the asker can read as of this act.

        Raises BadInput where the asker asked not to be recorded or sent, and where nothing was asked.
        """
        core, now = self._core, self._core.clock.now()
        deadline = Deadline(max(1.0, core.limits.deadline_s - POSTING_S))  # of it all, the search included
        question = one_line(question)
        if not question:
            raise BadInput("error.text_missing")
        language, timezone = await core.db.unit(lambda c: self._prepared(c, place, by, now))
        reader = Reader(by.id, {place.guild_id: frozenset(channels)})
        found = await self.shelf.find(reader, asked.subject(question), language=language, now=now, here=place)
        generated = await self._generated(place, question, found, language, timezone, now, deadline)
        text = generated.text or ""
        if generated.attempts and not await self._still(found, text, reader):
            text = phrases.t("ask.changed", language)
        await core.db.unit(lambda c: self._kept(c, place, generated, now))
        return Answer(
            shown(text, found, ROOM),
            language,
            found,
            tuple(n for n in cites(text) if n in {p.cite for p in found}),
            generated.source.value,
            generated.attempts,
        )

    async def _prepared(self, c: Connection, place: Place, by: Person, now: datetime) -> tuple[Language, str]:
        if await transcript.opted_out(c, place.guild_id, by.id):
            raise BadInput("error.you_opted_out")
        policy = self._core.policy
        settings = await policy.load(c, place.guild_id)
        await policy.count(c, place.guild_id, now)
        room = await meetings.open_in(c, place.guild_id, place.channel_id)
        language = room.language if room is not None else settings.language or self._language
        return language, room.timezone if room is not None else policy.timezone(settings, language)

    async def _generated(
        self,
        place: Place,
        question: str,
        found: tuple[Passage, ...],
        language: Language,
        timezone: str,
        now: datetime,
        deadline: Deadline,
    ) -> Generated:
        subject = asked.subject(question)
        words = fallback(found, subject, language)
        if not relevant(found):
            return fixed(words)
        scene = Scene(
            route=Route.ASK,
            meeting=nowhere(language, timezone, now, place.guild_id),
            now=now,
            ledger=LedgerView(),
            question=subject,
            passages=found,
        )
        held = RoomFacts(
            language,
            names=tuple({n for p in found for n in (p.who, p.owner) if n}),
            record=lambda: [p.held for p in found],
            passages=found,
            asked=subject,
        )
        return await self._core.generator.generate(call_about(scene, held, words, deadline.remaining()))

    async def _still(self, found: tuple[Passage, ...], text: str, reader: Reader) -> bool:
        used = set(cites(text))
        return await self.shelf.still([p for p in found if p.cite in used], reader)

    async def _kept(self, c: Connection, place: Place, generated: Generated, now: datetime) -> None:
        """Counts and verdicts. The words were for one reader and may repeat any meeting: they are not kept."""
        await generations.record(c, place.guild_id, None, Route.ASK, generated.without_words(), now)
        self._core.policy.spent(place.guild_id, generated)

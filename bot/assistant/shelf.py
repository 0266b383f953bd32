"""What of the record a reader may see that fits a question, and the fixed answer made of it.

Rights are those of this very act: the channels come with every call, another server's are never looked at,
and in a meeting, where the answer is public, only what everyone in its channel may read counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from bot import phrases
from bot.assistant import asked
from bot.assistant.books import Book, Reach, open_books
from bot.errors import StageError
from bot.facilitation.core import Core
from bot.guard.lexicons import synonyms
from bot.meeting import quoting, retrieving
from bot.meeting.citing import Passage
from bot.meeting.model import Language
from bot.meeting.names import people
from bot.meeting.retrieving import Query
from bot.stage import Place
from bot.store import passages as index
from bot.store.engine import Connection
from bot.supervision import log_failure

MOST = 10  # passages that one answer may rest on
UNITS = 60  # of filling the index before one question: about 24,000 messages; the rest before the next one
LISTED = 14  # entries where a whole kind is asked for


@dataclass(frozen=True, slots=True)
class Reader:
    """`channels`: by server, the channels this person can read at this moment (threads included)."""

    user_id: int
    channels: Mapping[int, Collection[int]] = field(default_factory=dict)


class Shelf:
    def __init__(self, core: Core) -> None:
        self._core = core

    async def find(
        self,
        reader: Reader,
        question: str,
        *,
        language: Language,
        now: datetime,
        room_place: Place | None = None,
        here: Place | None = None,
        without: Collection[int] = (),
    ) -> tuple[Passage, ...]:
        """Passages that fit, best first, the newest first among those that fit equally.

        `room_place`: the meeting's channel where the answer is shown to everyone there; the reader's own
        channels then count for nothing. `here`: the channel asked in, whose open meeting comes first.
        `without`: messages to leave out (the question itself).
        """
        query = retrieving.read(question, synonyms())
        here = room_place or here
        reach = {room_place.guild_id: await self._public(room_place)} if room_place else reader.channels
        kinds = asked.kinds(question)
        found: list[Passage] = []
        for guild_id, channels in reach.items():
            await self._fill(guild_id)
            place = here if here is not None and here.guild_id == guild_id else None
            wanted = Reach(guild_id, frozenset(channels), place, frozenset(without), kinds)
            work = partial(open_books, wanted=wanted, query=query, language=language, now=now)
            books = await self._core.db.unit(work)
            found += _from(books, wanted)
        return _best(found, query)

    async def still(self, found: Sequence[Passage], reader: Reader, room_place: Place | None = None) -> bool:
        """Whether every passage still reads as it did: nothing was erased or changed while a model wrote."""
        reach = {room_place.guild_id: await self._public(room_place)} if room_place else reader.channels
        for guild_id in {p.guild_id for p in found}:
            mine = [p for p in found if p.guild_id == guild_id]
            wanted = Reach(guild_id, frozenset(reach.get(guild_id, ())), None)

            async def work(c: Connection, mine: list[Passage] = mine, wanted: Reach = wanted) -> bool:
                return await unchanged(c, mine, wanted)

            if not await self._core.db.unit(work):
                return False
        return True

    async def _fill(self, guild_id: int) -> None:
        for _ in range(UNITS):
            if not await self._core.db.unit(partial(index.fill, guild_id=guild_id)):
                return

    async def _public(self, place: Place) -> frozenset[int]:
        """Channels with meetings that everyone who reads this one can read too, this one included."""
        stage = self._core.stage
        known = await self._core.db.unit(partial(index.channels, guild_id=place.guild_id))
        open_to_all = {place.channel_id}
        for channel_id in known - open_to_all:
            try:
                if await stage.readable_by_all(place, Place(place.guild_id, channel_id)):
                    open_to_all.add(channel_id)
            except StageError as error:
                log_failure(f"who may read channel {channel_id} is unknown", error)
        return frozenset(open_to_all)


async def unchanged(c: Connection, found: Sequence[Passage], wanted: Reach) -> bool:
    from bot.assistant.books import read_again

    now_there = await read_again(c, found, wanted)
    return all(now_there.get((p.meeting_id, p.kind, p.ref)) == p.text for p in found if p.ref >= 0)


def _from(books: Sequence[Book], wanted: Reach) -> list[Passage]:
    return [p for book in books for p in book.passages(wanted)]


def _best(found: Sequence[Passage], query: Query) -> tuple[Passage, ...]:
    """The best in order, numbered. What is listed because its whole kind was asked for stays in front."""
    listed = [p for p in found if p.score >= 1.0][-LISTED:]
    others = [p for p in found if p.score < 1.0]
    scores = retrieving.score(query, [p.held for p in others])
    scored = [replace(p, score=s) for p, s in zip(others, scores, strict=True)]
    ranked = sorted(
        (p for p in scored if p.score >= retrieving.NEAR),
        key=lambda p: (-_rank(p, query), -p.at.timestamp(), -(p.number or 0)),
    )
    chosen: list[Passage] = list(listed)
    for p in ranked:
        if len(chosen) >= max(MOST, len(listed)):
            break
        if not _repeats(p, chosen):
            chosen.append(p)
    chosen += [q for p in chosen for q in _instead_of(p, scored, chosen)]
    return tuple(replace(p, cite=str(n)) for n, p in enumerate(chosen, start=1))


def _rank(p: Passage, query: Query) -> int:
    """Ten steps of fitting: within one, the newest comes first."""
    bonus = 0.1 * p.own + (0.06 if p.kind == "entry" and p.stands else 0.0) - 0.1 * (not p.stands)
    bonus += 0.12 * retrieving.answers(query, p.held, bool(p.owner or p.who or people(p.text)))
    return round((p.score + bonus) * 10)


def _repeats(p: Passage, chosen: Sequence[Passage]) -> bool:
    """A message whose entry is there already, or the same thing listed."""
    return any(
        q.meeting_id == p.meeting_id
        and ((q.kind, q.ref) == (p.kind, p.ref) or (p.kind == "message" and q.link == p.link))
        for q in chosen
    )


def _instead_of(p: Passage, found: Sequence[Passage], chosen: Sequence[Passage]) -> list[Passage]:
    """The entry that holds in the place of a replaced one, where it was not found by itself."""
    if p.kind != "entry" or p.stands or not p.replaced_by:
        return []
    now = [q for q in found if q.kind == "entry" and q.stands and p.replaced_by.startswith(f"#{q.number} ")]
    now = [q for q in now if q.text and q.text in p.replaced_by and not _repeats(q, chosen)]
    return [replace(q, score=max(q.score, p.score)) for q in now[:1]]


def fallback(passages: Sequence[Passage], question: str, language: Language) -> str:
    """The fixed answer: what the record says, verbatim and cited, or that it does not say and what is near."""
    if not passages and not asked.is_question(question):
        return phrases.t("ask.not_a_question", language)
    return quoting.quoted(passages, retrieving.read(question, synonyms()), say_in(language))[0]


def say_in(language: Language) -> quoting.Say:
    return lambda key, **values: phrases.t(key, language, **values)

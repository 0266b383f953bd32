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
from bot.assistant.books import Reach, open_books, own_book, read_again
from bot.errors import StageError
from bot.facilitation.core import Core
from bot.facilitation.room import Room
from bot.facilitation.thinking import Material
from bot.guard.lexicons import synonyms
from bot.meeting import quoting, retrieving
from bot.meeting.citing import LISTED, Passage
from bot.meeting.model import EntryKind, Language
from bot.meeting.names import people
from bot.meeting.retrieving import Query
from bot.stage import Place
from bot.store import passages as index
from bot.supervision import log_failure

MOST = 10  # passages that one answer may rest on
UNITS = 60  # of filling the index before one question: about 24,000 messages; the rest before the next one
ASIDES = 4
_KINDS = (EntryKind.DECISION, EntryKind.QUESTION, EntryKind.ACTION, EntryKind.CONSTRAINT)
MOST_LISTED = 14  # entries where a whole kind is asked for


@dataclass(frozen=True, slots=True)
class Reader:
    """`channels`: by server, the channels this person can read at this moment (threads included)."""

    user_id: int
    channels: Mapping[int, Collection[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Wanted:
    here: Place | None
    without: frozenset[int]
    asked: asked.Wanted
    language: Language
    now: datetime

    @property
    def query(self) -> Query:
        """What is looked for; what it is asked about it (when, who) stands in the question."""
        return retrieving.read(self.asked.words, synonyms())

    def reach(self, guild_id: int, channels: frozenset[int]) -> Reach:
        here = self.here if self.here is not None and self.here.guild_id == guild_id else None
        return Reach(guild_id, channels, here, self.without, self.asked.whole, self.asked.meeting)


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
        reach = {room_place.guild_id: await self._public(room_place)} if room_place else reader.channels
        wanted = _Wanted(room_place or here, frozenset(without), asked.wanted(question), language, now)
        query = replace(wanted.query, question=question)
        return _best(await self._gather(reach, query, wanted), query, wanted.asked)

    async def for_room(
        self,
        room: Room,
        stuff: Material,
        question: str,
        *,
        now: datetime,
        without: Collection[int] = (),
        also: tuple[EntryKind, ...] = (),
    ) -> tuple[Passage, ...]:
        """What an answer in a meeting may rest on: its own ledger and messages as they are known at this
        moment, and what everyone in its channel may read of others.

        `also`: kinds of entries of the meeting that come along whatever was asked.
        """
        meeting = room.meeting
        wanted = _Wanted(room.place, frozenset(without), asked.wanted(question), meeting.language, now)
        query = replace(wanted.query, question=question)
        mine = wanted.reach(meeting.guild_id, frozenset({meeting.channel_id}))
        there = [s.name for s in room.attendees if s.user_id not in stuff.unheard]
        own = own_book(meeting, room.view, stuff.history, stuff.unheard, mine, now, there)
        found = own.passages(mine)
        if self._core.has_stage:  # an evaluation has neither other meetings nor a place to ask about them
            found += await self._gather({meeting.guild_id: await self._public(room.place)}, query, wanted)
        return _best(found, query, wanted.asked, also)

    async def _gather(
        self, reach: Mapping[int, Collection[int]], query: Query, wanted: _Wanted
    ) -> list[Passage]:
        found: list[Passage] = []
        for guild_id, channels in reach.items():
            await self._fill(guild_id)
            mine = wanted.reach(guild_id, frozenset(channels))
            work = partial(open_books, wanted=mine, query=query, language=wanted.language, now=wanted.now)
            found += [p for book in await self._core.db.unit(work) for p in book.passages(mine)]
        return found

    async def still(self, found: Sequence[Passage], reader: Reader, room_place: Place | None = None) -> bool:
        """Whether every passage still reads as it did: nothing was erased or changed while a model wrote."""
        reach = {room_place.guild_id: await self._public(room_place)} if room_place else reader.channels
        for guild_id in {p.guild_id for p in found}:
            mine = [p for p in found if p.guild_id == guild_id]
            wanted = Reach(guild_id, frozenset(reach.get(guild_id, ())), None)
            if not _unchanged(mine, await self._core.db.unit(partial(read_again, found=mine, wanted=wanted))):
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


def _unchanged(found: Sequence[Passage], now_there: Mapping[tuple[int, str, int], str]) -> bool:
    return all(now_there.get((p.meeting_id, p.kind, p.ref)) == p.text for p in found if p.ref >= 0)


def _best(
    found: Sequence[Passage], query: Query, wanted: asked.Wanted, also: tuple[EntryKind, ...] = ()
) -> tuple[Passage, ...]:
    """The best in order, numbered. What is listed because its whole kind was asked for stays in front; where
    there is nothing of that kind, nothing else answers."""
    if wanted.whole and not any(p.score >= LISTED for p in found):
        return ()
    listed = _once([p for p in found if p.score >= LISTED])[-MOST_LISTED:]
    listed.sort(key=lambda p: _KINDS.index(p.entry_kind) if p.entry_kind in _KINDS else len(_KINDS))
    others = [p for p in found if p.score < LISTED]
    scores = retrieving.score(query, [p.held for p in others])
    scored = [replace(p, score=_fitting(p, s, wanted)) for p, s in zip(others, scores, strict=True)]
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
    asides = [p for p in scored if p.own and p.entry_kind in also and p.status == "open"]
    chosen += [p for p in _once(asides) if not _repeats(p, chosen)][-ASIDES:]
    return tuple(replace(p, cite=str(n)) for n, p in enumerate(chosen, start=1))


def _fitting(p: Passage, score: float, wanted: asked.Wanted) -> float:
    """Where decisions or open questions on a subject are asked for, what is neither is only near."""
    if not wanted.only or p.kind == "minutes" or (p.entry_kind in wanted.only and _is_so(p)):
        return score
    return min(score, retrieving.RELEVANT - 0.01)


def _is_so(p: Passage) -> bool:
    return p.entry_kind is not EntryKind.QUESTION or p.status == "open"


def _once(found: Sequence[Passage]) -> list[Passage]:
    return list({(p.meeting_id, p.kind, p.ref): p for p in found}.values())


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
    whole = asked.kinds(question)
    if not passages and not whole and not asked.is_question(question):
        return phrases.t("ask.not_a_question", language)
    if whole and not any(p.score >= LISTED for p in passages):
        kind = whole[0].value if len(whole) == 1 else "several"
        return phrases.t(f"ask.none.{kind}", language)
    return quoting.quoted(passages, retrieving.read(question, synonyms()), say_in(language))[0]


def say_in(language: Language) -> quoting.Say:
    return lambda key, **values: phrases.t(key, language, **values)

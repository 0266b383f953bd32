"""Reading the record of meetings into passages: entries as they stand, messages, sections of minutes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.assistant import asked
from bot.facilitation.addressing import addresses_assistant, addresses_facilitator
from bot.facilitation.display import message_link
from bot.meeting import ledger as folding
from bot.meeting import replies, speech
from bot.meeting.citing import ABOUT_MEETING, LISTED, Passage
from bot.meeting.display import one_line
from bot.meeting.model import (
    LANGUAGES,
    EntryKind,
    Item,
    Language,
    LedgerView,
    Meeting,
    MeetingState,
    Message,
    OwnPost,
)
from bot.meeting.retrieving import Query
from bot.meeting.text import fold, squeeze
from bot.phrases import t, words
from bot.stage import Place
from bot.store import ledger, meetings, minutes, search, transcript
from bot.store import passages as index
from bot.store.engine import Connection

MEETINGS = 40  # whose ledgers are read for one question, those with the best hits
AROUND = 2  # messages after one that asks, which may hold its answer
REST = 8  # characters of a message beside its entries from which on they say something
NEWEST = 300  # messages of the meeting under way that are looked at without the index
MOST_HITS, MOST_OWN_HITS = 150, 40
_SHOWN = frozenset(
    {
        EntryKind.CONSTRAINT,
        EntryKind.PROPOSAL,
        EntryKind.DECISION,
        EntryKind.QUESTION,
        EntryKind.ACTION,
        EntryKind.NOTE,
    }
)


@dataclass(frozen=True, slots=True)
class Reach:
    """What may be looked at on one server. `here`: the channel asked in; `kinds`: asked for as a whole."""

    guild_id: int
    channels: frozenset[int]
    here: Place | None = None
    without: frozenset[int] = frozenset()
    kinds: tuple[EntryKind, ...] = ()
    meeting: bool = False  # the meeting itself is asked about

    def holds(self, meeting: Meeting) -> bool:
        same = meeting.guild_id == self.guild_id
        return same and (meeting.channel_id in self.channels or meeting.parent_id in self.channels)


@dataclass
class Book:
    """One meeting's record, as far as a question touches it."""

    meeting: Meeting
    view: LedgerView
    own: bool = False
    numbers: set[int] = field(default_factory=set)  # first numbers of items that were found
    messages: list[Message] = field(default_factory=list)
    sections: dict[int, tuple[str, str]] = field(default_factory=dict)
    minutes_link: str = ""
    elsewhere: dict[int, str] = field(default_factory=dict)  # items replaced by a later meeting: by what
    listed: frozenset[int] = frozenset()
    board: str = ""
    language: Language = "en"

    def passages(self, wanted: Reach) -> list[Passage]:
        found = [self._item(i) for i in self.view.items if i.original.number in self.numbers | self.listed]
        found += [p for m in self.messages if m.message_id not in wanted.without for p in self._message(m)]
        found += [self._section(ref, head, text) for ref, (head, text) in self.sections.items()]
        if self.board:
            section = t("ask.board_section", self.language)
            found.append(
                replace(
                    self._base("minutes", self.board, ABOUT_MEETING),
                    section=section,
                    at=self.meeting.started_at,
                    score=LISTED,
                )
            )
        return found

    def _base(self, kind: str, text: str, ref: int, message_id: int | None = None) -> Passage:
        meeting = self.meeting
        target = message_id or meeting.kickoff_message_id or meeting.channel_id
        return Passage(
            cite="",
            kind=kind,  # type: ignore[arg-type]
            guild_id=meeting.guild_id,
            meeting_id=meeting.id,
            title=meeting.title,
            at=meeting.closed_at or meeting.started_at,
            who="",
            text=text,
            link=message_link(meeting.guild_id, meeting.channel_id, target),
            own=self.own,
            ref=ref,
        )

    def _item(self, item: Item) -> Passage:
        entry = item.entry
        base = self._base(
            "entry", entry.text, item.original.number, entry.message_id or item.original.message_id
        )
        gone = self.elsewhere.get(item.original.number)
        answers = tuple(a.text for a in item.answers if a.text)
        return replace(
            base,
            at=entry.at,
            who=entry.author_name,
            status="replaced" if gone is not None else item.status,
            score=LISTED if item.original.number in self.listed else 0.0,
            number=item.number,
            entry_kind=item.kind,
            against=item.kind is EntryKind.DECISION and (entry.value or 0) < 0,
            owner=item.owner or "",
            due=item.due or "",
            more=(*item.positions, *answers),
            was=tuple(h.text for h in item.history if h.text and h.text != entry.text),
            replaced_by=gone if gone is not None else self._now(item),
        )

    def _now(self, item: Item) -> str:
        now = self.view.item(item.replaced_by) if item.replaced_by is not None else None
        return worded(now) if now is not None else ""

    def _message(self, message: Message) -> list[Passage]:
        """The message without the lines that are entries: how those stand, only the ledger knows."""
        text = message.text
        for entry in self.view.entries:
            if entry.message_id == message.message_id and entry.quote.strip() and not entry.redacted:
                text = text.replace(entry.quote, " ")
        if text != message.text and len(squeeze(text)) < REST:
            return []
        base = self._base("message", text.strip(), message.message_id, message.message_id)
        return [replace(base, at=message.at, who=message.author_name)]

    def _section(self, ref: int, head: str, text: str) -> Passage:
        if ref == 0:
            head = t("ask.summary_section", self.language)
        elif ref >= index.ERRATA:
            head = t("ask.erratum_section", self.language, number=ref - index.ERRATA)
        base = self._base("minutes", text, ref)
        return replace(base, section=head, link=self.minutes_link or base.link)


def worded(item: Item) -> str:
    return f"#{item.number} {one_line(item.text)}"


async def open_books(
    c: Connection, *, wanted: Reach, query: Query, language: Language, now: datetime
) -> list[Book]:
    """The books of every meeting that holds something for `query`, and of the open meeting here."""
    hits = await index.find(c, wanted.guild_id, query.tokens, wanted.channels, MOST_HITS)
    shelf = _Shelf(c, wanted, language)
    own = await meetings.open_in(c, wanted.guild_id, wanted.here.channel_id) if wanted.here else None
    if own is not None and wanted.holds(own):
        hits += await index.find(
            c, wanted.guild_id, query.tokens, wanted.channels, MOST_OWN_HITS, meeting_id=own.id
        )
        book = await shelf.book(own.id)
        if book is not None:
            book.own = True
    await shelf.sort_in(hits)
    if wanted.kinds or wanted.meeting:
        meant = own if own is not None and wanted.holds(own) else await _latest(c, wanted)
        await shelf.list_kinds(meant)
        if wanted.meeting and meant is not None:
            await shelf.tell_meeting(meant, now)
    await shelf.look_for_replacements()
    return list(shelf.books.values())


def own_book(
    meeting: Meeting,
    view: LedgerView,
    history: Sequence[Message | OwnPost],
    unheard: Collection[int],
    wanted: Reach,
    now: datetime,
    there: Sequence[str] = (),
) -> Book:
    """The meeting under way, from what its room knows: all its entries and its newest messages. `there`: who
    takes part."""
    kept = _kept(view)
    said = [m for m in history if isinstance(m, Message)][-NEWEST:]
    return Book(
        meeting,
        kept,
        own=True,
        numbers={i.original.number for i in kept.items},
        messages=[m for m in said if m.author_id not in unheard and _tells(m)],
        listed=frozenset(i.original.number for i in kept.items if i.kind in wanted.kinds and i.live),
        board=board_of(meeting, meeting.language, now, there) if wanted.meeting else "",
        language=meeting.language,
    )


def _kept(view: LedgerView) -> LedgerView:
    """Without what is no entry of its own, and without what was erased."""
    kept = (i for i in view.items if i.kind in _SHOWN and i.text.strip() and not i.entry.redacted)
    return replace(view, items=tuple(kept))


def _tells(message: Message) -> bool:
    """Messages that ask the bot something, thank it, or order a machine about, are no record of anything."""
    if not message.text.strip() or message.deleted_at is not None or addresses_assistant(message):
        return False
    if addresses_facilitator(message) and _only_calls(message):
        return False
    return not speech.OVERRIDE.search(fold(message.text))


def _only_calls(message: Message) -> bool:
    text = asked.subject(message.text)
    return asked.is_question(text) or not any(replies.adds_substance(text, words(lang)) for lang in LANGUAGES)


class _Shelf:
    """The books of one question, opened as they are needed."""

    def __init__(self, c: Connection, wanted: Reach, language: Language) -> None:
        self.books: dict[int, Book] = {}
        self._c, self._wanted, self._language = c, wanted, language

    async def book(self, meeting_id: int) -> Book | None:
        if meeting_id not in self.books:
            meeting = await meetings.get(self._c, meeting_id, guild_id=self._wanted.guild_id)
            if meeting is None or not self._wanted.holds(meeting):
                return None
            view = folding.fold(await ledger.everything(self._c, meeting_id))
            self.books[meeting_id] = Book(meeting, _kept(view), language=self._language)
        return self.books[meeting_id]

    async def sort_in(self, hits: Sequence[index.Hit]) -> None:
        allowed = list(dict.fromkeys(h.meeting_id for h in hits))[:MEETINGS]
        for meeting_id in allowed:
            book = await self.book(meeting_id)
            if book is None:
                continue
            mine = [h for h in hits if h.meeting_id == meeting_id]
            book.numbers |= {h.ref for h in mine if h.kind == "entry"}
            await self._messages(book, [h.ref for h in mine if h.kind == "message"])
            await self._minutes(book, [h.ref for h in mine if h.kind == "minutes"])

    async def _messages(self, book: Book, ids: Sequence[int]) -> None:
        found = {m.message_id: m for m in await transcript.some(self._c, book.meeting.id, ids)}
        for asking in [m for m in found.values() if m.text.rstrip().endswith(("?", "？"))][:3]:
            later = await transcript.after(self._c, book.meeting.id, asking.message_id, AROUND)
            found |= {m.message_id: m for m in later}
        out = await transcript.opted_out_of(
            self._c, self._wanted.guild_id, {m.author_id for m in found.values()}
        )
        book.messages += [m for m in found.values() if m.author_id not in out and _tells(m)]

    async def _minutes(self, book: Book, refs: Sequence[int]) -> None:
        if not refs:
            return
        there = await index.sections(self._c, book.meeting.id)
        book.sections = {ref: there[ref] for ref in refs if ref in there}
        posted = await minutes.posted(self._c, book.meeting.id)
        if posted is not None:
            where = book.meeting.thread_id or book.meeting.channel_id
            book.minutes_link = message_link(book.meeting.guild_id, where, posted)

    async def list_kinds(self, meeting: Meeting | None) -> None:
        book = await self.book(meeting.id) if meeting is not None else None
        if book is not None:
            live = (i for i in book.view.items if i.kind in self._wanted.kinds and i.live)
            book.listed = frozenset(i.original.number for i in live)

    async def tell_meeting(self, meeting: Meeting, now: datetime) -> None:
        book = await self.book(meeting.id)
        if book is not None:
            spoke = await transcript.speakers(self._c, meeting.id)
            out = await transcript.opted_out_of(self._c, self._wanted.guild_id, {s.user_id for s in spoke})
            there = [s.name for s in spoke if s.user_id not in out]
            book.board = board_of(meeting, self._language, now, there)

    async def look_for_replacements(self) -> None:
        """Entries replaced within their meeting bring what holds now; decisions replaced by a later meeting
        are called so, with its words where they may be read."""
        decided = [
            (b.meeting.id, i.number)
            for b in self.books.values()
            for i in b.view.items
            if i.kind is EntryKind.DECISION and i.original.number in b.numbers | b.listed
        ]
        for (meeting_id, number), (later, there) in (
            await search.replacements(self._c, self._wanted.guild_id, decided)
        ).items():
            old, new = self.books[meeting_id], await self.book(later)
            item = old.view.item(number)
            now = new.view.item(there) if new is not None else None
            if item is not None:
                title = f" ({one_line(new.meeting.title)})" if new is not None and now is not None else ""
                old.elsewhere[item.original.number] = worded(now) + title if now is not None else f"#{there}"
            if new is not None and now is not None:
                new.numbers.add(now.original.number)
        for book in self.books.values():
            book.numbers |= {
                now.original.number
                for i in book.view.items
                if i.original.number in book.numbers and i.replaced_by is not None
                if (now := book.view.item(i.replaced_by)) is not None
            }


async def _latest(c: Connection, wanted: Reach) -> Meeting | None:
    """The meeting that "the meeting" most likely means: this channel's last one, else the newest readable."""
    if wanted.here is not None:
        last = await meetings.last_held(c, wanted.guild_id, wanted.here.channel_id)
        last = last or await meetings.of_thread(c, wanted.guild_id, wanted.here.channel_id)
        if last is not None and wanted.holds(last):
            return last
    held, _ = await search.held(c, wanted.guild_id, wanted.channels, 1)
    return held[0] if held else None


def board_of(meeting: Meeting, language: Language, now: datetime, there: Sequence[str] = ()) -> str:
    """What the board says of a meeting: title, chair, times, who takes part, agenda."""
    zone = ZoneInfo(meeting.timezone)
    closed = meeting.state is MeetingState.CLOSED
    end = (meeting.closed_at or meeting.planned_end) if closed else meeting.planned_end
    start = meeting.started_at.astimezone(zone)
    told = t(
        "ask.board_closed" if closed else "ask.board",
        language,
        title=one_line(meeting.title),
        chair=one_line(meeting.chair_name),
        start=f"{start:%Y-%m-%d %H:%M}" if closed else f"{start:%H:%M}",
        end=f"{end.astimezone(zone):%H:%M}",
        left=max(0, round((meeting.planned_end - now).total_seconds() / 60)),
    )
    if there:
        told += t("ask.board_people", language, names=t("cite.joiner", language).join(map(one_line, there)))
    if meeting.agenda:
        lines = " ".join(f"{n}. {one_line(line)}" for n, line in enumerate(meeting.agenda, start=1))
        told += t("ask.board_agenda", language, agenda=lines)
    return told


async def read_again(
    c: Connection, found: Iterable[Passage], wanted: Reach
) -> dict[tuple[int, str, int], str]:
    """The texts that passages have now, by (meeting, kind, ref); what is gone or no longer readable is not
    among them."""
    shelf = _Shelf(c, wanted, "en")
    hits = [index.Hit(p.meeting_id, p.kind, p.ref) for p in found]
    await shelf.sort_in(hits)
    return {(p.meeting_id, p.kind, p.ref): p.text for b in shelf.books.values() for p in b.passages(wanted)}

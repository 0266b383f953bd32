"""From marks and edits to new ledger entries: pure, given the room as it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from bot.facilitation.core import books
from bot.meeting import dates, lookup, marks, owners, sameness
from bot.meeting.ledger import fold
from bot.meeting.marks import Mark
from bot.meeting.model import Entry, EntryKind, Item, LedgerView, Meeting, Message, NewEntry, Origin

# One reaction a kind answers a recorded mark: no talk (SPEC 2.4).
EMOJI: dict[EntryKind, str] = {
    EntryKind.DECISION: "📌",
    EntryKind.PROPOSAL: "💡",
    EntryKind.VOTE: "🗳️",
    EntryKind.QUESTION: "❓",
    EntryKind.ACTION: "📋",
    EntryKind.CONSTRAINT: "🔒",
    EntryKind.RETRACTION: "↩️",
    EntryKind.REVISION: "✏️",
    EntryKind.NOTE: "📝",
    EntryKind.TOPIC: "🔖",
    EntryKind.ANSWER: "💬",
}
LINES_BACK = 30  # how many lines above it a scribe's correction may mean
_LATER = datetime.max.replace(tzinfo=UTC)  # of entries that are not stored yet; folding goes by number
SEEN_EMOJI = "👀"  # read; nobody else has spoken yet
MODEL_EMOJI = "🔎"  # found by the model, waits for a person's ✅
PANEL_EMOJI = "🤖"  # from the panel's words, waits for one too


def today(meeting: Meeting, message: Message) -> date:
    """The day it is for the team when the message was written."""
    return message.at.astimezone(ZoneInfo(meeting.timezone)).date()


def emoji_of_found(entry: Entry) -> str:
    return PANEL_EMOJI if entry.origin is Origin.PANEL else MODEL_EMOJI


def of_panel(entry: NewEntry) -> NewEntry:
    """An entry from a panelist's words as the panel's. It binds nobody: a constraint of theirs is a proposal."""
    kind = EntryKind.PROPOSAL if entry.kind is EntryKind.CONSTRAINT else entry.kind
    return replace(entry, origin=Origin.PANEL, kind=kind)


def from_panelist(
    meeting: Meeting, message: Message, view: LedgerView, names: Sequence[str]
) -> list[NewEntry]:
    """The entries that the marks of a panelist's post make; that it says something again confirms nothing, and that
    it is for its own proposal goes without saying."""
    found = from_message(meeting, message, view, names)
    after = with_new(view, found) if len(found) > 1 else view
    return [
        of_panel(entry)
        for entry in found
        if entry.kind is not EntryKind.CONFIRMATION and not _for_its_own(entry, after)
    ]


def _for_its_own(entry: NewEntry, view: LedgerView) -> bool:
    if entry.kind is not EntryKind.VOTE or (entry.value or 0) <= 0 or entry.refers_to is None:
        return False
    proposal = view.item(entry.refers_to)
    return proposal is not None and proposal.original.author_id == entry.author_id


def from_message(
    meeting: Meeting, message: Message, view: LedgerView, names: Sequence[str]
) -> list[NewEntry]:
    """The entries that the marks of `message` make, idempotent by their source keys."""
    found = marks.find(message.text, books(), names=[*names, message.author_name])
    return from_marks(meeting, message, found, view)


def from_marks(meeting: Meeting, message: Message, found: Sequence[Mark], view: LedgerView) -> list[NewEntry]:
    """The entries that these marks of `message` make, each line read after the ones above it."""
    new: list[NewEntry] = []
    so_far = view
    for mark in found:
        entry = entry_of(meeting, message, mark, so_far)
        if entry is not None:
            new.append(entry)
            so_far = with_new(view, new) if len(found) > 1 else view
    return new


def with_new(view: LedgerView, new: Sequence[NewEntry]) -> LedgerView:
    """The ledger as it will be once `new` is stored, nothing else before it."""
    last = max((e.number for e in view.entries), default=0)
    added = [
        Entry(
            meeting_id=0, number=number, at=_LATER, **{f.name: getattr(entry, f.name) for f in fields(entry)}
        )
        for number, entry in enumerate(new, start=last + 1)
    ]
    return fold([*view.entries, *added])


def entry_of(meeting: Meeting, message: Message, mark: Mark, view: LedgerView) -> NewEntry | None:
    """The entry that one mark of `message` makes; None where it names nothing, or repeats what holds."""
    refers_to: int | None = None
    kind = mark.kind
    if kind is EntryKind.VOTE:
        proposal = _proposal(view, mark, message)
        if proposal is None:
            return None
        refers_to = proposal.original.number
    elif kind is EntryKind.RETRACTION:
        refers_to = _retracted(view, mark, message)
        if refers_to is None:
            return None
    else:
        same = _joined(view, mark)
        if same is not None and same.status != "unconfirmed":
            return None
        if same is not None:
            # The model found it before; a person typing it stands for it, in their own wording.
            exact = lookup.same_words(same.text, mark.text)
            kind, refers_to = EntryKind.CONFIRMATION if exact else EntryKind.REVISION, same.number
    return NewEntry(
        kind=kind,
        text=mark.text,
        source_key=f"m:{message.message_id}:{mark.place}",
        origin=Origin.MARK,
        author_id=message.author_id,
        author_name=message.author_name,
        quote=mark.quote,
        message_id=message.message_id,
        refers_to=refers_to,
        owner=mark.owner,
        due=due_of(meeting, message, mark),
        value=mark.value,
    )


def by_menu(kind: EntryKind, text: str, names: Sequence[str]) -> Mark:
    """What the message menu records of a whole message: its mark of that kind, else the words of its only mark, else
    all of it."""
    found = marks.find(text, books(), names=names)
    mark = next((m for m in found if m.kind is kind), None)
    if mark is not None:
        return mark
    only = found[0].text if len(found) == 1 and found[0].kind in _WORDED else text.strip()
    owner = owners.find_owner(text, books(), names) if kind is EntryKind.ACTION else None
    return Mark(kind, only, text, 0, owner=owner)


def _proposal(view: LedgerView, mark: Mark, message: Message) -> Item | None:
    """What a vote is on: the proposal it names, else the one it replies to, else the newest."""
    if mark.by_entry and mark.number is not None:
        named = view.item(mark.number)
        if named is not None:  # a vote on what is decided, or no proposal, is none on another one
            return named if named in view.open_proposals else None
    if mark.number is None and message.reply_to is not None:
        for item in reversed(view.open_proposals):
            if message.reply_to in {item.original.message_id, item.entry.message_id}:
                return item
    if mark.number is None:  # read or edited later, it still says nothing of what was proposed after it
        earlier = (i for i in view.items if (i.original.message_id or 0) <= message.message_id)
        view = replace(view, items=tuple(earlier))
    return lookup.proposal_named(view, mark.number)


def _joined(view: LedgerView, mark: Mark) -> Item | None:
    """The item that a mark repeats. What people typed counts as the same only in the same words: nothing is lost;
    what a model found is taken for the same in other words too. What is answered or done may be asked anew.
    """
    if mark.kind is EntryKind.NOTE:
        return None
    for item in view.of(mark.kind):
        if item.status in ("answered", "done"):
            continue
        if (item.entry.value or 0) == (mark.value or 0) and lookup.same_words(item.text, mark.text):
            return item
    near = sameness.find_same(view, mark.kind, mark.text)
    return near if near is not None and near.status == "unconfirmed" else None


def due_of(meeting: Meeting, message: Message, mark: Mark) -> str | None:
    """The day (ISO) that an action's words name, seen from the day of its message."""
    if mark.kind is not EntryKind.ACTION:
        return None
    day = dates.resolve(mark.text, today(meeting, message), meeting.language)
    if day is None:
        other = "en" if meeting.language == "ja" else "ja"
        day = dates.resolve(mark.text, today(meeting, message), other)
    return day.isoformat() if day else None


def _retracted(view: LedgerView, mark: Mark, message: Message) -> int | None:
    """The number that a retraction names, by number, by words, or as the author's own last entry."""
    if mark.undo:
        last = lookup.undo_target(view, message.author_id)
        return last.number if last else None
    item = lookup.target(view, mark.number if mark.number is not None else mark.text)
    return item.number if item else None


def correction(
    meeting: Meeting, message: Message, before: Sequence[Message], view: LedgerView
) -> NewEntry | None:
    """A scribe's s/old/new/: the newest earlier line that holds `old`, revised, where that line made an entry."""
    pair = marks.correction(message.text)
    if pair is None:
        return None
    old, new = pair
    for earlier in reversed(before):
        if old not in earlier.text:
            continue
        for entry in reversed(view.entries):
            if entry.message_id == earlier.message_id and old in entry.text and entry.kind in _WORDED:
                item = view.item(entry.number)
                kind = item.kind if item is not None else entry.kind
                worded = Mark(kind, entry.text.replace(old, new, 1), message.text, 0)
                key, due = f"m:{message.message_id}:s", due_of(meeting, earlier, worded)
                return rewording(entry.number, message, worded, Origin.MARK, key, due)
        return None
    return None


_WORDED = frozenset(
    {
        EntryKind.DECISION,
        EntryKind.PROPOSAL,
        EntryKind.QUESTION,
        EntryKind.ACTION,
        EntryKind.CONSTRAINT,
        EntryKind.NOTE,
        EntryKind.TOPIC,
        EntryKind.REVISION,
        EntryKind.ANSWER,
    }
)


def rewording(
    number: int, message: Message, mark: Mark, origin: Origin, key: str, due: str | None = None
) -> NewEntry:
    """What entry `number` says, in the words of `mark`; owner, day and value that are None stay as they are."""
    return NewEntry(
        kind=EntryKind.REVISION,
        text=mark.text,
        source_key=key,
        origin=origin,
        author_id=message.author_id,
        author_name=message.author_name,
        quote=mark.quote,
        message_id=message.message_id,
        refers_to=number,
        owner=mark.owner,
        due=due,
        value=mark.value,
    )


def retraction(number: int, by: Message, origin: Origin, key: str) -> NewEntry:
    """What entry `number` says is taken back: an item named by what made it, else that entry alone."""
    return NewEntry(
        kind=EntryKind.RETRACTION,
        text="",
        source_key=key,
        origin=origin,
        author_id=by.author_id,
        author_name=by.author_name,
        message_id=by.message_id,
        refers_to=number,
    )

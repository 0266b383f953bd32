"""From marks and edits to new ledger entries: pure, given the room as it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from zoneinfo import ZoneInfo

from bot.facilitation.core import books
from bot.meeting import dates, lookup, marks, sameness
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
    return [
        of_panel(entry)
        for entry in found
        if entry.kind is not EntryKind.CONFIRMATION and not _for_its_own(entry, view)
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
    found: list[NewEntry] = []
    for mark in marks.find(message.text, books(), names=[*names, message.author_name]):
        entry = entry_of(meeting, message, mark, view)
        if entry is not None:
            found.append(entry)
    return found


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
        due=_due(meeting, message, mark),
        value=mark.value,
    )


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
    return lookup.proposal_named(view, mark.number)


def _joined(view: LedgerView, mark: Mark) -> Item | None:
    """The item that a mark repeats. What people typed counts as the same only in the same words: nothing is lost;
    what a model found is taken for the same in other words too.
    """
    if mark.kind is EntryKind.NOTE:
        return None
    for item in view.of(mark.kind):
        if (item.entry.value or 0) == (mark.value or 0) and lookup.same_words(item.text, mark.text):
            return item
    near = sameness.find_same(view, mark.kind, mark.text)
    return near if near is not None and near.status == "unconfirmed" else None


def _due(meeting: Meeting, message: Message, mark: Mark) -> str | None:
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


def correction(message: Message, before: Sequence[Message], entries: Sequence[Entry]) -> NewEntry | None:
    """A scribe's s/old/new/: the newest earlier line that holds `old`, revised, where that line made an entry."""
    pair = marks.correction(message.text)
    if pair is None:
        return None
    old, new = pair
    for earlier in reversed(before):
        if old not in earlier.text:
            continue
        for entry in reversed(entries):
            if entry.message_id == earlier.message_id and old in entry.text and entry.kind in _WORDED:
                return rewording(
                    entry,
                    entry.text.replace(old, new, 1),
                    message,
                    Origin.MARK,
                    key=f"m:{message.message_id}:s",
                )
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
    entry: Entry,
    text: str,
    message: Message,
    origin: Origin,
    key: str,
    owner: str | None = None,
    quote: str | None = None,
) -> NewEntry:
    """Another wording of what `entry` says; owner, day and value stay unless others are given."""
    return NewEntry(
        kind=EntryKind.REVISION,
        text=text,
        source_key=key,
        origin=origin,
        author_id=message.author_id,
        author_name=message.author_name,
        quote=message.text if quote is None else quote,
        message_id=message.message_id,
        refers_to=entry.number,
        owner=owner or entry.owner,
        due=entry.due,
        value=entry.value,
    )


def retraction(item: Item, by: Message, origin: Origin, key: str) -> NewEntry:
    return NewEntry(
        kind=EntryKind.RETRACTION,
        text="",
        source_key=key,
        origin=origin,
        author_id=by.author_id,
        author_name=by.author_name,
        message_id=by.message_id,
        refers_to=item.number,
    )

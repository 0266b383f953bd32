"""What an edited or deleted message changes in the ledger (SPEC 2.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from bot.facilitation import pairing, recording, sources
from bot.facilitation.core import books
from bot.facilitation.sayings import Change, Saying, spoken_in
from bot.facilitation.sources import Borne, Ledger
from bot.meeting import lookup, marks
from bot.meeting.draft import SUPPORTS
from bot.meeting.marks import Mark
from bot.meeting.model import Entry, EntryKind, Item, LedgerView, Meeting, Message, NewEntry, Origin


def from_edit(
    meeting: Meeting,
    message: Message,
    view: LedgerView,
    others: Sequence[Message],
    names: Sequence[str],
) -> list[NewEntry]:
    """Another wording revises, a mark taken away or made another kind retracts, a new one adds; a line that only
    moved changes nothing. What another message types too goes on standing on that one.

    `message` is the message as it reads now; `others` the meeting's other messages that are not deleted.
    """
    stamp = f":{int(message.edited_at.timestamp() * 1000) if message.edited_at else 0}"
    change = Change(message, Ledger(view, others, names), Origin.EDIT, stamp)
    change.left = marks.find(message.text, books(), names=[*names, message.author_name])
    borne = sources.borne_by(message, change.ledger)
    standing = [b for b in borne if b.item.status != "retracted"]
    changed = [b for b in standing if change.take(_unchanged(b)) is None and not _menu_unchanged(b, message)]
    spoken = [s for s in spoken_in(change) if change.take(s.unchanged) is None]
    _leave_taken_back(change, [b for b in borne if b.item.status == "retracted"])
    _reword_or_let_go(meeting, change, changed)
    for saying in spoken:
        saying.carry_out(change)
    for find in outdated(message, change.ledger):
        _let_go_find(change, find)
    corrected = _correction(change)
    _add_what_is_new(meeting, change, corrected)
    return change.entries


def from_deletion(
    message: Message, view: LedgerView, others: Sequence[Message], names: Sequence[str]
) -> list[NewEntry]:
    """Deleting the message that an entry stands on retracts it, unless another message types it too, and takes back
    what the message said of others; the quotes are redacted by the caller."""
    change = Change(message, Ledger(view, others, names), Origin.DELETE, "")
    for borne in sources.borne_by(message, change.ledger):
        if borne.item.status != "retracted":
            _let_go(change, borne)
    for saying in spoken_in(change):
        change.take_back(saying.entry.number)
    for entry in _said_of_others(message, change.ledger):
        _let_go_find(change, entry)
    for item in view.items:
        derived = item.original.origin is Origin.REACTION and item.original.message_id == message.message_id
        if derived and item.status != "retracted":  # a proposal that a reaction to it made a decision
            change.take_back(item.original.number)
    return change.entries


# ---------------------------------------------------------------- items


def _unchanged(borne: Borne) -> Callable[[Mark], bool]:
    """Wherever in the message it stands now, and whatever others have made of the item since."""

    def same(mark: Mark) -> bool:
        wordings = ((borne.typed.text, borne.typed.value), (borne.item.text, borne.item.entry.value))
        return mark.kind is borne.item.kind and any(
            (mark.value or 0) == (value or 0) and (mark.text == text or lookup.same_words(mark.text, text))
            for text, value in wordings
        )

    return same


def _menu_unchanged(borne: Borne, message: Message) -> bool:
    return borne.by_menu and sources.holds_quote(message, borne.rows[-1].quote)


def _leave_taken_back(change: Change, gone: Iterable[Borne]) -> None:
    """A mark that others took back stays so, though its line still stands there; what an edit of this message took
    away may come back."""
    for borne in gone:
        chain = {borne.item.number, borne.item.original.number}
        if not change.edited_away(chain):
            change.take(_unchanged(borne))
    taken = change.ledger.taken_back
    for entry in change.ledger.entries:
        mine = entry.message_id == change.message.message_id and entry.origin is Origin.MARK
        if mine and entry.number in taken and not change.edited_away({entry.number}):
            saying = Saying.of(entry, change)
            if saying is not None:
                change.take(saying.unchanged)


def _reword_or_let_go(meeting: Meeting, change: Change, changed: Sequence[Borne]) -> None:
    pairs = pairing.by_likeness(changed, change.left)
    for borne in changed:
        mark = pairs.get(borne.item.original.number)
        if borne.by_menu and change.message.text.strip():
            mark = mark or recording.by_menu(borne.item.kind, change.message.text, change.ledger.names)
        elif sources.typed_elsewhere(borne.item, change.ledger) is not None:
            mark = None  # that message goes on saying what the item says: this one says something new
        elif mark is not None and _repeats_another(borne.item, mark, change.ledger):
            mark = None
        if mark is None:
            _let_go(change, borne)
            continue
        if mark in change.left:
            change.left.remove(mark)
        change.entries.append(_reworded(meeting, change, borne, mark))


def _repeats_another(item: Item, mark: Mark, ledger: Ledger) -> bool:
    """The new words are another item's: they repeat that one, where nobody has spoken on this one."""
    return not (item.votes or item.answers or item.objections) and sources.said_by_another(item, mark, ledger)


def _reworded(meeting: Meeting, change: Change, borne: Borne, mark: Mark) -> NewEntry:
    """The item in the new words; owner, day and sign change only where the message's own words changed them."""
    message, typed = change.message, borne.typed
    due = recording.due_of(meeting, message, mark)
    due_before = recording.due_of(meeting, message, typed)
    against = borne.item.entry.value or 0
    changed = replace(
        mark,
        owner=None if mark.owner == typed.owner else mark.owner or "",
        value=None if (mark.value or 0) == against else mark.value or 0.0,
    )
    return recording.rewording(
        borne.item.number,
        message,
        changed,
        Origin.EDIT,
        change.key(borne.rows[0].number),
        due=None if due == due_before else due or "",
    )


def _let_go(change: Change, borne: Borne) -> None:
    """The message does not say it any more: it stands on another that does, or is retracted."""
    item, ledger = borne.item, change.ledger
    elsewhere = sources.typed_elsewhere(item, ledger)
    if elsewhere is not None:
        over = sources.taken_over(item, *elsewhere, ledger, change.key(item.original.number))
        change.entries.extend([over] if over else [])
    if not borne.made_here and (elsewhere is not None or sources.source_stands(item, ledger)):
        for row in borne.rows:
            change.take_back(row.number)
    elif elsewhere is None:
        change.take_back(item.original.number)


# ---------------------------------------------------------------- finds and corrections


def outdated(message: Message, ledger: Ledger) -> list[Entry]:
    """What a model found in the message and its words, as they read now, do not hold any more."""
    return [
        e
        for e in _said_of_others(message, ledger)
        if e.origin is Origin.MODEL and not sources.holds_quote(message, e.quote)
    ]


def _said_of_others(message: Message, ledger: Ledger) -> list[Entry]:
    """What was found in the message, and what it said of others' items, as far as it still counts; its marks, their
    votes and retractions aside."""
    return [
        e
        for e in ledger.entries
        if e.message_id == message.message_id
        and e.number not in ledger.taken_back
        and (e.origin in (Origin.MODEL, Origin.PANEL) or sources.is_correction(e))
    ]


def _let_go_find(change: Change, entry: Entry) -> None:
    item = change.ledger.view.item(entry.number)
    if item is not None and item.original.number == entry.number:
        if change.origin is Origin.EDIT and item.confirmed_by:
            return  # people have said that it holds: a typo mended is no reason to lose it
        if item.status != "retracted" and sources.typed_elsewhere(item, change.ledger) is None:
            change.take_back(entry.number)
    elif entry.kind in SUPPORTS or entry.kind is EntryKind.REVISION:
        change.take_back(entry.number)


def _correction(change: Change) -> bool:
    """A scribe's correction that reads otherwise now is taken back; whether the new text is one to be carried out."""
    wanted = marks.correction(change.message.text)
    before = [e for e in _said_of_others(change.message, change.ledger) if sources.is_correction(e)]
    for entry in before:
        if marks.correction(entry.quote) == wanted:
            return False
        change.take_back(entry.number)
    return wanted is not None


# ---------------------------------------------------------------- what is new


def _add_what_is_new(meeting: Meeting, change: Change, corrected: bool) -> None:
    """Marks that the edit added, as if they were typed now; a place in the message may have made an entry before."""
    message, ledger = change.message, change.ledger
    view = recording.with_new(ledger.view, change.entries) if change.left or corrected else ledger.view
    added = recording.from_marks(meeting, message, change.left, view)
    if corrected and not added:
        before = [m for m in ledger.others if m.message_id < message.message_id][-recording.LINES_BACK :]
        fixed = recording.correction(meeting, message, before, view)
        added = [fixed] if fixed else []
    used = {e.source_key for e in ledger.entries}
    for entry in added:
        again = entry.source_key in used
        change.entries.append(
            replace(entry, source_key=f"{entry.source_key}{change.stamp}") if again else entry
        )

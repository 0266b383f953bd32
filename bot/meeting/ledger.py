"""Folding the append-only list of entries into what holds now, as `meeting.model.Item` describes it.

How entries meet items (`refers_to` may be any number of an item's chain; an unknown one is ignored):

- An entry of an item's own kind replaces that item; a question asks the same item again instead (reopens it).
- A decision that names a proposal, or repeats an open proposal's wording, settles it ("decided"); one that
  names a question answers it. The same decision typed twice is one item, the repetition in its history.
- A person's answer to an action says that it is done.
- A person's confirmation of an open proposal *is* the decision: an item of kind decision derived from it,
  numbered as the confirmation, worded as the proposal, `entry.refers_to` naming it. No row is added for that.
- What a model found takes nothing away that a person made until a person confirms it: its decision that would
  replace a confirmed one stands beside it, both in `conflicts_with`; its retraction waits as an objection.
  Its answer to a question counts; its new wording of a confirmed decision is unconfirmed again.
- What comes from the panel is treated the same, only more so: its answer is a position, and its
  rewording of what a person made an objection, until a person confirms that.
- Retracting a vote, answer, confirmation, objection or retraction undoes that entry alone, and so does an edit or
  deletion that takes back a rewording; retracting an item also undoes what the item had replaced, settled or
  answered.
- A rewording without owner or day leaves them as they are; an empty one ("") takes them away.
- Answers, revisions, retractions and objections that meet nothing are kept as notes: nothing said is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.meeting.draft import SUPPORTS, Draft, said, undone, votes_as_reworded
from bot.meeting.lookup import Tally, nearly, proposal_named, same_words, target, undo_target, votes_summary
from bot.meeting.model import Entry, EntryKind, LedgerView, Origin, Vote

__all__ = [
    "Tally",
    "fold",
    "nearly",
    "proposal_named",
    "same_words",
    "target",
    "undo_target",
    "votes_summary",
]

_ITEMS = frozenset(
    {
        EntryKind.CONSTRAINT,
        EntryKind.PROPOSAL,
        EntryKind.DECISION,
        EntryKind.QUESTION,
        EntryKind.ACTION,
        EntryKind.NOTE,
        EntryKind.TOPIC,
    }
)
# A person's own acts on an entry that a model found, by which the person stands for its wording.
_DELIBERATE = frozenset({Origin.MARK, Origin.COMMAND, Origin.MENU, Origin.BUTTON, Origin.REACTION})


def fold(entries: Sequence[Entry]) -> LedgerView:
    """What holds after `entries` (any order; they are read by number). Total: no list of entries raises."""
    ordered = tuple(sorted(entries, key=lambda entry: entry.number))
    taken_back = undone(ordered)
    reader = _Reader(taken_back, votes_as_reworded(ordered, taken_back))
    for entry in ordered:
        reader.read(entry)
    items = sorted((draft.finish() for draft in reader.drafts), key=lambda item: item.original.number)
    return LedgerView(items=tuple(items), entries=ordered)


class _Reader:
    def __init__(self, undone: frozenset[int], reworded: dict[int, Entry]) -> None:
        self.drafts: list[Draft] = []
        self._of: dict[int, Draft] = {}
        self._undone = undone
        self._reworded = reworded
        self._supports: dict[int, Entry] = {}
        self._pending: dict[int, Draft] = {}  # a model's retraction that waits for a person
        self._offered: dict[int, Entry] = {}  # the panel's answers and rewordings, which wait too

    def read(self, entry: Entry) -> None:
        entry = self._reworded.get(entry.number, entry)
        meant = self._of.get(entry.refers_to) if entry.refers_to is not None else None
        if entry.kind in SUPPORTS:
            self._supports[entry.number] = entry
        if entry.kind in _ITEMS:
            self._item(entry, meant)
        elif entry.kind is EntryKind.VOTE:
            self._vote(entry, meant)
        elif meant is None:
            self._keep_as_note(entry)
        else:
            self._of.setdefault(entry.number, meant)
            if entry.number not in self._undone:
                self._apply(entry, meant)

    # Items.

    def _item(self, entry: Entry, meant: Draft | None) -> None:
        if entry.kind is EntryKind.QUESTION and meant is not None and meant.kind is EntryKind.QUESTION:
            self._ask_again(entry, meant)
            return
        if entry.kind is EntryKind.DECISION:
            twin = self._twin(entry)
            if twin is not None and meant in (None, twin):
                self._repeat(entry, twin)
                return
            meant = meant or self._proposal_worded_like(entry)
        draft = self._add(entry)
        if meant is None:
            return
        if meant.kind is EntryKind.QUESTION and entry.kind is not EntryKind.DECISION:
            self._take_position(entry, meant)
        elif meant.kind is entry.kind or entry.kind is EntryKind.DECISION:
            self._change_or_wait(draft, meant)

    def _add(self, entry: Entry) -> Draft:
        status = {
            EntryKind.PROPOSAL: "open",
            EntryKind.QUESTION: "open",
            EntryKind.DECISION: "confirmed",
        }.get(entry.kind, "live")
        if entry.kind is EntryKind.DECISION and not entry.origin.by_person:
            status = "unconfirmed"
        draft = Draft(entry, entry, status, entry.owner, entry.due)
        self.drafts.append(draft)
        self._of.setdefault(entry.number, draft)
        return draft

    def _ask_again(self, entry: Entry, question: Draft) -> None:
        self._of.setdefault(entry.number, question)
        question.positions.extend(said(answer) for answer in question.answers)
        question.answers.clear()
        question.history.append(question.entry)
        question.entry, question.status = entry, "open"

    def _twin(self, entry: Entry) -> Draft | None:
        decisions = (d for d in reversed(self.drafts) if d.kind is EntryKind.DECISION and d.live)
        alike = (d for d in decisions if (d.entry.value or 0) == (entry.value or 0))
        return next((d for d in alike if same_words(d.entry.text, entry.text)), None)

    def _repeat(self, entry: Entry, decision: Draft) -> None:
        self._of.setdefault(entry.number, decision)
        decision.history.append(entry)
        if entry.origin.by_person:
            self._confirm(decision, entry)

    def _proposal_worded_like(self, entry: Entry) -> Draft | None:
        opened = [d for d in reversed(self.drafts) if d.kind is EntryKind.PROPOSAL and d.status == "open"]
        exact = next((d for d in opened if same_words(d.entry.text, entry.text)), None)
        return exact or next((d for d in opened if nearly(d.entry.text, entry.text)), None)

    def _change_or_wait(self, draft: Draft, meant: Draft) -> None:
        if not meant.live:
            return
        replaces_a_find = meant.kind is draft.kind and not meant.a_persons
        if draft.original.origin.by_person or replaces_a_find:
            self._change(draft, meant)
        else:
            draft.would_change = meant
            if meant.kind is draft.kind:
                draft.conflicts_with.append(meant.original.number)
                meant.conflicts_with.append(draft.original.number)
            elif meant.kind is EntryKind.QUESTION:
                self._take_position(draft.original, meant)

    def _change(self, draft: Draft, meant: Draft) -> None:
        """Carry out what `draft` does to `meant`: replace its like, settle a proposal, answer a question."""
        before = meant.status
        if meant.kind is draft.kind:
            meant.status, meant.replaced_by = "replaced", draft.original.number
            if draft.original.number in meant.conflicts_with:
                meant.conflicts_with.remove(draft.original.number)
                draft.conflicts_with.remove(meant.original.number)
        elif meant.kind is EntryKind.PROPOSAL:
            meant.status = "decided"
        elif meant.kind is EntryKind.QUESTION:
            meant.status = "answered"
            meant.answers.append(draft.original)
        draft.changed.append((meant, before))
        draft.would_change = None

    # What is said about items.

    def _apply(self, entry: Entry, meant: Draft) -> None:
        if entry.kind is EntryKind.REVISION:
            self._revise(entry, meant)
        elif entry.kind is EntryKind.RETRACTION:
            self._retract(entry, meant)
        elif entry.kind is EntryKind.ANSWER:
            self._answer(entry, meant)
        elif entry.kind is EntryKind.CONFIRMATION:
            if entry.origin.by_person:
                self._confirmation(entry, meant)
        elif entry.kind is EntryKind.OBJECTION:
            meant.objections.append(entry)
            if meant.kind is EntryKind.QUESTION:
                self._take_position(entry, meant)

    def _vote(self, entry: Entry, meant: Draft | None) -> None:
        if entry.refers_to is None:
            opened = (d for d in reversed(self.drafts) if d.kind is EntryKind.PROPOSAL and d.status == "open")
            meant = next(opened, None)
        if meant is None:
            return
        self._of.setdefault(entry.number, meant)
        if entry.number in self._undone or entry.value is None:
            return
        if meant.kind is EntryKind.PROPOSAL:
            voter = (entry.author_id, entry.author_name if entry.author_id is None else "")
            meant.votes.pop(voter, None)
            value = max(-1.0, min(1.0, entry.value))
            meant.votes[voter] = Vote(entry.author_id or 0, entry.author_name, value, entry.text)
        elif meant.kind is EntryKind.QUESTION:
            self._take_position(replace(entry, text=f"{entry.value:+g} {entry.text}".strip()), meant)

    def _revise(self, entry: Entry, meant: Draft) -> None:
        named = self._supports.get(entry.refers_to or 0)
        if named is not None and named.number != meant.original.number:
            self._revise_support(entry, named, meant)
            return
        if entry.origin is Origin.PANEL and meant.a_persons:
            self._offered[entry.number] = entry
            meant.objections.append(entry)
            return
        older = meant.entry
        reworded = bool(entry.text) and not same_words(entry.text, older.text)
        meant.history.append(older)
        if entry.owner is not None:
            meant.owner = entry.owner or None
        if entry.due is not None:
            meant.due = entry.due or None
        meant.entry = replace(
            entry,
            kind=meant.kind,
            text=entry.text or older.text,
            value=older.value if entry.value is None else entry.value,
            owner=meant.owner,
            due=meant.due,
        )
        if meant.kind is EntryKind.DECISION and meant.live:
            if not entry.origin.by_person and reworded:
                meant.status = "unconfirmed"
                meant.confirmed_by.clear()
            elif entry.origin in _DELIBERATE:
                self._confirm(meant, entry)

    def _revise_support(self, entry: Entry, named: Entry, meant: Draft) -> None:
        """An answer or objection reworded (its message was edited): it changes, not what it is about."""
        changed = replace(named, text=entry.text or named.text, quote=entry.quote or named.quote)
        meant.answers = [changed if answer.number == named.number else answer for answer in meant.answers]
        meant.objections = [changed if o.number == named.number else o for o in meant.objections]
        self._supports[named.number] = changed

    def _retract(self, entry: Entry, meant: Draft) -> None:
        named = self._supports.get(entry.refers_to or 0)
        if named is not None and named.number != meant.original.number:
            return  # it took back one vote, answer, confirmation or objection (`undone`), not the item
        if entry.refers_to in self._undone:
            return  # or one rewording
        if not entry.origin.by_person and meant.a_persons:
            meant.objections.append(entry)
            self._pending[entry.number] = meant
            return
        self._withdraw(meant)

    def _withdraw(self, draft: Draft) -> None:
        draft.status = "retracted"
        for other in self.drafts:
            if draft.original.number in other.conflicts_with:
                other.conflicts_with.remove(draft.original.number)
        draft.conflicts_with.clear()
        for changed, before in draft.changed:
            if changed.status == "retracted":
                continue
            changed.answers = [a for a in changed.answers if a.number != draft.original.number]
            if changed.replaced_by == draft.original.number or not changed.answers:
                changed.status, changed.replaced_by = before, None
        draft.changed.clear()

    def _answer(self, entry: Entry, meant: Draft) -> None:
        if meant.kind is EntryKind.ACTION and entry.origin in _DELIBERATE:
            meant.answers.append(entry)
            if meant.live:
                meant.status = "done"
            return
        if meant.kind is not EntryKind.QUESTION:
            self._of.pop(entry.number, None)
            self._keep_as_note(entry)
            return
        if entry.origin is Origin.PANEL:
            self._offered[entry.number] = entry
            self._take_position(entry, meant)
            return
        meant.answers.append(entry)
        if meant.live:
            meant.status = "answered"

    def _confirmation(self, entry: Entry, meant: Draft) -> None:
        offered = self._offered.pop(entry.refers_to or 0, None)
        if offered is not None and offered.kind is EntryKind.REVISION:
            self._revise(replace(offered, origin=entry.origin), meant)
            return
        if offered is not None:
            meant.answers.append(offered)
            meant.status = "answered" if meant.live else meant.status
            return
        waiting = self._pending.pop(entry.refers_to, None) if entry.refers_to is not None else None
        if waiting is not None:
            self._withdraw(waiting)
        elif meant.kind is EntryKind.PROPOSAL and meant.status == "open":
            self._of.pop(entry.number, None)
            wording = meant.entry
            decision = self._add(
                replace(
                    entry,
                    kind=EntryKind.DECISION,
                    text=wording.text,
                    quote=wording.quote or entry.quote,
                    message_id=wording.message_id or entry.message_id,
                    refers_to=meant.original.number,
                )
            )
            decision.confirmed_by.append(entry.author_name)
            self._change(decision, meant)
        else:
            self._confirm(meant, entry)

    def _confirm(self, draft: Draft, entry: Entry) -> None:
        if entry.author_name and entry.author_name not in draft.confirmed_by:
            draft.confirmed_by.append(entry.author_name)
        if draft.status == "unconfirmed":
            draft.status = "confirmed"
        if draft.would_change is not None and draft.live and draft.would_change.live:
            self._change(draft, draft.would_change)

    def _take_position(self, entry: Entry, question: Draft) -> None:
        position = said(entry)
        if entry.text and position not in question.positions:
            question.positions.append(position)

    def _keep_as_note(self, entry: Entry) -> None:
        if entry.kind is EntryKind.CONFIRMATION or not entry.text.strip():
            return
        draft = self._add(replace(entry, kind=EntryKind.NOTE))
        if entry.number in self._undone:
            draft.status = "retracted"

"""Rules for the prose of minutes (SPEC 5). Everything else in minutes is rendered from the ledger by code.

Each function gives one rule, must / rephrase; prose that fails twice is left out. `say` is the phrase book
with the
language filled in (`say(key, **values)`, keys under "minutes_rules").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date

from bot.guard.model import Candidate, Remedy, Rule, Strength
from bot.meeting.figures import Figure, figures, supports, unborne, unsupported
from bot.meeting.model import Entry, EntryKind, Item, LedgerView
from bot.meeting.names import entry_numbers, named, unknown_names
from bot.meeting.polarity import agree, sentences
from bot.meeting.terms import containment, overlap, terms
from bot.minutes.rule_words import AGAINST, OPEN, REPLACED, REPORTS, SETTLED

Say = Callable[..., str]

# A sentence speaks of an entry when it cites its number or holds this share of its terms.
SPEAKS_OF = 0.6
SETTLES = 0.6
# From this overlap on a sentence is an entry's own wording, whatever others it reminds of.
VERBATIM = 0.8
_SHOWN = 160
_ONLY_CITES = re.compile(r"[\s(（\[【]*(?:[#＃]\s?\d+[\s,、，・]*(?:and|と)?\s*)+[)）\]】\s.。]*")


def _rule(name: str, check: Callable[[Candidate], str | None]) -> Rule:
    return Rule(name, Strength.MUST, Remedy.REPHRASE, check)


def _numbers(numbers: Iterable[int]) -> str:
    return ", ".join(f"#{n}" for n in numbers)


def _numbers_of(item: Item) -> set[int]:
    return {item.number, item.original.number, *(h.number for h in item.history)}


def _pieces(text: str) -> list[str]:
    """The sentences of a text; a citation after the full stop belongs to the sentence before it."""
    found: list[str] = []
    for line in text.splitlines():
        for at, piece in enumerate(sentences(line)):
            if at and _ONLY_CITES.fullmatch(piece):
                found[-1] = f"{found[-1]} {piece}"
            else:
                found.append(piece)
    return found


def cites_every_decision(view: LedgerView, say: Say) -> Rule:
    """Every live decision stands in the prose by its number (that of any of its wordings)."""

    def check(candidate: Candidate) -> str | None:
        cited = set(entry_numbers(candidate.text))
        missing = [d.number for d in view.decisions if not cited & _numbers_of(d)]
        return say("minutes_rules.cites_every_decision", numbers=_numbers(missing)) if missing else None

    return _rule("cites_every_decision", check)


def no_unknown_decisions(view: LedgerView, say: Say) -> Rule:
    """Entry numbers cited in the prose exist in the ledger."""
    known = {e.number for e in view.entries} | {n for i in view.items for n in _numbers_of(i)}

    def check(candidate: Candidate) -> str | None:
        unknown = [n for n in dict.fromkeys(entry_numbers(candidate.text)) if n not in known]
        return say("minutes_rules.no_unknown_decisions", numbers=_numbers(unknown)) if unknown else None

    return _rule("no_unknown_decisions", check)


def no_unknown_figures(
    record: Callable[[], Iterable[str]], say: Say, allowed: Iterable[Figure | float | date] = ()
) -> Rule:
    """No number, date or time that neither `record` (ledger, transcript, title ...) nor `allowed` holds."""
    allowed = tuple(allowed)

    def check(candidate: Candidate) -> str | None:
        found = unsupported(candidate.text, record(), allowed)
        return say("minutes_rules.no_unknown_figures", found=", ".join(found)) if found else None

    return _rule("no_unknown_figures", check)


def no_unknown_names(known_names: Iterable[str], record: Callable[[], Iterable[str]], say: Say) -> Rule:
    """Nobody is named who neither took part nor was mentioned."""
    known = tuple(known_names)

    def check(candidate: Candidate) -> str | None:
        found = unknown_names(candidate.text, known, record())
        return say("minutes_rules.no_unknown_names", found=", ".join(found)) if found else None

    return _rule("no_unknown_names", check)


def replaced_called_replaced(view: LedgerView, say: Say) -> Rule:
    """A decision that no longer holds, named by number or in its own words, is called replaced or
    withdrawn."""
    gone = [i for i in view.of(EntryKind.DECISION, live=False) if not i.live]
    old = [(i, h) for i in view.decisions for h in i.history]

    def check(candidate: Candidate) -> str | None:
        pieces = _pieces(candidate.text)
        for at, piece in enumerate(pieces):
            around = " ".join(pieces[max(0, at - 1) : at + 2])
            if REPLACED.search(around):
                continue
            cited = set(entry_numbers(piece))
            stale = [i.number for i in gone if cited & _numbers_of(i) or _repeats(piece, i.entry, view)]
            stale += [i.number for i, h in old if _states_old(piece, i, h)]
            if stale:
                return say(
                    "minutes_rules.replaced_called_replaced", numbers=_numbers(stale), sentence=piece[:_SHOWN]
                )
        return None

    return _rule("replaced_called_replaced", check)


def _repeats(piece: str, entry: Entry, view: LedgerView) -> bool:
    """Whether the sentence states what the gone entry said, and no live decision says so too."""
    if containment(entry.text, piece) < SPEAKS_OF or agree(entry.text, piece) is not None:
        return False
    return not any(
        containment(d.text, piece) >= SPEAKS_OF and agree(d.text, piece) is None for d in view.decisions
    )


def _states_old(piece: str, item: Item, older: Entry) -> bool:
    speaks = (
        bool(set(entry_numbers(piece)) & _numbers_of(item)) or containment(older.text, piece) >= SPEAKS_OF
    )
    if not speaks or not terms(older.text) & terms(piece):
        return False
    return agree(older.text, piece) is None and agree(item.text, piece) is not None


def open_not_settled(view: LedgerView, say: Say) -> Rule:
    """The subject of an open question is not told as decided."""
    questions = view.open_questions

    def check(candidate: Candidate) -> str | None:
        for piece in _pieces(candidate.text):
            if not SETTLED.search(piece) or OPEN.search(piece):
                continue
            cited = set(entry_numbers(piece))
            for question in questions:
                if not cited & _numbers_of(question) and not _about_question(piece, question, view):
                    continue
                return say(
                    "minutes_rules.open_not_settled", number=question.number, question=question.text[:_SHOWN],
                    sentence=piece[:_SHOWN],
                )  # fmt: skip
        return None

    return _rule("open_not_settled", check)


def _about_question(piece: str, question: Item, view: LedgerView) -> bool:
    if containment(question.text, piece) < SETTLES:
        return False
    settled = [*view.decisions, *view.constraints, *view.actions]
    cited = set(entry_numbers(piece))
    return not any(
        (cited & _numbers_of(d) and terms(d.text) & terms(piece)) or containment(d.text, piece) >= SPEAKS_OF
        for d in settled
    )


def limits_kept(view: LedgerView, say: Say, names: Iterable[str] = ()) -> Rule:
    """Numbers, bounds and polarity of decisions and constraints, and whose they and the actions are, are
    those of the ledger, sentence by sentence. `names`: whom the prose may give a task to."""
    binding = (*view.decisions, *view.constraints)
    known = tuple(names)

    def check(candidate: Candidate) -> str | None:
        for piece in _pieces(candidate.text):
            told = _spoken_of(piece, (*binding, *view.actions), view)
            # "Next meeting" leaves nothing open where the entry itself is about the next meeting.
            if REPLACED.search(piece) or (OPEN.search(piece) and not any(OPEN.search(i.text) for i in told)):
                continue
            if other := _given_to_another(piece, told, known):
                return say(
                    "minutes_rules.limits_kept",
                    numbers=_numbers([other.number]),
                    sentence=piece[:_SHOWN],
                    text=other.text[:_SHOWN],
                )
            items = _spoken_of(piece, binding, view)
            if not items:
                continue
            # "Rejected: X" is how a decision against X reads; its polarity is in that word.
            if any((i.entry.value or 0) < 0 for i in items) and AGAINST.search(piece):
                continue
            if _turns(piece, items):
                numbers, text = _numbers(i.number for i in items), items[0].text[:_SHOWN]
                return say("minutes_rules.limits_kept", numbers=numbers, sentence=piece[:_SHOWN], text=text)
        return None

    return _rule("limits_kept", check)


def _spoken_of(piece: str, binding: Sequence[Item], view: LedgerView) -> list[Item]:
    """What a sentence is about: entries it cites and says something of, else entries whose words it uses.

    A number alone ("decision #15: see the list") says nothing that could be wrong; where a sentence cites an entry
    that binds nothing (an action), words it shares with a constraint are that entry's own.
    """
    cited = set(entry_numbers(piece))
    by_number = [i for i in binding if cited & _numbers_of(i) and terms(i.text) & terms(piece)]
    elsewhere = [i for i in view.items if i not in binding and cited & _numbers_of(i)]
    by_words = [
        i
        for i in binding
        if i not in by_number
        and (containment(i.text, piece) >= SPEAKS_OF or overlap(i.text, piece) >= SPEAKS_OF)
        and not any(overlap(o.text, piece) >= overlap(i.text, piece) for o in elsewhere)
    ]
    return by_number + by_words


def _given_to_another(piece: str, items: Sequence[Item], names: Sequence[str]) -> Item | None:
    """The entry whose person the sentence leaves out for one that no such entry names, nor only reports."""
    said = {n for n in named(piece, names) if n in piece}
    held = [(i, set(named(f"{i.text}\n{i.owner or ''}", names))) for i in items]
    if not said - {n for _, whose in held for n in whose} or REPORTS.search(piece):
        return None
    return next((i for i, whose in held if whose - said), None)


def _turns(piece: str, items: Sequence[Item]) -> bool:
    if any(overlap(i.text, piece) >= VERBATIM and agree(piece, i.text) is None for i in items):
        return False
    held = "\n".join(f"{i.text}\n{i.due or ''}" for i in items)
    verdict = agree(piece, held)
    if verdict in ("bound", "negation"):
        return True
    # A figure more is the record rule's matter; here one that took the place of the entry's own counts.
    mine, theirs = figures(piece), [f for f in figures(held) if f.sure]
    missing = [t for t in theirs if not any(supports(m, t) or supports(t, m) for m in mine)]
    strange = unborne(piece, theirs)
    swapped = any(s.unit == m.unit or "" in (s.unit, m.unit) for s in strange for m in missing)
    return swapped or (verdict == "figure" and agree(_without(piece, strange), held) in ("bound", "negation"))


def _without(piece: str, strange: Sequence[Figure]) -> str:
    for figure in strange:
        piece = piece.replace(figure.written, " ", 1)
    return piece


def all_rules(
    view: LedgerView,
    texts: Sequence[str],
    known_names: Iterable[str],
    say: Say,
    allowed: Iterable[Figure | float | date] = (),
) -> tuple[Rule, ...]:
    """The minutes' own rules. `texts`: what the record holds beside the ledger (transcript, title,
    agenda)."""
    names = tuple(known_names)
    held = [*texts, *_ledger_texts(view), *names]
    # The prose may count what the ledger holds.
    counts = [
        len(names),
        len(view.entries),
        *(len(view.of(kind)) for kind in EntryKind),
        len(view.open_questions),
    ]
    return (
        cites_every_decision(view, say),
        no_unknown_decisions(view, say),
        no_unknown_figures(lambda: held, say, (*allowed, *counts)),
        no_unknown_names(names, lambda: held, say),
        replaced_called_replaced(view, say),
        open_not_settled(view, say),
        limits_kept(view, say, names),
    )


def _ledger_texts(view: LedgerView) -> list[str]:
    texts = [t for e in view.entries for t in (e.text, e.quote, e.owner or "", e.due or "", e.author_name)]
    for item in view.items:
        texts += [
            item.text,
            item.owner or "",
            item.due or "",
            *item.positions,
            *(h.text for h in item.history),
        ]
    return texts

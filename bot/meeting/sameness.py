"""The same decision in other words: joined, not doubled (SPEC 4)."""

from __future__ import annotations

from bot.meeting.figures import figures, supports
from bot.meeting.model import EntryKind, Item, LedgerView
from bot.meeting.polarity import agree
from bot.meeting.terms import containment, labels, overlap, terms
from bot.meeting.text import squeeze

# Dice of content terms from which two wordings that agree in figures, bounds and polarity are one decision;
# from the pairs of tests/meeting/data/same.jsonl.
SAME = 0.6
# A short wording wholly inside a longer one is the same from this containment, unless the longer adds a
# figure.
WITHIN = 0.85


def _figures_equal(a: str, b: str) -> bool:
    mine = [f for f in figures(a) if f.sure]
    theirs = [f for f in figures(b) if f.sure]
    return all(any(supports(t, m) for t in theirs) for m in mine) and all(
        any(supports(m, t) for m in mine) for t in theirs
    )


def same_decision(a: str, b: str) -> bool:
    """Whether `a` and `b` say the same: high overlap and the same figures, bounds and polarity."""
    if squeeze(a) == squeeze(b):
        return True
    if not terms(a) or not terms(b) or labels(a) != labels(b) or not _figures_equal(a, b):
        return False
    close = overlap(a, b) >= SAME or (
        min(len(terms(a)), len(terms(b))) >= 2 and max(containment(a, b), containment(b, a)) >= WITHIN
    )
    return close and agree(a, b) is None and agree(b, a) is None


def find_same(view: LedgerView, kind: EntryKind, text: str) -> Item | None:
    """The live item of `kind` that `text` repeats, if any; the newest first."""
    for item in reversed(view.of(kind)):
        if same_decision(text, item.text):
            return item
    return None

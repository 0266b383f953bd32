"""The same decision in other words: joined, not doubled (SPEC 4)."""

from __future__ import annotations

from bot.meeting.figures import figures, supports
from bot.meeting.model import EntryKind, Item, LedgerView
from bot.meeting.polarity import agree
from bot.meeting.terms import labels, overlap, terms
from bot.meeting.text import squeeze

# Dice of content terms from which two short wordings that agree in figures, bounds and polarity are one
# decision.
SAME = 0.6
# Long decisions of one field share most of their words and differ in one ("when normalizing", "when
# compacting"):
# from this many terms on, one wording must hold all terms of the other, and little more. Of the 553 pairs of
# decisions of one meeting in 28 annotated meetings this joins one, a resolution typed twice with a word
# added.
LONG = 7
LONG_SAME = 0.8
# A short wording wholly inside another is the same if the other adds at most this many terms.
ADDED = 2


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
    return _close(a, b) and agree(a, b) is None and agree(b, a) is None


def _close(a: str, b: str) -> bool:
    x, y = terms(a), terms(b)
    only_a, only_b = len(x - y), len(y - x)
    if max(len(x), len(y)) >= LONG:
        return min(only_a, only_b) == 0 and overlap(a, b) >= LONG_SAME
    within = min(len(x), len(y)) >= 2 and min(only_a, only_b) == 0 and max(only_a, only_b) <= ADDED
    return within or overlap(a, b) >= SAME


def find_same(view: LedgerView, kind: EntryKind, text: str) -> Item | None:
    """The live item of `kind` that `text` repeats, if any; the newest first."""
    for item in reversed(view.of(kind)):
        if same_decision(text, item.text):
            return item
    return None

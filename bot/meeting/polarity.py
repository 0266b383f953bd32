"""Bounds and negation of a sentence, and whether two texts agree in them (SPEC 2.5).

A negation that belongs to a bound is part of it: "4以上は禁止", "must not exceed 3" and "no more than 3"
are upper
bounds, "not before May" and "5月以降" lower ones. What is left is compared clause by clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from bot.meeting import cues
from bot.meeting.cues import Direction
from bot.meeting.figures import Figure, figures, supports, unborne
from bot.meeting.terms import containment, terms
from bot.meeting.text import fold


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound on `figure` ("only": a restriction, no figure). `soft` are deadlines ("by", までに), whose loss
    in a paraphrase changes nothing while their reversal does."""

    direction: Direction
    inclusive: bool = True
    figure: Figure | None = None
    soft: bool = False


@dataclass(frozen=True, slots=True)
class Negation:
    start: int
    end: int
    word: str


_NEXT_FIGURE = re.compile(
    r"(?<=[a-z])\s+[$€£¥]?\d", re.I
)  # "on 15 May with at most 30": the bound is that of 30
_TURNED: dict[tuple[str, bool], tuple[Direction, bool]] = {
    ("min", True): ("max", False),
    ("min", False): ("max", True),
    ("max", True): ("min", False),
    ("max", False): ("min", True),
}


def sentences(text: str) -> list[str]:
    """Sentences of a text, end marks kept, in both languages; a decimal point ends none."""
    return [s.strip() for s in cues.SENTENCE.split(text) if s.strip()]


def clauses(text: str) -> list[str]:
    return [c.strip() for c in cues.CLAUSE.split(text) if c and c.strip(" .。、,")]


def negations(text: str) -> list[Negation]:
    """Words that turn a statement into its opposite, in order; idioms that affirm are left out."""
    lowered = text.replace("’", "'")
    idioms = [m.span() for m in cues.NO_NEGATION.finditer(lowered)]
    return [
        Negation(m.start(), m.end(), m.group())
        for m in cues.NEGATION.finditer(lowered)
        if not any(a <= m.start() and m.end() <= b for a, b in idioms)
    ]


def _turn(cue: cues.Cue, limit: Limit, nearby: list[Negation]) -> Limit:
    """`limit` as an odd number of negations leaves it."""
    if not (cue[4] and len(nearby) % 2) or limit.direction == "only":
        return limit
    direction, inclusive = _TURNED[limit.direction, limit.inclusive]
    return replace(limit, direction=direction, inclusive=inclusive, soft=False)


def _limit_at(sentence: str, figure: Figure, negs: list[Negation]) -> tuple[Limit, list[Negation]] | None:
    """The bound on one figure of a sentence, with the negations it uses up."""
    start, end = figure.span
    tail = re.split(r"[。！？!?；;,、\n]", sentence[end:])[0]
    for cue in cues.AFTER:
        m = cue[0].match(sentence, end)
        if m is None or _NEXT_FIGURE.match(sentence, m.end()):
            continue
        own = [g for g in negs if m.start() <= g.start < m.end()]
        later = [g for g in negs if m.end() <= g.start < end + len(tail)]
        if sentence[m.start() : m.end()].isascii():
            later = later if cues.FORBIDS.search(sentence[m.end() : end + len(tail)]) else []
        limit = Limit(cue[1], cue[2], figure, cue[3])
        return (_turn(cue, limit, later), own + (later if cue[4] else []))
    head = sentence[:start]
    for cue in cues.BEFORE:
        for m in reversed(list(cue[0].finditer(head))):
            if not cues.BEFORE_GAP.fullmatch(head[m.end() :]) or (
                head[m.end() :] and head[m.end()].isalpha() and head[m.end()].isascii()
            ):
                continue
            opening = max((c.end() for c in re.finditer(r"[。！？!?；;\n]|, ", head[: m.start()])), default=0)
            own = [g for g in negs if m.start() <= g.start < m.end()]
            before = [g for g in negs if opening <= g.start < m.start()] if m.group().isascii() else []
            after = [g for g in negs if end <= g.start < end + len(tail)] if cues.FORBIDS.search(tail) else []
            used = before + after
            return (_turn(cue, Limit(cue[1], cue[2], figure, cue[3]), used), own + (used if cue[4] else []))
    return None


@lru_cache(maxsize=8192)
def _read(text: str) -> tuple[tuple[Limit, ...], tuple[Negation, ...]]:
    """Limits of a text and the negations that are part of none."""
    negs = negations(text)
    limits: list[Limit] = []
    used: set[Negation] = set()
    text = text.replace("’", "'")
    for figure in figures(text):
        found = _limit_at(text, figure, negs)
        if found is not None:
            limits.append(found[0])
            used.update(found[1])
    limits += [Limit("only") for _ in cues.ONLY.finditer(text)]
    return tuple(limits), tuple(g for g in negs if g not in used)


def limits(text: str) -> list[Limit]:
    """Bounds of a text, each with the figure it bounds, and its restrictions ("only")."""
    return list(_read(text)[0])


def remaining_negations(text: str) -> list[Negation]:
    """Negations that belong to no bound."""
    return list(_read(text)[1])


def _parity(text: str) -> int:
    return len(_read(text)[1]) % 2


def _counterpart(clause: str, source: list[str]) -> str | None:
    """The clause of `source` that speaks of the same thing, if one clearly does."""
    best = max(source, key=lambda s: containment(clause, s) + containment(s, clause), default=None)
    return best if best is not None and containment(clause, best) + containment(best, clause) >= 0.6 else None


def _bounds_agree(text: str, source: str) -> bool:
    said, held = limits(text), limits(source)
    for limit in said:
        if limit.figure is None or not limit.figure.sure:
            continue
        same = [h for h in held if h.figure and supports(h.figure, limit.figure)]
        if any(_alike(h, limit) for h in same):
            continue
        if same or not limit.soft:
            return False
    for limit in held:
        if limit.figure is None or limit.soft or not limit.figure.sure:
            continue
        mentions = [f for f in figures(text) if supports(limit.figure, f) and f.unit == limit.figure.unit]
        bound = [s for s in said if s.figure and supports(limit.figure, s.figure)]
        if mentions and not bound:
            return False
    return True


def _alike(a: Limit, b: Limit) -> bool:
    return a.direction == b.direction and (a.inclusive == b.inclusive or a.soft or b.soft)


def _restrictions_agree(text: str, source: str) -> bool:
    if (
        bool(cues.ONLY.search(text))
        and not cues.ONLY_SOFT.search(source)
        and not _bans_the_rest(source, text)
    ):
        return False
    for clause in clauses(source):
        if cues.ONLY.search(clause) and containment(clause, text) >= 0.75 and not cues.ONLY_SOFT.search(text):
            return False
    return True


def _bans_the_rest(source: str, text: str) -> bool:
    """ "Nobody under 18 may" against "only those of 18 and over": forbidding the rest is the restriction."""
    if not cues.NEGATION.search(source):
        return False
    held = [h for h in limits(source) if h.figure]
    return any(
        s.figure and supports(h.figure, s.figure) and _alike(h, s)
        for s in limits(text)
        for h in held
        if h.figure
    )


def _opposite_words(text: str, source: str) -> bool:
    """Whether one has a word of which the other has the opposite alone ("optional", "mandatory")."""
    for one, other in cues.OPPOSITES:
        for a, b in ((one, other), (other, one)):
            if a.search(text) and b.search(source) and not b.search(text) and not a.search(source):
                return True
    return False


def _ends_what_stops(text: str, source: str) -> bool:
    """Whether one says by "ends" what the other says by "we stop", which counts as a negation."""
    return any(
        cues.ENDS.search(a) and cues.STOPS.search(b) and not cues.STOPS.search(a) and not cues.ENDS.search(b)
        for a, b in ((text, source), (source, text))
    )


def _negation_agrees(text: str, source: str) -> bool:
    if _opposite_words(text, source) or _ends_what_stops(text, source):
        return _parity(text) != _parity(source)
    theirs = clauses(source)
    if len(_read(text)[1]) == len(_read(source)[1]):
        return True
    mine = clauses(text)
    paired = [(c, other) for c in mine if (other := _counterpart(c, theirs)) is not None]
    if not paired:
        return _parity(text) == _parity(source)
    if any(_parity(clause) != _parity(other) for clause, other in paired):
        return False
    # "... and will not be used": a clause without terms of its own answers to what of the source is left.
    bare = [c for c in mine if not terms(c)]
    left = [c for c in theirs if c not in [other for _, other in paired]]
    return not bare or not left or sum(map(_parity, bare)) % 2 == sum(map(_parity, left)) % 2


def _order_agrees(text: str, source: str) -> bool:
    """Before and after are not exchanged where no figure stands beside them ("before the review")."""
    if negations(text) or negations(source):
        return True
    for one, other in ((cues.EARLIER, cues.LATER), (cues.LATER, cues.EARLIER)):
        if one.search(text) and not other.search(text) and other.search(source) and not one.search(source):
            return False
    return True


def agree(text: str, source: str, names: Iterable[str] = ()) -> str | None:
    """None where numbers, bounds, negation and (of `names`) people of `text` agree with `source`.

    Else one word: "figure" (a number the source does not hold), "bound" (a bound added, lost or turned),
    "negation",
    "owner" (a name of `names` that stands in the text alone). `source` may say more than `text` does.
    """
    if unborne(text, figures(source)):
        return "figure"
    if (
        not _bounds_agree(text, source)
        or not _restrictions_agree(text, source)
        or not _order_agrees(text, source)
    ):
        return "bound"
    if not _negation_agrees(text, source):
        return "negation"
    said, held = fold(text), fold(source)
    if any((name := fold(n)) and name in said and name not in held for n in names):
        return "owner"
    return None

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
from typing import Literal

from bot.meeting.figures import Figure, figures, supports, unborne
from bot.meeting.terms import containment, terms
from bot.meeting.text import fold

Direction = Literal["max", "min", "only"]


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound on `figure` ("only": a restriction, no figure). `soft` are deadlines ("by", までに), whose loss in a
    paraphrase changes nothing while their reversal does."""

    direction: Direction
    inclusive: bool = True
    figure: Figure | None = None
    soft: bool = False


@dataclass(frozen=True, slots=True)
class Negation:
    start: int
    end: int
    word: str


# --- bounds: (pattern, direction, inclusive, soft, may be turned round by a negation)
# ---------------------------
_Cue = tuple[re.Pattern[str], Direction, bool, bool, bool]


def _cues(*rows: tuple[str, Direction, bool, bool, bool]) -> tuple[_Cue, ...]:
    return tuple((re.compile(p, re.I), d, i, s, t) for p, d, i, s, t in rows)


_GAP = r"[\s（(はをがの、:,]{0,3}"
_AFTER = _cues(
    (rf"{_GAP}を?(?:超え|越え|上回ら|上回って)(?:ない|てはならない|てはいけない|はならない|はいけない|ません|ず)", "max", True, False, False),
    (rf"{_GAP}を?(?:下回ら|下回って|割ら)(?:ない|はならない|はいけない|ません|ず)", "min", True, False, False),
    (r"\s?(?:を|が|の|は)?\s?(?:以下|以内|が上限|が限度|が最大|を上限|を限度)", "max", True, False, True),
    (r"\s?(?:以上|が下限|が最低|を下限)", "min", True, False, True),
    (r"\s?未満", "max", False, False, True),
    (r"\s?(?:超(?!え)|を?(?:超え|越え|上回)[るたて]|より多[いく])", "min", False, False, True),
    (r"\s?を?(?:下回[るたっ]|より少な[いく])", "max", False, False, True),
    (r"\s?(?:より前|以前|前まで)", "max", False, True, True),
    (r"\s?(?:以降|より後|から(?!の[変値]))", "min", True, True, True),
    (r"\s?(?:末|中|頃)?までに", "max", True, True, False),
    (r"\s?(?:末|中)?まで(?!も)", "max", True, True, True),
    (r"\s?\w{0,12}? ?or (?:more|later|above|over)\b", "min", True, False, True),
    (r"\s?\w{0,12}? ?(?:and|or) (?:up|above|upwards?|beyond)\b|\s?onwards?\b|\s?\w{0,12} at the earliest\b", "min", True, False, True),
    (r"\s?\w{0,12}? ?or (?:less|fewer|earlier|below|under)\b|\s?\w{0,12} (?:at the latest|at most|tops|max(?:imum)?)\b", "max", True, False, True),
    (r"\s?\w{0,12} (?:at least|min(?:imum)?)\b", "min", True, False, True),
)  # fmt: skip
_NOT = r"(?:not|n't|never|no|cannot|without)"
_BEFORE = _cues(
    (rf"{_NOT} (?:\w+ ){{0,2}}?(?:exceed(?:ing)?|go (?:over|above|beyond))", "max", True, False, False),
    (r"\b(?:no|not|never) (?:be )?(?:more|longer|higher|greater|larger|later|bigger|older) than", "max", True, False, False),
    (r"\b(?:no|not|never) (?:be )?(?:less|fewer|lower|shorter|earlier|smaller|sooner|younger) than", "min", True, False, False),
    (r"\b(?:at (?:the )?most|up to|max(?:imum)?(?: of)?\.?|limit(?:ed)?(?: to| of| is| at)?|cap(?:ped)?(?: at| of| is)?|within)", "max", True, False, False),
    (r"\b(?:at (?:the )?least|min(?:imum)?(?: of)?\.?|at (?:the )?earliest)", "min", True, False, False),
    (r"\b(?:less|fewer|lower|shorter|smaller|younger) than|\bunder|\bbelow", "max", False, False, True),
    (r"\b(?:more|longer|higher|greater|larger|bigger|older) than|\bover|\babove|\bexceed(?:s|ed|ing)?|\bbeyond", "min", False, False, True),
    (r"\b(?:earlier|sooner) than|\bbefore|\bprior to", "max", False, True, True),
    (r"\buntil|\btill", "max", True, True, True),
    (r"\bby(?: the end of)?|\bat (?:the )?latest", "max", True, True, False),
    (r"\blater than|\bafter", "min", False, True, True),
    (r"\b(?:starting|beginning|from|since)", "min", True, True, False),
    (r"(?:上限|最大|最高|最長|最多|多くとも|多くて|せいぜい)(?:人数|金額|値|額)?", "max", True, False, True),
    (r"(?:下限|最低|最小|最短|少なくとも|早くとも|早くて)(?:人数|金額|値|額|でも)?", "min", True, False, True),
    (r"(?:遅くとも|遅くて)", "max", True, True, False),
)  # fmt: skip
_BEFORE_GAP = re.compile(
    r"[\s:：はをがにも、=,(（約でと]*(?:is|are|of|to|at|be|the|about|around|a|end of|early|mid|late"
    r"|of)?(?:\s+(?:the|end of|about))?\s*$",
    re.I,
)

_ONLY = re.compile(
    r"\b(?:only|exclusively|solely|nothing but|single-purpose|restricted to)\b|のみ|だけ(?!で(?:なく"
    r"|はなく))|に限(?:る|り|定|って|られ)|限定|専用",
    re.I,
)
_ONLY_SOFT = re.compile(rf"{_ONLY.pattern}|\b(?:just|alone|sole|-only|no other|single)\b|以外|に絞", re.I)

# --- negation
# -------------------------------------------------------------------------------------------------
_NEGATION = re.compile(
    r"\b(?:not|never|no(?!\.\s?\d)|none|nobody|nothing|neither|nor|without|cannot|forbid(?:s|den)?"
    r"|prohibit(?:s|ed)?|ban(?:s|ned)?"
    r"|reject(?:s|ed)?|decline[sd]?|drop(?:s|ped)?|remov(?:e|es|ed|al)|abolish(?:ed)?|cancel(?:l?ed|s)?"
    r"|exclud(?:e|es|ed|ing)"
    r"|except(?:ing)?|eliminat(?:e|es|ed)|delet(?:e|es|ed)|discontinu(?:e|ed)|scrap(?:ped)?|abandon(?:ed)?"
    r"|lift(?:ed)?"
    r"|revok(?:e|ed)|withdraw(?:n|s)?|stop(?:s|ped)?|skip(?:s|ped)?|avoid(?:s|ed)?|refus(?:e|es|ed)"
    r"|disallow(?:s|ed)?|unlimited"
    r"|postpone[sd]?|impossible|unnecessary|off-limits|out of scope|unacceptable|instead of|fails? to"
    r"|waive[sd]?)\b"
    r"|(?:(?<=[a-z])n't|\bcant|\bdont|\bwont)\b|(?<=[a-z])-?less\b(?! than)"
    r"|ない|無い|ません|なし(?!遂)|無し|せず|ずに|ぬ(?=[。、\s]|$)|禁止|禁ずる|禁じ|不可|不要|不採用"
    r"|不許可|無用|撤廃|廃止|中止|却下|棄却"
    r"|見送[りるっ]|取りや?め|取り止め|取り消[しす]|取消|やめ(?!る?か)|止める|止めて|否決|除外|除く|除き"
    r"|削除|外す|外し|解除|凍結|無制限|ダメ|だめ|(?<![A-Za-z])NG(?![A-Za-z])|以外",
    re.I,
)  # fmt: skip
# Words that look like a negation and are none, or two that make an affirmation.
_NO_NEGATION = re.compile(
    r"\bnot only\b|\bwhether or not\b|\bor not\b|\bif not\b|\bno doubt\b|\bno problem\b|\b(?:no"
    r"|without) (?:any )?objections?\b|\bwhy not\b"
    r"|\bno one else\b|\bnot just\b|^no[,.!]\s|\b(?:isn't|aren't|don't|doesn't|won't|wasn't|didn't) (?:it"
    r"|we|you|they)\b\s*\?"
    r"|\bnon-stop\b|\bstop(?:ped)? by\b|\bdrop(?:s|ped)? (?:by|in|off)\b|\bdrop-?down\b|\bdon't forget\b"
    r"|\bnothing (?:more|else)\b"
    r"|\bunless\b|\bregardless\b|\bnevertheless\b|\bnonetheless\b|\bwireless(?:ly)?\b|\bserverless\b"
    r"|\bstateless\b|\bblessed?\b|\bseamless(?:ly)?\b|\bcountless\b"
    r"|かもしれない|かも知れない|しかない|なけれ?ば(?:なら|いけ|だめ|ダメ)(?:ない|ません)?|なくては(?:なら"
    r"|いけ)(?:ない|ません)|ないと(?:いけない|いけません|だめ|ならない)"
    r"|ざるを得ない|(?:では|じゃ)ない(?:か|です|でしょう)|ませんか|ないか(?=[。？?\s]|$)|に違いない"
    r"|間違いな[いく]|に?違いありません|問題な[いし]|少ない|危ない|もったいない"
    r"|(?:異議|異論|反対|反対意見)(?:は|も)?(?:なし|な[いく]|ありません)|やむを得ない|欠かせない"
    r"|なくはない|ないわけではない|ないことはない|に他ならない|忘れない|忘れず|はずし方|限らず|のみならず"
    r"|だけで(?:は)?なく|問わず|必ず|まず|はず",
    re.I,
)  # fmt: skip
_FORBIDS = re.compile(
    r"\b(?:forbidden|prohibited|banned|disallowed|unacceptable|off-limits|rejected|not (?:be )?(?:allowed"
    r"|permitted|acceptable|accepted|ok)"
    r"|(?:isn't|aren't) (?:allowed|permitted|acceptable|ok))\b|禁止|禁じ|不可|(?<![A-Za-z])NG(?![A-Za-z])"
    r"|ダメ|だめ|認めな|許さな"
    r"|ない|ません|却下|せず",
    re.I,
)  # fmt: skip
_SENTENCE = re.compile(r"(?<=[。！？!?；;\n])|(?<=\.)(?=\s|$)")
_CLAUSE = re.compile(
    r"[。！？!?；;\n]|\.(?=\s|$)|,(?!\d)|、|，|\bbut\b|\bhowever\b|\bwhile\b|\bwhereas\b|\band (?=(?:do"
    r"|will|must|should|can|never|no)\b)"
    r"|(?<=[るたいすだん])(?:が|けど|けれど|し)(?=[、\s]?)(?![ぁ-ん]?[るたいす])|ただし|一方で?",
    re.I,
)  # fmt: skip
_EARLIER = re.compile(r"\b(?:before|until|till|prior to)\b|(?:の|る|する)前[にはの]|より前|までに", re.I)
_LATER = re.compile(r"\b(?:after|following)\b|(?:の|た|した)(?:後|あと)[にはの]|より後|てから", re.I)
_TURNED: dict[tuple[str, bool], tuple[Direction, bool]] = {
    ("min", True): ("max", False),
    ("min", False): ("max", True),
    ("max", True): ("min", False),
    ("max", False): ("min", True),
}


def sentences(text: str) -> list[str]:
    """Sentences of a text, end marks kept, in both languages; a decimal point ends none."""
    return [s.strip() for s in _SENTENCE.split(text) if s.strip()]


def clauses(text: str) -> list[str]:
    return [c.strip() for c in _CLAUSE.split(text) if c and c.strip(" .。、,")]


def negations(text: str) -> list[Negation]:
    """Words that turn a statement into its opposite, in order; idioms that affirm are left out."""
    lowered = text.replace("’", "'")
    idioms = [m.span() for m in _NO_NEGATION.finditer(lowered)]
    return [
        Negation(m.start(), m.end(), m.group())
        for m in _NEGATION.finditer(lowered)
        if not any(a <= m.start() and m.end() <= b for a, b in idioms)
    ]


def _turn(cue: _Cue, limit: Limit, nearby: list[Negation]) -> Limit:
    """`limit` as an odd number of negations leaves it."""
    if not (cue[4] and len(nearby) % 2) or limit.direction == "only":
        return limit
    direction, inclusive = _TURNED[limit.direction, limit.inclusive]
    return replace(limit, direction=direction, inclusive=inclusive, soft=False)


def _limit_at(sentence: str, figure: Figure, negs: list[Negation]) -> tuple[Limit, list[Negation]] | None:
    """The bound on one figure of a sentence, with the negations it uses up."""
    start, end = figure.span
    tail = re.split(r"[。！？!?；;,、\n]", sentence[end:])[0]
    for cue in _AFTER:
        m = cue[0].match(sentence, end)
        if m is None:
            continue
        own = [g for g in negs if m.start() <= g.start < m.end()]
        later = [g for g in negs if m.end() <= g.start < end + len(tail)]
        if sentence[m.start() : m.end()].isascii():
            later = later if _FORBIDS.search(sentence[m.end() : end + len(tail)]) else []
        limit = Limit(cue[1], cue[2], figure, cue[3])
        return (_turn(cue, limit, later), own + (later if cue[4] else []))
    head = sentence[:start]
    for cue in _BEFORE:
        for m in reversed(list(cue[0].finditer(head))):
            if not _BEFORE_GAP.fullmatch(head[m.end() :]) or (
                head[m.end() :] and head[m.end()].isalpha() and head[m.end()].isascii()
            ):
                continue
            opening = max((c.end() for c in re.finditer(r"[。！？!?；;\n]|, ", head[: m.start()])), default=0)
            own = [g for g in negs if m.start() <= g.start < m.end()]
            before = [g for g in negs if opening <= g.start < m.start()] if m.group().isascii() else []
            after = [g for g in negs if end <= g.start < end + len(tail)] if _FORBIDS.search(tail) else []
            used = before + after
            return (_turn(cue, Limit(cue[1], cue[2], figure, cue[3]), used), own + (used if cue[4] else []))
    return None


@lru_cache(maxsize=8192)
def _read(text: str) -> tuple[tuple[Limit, ...], tuple[Negation, ...]]:
    """Limits of a text and the negations that are part of none."""
    negs = negations(text)
    limits: list[Limit] = []
    used: set[Negation] = set()
    offset = 0
    text = text.replace("’", "'")
    for figure in figures(text):
        found = _limit_at(text, figure, negs)
        if found is not None:
            limits.append(found[0])
            used.update(found[1])
    for _ in _ONLY.finditer(text, offset):
        limits.append(Limit("only"))
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
    if bool(_ONLY.search(text)) and not _ONLY_SOFT.search(source):
        return False
    for clause in clauses(source):
        if _ONLY.search(clause) and containment(clause, text) >= 0.75 and not _ONLY_SOFT.search(text):
            return False
    return True


def _negation_agrees(text: str, source: str) -> bool:
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
    for one, other in ((_EARLIER, _LATER), (_LATER, _EARLIER)):
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

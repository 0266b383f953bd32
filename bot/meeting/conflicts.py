"""Does a decision break a constraint, or contradict another decision? Same subject, other value, bound or
polarity.

A hint for people, who decide (SPEC 2.6): it is built to miss a far-fetched contradiction rather than to cry
wolf.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from bot.meeting.assignments import one_release, other_holder, weekdays, without_days
from bot.meeting.figures import Figure, figures, supports
from bot.meeting.model import Item
from bot.meeting.polarity import Limit, clauses, limits, negations, remaining_negations
from bot.meeting.sweeping import days_of, overspends, takes_banned_day
from bot.meeting.terms import containment, overlap, terms
from bot.meeting.text import fold

# Overlap of content terms from which two sentences have one subject; from the tuning part of
# tests/meeting/data/conflicts.jsonl (every third pair is held out).
SAME_VALUE = 0.6
SAME_BOUND = 0.4
SAME_POLARITY = 0.5


@dataclass(frozen=True, slots=True)
class Conflict:
    """`number` and `text` of the entry that the new text contradicts; reason: "value", "bound" or
    "polarity"."""

    number: int
    reason: str
    text: str


_REMOVES = re.compile(
    r"撤廃|廃止|解除|なくす|無くす|外す|無制限|なしにする|\b(?:unlimited|no (?:limit|cap|maximum)"
    r"|without (?:a )?limit)\b"
    r"|\b(?:remov|lift|drop|abolish|scrap|eliminat|waiv)\w*\b",
    re.I,
)
_LIMIT_WORD = re.compile(r"上限|下限|制限|限度|\b(?:limit|cap|maximum|minimum|restriction)s?\b", re.I)
_ALSO = re.compile(
    r"にも|でも|も(?:対応|使|含|扱|可)|加え|併せて|あわせて|併用|両方|ハイブリッド"
    r"|\b(?:both|hybrid|also|too|as well|in addition|additionally"
    r"|plus)\b",
    re.I,
)
_ALLOWS = re.compile(
    r"認め(?:る|ます|た)|許可|許す|可(?:とする|能|$)|解禁|\b(?:allow(?:ed|s)?|permit(?:ted|s)?|enable[ds]?"
    r"|legal|ok)\b",
    re.I,
)
_OPPOSITES = tuple(
    (re.compile(a, re.I), re.compile(b, re.I))
    for a, b in (
        (r"非公開|\bprivate(?:ly)?\b|\binternal\b", r"(?<!非)公開|\bpublic(?:ly)?\b|\bexternal\b"),
        (r"無料|\bfree\b(?! of)", r"有料|\bpaid\b"),
        (r"必須|義務|\bmandatory\b|\brequired\b|\bobligatory\b", r"任意|\boptional\b|\bvoluntary\b"),
        (r"社内|\bin-?house\b", r"社外|外注|\boutsourc\w+\b"),
        (
            r"オンライン|\bonline\b|\bremote(?:ly)? only\b",
            r"対面|オフライン|\bin person\b|\bon-?site\b|\boffline\b",
        ),
        (r"人間|\bhuman\b", r"(?<![a-z])ai(?![a-z])|人工知能|\bmachine\b"),
        (r"毎日|\bdaily\b", r"毎週|週次|\bweekly\b|毎月|月次|\bmonthly\b"),
        (r"毎週|週次|\bweekly\b|隔週", r"毎月|月次|\bmonthly\b"),
        (
            r"残す|維持|継続|続け|\bkeep\b|\bretain\b|\bcontinu\w+\b",
            r"削除|廃止|撤廃|中止|やめ|\bremov\w+\b|\bdrop\w*\b|\bdelet\w+\b|\bdiscontinu\w+\b|\bstop\w*\b",
        ),
        (
            r"許可|認める|\ballow(?:ed)?\b|\bpermit(?:ted)?\b",
            r"禁止|不可|\bforbidden\b|\bprohibited\b|\bbanned\b|\bnot allowed\b",
        ),
        (r"午前|\bmorning\b", r"午後|\bafternoon\b"),
        (r"有効|\benable[ds]?\b", r"無効|\bdisable[ds]?\b"),
        (r"同期(?!会)|\bsynchronous\b", r"非同期|\basynchronous\b"),
        (
            r"延期|\bpostpone\w*\b|\bdelay\w*\b",
            r"前倒し|予定通り|予定どおり|\bas planned\b|\bbring forward\b",
        ),
    )
)  # fmt: skip
# A subject and the one thing that it is said to be: "会場は大阪", "The venue will be Tokyo", "Database:
# MySQL".
_COPULA = re.compile(
    r"^(?P<s>[^はが、。]{1,16}?)(?:は|が|[:：])\s*(?:必ず|絶対に?|常に)?\s*(?P<p>[^はがをにで、。]{1,16}?)"
    r"\s*(?:のみ|だけ)?(?:です|だ|とする|とします|にする|にします|で行く|でいく|に決定(?:した|しました)?"
    r"|に変更(?:する|します)?|に限る|に決まりました)?[。]?$"
)
_COPULA_EN = re.compile(
    r"^(?:we (?:agreed|decided) (?:that )?)?(?:the |our )?(?P<s>[\w' -]{2,40}?)(?: is| are| will be"
    r"| must be| shall be| should be|:)"
    r" (?:only |always |in |at |written in |an? |the )*(?P<p>[\w.+#' -]{2,30}?)(?: only)?[.]?$",
    re.I,
)
_STATE = re.compile(
    r"\b\w+(?:ed|ing|ly)\b|\b(?:ready|important|done|due|clear|possible|fine|good|better|new|late|open"
    r"|easy|simple|big|small"
    r"|not|enough|able|free|paid|kept|held|sent|built|made|on|for|about|with|up)\b|する|した|し(?:て|ます)"
    r"|い$|予定|ない|済み|専用|限定",
    re.I,
)


def conflicts(text: str, against: Sequence[Item], on: date | None = None) -> list[Conflict]:
    """What of `against` (constraints and live decisions) the new decision `text` contradicts, in their
    order. `on`: the day it was taken, from which its dates have their weekdays."""
    found: list[Conflict] = []
    for item in against:
        reason = contradiction(text, item.text, on)
        if reason is not None:
            found.append(Conflict(item.number, reason, item.text))
    return found


def contradiction(said: str, held: str, on: date | None = None) -> str | None:
    """How `said` contradicts `held`: "bound", "value", "polarity", or None. `on`: as in `conflicts`."""
    if _bound_broken(said, held) or _limit_removed(said, held):
        return "bound"
    if _other_value(said, held):
        return "value"
    if not _ALSO.search(said) and (
        _other_thing(said, held) or _other_day(said, held) or other_holder(said, held)
    ):
        return "value"
    if overspends(said, held):
        return "bound"
    if (
        takes_banned_day(said, held, on)
        or _turned(said, held, on)
        or _opposite(said, held)
        or _no_longer_only(said, held)
    ):
        return "polarity"
    return None


def _same_subject(a: str, b: str, least: float) -> bool:
    return overlap(a, b) >= least and max(containment(a, b), containment(b, a)) >= SAME_VALUE


def _comparable(a: Figure, b: Figure) -> bool:
    if a.unit == b.unit:
        return True
    if {a.unit, b.unit} == {"date", "monthname"}:
        return True
    return "" in (a.unit, b.unit) and not (a.is_date or b.is_date or "time" in (a.unit, b.unit))


def _size(figure: Figure, other: Figure) -> tuple[float, float]:
    """Lowest and highest value a figure may stand for, in the terms of `other`: a month has days."""
    if figure.unit == "monthname":
        return figure.value * 100 + 1, figure.value * 100 + 31
    value = figure.value if figure.unit == other.unit or "date" in (figure.unit, other.unit) else figure.raw
    return value, value


def _outside(low: float, high: float, limit: Limit, edge: tuple[float, float]) -> bool:
    if limit.direction == "max":
        return low > edge[1] or (not limit.inclusive and low >= edge[1])
    return high < edge[0] or (not limit.inclusive and high <= edge[0])


def _bound_broken(said: str, held: str) -> bool:
    """A value or a looser bound of one text lies outside a bound of the other."""
    if not _same_subject(said, held, SAME_BOUND):
        return False
    mine, theirs = limits(said), limits(held)
    for limit in theirs:
        bounded = {id(m.figure): m for m in mine}
        for figure in figures(said):
            if limit.figure is None or not figure.sure or not _comparable(figure, limit.figure):
                continue
            own = next((m for m in mine if m.figure == figure), None)
            if own is not None and own.direction != limit.direction and bounded:
                own_low, own_high = _size(figure, limit.figure)
                if not _outside(own_low, own_high, limit, _size(limit.figure, figure)):
                    continue
            if _outside(*_size(figure, limit.figure), limit, _size(limit.figure, figure)):
                return True
    return False


def _limit_removed(said: str, held: str) -> bool:
    if not _REMOVES.search(said) or not _LIMIT_WORD.search(said) or not any(m.figure for m in limits(held)):
        return False
    return not terms(said) or bool(terms(said) & terms(held))


def _other_value(said: str, held: str) -> bool:
    """Both give a value of one kind for one subject, and no value agrees."""
    if not _same_subject(said, held, SAME_VALUE):
        return False
    # "Up to 3 people" bounds a count; "by May 10" gives a date, which another date contradicts.
    bounded = {
        m.figure for m in (*limits(said), *limits(held)) if m.figure and not (m.soft and m.figure.is_date)
    }
    mine = [f for f in figures(said) if f.sure and f not in bounded]
    theirs = [f for f in figures(held) if f.sure and f not in bounded]
    if remaining_negations(said) or remaining_negations(held):
        return False
    units = {f.unit for f in mine} & {f.unit for f in theirs}
    return any(
        not any(supports(a, b) or supports(b, a) for a in mine if a.unit == u for b in theirs if b.unit == u)
        for u in units
    )


def _other_day(said: str, held: str) -> bool:
    """One thing on other weekdays."""
    mine, theirs = weekdays(said), weekdays(held)
    if not mine or not theirs or mine & theirs:
        return False
    if remaining_negations(said) or remaining_negations(held) or limits(said) or limits(held):
        return False
    return _same_subject(without_days(said), without_days(held), SAME_VALUE)


def _assigned(text: str) -> tuple[str, str] | None:
    m = _COPULA.match(text.strip()) or _COPULA_EN.match(text.strip())
    if m is None or _STATE.search(m["p"]) or negations(text) or figures(m["p"]):
        return None
    return fold(m["s"]), fold(m["p"])


def _other_thing(said: str, held: str) -> bool:
    a, b = _assigned(said), _assigned(held)
    if a is None or b is None or a[1] in b[1] or b[1] in a[1]:
        return False
    return a[0] == b[0] and not terms(a[1]) & terms(b[1])


def _turned(said: str, held: str, on: date | None) -> bool:
    """One affirms what the other denies, where their figures do not keep them apart."""
    for mine in clauses(said):
        for theirs in clauses(held):
            if len(remaining_negations(mine)) % 2 == len(remaining_negations(theirs)) % 2:
                continue
            days, held_days = weekdays(mine) or days_of(mine, on), weekdays(theirs)
            if days and held_days and not days & held_days:
                continue
            one, other = (one_release(mine), one_release(theirs)) if days & held_days else (mine, theirs)
            if not _same_subject(one, other, SAME_POLARITY):
                continue
            a = [f for f in figures(mine) if f.sure]
            b = [f for f in figures(theirs) if f.sure]
            if days & held_days:  # a weekday bears no date, nor the other way round
                a, b = [f for f in a if f.unit == "date"], [f for f in b if f.unit == "date"]
            apart = a and b and not any(supports(x, y) or supports(y, x) for x in a for y in b)
            if not apart:
                return True
    return False


def _opposite(said: str, held: str) -> bool:
    for one, other in _OPPOSITES:
        for a, b in ((one, other), (other, one)):
            if a.search(said) and b.search(held) and not (a.search(held) or b.search(said)):
                rest, rest_held = b.sub(" ", a.sub(" ", said)), b.sub(" ", a.sub(" ", held))
                if len(negations(rest)) % 2 == len(negations(rest_held)) % 2 and _same_subject(
                    rest, rest_held, SAME_POLARITY
                ):
                    return True
    return False


def _no_longer_only(said: str, held: str) -> bool:
    """ "Only A" against "B too", or "only A" against "only B" for one subject."""
    if not any(m.direction == "only" for m in limits(held)):
        return False
    if _ALSO.search(said):
        return bool(terms(said) & terms(held)) and overlap(said, held) >= 0.3
    return False

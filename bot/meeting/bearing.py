"""Whether one wording of the record bears out one sentence, beyond its words, figures and names (pure).

A sentence can be made of the record's own words and still say something else: all for some, must for may, who
helps whom exchanged. Both sides are read in both languages: a record may quote either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from bot.meeting.figures import figures, unborne
from bot.meeting.polarity import agree, clauses
from bot.meeting.terms import stem, terms

# Of the terms of a sentence that the record holds at all, a wording that is about it holds this share.
_ABOUT = 0.75
_SAME_THING = 0.6

_ALL = re.compile(
    r"\b(?:(?<!at )(?<!after )(?<!in )(?<!above )all(?! right)|every\w*|each|always|entire(?:ly)?|completely)\b"
    r"|全て|すべて|全部|全員|全社|あらゆる|みんな|いつも|常に|毎回",
    re.I,
)
_MOST = re.compile(
    r"\b(?:(?<!at )most(?:ly)?|majority|(?:almost|nearly) all)\b|ほとんど|大半|大部分|過半数|大多数", re.I
)
_SOME = re.compile(
    r"\b(?:some|sometimes|a few|several|partly|partially|part of|occasionally)\b"
    r"|一部|いくつか|部分的|たまに|時々|ときどき",
    re.I,
)
_MAY = re.compile(  # the month has a capital or a day beside it
    r"(?<!\d )\b(?:may(?! \d)|[Mm]ight|[Cc]ould|[Pp]ossibly|[Pp]erhaps|[Mm]aybe|[Pp]robably|likely)\b"
    r"|かもしれ|かも知れ|可能性|おそらく|たぶん|多分|恐れ|おそれ"
)
_MUST = re.compile(
    r"\b(?:must|ha(?:ve|s) to|always|definitely|certainly|guaranteed|without fail|mandatory|compulsory)\b"
    r"|必ず|絶対|確実に|間違いなく|必須",
    re.I,
)
_BINDS = re.compile(
    rf"{_MUST.pattern}|\b(?:need(?:s|ed)?|requir\w+|shall|should|never|only|at (?:most|least)|no (?:more|less))\b"
    r"|禁止|べき|なければ|なくては|ないと|限る|のみ|だけ",
    re.I,
)
_IF = re.compile(
    r"\b(?:if|unless|provided|as long as|subject to|whether|in case)\b|場合|条件|次第|ならば|限り|もし|かどうか",
    re.I,
)
_CLAIMED = ((_ALL, _ALL), (_MOST, _MOST))
_QUALIFIED = (
    (_SOME, (_SOME, _MOST, _MAY)),
    (_MOST, (_MOST, _SOME, _MAY)),
    (_MAY, (_MAY, _SOME, _IF)),
    (_IF, (_IF, _MAY)),
)

_PARTICLE = re.compile(
    r"(?P<n>[\u3400-\u4dbf\u4e00-\u9fff々]{1,8}|[\u30a1-\u30f6ー]{2,20}|[A-Za-z]{2,20})"
    r"(?:さん|様|氏|君|社)?(?P<p>が|は|を|に|へ|から|より)(?!\w?つい|\w?関し|\w?よって|\w?よる)"
)
_DOER = frozenset(("が", "は"))
_TURNS = re.compile(r"(?:[らされか])れ[るたてま]|もら[うっい]|いただ[くいけ]|受け[るたてま]")
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*|[,;:]")
_PASSIVE = re.compile(r"(?:be|been|being|is|are|was|were|get|gets|got)", re.I)
_BETWEEN = frozenset(
    """will would shall should can could may might must do does did has have had be been being is are was were not
    the a an also then still already to""".split()  # noqa: SIM905
)


def about(said: str, sources: Iterable[str], known: Callable[[str], Collection[str]]) -> list[str]:
    """The wordings that speak of what is said. `known`: the terms of a wording, synonyms included.

    One that speaks of something else agrees with anything, and would bear out its opposite; so would a whole text
    of which one sentence says it all and another one holds a negation.
    """
    mine = terms(said)
    counted = {source: len(mine & set(known(source))) for source in sources}
    best = max(counted.values(), default=0)
    kept = [source for source, count in counted.items() if count >= _ABOUT * best]
    return [
        s for s in kept if s in said or not any(o != s and o in s and counted[o] == counted[s] for o in kept)
    ]


def bears(said: str, source: str) -> str | None:
    """None where `source` bears out `said` in bounds, negation, quantity, force and roles; else one word.

    Figures that another wording holds are judged there: here they are left out.
    """
    for figure in sorted(unborne(said, figures(source)), key=lambda f: -f.span[0]):
        said = f"{said[: figure.span[0]]} {said[figure.span[1] :]}"
    found = agree(said, source)
    if found not in (None, "figure"):
        return found
    if not _force_agrees(said, source):
        return "force"
    return "roles" if exchanged(said, source) else None


def _force_agrees(said: str, source: str) -> bool:
    """No quantity or duty is added, and no doubt, share or condition is lost, that the record has not."""
    if any(claimed.search(said) and not held.search(source) for claimed, held in _CLAIMED):
        return False
    for clause in _sentences(source):
        if not _same_thing(clause, said):
            continue
        if _MUST.search(said) and _MAY.search(clause) and not _BINDS.search(clause):
            return False
        for qualified, kept in _QUALIFIED:
            if qualified.search(clause) and not any(pattern.search(said) for pattern in kept):
                return False
    return True


def _sentences(text: str) -> list[str]:
    return [part for part in re.split(r"[。！？!?；;\n]|\.(?=\s|$)", text) if part.strip()]


def _same_thing(sentence: str, said: str) -> bool:
    """Whether what is said is what this sentence of the record says, or a clause of it."""
    told = terms(said)
    parts = [sentence, *clauses(sentence), *_IF.split(sentence)]
    return any(len(mine & told) >= _SAME_THING * len(mine) for part in parts if (mine := terms(part)))


# ------------------------------------------------------------------ who does it to whom


def exchanged(said: str, source: str) -> bool:
    """Whether doer and the one it is done to have changed places."""
    return _exchanged_by_particles(said, source) or _exchanged_by_order(said, source)


def _exchanged_by_particles(said: str, source: str) -> bool:
    """A は/が and B に/を in one, B は/が and A に/を in the other; a passive in one of them turns it round."""
    for sentence in _sentences(source):
        mine, theirs = _places(said), _places(sentence)
        turned = bool(_TURNS.search(said)) != bool(_TURNS.search(sentence))
        both = [n for n in mine if n in theirs]
        for one in both:
            for other in both:
                there = theirs[one] <= _DOER and not theirs[other] & _DOER
                swapped = not mine[one] & _DOER and mine[other] <= _DOER
                received = (
                    turned and mine[one] <= _DOER and mine[other] == {"から"} and "から" not in theirs[other]
                )
                if there and ((swapped and not turned) or received):
                    return True
    return False


def _places(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for m in _PARTICLE.finditer(text):
        found.setdefault(m["n"].lower(), set()).add(m["p"])
    return found


def _exchanged_by_order(said: str, source: str) -> bool:
    """X supplies Y against Y supplies X, by the verb that both have; "is supplied by" turns it round."""
    mine = _doers(said)
    for sentence in _sentences(source):
        theirs = _doers(sentence)
        for verb, (doer, rest) in mine.items():
            if verb not in theirs:
                continue
            there, done_to = theirs[verb]
            if doer != there and doer in done_to and there in rest:
                return True
    return False


def _doers(text: str) -> dict[str, tuple[str, frozenset[str]]]:
    """By the stem of each word that may be a verb: the word that does it, and every other word beside it."""
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for sentence in _sentences(text):
        words = [w.lower() for w in _WORD.findall(sentence)]
        for at, word in enumerate(words):
            if at == 0 or word in _BETWEEN or not terms(word):
                continue
            before = at - 1
            while before >= 0 and words[before] in _BETWEEN:
                before -= 1
            if before < 0 or not terms(words[before]):
                continue
            doer = words[before]
            if any(_PASSIVE.fullmatch(w) for w in words[before + 1 : at]):
                by = _after_by(words[at + 1 :])
                if by is None:
                    continue
                doer = by
            rest = frozenset(stem(w) for i, w in enumerate(words) if i != at and w != doer and terms(w))
            found.setdefault(stem(word), (stem(doer), rest))
    return found


def _after_by(words: Sequence[str]) -> str | None:
    for at, word in enumerate(words):
        if word == "by":
            return next((w for w in words[at + 1 :] if w not in _BETWEEN), None)
    return None

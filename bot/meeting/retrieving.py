"""How a question finds passages of the record (pure): tokens for the index, units of the question, a score.

The normal form is that of `meeting.seeking`. A Japanese text is indexed by the pairs of its characters and
the last character of each run, so that one character finds every pair that begins with it; an English one by
the stems of its words. What the index returns is ranked here, by how much of the question a text holds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from bot.meeting.figures import figures
from bot.meeting.polarity import limits
from bot.meeting.seeking import normal
from bot.meeting.synonyms import Synonyms, stands
from bot.meeting.terms import stem
from bot.meeting.text import fold, fold_kana

RELEVANT = 0.4  # share of a question's weight from which on a text speaks of what was asked
NEAR = 0.2  # below that it is not even near
MOST_TOKENS = 60
LONGEST_TOKEN = 40

_RUN = re.compile(r"[a-z0-9][a-z0-9'._+-]*|[\u3041-\u3096\u3400-\u4dbf\u4e00-\u9fff々〆]+")
_PIECE = re.compile(
    r"(?P<word>[a-z][a-z0-9'+#-]*|[a-z0-9]*[a-z][a-z0-9'+#-]*)|(?P<number>\d[\d,.]*)"
    r"|(?P<katakana>[\u30a1-\u30f6ー]{2,})|(?P<kanji>[\u3400-\u4dbf\u4e00-\u9fff々〆]+)"
    r"|(?P<hiragana>[\u3041-\u3096ー]+)"
)
_STOP = frozenset(
    """a an the of to in on at by for from with as is are was were be been do does did done what when which who
    whom whose how why where we our us i me my you your it its that this these those and or not have has had
    decide decided decision decisions say said says tell told us know about any anything there here will would
    can could should shall please much many long often again ever still yet so if then than into up out get got
    s t d ll re ve m let lets going go went come came last first next entry entries hold
    holds record records recorded ledger number""".split()  # noqa: SIM905
)
# Words of asking and endings, which say nothing of what is asked about.
_ASKING = re.compile(
    r"どの(?:記録|項目)|記録の?(?:番号|どこ)?|何番|番号|どれ|について|に関して|に関する|に関わる|でしょうか|でしたか|でしたっけ|ですか|だっけ|ましたか|ますか|教えて(?:ください)?"
    r"|いつ(?:まで|から|頃|ごろ)?|誰(?:が|に|の)?|だれ|どなた|どこ|なに|何(?:が|を|に)?|どう(?:なり|なっ|する|いう|して|やって)?|どんな|どの(?:くらい|ような|ように)?"
    r"|どれ(?:くらい|ぐらい)?|いくら|いくつ|なぜ|どうして|理由|決ま(?:った|りました|って|り)|決め(?:た|ました|て)|決定|結論"
    r"|(?:会議|話し合い|議論|定例|打ち合わせ)で(?:は|の)?|でき(?:ます|る)|(?:して|なって|れて)(?:い(?:ます|る)|ました)|ください|[?？。、！!「」]"
)
# English ways to ask of which only the subject is looked for: "which day did we settle on for the event?".
_ASKING_EN = re.compile(
    r"\b(?:which|what) (?:day|date|time|person|place)s?\b"
    r"|\b(?:settl\w+|agree[ds]?|end(?:ed|ing)? up)(?: (?:on|with|for))?\b"
    r"|\b(?:tak(?:es?|ing)|took|taken) (?:place|care of|over)\b|\b(?:look\w*|see\w*) (?:after|to)\b"
    r"|\bdeal\w* with\b|(?<=who's )(?:on|doing|handling|running)\b|(?<=who will )(?:handle|run|do|get)\b"
    r"|(?<=who )(?:will |is |are |was )?(?:handl\w+|on|doing|does|do|runs?|running|gets?|has|have)\b",
    re.I,
)
# Groups that name what is asked of a thing and not the thing.
_FACETS = frozenset({"date", "due", "owner"})
# What the index knows a day by, where nothing but a day is asked for.
_DAY_TOKENS = (
    *("日*", "曜*", "月*"),
    *(stem(d) for d in "monday tuesday wednesday thursday friday saturday sunday".split()),  # noqa: SIM905
    *(
        stem(m)
        for m in "january february march april may june july august september october november december".split()  # noqa: SIM905
    ),
)
WHEN = re.compile(
    r"いつ|開催日|日取り|日にち|どの日|何日|何月|何時|何曜|期限|締め?切り?|納期|日程|日付|\bwhen\b"
    r"|\b(?:what|which) (?:day|date|time)\b|\bdeadline\b|\bdue\b|\bhow soon\b",
    re.I,
)
WHO = re.compile(
    r"誰|だれ|どなた|担当(?:者)?は|責任者は|\bwho(?:se|m)?\b|\bwhich person\b|\bin charge\b", re.I
)
HOW_MUCH = re.compile(
    r"いくら|いくつ|何(?:人|名|個|件|回|分|円|台|本|枚|社|割|パーセント|%|か月|ヶ月|年|週)|どの(?:くらい|ぐらい)|どれ(?:くらい|ぐらい)"
    r"|\bhow (?:much|many|long|large|big|often|old)\b|\bwhat (?:price|number|amount|percentage)\b", re.I,
)  # fmt: skip
_MONEY = re.compile(
    r"いくら|何円|予算|費用|金額|価格|値段|料金|\bhow much\b|\bprice\b|\bbudget\b|\bcost\b", re.I
)
_PEOPLE = re.compile(r"何[人名]|人数|定員|\bhow many people\b", re.I)
_CURRENCIES = frozenset({"円", "$", "€", "£", "ドル", "ユーロ"})


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing a text should hold: any of `forms` (of the normal form; ASCII ones as stems of words)."""

    weight: float
    forms: tuple[str, ...]
    group: str = ""  # of the words that mean the same


@dataclass(frozen=True, slots=True)
class Query:
    """A question as it is looked for. `tokens`: those of the index that may help, best first; a token that
    ends in * is a prefix."""

    question: str
    units: tuple[Unit, ...]
    tokens: tuple[str, ...]
    sentences: tuple[Query, ...] = ()  # each as a query of its own, where there are several

    @property
    def parts(self) -> tuple[Query, ...]:
        return (self, *self.sentences)

    @property
    def empty(self) -> bool:
        return not self.units


def tokens(text: str) -> str:
    """The index's tokens of a text, separated by spaces: each once, in order."""
    found: dict[str, None] = {}
    for line in normal(text).split("\n"):
        for run in _RUN.findall(line):
            found.update(dict.fromkeys(_tokens_of(run)))
    return " ".join(found)


def _tokens_of(run: str) -> list[str]:
    if run[0].isascii():
        parts = [p for p in re.split(r"[^a-z0-9]+", run) if p]
        return [(stem(p) if p.isalpha() else p)[:LONGEST_TOKEN] for p in parts]
    return [run[i : i + 2] for i in range(len(run) - 1)] + [run[-1]]


def read(question: str, synonyms: Synonyms) -> Query:
    """What to look for. Words that mean the same as one of the question's count as much as that one."""
    parts = [p for p in re.split(r"(?<=[。！？!?\n])|(?<=\.)\s", question) if p.strip()]
    several = tuple(_read(p, synonyms) for p in parts) if len(parts) > 1 else ()
    return replace(_read(question, synonyms), sentences=tuple(q for q in several if len(q.units) > 1))


def _read(question: str, synonyms: Synonyms) -> Query:
    text = _ASKING_EN.sub(" ", fold(question))
    units: list[Unit] = []
    for group, word, others in synonyms.others(text):
        units.append(Unit(1.2, tuple(dict.fromkeys(_form(w) for w in (word, *others))), group))
        text = _blank(text, word)
    bare = _ASKING.sub(" ", text)
    units += _units(bare)
    if not units:
        units = _units(text, kana=True) or _units(fold(question), kana=True)
    wanted = [t for u in sorted(units, key=lambda u: -u.weight) for f in u.forms for t in _wanted(f)]
    if any(u.group in ("date", "due") for u in units) and all(u.group in _FACETS for u in units):
        wanted = [*wanted[: MOST_TOKENS - len(_DAY_TOKENS)], *_DAY_TOKENS]
    return Query(question, tuple(units), tuple(dict.fromkeys(wanted))[:MOST_TOKENS])


def subjects(text: str, synonyms: Synonyms) -> bool:
    """Whether a text names anything in particular, beside words of asking."""
    folded = fold(text)
    return bool(synonyms.others(folded)) or any(u.weight > 0.6 for u in _units(_ASKING.sub(" ", folded)))


def _form(word: str) -> str:
    """A word as it is looked for in the normal form."""
    key = fold_kana(word)
    if key.isascii():
        return stem(key) if key.isalpha() else key
    return normal(word).split("\n")[0]


def _blank(text: str, word: str) -> str:
    if len(word) == 1 and not word.isascii():
        return re.sub(rf"(?<![\u3400-\u9fff]){re.escape(word)}(?![\u3400-\u9fff])", " ", text)
    if word.isascii():
        if not word.isalpha():
            return text.replace(word, " ")
        return re.sub(r"[a-z]+", lambda m: " " if stem(m.group()) == stem(word) else m.group(), text)
    return re.sub(re.escape(fold(word)), " ", text)


def _units(text: str, *, kana: bool = False) -> list[Unit]:
    found: dict[str, float] = {}
    for m in _PIECE.finditer(text):
        piece = m.group()
        if m["word"]:
            if piece not in _STOP and (len(piece) > 1 or not piece.isalpha()):
                found.setdefault(_form(piece), 1.2)
        elif m["number"]:
            found.setdefault(piece.replace(",", "").rstrip("."), 0.8)
        elif m["katakana"]:
            found.setdefault(_form(piece), 1.2)
        elif m["kanji"]:
            for pair in [piece] if len(piece) == 1 else [piece[i : i + 2] for i in range(len(piece) - 1)]:
                found.setdefault(pair, 0.5 if len(piece) == 1 and not kana else 1.0)
        elif kana or len(piece) >= 4:
            run = _form(piece)
            for pair in [run[i : i + 2] for i in range(len(run) - 1)] or [run]:
                found.setdefault(pair, 0.6 if kana else 0.1)
    return [Unit(weight, (form,)) for form, weight in found.items() if form]


def _wanted(form: str) -> list[str]:
    """Tokens by which the index may know a form; of a long Japanese word its rarest ends suffice."""
    if form.isascii():
        return [p for p in re.split(r"[^a-z0-9]+", form) if p]
    if len(form) == 1:
        return [f"{form}*"]
    return [form[i : i + 2] for i in range(len(form) - 1)]


def score(query: Query, texts: Sequence[str]) -> list[float]:
    """For each text (as people wrote it) the share of the question's weight that it holds, 0..1.

    A question of several sentences is scored sentence by sentence, and its best one counts.

    A date is no answer by itself where the date of something is asked for.

    Units that few of the texts hold count more; one that none holds as much as one that a single text holds.
    """
    return [max(row) for row in zip(*(_score(part, texts) for part in query.parts), strict=True)]


def _score(query: Query, texts: Sequence[str]) -> list[float]:
    held = [_holding(query, text) for text in texts]
    counts = [sum(row[i] for row in held) for i in range(len(query.units))]
    rarity = [math.log(1 + (len(texts) + 1) / (1 + n)) if n else None for n in counts]
    usual = math.log(1 + (len(texts) + 1) / 2)
    weights = [u.weight * (usual if r is None else r) for u, r in zip(query.units, rarity, strict=True)]
    total = sum(weights) or 1.0
    shares = [sum(w for w, has in zip(weights, row, strict=True) if has) / total for row in held]
    things = [i for i, u in enumerate(query.units) if u.group not in _FACETS and u.weight >= 0.5]
    return [
        share if not things or any(row[i] for i in things) else min(share, RELEVANT - 0.01)
        for share, row in zip(shares, held, strict=True)
    ]


def _holding(query: Query, text: str) -> list[bool]:
    folded, stems = _normal(text)
    return [
        any(_holds(form, folded, stems, whole=bool(u.group)) for form in u.forms) or _is_it(u, text)
        for u in query.units
    ]


def _is_it(unit: Unit, text: str) -> bool:
    """Whether a text holds the thing that a word names: a date for "deadline", a sum for "cost", a bound."""
    if unit.group in ("due", "date"):
        return any(f.sure and f.unit in ("date", "weekday") for f in figures(text))
    if unit.group == "money":
        return any(f.sure and f.unit in _CURRENCIES for f in figures(text))
    if unit.group == "limit":
        return any(bound.figure is not None for bound in limits(text))
    return False


@lru_cache(maxsize=4096)
def _normal(text: str) -> tuple[str, frozenset[str]]:
    folded = normal(text)
    words = re.findall(r"[a-z0-9][a-z0-9'+#-]*", folded)
    parts = {p for w in words for p in (w, *re.split(r"[^a-z0-9]+", w)) if p}
    return folded, frozenset(stem(w) if w.isalpha() else w for w in parts)


def _holds(form: str, folded: str, stems: frozenset[str], *, whole: bool = False) -> bool:
    if not form.isascii():
        return stands(form, folded) if whole else form in folded
    if " " in form:
        return form in folded
    return form in stems


def answers(query: Query, text: str, people: bool) -> bool:
    """Whether a text holds the kind of thing that is asked for: a day or time, a person, an amount.

    `people`: it names somebody. True where the question asks for none of these.
    """
    asked = query.question
    found = [f for f in figures(text) if f.sure]
    if HOW_MUCH.search(asked):
        if _MONEY.search(asked):
            return any(f.unit in _CURRENCIES or (f.unit == "" and f.raw >= 100) for f in found)
        if _PEOPLE.search(asked):
            return any(f.unit in ("人", "people", "") for f in found)
        return any(not f.is_date for f in found)
    if WHEN.search(asked):
        return any(f.is_date or f.unit in ("time", "min", "month") for f in found)
    if WHO.search(asked):
        return people
    return True

"""Whether the passages that an answer cites bear out what it says (pure; the rules are `guard.rules_citing`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bot.meeting.bearing import about, bears
from bot.meeting.borrowed import news_of_question, speakers_as_doers, turned_back
from bot.meeting.citing import Passage, canonical
from bot.meeting.claims import Claim, tells
from bot.meeting.figures import Figure, figures, unborne
from bot.meeting.model import EntryKind
from bot.meeting.names import entry_numbers, named, people, unknown_names
from bot.meeting.polarity import sentences
from bot.meeting.synonyms import Synonyms
from bot.meeting.terms import stem, terms
from bot.meeting.text import fold_kana, squeeze

# More than this share of a claim's content terms the cited passages (or the question) must hold.
SHARE = 0.75
_KATAKANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}
# Whom or what a Japanese sentence speaks of; words with a capital in an English one.
_SUBJECT = re.compile(
    r"(?P<n>[\u3400-\u4dbf\u4e00-\u9fff々]{2,8}|[\u30a1-\u30f6ー]{2,20})(?:さん|様|氏|君)?(?:が|は(?!じ))"
)
_PARTS = re.compile(r",(?!\d)|[、。;；:：]|\b(?:and|but|while|whereas|because|so|then)\b", re.I)
_ASKS = re.compile(r"[?？]\W*$|(?:ですか|ますか|でしょうか)[。\s]*$")
_LATIN = re.compile(r"[a-z0-9][a-z0-9'-]*")
_CAPITAL = re.compile(r"\b[A-Z][A-Za-z]+\b")
_AGAINST = re.compile(r"\b(?:decided|voted|ruled|resolved) against\b", re.I)
_MONTHS = frozenset(("january", "february", "march", "april", "june", "july", "august", "september"))
_MONTHS |= {"october", "november", "december"}
_LINK = re.compile(r"https?://[^\s)>\]」』]+|\]\(|<(?:@|#|/)|\bdiscord\.gg/\S+", re.I)


@dataclass(frozen=True)
class Judge:
    """What claims are held against. `pattern`: the word list guard.<name> of the answer's language."""

    passages: Mapping[str, Passage]
    question: str
    pattern: Callable[[str], re.Pattern[str]]
    synonyms: Synonyms

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple({n for p in self.passages.values() for n in (p.who, p.owner) if n})

    def canonical(self, text: str) -> str:
        return canonical(text, tuple(self.passages.values()))

    def of(self, claim: Claim) -> list[Passage]:
        return [self.passages[n] for n in claim.cites if n in self.passages]

    def says(self, name: str, text: str) -> bool:
        return self.pattern(name).search(fold_kana(text)) is not None


# ------------------------------------------------------------------ without a citation


def is_unsaid(claim: Claim, judge: Judge) -> bool:
    """A sentence that says the record does not say, or offers what stands nearest, and adds nothing."""
    if not tells(claim.text) and not judge.says("record_claim", claim.text):
        return not judge.says("yes_no", claim.text)
    if not judge.says("not_recorded", claim.text) or judge.says("general", claim.text):
        return False
    known = [judge.question, *(p.held for p in judge.passages.values())]
    if unborne(claim.text, [f for k in known for f in figures(k)]):
        return False
    if unknown_names(claim.text, judge.names, known):
        return False
    return _share(without(judge.pattern("not_recorded"), claim.text), known, judge) > SHARE


def claims_record(claim: Claim, judge: Judge) -> bool:
    """Whether free talk states what only the record can hold, or speaks of what passages were found about. How a
    mark is written is no such statement, nor is a question."""
    text = claim.text
    if entry_numbers(text):
        return True
    if is_unsaid(claim, judge):
        return False
    figured = any(f.sure and not _small(f) for f in figures(text))
    common = judge.pattern("not_names")
    named_people = any(not common.fullmatch(fold_kana(name)) for name in people(text))
    if figured or named_people or named(text, judge.names):
        return True
    if judge.says("mark_quoted", text):
        return False
    return judge.says("record_claim", text) or _speaks_of_passages(text, judge)


def _speaks_of_passages(text: str, judge: Judge) -> bool:
    if _ASKS.search(text):
        return False
    held = (p.text for p in judge.passages.values())
    return bool(terms(without(judge.pattern("framing"), text)) & terms("\n".join(held)))


def foreign_links(text: str, judge: Judge) -> list[str]:
    """Links and mentions that stand in no passage: only code makes links."""
    held = "\n".join(p.held for p in judge.passages.values())
    return [m.group() for m in _LINK.finditer(text) if m.group() == "](" or m.group() not in held]


# ------------------------------------------------------------------ beside a citation


# "There is no cap: there is no cap": two negations of one thing would pass for none.
_TWICE = re.compile(r"(\S[^:：]{4,}?)\s*[:：]\s*\1(?!\w)", re.I)


def disagreement(claim: Claim, judge: Judge) -> str | None:
    """Figures, dates, names, polarity and bounds that the cited passages do not bear out, as one word list."""
    cited = judge.of(claim)
    if not cited:
        return None
    if judge.says("yes_no", claim.text):  # what is meant depends on how it was asked: nobody can check it
        return claim.text
    held = _held(claim, judge)
    wrong = _wrong_figures(claim.text, cited, held) + _wrong_names(claim.text, cited, held, judge)
    if wrong:
        return ", ".join(dict.fromkeys(wrong))
    if (doers := speakers_as_doers(claim.text, cited)) and not judge.says("attributes", claim.text):
        return ", ".join(doers)
    said = _TWICE.sub(r"\1", _AGAINST.sub("not", _bare_of_standing(claim.text, cited, judge)))
    sources = about(
        said, _sources(cited, was=judge.says("standing_gone", claim.text)), lambda text: _known([text], judge)
    )
    reasons = [bears(said, source) for source in sources]
    return None if None in reasons else _first(reasons)


def _held(claim: Claim, judge: Judge) -> list[str]:
    """What the cited passages hold; what they held before only for a claim that speaks of before."""
    gone = judge.says("standing_gone", claim.text)
    return [p.held if gone else p.now for p in judge.of(claim)]


def folded(text: str) -> str:
    """As the patterns of the word lists read a text."""
    return fold_kana(text)


def without(pattern: re.Pattern[str], text: str) -> str:
    """`text` without what a pattern of the word lists finds, its katakana and case left alone."""
    folded = text.lower().translate(_KATAKANA)
    if len(folded) != len(text):
        return pattern.sub(" ", folded)
    for m in reversed(list(pattern.finditer(folded))):
        text = f"{text[: m.start()]} {text[m.end() :]}"
    return text


def _bare_of_standing(text: str, cited: Sequence[Passage], judge: Judge) -> str:
    """Without words on how the passage stands ("not confirmed yet"), where it does stand so."""
    if all(p.status in ("", "live", "confirmed", "done", "answered") and not p.against for p in cited):
        return text
    return without(judge.pattern("standing"), text)


def _wrong_figures(text: str, cited: Sequence[Passage], held: Sequence[str]) -> list[str]:
    """Figures and entry numbers that the passages lack; the day a passage was written on may be told."""
    days = [f"{p.at:%Y-%m-%d}" for p in cited]
    numbers = {p.number for p in cited if p.number is not None}
    borne = [f for t in (*held, *days, *map(str, numbers)) for f in figures(t)]
    wrong = [f.written for f in unborne(text, borne) if not _small(f)]
    return wrong + [f"#{n}" for n in entry_numbers(text) if n not in numbers and not _in(f"#{n}", cited)]


def _wrong_names(text: str, cited: Sequence[Passage], held: Sequence[str], judge: Judge) -> list[str]:
    """People, subjects of sentences and capitalised words that neither passages nor question hold."""
    known = [n for p in cited for n in (p.who, p.owner) if n]
    wrong = unknown_names(text, known, held)
    wrong += [n for n in named(text, judge.names) if not _in(n, cited)]
    record = [*held, judge.question]
    told = squeeze("\n".join(record))
    wrong += [
        m["n"]
        for m in _SUBJECT.finditer(without(judge.pattern("framing"), text))
        if squeeze(m["n"]) not in told and not terms(m["n"]) <= _known(record, judge)
    ]
    stems = {stem(w) for w in _LATIN.findall("\n".join(record).lower())} | _known(record, judge)
    for m in _CAPITAL.finditer(without(judge.pattern("standing"), without(judge.pattern("framing"), text))):
        word = m.group().lower()
        if (
            stem(word) not in stems
            and (terms(word) or word in _MONTHS)
            and not judge.says("plain_words", word)
        ):
            wrong.append(m.group())
    return wrong


def _small(figure: Figure) -> bool:
    """Counting what lies before everyone claims nothing."""
    return figure.unit == "" and figure.raw in (1.0, 2.0, 3.0)


def _sources(cited: Sequence[Passage], *, was: bool) -> Iterable[str]:
    """Wordings that a claim may agree with: each passage whole, sentence by sentence, with its answers, all."""
    for p in cited:
        for text in (p.text, *p.more, *(p.was if was else ())):
            told = f"not: {text}" if p.against else text
            yield told
            if len(parts := sentences(text)) > 1:
                yield from parts
        yield "\n".join((p.text, *p.more))
    if len(cited) > 1:
        yield "\n".join(f"not: {p.text}" if p.against else "\n".join((p.text, *p.more)) for p in cited)


def _first(reasons: Iterable[str | None]) -> str | None:
    return next((r for r in reasons if r), None)


def _in(text: str, cited: Iterable[Passage]) -> bool:
    return squeeze(text) in squeeze("\n".join(p.held for p in cited))


def unheld(claim: Claim, judge: Judge) -> str | None:
    """The claim's terms that cited passages and question lack, where they are too many: general knowledge
    dressed as the record."""
    cited = judge.of(claim)
    if not cited:
        return None
    if judge.says("general", claim.text) and not any(judge.says("general", p.held) for p in cited):
        return claim.text
    passages = _held(claim, judge)
    held = [judge.question, *passages]
    told = _bare_of_standing(claim.text, cited, judge)
    if _share(told, held, judge) <= SHARE:
        return ", ".join(sorted(terms(told) - _known(held, judge)))
    if (mixed := _mixed(told, passages, judge)) is not None:
        return mixed
    if judge.says("not_recorded", claim.text):
        return None
    told = without(judge.pattern("framing"), told)
    return ", ".join(news_of_question(told, passages, judge.question, lambda t: _known(t, judge))) or None


def _mixed(told: str, passages: Sequence[str], judge: Judge) -> str | None:
    """A part of a claim on several passages that none of them holds by itself: its words are put together out of
    both, and make a third thing."""
    if len(passages) < 2:
        return None
    known = [{_single(t) for t in _known([passage], judge)} for passage in passages]
    every = frozenset().union(*known)
    for part in _PARTS.split(told):
        mine = {_single(t) for t in terms(without(judge.pattern("framing"), part))} & every
        if mine and all(len(mine & one) <= SHARE * len(mine) for one in known):
            return part.strip()
    return None


def _share(text: str, held: Sequence[str], judge: Judge) -> float:
    mine = {_single(t) for t in terms(without(judge.pattern("framing"), text))}
    return len(mine & {_single(t) for t in _known(held, judge)}) / len(mine) if mine else 1.0


def _single(term: str) -> str:
    """stopped and stop, shipping and ship: one term."""
    return term[:-1] if len(term) > 3 and term[-1] == term[-2] and term.isascii() else term


def _known(held: Sequence[str], judge: Judge) -> frozenset[str]:
    found = terms("\n".join(held))
    return found | judge.synonyms.alike(found)


def misstanding(claim: Claim, judge: Judge) -> str | None:
    """A standing that the claim passes over: replaced, retracted, unconfirmed, open, only proposed."""
    cited = judge.of(claim)
    decides = judge.says("decides", claim.text) and not judge.says("decides_not", claim.text)
    if cited and decides:
        settled = [p for p in cited if p.kind != "message" or judge.says("decides", p.text)]
        if not settled and not judge.says("decides", judge.question):
            return f"[{cited[0].cite}] message"
    if back := turned_back(claim.text, cited):
        return ", ".join(back)
    for p in cited:
        if p.kind != "entry":
            continue
        if not p.stands and not judge.says("standing_gone", claim.text):
            return f"[{p.cite}] {p.status}"
        unconfirmed = p.entry_kind is EntryKind.DECISION and p.status == "unconfirmed"
        if unconfirmed and not judge.says("standing_unconfirmed", claim.text):
            return f"[{p.cite}] unconfirmed"
        if p.status == "open" and (decides or not judge.says("standing_open", claim.text)):
            return f"[{p.cite}] open"
    return None

"""Rules that hold an answer to the passages it cites: nothing is said that the record does not bear out.

An answer is read in claims: the words before a citation, and what stands without any. Pure but for
`citing_rules`, which takes the language's lexicon.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date

from bot.guard import rules_record
from bot.guard.lexicons import lexicon_of, synonyms
from bot.guard.model import Candidate, Remedy, Rule, Strength
from bot.guard.wording import Lexicon
from bot.meeting import support
from bot.meeting.citing import Passage, cites, without_cites
from bot.meeting.claims import Claim, claims
from bot.meeting.figures import Figure
from bot.meeting.model import Language
from bot.meeting.names import entry_numbers
from bot.meeting.support import Judge

Check = Callable[[Claim, Judge], str | None]


def citing_rules(
    passages: Sequence[Passage], language: Language, *, strict: bool, question: str = ""
) -> tuple[Rule, ...]:
    """Every rule of an answer from `passages`.

    `strict`: every sentence cites or says that the record does not say (ask, hand_off). Else (chat) a sentence
    without a citation may hold no figure, date, name or entry number and claim nothing of the record.
    `question`: its words may come back in the answer.
    """
    lexicon = lexicon_of(language)
    judge = judge_of(passages, question, lexicon)
    return (
        cites_exist(judge, lexicon),
        cites_each(judge, lexicon, strict=strict),
        cited_agrees(judge, lexicon),
        cited_holds(judge, lexicon),
        cited_stands(judge, lexicon),
    )


def judge_of(passages: Sequence[Passage], question: str, lexicon: Lexicon) -> Judge:
    return Judge({p.cite: p for p in passages}, question, lexicon.pattern, synonyms())


def cites_exist(judge: Judge, lexicon: Lexicon) -> Rule:
    """Every cited number is a passage's, and the answer holds no link of its own."""

    def check(candidate: Candidate) -> str | None:
        text = judge.canonical(candidate.text)
        unknown = [f"[{n}]" for n in cites(text) if n not in judge.passages]
        unknown += support.foreign_links(text, judge)
        return lexicon.reason("cites_exist", found=", ".join(unknown)) if unknown else None

    return _must("cites_exist", check)


def cites_each(judge: Judge, lexicon: Lexicon, *, strict: bool) -> Rule:
    def check(candidate: Candidate) -> str | None:
        for claim in claims(judge.canonical(candidate.text)):
            if claim.cites:
                continue
            bare = not support.is_unsaid(claim, judge) if strict else support.claims_record(claim, judge)
            if bare:
                return lexicon.reason("cites_each", text=_short(claim.text))
        return None

    return _must("cites_each", check)


def cited_agrees(judge: Judge, lexicon: Lexicon) -> Rule:
    return _each("cited_agrees", support.disagreement, judge, lexicon)


def cited_holds(judge: Judge, lexicon: Lexicon) -> Rule:
    return _each("cited_holds", support.unheld, judge, lexicon)


def cited_stands(judge: Judge, lexicon: Lexicon) -> Rule:
    return _each("cited_stands", support.misstanding, judge, lexicon)


def no_unknown_record(
    passages: Sequence[Passage],
    question: str,
    allowed: Iterable[Figure | float | date],
    names: Sequence[str],
    lexicon: Lexicon,
) -> Rule:
    """The record's rule for an answer: what it rests on are its passages and the words of the question."""
    texts = [*(p.held for p in passages), question, *(f"{p.at:%Y-%m-%d}" for p in passages)]
    numbers = {p.number for p in passages if p.number is not None} | set(entry_numbers("\n".join(texts)))
    whole = rules_record.no_unknown_record(lambda: texts, allowed, names, numbers, lexicon)

    def check(candidate: Candidate) -> str | None:
        return whole.check(replace(candidate, text=without_cites(candidate.text)))

    return replace(whole, check=check)


def _each(name: str, find: Check, judge: Judge, lexicon: Lexicon) -> Rule:
    """A rule over each claim that cites; `find` names what is wrong."""

    def check(candidate: Candidate) -> str | None:
        for claim in claims(judge.canonical(candidate.text)):
            found = find(claim, judge)
            if found is not None:
                return lexicon.reason(name, text=_short(claim.text), found=found)
        return None

    return _must(name, check)


def _must(name: str, check: Callable[[Candidate], str | None]) -> Rule:
    return Rule(name, Strength.MUST, Remedy.REPHRASE, check)


def _short(text: str) -> str:
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= 120 else f"{line[:119]}…"

"""Rules for what an AI participant of a panel says: something new, in its own voice, deciding for nobody. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from bot.guard.model import Candidate, Remedy, Rule, Strength
from bot.guard.similarity import repeats
from bot.guard.wording import Lexicon, plain
from bot.meeting.figures import figures, unborne
from bot.meeting.names import entry_numbers
from bot.meeting.replies import closing_wish
from bot.meeting.terms import terms
from bot.meeting.text import squeeze
from bot.meeting.words import Words

CHARACTERS = 900  # of one turn: three of them fit on a screen
# Of what a sentence says was decided, this share must stand in one decision or constraint of the ledger.
_BORNE_SHARE = 0.6
_LETTERS_SHARE = 0.7  # or of its letter pairs, where it holds few terms
_SENTENCES = re.compile(r"[^。！？!?\n]+?(?:[。！？!?]+|\.(?=\s|$)|\n|$)")
_ORNAMENT = re.compile(r"^\W+")
_NAME_AS_LINE = r"[^\w\n]*{name}[^\w\n]{{0,3}}(?:[:：]|$)"


@dataclass(frozen=True, slots=True)
class PanelFacts:
    """What the rules may know of a panel. `voices`: everybody a panelist is not (members, other roles, the bot's two
    personas); `recent`: the panel's own posts, oldest first; `held`: texts of live decisions and constraints."""

    voices: tuple[str, ...] = ()
    recent: tuple[str, ...] = ()
    held: Callable[[], Sequence[str]] = tuple


def brings_something_new(recent: Sequence[str], lexicon: Lexicon) -> Rule:
    """Not what the panel has said already, whoever of it said it."""

    def check(candidate: Candidate) -> str | None:
        said = {squeeze(text) for text in recent}
        again = (
            squeeze(candidate.text) in said or repeats(candidate.text, recent, lexicon.language) is not None
        )
        return lexicon.reason("brings_something_new") if again else None

    return Rule("brings_something_new", Strength.MUST, Remedy.REPHRASE, check)


def own_voice(voices: Sequence[str], lexicon: Lexicon) -> Rule:
    """No line in somebody else's name, be it the facilitator, another role or a member of the server."""
    bare = {_ORNAMENT.sub("", plain(voice)).strip() for voice in voices}
    names = sorted(bare - {""}, key=len, reverse=True)
    patterns = [re.compile(_NAME_AS_LINE.format(name=re.escape(name)), re.M) for name in names]

    def check(candidate: Candidate) -> str | None:
        text = plain(candidate.text)
        found = [n for n, p in zip(names, patterns, strict=True) if any(p.match(s) for s in text.split("\n"))]
        if not found and not lexicon.pattern("panel_poses").search(text):
            return None
        return lexicon.reason("own_voice", found=", ".join(found[:3]) or "-")

    return Rule("own_voice", Strength.MUST, Remedy.REPHRASE, check)


def ends_nothing(words: Sequence[Words], lexicon: Lexicon) -> Rule:
    """Only people end a meeting: a panelist neither wishes for it nor announces it."""

    def check(candidate: Candidate) -> str | None:
        wishes = any(closing_wish(candidate.text, w) is not None for w in words)
        ends = wishes or lexicon.pattern("panel_ends").search(plain(candidate.text))
        return lexicon.reason("ends_nothing") if ends else None

    return Rule("ends_nothing", Strength.MUST, Remedy.REPHRASE, check)


def decides_nothing_unheld(
    held: Callable[[], Sequence[str]], numbers: Collection[int], lexicon: Lexicon
) -> Rule:
    """A panelist may argue with any figure, but what it says was decided must stand in the ledger."""

    def check(candidate: Candidate) -> str | None:
        unknown = [f"#{n}" for n in entry_numbers(candidate.text) if n not in numbers]
        claims = [s for s in claimed(candidate.text, lexicon) if not _borne(s, held(), lexicon)]
        if not unknown and not claims:
            return None
        return lexicon.reason(
            "decides_nothing_unheld", found=", ".join([*unknown, *(c[:60] for c in claims)])
        )

    return Rule("decides_nothing_unheld", Strength.MUST, Remedy.REPHRASE, check)


def claimed(text: str, lexicon: Lexicon) -> list[str]:
    """Sentences that say something was decided; asking, wishing and supposing are none, nor is a line that is a mark
    (it is recorded as the panel's, unconfirmed)."""
    claims, doubts, marks = (lexicon.pattern(f"panel_{name}") for name in ("claims", "doubts", "marks"))
    found = []
    for sentence in _SENTENCES.findall(text):
        read = plain(sentence)
        if claims.search(read) and not doubts.search(read) and not marks.match(read):
            found.append(sentence.strip())
    return found


def _borne(sentence: str, held: Sequence[str], lexicon: Lexicon) -> bool:
    """Most of what the sentence claims stands in one text of the ledger, every figure of it included."""
    claim = lexicon.pattern("panel_claims").sub("", plain(sentence))
    about, letters = terms(sentence), _pairs(claim)
    for text in held:
        if unborne(sentence, figures(text)):
            continue
        shared = about and len(about & terms(text)) >= _BORNE_SHARE * len(about)
        if shared or (letters and len(letters & _pairs(plain(text))) >= _LETTERS_SHARE * len(letters)):
            return True
    return False


def _pairs(text: str) -> set[str]:
    bare = re.sub(r"[\W_]+", "", text)
    return {bare[i : i + 2] for i in range(len(bare) - 1)}


def calls_nobody_official(calls: Callable[[str], bool], lexicon: Lexicon) -> Rule:
    """The assistant answers people; a panelist's question to it would meet silence."""

    def check(candidate: Candidate) -> str | None:
        return lexicon.reason("calls_nobody_official") if calls(candidate.text) else None

    return Rule("calls_nobody_official", Strength.MUST, Remedy.REPHRASE, check)

"""What a claim takes from where it may not: its news from the question, its doer from who wrote the passage down,
what holds now from what held before (pure; used by `support`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from bot.meeting.citing import Passage
from bot.meeting.figures import Figure, figures, supports, unborne
from bot.meeting.model import EntryKind
from bot.meeting.names import named
from bot.meeting.terms import terms
from bot.meeting.text import is_japanese, squeeze

_FIRST_PERSON = re.compile(
    r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine)\b|私(?!た)|僕(?!ら|た)|俺(?!ら|た)|わたし(?!た)|ぼく(?!ら|た)|自分"
)
_DOER = re.compile(r"[\u3400-\u9fff々\u30a1-\u30f6ーA-Za-z](?:さん|氏|様)?が")
_SOURCE = re.compile(r"[(（][^()（）]{1,40}[)）]")  # whose words a quotation is
_BECOMES = re.compile(
    r"\b(?:chang|revis|replac|rais|lower|updat|amend|supersed|correct)\w*\b[^.;,]{0,24}?\b(?:to|by|with|into)\b(?P<en>(?:[^.;,]|[.,](?=\d))*)"
    r"|(?P<ja>(?:[^、。,]|,(?=\d)){1,30})(?:に|へ)(?:変更|改め|差し替え|置き換え|修正|変わ|引き上げ|引き下げ)",
    re.I,
)


def news_of_question(
    claim: str, passages: Collection[str], question: str, known: Callable[[Sequence[str]], Collection[str]]
) -> list[str]:
    """Terms that only the question holds, where they outweigh what the passages add to it.

    Whoever asks may use other words than the record; but an answer made of these alone repeats the question and
    cites a passage that says something else.
    """
    mine, asked, held = terms(claim), set(terms(question)), set(known([*passages]))
    borrowed = {term for term in mine & asked if term not in held}
    if not borrowed:
        return []
    told: list[Figure] = [f for text in passages for f in figures(text)]
    already = figures(question)
    new = [
        f
        for f in figures(claim)
        if f.sure and any(supports(t, f) for t in told) and not any(supports(a, f) for a in already)
    ]
    added = len((mine & held) - asked) + 2 * len(new)
    return sorted(borrowed) if len(borrowed) >= added else []


def speakers_as_doers(claim: str, cited: Sequence[Passage]) -> list[str]:
    """People named in a claim who only wrote or recorded what it cites, in words that are not about themselves."""
    about = squeeze("\n".join(_words(p) for p in cited))
    themselves = [p.who for p in cited if p.who and _of_themselves(p)]
    names = [p.who for p in cited if p.who and squeeze(p.who) not in about and p.who not in themselves]
    return named(_SOURCE.sub(" ", claim), names)


def _words(p: Passage) -> str:
    return "\n".join((p.text, *p.more, *p.was, p.owner, p.replaced_by))


def _of_themselves(p: Passage) -> bool:
    """Whether the writer may be who does it: "I will", or Japanese that leaves the doer out."""
    if _FIRST_PERSON.search(p.text):
        return True
    spoken = p.kind == "message" or (p.entry_kind is EntryKind.ACTION and not p.owner)
    return spoken and (p.entry_kind is EntryKind.ACTION or is_japanese(p.text)) and not _DOER.search(p.text)


def turned_back(claim: str, cited: Sequence[Passage]) -> list[str]:
    """Figures that a claim says it was changed to, though they are what it was changed from."""
    if all(p.stands and not p.was for p in cited):
        return []
    holds = [f for p in cited for f in figures(p.now if p.stands else p.replaced_by)]
    return [f.written for m in _BECOMES.finditer(claim) for f in unborne(m["en"] or m["ja"] or "", holds)]

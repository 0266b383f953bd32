"""Reading an answer as claims: the words before a citation, and what stands without any (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from bot.meeting.citing import CITATION, cites, without_cites
from bot.meeting.figures import figures
from bot.meeting.names import people
from bot.meeting.terms import terms

_EACH = re.compile(r"(?<=[。！？!?\n])|(?<=[.])(?=\s)")
_CITED_START = re.compile(rf"^(?:\s*{CITATION}[。.、,;；]?)+")
_CITED = re.compile(CITATION)
_ORNAMENT = " \t*_>・•-–—0123456789.)）(（:：、,;；。"
_QUOTED = re.compile(
    r"「[^「」\n]*(?:「[^「」\n]*」[^「」\n]*)*」|『[^』\n]*』|“[^”\n]*”|\"[^\"\n]*\"|`[^`\n]*`"
)


@dataclass(frozen=True, slots=True)
class Claim:
    """`text` without its citations, and the numbers it cites."""

    text: str
    cites: tuple[str, ...]


def claims(text: str) -> list[Claim]:
    """The claims of an answer in order. What stands after the last citation of a sentence is one of its own,
    unless it is but an ending ("です", "とのことです"); a line that ends in a colon belongs to what it
    introduces."""
    found: list[Claim] = []
    head = ""
    for sentence in _sentences(text):
        if without_cites(sentence).rstrip(" *_\n").endswith((":", "：")) and not cites(sentence):
            head = sentence.rstrip("\n") + " "
            continue
        found += _of_sentence(head + sentence)
        head = ""
    return found + _of_sentence(head)


def _sentences(text: str) -> list[str]:
    """Sentences with the citations that follow their full stop; a quotation is never cut."""
    parts: list[str] = []
    for part in _split(text):
        m = _CITED_START.match(part)
        if m and parts:
            parts[-1] = parts[-1].rstrip("\n") + m.group()
            part = part[m.end() :]
        if part.strip(_ORNAMENT + "\n"):
            parts.append(part)
    return parts


def _split(text: str) -> list[str]:
    quoted = [m.span() for m in _QUOTED.finditer(text)]
    ends = [m.end() for m in _EACH.finditer(text)]
    cuts = [0, *(e for e in ends if not any(a < e < b for a, b in quoted)), len(text)]
    return [text[a:b] for a, b in pairwise(cuts) if a < b]


def _of_sentence(sentence: str) -> list[Claim]:
    found: list[Claim] = []
    start, end = 0, 0
    numbers: list[str] = []
    for m in _CITED.finditer(sentence):
        said = sentence[end : m.start()]
        if numbers and said.strip(_ORNAMENT):  # something between two citations: the first claim is over
            found.append(Claim(_tidy(sentence[start:end]), tuple(numbers)))
            start, numbers = end, []
        numbers += cites(m.group())
        end = m.end()
    tail = sentence[end:]
    if numbers:
        text, rest = _tidy(sentence[start:end]), tail.strip(_ORNAMENT + "\n")
        if rest and not tells(tail):
            text, rest = _tidy(sentence[start:]), ""
        found.append(Claim(text, tuple(numbers)))
        return [*found, Claim(_tidy(rest), ())] if rest else found
    rest = _tidy(tail)
    return [Claim(rest, ())] if rest.strip(_ORNAMENT) else []


def _tidy(text: str) -> str:
    return re.sub(r"\s+", " ", without_cites(text)).strip(" \t・•*>-–—、,")


def tells(text: str) -> bool:
    """Whether words say anything of their own: with content terms, figures or people."""
    return bool(terms(text) or any(f.sure for f in figures(text)) or people(text))

"""The answer that no model writes: the best passages, verbatim and cited, or that the record does not say.

What a text says of its status ("unconfirmed", "replaced") stands beside it always. Pure: `say` gives the words
around (table `cite` of the phrase book).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from bot.meeting import retrieving
from bot.meeting.citing import ABOUT_MEETING, LISTED, Passage, without_cites
from bot.meeting.display import one_line, shorten
from bot.meeting.model import EntryKind
from bot.meeting.names import people
from bot.meeting.polarity import sentences
from bot.meeting.retrieving import Query

Say = Callable[..., str]  # (key, **values) -> text
SHOWN, NEAR_SHOWN = 4, 3
LONGEST = 320  # characters of a text that is quoted whole
BUDGET = 1500  # characters of an answer, before its links


def quoted(passages: Sequence[Passage], query: Query, say: Say) -> tuple[str, tuple[str, ...]]:
    """(text, the numbers it cites). Passages come best first; a score of `RELEVANT` speaks of the matter."""
    if listed := [p for p in passages if p.score >= LISTED]:
        return _told(say("cite.found"), listed, query, say, len(listed))
    fit = [p for p in passages if p.score >= retrieving.RELEVANT]
    holding = [p for p in fit if retrieving.answers(query, p.held, bool(p.owner or p.who or people(p.text)))]
    if holding:
        return _told(say("cite.found"), _current(holding), query, say, SHOWN)
    if not passages:
        return say("cite.not_said"), ()
    head = f"{say('cite.not_exactly' if fit else 'cite.not_said')}\n{say('cite.nearest')}"
    return _told(head, fit or passages, query, say, NEAR_SHOWN)


def _current(found: Sequence[Passage]) -> list[Passage]:
    """What holds; what no longer does only where nothing recorded holds instead."""
    if any(p.stands and p.kind == "entry" for p in found):
        return [p for p in found if p.stands]
    return sorted(found, key=lambda p: not p.stands)


def _told(
    head: str, found: Sequence[Passage], query: Query, say: Say, most: int
) -> tuple[str, tuple[str, ...]]:
    lines, left = [head], BUDGET - len(head)
    cited: list[str] = []
    for p in found[:most]:
        told = line(p, query, say)
        left -= len(told) + 1
        if left < 0 and cited:
            break
        lines.append(told)
        cited.append(p.cite)
    if left < 0:
        lines.append(say("cite.more", count=len(found[:most]) - len(cited)))
    return "\n".join(lines), tuple(cited)


def line(p: Passage, query: Query, say: Say) -> str:
    """One passage as a line of an answer."""
    parts = details(p, say)
    return say(
        "cite.line",
        name=_name(p, say),
        text=excerpt(p.text, query),
        details=say("cite.details", parts=say("cite.joiner").join(parts)) if parts else "",
        cite=p.cite,
    )


def _name(p: Passage, say: Say) -> str:
    if p.entry_kind is not None:
        return say(f"cite.kind.{p.entry_kind.value}")
    return say("cite.meeting" if p.ref == ABOUT_MEETING else f"cite.{p.kind}")


def details(p: Passage, say: Say) -> list[str]:
    parts = [say("cite.against")] if p.against and p.entry_kind is EntryKind.DECISION else []
    if p.status == "replaced" and p.replaced_by:
        parts.append(say("cite.replaced_by", now=one_line(p.replaced_by)))
    elif p.status in ("replaced", "retracted", "unconfirmed", "open"):
        parts.append(say(f"cite.{p.status}"))
    elif p.status == "answered" and p.more:
        parts.append(say("cite.answered", text=shorten(harmless(p.more[-1]), 120)))
    if p.owner:
        parts.append(say("cite.owner", name=harmless(p.owner)))
    elif p.entry_kind is EntryKind.ACTION:
        parts.append(say("cite.no_owner"))
    if p.due:
        parts.append(say("cite.due", day=harmless(p.due)))
    by = p.who and p.entry_kind is not EntryKind.ACTION
    return [*parts, *([harmless(p.who)] if by else [])]


def excerpt(text: str, query: Query) -> str:
    """The text whole, or of a long one the sentences that hold most of the question and what follows them."""
    text = harmless(text)
    if len(text) <= LONGEST:
        return text
    parts = sentences(text)
    scores = retrieving.score(query, parts)
    best = max(range(len(parts)), key=lambda i: (scores[i], i)) if parts else 0
    kept = parts[best] if parts else text
    for part in parts[best + 1 :]:
        if len(kept) + len(part) > LONGEST:
            break
        kept = f"{kept} {part}"
    cut = kept if best == 0 else f"… {kept}"
    return shorten(cut, LONGEST)


def harmless(text: str) -> str:
    """One line in which nothing cites, links or calls anybody."""
    line = one_line(without_cites(text)).replace("](", "] (")
    line = re.sub(r"[@＠](?=everyone|here)", "", line, flags=re.I)
    line = re.sub(r"discord(?=\.gg|\.com/invite|app\.com/invite)", "discord ", line, flags=re.I)
    return re.sub(r"<(?=[@#:/])", "‹", line).replace("“", '"').replace("”", '"').strip()

"""Proof that a minutes.md holds everything of its document (`ketsugi verify`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.meeting.display import display, literal, one_line
from bot.minutes.render import NAME, TITLE, Part, entry_head, prose, vote_line

_SECTIONS = (
    "constraints",
    "decisions",
    "questions",
    "actions",
    "proposals",
    "decided_proposals",
    "answered_questions",
    "notes",
    "replaced",
    "withdrawn",
)


def covers(document: Part, text: str) -> list[str]:
    """What of the document the text lacks, as labels ("decisions #12", "actions #3: owner"); [] = complete.

    Independent of the language: it looks for every entry with its number and, in that entry's own part of the
    text, for who, owner, due date, link, positions, answers, votes and the entries it conflicts with.
    """
    lacking = [label for label, fragment in _loose(document) if fragment not in text]
    for section in _SECTIONS:
        for part in document[section]:
            label = f"{section} #{part['number']}"
            tries: list[list[str]] = [
                [f"{label}: {name}" for name, fragment in _details(part) if not _stands(fragment, block)]
                for block in _blocks(text, entry_head(part))
            ]
            fewest: list[str] = min(tries, key=len, default=[label])
            lacking += fewest
    return lacking


def _stands(fragment: str, block: str) -> bool:
    """True where the block holds it, and not merely the beginning of a longer number."""
    return re.search(re.escape(fragment) + r"(?!\d)", block) is not None


def _blocks(text: str, head: str) -> Iterator[str]:
    """What follows each occurrence of the head, up to the next entry or section (prose may repeat a head)."""
    start = text.find(head)
    while start >= 0:
        start += len(head)
        ends = (text.find(mark, start) for mark in ("\n- **#", "\n\n## "))
        yield text[start : min((end for end in ends if end >= 0), default=len(text))]
        start = text.find(head, start)


def _loose(document: Part) -> Iterator[tuple[str, str]]:
    """Everything that is no ledger entry."""
    meeting, made = document["meeting"], document["made"]
    yield "title", display(meeting["title"], TITLE)
    yield "chair", display(meeting["chair"], NAME)
    if document["summary"]:
        yield "summary", prose(document["summary"])
    for item in document["agenda"]:
        yield f"agenda: {one_line(item['title'])}", literal(one_line(item["title"]))
        if item["text"]:
            yield f"agenda: {one_line(item['title'])}: text", prose(item["text"])
    for person in document["attendance"]:
        yield f"attendance: {one_line(person['name'])}", f"- {display(person['name'], NAME)}"
    if made["ledger_digest"]:
        yield "ledger digest", made["ledger_digest"]


def _details(part: Part) -> Iterator[tuple[str, str]]:
    """What must stand with an entry, as (name, fragment)."""
    if part["who"]:
        yield "who", display(part["who"], NAME)
    for name in ("owner", "due"):
        if part.get(name):
            yield name, display(part[name], NAME)
    if part["link"]:
        yield "link", part["link"]
    for position in part.get("positions", ()):
        yield "position", literal(one_line(position))
    for said in (*part.get("answers", ()), *part.get("objections", ())):
        yield f"#{said['number']}", f"#{said['number']} {literal(one_line(said['text']))}"
    for vote in part.get("votes", ()):
        yield "vote", vote_line(vote)
    for said in part.get("repeated", ()):
        yield f"repeated as #{said['number']}", f"#{said['number']}"
    for number in part.get("conflicts_with", ()):
        yield f"conflict with #{number}", f"#{number}"

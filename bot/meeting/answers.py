"""Whether a message answers a question (the exits of SPEC 3's unanswered question).

Measured on tests/meeting/data/answers.jsonl, a third of it held out; test_replies.py has the figures.
"""

from __future__ import annotations

import re

from bot.meeting.replies import addressed, holds_any, is_only, questions_in
from bot.meeting.text import fold, strip_invisible
from bot.meeting.words import Words

_TO_SOMEBODY = re.compile(r"^\s*(?:<@[!&]?\d+>|[@＠]\s?[^\s@＠]{1,32})")
_TERM = re.compile(r"[一-龠々]{2,}|[ァ-ヺー]{2,}|[a-z][a-z0-9-]{3,}|[a-z](?=案|プラン|社)")
_FIGURE = re.compile(r"\d")
_NAME_ANSWER = re.compile(
    r"(?:[一-龠々]{1,5}|[ァ-ヺー]{2,10}|[a-z]{2,15})(?:さん|くん|氏|様)|[一-龠々]{2,4}(?:が|で$|です)"
    r"|^[一-龠々]{2,4}[。!]?$"
)
_PROPER = re.compile(
    r"^[A-Z][a-z]+(?:\s+(?:and|or|can|will|should|could)\b.*|[.!]?)$|\b(?:let|ask|with) [A-Z][a-z]+"
)
# Greetings and the like are sorted out before; one word to "who?" is a name.
_ONE_WORD = re.compile(r"[a-z]{2,15}[.!]?")
# A choice offered in the question: "A案", "option B".
_CHOICE = re.compile(r"(?<![a-z0-9])[a-z](?![a-z0-9])")
_LONG = 25


def is_answer(
    question: str, message: str, words: Words, *, is_reply: bool = False, reaction: bool = False
) -> bool:
    """True where `message` answers `question`, in either polarity and any form.

    `is_reply`: it was written as a reply to the post that asked; `reaction`: `message` is an emoji put on it.
    Both are answers. A question back about something else, a greeting, an aside about one's own moment and
    words to somebody else are none.
    """
    folded = fold(message)
    if not folded:
        return False
    if reaction or is_reply:
        return True
    if _TO_SOMEBODY.match(strip_invisible(message)) and addressed(message, words) is None:
        return False
    if is_only(message, words, ("replies.yes", "replies.no", "replies.nothing_more"), ("replies.beside",)):
        return True
    if is_only(message, words, ("replies.greetings", "replies.thanks", "replies.acks"), ("replies.beside",)):
        return False
    kind = _kind(question, words)
    if _gives(kind, question, message, folded, words):
        return not _asks_back(message, folded, words)
    if holds_any(folded, words, "replies.asides") or holds_any(folded, words, "replies.greetings"):
        return False
    if _asks_back(message, folded, words):
        return False
    if holds_any(folded, words, "replies.undecided") or _opens_with_stance(folded, words):
        return True
    if _shares_topic(question, folded):
        return True
    # An open question is answered by whatever is said of the matter; one for a name, date or figure is not.
    return kind == "open" and any(c.isalnum() for c in folded)


def _kind(question: str, words: Words) -> str:
    folded = fold(question)
    for kind in ("who", "when", "figure"):
        if holds_any(folded, words, f"replies.ask_{kind}"):
            return kind
    return "choice" if len(set(_CHOICE.findall(folded)) - {"a", "i"} | _options(folded)) > 1 else "open"


def _options(folded: str) -> set[str]:
    """Letters offered to choose from, "a" too where another letter stands beside it."""
    letters = set(_CHOICE.findall(folded))
    return letters if letters & set("bcde") else set()


def _gives(kind: str, question: str, message: str, folded: str, words: Words) -> bool:
    """What was asked for stands in the message: a name, a date, a figure, one of the choices."""
    if kind == "who":
        named = _NAME_ANSWER.search(folded) or _PROPER.search(message.strip()) or _ONE_WORD.fullmatch(folded)
        volunteered = holds_any(folded, words, "replies.self")
        return bool(named or volunteered) and not holds_any(folded, words, "replies.asides")
    if kind == "when":
        dated = _FIGURE.search(folded) or holds_any(folded, words, "replies.dates")
        return bool(dated) and not holds_any(folded, words, "replies.asides")
    if kind == "figure":
        given = _FIGURE.search(folded) or holds_any(folded, words, "replies.figures")
        return bool(given) and not holds_any(folded, words, "replies.asides")
    if kind == "choice":
        letters = set(_CHOICE.findall(folded)) - {"i"}
        return bool(letters - {"a"} or letters & _options(fold(question))) or holds_any(
            folded, words, "replies.choices"
        )
    return False


def _asks_back(message: str, folded: str, words: Words) -> bool:
    return bool(questions_in(message)) and not holds_any(folded, words, "replies.suggestions")


def _opens_with_stance(folded: str, words: Words) -> bool:
    """ "はい、ただ ...", "no, because ...": a yes or no in front of more words."""
    first = re.split(r"[、。,.!\s]", folded, maxsplit=1)[0]
    whole = (*words["replies.yes"], *words["replies.no"], *words["replies.nothing_more"])
    starts = tuple(w for w in whole if len(w) > 1 and not w.isascii())
    return first in whole or folded.startswith(starts)


def _shares_topic(question: str, folded: str) -> bool:
    return bool(set(_TERM.findall(fold(question))) & set(_TERM.findall(folded)))

"""Finding the item that somebody means, by number, by words or as their last act; counting votes."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from bot.meeting.model import Entry, EntryKind, Item, LedgerView, Origin
from bot.meeting.text import fold, is_japanese

# An entry's number and nothing else: "3", "#3", "No. 3", "決定3", "decision 3", "3番"; not "上限は4件".
_NAMED_NUMBER = re.compile(
    r"(?:decision|proposal|action|question|note|entry|item|constraint|number|no\.?"
    r"|決定|合意|提案|宿題|論点|未決|制約|前提|議題|メモ|番号|項目|第)?\s*#?\s*(\d{1,4})\s*(?:番|号)?[.。]?"
)
_LATIN = re.compile(r"[a-z0-9.]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# In 1.5, 1〜2, 10:30: without it another figure stands there.
_BETWEEN_FIGURES = re.compile(r"((?<=\d)\W+(?=\d))")
_NEAR = 0.8


class Tally(NamedTuple):
    """Votes of one proposal: heads in favour, neutral, against; the sum of the values (fractions count)."""

    in_favour: int
    neutral: int
    against: int
    balance: float


def votes_summary(item: Item) -> Tally:
    values = [vote.value for vote in item.votes]
    return Tally(
        sum(value > 0 for value in values),
        sum(value == 0 for value in values),
        sum(value < 0 for value in values),
        round(sum(values), 6),
    )


def target(view: LedgerView, meant: str | int) -> Item | None:
    """The item that a number (any of its chain; "3", "#3", "決定3") or words mean; None where unclear.

    By words only live items count: the same wording first, then the one item that holds the words, then
    the one that is clearly the most alike.
    """
    if isinstance(meant, int):
        return _by_number(view, meant)
    number = named_number(meant)
    if number is not None:
        return _by_number(view, number)
    key = _bare(meant)
    live = [item for item in view.items if item.live]
    if len(key) < 2:
        return None
    same = [item for item in live if _bare(item.text) == key]
    if same:
        return same[-1]
    holding = [item for item in live if len(key) >= 3 and key in _bare(item.text)]
    if holding:
        return holding[0] if len(holding) == 1 else None
    ranked = sorted(((likeness(item.text, meant), item) for item in live), key=lambda pair: -pair[0])
    if not ranked or ranked[0][0] < 0.5 or (len(ranked) > 1 and ranked[0][0] - ranked[1][0] < 0.1):
        return None
    return ranked[0][1]


def named_number(words: str) -> int | None:
    """The entry number that the words are, and nothing else, or None."""
    match = _NAMED_NUMBER.fullmatch(fold(words))
    return int(match[1]) if match else None


def undo_target(view: LedgerView, author_id: int) -> Entry | None:
    """The entry that this author's #undo takes back: the last one made by an act of theirs that still counts.

    A retraction that names its number undoes exactly it: a vote alone, or a whole item. Revisions are passed
    over, since retracting one by number means its item.
    """
    taken_back = {e.refers_to for e in view.entries if e.kind is EntryKind.RETRACTION}
    for entry in reversed(view.entries):
        if entry.author_id != author_id or not entry.origin.by_person or entry.number in taken_back:
            continue
        if entry.kind in (EntryKind.RETRACTION, EntryKind.REVISION):
            continue
        item = view.item(entry.number)
        if item is None or item.live:
            return entry
    return None


def offered(view: LedgerView, number: int) -> Entry | None:
    """The panel's answer or rewording of that number, where no person has confirmed it yet: it waits for one."""
    confirmed = {e.refers_to for e in view.entries if e.kind is EntryKind.CONFIRMATION and e.origin.by_person}
    for entry in view.entries:
        if entry.number == number and entry.origin is Origin.PANEL and number not in confirmed:
            return entry if entry.kind in (EntryKind.ANSWER, EntryKind.REVISION) else None
    return None


def proposal_named(view: LedgerView, label: int | None) -> Item | None:
    """The open proposal a vote means: labelled so ("PROPOSAL 2:"), else numbered so; None: the newest.

    A bare "+1" after the newest one was decided agrees with that; it is no vote on an older one left open.
    """
    opened = view.open_proposals
    if label is None:
        newest = max(view.of(EntryKind.PROPOSAL), key=lambda item: item.original.number, default=None)
        return newest if newest is not None and newest.status == "open" else None
    for item in reversed(opened):
        head = re.match(r"\D{0,20}?(\d{1,3})\s*:", fold(item.original.quote))
        if head and int(head[1]) == label:
            return item
    named = view.item(label)
    return named if named in opened else None


def same_words(one: str, other: str) -> bool:
    """The same wording, apart from width, case, white space and punctuation; no words are like no others."""
    bare = _bare(one)
    return bool(bare) and bare == _bare(other)


def holds_words(text: str, words: str) -> bool:
    """Whether `words` stand somewhere in `text`, read as `same_words` reads them."""
    return bool(words) and _bare(words) in _bare(text)


def nearly(one: str, other: str) -> bool:
    """Nearly the same wording with the same figures (and, in Japanese, the same Latin words)."""
    if same_words(one, other):
        return True
    pattern = _LATIN if is_japanese(one) or is_japanese(other) else re.compile(r"\d+")
    if Counter(pattern.findall(fold(one))) != Counter(pattern.findall(fold(other))):
        return False
    return likeness(one, other) >= _NEAR


def likeness(one: str, other: str) -> float:
    """Jaccard coefficient of character bigrams, 0..1."""
    first, second = _bigrams(one), _bigrams(other)
    together = len(first | second)
    return len(first & second) / together if together else 0.0


def _bigrams(text: str) -> set[str]:
    bare = _bare(text)
    return {bare[i : i + 2] for i in range(len(bare) - 1)} or ({bare} if bare else set())


@lru_cache(
    maxsize=4096
)  # a fold compares every decision with every other one: 29 s of 30 in a meeting of 120
def _bare(text: str) -> str:
    """Letters, figures and symbols with a meaning of their own (+ - % < >), without punctuation and spaces.

    What stands between two figures stays, but for the comma of thousands. A text of nothing else keeps what it
    has, so that two emojis are not one wording.
    """
    folded = _THOUSANDS.sub("", fold(text)).replace("〜", "~")
    parts = _BETWEEN_FIGURES.split(folded)
    kept = [part.replace(" ", "") or " " if n % 2 else _letters(part) for n, part in enumerate(parts)]
    return "".join(kept) or folded


def _letters(text: str) -> str:
    return "".join(c for c in text if c in "+-%<>@" or not unicodedata.category(c).startswith(("P", "Z")))


def _by_number(view: LedgerView, number: int) -> Item | None:
    """The item of entry `number`, following answers, votes and the like to what they are about."""
    by_number = {entry.number: entry for entry in view.entries}
    seen: set[int] = set()
    while number not in seen:
        seen.add(number)
        item = view.item(number)
        if item is not None:
            return item
        entry = by_number.get(number)
        if entry is None or entry.refers_to is None:
            return None
        number = entry.refers_to
    return None

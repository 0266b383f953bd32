"""Explicit marks in a message (SPEC 2.4), recognised without a model, in every language at once."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.meeting.lookup import named_number
from bot.meeting.model import EntryKind
from bot.meeting.owners import find_owner
from bot.meeting.text import fold, strip_invisible
from bot.meeting.words import Words

_KINDS = {
    "decision": EntryKind.DECISION,
    "proposal": EntryKind.PROPOSAL,
    "question": EntryKind.QUESTION,
    "action": EntryKind.ACTION,
    "constraint": EntryKind.CONSTRAINT,
    "retraction": EntryKind.RETRACTION,
    "note": EntryKind.NOTE,
    "topic": EntryKind.TOPIC,
    "tag_decision": EntryKind.DECISION,
    "tag_rejected": EntryKind.DECISION,
    "tag_action": EntryKind.ACTION,
    "tag_note": EntryKind.NOTE,
    "tag_topic": EntryKind.TOPIC,
    "tag_undo": EntryKind.RETRACTION,
}
# List bullets, headings, check boxes, emphasis and pictographs that people put before a mark. A quote (">")
# is not among them: quoting somebody's mark is no second mark.
_LEAD = re.compile(
    r"(?:\s|[-*+]\s+|[•‣◦・●○■□◆◇▶►→※]|#{1,3}\s+|\d{1,2}[.)]\s+|[①-⑳]|\[[ xX✓]?\]\s*"
    r"|\*\*|__|[\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?)*"
)
_EMPHASIS = re.compile(r"[*_]{0,3}")
_LABEL = re.compile(r"\s*(?:[-#]|no\.?|第)?\s*(\d{1,3})(?:\s*番)?", re.IGNORECASE)
_COLON = re.compile(r"[*_]{0,3}\s*:(?!//|:)[*_]{0,3}\s*")
_TAG_END = re.compile(r"[*_]{0,3}(?:\s*:(?!//|:)|(?=\s)|$)[*_]{0,3}\s*")
_SIGNED = re.compile(r"(?P<value>[+-](?:1(?:\.0+)?|0(?:\.\d+)?|\.\d+))(?P<rest>.*)", re.DOTALL)
_ZERO = re.compile(r"0(?P<rest>\s*[.!。]?)$")
_ENTRY_FIRST = re.compile(r"#\s?(\d{1,4})(?!\d)\s*(?:[に:、,へ]|は|には)?\s*")
_ENTRY_AFTER = re.compile(r"[\s、,:]*(?:(?:on|for|to)\s+)?#\s?(\d{1,4})(?!\d)[\s、,.:。]*")
_ZERO_ON = re.compile(r"0\s*(#\s?\d{1,4}(?!\d).*)", re.DOTALL)
_AFTER_SIGNED = re.compile(r"$|\.(?!\d)|#\s?\d|[\s,;!:()。、…・]|[\u2600-\u27bf\U0001f300-\U0001faff]")
_CORRECTION = re.compile(
    r"s(?P<bar>[/|#])(?P<old>(?:(?!(?P=bar)).)+)(?P=bar)(?P<new>(?:(?!(?P=bar)).)*)(?P=bar)?(?P<tail>.*)"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark as typed. `text` is the whole wording after it, `quote` its line, both verbatim and trimmed.

    `line` counts from 0 within the message, `part` from 0 within the line (a line may hold several numbered
    votes). `number`: the label of a proposal ("PROPOSAL 2:" gives 2), the label a vote names, or the entry that a
    retraction or, with `by_entry`, a vote names ("+1 #4"). `value`: a vote's -1..+1; -1.0 for a decision against.
    `undo`: the author's last entry is meant.
    """

    kind: EntryKind
    text: str
    quote: str
    line: int
    owner: str | None = None
    value: float | None = None
    number: int | None = None
    undo: bool = False
    part: int = 0
    by_entry: bool = False

    @property
    def place(self) -> str:
        """Where in the message the mark stands, unique within it: for `NewEntry.source_key`."""
        return f"{self.line}.{self.part}" if self.part else str(self.line)


class _Line:
    """A line beside its folded form, with the way back from folded to verbatim positions."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        folded: list[str] = []
        self._at: list[int] = []
        for index, char in enumerate(raw):
            for part in unicodedata.normalize("NFKC", strip_invisible(char)).casefold():
                folded.append("-" if part in "\u2212\u2010\u2013" else part)
                self._at.append(index)
        self.folded = "".join(folded)

    def verbatim(self, start: int, stop: int | None = None) -> str:
        if start >= len(self._at):
            return ""
        end = self._at[stop] if stop is not None and stop < len(self._at) else len(self.raw)
        return self.raw[self._at[start] : end].strip()


def find(text: str, books: Sequence[Words], names: Sequence[str] = ()) -> list[Mark]:
    """All marks of one message, in order. `books`: words of every language; `names`: known participants."""
    found: list[Mark] = []
    for number, raw in _own_lines(text):
        line = _Line(raw)
        marks = _numbered_votes(line, number, books) or [
            m for m in (_mark(line, number, books, names) or _vote_line(line, number, books),) if m
        ]
        found.extend(marks)
    return found


def correction(text: str) -> tuple[str, str] | None:
    """A scribe's `s/old/new/` as the whole line, words after it allowed: (old, new), else None."""
    line = text.strip()
    match = _CORRECTION.fullmatch(line)
    if match is None or "\n" in line or match["old"] == match["new"]:
        return None
    closed = len(match["old"]) + len(match["new"]) + 4 <= len(line)
    tail = match["tail"]
    # "s/a/b/c/d" is a path, "s/a/b/ really" and "s/a/b/g" are corrections.
    if match["bar"] in tail or (tail and not closed) or re.match(r"\w{3,}", tail):
        return None
    return match["old"], match["new"]


def vote_value(text: str, books: Sequence[Words]) -> tuple[float, str] | None:
    """(-1..+1, the words beside it) where the whole of `text` is one vote, else None."""
    line = _Line(text.strip())
    return _vote(line, books)


def _own_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines the author wrote as talk: no code blocks, no quotes (Discord's `>>>` quotes all that follows)."""
    fenced = False
    for number, raw in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")):
        bare = strip_invisible(raw).lstrip()
        fences = bare.count("```")
        if fences:
            fenced = fenced != (fences % 2 == 1)
            continue
        if fenced:
            continue
        if bare.startswith(">>>"):
            return
        if not bare.startswith((">", "＞")):
            yield number, raw


def _mark(line: _Line, number: int, books: Sequence[Words], names: Sequence[str]) -> Mark | None:
    lead = _LEAD.match(line.folded)
    start = lead.end() if lead else 0
    for group, word in _vocabulary(books):
        if not line.folded.startswith(word, start):
            continue
        head = _head(line.folded, start + len(word), tagged=group.startswith("tag_"))
        if head is None:
            continue
        end, label = head
        return _build(line, number, group, word, end, label, books, names)
    return None


def _vocabulary(books: Sequence[Words]) -> list[tuple[str, str]]:
    """(group, word), longer words first, so that a word is not taken for the start of another."""
    pairs = {(group, word) for book in books for group in _KINDS for word in book[f"marks.{group}"]}
    return sorted(pairs, key=lambda pair: (-len(pair[1]), pair))


def _head(folded: str, end: int, *, tagged: bool) -> tuple[int, int | None] | None:
    """Where the wording starts after a mark word ending at `end`, and the label; None where it is no mark."""
    if tagged:
        tag = _TAG_END.match(folded, end)
        return (tag.end(), None) if tag else None
    colon = _COLON.match(folded, end)
    if colon:
        return colon.end(), None
    label = _LABEL.match(folded, end)
    colon = _COLON.match(folded, label.end()) if label else None
    return (colon.end(), int(label[1])) if label and colon else None


def _build(
    line: _Line,
    number: int,
    group: str,
    word: str,
    end: int,
    label: int | None,
    books: Sequence[Words],
    names: Sequence[str],
) -> Mark | None:
    kind, wording = _KINDS[group], _trim_emphasis(line.raw, line.verbatim(end))
    quote = line.raw.strip()
    if group == "tag_undo":
        return Mark(kind, wording, quote, number, undo=True)
    if not any(c.isalnum() or unicodedata.category(c) == "So" for c in wording) or _says_nothing(
        wording, books
    ):
        return None
    mark = Mark(kind, wording, quote, number, number=label)
    if kind is EntryKind.PROPOSAL:
        vote = vote_value(wording, books)
        if vote:
            return replace(mark, kind=EntryKind.VOTE, value=vote[0], text=vote[1])
    if kind is EntryKind.ACTION:
        leads = any(word in book["owners.marks"] for book in books)
        return replace(mark, owner=find_owner(wording, books, names, leads=leads))
    if kind is EntryKind.RETRACTION:
        return replace(mark, number=named_number(wording))
    return replace(mark, value=-1.0) if group == "tag_rejected" else mark


def _trim_emphasis(raw: str, wording: str) -> str:
    """`**Decision: x**` reads x: the closing half of an emphasis that opened before the mark goes with it."""
    for sign in ("**", "__"):
        if wording.endswith(sign) and wording.count(sign) % 2 and raw.count(sign) % 2 == 0:
            wording = wording[: -len(sign)].rstrip()
    return wording


def _says_nothing(wording: str, books: Sequence[Words]) -> bool:
    bare = fold(wording).strip(" .。!()")
    return any(bare in book["marks.nothing"] for book in books)


def _numbered_votes(line: _Line, number: int, books: Sequence[Words]) -> list[Mark]:
    """Votes on several numbered proposals in one line: "PROPOSAL 1: +1, PROPOSAL 2: -1"."""
    words = sorted({w for book in books for w in book["marks.proposal"]}, key=len, reverse=True)
    pattern = re.compile(rf"(?:{'|'.join(map(re.escape, words))})\s*#?(\d{{1,3}})\s*:\s*")
    heads = list(pattern.finditer(line.folded))
    lead = _LEAD.match(line.folded)
    if len(heads) < 2 or lead is None or heads[0].start() != lead.end():
        return []
    marks: list[Mark] = []
    for part, head in enumerate(heads):
        stop = heads[part + 1].start() if part + 1 < len(heads) else len(line.folded)
        vote = vote_value(line.verbatim(head.end(), stop).rstrip(" ,;、。，；"), books)
        if vote is None:
            return []
        marks.append(
            Mark(
                EntryKind.VOTE,
                vote[1],
                line.raw.strip(),
                number,
                value=vote[0],
                number=int(head[1]),
                part=part,
            )
        )
    return marks


def _vote_line(line: _Line, number: int, books: Sequence[Words]) -> Mark | None:
    first = _ENTRY_FIRST.match(line.folded.strip())
    if first is not None:
        vote = vote_value(_Line(line.raw.strip()).verbatim(first.end()), books)
        return _vote_on(line, number, vote, int(first[1])) if vote else None
    vote = _vote(line, books)
    if vote is None:
        return None
    value, wording = vote
    named_entry = _Line(wording)
    after = _ENTRY_AFTER.match(named_entry.folded)
    if after is not None:
        vote = value, _words_beside(named_entry, after.end(), books)
        return _vote_on(line, number, vote, int(after[1]))
    labels = "|".join(re.escape(w) for book in books for w in book["marks.proposal"])
    named = re.search(rf"(?:{labels})\s*#?(\d{{1,3}})(?!\d)", fold(wording))
    return Mark(
        EntryKind.VOTE,
        wording,
        line.raw.strip(),
        number,
        value=value,
        number=int(named[1]) if named else None,
    )


def _vote_on(line: _Line, number: int, vote: tuple[float, str], entry: int) -> Mark:
    """A vote on the entry of that number: "+1 #4", "#4 に賛成"."""
    value, wording = vote
    return Mark(EntryKind.VOTE, wording, line.raw.strip(), number, value=value, number=entry, by_entry=True)


def _vote(line: _Line, books: Sequence[Words]) -> tuple[float, str] | None:
    folded = line.folded.strip()
    skipped = len(line.folded) - len(line.folded.lstrip())
    if _ZERO.match(folded):
        return 0.0, ""
    zero = _ZERO_ON.match(folded)
    if zero:
        return 0.0, line.verbatim(skipped + zero.start(1))
    signed = _SIGNED.match(folded)
    if signed:
        rest = signed["rest"]
        if not _AFTER_SIGNED.match(rest) or _counts_something(rest, books):
            return None
        return float(signed["value"]), _words_beside(line, skipped + signed.start("rest"), books)
    for name, value in (("for", 1.0), ("against", -1.0), ("neutral", 0.0)):
        for book in books:
            for word in book[f"votes.{name}"]:
                if folded.startswith(word) and _stands_alone(folded[len(word) :], book):
                    return value, _words_beside(line, skipped + len(word), books)
    return None


def _words_beside(line: _Line, start: int, books: Sequence[Words]) -> str:
    """What was said with the vote, without the ending that makes a sentence of it (賛成です、理由は…)."""
    endings = "|".join(
        re.escape(e)
        for e in sorted((e for book in books for e in book["votes.endings"]), key=len, reverse=True)
    )
    said = line.verbatim(start)
    if endings:
        said = re.sub(rf"^(?:{endings})(?=$|[\s、。,.!！，…])", "", said)
    return re.sub(r"^(?:[\s,.;、。!！，；]+|[:：]\s+)+", "", said)


def _counts_something(rest: str, books: Sequence[Words]) -> bool:
    """ "+1 dB", "+1 555 0100" and "+1 = 2" are figures, not votes."""
    following = re.match(r"\s+(\S+)", rest)
    if following is None:
        return False
    token = following[1].strip(".,;!")
    return (
        token[:1].isdigit()
        or token in ("=", "+", "-", "*", "/", "==", "<", ">")
        or any(token in book["votes.units"] for book in books)
    )


def _stands_alone(rest: str, book: Words) -> bool:
    """True where a vote word is a vote: alone, before punctuation or politely ended; no tally or question."""
    endings = sorted(book["votes.endings"], key=len, reverse=True)
    suffix = "|".join(map(re.escape, endings))
    match = re.match(
        rf"(?:{suffix})?(?P<after>$|[\s、。,.!…(☆♪ー〜~][\s\S]*|#\s?\d[\s\S]*|が、[\s\S]*)", rest
    )
    if match is None:
        return False
    after = match["after"].strip(" 、。,.!…ー〜~")
    if re.match(r"\d", after) or re.match(r"[^。.!]{0,4}\?", after):
        return False
    others = [w for name in ("for", "against", "neutral") for w in book[f"votes.{name}"]]
    return not after.startswith(tuple(others))

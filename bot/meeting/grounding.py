"""From what a model believes to what the ledger may hold (SPEC 2.5).

A claim counts only if its quote stands in one message that a person of this meeting wrote. Whatever the
model made of
the words, numbers, bounds, negation and owner are those of the sentence the quote stands in; where the
model's text
says otherwise, the sentence itself is recorded.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from zoneinfo import ZoneInfo

from bot.meeting import dates, speech
from bot.meeting.model import EntryKind, LedgerView, Message, NewEntry, Origin
from bot.meeting.names import named, people
from bot.meeting.polarity import agree, negations
from bot.meeting.sameness import find_same
from bot.meeting.terms import terms
from bot.meeting.text import fold, squeeze, strip_invisible

MIN_QUOTE = 4  # folded characters, unless the quote is the whole message
CONTEXT = 8  # messages before the quote's own that may supply what "that" and "it" stand for
# Below this share of its terms in the context a text is about something else, whatever its quote.
MIN_SHARED = 0.34

_KINDS = (
    "proposal",
    "decision",
    "question",
    "action",
    "note",
    "answer",
    "revision",
    "retraction",
    "constraint",
)
_OLDER = (EntryKind.REVISION, EntryKind.RETRACTION, EntryKind.ANSWER)


@dataclass(frozen=True, slots=True)
class Claim:
    """One entry as the model proposes it (the fields of `EntryOut`)."""

    kind: str
    text: str
    quote: str
    owner: str | None = None
    due: str | None = None
    refers_to: int | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a claim is no entry, in one word for records: "kind", "quote_short", "quote_missing",
    "quoted_words"
    (another's words, in a quote or code block), "already_read", "order" (a sentence that orders the bot to
    record),
    "target" (nothing there to revise, retract or answer), "cue" (a retraction whose words retract nothing),
    "same" (the ledger holds it already)."""

    reason: str


_CODE = re.compile(r"```.*?(?:```|\Z)", re.S)
_QUOTED_LINE_ONE = re.compile(r"^[ \t]*>(?!>>)[^\n]*", re.M)
_QUOTED_REST = re.compile(r"^[ \t]*>>>.*\Z", re.M | re.S)


def own_words(text: str) -> str:
    """The message without what its author quotes: block quotes and code blocks are blanked, offsets kept."""
    for pattern in (_CODE, _QUOTED_REST, _QUOTED_LINE_ONE):
        text = pattern.sub(lambda m: re.sub(r"[^\n]", "\0", m.group()), text)
    return text


def _squeezed(text: str) -> tuple[str, list[int]]:
    """`squeeze`, with the offset in `text` of each of its characters."""
    out: list[str] = []
    back: list[int] = []
    for cluster in re.finditer(r"(?s).[\u3099\u309aﾞﾟ\u0300-\u036f]*", text):
        for c in squeeze(cluster.group()) if cluster.group() != "\0" else "\0":
            out.append(c)
            back.append(cluster.start())
    back.append(len(text))
    return "".join(out), back


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """Where `quote` stands in `text`, whatever width, case and spacing; None where it does not (or is too
    short)."""
    wanted, (held, back) = _squeezed(quote)[0], _squeezed(text)
    if not wanted or (len(wanted) < MIN_QUOTE and wanted != held):
        return None
    at = held.find(wanted)
    if at < 0:
        return None
    end = at + len(wanted)
    return back[at], back[end] if end < len(back) - 1 else len(text)


_SENTENCE_END = re.compile(r"[。！？!?\n\0]+|\.(?=\s|$)")


def sentence_around(text: str, start: int, end: int) -> str:
    """The whole sentences that the span lies in; a line that ends in a colon belongs to what it
    introduces."""
    ends = [
        m.end() for m in _SENTENCE_END.finditer(text) if not re.search(r"[:：]\s*$", text[: m.start() + 1])
    ]
    left = max((e for e in ends if e <= start), default=0)
    right = min((e for e in ends if e >= end), default=len(text))
    return text[left:right].replace("\0", "").strip()


def _find(
    claim: Claim, messages: Sequence[Message], cursor: int, late: Collection[int], kind: EntryKind
) -> tuple[int, str, str] | Rejected:
    """(index of the message, quote as written, its sentence), the newest unread message first."""
    reason = "quote_short" if len(squeeze(claim.quote)) < MIN_QUOTE else "quote_missing"
    for index in sorted(range(len(messages)), key=lambda i: messages[i].message_id, reverse=True):
        message = messages[index]
        if message.deleted_at is not None or not message.author_name.strip():
            continue
        mine = own_words(message.text)
        span = locate(claim.quote, mine)
        if span is None:
            if locate(claim.quote, message.text) is not None:
                reason = "quoted_words"
            continue
        if message.message_id <= cursor and message.message_id not in late and kind not in _OLDER:
            reason = "already_read" if reason != "quoted_words" else reason
            continue
        quote = strip_invisible(message.text[span[0] : span[1]]).strip()
        return index, quote, strip_invisible(sentence_around(mine, *span))
    return Rejected(reason)


def _ordered(sentence: str, index: int, messages: Sequence[Message]) -> bool:
    """Whether the words are, or follow, an order to the bot; an order may be split over two messages of one
    author."""
    message = messages[index]
    text = fold(message.text)
    if speech.OVERRIDE.search(text) or speech.ORDER.search(fold(sentence)):
        return True
    earlier = [m for m in messages if m.message_id < message.message_id]
    before = max(earlier, key=lambda m: m.message_id, default=None)
    if before is None or before.author_id != message.author_id:
        return False
    last = fold(before.text)
    return bool(
        speech.OVERRIDE.search(last) or (speech.ORDER.search(last) and last.endswith((":", "、", ",")))
    )


def _kind(claim: Claim, sentence: str) -> EntryKind:
    """The claim's kind, lowered where the words only propose, ask or leave open."""
    kind = EntryKind(claim.kind)
    if kind not in (EntryKind.DECISION, EntryKind.CONSTRAINT, EntryKind.REVISION):
        return kind
    folded = fold(sentence)
    if speech.UNDECIDED.search(folded):
        return EntryKind.QUESTION
    asks = folded.endswith("?")
    if speech.PROPOSES.search(folded) and (asks or not speech.DECIDES.search(folded)):
        return EntryKind.PROPOSAL
    return kind


# "Maya sends the contract": who does it, where nobody said that name.
_SUBJECT = re.compile(r"(?P<n>[A-Z][a-z]+) (?:[a-z]+s|will|would|can|could|should|shall|has|is|to)\b")


def _text(
    claim: Claim,
    sentence: str,
    index: int,
    messages: Sequence[Message],
    known: Sequence[str],
    view: LedgerView,
) -> str:
    text = re.sub(r"\s+", " ", strip_invisible(claim.text)).strip()
    if not text:
        return sentence
    message = messages[index]
    if (taken := _taken_on(claim, sentence, view)) is not None:
        return taken
    # "I" is the author; who speaks only of others has not named himself.
    himself = not named(sentence, known) or speech.FIRST_PERSON.search(fold(sentence))
    said_by = f"{sentence}\n{message.author_name if himself else ''}"
    if agree(text, sentence) is not None or agree(text, said_by, known) == "owner":
        return sentence
    if any(squeeze(p) not in squeeze(said_by) and p not in known for p in people(text)):
        return sentence
    owner = squeeze((claim.owner or "").lstrip("@＠"))
    if owner and owner in squeeze(text) and owner not in squeeze(said_by):
        return sentence
    context = [m.text for m in _before(index, messages)] + [message.text, *(i.text for i in view.items)]
    subject = _SUBJECT.match(text)
    if subject and squeeze(subject["n"]) not in squeeze("\n".join([said_by, *context])):
        return sentence
    about = terms(text)
    if not about and squeeze(text) not in squeeze(sentence):
        return sentence
    if about and len(about & terms("\n".join(context))) / len(about) < MIN_SHARED:
        return sentence
    return text


def _taken_on(claim: Claim, sentence: str, view: LedgerView) -> str | None:
    """The action's own text where the claim gives it to somebody by words that hold nothing else ("I'll take
    it"): they say who does it, what is to be done stays as it was."""
    item = view.item(claim.refers_to) if claim.refers_to is not None else None
    if (
        claim.kind != EntryKind.REVISION
        or item is None
        or item.kind is not EntryKind.ACTION
        or not claim.owner
    ):
        return None
    rest, found = speech.TAKES_ON.subn(" ", fold(sentence))
    return item.text if found and not terms(speech.COURTESY.sub(" ", rest)) else None


def _before(index: int, messages: Sequence[Message]) -> list[Message]:
    message = messages[index]
    earlier = sorted((m for m in messages if m.message_id < message.message_id), key=lambda m: m.message_id)
    answered = [m for m in messages if m.message_id == message.reply_to]
    return earlier[-CONTEXT:] + answered


def _owner(
    claim: Claim, sentence: str, index: int, messages: Sequence[Message], known: Sequence[str]
) -> str | None:
    """The owner the words bear out: named in the sentence, or the author who speaks of himself."""
    if not claim.owner or not claim.owner.strip():
        return None
    owner = strip_invisible(claim.owner).strip().lstrip("@＠")
    message = messages[index]
    here = named(sentence, known)
    if here:
        if any(_same_person(owner, h) for h in here):
            return owner
        if not (speech.FIRST_PERSON.search(fold(sentence)) and _same_person(owner, message.author_name)):
            return here[0] if len(here) == 1 else None
    if _same_person(owner, message.author_name):
        return message.author_name
    if squeeze(owner) in squeeze(message.text):
        return owner
    if speech.TAKES_IT.search(fold(sentence)):
        return message.author_name
    if speech.FIRST_PERSON.search(fold(sentence)) or not any(_same_person(owner, k) for k in known):
        return None
    around = "\n".join(f"{m.author_name}\n{m.text}" for m in _before(index, messages))
    return owner if squeeze(owner) in squeeze(around) else None


def _same_person(a: str, b: str) -> bool:
    x, y = squeeze(a), squeeze(b)
    x, y = (re.sub(r"(?:さん|様|氏|くん|君|-san)$", "", n) for n in (x, y))
    return bool(x and y) and (x == y or x in y or y in x)


def resolve_due(due: str | None, sentence: str, message: Message, timezone: str, language: str) -> str | None:
    """ISO date of a due date as the words bear it out, or the words where they name no day; None where none
    was said."""
    if not due or not due.strip():
        return None
    today: date = message.at.astimezone(ZoneInfo(timezone)).date()
    due = strip_invisible(due).strip()
    found = dates.resolve(sentence, today, language) or dates.resolve(message.text, today, language)
    if found is not None:
        own = dates.resolve(due, today, language)
        return (own if own is not None and squeeze(due) in squeeze(message.text) else found).isoformat()
    return due if squeeze(due) in squeeze(message.text) else None


def ground(
    proposed: Claim,
    messages: Sequence[Message],
    known_names: Iterable[str],
    *,
    cursor: int,
    view: LedgerView,
    language: str,
    timezone: str = "UTC",
    late: Collection[int] = (),
) -> NewEntry | Rejected:
    """The entry that `proposed` may become, or why it becomes none.

    `messages`: of this meeting, by people, in any order, older ones for context included. `cursor`: id of
    the last
    message read before; only revisions, retractions and answers may rest on older ones, and anything on those
    that came in `late` (ids). `timezone` (IANA)
    settles
    which day "tomorrow" was said on.
    """
    if proposed.kind not in _KINDS:
        return Rejected("kind")
    found = _find(proposed, messages, cursor, late, EntryKind(proposed.kind))
    if isinstance(found, Rejected):
        return found
    index, quote, sentence = found
    message, known = messages[index], list(known_names)
    if _ordered(sentence, index, messages):
        return Rejected("order")
    kind = _kind(proposed, sentence)
    refers_to = _target(kind, proposed.refers_to, view)
    if kind in _OLDER and refers_to is None:
        return Rejected("target")
    if kind is EntryKind.RETRACTION and not (speech.RETRACTS.search(fold(sentence)) or negations(sentence)):
        return Rejected("cue")
    if message.message_id <= cursor and message.message_id not in late and kind not in _OLDER:
        return Rejected("already_read")
    text = _text(proposed, sentence, index, messages, known, view)
    if kind not in (*_OLDER, EntryKind.NOTE) and find_same(view, kind, text) is not None:
        return Rejected("same")
    key = hashlib.sha256(f"{squeeze(quote)}|{refers_to}".encode()).hexdigest()[:12]
    return NewEntry(
        kind=kind,
        text=text,
        source_key=f"g:{message.message_id}:{kind.value}:{key}",
        origin=Origin.MODEL,
        author_id=message.author_id,
        author_name=message.author_name,
        quote=quote,
        message_id=message.message_id,
        refers_to=refers_to,
        owner=_owner(proposed, sentence, index, messages, known),
        due=resolve_due(proposed.due, sentence, message, timezone, language),
    )


def _target(kind: EntryKind, number: int | None, view: LedgerView) -> int | None:
    """The entry a revision, retraction or answer may name: one that is live, for an answer a question."""
    item = view.item(number) if number is not None else None
    if item is None or not item.live or (kind is EntryKind.ANSWER and item.kind is not EntryKind.QUESTION):
        return None
    return number

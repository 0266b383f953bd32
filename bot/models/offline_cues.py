"""Ledger entries by cue words, for the engine without a model.

Conservative by design: what is missed can be marked by a person, what is invented has to be struck out by
one. So a sentence counts only if it holds a cue and nothing that takes it back (a question, a condition,
"maybe", "last time"); a mere call ("let's go with ...") counts only from the chair or once somebody agreed
and nobody objected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from bot.meeting import marks, replies
from bot.meeting.model import LANGUAGES, Entry, EntryKind, Message, Origin, Scene
from bot.meeting.polarity import sentences
from bot.meeting.text import fold, squeeze
from bot.meeting.words import Words
from bot.phrases import words
from bot.prompts.outputs import EntryOut

_ASKS = re.compile(r"[?？]\s*$|(?:ます|です|ません|でしょう|ましょう)か[。\s]*$")
_LATIN = re.compile(r"[a-z0-9]")
_DUE_JA = re.compile(
    r"((?:(?:再来|来|今|翌)?(?:週|月|年)(?:の)?|本日|今日|明日|明後日|あさって|あした|月末|週末|年末|年内|年度末|中|初め|末"
    r"|\d{1,4}[年月日時]|[月火水木金土日]曜日?|午前|午後|正午|夕方|次回)+(?:の会議)?)(?:まで|中に)"
)
_DUE_EN = re.compile(
    r"\bby (?:the )?((?:next |this )?(?:(?:end of (?:the |this |next )?)?(?:day|week|month|quarter|year)"
    r"|tomorrow|tonight|noon|mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thu(?:rsday)?|fri(?:day)?|sat(?:urday)?"
    r"|sun(?:day)?|meeting|(?:\d{1,2}(?:st|nd|rd|th)? (?:of )?)?(?:january|february|march|april|may|june|july"
    r"|august|september|october|november|december)(?: \d{1,2})?)\b)",
    re.IGNORECASE,
)
NEAR = 3  # messages within which an agreement counts, or a typed mark speaks for the talk around it


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of talk, verbatim and folded, with the message it stands in and that one's place in
    history."""

    text: str
    folded: str
    message: Message
    place: int
    speaker: str | None = None  # a scribe's line "Aiko: ..." tells what that participant said

    @property
    def asks(self) -> bool:
        return bool(_ASKS.search(self.text))


def find_entries(scene: Scene) -> list[EntryOut]:
    """What the unread messages of the scene add to the ledger, quotes verbatim; often nothing.

    A call made earlier counts when the agreement stands in an unread message.
    """
    books = [words(language) for language in LANGUAGES]
    talk = _Talk(scene, books)
    found: list[EntryOut] = []
    for sentence in talk.sentences:
        entry = _decision(sentence, talk, books)
        if entry is None and talk.is_unread(sentence):
            entry = _taken(sentence, talk, books, found)
            entry = entry or _question(sentence, books) or _action(sentence, talk, books)
        if entry is not None and not talk.known(sentence, EntryKind(entry.kind)):
            found.append(entry)
    return found


class _Talk:
    """The sentences around the unread messages, and what marks and ledger already say of them."""

    def __init__(self, scene: Scene, books: Sequence[Words]) -> None:
        self.scene = scene
        unread = {m.message_id for m in scene.unread}
        known = {m.message_id for m in scene.history}
        people = [m for m in scene.history if isinstance(m, Message)]
        people += [m for m in scene.unread if m.message_id not in known]
        first = next((i for i, m in enumerate(people) if m.message_id in unread), len(people))
        self.messages = [m for m in people[max(0, first - NEAR) :] if not m.deleted_at]
        self.names = list(dict.fromkeys([s.name for s in scene.speakers] + [m.author_name for m in people]))
        self.unread = unread
        self.marked: dict[int, set[EntryKind]] = {}
        self.sentences: list[Sentence] = []
        for place, message in enumerate(self.messages):
            typed = marks.find(message.text, books, self.names)
            self.marked[place] = {m.kind for m in typed}
            self.sentences += _sentences(message, place, {m.line for m in typed}, self.names)
        self.entries = scene.ledger.entries

    def recaps(self, sentence: Sentence, books: Sequence[Words]) -> bool:
        """Whether the author is telling of an earlier meeting, in this message or the one just before."""
        own = [m for m in self.messages[: sentence.place + 1] if m.author_id == sentence.message.author_id]
        return any(says(fold(m.text), books, "recap") for m in own[-2:])

    def is_unread(self, sentence: Sentence) -> bool:
        return sentence.message.message_id in self.unread

    def known(self, sentence: Sentence, kind: EntryKind) -> bool:
        """Whether a mark close by, or the ledger, says this already."""
        near = range(sentence.place - NEAR, sentence.place + NEAR + 1)
        if any(kind in self.marked.get(place, ()) for place in near):
            return True
        text = squeeze(sentence.text)
        return any(self._same(text, entry, sentence.message) for entry in self.entries)

    def _same(self, text: str, entry: Entry, message: Message) -> bool:
        quote = squeeze(entry.quote or entry.text)
        if not quote:
            return False
        if entry.message_id == message.message_id:
            return quote in text or text in quote
        return quote == text

    def uses_marks(self, kind: EntryKind) -> bool:
        """Whether this team types its marks: then talk without one is only talk."""
        typed = any(e.kind is kind and e.origin is Origin.MARK for e in self.entries)
        return typed or any(kind in kinds for kinds in self.marked.values())


def _sentences(message: Message, place: int, marked: set[int], names: Sequence[str]) -> Iterator[Sentence]:
    """What the author says in lines that are neither marks nor quotes nor code."""
    code = False
    for number, line in enumerate(message.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")):
        if line.lstrip().startswith("```"):
            code = not code
        if code or number in marked or line.lstrip().startswith((">", "```")):
            continue
        speaker = _scribed(line, names)
        for text in sentences(line):
            yield Sentence(text, fold(text), message, place, speaker)


def _scribed(line: str, names: Sequence[str]) -> str | None:
    head, colon, _ = line.replace("：", ":").partition(":")
    return next((n for n in names if colon and fold(n) == fold(head)), None)


@cache
def _named(name: str, glue: str) -> re.Pattern[str]:
    """A participant's name at the start of a clause, followed by what gives the task to that person."""
    end = r"(?![a-z0-9])" if _LATIN.match(glue[-1]) else ""
    return re.compile(rf"(?:^|[\s、,:]|(?<=。)){re.escape(name)}\s*{re.escape(glue)}{end}")


def says(folded: str, books: Sequence[Words], name: str) -> bool:
    """Whether one of the cues `cues.<name>` stands in folded text, in any language."""
    return any(replies.holds_any(folded, book, f"cues.{name}") for book in books)


def _decision(sentence: Sentence, talk: _Talk, books: Sequence[Words]) -> EntryOut | None:
    if sentence.asks or says(sentence.folded, books, "hedge") or says(sentence.folded, books, "hollow"):
        return None
    if talk.recaps(sentence, books):
        return None
    resolved = says(sentence.folded, books, "resolve") and not says(sentence.folded, books, "personal")
    if resolved or says(sentence.folded, books, "decision"):
        counts = talk.is_unread(sentence)
    else:
        called = (
            says(sentence.folded, books, "call")
            and sentence.speaker is None
            and not talk.uses_marks(EntryKind.DECISION)
        )
        counts = called and _agreed(sentence, talk, books)
    return EntryOut(kind="decision", text=sentence.text, quote=sentence.text) if counts else None


def _agreed(call: Sentence, talk: _Talk, books: Sequence[Words]) -> bool:
    """The chair's own call is enough until somebody objects; anyone else's needs a person who agrees."""
    chairs = call.message.author_id == talk.scene.meeting.chair_id
    if chairs and not talk.is_unread(call):
        return False
    agreed_now = chairs
    for later in talk.messages[call.place + 1 : call.place + 1 + NEAR]:
        if later.author_id == call.message.author_id:
            continue
        folded = fold(later.text)
        if says(folded, books, "disagree") or _ASKS.search(later.text):
            return False
        if says(folded, books, "agree"):
            if later.message_id not in talk.unread:
                return False  # counted in the turn that read it
            agreed_now = True
    return agreed_now


def _question(sentence: Sentence, books: Sequence[Words]) -> EntryOut | None:
    if (
        sentence.asks
        or not says(sentence.folded, books, "question")
        or says(sentence.folded, books, "question_not")
    ):
        return None
    return EntryOut(kind="question", text=sentence.text, quote=sentence.text)


def _action(sentence: Sentence, talk: _Talk, books: Sequence[Words]) -> EntryOut | None:
    folded = sentence.folded
    if sentence.asks:
        return None
    owner = _named_in(folded, talk.names) if says(folded, books, "action_delegated") else None
    if owner is None and not says(folded, books, "action_delegated"):
        owner = None if says(folded, books, "hedge") else _owner(sentence, talk, books)
        if owner is None:
            return None
    return EntryOut(
        kind="action", text=sentence.text, quote=sentence.text, owner=owner, due=_due(sentence.text)
    )


def _taken(
    sentence: Sentence, talk: _Talk, books: Sequence[Words], found: Sequence[EntryOut]
) -> EntryOut | None:
    """ "I'll take it" as a whole message, for the one action without an owner that came up just before."""
    whole = any(
        replies.is_only(sentence.message.text, book, ("cues.takes",), ("cues.takes_beside",))
        for book in books
    )
    if sentence.speaker is not None or not whole:
        return None
    near = {m.message_id for m in talk.messages[max(0, sentence.place - NEAR) : sentence.place]}
    taken = {e.refers_to for e in found}
    waiting = [
        i
        for i in talk.scene.ledger.actions
        if not i.owner and i.original.message_id in near and i.number not in taken
    ]
    if len(waiting) != 1 or any(e.kind == "action" and not e.owner for e in found):
        return None
    return EntryOut(
        kind="revision",
        text=waiting[0].text,
        quote=sentence.message.text.strip(),
        owner=sentence.message.author_name,
        refers_to=waiting[0].number,
    )


def _owner(sentence: Sentence, talk: _Talk, books: Sequence[Words]) -> str | None:
    """Who takes it on: the author by "I'll check", or somebody named by "Aiko will check"; None is no
    action."""
    folded = sentence.folded
    does = says(folded, books, "action_verb")
    author = sentence.speaker or sentence.message.author_name
    if says(folded, books, "action_sure") or (does and says(folded, books, "action_self")):
        return author
    for name in talk.names if does else ():
        if any(
            _named(fold(name), glue).search(folded) for book in books for glue in book["cues.action_named"]
        ):
            return name
    if _DUE_JA.search(sentence.text) and says(folded, books, "action_with_due"):
        return author
    return None


def _named_in(folded: str, names: Sequence[str]) -> str | None:
    return next((n for n in names if fold(n) and fold(n) in folded), None)


def _due(text: str) -> str | None:
    """The due date in the words of the text, or None."""
    found = _DUE_JA.search(text) or _DUE_EN.search(text)
    return found[1] if found else None

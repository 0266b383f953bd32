"""What an answer may rest on: passages of the record, each with the number by which an answer cites it.

A model writes [1], [2] ...; people see the links of the sources instead. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Literal

from bot.meeting.display import display, one_line, units
from bot.meeting.model import EntryKind, Language
from bot.meeting.text import strip_invisible

Kind = Literal["entry", "message", "minutes"]
LISTED = 2.0  # score of an entry that is there because its whole kind was asked for
ABOUT_MEETING = -1  # `ref` of what the board says of the meeting itself
LONGEST = 1200  # characters of one passage in a prompt; a longer one loses its middle
# How a citation is written: what is judged, what is shown and what is awaited while streaming read it alike.
CITATION = r"[\[［【]\s*[#＃]?\d{1,3}(?:\s*[,、，;；・]\s*[#＃]?\d{1,3})*\s*[\]］】](?!\()"
_CITE = re.compile(CITATION)
_REPEATED = re.compile(r"(\[\d{1,3}\])(?:\s*\1)+")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Passage:
    """One piece of the record that a reader may see.

    `cite`: its number within one answer, "1", "2" ... `text`: the words as they hold now, verbatim. `status`:
    of an entry as in `Item.status`, else "". `link`: where it stands in Discord. `score`: how well it fits the
    question, comparable within one answer only.
    """

    cite: str
    kind: Kind
    guild_id: int
    meeting_id: int
    title: str  # of the meeting
    at: datetime
    who: str
    text: str
    link: str
    status: str = ""
    score: float = 0.0
    number: int | None = None  # of an entry within its meeting
    entry_kind: EntryKind | None = None
    against: bool = False  # a decision against what its text says
    owner: str = ""
    due: str = ""
    more: tuple[str, ...] = ()  # answers and positions, verbatim
    was: tuple[str, ...] = ()  # older wordings, which hold no more
    replaced_by: str = ""  # "#7", or "#7 <title>" of a later meeting; the words that hold instead follow
    own: bool = False  # of the open meeting the question was asked in
    section: str = ""  # of minutes: the heading
    ref: int = -1  # message id, an item's first number, section: where it stands in the store

    @property
    def stands(self) -> bool:
        return self.status not in ("replaced", "retracted")

    @property
    def now(self) -> str:
        """Every word that holds now and that a sentence citing this passage may rest on."""
        parts = (self.text, *self.more, self.owner, self.due, self.who, self.title, self.section)
        return "\n".join(part for part in parts if part)

    @property
    def held(self) -> str:
        """`now`, and what it was before or what replaced it."""
        return "\n".join(part for part in (self.now, *self.was, self.replaced_by) if part)


_LABELS: dict[str, dict[str, str]] = {
    "ja": {
        "constraint": "制約", "proposal": "提案", "vote": "投票", "decision": "決定", "question": "未決事項",
        "action": "宿題", "note": "メモ", "topic": "議題", "message": "発言", "minutes": "議事録",
        "against": "しないと決定", "confirmed": "確認済み", "unconfirmed": "未確認", "replaced": "差し替え済み・無効",
        "retracted": "取り下げ済み・無効", "open": "未決", "answered": "回答済み", "done": "完了", "live": "有効",
        "decided": "決定済み", "owner": "担当", "due": "期限", "more": "経緯・回答", "was": "以前の内容（無効）",
        "by": "差し替え先",
    },
    "en": {
        "constraint": "constraint", "proposal": "proposal", "vote": "vote", "decision": "decision",
        "question": "question", "action": "action", "note": "note", "topic": "topic", "message": "message",
        "minutes": "minutes", "against": "decided against", "confirmed": "confirmed",
        "unconfirmed": "unconfirmed", "replaced": "replaced, no longer holds",
        "retracted": "retracted, no longer holds", "open": "still open", "answered": "answered",
        "done": "done", "live": "holds", "decided": "decided", "owner": "owner", "due": "due",
        "more": "answers and positions", "was": "earlier wording, no longer holds", "by": "replaced by",
    },
}  # fmt: skip


def prompt_text(passages: Sequence[Passage], language: Language, zone: tzinfo) -> str:
    """The passages as a prompt shows them, one block each, in their order; empty where there are none."""
    return "\n".join(_block(p, _LABELS[language], zone) for p in passages)


def _block(p: Passage, labels: dict[str, str], zone: tzinfo) -> str:
    kind = labels[p.entry_kind.value] if p.entry_kind and p.entry_kind.value in labels else labels[p.kind]
    told = [kind]
    if p.against:
        told.append(labels["against"])
    if p.status in labels:
        told.append(labels[p.status])
    head = f"[{p.cite}] {' / '.join(told)} | {one_line(p.title)} | {p.at.astimezone(zone):%Y-%m-%d %H:%M}"
    if p.who:
        head += f" | {one_line(p.who)}"
    details = [f"{labels['owner']}: {one_line(p.owner)}"] if p.owner else []
    details += [f"{labels['due']}: {one_line(p.due)}"] if p.due else []
    details += [f"{labels['more']}: {one_line(' / '.join(p.more))}"] if p.more else []
    details += [f"{labels['was']}: {one_line(' / '.join(p.was))}"] if p.was else []
    details += [f"{labels['by']}: {one_line(p.replaced_by)}"] if p.replaced_by else []
    return "\n".join([head, _cut(one_line(p.text)), *details])


def _cut(text: str) -> str:
    """Its first third and last two thirds: rulings stand at the end of long messages."""
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST // 3].rstrip()} … {text[-2 * LONGEST // 3 :].lstrip()}"


def cites(text: str) -> list[str]:
    """The numbers a text cites, in order, each once."""
    wide = unicodedata.normalize("NFKC", strip_invisible(text))
    found = (n for m in _CITE.finditer(wide) for n in _NUMBER.findall(m.group()))
    return list(dict.fromkeys(map(_plain, found)))


_ENTRY = re.compile(r"[(（]?(?<![\w#\[［【])[#＃](?P<n>\d{1,4})(?!\d|\s*\])[)）]?")


def canonical(text: str, passages: Sequence[Passage]) -> str:
    """The text with entry numbers as citations, where only one passage has that number: "(#3)" is [1] then."""
    numbers: dict[int, list[Passage]] = {}
    for p in passages:
        if p.number is not None:
            numbers.setdefault(p.number, []).append(p)

    def cited(m: re.Match[str]) -> str:
        found = numbers.get(int(m["n"]), [])
        found = [p for p in found if p.own] or found
        return f"[{found[0].cite}]" if len(found) == 1 else m.group()

    return _REPEATED.sub(r"\1", _ENTRY.sub(cited, text))


def without_cites(text: str) -> str:
    """The text without its citations: what is claimed."""
    return _CITE.sub("", text)


def label(p: Passage, *, titled: bool = False) -> str:
    """How a source is named in an answer: #3, or who wrote the message."""
    name = (
        f"#{p.number}"
        if p.number is not None
        else f"💬 {display(p.who, 30)}"
        if p.kind == "message"
        else "📄"
    )
    if p.kind == "minutes":
        name = f"📄 {display(p.section or p.title, 30)}"
    return f"{name} {display(p.title, 30)}" if titled and p.kind == "entry" else name


def shown(text: str, passages: Sequence[Passage], room: int = 1900) -> str:
    """Every citation as masked link to its source; unknown ones vanish, the guard lets none through.

    A source is linked where it is cited first. What would make more than `room` characters is only named.
    """
    text = canonical(text, passages)
    known = {p.cite: p for p in passages}
    titled = len({known[n].meeting_id for n in cites(text) if n in known}) > 1
    left = room - len(_CITE.sub("", text))
    done: set[str] = set()

    def linked(m: re.Match[str]) -> str:
        return " ".join(one(known[n]) for n in map(_plain, _NUMBER.findall(m.group())) if n in known)

    def one(p: Passage) -> str:
        nonlocal left
        name = label(p, titled=titled)
        link = f"[{name}]({p.link})"
        told = name if p.cite in done or units(link) > left else link
        done.add(p.cite)
        left -= units(told) + 1
        return told

    return _CITE.sub(linked, text)


def _plain(number: str) -> str:
    return str(int(number))

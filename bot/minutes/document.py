"""The minutes as data, from the folded ledger: all that minutes.md, the message and the exports show."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from bot.meeting import agenda
from bot.meeting.display import visible
from bot.meeting.model import Entry, EntryKind, Item, LedgerView, Meeting, Origin, Speaker, is_panelist
from bot.meeting.text import fold
from bot.minutes.schema import (
    Action,
    AgendaPart,
    Attendee,
    Decision,
    Live,
    Made,
    MeetingPart,
    MinutesDocument,
    Old,
    PanelPart,
    Proposal,
    Question,
    Replaced,
    Row,
    VotePart,
    Wording,
)

VERSION = 1
NOTHING: Mapping[int, str] = MappingProxyType({})
Link = Callable[[int], str]
# What a spreadsheet may take for a formula, half and full width (OWASP, CSV injection).
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


@dataclass(frozen=True, slots=True)
class MinutesProse:
    """What a model wrote and the guard let pass. `items` are pairs of agenda item and what happened there."""

    summary: str
    items: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class How:
    """How the minutes came about. `models`: name and returned version of each that was asked; offline: none.

    `prose_omitted_reason`: None where prose stands, else "offline", "guard", "provider" or "deadline".
    """

    models: tuple[str, ...] = ()
    generations: int = 0
    rephrased: int = 0
    fixed: int = 0
    silent: int = 0
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    ledger_digest: str = ""
    prose_omitted_reason: str | None = None


def document(
    meeting: Meeting,
    view: LedgerView,
    speakers: Sequence[Speaker],
    prose: MinutesProse | None,
    made: How,
    source_link: Link,
    *,
    ended_at: datetime | None = None,
    carried: Mapping[int, str] = NOTHING,
    panel: PanelPart | None = None,
    standpoints: Mapping[int, str] = NOTHING,
) -> dict[str, Any]:
    """The minutes as plain JSON data, in the shape of `bot.minutes.schema.MinutesDocument`.

    `carried` links entries that came over from an earlier meeting, by their first number, to where they were said.
    `source_link` turns a message id into a URL. `ended_at` is for drafts, made before `closed_at` is known.
    `standpoints` of AI participants by their user id.
    """
    make = _Maker(view, source_link, carried)
    questions = [make.question(item) for item in view.of(EntryKind.QUESTION)]
    proposals = [make.proposal(item) for item in view.of(EntryKind.PROPOSAL)]
    whole = MinutesDocument(
        version=VERSION,
        meeting=_meeting(meeting, ended_at),
        summary=prose.summary if prose and prose.summary.strip() else None,
        agenda=_agenda(meeting, view, prose),
        constraints=[Live(**make.live(item)) for item in view.constraints],
        decisions=[make.decision(item) for item in view.decisions],
        questions=[q for q in questions if q.status == "open"],
        answered_questions=[q for q in questions if q.status != "open"],
        actions=[make.action(item) for item in view.actions],
        proposals=[p for p in proposals if p.status == "open"],
        decided_proposals=[p for p in proposals if p.status != "open"],
        notes=[Live(**make.live(item)) for item in view.of(EntryKind.NOTE)],
        replaced=make.replaced(),
        withdrawn=[make.old(i.entry, i, None) for i in view.items if i.status == "retracted"],
        attendance=_attendance(speakers, standpoints),
        panel=panel,
        made=Made(**{**asdict(made), "models": list(made.models)}),
        ledger=[Row(**row) for row in ledger_rows(view)],
    )
    return whole.model_dump(mode="json")


def as_json(document: Mapping[str, Any]) -> str:
    """The JSON export: readable, in UTF-8 letters, the same bytes for the same minutes."""
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def ledger_rows(view: LedgerView) -> list[dict[str, Any]]:
    """Every entry with what became of it, in order.

    status: an item's own for its current wording, "replaced" for an older one, "repeated" for the same
    said again, "recorded" for votes, answers and the like, which have no fate of their own.
    """
    fates: dict[int, str] = {}
    for item in view.items:
        fates |= {entry.number: "replaced" for entry in (item.original, *item.history)}
        fates |= {entry.number: "repeated" for entry in _repetitions(item, view)}
        fates[item.number] = item.status
    return [
        {
            "number": entry.number,
            "kind": entry.kind.value,
            "text": entry.text,
            "quote": entry.quote,
            "who": entry.author_name,
            "at": _iso(entry.at),
            "status": fates.get(entry.number, "recorded"),
            "refers_to": entry.refers_to,
            "owner": entry.owner,
            "due": entry.due,
            "value": entry.value,
            "origin": entry.origin.value,
            "redacted": entry.redacted,
            "digest": entry.digest,
        }
        for entry in view.entries
    ]


def actions_csv(document: Mapping[str, Any], say: Callable[..., str]) -> bytes:
    """The actions for spreadsheets: UTF-8 with BOM (Excel), CRLF, no cell that would run as a formula."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\r\n")
    columns = ("number", "text", "owner", "due", "who", "at", "link")
    table.writerow([_cell(say(f"minutes.csv_{name}")) for name in columns])
    for action in document["actions"]:
        table.writerow([_cell(action[name]) for name in columns])
    return out.getvalue().encode("utf-8-sig")


def _cell(value: object) -> str:
    text = visible("" if value is None else str(value))
    return f"'{text}" if text.lstrip(" \n\u3000").startswith(_FORMULA) else text


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def _repetitions(item: Item, view: LedgerView) -> list[Entry]:
    """Decisions typed again and joined to this one: they stand in its history, but are no older wordings."""
    typed = {entry.number for entry in view.entries if entry.kind is EntryKind.DECISION}
    return [e for e in item.history if e.number in typed and e.number != item.original.number]


def _meeting(meeting: Meeting, ended_at: datetime | None) -> MeetingPart:
    ended = meeting.closed_at or ended_at
    return MeetingPart(
        id=meeting.id,
        title=meeting.title,
        language=meeting.language,
        timezone=meeting.timezone,
        guild_id=str(meeting.guild_id),
        channel_id=str(meeting.channel_id),
        chair=meeting.chair_name,
        agenda=list(meeting.agenda),
        started_at=_iso(meeting.started_at),
        planned_end=_iso(meeting.planned_end),
        ended_at=_iso(ended) if ended else None,
    )


def _agenda(meeting: Meeting, view: LedgerView, prose: MinutesProse | None) -> list[AgendaPart]:
    """The agenda, then topics and prose headings that are not on it; entries stand under what was on then."""
    titles: dict[str, str] = {}
    entries: dict[str, list[int]] = {}
    replaced: dict[str, list[Replaced]] = {}
    texts: dict[str, list[str]] = {}
    lines = agenda.items(meeting)
    for line in lines:
        titles.setdefault(fold(line.title), line.title)
    for item in sorted(view.items, key=lambda i: i.original.number):
        # A topic's own words are what is on from its number on.
        number = item.original.number + (item.kind is EntryKind.TOPIC)
        title = agenda.subject(lines, view, number)
        if title is None or item.original.origin is Origin.START:
            continue
        if item.live:
            titles.setdefault(fold(title), title)
        if item.kind is EntryKind.DECISION and item.status == "replaced" and item.replaced_by is not None:
            part = Replaced(number=item.number, replaced_by=item.replaced_by)
            replaced.setdefault(fold(title), []).append(part)
        elif item.live and item.kind is not EntryKind.TOPIC:
            entries.setdefault(fold(title), []).append(item.number)
    for title, text in prose.items if prose else ():
        if text.strip():
            titles.setdefault(fold(title), title)
            texts.setdefault(fold(title), []).append(text)
    return [
        AgendaPart(
            title=title,
            entries=sorted(entries.get(key, [])),
            replaced=replaced.get(key, []),
            text="\n\n".join(texts.get(key, [])) or None,
        )
        for key, title in titles.items()
    ]


def _attendance(speakers: Sequence[Speaker], standpoints: Mapping[int, str]) -> list[Attendee]:
    total = sum(person.characters for person in speakers) or 1
    return [
        Attendee(
            user_id=str(person.user_id),
            name=person.name,
            messages=person.messages,
            characters=person.characters,
            share=round(person.characters / total, 4),
            panel=is_panelist(person.user_id),
            standpoint=standpoints.get(person.user_id),
        )
        for person in speakers
    ]


def _says(entry: Entry) -> tuple[object, ...]:
    return entry.text, entry.owner, entry.due, entry.value


class _Maker:
    """Turns items into parts; holds the view and the links that every one of them needs."""

    def __init__(self, view: LedgerView, link: Link, carried: Mapping[int, str]) -> None:
        self._view, self._link, self._carried = view, link, carried

    def wording(self, entry: Entry, item: Item | None = None) -> dict[str, Any]:
        message = entry.message_id or (item.original.message_id if item else None)
        return {
            "number": entry.number,
            "text": entry.text,
            "who": entry.author_name or (item.original.author_name if item else ""),
            "at": _iso(entry.at),
            "link": self._link(message) if message else None,
        }

    def live(self, item: Item) -> dict[str, Any]:
        conflicts = (self._view.item(number) for number in item.conflicts_with)
        return {
            **self.wording(item.entry, item),
            "number": item.number,
            "first_number": item.original.number,
            "quote": "" if item.entry.redacted else item.entry.quote,
            "origin": item.entry.origin.value,
            "status": item.status,
            "carried_from": self._carried.get(item.original.number),
            "confirmed_by": list(item.confirmed_by),
            "conflicts_with": list(
                dict.fromkeys(other.number for other in conflicts if other and other.live)
            ),
            "objections": [Wording(**self.wording(entry)) for entry in item.objections],
            "repeated": [Wording(**self.wording(entry)) for entry in _repetitions(item, self._view)],
        }

    def decision(self, item: Item) -> Decision:
        value = item.entry.value if item.entry.value is not None else item.original.value
        return Decision(
            **self.live(item), confirmed=item.status == "confirmed", against=value is not None and value < 0
        )

    def question(self, item: Item) -> Question:
        answers = [Wording(**self.wording(entry)) for entry in item.answers]
        return Question(**self.live(item), positions=list(item.positions), answers=answers)

    def action(self, item: Item) -> Action:
        return Action(**self.live(item), owner=item.owner, due=item.due)

    def proposal(self, item: Item) -> Proposal:
        votes = [
            VotePart(
                who=vote.voter_name, value=vote.value, words=vote.words, panel=is_panelist(vote.voter_id)
            )
            for vote in item.votes
        ]
        return Proposal(**self.live(item), votes=votes)

    def old(self, entry: Entry, item: Item, replaced_by: int | None) -> Old:
        return Old(
            **self.wording(entry, item),
            kind=item.kind.value,
            owner=entry.owner,
            due=entry.due,
            replaced_by=replaced_by,
        )

    def replaced(self) -> list[Old]:
        """Older wordings of what holds, and items that another replaced, each once, in order of number."""
        found: dict[int, Old] = {}
        for item in self._view.items:
            again = {entry.number for entry in _repetitions(item, self._view)}
            wordings = [*(entry for entry in item.history if entry.number not in again), item.entry]
            for entry, newer in pairwise(wordings):
                if _says(entry) != _says(newer):
                    found.setdefault(entry.number, self.old(entry, item, newer.number))
            if item.status == "replaced":
                found.setdefault(item.number, self.old(item.entry, item, item.replaced_by))
        return [found[number] for number in sorted(found)]

"""The kickoff post, which is the live board: the same message from the start until after the minutes.

Pure: the same arguments give the same bytes, and time enters in whole minutes, so that without an event the
board changes at most once a minute. What does not fit is counted; the newest stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from types import MappingProxyType

from bot.facilitation.display import (
    decision_line,
    display,
    numbered,
    proposal_line,
    sections,
    stamp,
    stood_for,
)
from bot.meeting import agenda
from bot.meeting.agenda import AgendaItem, Current
from bot.meeting.display import brief, task, units
from bot.meeting.model import Item, Language, LedgerView, Meeting, MeetingState, Persona, Speaker
from bot.phrases import short_day, t
from bot.stage import Button, Embed, Outgoing

NOTHING: Mapping[int, str] = MappingProxyType({})
DESCRIPTION = 4096  # Discord's limit of an embed's description
BAR = 12  # cells of the time bar
LINE = 160  # characters of an entry on the board; the whole text stands in the ledger
TITLE = 120
SPEAKERS = 8


def kickoff(
    meeting: Meeting,
    view: LedgerView,
    language: Language,
    now: datetime,
    retention_days: int | None,
    model_name: str,
    carried: Mapping[int, str] = NOTHING,
    ledger_days: int | None = None,
    panel: Sequence[str] = (),
) -> Outgoing:
    """The board as it is first posted (and pinned): nobody has spoken yet.

    `retention_days` and `ledger_days` None = transcripts, ledger are kept until erased; `model_name` names every
    model that is sent anything, "offline" = nothing is sent out.
    """
    return board(
        meeting,
        view,
        (),
        now,
        language=language,
        retention_days=retention_days,
        model_name=model_name,
        carried=carried,
        ledger_days=ledger_days,
        panel=panel,
    )


def board(
    meeting: Meeting,
    view: LedgerView,
    speakers: Sequence[Speaker],
    now: datetime,
    *,
    language: Language,
    degraded: bool = False,
    state_note: str | None = None,
    minutes_link: str | None = None,
    retention_days: int | None = None,
    model_name: str = "offline",
    limited: bool = False,
    carried: Mapping[int, str] = NOTHING,
    joined: int = 0,
    ledger_days: int | None = None,
    panel: Sequence[str] = (),
) -> Outgoing:
    """The board as of `now`. `state_note` is one line in the room's language (progress of the minutes, say);
    `minutes_link` is where the minutes stand once they are out. `carried` links entries that came over from the
    last meeting to where they were said; `joined` people take part and have not spoken. `panel`: lines about
    AI participants, ready to be shown."""
    top = [
        *_state(meeting, now, language, minutes_link),
        *panel,
        *_notes(language, degraded, limited, state_note),
    ]
    head = "\n".join(top)
    body = sections(
        _lists(meeting, view, speakers, language, now, carried, joined),
        DESCRIPTION - units(head) - 2,
        lambda count: t("board.more", language, count=count),
    )
    return Outgoing(
        text=_opening(meeting, language, retention_days, ledger_days, model_name),
        persona=Persona.FACILITATOR,
        language=language,
        embeds=(Embed(title=t("board.title", language), description=f"{head}\n\n{body}".strip()),),
        buttons=_buttons(meeting, language),
        meeting_id=meeting.id,
        pin=True,
    )


def _opening(
    meeting: Meeting,
    language: Language,
    retention_days: int | None,
    ledger_days: int | None,
    model_name: str,
) -> str:
    title, chair = display(meeting.title, TITLE), display(meeting.chair_name) or t("erased.person", language)
    if meeting.state is MeetingState.CLOSED:
        return t("board.closed_headline", language, title=title)
    sent = "board.sent_nowhere" if model_name == "offline" else "board.sent_to"
    kept = "board.kept_days" if ledger_days is None else "board.kept_both"
    kept = kept if retention_days is not None else "board.kept_until_erased"
    return "\n".join(
        (
            t("board.headline", language, title=title, chair=chair),
            t(sent, language, model=display(model_name, 200)),
            t(kept, language, days=retention_days or 0, ledger=ledger_days or 0),
            t("board.join_hint", language),
        )
    )


def _state(meeting: Meeting, now: datetime, language: Language, minutes_link: str | None) -> list[str]:
    """The line of time, and what the meeting is waiting for."""
    if meeting.state is MeetingState.CLOSED:
        link = "board.closed" if minutes_link is None else "board.closed_link"
        return [t(link, language, link=minutes_link or "")]
    lines = [_clock(meeting, now, language)]
    if meeting.state is MeetingState.CLOSING:
        lines.append(t("board.closing", language))
    elif meeting.state is MeetingState.READ_BACK:
        at = stamp(meeting.close_at, "R") if meeting.close_at else "…"
        lines.append(t("board.read_back", language, at=at))
    elif meeting.state is MeetingState.WRITING:
        lines.append(t("board.writing", language))
    return lines


def _clock(meeting: Meeting, now: datetime, language: Language) -> str:
    planned = max(1, round((meeting.planned_end - meeting.started_at).total_seconds() / 60))
    used = max(0, int((now - meeting.started_at).total_seconds() // 60))
    cells = min(BAR, used * BAR // planned)
    bar = "▰" * cells + "▱" * (BAR - cells)
    values = {"bar": bar, "used": used, "planned": planned, "end": stamp(meeting.planned_end)}
    if used > planned:
        return t("board.time_over", language, over=used - planned, **values)
    return t("board.time", language, **values)


def _notes(language: Language, degraded: bool, limited: bool, state_note: str | None) -> list[str]:
    notes = [t("board.limited", language)] if limited else []
    notes += [t("board.degraded", language)] if degraded and not limited else []
    return [*notes, brief(state_note, 200)] if state_note else notes


def _lists(
    meeting: Meeting,
    view: LedgerView,
    speakers: Sequence[Speaker],
    language: Language,
    now: datetime,
    carried: Mapping[int, str],
    joined: int,
) -> list[tuple[str, list[str]]]:
    def head(key: str, count: int) -> str:
        return f"**{t(f'board.{key}', language)}**" + (f" ({count})" if count else "")

    decisions = [decision_line(item, view, language, LINE) for item in view.decisions]
    proposals = [proposal_line(item, language, LINE) for item in view.open_proposals]
    questions = [
        f"{numbered(item)} {brief(item.text, LINE)}{stood_for(item, language)}{_carried(item, carried, language)}"
        for item in view.open_questions
    ]
    day = meeting.started_at.date()
    actions = [_action(item, language, day) + _carried(item, carried, language) for item in view.actions]
    return [
        (head("agenda", 0), _agenda(meeting, view, language, now)),
        (
            head("constraints", 0),
            [f"**#{item.number}** {brief(item.text, LINE)}" for item in view.constraints],
        ),
        (head("decisions", len(decisions)), decisions or [t("board.none_yet", language)]),
        (head("proposals", len(proposals)), proposals),
        (head("questions", len(questions)), questions),
        (head("actions", len(actions)), actions),
        (head("speakers", 0), _talk(speakers, language, joined)),
    ]


def _agenda(meeting: Meeting, view: LedgerView, language: Language, now: datetime) -> list[str]:
    """The queue of items with their minutes; the one that is on shows how much of its time is used."""
    items = agenda.items(meeting)
    shares = agenda.shares(items, agenda.length(meeting))
    here = agenda.current(meeting, view)
    lines = []
    for index, (item, share) in enumerate(zip(items, shares, strict=True)):
        on = here is not None and here.index == index
        mark = "▶️" if on else "▫️"
        lines.append(
            f"{mark} {brief(item.title, LINE)}{_share(item, share, here if on else None, language, now)}"
        )
    if here is not None and here.index is None:
        lines.append(f"▶️ {brief(here.title, LINE)}")
    return [line.rstrip() for line in lines]


def _share(item: AgendaItem, share: float, here: Current | None, language: Language, now: datetime) -> str:
    """Used and planned minutes of the item that is on, else its own; an even share goes without saying."""
    if here is not None:
        used = max(0, int((now - here.began).total_seconds() // 60))
        key = "board.item_over" if used > share else "board.item_used"
        return t(key, language, used=used, planned=max(1, round(share)))
    return "" if item.minutes is None else t("board.item_minutes", language, minutes=item.minutes)


def _carried(item: Item, carried: Mapping[int, str], language: Language) -> str:
    """Where an entry that the last meeting left open was said."""
    link = carried.get(item.original.number)
    return "" if link is None else " " + t("board.carried", language, link=link)


def _action(item: Item, language: Language, near: date) -> str:
    key = "board.owner" if item.owner else "board.no_owner"
    owner = t(key, language, owner=display(item.owner or ""))
    due = t("board.due", language, due=display(short_day(item.due, language, near))) if item.due else ""
    if item.status == "done":
        due += t("board.done", language)
    return (
        f"{numbered(item)} {brief(task(item.text, item.owner), LINE)} {owner}{due}{stood_for(item, language)}"
    )


def _talk(speakers: Sequence[Speaker], language: Language, joined: int) -> list[str]:
    """Who has written how much, in per cent of characters, on one line; the least talkative are counted."""
    spoke = [person for person in speakers if person.messages]
    total = sum(person.characters for person in spoke) or 1
    shown = [f"{display(p.name, 32)} {round(100 * p.characters / total)}%" for p in spoke[:SPEAKERS]]
    if len(spoke) > SPEAKERS:
        shown.append(t("board.more_people", language, count=len(spoke) - SPEAKERS))
    if joined:
        shown.append(t("board.joined", language, count=joined))
    return [" · ".join(shown)] if shown else []


def _buttons(meeting: Meeting, language: Language) -> tuple[Button, ...]:
    """After the close only corrections are left: they become errata."""
    correct = Button("correct", t("board.button_correct", language))
    if meeting.state is MeetingState.CLOSED:
        return (correct,)
    busy = meeting.state not in (MeetingState.STARTING, MeetingState.OPEN)
    return (
        Button("join", t("board.button_join", language), disabled=busy),
        Button("extend", t("board.button_extend", language), disabled=busy),
        Button("end", t("board.button_end", language), "danger", disabled=busy),
        correct,
    )

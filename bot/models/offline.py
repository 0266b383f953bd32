"""The engine without a model: deterministic, from the record alone (SPEC 6).

It reads `request.scene`, never the prompt, and answers every route in the meeting's language out of the
phrase book (table `offline`). It claims nothing that ledger or clock does not hold: entries come by cue words
with verbatim quotes, nothing is counted but the open questions that were read back, and where the record does not
say it says so.
"""

from __future__ import annotations

import hashlib

from pydantic import BaseModel

from bot.guard.lexicons import synonyms
from bot.meeting import quoting, replies
from bot.meeting.display import display
from bot.meeting.model import LANGUAGES, Item, Message, OwnPost, Phase, Route, Scene
from bot.meeting.retrieving import read
from bot.meeting.text import fold
from bot.models import offline_record as record
from bot.models.base import Draft, Out, ProviderError, Request, Usage
from bot.models.offline_asked import of_meeting
from bot.models.offline_cues import find_entries, says
from bot.models.offline_panel import panelist
from bot.phrases import book, t, words
from bot.prompts.outputs import SILENCE, AnswerOut, EntryOut, MinutesOut, TurnOut

NAME = "offline"
VERSION = "offline-1"
_SHOWN = 160  # characters of a text that is quoted inside a sentence


class OfflineModel:
    """Implements `Model`. Needs no key, no network and no time, so it also stands in while a provider is
    down."""

    @property
    def name(self) -> str:
        return NAME

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        """Raises ProviderError("invalid") only if asked for a type that it does not know."""
        answer = respond(request.scene, again=request.attempt > 0)
        if not isinstance(answer, request.output):
            raise ProviderError(
                "invalid", f"{NAME} has no {request.output.__name__} for {request.scene.route}"
            )
        if request.on_text is not None:
            request.on_text(str(getattr(answer, "response", "")))
        return Draft(output=answer, usage=Usage(), version=VERSION, latency_ms=0)

    async def close(self) -> None:
        return None


def respond(scene: Scene, *, again: bool = False) -> BaseModel:
    """The answer to one scene: TurnOut, MinutesOut or AnswerOut as its route asks.

    `again`: the guard has refused the first answer. What people wrote may break any rule, so the prose of minutes
    then names entries by number alone.
    """
    match scene.route:
        case Route.OPENING:
            return TurnOut(response=_opening(scene), phase=Phase.OPENING)
        case Route.TURN:
            return _turn(scene)
        case Route.TIME_NOTICE:
            return TurnOut(response=_time_notice(scene), phase=scene.meeting.model_phase)
        case Route.CLOSING:
            return TurnOut(response=_closing(scene), phase=Phase.CLOSING, closing_complete=True)
        case Route.MINUTES:
            if again:
                return MinutesOut(summary=record.summary(scene, spelled=False))
            return MinutesOut(summary=record.summary(scene), items=record.items(scene))
        case Route.HAND_OFF | Route.ASK:
            return _answer(scene, scene.question or (scene.addressed_by.text if scene.addressed_by else ""))
        case Route.PANEL:
            return panelist(scene, again=again)
        case Route.CHAT:
            return AnswerOut(response=scene.extra.get("standing") or phrase(scene, "chat"))


def phrase(scene: Scene, key: str, **values: object) -> str:
    """One of the variants of `offline.<key>`: which one differs between meetings and between posts of one
    meeting."""
    language = scene.meeting.language
    prefix = f"offline.{key}."
    variants = sorted(k for k in book(language) if k.startswith(prefix))
    seed = hashlib.sha256(f"{scene.meeting.id}:{scene.meeting.title}:{key}".encode()).digest()[0]
    said = sum(1 for line in scene.history if not isinstance(line, Message))
    return t(variants[(seed + said) % len(variants)], language, **values)


def _shown(text: str) -> str:
    """A text of the record inside a sentence of ours: one line, no mention, no question mark that would ask
    twice."""
    return display(text, _SHOWN).rstrip("?？ ")


def _quoted(scene: Scene, text: str) -> str:
    """In quotation marks: what people wrote may be in any language, what we say of it is in the meeting's."""
    return t("offline.quoted", scene.meeting.language, text=_shown(text))


def _opening(scene: Scene) -> str:
    meeting = scene.meeting
    title = display(meeting.title).replace("?", "").replace("？", "")
    rules = [i.text for i in scene.ledger.constraints if not i.entry.redacted]
    reminder = ""
    if rules:
        listed = record.join(scene, [_quoted(scene, r) for r in rules[:3]])
        short = len(rules) <= 3 and all(len(r) <= _SHOWN for r in rules)
        key = "reminder_one" if len(rules) == 1 else "reminder"
        reminder = phrase(scene, key, constraints=listed) if short else phrase(scene, "reminder_board")
    if not meeting.agenda:
        return phrase(scene, "opening_open", title=title, reminder=reminder)
    return phrase(scene, "opening", title=title, reminder=reminder, item=_quoted(scene, meeting.agenda[0]))


def _turn(scene: Scene) -> TurnOut:
    entries = find_entries(scene)
    wish = _wish(scene)
    phase = Phase.CLOSING if wish or scene.meeting.closing else _phase(scene)
    return TurnOut(
        response=_reply(scene, entries, wish is not None),
        phase=phase,
        closing_complete=wish is not None,
        entries=entries,
        wish_quote=wish,
    )


def _wish(scene: Scene) -> str | None:
    """The words of the newest unread message in which a person asks to end the meeting."""
    for message in (m for m in reversed(scene.unread) if not m.by_panel):
        for language in LANGUAGES:
            if wish := replies.closing_wish(message.text, words(language)):
                return wish
    return None


def _phase(scene: Scene) -> Phase:
    """CONVERGING in the last fifth of the planned time, DISCUSSING before."""
    planned = scene.meeting.planned_end - scene.meeting.started_at
    return Phase.CONVERGING if scene.now >= scene.meeting.planned_end - planned / 5 else Phase.DISCUSSING


def _reply(scene: Scene, entries: list[EntryOut], wish: bool) -> str:
    if scene.request == "catch_up":
        return SILENCE
    if scene.request == "quiet":
        return phrase(scene, "still_there")
    if scene.addressed_by is not None:
        return _addressed(scene, scene.addressed_by)
    if wish or scene.meeting.closing:
        return SILENCE
    return _missing(scene, entries) or (phrase(scene, "alone") if _alone(scene) else SILENCE)


def _alone(scene: Scene) -> bool:
    people = {line.author_id for line in scene.history if isinstance(line, Message)}
    people |= {m.author_id for m in scene.unread} | {s.user_id for s in scene.speakers if s.messages}
    return len(people) == 1 and bool(scene.unread) and min(people) > 0  # panelists have ids below


def _missing(scene: Scene, entries: list[EntryOut]) -> str | None:
    """One question about a fresh action that lacks its owner or, named person but no date, its due date."""
    unread = {m.message_id for m in scene.unread}
    fresh = [(i.text, i.owner, i.due) for i in scene.ledger.actions if i.original.message_id in unread]
    fresh += [(e.text, e.owner, e.due) for e in entries if e.kind == "action"]
    for text, owner, due in fresh:
        if not owner:
            return phrase(scene, "ask_owner", action=_quoted(scene, text))
        if not due:
            return phrase(scene, "ask_due", action=_quoted(scene, text), owner=display(owner))
    return None


def _addressed(scene: Scene, message: Message) -> str:
    wants_summary = any(replies.asks_summary(message.text, words(language)) for language in LANGUAGES)
    if scene.meeting.closing and (wants_summary or _asks_for(message.text, "summary")):
        return phrase(scene, "minutes_follow")
    if (told := of_meeting(scene, message)) is not None:
        return told
    answer = _answer(scene, message.text)
    if answer.cites or _asks_for(message.text, "summary"):
        return answer.response
    return _nothing_of(scene, message.text) or phrase(
        scene, "unknown" if "?" in fold(message.text) else "heard"
    )


def _nothing_of(scene: Scene, text: str) -> str | None:
    """That a kind is empty, where everything of it is asked for and nothing in particular."""
    view = scene.ledger
    kinds = {
        "question": view.open_questions,
        "decision": view.decisions,
        "action": view.actions,
        "constraint": view.constraints,
    }
    asked = [k for k in kinds if _asks_for(text, k)]
    if "question" in asked:  # "undecided" holds "decided"
        asked = ["question"]
    if len(asked) != 1 or kinds[asked[0]]:
        return None
    return t(f"ask.none.{asked[0]}", scene.meeting.language)


def _asks_for(text: str, what: str) -> bool:
    return says(fold(text), [words(language) for language in LANGUAGES], f"ask_{what}")


def _answer(scene: Scene, question: str) -> AnswerOut:
    """From the passages that were found, where any were looked for. Else from the ledger: whole kinds where a
    kind is asked for, or the entries that share the question's words."""
    language = scene.meeting.language
    if scene.passages:
        told, cited = quoting.quoted(
            scene.passages, read(question, synonyms()), lambda k, **v: t(k, language, **v)
        )
        return AnswerOut(response=told, cites=list(cited))
    view = scene.ledger
    wanted: list[Item] = []
    if _asks_for(question, "summary"):
        wanted = [*view.decisions, *view.open_questions, *view.actions]
    else:
        wanted = record.about(view, question)
    if not wanted:
        if _asks_for(question, "question"):
            wanted = list(view.open_questions)
        elif _asks_for(question, "decision"):
            wanted = list(view.decisions)
        if _asks_for(question, "action"):
            wanted += view.actions
        if _asks_for(question, "constraint"):
            wanted += view.constraints
    if not wanted:
        return AnswerOut(response=phrase(scene, "unknown"))
    lines, cites = record.listing(scene, wanted)
    return AnswerOut(response=phrase(scene, "answer") + "\n" + lines, cites=cites)


def _time_notice(scene: Scene) -> str:
    minutes = scene.notice_minutes or 0
    key = "left" if minutes > 0 else "over" if minutes < 0 else "up"
    return _with_open(scene, phrase(scene, f"notice_{key}", minutes=abs(minutes)))


def _closing(scene: Scene) -> str:
    if scene.request == "goodbye":
        if _read_back_whole(scene):
            count = len(scene.ledger.open_questions)
            open_as_told = phrase(scene, "still_open_told", count=count) if count else ""
            parts = (open_as_told, phrase(scene, "goodbye"))
            return t("offline.gap", scene.meeting.language).join(filter(None, parts))
        return _with_open(scene, phrase(scene, "goodbye"), first=True)
    if scene.request == "read_back":
        return _with_open(scene, phrase(scene, "read_back"))
    return _with_open(scene, phrase(scene, "closing"))


def _read_back_whole(scene: Scene) -> bool:
    """Whether the read-back stands in the room, with every question that is open now."""
    question = t("readback.question", scene.meeting.language)
    told = [line.at for line in scene.history if isinstance(line, OwnPost) and question in line.text]
    return bool(told) and all(item.original.at <= told[-1] for item in scene.ledger.open_questions)


def _with_open(scene: Scene, text: str, *, first: bool = False) -> str:
    """`text` and what is still open, named as open, so that nobody takes it for settled."""
    questions = scene.ledger.open_questions
    if not questions:
        return text
    listed = record.join(scene, [_open_item(scene, i) for i in questions[:3]])
    told = phrase(scene, "still_open" if len(questions) <= 3 else "still_open_more", questions=listed)
    return t("offline.gap", scene.meeting.language).join((told, text) if first else (text, told))


def _open_item(scene: Scene, item: Item) -> str:
    return t("offline.open_item", scene.meeting.language, text=_shown(item.text), number=item.number)

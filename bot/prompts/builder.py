"""What the model sees, in SPEC 4's order: stable text first, for the provider's caching; the clock last."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from datetime import tzinfo
from functools import cache
from zoneinfo import ZoneInfo

from bot.meeting.model import EntryKind, Language, Message, OwnPost, Persona, Route, Scene
from bot.meeting.outside import is_nowhere
from bot.models.base import Prompt
from bot.phrases import DATA
from bot.prompts.fence import clean, fenced, line, shorten
from bot.prompts.history import CHUNK_CHARACTERS, Line, Window, all_lines, chunks, visible, window_of
from bot.prompts.ledger_text import ledger_text

__all__ = ["CHUNK_CHARACTERS", "build", "chunks", "note"]


def build(scene: Scene, *, language: Language) -> Prompt:
    """The prompt of one generation. `language` is the one the answer is to be written in.

    Shapes: `system` depends on route and language alone; `stable` on the meeting's title, agenda, start and
    constraints; the rest moves. `scene.extra` may hold "part" and "so_far" (see `chunks`) and "records" (what
    `ask` may answer from besides this meeting's ledger). Outside of a meeting (`meeting.outside`) there is no
    stable part and no ledger, and of the room only the time.
    """
    frame = frame_of(language)
    zone = ZoneInfo(scene.meeting.timezone)
    outside = is_nowhere(scene.meeting)
    return Prompt(
        system=_text(language, "common") + "\n\n" + _text(language, scene.route.value),
        stable="" if outside else _stable(scene, frame, zone),
        ledger="" if outside else ledger_text(scene.ledger, frame, zone),
        history=_history(scene, frame, zone),
        task=_task(scene, frame),
        clock=_now(scene, frame, zone) if outside else _clock(scene, frame, zone),
    )


def note(reasons: Sequence[str], language: Language) -> str:
    """The fenced application note of a rephrase, every reason together (SPEC 3)."""
    frame = frame_of(language)
    told = "\n".join(f"- {line(reason)}" for reason in reasons)
    body = "\n".join(p for p in (frame["note.head"], told, frame["note.tail"]) if p)
    return fenced(frame["note.tag"], body, frame["note.tag"])


@cache
def frame_of(language: str) -> dict[str, str]:
    """The labels around a prompt's parts, flat, by dotted key (data/prompts/<language>/frame.toml)."""
    path = DATA / "prompts" / language / "frame.toml"
    flat: dict[str, str] = {}
    for table, values in tomllib.loads(path.read_text(encoding="utf-8")).items():
        if isinstance(values, dict):
            flat.update({f"{table}.{key}": str(value) for key, value in values.items()})
        else:
            flat[table] = str(values)
    return flat


@cache
def _text(language: str, name: str) -> str:
    return (DATA / "prompts" / language / f"{name}.md").read_text(encoding="utf-8").strip()


def _stable(scene: Scene, frame: dict[str, str], zone: tzinfo) -> str:
    meeting = scene.meeting
    started = f"{meeting.started_at.astimezone(zone):%Y-%m-%d %H:%M}"
    agenda = [f"{n}. {line(item)}" for n, item in enumerate(meeting.agenda, start=1)]
    rules = [f"#{i.number} {line(i.text)}" for i in scene.ledger.constraints if not i.entry.redacted]
    return "\n".join(
        [
            frame["stable.head"],
            frame["stable.title"].format(title=line(meeting.title), started=started),
            frame["stable.agenda"],
            *(agenda or [frame["none"]]),
            frame["stable.constraints"],
            *(rules or [frame["none"]]),
        ]
    )


def _history(scene: Scene, frame: dict[str, str], zone: tzinfo) -> str:
    window = window_of(scene)
    lines = visible(scene, window)
    unread = {m.message_id for m in scene.unread}
    parts = [frame["history.head"], frame["history.note"]]
    if scene.extra.get("part"):
        parts.append(frame["history.part"].format(part=scene.extra["part"]))
    if scene.extra.get("so_far"):
        tag = frame["history.so_far"]
        parts.append(fenced(tag, clean(scene.extra["so_far"]), tag))
    if left_out := len(all_lines(scene)) - len(lines):
        parts.append(frame["history.skipped"].format(count=left_out))
    told_unread = not unread or all(m.message_id in unread for m in lines if isinstance(m, Message))
    for shown in lines:
        if not told_unread and shown.message_id in unread:
            parts.append(frame["history.unread"])
            told_unread = True
        parts.append(_line(shown, None if shown.message_id in unread else window, frame, zone))
    if not lines:
        parts.append(frame["none"])
    if scene.extra.get("records"):
        tag = frame["history.records"]
        parts.append(fenced(tag, clean(scene.extra["records"]), tag))
    return "\n".join(parts)


def _line(shown: Line, window: Window | None, frame: dict[str, str], zone: tzinfo) -> str:
    """One message: its name, time and id outside, its text inside the fence."""
    time = f"{shown.at.astimezone(zone):%H:%M}"
    text = clean(shown.text)
    if window is not None:
        text = shorten(text, window.each, frame["history.gap"])
    if isinstance(shown, OwnPost):
        who = frame[f"persona.{Persona(shown.persona).value}"]
        return fenced(f"{frame['history.own']} {time} {who}", text, frame["history.own"])
    head = f"{frame['history.message']} id={shown.message_id} {time} {line(shown.author_name)}"
    if shown.reply_to is not None:
        head += f" re={shown.reply_to}"
    return fenced(head, text, frame["history.message"])


_PANELIST = (
    "role",
    "standpoint",
    "others",
    "turn",
    "turns",
    "spoken",
)  # of `Scene.extra`, for a panel's turn


def _task(scene: Scene, frame: dict[str, str]) -> str:
    request = scene.request or ""
    minutes = scene.notice_minutes or 0
    if scene.route is Route.TIME_NOTICE:
        request = "left" if minutes > 0 else "over" if minutes < 0 else "up"
    elif scene.route is Route.TURN and scene.addressed_by is not None and request != "catch_up":
        request = "addressed"
    template = frame.get(f"task.{scene.route}_{request}") or frame[f"task.{scene.route}"]
    asked = scene.addressed_by
    told = template.format(
        minutes=abs(minutes),
        name=line(asked.author_name) if asked else "",
        id=asked.message_id if asked else "-",
        **{key: line(scene.extra.get(key, "")) for key in _PANELIST},
    )
    question = scene.question or (asked.text if asked and scene.route is not Route.TURN else "")
    if question:
        tag = frame["task.question"]
        told += "\n" + fenced(tag, clean(question), tag)
    return f"{frame['task.head']}\n{told}"


def _now(scene: Scene, frame: dict[str, str], zone: tzinfo) -> str:
    now = scene.now.astimezone(zone)
    return f"{frame['clock.head']}\n{frame['clock.now'].format(now=f'{now:%Y-%m-%d %H:%M}')}"


def _clock(scene: Scene, frame: dict[str, str], zone: tzinfo) -> str:
    """The room as it is at this moment: who speaks, what is on the table, and at the very end the time."""
    meeting = scene.meeting
    left = math.ceil((meeting.planned_end - scene.now).total_seconds() / 60)
    speakers = ", ".join(f"{line(s.name)} ({s.messages})" for s in scene.speakers) or frame["none"]
    topics = scene.ledger.of(EntryKind.TOPIC)
    parts = [
        frame["clock.head"],
        frame["clock.chair"].format(name=line(meeting.chair_name)),
        frame["clock.speakers"].format(names=speakers),
    ]
    if scene.quiet_people:
        parts.append(frame["clock.quiet"].format(names=", ".join(line(n) for n in scene.quiet_people)))
    if topics:
        parts.append(frame["clock.topic"].format(topic=line(topics[-1].text)))
    parts.append(frame["clock.phase"].format(phase=meeting.model_phase.value))
    if meeting.closing:
        parts.append(frame["clock.closing"])
    now = scene.now.astimezone(zone)
    parts.append(
        frame["clock.left" if left >= 0 else "clock.over"].format(
            now=f"{now:%Y-%m-%d %H:%M}",
            end=f"{meeting.planned_end.astimezone(zone):%H:%M}",
            minutes=abs(left),
        )
    )
    return "\n".join(parts)

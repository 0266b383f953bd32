"""How much of the history a prompt shows (SPEC 4), and how everything is split where it must all be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.meeting.model import Message, OwnPost, Route, Scene

Line = Message | OwnPost


@dataclass(frozen=True, slots=True)
class Window:
    """The larger of the last `messages` messages and the last `characters` characters; each read message is
    cut in the middle to `each` characters."""

    messages: int
    characters: int
    each: int


# SPEC 4. A cut message gets its even share of the window, so that twelve long ones fill it exactly.
TURN_WINDOW = Window(messages=12, characters=14_400, each=1_200)
CLOSING_WINDOW = Window(messages=40, characters=80_000, each=2_000)
CHAT_WINDOW = Window(messages=20, characters=24_000, each=1_200)  # the last 20 of a conversation
CHUNK_CHARACTERS = (
    120_000  # about 40,000 tokens of English, 100,000 of Japanese: far inside the context window
)
_LINE_COST = 60  # the least a message counts for: a thousand times "ok" is more heading than text


def window_of(scene: Scene) -> Window | None:
    """The window of the scene's route; None means everything (minutes, and catching up before them)."""
    if scene.route is Route.MINUTES or scene.request == "catch_up":
        return None
    if scene.route is Route.CHAT:
        return CHAT_WINDOW
    return CLOSING_WINDOW if scene.route is Route.CLOSING else TURN_WINDOW


def cost(line: Line, each: int | None = None) -> int:
    """Characters that a message counts for in a window or chunk."""
    length = len(line.text) if each is None else min(len(line.text), each)
    return max(_LINE_COST, length)


def visible(scene: Scene, window: Window | None) -> tuple[Line, ...]:
    """The lines of the history that the prompt shows, oldest first: the window, and everything not yet
    read."""
    lines = all_lines(scene)
    if window is None:
        return lines
    unread = {m.message_id for m in scene.unread}
    start, used = len(lines), 0
    while start > 0:
        inside = len(lines) - start < window.messages
        used += cost(lines[start - 1], window.each)
        if not inside and used > window.characters:
            break
        start -= 1
    earlier = tuple(m for m in lines[:start] if m.message_id in unread)
    return earlier + lines[start:]


def all_lines(scene: Scene) -> tuple[Line, ...]:
    """History and unread as one, oldest first, nothing twice, nothing deleted."""
    known = {m.message_id for m in scene.history}
    extra = [m for m in scene.unread if m.message_id not in known]
    lines: Sequence[Line] = [*scene.history, *extra]
    if extra:
        lines = sorted(lines, key=lambda m: (m.at, m.message_id))
    return tuple(m for m in lines if not (isinstance(m, Message) and m.deleted_at))


def chunks(scene: Scene, budget: int = CHUNK_CHARACTERS) -> list[Scene]:
    """The scene in parts whose messages hold at most `budget` characters each (at least one message a part).

    Every message stands in exactly one part, in order, unread ones stay unread there. With more than one part
    `extra["part"]` is "2/5". The caller hands what earlier parts came to on as `extra["so_far"]`. A meeting
    without messages is one part.
    """
    groups: list[list[Line]] = [[]]
    used = 0
    for line in all_lines(scene):
        size = cost(line)
        if groups[-1] and used + size > budget:
            groups.append([])
            used = 0
        groups[-1].append(line)
        used += size
    if len(groups) == 1:
        return [scene]
    unread = {m.message_id for m in scene.unread}
    return [
        replace(
            scene,
            history=tuple(group),
            unread=tuple(m for m in group if isinstance(m, Message) and m.message_id in unread),
            extra={**scene.extra, "part": f"{number}/{len(groups)}"},
        )
        for number, group in enumerate(groups, start=1)
    ]

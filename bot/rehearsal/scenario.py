"""Scenario files: JSON Lines, the first line the meeting, every further line one event.

The format is a contract with files outside the project: it may grow, so unknown keys are ignored, but what is
known is checked strictly, since a scenario that is quietly misread would prove nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from bot.errors import BadInput, KetsugiError
from bot.meeting.model import Language
from bot.panel.roles import TURNS_USUAL, Plan, Role, check, planned_minutes
from bot.phrases import t

BOT = "bot"  # `to` and `reply_to`: the bot's latest post
MESSAGE_LIMIT = 2000  # characters, Discord's

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
# No stripping: marks and quotes are compared with the words as typed.
Words = Annotated[str, StringConstraints(min_length=1, max_length=MESSAGE_LIMIT, pattern=r"\S")]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ScenarioError(KetsugiError):
    """A scenario that cannot be played. `str()` is "FILE:LINE: reason" (line 0: the file as a whole)."""

    def __init__(self, path: Path | str, line: int, reason: str) -> None:
        super().__init__(f"{path}:{line}: {reason}" if line else f"{path}: {reason}")
        self.path, self.line, self.reason = path, line, reason


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class Header(_Line):
    """Line 1. `duration_min` is minutes from the start to the planned end."""

    scenario: Literal[1]
    title: Text
    language: Language
    duration_min: Annotated[float, Field(gt=0, le=24 * 60, allow_inf_nan=False)]
    agenda: list[Text] = Field(default_factory=list)
    constraints: list[Text] = Field(default_factory=list)
    participants: list[Text]
    chair: Text

    @model_validator(mode="after")
    def _names_are_distinct(self) -> Header:
        if len(set(self.participants)) != len(self.participants):
            raise ValueError("participants: two people have the same name")
        return self


class PanelRole(_Line):
    name: Text
    standpoint: Text


class PanelHeader(_Line):
    """Line 1 of a panel's file. `chair` gives the start command; other people come in by their events."""

    panel: Literal[1]
    title: Text = Field(validation_alias=AliasChoices("title", "topic"))
    language: Language
    agenda: list[Text] = Field(default_factory=list)
    constraints: list[Text] = Field(default_factory=list)
    roles: list[PanelRole]
    turns: int = TURNS_USUAL
    cap: float | None = None  # US dollars
    participants: list[Text] = Field(default_factory=list)
    chair: Text = "Host"

    @property
    def duration_min(self) -> float:
        return planned_minutes(self.turns)


class _Event(_Line):
    """`at` is seconds since the start command; `line` the line in the file, from 1."""

    at: Seconds
    line: int = Field(default=0, exclude=True)


class _ByPerson(_Event):
    who: Text


class Say(_ByPerson):
    say: Words
    ref: Text | None = None
    reply_to: Text | None = None
    bot: bool = False  # the author is another bot's account


class Edit(_ByPerson):
    edit: Text
    say: Words


class Delete(_ByPerson):
    delete: Text


class React(_ByPerson):
    react: Text
    to: Text


class Command(_ByPerson):
    command: Text
    options: dict[str, str | int | float | bool] = Field(default_factory=dict)


class Click(_ByPerson):
    click: Text


class Menu(_ByPerson):
    menu: Text
    to: Text


class Restart(_Event):
    restart: Literal[True]
    down_s: Seconds = 0.0
    crash: bool = False


class Fault(_Event):
    """`times` calls fail, or every call for `for_s` seconds; with neither, one call."""

    fault: Literal["model", "discord"]
    status: Annotated[int, Field(ge=400, le=599)] | None = None
    error: Literal["timeout", "drop", "lost"] | None = None
    times: Annotated[int, Field(ge=1)] | None = None
    for_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _one_of_each(self) -> Fault:
        if (self.status is None) == (self.error is None):
            raise ValueError("a fault has either 'status' or 'error'")
        if self.times is not None and self.for_s is not None:
            raise ValueError("a fault has 'times' or 'for_s', not both")
        return self


class Wait(_Event):
    wait: Literal[True]


Event = Say | Edit | Delete | React | Command | Click | Menu | Restart | Fault | Wait

# An edit has `say` as well, so the key that names an event is looked for in this order.
_KINDS: tuple[tuple[str, type[Event]], ...] = (
    ("edit", Edit),
    ("delete", Delete),
    ("react", React),
    ("command", Command),
    ("click", Click),
    ("menu", Menu),
    ("restart", Restart),
    ("fault", Fault),
    ("wait", Wait),
    ("say", Say),
)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A checked scenario: events in order, every reference defined before it is used."""

    header: Header | PanelHeader
    events: tuple[Event, ...]
    path: str = ""

    @property
    def last_at(self) -> float:
        return self.events[-1].at if self.events else 0.0


def load(path: Path) -> Scenario:
    """Read and check a scenario file. Raises ScenarioError naming file, line and reason."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError(path, 0, f"not UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise ScenarioError(path, 0, f"cannot be read: {error.strerror or error}") from error
    # Only line feeds end a line: a message may hold U+2028 and its kin, at which splitlines would cut.
    return parse(_one_object(text) or text.split("\n"), path)


def load_panel(path: Path) -> Scenario:
    """The same for a panel's file, which may also be one JSON object over several lines."""
    found = load(path)
    if not isinstance(found.header, PanelHeader):
        raise ScenarioError(path, 1, "describes no panel; its first line needs 'panel': 1")
    return found


def _one_object(text: str) -> list[str] | None:
    """The file as one line where the whole of it is a single JSON object."""
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None
    return [json.dumps(value, ensure_ascii=False)] if isinstance(value, dict) else None


def parse(lines: Iterable[str], path: Path | str = "scenario") -> Scenario:
    """Check a scenario given as lines. Raises ScenarioError."""
    numbered = [(n, line) for n, line in enumerate(lines, 1) if line.strip()]
    if not numbered:
        raise ScenarioError(path, 0, "the file is empty; its first line describes the meeting")
    first, raw = numbered[0]
    given = _object(path, first, raw)
    header: Header | PanelHeader
    header = (
        _checked(PanelHeader, given, path, first)
        if "panel" in given
        else _checked(Header, given, path, first)
    )
    if isinstance(header, PanelHeader):
        _startable(header, path, first)
    events: list[Event] = []
    known = _References(path)
    at = 0.0
    for number, raw in numbered[1:]:
        event = _event(path, number, _object(path, number, raw))
        if event.at < at:
            raise ScenarioError(path, number, f"'at' goes back in time: {event.at:g} after {at:g}")
        at = event.at
        known.check(event)
        events.append(event)
    return Scenario(header, tuple(events), str(path))


def _startable(header: PanelHeader, path: Path | str, line: int) -> None:
    """What `/panel start` would refuse is refused here, in the file's own language and before anything begins."""
    roles = tuple(Role(role.name, role.standpoint) for role in header.roles)
    try:
        check(Plan(roles, header.turns, header.cap))
    except BadInput as bad:
        raise ScenarioError(path, line, t(bad.key, header.language, **bad.values)) from bad


class _References:
    """Names given to messages, so that what refers to nothing is found before the meeting starts."""

    def __init__(self, path: Path | str) -> None:
        self._path = path
        self._author: dict[str, str] = {}
        self._deleted: set[str] = set()

    def check(self, event: Event) -> None:
        match event:
            case Say(ref=ref, reply_to=target, who=who):
                if target is not None and target != BOT:
                    self._used(event, target)
                if ref is not None:
                    self._named(event, ref, who)
            case Edit(edit=target, who=who):
                self._used(event, target)
                if self._author[target] != who:
                    raise self._error(event, f"only {self._author[target]} can edit '{target}'")
            case Delete(delete=target):
                self._used(event, target)
                self._deleted.add(target)
            case React(to=target) | Menu(to=target):
                if target != BOT:
                    self._used(event, target)

    def _named(self, event: Event, ref: str, who: str) -> None:
        if ref == BOT:
            raise self._error(event, f"'{BOT}' means the bot's latest post and cannot be a ref")
        if ref in self._author:
            raise self._error(event, f"the ref '{ref}' is used twice")
        self._author[ref] = who

    def _used(self, event: Event, ref: str) -> None:
        if ref not in self._author:
            raise self._error(event, f"no message before this line has the ref '{ref}'")
        if ref in self._deleted:
            raise self._error(event, f"the message '{ref}' was deleted before this line")

    def _error(self, event: Event, reason: str) -> ScenarioError:
        return ScenarioError(self._path, event.line, reason)


def _object(path: Path | str, line: int, raw: str) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ScenarioError(path, line, f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ScenarioError(path, line, "not a JSON object")
    return value


def _event(path: Path | str, line: int, value: Mapping[str, Any]) -> Event:
    kind = next((model for key, model in _KINDS if key in value), None)
    if kind is None:
        names = ", ".join(key for key, _ in _KINDS)
        raise ScenarioError(path, line, f"no known event; one of these keys names it: {names}")
    return _checked(kind, {**value, "line": line}, path, line)


_M = TypeVar("_M", bound=BaseModel)


def _checked(model: type[_M], value: Mapping[str, Any], path: Path | str, line: int) -> _M:
    try:
        return model.model_validate(dict(value))
    except ValidationError as error:
        raise ScenarioError(path, line, "; ".join(_reasons(error))) from error


def _reasons(error: ValidationError) -> list[str]:
    """One clause a fault, in words that name the key as the file has it."""
    said: dict[str, str] = {}
    for detail in error.errors(include_url=False):
        where = ".".join(str(part) for part in detail["loc"] if part not in ("str", "int", "float", "bool"))
        text = detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
        if detail["type"] == "missing":
            text = "is missing"
        elif detail["type"] == "string_pattern_mismatch" or detail["type"] == "string_too_short":
            text = "is empty"
        elif detail["type"] == "string_too_long":
            text = f"is longer than {MESSAGE_LIMIT} characters"
        else:
            text = text[:1].lower() + text[1:]
        said.setdefault(where, f"'{where}' {text}" if where else text)
    return list(said.values())

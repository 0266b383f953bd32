"""Scenes for tests of what is answered without a model and of what a model is shown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from bot.meeting.model import Language, LedgerView, Message, Route, Scene, Speaker
from tests.minutes.made import START, meeting

PEOPLE = {"ja": ("佐藤", "田中", "鈴木"), "en": ("Aiko", "Ben", "Chris")}
TITLE = {"ja": "公開前の打ち合わせ", "en": "Launch check"}
AGENDA = {"ja": ("公開日", "お知らせ"), "en": ("Launch date", "Announcement")}


def messages(language: Language, *said: tuple[int, str], first: int = 1) -> tuple[Message, ...]:
    """Messages by (place of the author in PEOPLE, text), ten seconds apart; person 0 is in the chair."""
    return tuple(
        Message(42, 1000 + n, who + 5, PEOPLE[language][who], text, START + timedelta(seconds=10 * n))
        for n, (who, text) in enumerate(said, start=first)
    )


def scene(
    route: Route = Route.TURN,
    language: Language = "ja",
    *said: tuple[int, str],
    ledger: LedgerView | None = None,
    before: Sequence[Any] = (),
    changes: dict[str, Any] | None = None,
    **more: Any,
) -> Scene:
    """A scene whose unread messages are `said`, after the history `before`."""
    unread = messages(language, *said, first=len(before) + 1)
    people = [Speaker(n + 5, name, 3, 60) for n, name in enumerate(PEOPLE[language])]
    about = {
        "language": language,
        "title": TITLE[language],
        "agenda": AGENDA[language],
        "chair_id": 5,
        "chair_name": PEOPLE[language][0],
    }
    values = {
        "now": START + timedelta(minutes=5),
        "speakers": tuple(people),
        "history": (*before, *unread),
        "unread": unread,
        **more,
    }
    return Scene(
        route=route, meeting=meeting(**{**about, **(changes or {})}), ledger=ledger or LedgerView(), **values
    )

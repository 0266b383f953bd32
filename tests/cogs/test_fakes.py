"""The recording services take exactly the calls that the real ones take."""

from __future__ import annotations

import inspect

import pytest

from bot.app import App
from bot.assistant.chat import Chat
from bot.assistant.service import Assistant
from bot.facilitation.meetings import Meetings
from bot.minutes.archive import Minutes
from tests.cogs.fakes import (
    RecordingApp,
    RecordingAssistant,
    RecordingChat,
    RecordingMeetings,
    RecordingMinutes,
)

PAIRS = [
    (RecordingMeetings, Meetings),
    (RecordingMinutes, Minutes),
    (RecordingAssistant, Assistant),
    (RecordingApp, App),
    (RecordingChat, Chat),
]


@pytest.mark.parametrize(("fake", "real"), PAIRS)
def test_each_method_of_a_fake_has_the_real_parameters(fake: type, real: type) -> None:
    methods = [n for n, m in vars(fake).items() if inspect.isfunction(m) and not n.startswith("_")]
    checked = [n for n in methods if n not in ("meeting", "named")]  # the fake's own, no call of a cog
    assert checked
    for name in checked:
        expected = [(p.name, p.kind) for p in inspect.signature(getattr(real, name)).parameters.values()]
        assert [
            (p.name, p.kind) for p in inspect.signature(getattr(fake, name)).parameters.values()
        ] == expected


def test_a_fake_records_and_fails_as_told() -> None:
    meetings = RecordingMeetings()
    meetings.failing["recover"] = ValueError("x")
    with pytest.raises(ValueError, match="x"):
        meetings._note("recover")
    assert meetings.named("recover") == [()]

"""Buttons: what each does, after a restart too, and how they fail."""

from __future__ import annotations

from typing import Any

import pytest

from bot.client import build_bot
from bot.errors import BadInput
from bot.phrases import t
from bot.stage import Button, Outgoing
from cogs._views import ACTIONS
from tests.cogs.conftest import Planned, World
from tests.cogs.fakes import RecordingApp
from tests.cogs.test_commands import said, word

BUTTONS = tuple(Button(action, action, "primary") for action in ACTIONS if action != "confirm_all")


async def board(world: World, *more: Button) -> Any:
    post = Outgoing("ボード", buttons=(*BUTTONS, *more), meeting_id=17)
    await world.do(world.app.stage.say(world.place, post))
    return world.channel.last_message


async def restarted(world: World) -> RecordingApp:
    app = RecordingApp()
    await world.env.restart_bot(build_bot(app))  # type: ignore[arg-type]
    return app


@pytest.mark.parametrize("locale", ["en-US", "ja"])
@pytest.mark.parametrize(
    ("action", "method", "reply"),
    [
        ("end", "end", "reply.ending"),
        ("close_now", "close_now", "reply.closing_now"),
        ("keep_going", "keep_going", "reply.kept_going"),
    ],
)
async def test_a_button_works_after_a_restart(
    world: World, speak: Any, locale: str, action: str, method: str, reply: str
) -> None:
    speak(locale)
    message = await board(world)
    app = await restarted(world)
    result = await world.guest.click(message, custom_id=f"ketsugi:{action}:17")
    assert said(result) == word(locale, reply)
    (call,) = app.meetings.named(method)
    assert call[0] == (world.place if action == "end" else 17)
    assert call[1].id == world.guest.id
    assert call[-1]  # the interaction's id, by which a repeated click is known


async def test_extending_and_confirming(world: World) -> None:
    message = await board(world)
    assert "10" in said(await world.guest.click(message, label="extend"))
    assert world.meetings.named("extend")[0][0] == 17
    assert world.meetings.named("extend")[0][2] == 10
    read_back = Outgoing("?", buttons=(Button("confirm_all", "✅", "success"),), meeting_id=17)
    await world.do(world.app.stage.say(world.place, read_back))
    confirmed = await world.chair.click(world.channel.last_message, label="✅")
    assert said(confirmed) == t("reply.confirmed_all", "en", count=2)
    assert world.meetings.named("confirm")[0][:2] == (world.place, None)


@pytest.mark.parametrize("locale", ["en-US", "ja"])
async def test_correcting_after_a_restart(world: World, speak: Any, locale: str) -> None:
    speak(locale)
    message = await board(world)
    app = await restarted(world)
    shown = await world.guest.click(message, label="correct")
    assert shown.modal["title"] == word(locale, "form.correct.title")
    result = await world.guest.submit_modal(shown, {"text": "決定：価格は1,080円"})
    assert said(result) == word(locale, "reply.corrected") + "\n#9 価格は1,080円"
    assert app.meetings.named("correct")[0][0] == 17
    assert app.meetings.named("correct")[0][2] == "決定：価格は1,080円"


@pytest.mark.parametrize("locale", ["en-US", "ja"])
async def test_failing_buttons_and_forms_answer(world: World, speak: Any, locale: str) -> None:
    speak(locale)
    message = await board(world)
    world.meetings.failing["close_now"] = BadInput("error.not_closing")
    refused = await world.guest.click(message, label="close_now")
    assert said(refused) == word(locale, "error.not_closing")
    world.meetings.failing["correct"] = Planned("boom")
    shown = await world.guest.click(message, label="correct")
    failed = await world.guest.submit_modal(shown, {"text": "x"})
    assert said(failed) == word(locale, "error.unexpected")


async def test_a_button_of_another_time_is_answered(world: World) -> None:
    message = await board(world, Button("vanished", "old"))
    assert said(await world.guest.click(message, label="old")) == t("error.outdated_button", "en")


async def test_foreign_ids_are_left_alone(world: World) -> None:
    import re

    from cogs._views import MeetingButton

    pattern: re.Pattern[str] = MeetingButton.__discord_ui_compiled_template__
    for custom_id in (
        "ketsugi:end",
        "ketsugi:end:x",
        "ketsugi:end:1:2",
        "other:end:1",
        "ketsugi:end:" + "9" * 30,
    ):
        assert pattern.fullmatch(custom_id) is None
    assert pattern.fullmatch("ketsugi:confirm_all:1")

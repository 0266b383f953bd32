"""The thread of the minutes is locked when they go out: the product on the simulated Discord."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.meeting.model import MeetingState
from bot.phrases import t
from bot.store import meetings
from tests.cogs.real import Product, product
from tests.cogs.test_experience import LANGUAGES, board, end, shown, start, verified, with_file


async def state(world: Product) -> MeetingState:
    meeting = await world.app.db.unit(lambda c: meetings.get(c, 1))
    assert meeting is not None
    return meeting.state


@pytest.mark.parametrize(("language", "locale"), LANGUAGES)
async def test_minutes_whose_thread_is_locked_go_to_the_chair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: Any, locale: str
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        world.locale = locale
        await start(world, language=language)
        await world.say(
            world.guest, "決定：価格は980円" if language == "ja" else "Decision: the price is 980 yen"
        )
        thread = board(world).id  # a thread made from a message has that message's id
        world.env.inject_error("POST", f"/channels/{thread}/messages", status=403, code=160005, times=None)
        await end(world)
        (message,) = world.mine(world.chair.user.dm_channel.id)
        assert t("post.minutes_by_dm", language, title="定例", number=1) in message.content
        assert [a["filename"] for a in message.attachments] == ["minutes.md"]
        assert with_file(world) == [message.channel_id]

        await world.slash(world.guest, "minutes show")
        assert "980" in json.dumps([embed.to_dict() for embed in world.last.embeds])
        assert [a.filename for a in world.last.attachments] == ["minutes.md"]

        assert await state(world) is MeetingState.CLOSED
        assert t("board.closed", language) in shown(world)
        await verified(world)

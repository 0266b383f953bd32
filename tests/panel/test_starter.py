"""The post that a panel's thread hangs on is seen once, whatever becomes of the request, the process or the command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

import pytest

from bot import phrases
from bot.errors import BadInput
from bot.meeting.model import ChannelKind
from bot.stage import Busy, Refused, Uncertain
from tests.crash.world import Calm
from tests.facilitation.sitting import PLACE, Sitting, held
from tests.panel.held import start

T = TypeVar("T")
TOPIC = "新しいゲームの企画"
STARTER = phrases.t("panel.starter", "ja", topic=TOPIC)


class Lossy(Calm):
    """The next calls of `names` fail with `error`, applied before where `applied` says so."""

    def __init__(self, *names: str, error: Exception, times: int = 1, applied: bool = False) -> None:
        self.names, self.error, self.times, self.applied = names, error, times, applied

    async def call(self, kind: Literal["stage", "model"], name: str, apply: Callable[[], T]) -> T:
        if name in self.names and self.times > 0:
            self.times -= 1
            if self.applied:
                await super().call(kind, name, apply)
            raise self.error
        return await super().call(kind, name, apply)


def starters(sitting: Sitting) -> list[int]:
    channel = sitting.world.channels.get(PLACE.channel_id, [])
    return [m.message_id for m in channel if m.mine and m.text == STARTER]


async def begin(sitting: Sitting, title: str = TOPIC) -> None:
    await start(sitting, kind=ChannelKind.TEXT, title=title)


@pytest.mark.parametrize("nonce", ["remembered", "expired"])
@pytest.mark.parametrize("applied", [True, False])
def test_a_lost_answer_is_no_second_post_and_no_error(applied: bool, nonce: str) -> None:
    tap = Lossy("say", error=Uncertain("500"), applied=applied)

    async def story(sitting: Sitting) -> None:
        if nonce == "expired":
            say = sitting.world.say
            sitting.world.say = lambda place, post, nonce: say(place, post, None)  # type: ignore[method-assign]
        await begin(sitting)
        assert starters(sitting) == [sitting.place.channel_id]
        await sitting.close(ask=False)

    held(story, tap=tap)


def test_a_pause_that_discord_asks_for_is_made() -> None:
    async def story(sitting: Sitting) -> None:
        await begin(sitting)
        assert len(starters(sitting)) == 1
        await sitting.close(ask=False)

    held(story, tap=Lossy("say", error=Busy(3.0)))


def test_who_tries_again_gets_the_post_that_stands_there() -> None:
    tap = Lossy("open_thread", error=Uncertain("500"))

    async def story(sitting: Sitting) -> None:
        with pytest.raises(BadInput):
            await begin(sitting)
        (left,) = starters(sitting)
        await begin(sitting)
        assert starters(sitting) == [left] == [sitting.place.channel_id]
        await sitting.close(ask=False)

    held(story, tap=tap)


def test_a_second_panel_on_the_same_topic_gets_a_post_of_its_own() -> None:
    async def story(sitting: Sitting) -> None:
        await begin(sitting)
        first = sitting.place.channel_id
        await sitting.close(ask=False)
        await begin(sitting)
        assert starters(sitting) == [first, sitting.place.channel_id]
        await sitting.close(ask=False)

    held(story)


def test_a_channel_whose_history_is_closed_is_no_obstacle() -> None:
    async def story(sitting: Sitting) -> None:
        await begin(sitting)
        assert len(starters(sitting)) == 1
        await sitting.close(ask=False)

    held(story, tap=Lossy("history", error=Refused("forbidden", "50001")))


def test_where_nothing_can_be_posted_people_are_told_and_not_kept() -> None:
    tap = Lossy("say", error=Uncertain("500"), times=100)

    async def story(sitting: Sitting) -> None:
        await sitting.start()
        tap.times = 100
        before = sitting.now()
        with pytest.raises(BadInput):
            await begin(sitting)
        assert (sitting.now() - before).total_seconds() < 60
        assert not starters(sitting)
        tap.times = 0

    tap.times = 0
    held(story, tap=tap)

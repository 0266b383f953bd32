"""SIGTERM with a post on its way: finished within the grace, or cut off and put right by the next start."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Literal, get_args

import pytest

import bot.run as running
from bot.settings import Settings
from bot.stage import Outgoing, Place, Uncertain
from bot.store import engine, outbox, overview
from bot.store.outbox import Post
from tests.crash.instant import Folder, run_instant
from tests.crash.search import LONG_S
from tests.crash.table import Table
from tests.crash.world import Link, Posted, World
from tests.test_run import TOKEN, Gateway

What = Literal["answer", "minutes"]
LONGEST_S = 10.0


class SlowLink(Link):
    """The first post that `slow` picks takes `seconds` there and back; Discord applies it after `applied` seconds.

    What was sent is applied although its sender is gone by then; None: it never got there.
    """

    def __init__(
        self, table: Table, slow: Callable[[Outgoing], bool], seconds: float, applied: float | None
    ) -> None:
        super().__init__(table.world)
        self.slow, self.seconds, self.applied = slow, seconds, applied
        self.begun, self.cut = asyncio.Event(), asyncio.Event()
        self.nonce: str | None = None

    async def say(self, place: Place, post: Outgoing) -> int:
        if self.begun.is_set() or not self.slow(post):
            return await super().say(place, post)
        self.nonce = post.nonce
        self.begun.set()
        there: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        if self.applied is not None:
            asyncio.get_running_loop().call_later(self.applied, self._arrive, place, post, there)
        with suppress(TimeoutError):
            await asyncio.wait_for(self.cut.wait(), self.seconds)
            raise Uncertain("the session is closed")
        return await there

    def _arrive(self, place: Place, post: Outgoing, there: asyncio.Future[int]) -> None:
        message_id = self.world.say(place, post, post.nonce)
        if not there.done():
            there.set_result(message_id)


def is_it(what: What) -> Callable[[Outgoing], bool]:
    if what == "minutes":
        return lambda post: any(f.name == "minutes.md" for f in post.files)
    return lambda post: post.reply_to is not None


@pytest.fixture
def url() -> Iterator[str]:
    folder = Folder()
    yield folder.fresh()
    folder.close()


class Connection(Gateway):
    """Closing the client ends its HTTP session too: what is still under way then fails."""

    def __init__(self, link: SlowLink) -> None:
        super().__init__()
        self._link = link

    async def close(self) -> None:
        await super().close()
        self._link.cut.set()


async def stopped_with_a_post_under_way(
    t: Table, link: SlowLink, what: What, monkeypatch: pytest.MonkeyPatch
) -> float:
    """SIGTERM one second after the slow post began; the seconds until the process was gone.

    As `bot.run._run` does it from the signal on: the handler sets `stop`, `_until_stopped` returns, the
    application closes.
    """
    monkeypatch.setattr(running, "build_bot", lambda app: Connection(link))
    t.app.attach(link)
    t.app.supervise()
    stop = asyncio.Event()
    connected = asyncio.create_task(running._until_stopped(t.app, Settings(discord_token=TOKEN), stop))
    await t.start()
    await asyncio.sleep(5)
    await t.say("佐藤", "決定：公開日は木曜にする", then=5)
    if what == "minutes":
        await t.end(now=True)
    else:
        await t.say("田中", "@アシスタント ここまでの決定事項を教えて")
    async with asyncio.timeout(300):
        await link.begun.wait()
    await asyncio.sleep(1)
    began = t.seconds
    stop.set()
    await connected
    await t.app.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}, "nothing of the process runs on"
    return t.seconds - began


async def lives(
    monkeypatch: pytest.MonkeyPatch, url: str, what: What, *, seconds: float, applied: float | None
) -> None:
    """A process that is stopped, and the one that is started after any nonce has expired; the story both must tell."""
    first = Table(url=url)
    link = SlowLink(first, is_it(what), seconds, applied)
    async with first:
        took = await stopped_with_a_post_under_way(first, link, what, monkeypatch)
    assert took <= LONGEST_S
    finished = seconds - 1 < running.FINISH_S
    stood = [m.message_id for m in standing(first.world, link)]
    assert len(stood) == (1 if finished or applied == 0 else 0)
    await asyncio.sleep(LONG_S)

    second = Table(url=url)
    second.world = first.world
    async with second:
        row = await recorded(second, link)
        assert (row.state, row.message_id) == (("sent", stood[0]) if finished else ("pending", None))
        await second.app.meetings.recover()
        await asyncio.sleep(60)
        if what == "answer":
            await second.end(now=True)
        await second.over()
        (post,) = standing(second.world, link)
        row = await recorded(second, link)
        assert (row.state, row.message_id) == ("sent", post.message_id)
        assert not stood or stood == [post.message_id]
        assert len(second.minutes) == 1
        assert not first.errors + second.errors
    assert Counter(m.tag for m in first.world.mine).most_common(1)[0][1] == 1


def standing(world: World, link: SlowLink) -> list[Posted]:
    return [m for m in world.mine if m.tag == link.nonce]


async def recorded(t: Table, link: SlowLink) -> Post:
    async def work(c: engine.Connection) -> list[Post | None]:
        return [await outbox.get(c, 1, header.key) for header in await overview.posts(c, 1)]

    (row,) = [post for post in await t.app.db.unit(work) if post is not None and post.nonce == link.nonce]
    return row


@pytest.mark.parametrize("what", get_args(What))
def test_a_post_under_way_is_finished_and_recorded(
    monkeypatch: pytest.MonkeyPatch, url: str, what: What
) -> None:
    run_instant(lives(monkeypatch, url, what, seconds=5.0, applied=0.5))


@pytest.mark.parametrize(
    "applied", [0.0, 25.0, None], ids=["applied at once", "applied later", "never applied"]
)
@pytest.mark.parametrize("what", get_args(What))
def test_a_post_that_takes_longer_is_cut_off_and_stands_once_after_the_next_start(
    monkeypatch: pytest.MonkeyPatch, url: str, what: What, applied: float | None
) -> None:
    run_instant(lives(monkeypatch, url, what, seconds=60.0, applied=applied))

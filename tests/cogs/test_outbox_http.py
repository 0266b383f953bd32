"""The outbox over discord.py's real HTTP client: what was posted while its answer was lost shows up once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from bot.app import build
from bot.facilitation import opening
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import deliver, put_post
from bot.facilitation.requests import Person, StartRequest
from bot.facilitation.room import Room
from bot.meeting.model import ChannelKind, MeetingState, Persona
from bot.settings import Settings
from bot.stage import Attachment, Embed, Outgoing, Place
from bot.store import outbox
from bot.store.engine import Connection
from bot.store.outbox import Post
from cogs._stage import DiscordStage
from tests.cogs.fakes import NOW
from tests.cogs.wire import Remembering, listening, logged_in, reply, reset

KEY = "the post"
POSTS = {
    "words": Outgoing("**決定**しました。", Persona.FACILITATOR, "ja"),
    "an embed": Outgoing("", embeds=(Embed("決定", footer="ketsugi:1:x"),)),
    "files": Outgoing("議事録", files=(Attachment("minutes.md", b"# m"), Attachment("minutes.json", b"{}"))),
}

REQUEST = StartRequest(
    place=Place(1, 2),
    channel_kind=ChannelKind.TEXT,
    by=Person(4, "佐藤", manager=False),
    title="定例",
    agenda=(),
    constraints=(),
    minutes=30,
    language="ja",
    interaction_id=None,
)


@dataclass
class Outbox:
    """One open meeting over a Discord that remembers; nothing is sent but by `deliver`."""

    discord: Remembering
    core: Core
    room: Room

    async def put(self, post: Outgoing) -> None:
        async def work(c: Connection) -> Change:
            return Change(posts=await put_post(c, self.room, KEY, post, now=NOW, route=None))

        await self.core.commit(self.room, work)

    async def deliver(self) -> Post:
        """The post's row after one delivery."""
        await deliver(self.core, self.room)
        row = await self.core.db.unit(lambda c: outbox.get(c, self.room.id, KEY))
        assert row is not None
        return row

    @property
    def shown(self) -> list[int]:
        """Ids of what stands in the channel after the kickoff."""
        return [int(m["id"]) for m in self.discord.messages[1:]]


@asynccontextmanager
async def opened(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Outbox]:
    discord = Remembering(lambda: NOW)
    app = build(Settings(database_url="sqlite://", model="offline", seed=1), lambda: NOW)
    app.core.arm = lambda key, at: None
    async with listening(discord, monkeypatch), logged_in() as client:
        await app.open()
        try:
            app.attach(DiscordStage(client, timeout=5.0))
            room = await opening.create(app.core, REQUEST, "ja", "Asia/Tokyo")
            await deliver(app.core, room)
            assert room.meeting.state is MeetingState.OPEN
            yield Outbox(discord, app.core, room)
        finally:
            await app.close()


@pytest.mark.parametrize("lock", ["both", "the nonce alone", "the history alone"])
@pytest.mark.parametrize("kind", POSTS)
async def test_a_post_whose_answer_was_lost_stands_there_once(
    monkeypatch: pytest.MonkeyPatch, kind: str, lock: str
) -> None:
    async with opened(monkeypatch) as box:
        await box.put(POSTS[kind])
        box.discord.lose = reset
        row = await box.deliver()
        assert row.state == "pending"  # nobody knows
        assert len(box.shown) == 1
        if lock == "the nonce alone":
            box.discord.blind = True
        if lock == "the history alone":
            box.discord.nonces.clear()
        row = await box.deliver()
        assert row.state == "sent"
        assert box.shown == [row.message_id]


async def test_without_nonce_and_history_it_would_stand_there_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Discord of these tests is one that shows the fault."""
    async with opened(monkeypatch) as box:
        await box.put(POSTS["words"])
        box.discord.lose = reset
        await box.deliver()
        box.discord.blind = True
        box.discord.nonces.clear()
        await box.deliver()
        assert len(box.shown) == 2


async def test_discord_py_itself_repeats_a_502_with_the_same_nonce(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(monkeypatch) as box:
        await box.put(POSTS["files"])
        box.discord.lose = lambda request: reply({"code": 0, "message": "bad gateway"}, status=502)
        row = await box.deliver()
        assert row.state == "sent"
        assert box.shown == [row.message_id]
        assert len([r for r in box.discord.requests if r == ("POST", "/channels/2/messages")]) == 3

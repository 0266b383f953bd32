"""The outbox: frozen bytes, attempts, and one winner."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import StoreError
from bot.meeting.model import Meeting, OwnPost, Persona, Route
from bot.store import outbox
from bot.store.engine import Database
from bot.store.outbox import Post

from .conftest import GUILD, NOW, make_meeting


async def put(c: AsyncConnection, meeting_id: int, key: str, **changes: Any) -> Post | None:
    values: dict[str, Any] = {"persona": Persona.FACILITATOR, "route": Route.TURN, "text": f"text of {key}"}
    return await outbox.put(c, guild_id=GUILD, meeting_id=meeting_id, key=key, now=NOW, **(values | changes))


async def owed(database: Database, meeting: Meeting, key: str, **changes: Any) -> Post:
    post = await database.unit(lambda c: put(c, meeting.id, key, **changes))
    assert post is not None
    return post


async def test_a_post_comes_back_with_the_very_same_bytes(database: Database, meeting: Meeting) -> None:
    payload = {"buttons": [{"action": "end", "label": "終了"}], "target": 2**62, "pin": True}
    files = [("minutes.md", "# 議事録\n".encode()), ("empty.bin", b""), ("all.bin", bytes(range(256)))]
    post = await owed(
        database, meeting, "minutes", kind="minutes", where="thread", payload=payload, files=files,
        reply_to=5, source="first",
    )  # fmt: skip
    assert (post.payload, post.files, post.kind, post.where) == (payload, tuple(files), "minutes", "thread")
    assert await database.unit(lambda c: outbox.due(c, meeting.id)) == [post]
    assert await database.unit(lambda c: outbox.get(c, meeting.id, "minutes")) == post
    assert await database.unit(lambda c: outbox.get(c, meeting.id, "other")) is None


async def test_a_key_is_owed_once_and_the_first_bytes_stand(database: Database, meeting: Meeting) -> None:
    first = await owed(database, meeting, "opening", text="始めます")
    assert (
        await database.unit(lambda c: put(c, meeting.id, "opening", text="他の文", files=[("a", b"")]))
        is None
    )
    assert await database.unit(lambda c: outbox.due(c, meeting.id)) == [first]


async def test_due_is_in_the_order_of_putting(database: Database, meeting: Meeting) -> None:
    for key in ("z", "a", "m"):
        await owed(database, meeting, key)
    assert [p.key for p in await database.unit(lambda c: outbox.due(c, meeting.id))] == ["z", "a", "m"]


async def test_the_nonce_is_the_same_for_every_attempt_and_another_for_every_database(
    database: Database, meeting: Meeting
) -> None:
    one, two = await owed(database, meeting, "a"), await owed(database, meeting, "b")
    assert len(one.nonce) == 25
    assert one.nonce != two.nonce
    again = await database.unit(lambda c: outbox.get(c, meeting.id, "a"))
    assert again is not None
    assert again.nonce == one.nonce
    nonces = []
    for salt in (b"s" * 16, b"s" * 16, b"t" * 16):
        other = Database("sqlite://", salt=lambda s=salt: s)
        await other.open()
        other_meeting = await other.unit(make_meeting)
        nonces.append((await owed(other, other_meeting, "a")).nonce)
        await other.close()
    assert nonces[0] == nonces[1] != nonces[2]
    assert one.nonce not in nonces


async def test_attempts_before_this_one_are_counted(database: Database, meeting: Meeting) -> None:
    post = await owed(database, meeting, "a")
    for before in range(3):
        assert await database.unit(lambda c: outbox.begin_attempt(c, post.id, "process 1", NOW)) == before


async def test_of_two_that_sent_the_first_recorded_wins(database: Database, meeting: Meeting) -> None:
    post = await owed(database, meeting, "a")
    won = await asyncio.gather(
        *(database.unit(lambda c, m=message: outbox.sent(c, post.id, m, NOW)) for message in (101, 102))
    )
    assert won == [True, False]
    assert await database.unit(lambda c: outbox.sent_ids(c, meeting.id)) == {101}
    assert await database.unit(lambda c: outbox.due(c, meeting.id)) == []
    assert not await database.unit(lambda c: outbox.fail(c, post.id, "gone", NOW))


async def test_what_was_given_up_is_not_sent_any_more(database: Database, meeting: Meeting) -> None:
    post = await owed(database, meeting, "a")
    assert await database.unit(lambda c: outbox.fail(c, post.id, "gone", NOW))
    assert not await database.unit(lambda c: outbox.sent(c, post.id, 101, NOW))
    dropped = await database.unit(lambda c: outbox.get(c, meeting.id, "a"))
    assert dropped is not None
    assert (dropped.state, dropped.failure, dropped.message_id) == ("failed", "gone", None)


async def test_history_holds_what_facilitator_and_assistant_were_seen_to_say(
    database: Database, meeting: Meeting
) -> None:
    async def work(c: AsyncConnection) -> None:
        kinds: tuple[dict[str, Any], ...] = (
            {},
            {"persona": Persona.ASSISTANT, "route": Route.HAND_OFF, "source": "fixed"},
            {"persona": Persona.SYSTEM, "route": None},
            {"kind": "reaction", "payload": {"target": 55}},
            {"kind": "minutes"},
            {"kind": "dm"},
        )
        for number, changes in enumerate(kinds):
            post = await put(c, meeting.id, str(number), **changes)
            assert post is not None
            await outbox.sent(c, post.id, 100 + number, NOW)
        await put(c, meeting.id, "not sent yet")

    await database.unit(work)
    said = [
        OwnPost(100, Persona.FACILITATOR, Route.TURN, "text of 0", NOW, None),
        OwnPost(101, Persona.ASSISTANT, Route.HAND_OFF, "text of 1", NOW, "fixed"),
    ]
    assert await database.unit(lambda c: outbox.everything_own(c, meeting.id)) == said
    assert await database.unit(lambda c: outbox.recent_own(c, meeting.id, 1)) == said[1:]
    assert await database.unit(lambda c: outbox.sent_ids(c, meeting.id)) == {100, 101, 102, 104, 105}


@pytest.mark.parametrize("changes", [{"kind": "letter"}, {"where": "attic"}])
async def test_an_unknown_kind_or_place_is_refused(
    database: Database, meeting: Meeting, changes: dict[str, str]
) -> None:
    with pytest.raises(StoreError):
        await database.unit(lambda c: put(c, meeting.id, "a", **changes))

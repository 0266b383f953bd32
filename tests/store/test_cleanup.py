"""What an erasure owes in Discord survives in rows, and names exactly the posts that repeat the person."""

from __future__ import annotations

from bot.meeting.model import Meeting
from bot.store import cleanup, outbox, person, transcript
from bot.store.engine import Connection, Database
from tests.store.conftest import GUILD, NOW, SUZUKI, said

QUOTE = "価格は980円にしましょう"


async def _posted(
    c: Connection, meeting: Meeting, key: str, message_id: int, text: str, kind: str = "post"
) -> None:
    post = await outbox.put(
        c,
        guild_id=GUILD,
        meeting_id=meeting.id,
        key=key,
        persona="facilitator",
        kind=kind,
        text=text,
        payload={"embeds": []},
        where="thread" if kind == "minutes" else "channel",
        now=NOW,
    )
    assert post is not None
    await outbox.sent(c, post.id, message_id, NOW)


async def test_posts_that_repeat_the_person_are_owed_and_no_others(
    database: Database, meeting: Meeting
) -> None:
    async def work(c: Connection) -> None:
        await transcript.add(c, said(meeting.id, 5, QUOTE, author_id=SUZUKI, author_name="鈴木"), GUILD)
        await transcript.add(c, said(meeting.id, 6, "OK", author_id=SUZUKI, author_name="鈴木"), GUILD)
        await _posted(c, meeting, "kickoff", 101, "料金会議を始めます")
        await _posted(c, meeting, "turn:1", 102, f"「{QUOTE}」ですね")
        await _posted(c, meeting, "turn:2", 103, "鈴木さん、いかがですか")
        await _posted(c, meeting, "turn:3", 104, "OKなら次に進みます")
        await _posted(c, meeting, "minutes", 105, "議事録", kind="minutes")
        await person.erase_person(c, GUILD, SUZUKI, NOW)

    await database.unit(work)
    owed = await database.unit(cleanup.owed)
    assert {(p.key, p.owed) for p in owed} == {
        ("kickoff", "replace"),
        ("turn:1", "remove"),
        ("turn:2", "remove"),
        ("minutes", "replace"),
    }
    assert {p.key for p in owed if p.thread} == {"minutes"}
    for post in owed[1:]:
        await database.unit(lambda c, post=post: cleanup.done(c, post.post_id))  # type: ignore[misc]
    assert [p.key for p in await database.unit(cleanup.owed)] == [owed[0].key]


async def test_messages_of_a_meeting_are_those_that_stand_in_discord(
    database: Database, meeting: Meeting
) -> None:
    async def work(c: Connection) -> list[int]:
        await _posted(c, meeting, "kickoff", 101, "料金会議を始めます")
        await _posted(c, meeting, "minutes", 105, "議事録", kind="minutes")
        await outbox.put(
            c, guild_id=GUILD, meeting_id=meeting.id, key="late", persona="system", text="まだ", now=NOW
        )
        return [p.message_id for p in await cleanup.messages(c, meeting.id)]

    assert await database.unit(work) == [105, 101]

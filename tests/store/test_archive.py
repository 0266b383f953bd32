"""Forgetting: erasure leaves no byte, retention takes what is due and nothing else."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.guard.model import Attempt, Generated, Outcome, Source, Verdict
from bot.meeting.model import EntryKind, Meeting, MeetingState, NewEntry, Origin, Persona, Route
from bot.store import (
    archive,
    engine,
    generations,
    ledger,
    meetings,
    minutes,
    outbox,
    passages,
    person,
    schema,
    servers,
    transcript,
)
from bot.store.archive import Swept
from bot.store.engine import Database
from bot.store.person import ErasedPerson

from .conftest import CHANNEL, GUILD, NOW, SATO, SUZUKI, make_meeting, said

# Words that only this person's rows and what was made of them hold.
NAME, WORDS = "山田花子ヤマダ", "暗証の合言葉はヒスイ"
TOKENS = ("暗証", "証の", "合言", "ひす", "山田", "田花")  # as the full-text index keeps them
YAMADA = 10**18 + 77


def _bytes(path: Path | None) -> bytes:
    assert path is not None
    return b"".join(p.read_bytes() for p in sorted(path.parent.iterdir()))


async def full_meeting(c: AsyncConnection, salt: Any, **changes: Any) -> Meeting:
    """A meeting in which Yamada said her words and every kind of row repeats them; Suzuki said others."""
    meeting = await make_meeting(c, **({"chair_id": YAMADA, "chair_name": NAME} | changes))
    number, guild = meeting.id, meeting.guild_id
    for i in range(40):  # more than one page
        mine = said(number, 10 + i, f"{WORDS} {i} " * 20, author_id=YAMADA, author_name=NAME)
        await transcript.add(c, mine, guild)
    await transcript.add(c, said(number, 60, "発売は五月", author_id=SUZUKI, author_name="鈴木"), guild)
    await transcript.edit(c, number, 10, f"{WORDS} 改", NOW)
    await transcript.react(c, guild, number, 60, YAMADA, NAME, "👍", True, NOW)
    entries = [
        NewEntry(EntryKind.DECISION, WORDS, "m:10:0", Origin.MARK, YAMADA, NAME, WORDS, 10),
        NewEntry(EntryKind.DECISION, "発売は五月", "m:60:0", Origin.MARK, SUZUKI, "鈴木", "発売は五月", 60),
        NewEntry(
            EntryKind.ACTION, "表を作る", "m:60:1", Origin.MARK, SUZUKI, "鈴木", "表を作る", 60, owner=NAME
        ),
        NewEntry(EntryKind.DECISION, WORDS, "i:5", Origin.MENU, SUZUKI, "鈴木", WORDS, 11),
    ]
    await ledger.append(c, guild, number, entries, NOW, salt)
    verdict = Verdict("names", Outcome.FIRED, f"{NAME}は記録にない")
    attempt = Attempt(f"{NAME}さん、{WORDS}ですね", (verdict,), version="v")
    made = Generated(text=f"{NAME}さん", source=Source.FIRST, attempts=(attempt,), final_verdicts=(verdict,))
    await generations.record(c, guild, number, Route.TURN, made, NOW)
    for key, kind in (("turn", "post"), ("minutes", "minutes"), ("later", "post")):
        post = await outbox.put(
            c, guild_id=guild, meeting_id=number, key=key, persona=Persona.FACILITATOR, now=NOW, kind=kind,
            text=f"{NAME}: {WORDS}",
            payload={"embeds": [WORDS], "hand_off": True, "unprompted": 3, "target": YAMADA},
            files=[("minutes.md", f"{NAME} {WORDS}".encode())],
        )  # fmt: skip
        assert post is not None
        await outbox.begin_attempt(c, post.id, "me", NOW)
        if key != "later":
            await outbox.sent(c, post.id, 100 + post.id, NOW)
    await minutes.save_draft(c, guild, number, f'{{"x": "{WORDS}"}}', f"{NAME} {WORDS}", "d", NOW)
    await minutes.add_erratum(
        c, guild_id=guild, meeting_id=number, text=WORDS, author_id=YAMADA, author_name=NAME, now=NOW,
        source_key="i:1",
    )  # fmt: skip
    await meetings.mark_notice(c, number, NOW, 5, NOW)
    await meetings.once(c, 900 + number, number, NOW)
    return await meetings.update(c, number, wish_by=YAMADA, wish_quote=WORDS)


def test_the_search_for_bytes_would_find_them(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"..." + WORDS.encode())
    assert WORDS.encode() in _bytes(tmp_path / "a")


async def test_an_erased_meeting_leaves_no_row_and_no_byte(database: Database) -> None:
    kept = await database.unit(lambda c: make_meeting(c, channel_id=CHANNEL + 9))
    meeting = await database.unit(lambda c: full_meeting(c, database.salt, title=f"会議 {WORDS}"))
    await database.unit(lambda c: passages.fill(c, GUILD))
    assert WORDS.encode() in _bytes(database.path)
    assert all(token.encode() in _bytes(database.path) for token in TOKENS)
    assert not await database.unit(lambda c: archive.erase_meeting(c, GUILD + 1, meeting.id))
    assert await database.unit(lambda c: archive.erase_meeting(c, GUILD, meeting.id))
    found = _bytes(database.path)  # while the database is open and running
    assert WORDS.encode() not in found
    assert NAME.encode() not in found
    assert not any(token.encode() in found for token in TOKENS)

    async def rows(c: AsyncConnection) -> dict[str, int]:
        counts = {}
        for name, table in schema.metadata.tables.items():
            count = (await c.execute(sa.select(sa.func.count()).select_from(table))).scalar_one()
            counts[name] = count
        return {name: count for name, count in counts.items() if count}

    assert await database.unit(rows) == {"meta": 1, "meetings": 1, "indexed": 1}  # of the one that is kept
    assert await database.unit(lambda c: meetings.get(c, kept.id)) == kept
    again = await database.unit(make_meeting)
    assert again.id > meeting.id  # old links never lead to another meeting
    await database.check()


async def test_an_erased_person_leaves_no_byte_and_the_ledger_still_verifies(database: Database) -> None:
    meeting = await database.unit(lambda c: full_meeting(c, database.salt))
    other = await database.unit(lambda c: make_meeting(c, channel_id=CHANNEL + 1, chair_id=SUZUKI))
    await database.unit(lambda c: transcript.add(c, said(other.id, 70, "別件"), GUILD))
    await database.unit(lambda c: passages.fill(c, GUILD))
    erased = await database.unit(lambda c: person.erase_person(c, GUILD, YAMADA, NOW))
    assert erased == ErasedPerson((meeting.id,), (meeting.id,))
    found = _bytes(database.path)
    assert WORDS.encode() not in found
    assert NAME.encode() not in found
    assert str(YAMADA).encode() not in found
    assert not any(token.encode() in found for token in TOKENS)

    async def after(c: AsyncConnection) -> None:
        assert await ledger.verify(c, meeting.id) is None
        entries = await ledger.everything(c, meeting.id)
        assert [e.text for e in entries] == ["", "発売は五月", "表を作る", ""]
        assert [e.author_name for e in entries] == ["", "鈴木", "鈴木", "鈴木"]
        assert [e.owner for e in entries] == [None] * 4
        assert [e.redacted for e in entries] == [True, False, True, True]
        assert [m.text for m in await transcript.everything(c, meeting.id)] == ["発売は五月"]
        assert not await transcript.add(c, said(meeting.id, 12, WORDS, author_id=YAMADA), GUILD)
        assert await transcript.last_id(c, meeting.id) == 60
        row = await meetings.get(c, meeting.id)
        assert row is not None
        assert (row.chair_id, row.chair_name, row.wish_by, row.wish_quote) == (person.NOBODY, "", None, None)
        turn = await outbox.get(c, meeting.id, "turn")
        assert turn is not None
        assert (turn.text, turn.payload, turn.files) == ("", {"hand_off": True, "unprompted": 3}, ())
        assert await outbox.due(c, meeting.id) == []
        (generation,) = await generations.everything(c, meeting.id)
        assert generation.attempts[0].verdicts == (Verdict("names", Outcome.FIRED),)
        await minutes.replace_erased(c, meeting.id, "{}", "新しい議事録", "d")

    await database.unit(after)
    assert await database.unit(lambda c: person.erase_person(c, GUILD, YAMADA, NOW)) == ErasedPerson((), ())


async def test_a_person_is_erased_from_one_server_only(database: Database) -> None:
    await database.unit(lambda c: full_meeting(c, database.salt))
    elsewhere = await database.unit(lambda c: full_meeting(c, database.salt, guild_id=GUILD + 1))
    before = await database.unit(lambda c: transcript.everything(c, elsewhere.id))
    await database.unit(lambda c: person.erase_person(c, GUILD, YAMADA, NOW))
    assert await database.unit(lambda c: transcript.everything(c, elsewhere.id)) == before
    assert await database.unit(lambda c: meetings.get(c, elsewhere.id)) == elsewhere


async def test_a_deleted_message_leaves_no_byte(database: Database, meeting: Meeting) -> None:
    await database.unit(lambda c: transcript.add(c, said(meeting.id, 1, WORDS), GUILD))
    await database.unit(lambda c: transcript.delete(c, meeting.id, 1, NOW))
    assert WORDS.encode() not in _bytes(database.path)


async def test_what_a_reader_kept_in_the_log_is_emptied_at_the_next_start(
    database: Database, url: str, meeting: Meeting
) -> None:
    await database.unit(lambda c: transcript.add(c, said(meeting.id, 1, WORDS), GUILD))
    reader = Database(url, read_only=True)
    await reader.open()

    async def while_reading(c: AsyncConnection) -> None:
        await transcript.everything(c, meeting.id)
        await database.unit(lambda c: transcript.delete(c, meeting.id, 1, NOW))

    async def outside(c: AsyncConnection) -> None:
        engine._inside.set(False)  # two databases, so this one does not wait for itself
        await while_reading(c)

    await reader.unit(outside)
    await reader.close()
    await database.close()
    await database.open()
    assert WORDS.encode() not in _bytes(database.path)


async def closed(c: AsyncConnection, salt: Any, at: datetime, **changes: Any) -> Meeting:
    meeting = await full_meeting(c, salt, **changes)
    moved = await meetings.move(c, meeting.id, [MeetingState.STARTING], MeetingState.CLOSED, closed_at=at)
    assert moved is not None
    return moved


@pytest.mark.parametrize(
    ("age", "swept", "messages", "entries"),
    [(89, Swept(), 41, 4), (90, Swept(1, 0), 0, 4), (365, Swept(0, 1), 0, 0)],
)
async def test_retention_counts_from_the_close(
    database: Database, age: int, swept: Swept, messages: int, entries: int
) -> None:
    await database.unit(lambda c: servers.save(c, servers.ServerSettings(GUILD, ledger_days=365)))
    old = await database.unit(lambda c: closed(c, database.salt, NOW - timedelta(days=age)))
    running = await database.unit(
        lambda c: full_meeting(c, database.salt, started_at=NOW - timedelta(days=999))
    )
    assert await database.unit(lambda c: archive.sweep(c, NOW)) == swept
    assert await database.unit(lambda c: archive.sweep(c, NOW)) == Swept()
    assert await database.unit(lambda c: transcript.count(c, old.id)) == messages
    assert len(await database.unit(lambda c: ledger.everything(c, old.id))) == entries
    assert await database.unit(lambda c: transcript.count(c, running.id)) == 41


async def test_without_settings_ledger_and_minutes_stay_when_the_transcript_goes(database: Database) -> None:
    old = await database.unit(lambda c: closed(c, database.salt, NOW - timedelta(days=9999)))
    assert await database.unit(lambda c: archive.sweep(c, NOW)) == Swept(1, 0)

    async def after(c: AsyncConnection) -> None:
        assert await ledger.verify(c, old.id) is None
        kept = await minutes.get(c, old.id)
        assert kept is not None
        assert WORDS in kept.text
        posted, turn = await outbox.get(c, old.id, "minutes"), await outbox.get(c, old.id, "turn")
        assert posted is not None
        assert posted.files
        assert turn is not None
        assert (turn.text, turn.files) == ("", ())

    await database.unit(after)


async def test_interactions_are_forgotten_after_two_days(database: Database) -> None:
    for age in (1, 3):
        await database.unit(lambda c, a=age: meetings.once(c, a, None, NOW - timedelta(days=a)))
    await database.unit(lambda c: archive.sweep(c, NOW))
    assert [await database.unit(lambda c, a=age: meetings.once(c, a, None, NOW)) for age in (1, 3)] == [
        False,
        True,
    ]


async def test_ledgers_are_those_of_channels_the_reader_sees(database: Database) -> None:
    made = [
        await database.unit(
            lambda c, i=i: closed(c, database.salt, NOW, channel_id=i, started_at=NOW + timedelta(i))
        )
        for i in range(3)
    ]
    await database.unit(lambda c: full_meeting(c, database.salt, channel_id=7))  # still open
    for channels, expected in ((None, [2, 1, 0]), ([0, 2, 7], [2, 0]), ([], [])):
        found = await database.unit(lambda c, x=channels: archive.ledgers(c, GUILD, x))
        assert [m for m, _ in found] == [made[i] for i in expected]
        assert all([e.number for e in entries] == [1, 2, 3, 4] for _, entries in found)


async def test_posts_of_the_person_herself_and_of_none_are_told_apart(
    database: Database, meeting: Meeting
) -> None:
    """What is still owed and does not repeat her is delivered all the same."""

    async def work(c: AsyncConnection) -> list[str]:
        await transcript.add(c, said(meeting.id, 1, "はい", author_id=YAMADA, author_name=NAME), GUILD)
        for key, text in (("a", f"{NAME}さん、いかがですか"), ("b", "残り10分です")):
            await outbox.put(
                c, guild_id=GUILD, meeting_id=meeting.id, key=key, persona=Persona.SYSTEM, now=NOW, text=text
            )
        await person.erase_person(c, GUILD, YAMADA, NOW)
        return [p.key for p in await outbox.due(c, meeting.id)]

    assert await database.unit(work) == ["b"]
    assert meeting.chair_id == SATO

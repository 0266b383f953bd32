"""The full-text index: what it finds, who may find it, and that it forgets what its sources forget."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import StoreError
from bot.guard.lexicons import synonyms
from bot.meeting import retrieving
from bot.meeting.model import EntryKind, Meeting, NewEntry, Origin
from bot.store import archive, ledger, meetings, minutes, passages, person, schema, transcript
from bot.store.engine import Database
from bot.store.passages import Hit

from .conftest import CHANNEL, GUILD, NOW, SATO, SUZUKI, make_meeting, said

SECRET = "翡翠の合言葉はサファイア zqxsecret"
TOKENS = ("翡翠", "言葉", "zqxsecret", "さふ")


async def filled(database: Database, guild: int = GUILD) -> None:
    while await database.unit(lambda c: passages.fill(c, guild)):
        pass


async def hits(
    database: Database, question: str, channels: Sequence[int] = (CHANNEL,), guild: int = GUILD
) -> list[Hit]:
    await filled(database, guild)
    wanted = retrieving.read(question, synonyms()).tokens
    return await database.unit(lambda c: passages.find(c, guild, wanted, channels))


async def tell(database: Database, meeting: Meeting, *texts: str, first: int = 10) -> None:
    async def work(c: AsyncConnection) -> None:
        for n, text in enumerate(texts):
            await transcript.add(c, said(meeting.id, first + n, text), meeting.guild_id)

    await database.unit(work)


async def record(database: Database, meeting: Meeting, text: str, key: str = "m:1:0", **more: object) -> None:
    entry = NewEntry(EntryKind.DECISION, text, key, Origin.MARK, SATO, "佐藤", text, **more)  # type: ignore[arg-type]
    await database.unit(
        lambda c: ledger.append(c, meeting.guild_id, meeting.id, [entry], NOW, lambda: b"s" * 16)
    )


async def vocabulary(database: Database) -> set[str]:
    """Every token that the index still holds, deleted ones in unmerged segments included."""

    async def work(c: AsyncConnection) -> set[str]:
        await c.execute(
            sa.text(
                f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.words USING fts5vocab('main', '{passages.FTS}', 'row')"
            )
        )
        return set((await c.execute(sa.text("SELECT term FROM temp.words"))).scalars())

    return await database.unit(work)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("価格は980円にします", "価格"),
        ("予算は五十万円です", "予算はいくら？"),
        ("議題は三つ", "議"),
        ("会議は三つ", "会"),
        ("サーバーを移す", "サーバ"),
        ("ｻｰﾊﾞｰを移す", "サーバー"),
        ("ＡＰＩ の仕様", "api"),
        ("打ち合わせは火曜", "打合せ"),
        ("引っ越しの業者", "引越の業者"),
        ("締め切りは月曜", "期限はいつ"),
        ("リリースは四月", "When do we ship?"),
        ("We ship on Monday", "リリースはいつですか"),
        ("The estimate is 1,200 euros", "What is the budget?"),
        ("Deploying on Fridays", "friday deploys"),
        ("version 2.1 is out", "2.1"),
    ],
)
async def test_a_message_is_found_by_any_spelling(
    database: Database, meeting: Meeting, text: str, question: str
) -> None:
    await tell(database, meeting, "まったく別の話", text)
    assert Hit(meeting.id, "message", 11) in await hits(database, question)


async def test_ledger_minutes_and_errata_are_found_too(database: Database, meeting: Meeting) -> None:
    await record(database, meeting, "価格は980円", owner="田中")
    document = json.dumps({"summary": "発売日を話し合った", "agenda": [{"title": "広告", "text": "見送り"}]})

    async def work(c: AsyncConnection) -> None:
        await minutes.save_draft(c, GUILD, meeting.id, document, "", "d", NOW)
        await minutes.add_erratum(
            c, guild_id=GUILD, meeting_id=meeting.id, text="正しくは税込", author_id=SATO, author_name="佐藤",
            source_key="i:1", now=NOW,
        )  # fmt: skip

    await database.unit(work)
    assert await hits(database, "価格") == [Hit(meeting.id, "entry", 1)]
    assert await hits(database, "発売日") == [Hit(meeting.id, "minutes", 0)]
    assert await hits(database, "広告") == [Hit(meeting.id, "minutes", 1)]
    assert await hits(database, "税込") == [Hit(meeting.id, "minutes", passages.ERRATA + 1)]


async def test_nothing_is_found_twice_and_filling_again_changes_nothing(
    database: Database, meeting: Meeting
) -> None:
    await tell(database, meeting, "価格の話")
    assert await hits(database, "価格") == await hits(database, "価格") == [Hit(meeting.id, "message", 10)]
    await tell(database, meeting, "価格の続き", first=20)
    assert len(await hits(database, "価格")) == 2


async def test_another_server_and_another_channel_are_out_of_reach(
    database: Database, meeting: Meeting
) -> None:
    other = await database.unit(lambda c: make_meeting(c, guild_id=GUILD + 1))
    hidden = await database.unit(lambda c: make_meeting(c, channel_id=CHANNEL + 5))
    for m in (meeting, other, hidden):
        await tell(database, m, "価格の話")
    assert await hits(database, "価格") == [Hit(meeting.id, "message", 10)]
    assert await hits(database, "価格", guild=GUILD + 1) == [Hit(other.id, "message", 10)]
    assert await hits(database, "価格", [CHANNEL + 5]) == [Hit(hidden.id, "message", 10)]
    assert await hits(database, "価格", []) == []


async def test_a_public_thread_comes_with_its_channel(database: Database) -> None:
    thread = await database.unit(lambda c: make_meeting(c, channel_id=CHANNEL + 7, parent_id=CHANNEL))
    await tell(database, thread, "価格の話")
    assert await hits(database, "価格") == [Hit(thread.id, "message", 10)]
    assert await database.unit(lambda c: passages.channels(c, GUILD)) == {CHANNEL, CHANNEL + 7}


async def test_messages_of_people_who_opted_out_are_left_out_at_once(
    database: Database, meeting: Meeting
) -> None:
    await tell(database, meeting, "価格の話")
    assert await hits(database, "価格")
    await database.unit(lambda c: transcript.opt_out(c, GUILD, SATO, NOW))
    assert await hits(database, "価格") == []
    await database.unit(lambda c: transcript.opt_in(c, GUILD, SATO, NOW))
    assert await hits(database, "価格")


async def test_an_edited_message_is_found_by_its_new_words_alone(
    database: Database, meeting: Meeting
) -> None:
    await tell(database, meeting, "価格の話", "別の話")
    assert await hits(database, "価格")
    await database.unit(lambda c: transcript.edit(c, meeting.id, 10, "広告の話", NOW))
    assert await hits(database, "価格") == []
    assert await hits(database, "広告") == [Hit(meeting.id, "message", 10)]


async def test_a_revised_entry_is_found_by_both_wordings_until_it_is_redacted(
    database: Database, meeting: Meeting
) -> None:
    await record(database, meeting, "価格は980円")
    assert await hits(database, "価格")
    revised = NewEntry(EntryKind.REVISION, "値付けは780円", "i:1", Origin.COMMAND, SATO, "佐藤", refers_to=1)
    await database.unit(lambda c: ledger.append(c, GUILD, meeting.id, [revised], NOW, lambda: b"s" * 16))
    assert await hits(database, "値付け") == [Hit(meeting.id, "entry", 1)]
    await database.unit(lambda c: ledger.redact_fields(c, meeting.id, 2, ["text", "quote"]))
    assert await hits(database, "値付け") == []


class TestErasure:
    """Nothing of what was erased stays: no row, no token in the index, no byte in any file."""

    async def _secret(self, database: Database) -> Meeting:
        meeting = await database.unit(make_meeting)
        await tell(database, meeting, SECRET, "発売は五月")
        await record(database, meeting, SECRET)
        await database.unit(
            lambda c: minutes.save_draft(c, GUILD, meeting.id, json.dumps({"summary": SECRET}), "", "d", NOW)
        )
        await filled(database)
        assert set(TOKENS) <= await vocabulary(database)
        return meeting

    async def _gone(self, database: Database) -> None:
        assert not set(TOKENS) & await vocabulary(database)
        assert database.path is not None
        for path in database.path.parent.iterdir():
            for word in (*TOKENS, SECRET):
                assert word.encode() not in path.read_bytes(), (path.name, word)

    async def test_the_index_would_hold_them(self, database: Database) -> None:
        await self._secret(database)
        assert database.path is not None
        held = b"".join(p.read_bytes() for p in database.path.parent.iterdir())
        assert all(word.encode() in held for word in TOKENS)

    async def test_of_a_meeting(self, database: Database) -> None:
        meeting = await self._secret(database)
        await database.unit(lambda c: archive.erase_meeting(c, GUILD, meeting.id))
        await self._gone(database)

    async def test_of_a_person(self, database: Database) -> None:
        meeting = await self._secret(database)
        await database.unit(
            lambda c: transcript.add(c, said(meeting.id, 60, "価格", author_id=SUZUKI), GUILD)
        )
        await filled(database)
        await database.unit(lambda c: person.erase_person(c, GUILD, SATO, NOW))
        await self._gone(database)
        assert await hits(database, "価格") == [Hit(meeting.id, "message", 60)]
        await self._gone(database)

    async def test_of_a_deleted_message(self, database: Database, meeting: Meeting) -> None:
        await tell(database, meeting, SECRET, "発売は五月")
        await filled(database)
        await database.unit(lambda c: transcript.delete(c, meeting.id, 10, NOW))
        await self._gone(database)
        assert await hits(database, "翡翠") == []
        assert await hits(database, "発売") == [Hit(meeting.id, "message", 11)]

    async def test_of_words_that_were_edited_away_before(self, database: Database, meeting: Meeting) -> None:
        await tell(database, meeting, SECRET, "ほかの話")
        await filled(database)
        await database.unit(lambda c: transcript.edit(c, meeting.id, 10, "何でもない", NOW))
        await database.unit(lambda c: transcript.delete(c, meeting.id, 11, NOW))
        await self._gone(database)

    async def test_by_retention(self, database: Database) -> None:
        meeting = await self._secret(database)

        async def close(c: AsyncConnection) -> None:
            await meetings.update(c, meeting.id, state="closed", closed_at=NOW.replace(year=2025))
            await archive.sweep(c, NOW, 90)

        await database.unit(close)
        assert {h.kind for h in await hits(database, "翡翠")} == {"entry", "minutes"}


async def test_an_index_or_trigger_taken_away_is_noticed_at_the_start(url: str, database: Database) -> None:
    await database.close()
    path = Path(url.removeprefix("sqlite:///"))
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER passages_gone")
    with pytest.raises(StoreError, match="erased words would stay findable"):
        await Database(url).open()


async def test_a_sqlite_without_full_text_search_is_named(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(connection: sa.Connection) -> None:
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
        raise StoreError(passages.MISSING)

    monkeypatch.setattr(passages, "assert_available", missing)
    with pytest.raises(StoreError, match="FTS5"):
        await Database(url).open()


async def test_of_twenty_thousand_messages_the_right_ones_are_found_fast(database: Database) -> None:
    """The measured times are in the output (-s)."""
    rows = 20_000

    async def many(c: AsyncConnection) -> None:
        for n in range(100):
            meeting = await make_meeting(c, channel_id=CHANNEL + n)
            values = [
                {
                    "meeting_id": meeting.id, "message_id": n * 1000 + i, "guild_id": GUILD, "author_id": SATO,
                    "author_name": "佐藤", "at": NOW,
                    "text": f"議題{i % 37}について、案{i % 11}の費用と期限を確認しました。次は{i % 7}番を見ます。",
                }
                for i in range(rows // 100)
            ]  # fmt: skip
            await c.execute(sa.insert(schema.messages), values)

    await database.unit(many)
    last = await database.unit(lambda c: make_meeting(c, channel_id=CHANNEL + 500))
    await tell(database, last, "移転先の家賃は月十二万円です")
    started = time.perf_counter()
    await filled(database)
    indexed = time.perf_counter()
    found = await hits(database, "家賃はいくらですか", [CHANNEL + n for n in range(600)])
    asked = time.perf_counter()
    print(f"indexing {rows} messages {indexed - started:.1f} s, one question {asked - indexed:.3f} s")
    assert found[0] == Hit(last.id, "message", 10)
    assert asked - indexed < 2.0

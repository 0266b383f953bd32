"""A database altered by hand in any table that matters: `ketsugi verify` says which entry."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.__main__ import cli
from bot.minutes.command import verify
from bot.store import schema
from tests.crash.instant import Folder, run_instant
from tests.facilitation.sitting import EPOCH, Sitting, finds, writes
from tests.minutes.test_honesty import decision

FOUND = "サポートは一日以内に返信することで合意しました"
ENTRY_COLUMNS = [c.name for c in schema.entries.c if c.name != "meeting_id"]


@pytest.fixture(scope="module")
def meeting_database() -> Iterator[Path]:
    """One meeting with everything verify looks at: marks, votes, a find, a deletion, an edit, an erratum."""
    folder = Folder()
    url = folder.fresh()

    async def main() -> None:
        s = Sitting(url, finds(decision(FOUND, FOUND), prose=writes("")))
        await s.start(constraints=["外注費は20万円以内"], agenda=["料金", "日程"])
        ids = await s.talk(
            ("佐藤", "決定：料金は500円にする"),
            ("鈴木", "提案：公開は5月10日にする"),
            ("田中", "+1 賛成です"),
            ("鈴木", FOUND),
            ("Maya", "メモ：消す予定のメモ"),
            ("佐藤", "宿題：鈴木 写真を差し替える（金曜まで）"),
            ("田中", "未決：司会を誰にするか"),
        )
        await s.edit(ids[0], "決定：料金は600円にする")
        await s.delete(ids[4])
        await s.react("佐藤", ids[3], "✅")
        await s.close()
        await s.meetings.correct(s.meeting_id, s.person("田中"), "写真の期限は月曜です", s.click())
        await asyncio.sleep(5)
        await s.sleep()

    run_instant(main())
    yield Path(url.removeprefix("sqlite+aiosqlite:///"))
    folder.close()


@pytest.fixture
def database(meeting_database: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "ketsugi.db"
    shutil.copy(meeting_database, copy)
    return copy


def alter(database: Path, *statements: str) -> None:
    """By hand, as somebody with the file would: triggers out of the way and back."""
    with sqlite3.connect(database) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            assert connection.execute(statement).rowcount, f"nothing altered by {statement}"
        for _, sql in triggers:
            connection.execute(sql)
    connection.close()


def verified(database: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit status and what was printed, in a loop of its own as on the command line."""
    status = verify(str(database), None, EPOCH)
    read = capsys.readouterr()
    return status, read.out + read.err


def number_of(database: Path, where: str) -> int:
    with sqlite3.connect(database) as connection:
        (number,) = connection.execute(f"SELECT number FROM entries WHERE {where}").fetchone()
    connection.close()
    return int(number)


def test_an_untouched_database_holds(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verified(database, capsys) == (
        0,
        "1 meeting: ledger, minutes and posts are as they were stored\n",
    )


def test_verifying_changes_nothing(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = database.read_bytes()
    verified(database, capsys)
    assert database.read_bytes() == before


OTHER = {
    "number": "99",
    "guild_id": "1",
    "kind": "'note'",
    "origin": "'menu'",
    "at": "'2026-09-01 00:00:00.000001'",
    "author_id": "5",
    "message_id": "5",
    "refers_to": "1",
    "value": "0.5",
    "seals": "'{}'",
}


@pytest.mark.parametrize("column", ENTRY_COLUMNS)
def test_every_column_of_every_entry_is_held(
    database: Path, column: str, capsys: pytest.CaptureFixture[str]
) -> None:
    number = number_of(database, "kind = 'proposal'")
    alter(
        database,
        f"UPDATE entries SET {column} = {OTHER.get(column, repr('geändert'))} WHERE number = {number}",
    )
    status, said = verified(database, capsys)
    assert status == 1
    assert said.startswith(f"meeting 1, entry {number}: ")


@pytest.mark.parametrize(
    "garbage", ["kind = 'nonsense'", "at = 'yesterday'", "seals = '{'", "message_id = 'x'"]
)
def test_a_row_that_cannot_be_read_is_named_all_the_same(
    database: Path, garbage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    alter(database, f"UPDATE entries SET {garbage} WHERE number = 3")
    status, said = verified(database, capsys)
    assert status == 1
    assert said.startswith("meeting 1, entry 3: ")


@pytest.mark.parametrize("number", [1, 4])
def test_a_dropped_entry_is_missed(database: Path, number: int, capsys: pytest.CaptureFixture[str]) -> None:
    alter(database, f"DELETE FROM entries WHERE number = {number}")
    assert verified(database, capsys) == (1, f"meeting 1, entry {number}: it is missing\n")


def test_the_last_entry_dropped_is_missed_too(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    last = number_of(database, "1 ORDER BY number DESC")
    alter(database, f"DELETE FROM entries WHERE number = {last}")
    assert verified(database, capsys) == (1, f"meeting 1, entry {last}: it is missing\n")


def test_an_entry_slipped_in_is_named(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    last = number_of(database, "1 ORDER BY number DESC")
    columns = [c.name for c in schema.entries.c]
    copied = ", ".join({"number": str(last + 1), "source_key": "'x'"}.get(c, c) for c in columns)
    alter(
        database,
        f"INSERT INTO entries ({', '.join(columns)}) SELECT {copied} FROM entries WHERE number = {last}",
    )
    status, said = verified(database, capsys)
    assert (status, said.split(":")[0]) == (1, f"meeting 1, entry {last + 1}")


# (what is done, which entry is named or None, words of the message)
ALTERED = [
    ("UPDATE meetings SET ledger_head = 'ab'", "last", "last digest differs"),
    ("UPDATE meetings SET ledger_count = 3", "last", "does not count it"),
    ("UPDATE meetings SET guild_id = 1", "first", "does not follow"),
    ("UPDATE meetings SET title = 'another'", None, "title"),
    ("UPDATE meetings SET chair_name = 'another'", None, "chair"),
    ("UPDATE meetings SET state = 'nonsense'", None, "cannot be read"),
    ("DELETE FROM redactions WHERE field = 'quote'", "note", "emptied without a redaction"),
    ("UPDATE messages SET text = 'anything' WHERE text LIKE '提案：%'", "proposal", "does not stand in"),
    ("UPDATE messages SET author_name = 'Mallory' WHERE text LIKE '提案：%'", "proposal", "another author"),
    ("UPDATE messages SET author_id = 99 WHERE text LIKE '提案：%'", "proposal", "another author"),
    ("UPDATE messages SET at = '2026-09-01 00:00:01' WHERE text LIKE '提案：%'", "proposal", "another time"),
    ("DELETE FROM messages WHERE text LIKE '提案：%'", "proposal", "source message is gone"),
    ("DELETE FROM messages", "any", "source message is gone"),
    ("UPDATE messages SET deleted_at = at WHERE text LIKE '提案：%'", "proposal", "quote still stands"),
    ("UPDATE messages SET text = text || 'x' WHERE text LIKE '提案：%'", None, "transcript of user 12"),
    ("UPDATE minutes SET text = replace(text, '600', '700')", "decision", "minutes.md lacks decisions"),
    ("UPDATE minutes SET text = text || 'x'", None, "is not the stored one"),
    ("UPDATE minutes SET document = replace(document, '600円', '700円')", "edit", "differs from the ledger"),
    ("UPDATE minutes SET document = '{}'", None, "cannot be read"),
    ("UPDATE minutes SET document = 'x'", None, "cannot be read"),
    ("UPDATE minutes SET digest = 'ab'", None, "not made from this ledger"),
    ("DELETE FROM minutes", None, "its minutes are gone"),
    ("UPDATE posts SET text = 'x' WHERE kind = 'minutes'", None, "text, embeds or file"),
    (
        "UPDATE posts SET payload = replace(payload, '600', '700') WHERE kind = 'minutes'"
        " AND payload LIKE '%600%'",
        None,
        "text, embeds or file",
    ),
    ("UPDATE posts SET payload = '{}' WHERE kind = 'minutes'", None, "text, embeds or file"),
    ("UPDATE post_files SET content = x'00' WHERE name = 'minutes.md'", None, "is not the stored one"),
    ("DELETE FROM post_files", None, "is not the stored one"),
    ("UPDATE posts SET kind = 'post' WHERE kind = 'minutes'", None, "not exactly one"),
    ("UPDATE errata SET text = 'x'", None, "erratum 1"),
    ("UPDATE errata SET author_name = 'Mallory'", None, "erratum 1"),
    ("UPDATE errata SET number = 2", None, "erratum 1 is gone"),
    ("DELETE FROM errata", None, "erratum 1 is gone"),
    ("UPDATE posts SET text = 'x' WHERE key = 'erratum:1'", None, "erratum 1"),
]  # fmt: skip


@pytest.mark.parametrize(("done", "entry", "words"), ALTERED, ids=[done for done, _, _ in ALTERED])
def test_what_was_altered_by_hand_is_found(
    database: Path, done: str, entry: str | None, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    where = {
        "first": "1",
        "last": "1 ORDER BY number DESC",
        "any": "message_id IS NOT NULL",
        "decision": "kind = 'revision'",
        "edit": "kind = 'revision'",
    }
    named = number_of(database, where.get(entry, f"kind = '{entry}'")) if entry else None
    alter(database, done)
    status, said = verified(database, capsys)
    assert status == 1
    assert words in said
    first = next(line for line in said.splitlines() if words in line)
    assert first.startswith(f"meeting 1, entry {named}: " if named else "meeting 1: ")


def test_a_missing_trigger_is_a_broken_protection(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("DROP TRIGGER entries_refuse_update")
    connection.close()
    status, said = verified(database, capsys)
    assert status == 1
    assert "the ledger is not protected" in said


def test_a_summary_changed_everywhere_alike_breaks_the_seal(
    database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text, document and file together: only the seal knows."""
    with sqlite3.connect(database) as connection:
        (text,) = connection.execute("SELECT text FROM minutes").fetchone()
        changed = text.replace("## ", "## 改 ")
        connection.execute("UPDATE minutes SET text = ?", (changed,))
        connection.execute("UPDATE post_files SET content = ? WHERE name = 'minutes.md'", (changed.encode(),))
    connection.close()
    status, said = verified(database, capsys)
    assert status == 1
    assert "were altered" in said


def test_the_command_line_verifies_and_exports(database: Path, tmp_path: Path) -> None:
    run = CliRunner().invoke
    assert run(cli, ["verify", "--database", str(database), "--meeting", "1"]).exit_code == 0
    assert run(cli, ["verify", "--database", str(database), "--meeting", "9"]).exit_code == 1
    assert run(cli, ["verify", "--database", str(tmp_path / "none.db")]).exit_code == 1
    for form, begins in (("md", "# 議事録: 料金会議"), ("json", "{"), ("csv", "\ufeff番号,宿題")):
        out = tmp_path / f"out.{form}"
        arguments = ["export", "1", "--form", form, "--out", str(out), "--database", str(database)]
        assert run(cli, arguments).exit_code == 0
        assert out.read_text(encoding="utf-8").startswith(begins)
    assert json.loads((tmp_path / "out.json").read_text())["decisions"][0]["text"] == "料金は600円にする"
    assert run(cli, ["export", "9", "--database", str(database)]).exit_code == 1
    assert run(cli, ["export", "1", "--out", "/none/x", "--database", str(database)]).exit_code == 1
    assert "# 議事録" in run(cli, ["export", "1", "--database", str(database)]).stdout

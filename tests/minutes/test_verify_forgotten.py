"""Forgetting is not tampering: `ketsugi verify` holds what is left, and still finds what was altered."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.store import archive
from tests.crash.instant import Folder, run_instant
from tests.facilitation.sitting import PLACE, Sitting
from tests.minutes.test_verify import alter, meeting_database, verified

__all__ = ["meeting_database"]  # the fixture of an untouched meeting


def _forgotten(how: str, folder: Folder) -> Path:
    url = folder.fresh()

    async def main() -> None:
        s = Sitting(url)
        await s.start(constraints=["外注費は20万円以内"])
        ids = await s.talk(
            ("佐藤", "決定：料金は500円にする"),
            ("鈴木", "提案：公開は5月10日にする"),
            ("田中", "+1 賛成です"),
            ("佐藤", "宿題：鈴木 写真を差し替える（金曜まで）"),
        )
        await s.edit(ids[0], "決定：料金は600円にする")
        await s.close()
        await s.meetings.correct(s.meeting_id, s.person("田中"), "写真の期限は月曜です", s.click())
        await asyncio.sleep(5)
        assert s.app is not None
        if how != "transcript swept":
            await s.app.privacy.erase_person(PLACE.guild_id, s.person("鈴木").id, s.person("鈴木"))
        if how != "person erased":
            late = s.now() + timedelta(days=91)
            swept = await s.app.db.unit(lambda c: archive.sweep(c, late))
            assert swept.transcripts == 1
        await s.sleep()

    run_instant(main())
    return Path(url.removeprefix("sqlite+aiosqlite:///"))


@pytest.fixture(params=["person erased", "transcript swept", "both"])
def database(request: pytest.FixtureRequest) -> Iterator[Path]:
    folder = Folder()
    yield _forgotten(request.param, folder)
    folder.close()


def test_what_is_left_holds(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verified(database, capsys)[0] == 0


def test_a_transcript_that_was_deleted_by_hand_is_missed(
    meeting_database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "ketsugi.db"
    shutil.copy(meeting_database, copy)
    alter(copy, "DELETE FROM messages", "DELETE FROM reactions")
    status, said = verified(copy, capsys)
    assert status == 1
    assert "its source message is gone" in said


@pytest.mark.parametrize(
    "done",
    [
        "UPDATE entries SET text = '料金は900円にする' WHERE kind = 'revision'",
        "DELETE FROM entries WHERE kind = 'action'",
        "UPDATE minutes SET text = replace(text, '600', '900')",
    ],
)
def test_what_was_altered_after_forgetting_is_found(
    database: Path, done: str, capsys: pytest.CaptureFixture[str]
) -> None:
    alter(database, done)
    assert verified(database, capsys)[0] == 1

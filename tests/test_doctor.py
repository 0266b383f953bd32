"""`ketsugi doctor`: each fault is found, named, and comes with what to do about it."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import discord
import pytest
from aiohttp import web

from bot.doctor import PERMISSIONS, Finding, doctor, examine, usable_settings
from bot.settings import Settings
from bot.store import heartbeats
from bot.store.engine import Database
from bot.store.heartbeats import Heartbeat
from tests.fakes import FakeGemini, Reply

TOKEN = "Q" * 24 + "." + "x" * 6 + "." + "y" * 27
INTENT_ON, INTENT_LIMITED = 1 << 18, 1 << 19


class Discord:
    """The two endpoints that doctor asks, answering as a test tells them to."""

    def __init__(self) -> None:
        self.status = 200
        self.flags = INTENT_ON
        self.guilds: list[dict[str, Any]] = [guild("Team", PERMISSIONS.value)]
        self.authorised: list[str | None] = []
        self.page: str | None = None  # what a captive portal answers instead

    async def application(self, request: web.Request) -> web.Response:
        self.authorised.append(request.headers.get("Authorization"))
        if self.page is not None:
            return web.Response(text=self.page, content_type="text/html")
        return web.json_response({"id": "4242", "flags": self.flags}, status=self.status)

    async def my_guilds(self, _request: web.Request) -> web.Response:
        return web.json_response(self.guilds)


def guild(name: str, permissions: int) -> dict[str, Any]:
    return {"id": "77", "name": name, "permissions": str(permissions)}


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.upper().startswith(("KETSUGI_", "DISCORD_", "GEMINI_", "GOOGLE_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
async def api(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Discord]:
    fake = Discord()
    app = web.Application()
    app.router.add_get("/applications/@me", fake.application)
    app.router.add_get("/users/@me/guilds", fake.my_guilds)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    monkeypatch.setattr(discord.http.Route, "BASE", f"http://{host}:{port}")
    yield fake
    await runner.cleanup()


@pytest.fixture
def nowhere() -> str:
    """An address where nobody listens: bound once, then let go."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{held.getsockname()[1]}"


def chosen(tmp_path: Path, **more: Any) -> Settings:
    url = f"sqlite+aiosqlite:///{tmp_path / 'ketsugi.db'}"
    return Settings(**({"database_url": url, "discord_token": TOKEN} | more))


async def found(settings: Settings, about: str) -> Finding:
    """The one finding whose text begins with `about`."""
    matching = [f async for f in examine(settings) if f.what.startswith(about)]
    assert len(matching) == 1, matching
    return matching[0]


# ---------------------------------------------------------------------------------------------- Discord


async def test_a_bot_that_can_work_has_nothing_wrong(api: Discord, tmp_path: Path) -> None:
    findings = [f async for f in examine(chosen(tmp_path))]
    assert [f for f in findings if f.level == "wrong"] == []
    assert {f.what for f in findings if f.level == "ok"} >= {
        "token: has the shape of a bot token",
        "Message Content Intent is on",
        "server Team: all needed permissions",
    }
    assert api.authorised == [f"Bot {TOKEN}"]
    assert all(TOKEN not in f.what + f.mend for f in findings)


async def test_the_limited_intent_of_small_bots_is_enough(api: Discord, tmp_path: Path) -> None:
    api.flags = INTENT_LIMITED
    assert (await found(chosen(tmp_path), "Message Content Intent")).level == "ok"


async def test_a_refused_token_is_said_to_be_refused(api: Discord, tmp_path: Path) -> None:
    api.status = 401
    finding = await found(chosen(tmp_path), "Discord refused the token")
    assert finding.level == "wrong"
    assert "Reset Token" in finding.mend


async def test_an_intent_that_is_off_names_the_switch_and_hides_nothing_else(
    api: Discord, tmp_path: Path
) -> None:
    api.flags, api.guilds = 0, [guild("Team", 0)]
    findings = [f async for f in examine(chosen(tmp_path))]
    wrong = [f for f in findings if f.level == "wrong"]
    assert len(wrong) == 2
    assert wrong[0].what.startswith("Message Content Intent is off")
    assert "Privileged Gateway Intents" in wrong[0].mend
    assert wrong[1].what.startswith("server Team: missing ")


@pytest.mark.parametrize("name", [name for name, wanted in PERMISSIONS if wanted])
async def test_each_missing_permission_is_named(api: Discord, tmp_path: Path, name: str) -> None:
    held = discord.Permissions(PERMISSIONS.value)
    setattr(held, name, False)
    api.guilds = [guild("Whole", PERMISSIONS.value), guild("Team", held.value)]
    finding = await found(chosen(tmp_path), "server Team")
    level = "note" if name == "manage_webhooks" else "wrong"  # panels do without it
    assert (finding.level, finding.what) == (level, f"server Team: missing {name}")
    assert "client_id=4242" in finding.mend
    assert (await found(chosen(tmp_path), "server Whole")).level == "ok"


async def test_an_administrator_misses_nothing(api: Discord, tmp_path: Path) -> None:
    api.guilds = [guild("Team", discord.Permissions(administrator=True).value)]
    assert (await found(chosen(tmp_path), "server Team")).level == "ok"


async def test_a_bot_in_no_server_gets_its_invitation(api: Discord, tmp_path: Path) -> None:
    api.guilds = []
    finding = await found(chosen(tmp_path), "the bot is in no server yet")
    assert finding.level == "note"
    assert "client_id=4242" in finding.mend
    assert f"permissions={PERMISSIONS.value}" in finding.mend


async def test_discord_out_of_reach(monkeypatch: pytest.MonkeyPatch, nowhere: str, tmp_path: Path) -> None:
    monkeypatch.setattr(discord.http.Route, "BASE", nowhere)
    finding = await found(chosen(tmp_path), "Discord")
    assert finding.level == "wrong"
    assert finding.what.startswith("Discord cannot be reached")
    assert "network" in finding.mend


@pytest.mark.parametrize(("status", "page"), [(500, None), (200, "<html>please log in</html>")])
async def test_an_answer_that_is_not_discords(
    api: Discord, tmp_path: Path, status: int, page: str | None
) -> None:
    api.status, api.page = status, page
    assert (await found(chosen(tmp_path), "Discord")).what.startswith("Discord cannot be reached")


@pytest.mark.parametrize(("token", "said"), [(None, "is not set"), ("abc", "does not look like")])
async def test_without_a_token_discord_is_not_asked(
    api: Discord, tmp_path: Path, token: str | None, said: str
) -> None:
    finding = await found(chosen(tmp_path, discord_token=token), "token")
    assert finding.level == "wrong"
    assert said in finding.what
    assert api.authorised == []


# ---------------------------------------------------------------------------------------------- database


@pytest.mark.parametrize("scheme", ["sqlite+aiosqlite", "sqlite"])
async def test_a_database_that_is_not_there_yet_is_no_fault(tmp_path: Path, scheme: str) -> None:
    path = tmp_path / "ketsugi.db"
    finding = await found(
        chosen(tmp_path, discord_token=None, database_url=f"{scheme}:///{path}"), "database"
    )
    assert finding.level == "ok"
    assert "`ketsugi run` makes it" in finding.what
    assert not path.exists()


MOMENT = datetime(2026, 10, 5, 9, 30, 7, tzinfo=UTC)


async def told(tmp_path: Path, age_s: float, *workers: Heartbeat, **more: Any) -> list[Finding]:
    """What is said of a database on which the bot left these signs of life `age_s` ago, while it is held open."""
    settings = chosen(tmp_path, discord_token=None, **more)
    database = Database(settings.database_url)
    await database.open()
    beats = [Heartbeat("bot", MOMENT, 30.0, lag_s=0.04), *workers]
    own = [worker for worker in workers if worker.name == "bot"]
    await database.unit(lambda c: heartbeats.replace(c, beats if not own else list(workers)))
    found = [f async for f in examine(settings, lambda: MOMENT + timedelta(seconds=age_s))]
    await database.close()
    return found


def worker(ago_s: float, every_s: float, failures: int = 0, error: str = "") -> Heartbeat:
    return Heartbeat("sweep", MOMENT - timedelta(seconds=ago_s), every_s, failures, error)


def one(findings: list[Finding], about: str) -> Finding:
    (finding,) = [f for f in findings if f.what.startswith(about)]
    return finding


async def test_a_database_shows_the_last_sign_of_life(tmp_path: Path) -> None:
    settings = chosen(tmp_path, discord_token=None)
    database = Database(settings.database_url)
    await database.open()
    assert "has not run on it yet" in (await found(settings, "database")).what
    await database.close()
    finding = one(await told(tmp_path, 20), "database")
    assert finding.level == "ok"
    assert "2026-10-05 09:30:07 UTC" in finding.what


async def test_a_bot_that_runs_as_it_should_is_said_to_run(tmp_path: Path) -> None:
    said = await told(tmp_path, 20, worker(50, 60), Heartbeat("retention", MOMENT, 1800.0))
    assert one(said, "bot: running").level == "ok"
    assert one(said, "event loop: up to 0.0 s").level == "ok"
    assert [f for f in said if f.what.startswith("background work")] == []


@pytest.mark.parametrize(
    ("language", "stopped", "journal"),
    [
        ("en", "bot: no sign of life since 2026-10-05 09:30:07 UTC", "log"),
        ("ja", "ボット：2026-10-05 09:30:07 UTC を最後に", "ログ"),
    ],
)
async def test_a_bot_without_a_sign_of_life_for_two_days_is_not_called_well(
    tmp_path: Path, language: str, stopped: str, journal: str
) -> None:
    said = await told(tmp_path, 2 * 86_400, worker(50, 60), language=language)
    finding = one(said, stopped)
    assert finding.level == "note"  # it may be stopped on purpose
    assert journal in finding.mend
    assert [f for f in said if f.what.startswith(("bot: running", "ボット：動作中"))] == []
    # It does nothing any more, which is no news of its workers.
    assert [f for f in said if f.what.startswith(("background work", "定期処理"))] == []


@pytest.mark.parametrize(("age_s", "runs"), [(0, True), (119, True), (121, False)])
async def test_a_bot_may_leave_out_one_sign_of_life(tmp_path: Path, age_s: float, runs: bool) -> None:
    said = await told(tmp_path, age_s)
    assert any(f.what == "bot: running" for f in said) is runs


@pytest.mark.parametrize(("age_s", "level"), [(20, "wrong"), (86_400, "note")])
@pytest.mark.parametrize(
    ("language", "fails"),
    [
        ("en", "background work: sweep failed 7 times in a row (OSError)"),
        ("ja", "定期処理：sweep が7回続けて失敗しています（OSError）"),
    ],
)
async def test_work_that_fails_again_and_again_is_named(
    tmp_path: Path, age_s: float, level: str, language: str, fails: str
) -> None:
    finding = one(await told(tmp_path, age_s, worker(5000, 60, 7, "OSError"), language=language), fails)
    assert finding.level == level
    assert "background work sweep failed" in finding.mend


async def test_a_single_failure_is_no_finding(tmp_path: Path) -> None:
    said = await told(tmp_path, 20, worker(170, 60, 1, "OSError"))
    assert [f for f in said if f.what.startswith("background work")] == []


@pytest.mark.parametrize(
    ("language", "late"),
    [
        ("en", "background work: sweep last ran at 2026-10-05 09:26:37 UTC"),
        ("ja", "定期処理：sweep は 2026-10-05 09:26:37 UTC から"),
    ],
)
async def test_work_that_does_not_come_back_is_named(tmp_path: Path, language: str, late: str) -> None:
    finding = one(await told(tmp_path, 20, worker(210, 60), language=language), late)
    assert finding.level == "wrong"
    assert finding.mend


@pytest.mark.parametrize(
    ("language", "slow"),
    [("en", "event loop: up to 2.4 s late"), ("ja", "イベントループ：稼働中の直近10分で最大 2.4 秒の遅れ")],
)
async def test_a_loop_that_was_held_up_is_a_note(tmp_path: Path, language: str, slow: str) -> None:
    said = await told(tmp_path, 20, Heartbeat("bot", MOMENT, 30.0, lag_s=2.4), language=language)
    finding = one(said, slow)
    assert finding.level == "note"
    assert "3" in finding.mend


@pytest.mark.parametrize("held", [b"these are my notes, not a database" * 99, b""])
async def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path, held: bytes) -> None:
    path = tmp_path / "ketsugi.db"
    path.write_bytes(held)
    finding = await found(chosen(tmp_path, discord_token=None), "database")
    assert finding.level == "wrong"
    assert "KETSUGI_DATABASE_URL" in finding.mend
    assert path.read_bytes() == held


@pytest.mark.parametrize("url", ["postgresql://me:hidden@host/name", "nonsense", "mysql://x"])
async def test_a_database_of_another_kind_is_one_finding_among_others(tmp_path: Path, url: str) -> None:
    findings = [f async for f in examine(chosen(tmp_path, discord_token=None, database_url=url))]
    (database,) = [f for f in findings if f.what.startswith("database")]
    assert database.level == "wrong"
    assert any(f.what.startswith("token") for f in findings)
    assert all("hidden" not in f.what + f.mend for f in findings)


# ---------------------------------------------------------------------------------------------- model


async def test_the_offline_engine_needs_nothing(tmp_path: Path) -> None:
    finding = await found(chosen(tmp_path, discord_token=None), "model")
    assert finding.level == "ok"
    assert "GEMINI_API_KEY" in finding.mend


async def test_a_model_that_answers(tmp_path: Path) -> None:
    async with FakeGemini() as fake:
        settings = chosen(tmp_path, discord_token=None, gemini_api_key="made-up", gemini_base_url=fake.url)
        finding = await found(settings, "model")
    assert finding == Finding("ok", "model: gemini-3.8-flash answers")
    assert [asked.key for asked in fake.requests] == ["made-up"]


async def test_a_refused_key(tmp_path: Path) -> None:
    async with FakeGemini(Reply("the key made-up is not valid", status=400)) as fake:
        settings = chosen(tmp_path, discord_token=None, gemini_api_key="made-up", gemini_base_url=fake.url)
        finding = await found(settings, "model")
    assert (finding.level, finding.what) == ("wrong", "model: gemini-3.8-flash: refused")
    assert "GEMINI_API_KEY" in finding.mend
    assert "made-up" not in finding.what + finding.mend


async def test_a_model_out_of_reach(tmp_path: Path, nowhere: str) -> None:
    settings = chosen(tmp_path, discord_token=None, gemini_api_key="made-up", gemini_base_url=nowhere)
    finding = await found(settings, "model")
    assert (finding.level, finding.what) == ("wrong", "model: gemini-3.8-flash: unreachable")
    assert "GEMINI_BASE_URL" in finding.mend


@pytest.mark.parametrize("key", [None, ""])
async def test_a_named_model_without_a_key_says_that_it_needs_one(tmp_path: Path, key: str | None) -> None:
    settings = chosen(tmp_path, discord_token=None, model="gemini-3.8-flash", gemini_api_key=key)
    finding = await found(settings, "model")
    assert finding.level == "wrong"
    assert "GEMINI_API_KEY" in finding.what + finding.mend


async def test_a_local_model_needs_no_key(tmp_path: Path) -> None:
    async with FakeGemini() as fake:
        settings = chosen(tmp_path, discord_token=None, model="own", gemini_base_url=fake.url)
        assert await found(settings, "model") == Finding("ok", "model: own answers")


# ---------------------------------------------------------------------------------------------- the command


def test_the_command_prints_a_line_a_check_and_how_to_mend_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KETSUGI_DATABASE_URL", "sqlite+aiosqlite:///[new].db")
    assert doctor() == 1
    out = capsys.readouterr().out
    assert "✗ token: DISCORD_TOKEN is not set" in out
    assert "database: [new].db does not exist yet" in out  # brackets are no markup
    assert "    → for an AI facilitator set GEMINI_API_KEY" in out


def test_the_command_names_settings_that_cannot_be_used(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KETSUGI_RETENTION_DAYS", "for ever")
    assert doctor() == 1
    out = capsys.readouterr().out
    assert out.startswith(
        "✗ settings: KETSUGI_RETENTION_DAYS cannot be used; allowed: a whole number from 1 to 3650\n"
        "    → correct or unset it; what follows is checked with 90 instead\n"
    )
    assert "SQLite" in out
    assert "✗ token: DISCORD_TOKEN is not set" in out
    assert "for ever" not in out


def test_the_command_is_content_where_nothing_is_wrong(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def well(_token: str, _language: str) -> AsyncIterator[Finding]:
        yield Finding("ok", "server Team: all needed permissions")

    monkeypatch.setattr("bot.doctor._discord", well)
    monkeypatch.setenv("DISCORD_TOKEN", TOKEN)
    monkeypatch.setenv("KETSUGI_DATABASE_URL", "sqlite+aiosqlite:///ketsugi.db")
    assert doctor() == 0
    out = capsys.readouterr().out
    assert "✗" not in out
    assert "! " not in out, "nothing to be done: no warning"


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("KETSUGI_LANGUAGE", "fr", "ja, en"),
        ("KETSUGI_LOG_LEVEL", "LOUD", "DEBUG, INFO, WARNING, ERROR"),
        ("KETSUGI_TIMEZONE", "Asia/Atlantis", "the name of a time zone, such as Asia/Tokyo"),
        ("KETSUGI_TIMEZONE", "", "the name of a time zone"),
        ("KETSUGI_TIMEZONE", "../etc", "the name of a time zone"),
        ("KETSUGI_RETENTION_DAYS", "0", "a whole number from 1 to 3650"),
        ("KETSUGI_MESSAGES_PER_DAY", "many", "a whole number of at least 1"),
        ("KETSUGI_COST_PER_DAY", "-1", "a number above 0"),
        ("KETSUGI_DEADLINE_S", "999", "a number above 1 and up to 120"),
        ("KETSUGI_SEED", "x", "a whole number"),
    ],
)
def test_a_wrong_setting_names_what_is_allowed(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, allowed: str
) -> None:
    monkeypatch.setenv(name, value)
    settings, (bad,) = usable_settings()
    assert bad.what.startswith(f"settings: {name} cannot be used; allowed: {allowed}")
    assert settings.language == "en"
    assert settings.timezone == "UTC"


def test_several_wrong_settings_are_all_named_in_the_language_that_is_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KETSUGI_LANGUAGE", "ja")
    monkeypatch.setenv("KETSUGI_TIMEZONE", "Tokyo")
    monkeypatch.setenv("KETSUGI_RETENTION_DAYS", "ずっと")
    assert doctor() == 1
    out = capsys.readouterr().out
    assert "✗ 設定：KETSUGI_TIMEZONE の値が使えません。使える値：タイムゾーンの名前" in out
    assert "    → 直すか、外してください。以下は UTC として調べます" in out
    assert "✗ 設定：KETSUGI_RETENTION_DAYS の値が使えません。使える値：1〜3650の整数" in out
    assert "✗ トークン：DISCORD_TOKEN が設定されていません" in out
    assert not any(line.startswith("! ") for line in out.splitlines())


async def test_in_japanese_every_finding_is_japanese(api: Discord, tmp_path: Path) -> None:
    api.flags, api.guilds = 0, [guild("Team", 0)]
    findings = [f async for f in examine(chosen(tmp_path, language="ja"))]
    japanese = [f for f in findings if any("\u3040" <= c <= "\u30ff" for c in f.what)]
    plain = [f for f in findings if f not in japanese]
    assert all(f.what.startswith("SQLite") for f in plain), plain
    assert len(japanese) >= 5

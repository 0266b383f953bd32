"""`ketsugi run`: one line where it cannot start, patience where Discord is away, a clean end on SIGTERM."""

from __future__ import annotations

import asyncio
import configparser
import logging
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
import discord
import pytest
from aiohttp import web

import bot.run as running
from bot.app import App, build
from bot.client import KetsugiBot
from bot.errors import ConfigError
from bot.run import EX_CONFIG, run, token_problem
from bot.settings import Settings
from bot.store._lock import FileLock
from tests.virtual_time import run_virtual

ROOT = Path(__file__).resolve().parent.parent
TOKEN = "Q" * 24 + "." + "x" * 6 + "." + "y" * 27
# The command itself in a process of its own; only where Discord's API is found differs.
PROGRAM = (
    "import os, runpy, sys, discord.http;"
    "discord.http.Route.BASE = os.environ['API'];"
    "sys.argv = ['ketsugi', 'run'];"
    "runpy.run_module('bot', run_name='__main__')"
)


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.upper().startswith(("KETSUGI_", "DISCORD_", "GEMINI_", "GOOGLE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("KETSUGI_DATABASE_URL", f"sqlite:///{tmp_path / 'ketsugi.db'}")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def _in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """`run()` within the test: the log of the test run stays as it is."""
    monkeypatch.setattr(running, "set_up_logging", lambda level: None)


# ---------------------------------------------------------------------------------------------- the token's shape


@pytest.mark.parametrize(
    ("token", "said"),
    [
        (None, "DISCORD_TOKEN is not set"),
        ("", "DISCORD_TOKEN is not set"),
        (" \n", "DISCORD_TOKEN is not set"),
        (f"Bot {TOKEN}", "without the word 'Bot'"),
        (f"bot {TOKEN}", "without the word 'Bot'"),
        ("abc", "does not look like a bot token"),
        ("a.b.c", "does not look like a bot token"),
        (TOKEN.rsplit(".", 1)[0], "does not look like a bot token"),
        (f"{TOKEN}.more", "does not look like a bot token"),
        (f'"{TOKEN}"', "does not look like a bot token"),
        (TOKEN[:30] + " " + TOKEN[30:], "does not look like a bot token"),
    ],
)
def test_a_token_that_cannot_be_right_is_told_apart_by_its_shape(token: str | None, said: str) -> None:
    problem = token_problem(token)
    assert problem is not None
    assert said in problem
    assert "\n" not in problem
    assert not token or not token.strip() or token.strip() not in problem


@pytest.mark.parametrize("token", [TOKEN, f" {TOKEN}\n"])
def test_a_token_of_the_right_shape_is_tried(token: str) -> None:
    assert token_problem(token) is None


# ---------------------------------------------------------------------------------------------- one line and a status


def refused(capsys: pytest.CaptureFixture[str], status: int = EX_CONFIG) -> str:
    """The one line on standard error of a start that failed, by default for good: 78, which no service restarts."""
    assert run() == status
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert line.startswith("ketsugi: ")
    return line


@pytest.mark.usefixtures("_in_process")
@pytest.mark.parametrize(("token", "said"), [(None, "is not set"), ("odd-one", "does not look like")])
def test_a_start_without_a_usable_token(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    token: str | None,
    said: str,
) -> None:
    if token is not None:
        monkeypatch.setenv("DISCORD_TOKEN", token)
    line = refused(capsys)
    assert said in line
    assert "Reset Token" in line
    assert "odd-one" not in line
    assert not (tmp_path / "ketsugi.db").exists()


@pytest.mark.usefixtures("_in_process")
def test_settings_that_cannot_be_used_are_all_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KETSUGI_LANGUAGE", "klingon")
    monkeypatch.setenv("KETSUGI_DEADLINE_S", "whenever")
    line = refused(capsys)
    assert "KETSUGI_DEADLINE_S, KETSUGI_LANGUAGE;" in line
    assert "klingon" not in line
    assert "whenever" not in line


@pytest.mark.usefixtures("_in_process")
@pytest.mark.parametrize("key", [None, ""])
def test_a_named_model_without_a_key(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", TOKEN)
    monkeypatch.setenv("KETSUGI_MODEL", "gemini-3.8-flash")
    if key is not None:
        monkeypatch.setenv("GEMINI_API_KEY", key)
    assert "needs GEMINI_API_KEY" in refused(capsys)


@pytest.mark.usefixtures("_in_process")
@pytest.mark.parametrize("url", ["postgresql://me:hidden@host/name", "nonsense"])
def test_a_database_that_cannot_be_used(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", TOKEN)
    monkeypatch.setenv("KETSUGI_DATABASE_URL", url)
    line = refused(capsys, 1)
    assert "sqlite:///" in line
    assert "hidden" not in line


@pytest.mark.usefixtures("_in_process")
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (discord.LoginFailure("Improper token"), "Discord refused the token"),
        (discord.PrivilegedIntentsRequired(None), "the Message Content Intent is off"),
    ],
    ids=["refused token", "intent off"],
)
def test_what_trying_again_cannot_help_ends_the_start_with_what_to_click(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    async def start(self: KetsugiBot, token: str, *, reconnect: bool = True) -> None:
        assert (token, reconnect) == (TOKEN, True)
        raise error

    monkeypatch.setattr(KetsugiBot, "start", start)
    monkeypatch.setenv("DISCORD_TOKEN", f" {TOKEN} ")
    line = refused(capsys)
    assert said in line
    assert "Developer Portal" in line
    assert TOKEN not in line


@pytest.mark.usefixtures("_in_process")
def test_a_database_in_use_may_be_free_at_the_next_start(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", TOKEN)
    held = FileLock(tmp_path / "ketsugi.db")
    held.acquire()
    line = refused(capsys, 1)
    held.release()
    assert "is in use by" in line


@pytest.mark.parametrize("document", ["administrators.md", "administrators.ja.md"])
def test_the_documented_service_leaves_a_start_alone_that_cannot_help(document: str) -> None:
    """Restarted every 10 s it would identify 8,640 times a day; at 1,000 Discord resets the token."""
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")
    (unit,) = re.findall(r"```ini\n(.*?)```", text, re.DOTALL)
    service = configparser.ConfigParser()
    service.read_string(unit)
    assert service["Service"]["RestartPreventExitStatus"] == str(EX_CONFIG)
    assert service["Service"]["Restart"] == "on-failure"


# ---------------------------------------------------------------------------------------------- connecting again


class Gateway:
    """Stands in for the client: `ends` are how its connections end, each (seconds after its start, error)."""

    def __init__(self, *ends: tuple[float, Exception | None]) -> None:
        self.ends = list(ends)
        self.starts: list[float] = []
        self.closed = 0
        self.close_takes = 0.0
        self.on_start: Callable[[int], None] = lambda number: None

    async def start(self, token: str, *, reconnect: bool = True) -> None:
        self.starts.append(asyncio.get_running_loop().time())
        self.on_start(len(self.starts))
        if len(self.starts) > len(self.ends):
            await asyncio.sleep(10**9)
        lasts, error = self.ends[len(self.starts) - 1]
        await asyncio.sleep(lasts)
        if error is not None:
            raise error

    async def close(self) -> None:
        self.closed += 1
        await asyncio.sleep(self.close_takes)


class Rooms:
    """The meetings of an app: `finish_takes` seconds of steps are under way when it is told to close."""

    def __init__(self, finish_takes: float = 0.0) -> None:
        self.finish_takes = finish_takes
        self.closed_at: float | None = None

    async def close(self, grace: float) -> None:
        await asyncio.sleep(min(self.finish_takes, grace))
        self.closed_at = asyncio.get_running_loop().time()


def connected(
    monkeypatch: pytest.MonkeyPatch,
    gateway: Gateway,
    stop_at: float,
    jitter: float = 1.0,
    rooms: Rooms | None = None,
) -> tuple[float, int]:
    """Keep the bot connected until `stop_at`: (when it came back, tasks that are left over)."""
    monkeypatch.setattr(running, "build_bot", lambda app: gateway)
    monkeypatch.setattr(running.random, "uniform", lambda low, high: jitter)
    app: Any = SimpleNamespace(meetings=rooms or Rooms(), chat=Rooms())

    async def main() -> tuple[float, int]:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        loop.call_later(stop_at, stop.set)
        left_before_stop: list[int] = []
        loop.call_later(stop_at - 0.001, lambda: left_before_stop.append(len(asyncio.all_tasks())))
        await running._until_stopped(app, Settings(discord_token=TOKEN), stop)  # type: ignore[arg-type]
        return loop.time(), left_before_stop[0]

    return run_virtual(main())


FAULTS = [
    aiohttp.ClientConnectionError("no route"),
    discord.GatewayNotFound(),
    AttributeError("'NoneType' object has no attribute 'poll_event'"),  # discord.py #10520
    OSError("network is down"),
    TimeoutError(),
]


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_a_connection_that_fails_is_made_again(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    gateway = Gateway((0, error), (0, error))
    ended, _ = connected(monkeypatch, gateway, stop_at=200)
    assert [round(t) for t in gateway.starts] == [0, 15, 60]
    assert round(ended) == 200
    assert gateway.closed == 3


def test_the_pauses_grow_and_stay_within_a_days_identifies(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = Gateway(*[(0.0, OSError("down")) for _ in range(2000)])
    _, tasks = connected(monkeypatch, gateway, stop_at=86_400)
    pauses = [b - a for a, b in zip(gateway.starts, gateway.starts[1:], strict=False)]
    assert [round(p) for p in pauses[:5]] == [15, 45, 100, 100, 100]
    assert len(gateway.starts) < 1000  # at 1,000 a day Discord resets the token
    assert tasks <= 3  # a day of failures leaves nothing behind


def test_a_connection_that_lasted_is_made_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = Gateway((0, OSError("down")), (3600, OSError("down")), (3600, None))
    connected(monkeypatch, gateway, stop_at=9000)
    assert [round(t) for t in gateway.starts] == [0, 15, 3620, 7225]


def test_who_wants_to_stop_waits_for_no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = Gateway(*[(0.0, OSError("down")) for _ in range(99)])
    ended, _ = connected(monkeypatch, gateway, stop_at=100)
    assert ended == pytest.approx(100, abs=0.1)


def test_a_stop_lets_steps_finish_and_is_over_within_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that will not end and a session that will not close: what is under way still has its connection."""
    gateway, rooms = Gateway(), Rooms(finish_takes=3600)
    gateway.close_takes = 3600
    ended, _ = connected(monkeypatch, gateway, stop_at=100, rooms=rooms)
    assert rooms.closed_at == pytest.approx(106, abs=0.1)
    assert ended == pytest.approx(108.5, abs=0.1)


def test_a_refused_token_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = Gateway((0, OSError("down")), (1, discord.LoginFailure("no")))
    with pytest.raises(ConfigError, match="refused the token"):
        connected(monkeypatch, gateway, stop_at=100)
    assert gateway.closed == 2


def test_what_an_error_says_is_not_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        connected(monkeypatch, Gateway((0, OSError(f"with {TOKEN}"))), stop_at=60)
    assert "the connection to Discord ended, it is made again: OSError" in caplog.text
    assert TOKEN not in caplog.text


async def test_discords_own_401_becomes_the_line_about_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    async with api(status=401) as base:
        monkeypatch.setattr(discord.http.Route, "BASE", base)
        app: App = build(Settings(), discord.utils.utcnow)
        bot = running.build_bot(app)
        with pytest.raises(ConfigError, match="refused the token"):
            await running._connect(bot, TOKEN)
        await bot.close()
        await app.close()


# ---------------------------------------------------------------------------------------------- the real process


@asynccontextmanager
async def api(status: int | None, asked: asyncio.Event | None = None) -> AsyncIterator[str]:
    """Discord's API answering everything with `status`; None: it takes the request and never answers."""
    closing = asyncio.Event()

    async def answer(_request: web.Request) -> web.Response:
        if asked is not None:
            asked.set()
        if status is None:
            await closing.wait()
        return web.json_response({"message": "no", "code": 0}, status=status or 500)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.5)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        closing.set()
        await runner.cleanup()


@asynccontextmanager
async def refusing() -> AsyncIterator[str]:
    """An address that refuses every connection: bound, but nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


async def spawn(base: str) -> asyncio.subprocess.Process:
    keep = {k: v for k, v in os.environ.items() if not k.upper().endswith("_PROXY")}
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        PROGRAM,
        env=keep | {"API": base, "DISCORD_TOKEN": TOKEN, "PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def said(child: asyncio.subprocess.Process, text: str) -> str:
    """Standard error up to the line that holds `text`."""
    assert child.stderr is not None
    seen = ""
    async with asyncio.timeout(60):
        while text not in seen:
            line = await child.stderr.readline()
            assert line, f"it ended before it said {text!r}:\n{seen}"
            seen += line.decode()
    return seen


async def stopped(child: asyncio.subprocess.Process, how: signal.Signals) -> str:
    """What a process that is told to stop still says; it must stop within ten seconds, and cleanly."""
    assert child.returncode is None
    child.send_signal(how)
    async with asyncio.timeout(10):
        out, err = await child.communicate()
    log = err.decode()
    assert child.returncode == 0, log
    assert "stopped; meetings that are open go on at the next start" in log
    assert "Traceback" not in log
    assert "Unclosed" not in log
    assert out == b""
    return log


@asynccontextmanager
async def process(base: str) -> AsyncIterator[asyncio.subprocess.Process]:
    child = await spawn(base)
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
async def test_the_process_survives_that_nobody_is_there_and_stops_cleanly(how: signal.Signals) -> None:
    async with refusing() as base, process(base) as child:
        log = await said(child, "Discord cannot be reached")
        log += await stopped(child, how)
    assert TOKEN not in log


async def test_the_process_stops_cleanly_while_discord_leaves_it_waiting() -> None:
    asked = asyncio.Event()
    async with api(None, asked) as base, process(base) as child:
        async with asyncio.timeout(60):
            await asked.wait()
        assert TOKEN not in await stopped(child, signal.SIGTERM)


async def test_the_process_stops_cleanly_as_soon_as_it_has_started() -> None:
    async with refusing() as base, process(base) as child:
        await said(child, "started: database")
        await stopped(child, signal.SIGTERM)


async def test_the_process_whose_token_is_refused_says_so_and_ends() -> None:
    async with api(status=401) as base, process(base) as child:
        async with asyncio.timeout(60):
            out, err = await child.communicate()
    assert child.returncode == EX_CONFIG
    lines = [line for line in err.decode().splitlines() if line.startswith("ketsugi: ")]
    assert len(lines) == 1
    assert "Discord refused the token" in lines[0]
    assert "Traceback" not in err.decode()
    assert TOKEN not in err.decode()
    assert out == b""

"""`ketsugi doctor`: what keeps the bot from working here, and how to mend each of it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass
from typing import Literal

import aiohttp
import discord
from rich.console import Console
from rich.markup import escape

from bot.clock import Clock
from bot.errors import KetsugiError
from bot.models.gemini import GeminiModel
from bot.run import bad_settings, token_problem
from bot.settings import OFFLINE, Settings
from bot.store import heartbeats
from bot.store.engine import Database
from bot.store.passages import MISSING

SAFE_SQLITE = (
    3,
    51,
    3,
)  # earlier: a WAL-reset bug, harmless with the one connection that we keep (RELIABILITY.md)
REQUEST_S = 10.0
# What the bot needs in a meeting's channel, by the names that Discord's settings show.
PERMISSIONS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    create_public_threads=True,
    read_message_history=True,
    embed_links=True,
    attach_files=True,
    add_reactions=True,
    pin_messages=True,
    manage_webhooks=True,
)
WISHED_FOR = "manage_webhooks"  # without it AI participants' names stand in front of what they say


@dataclass(frozen=True, slots=True)
class Finding:
    level: Literal["ok", "note", "wrong"]
    what: str
    mend: str = ""


def doctor() -> int:
    """Prints one line a check; exit status 1 where something keeps the bot from working."""
    console = Console()
    try:
        settings = Settings()
    except ValueError as error:
        console.print(f"✗ settings: these cannot be used: {escape(bad_settings(error))}")
        return 1
    return asyncio.run(_report(console, settings))


async def _report(console: Console, settings: Settings) -> int:
    wrong = 0
    async for finding in examine(settings):
        sign = {"ok": "[green]✓[/]", "note": "[yellow]![/]", "wrong": "[red]✗[/]"}[finding.level]
        console.print(
            f"{sign} {escape(finding.what)}" + (f"\n    → {escape(finding.mend)}" if finding.mend else ""),
            soft_wrap=True,
        )
        wrong += finding.level == "wrong"
    return 1 if wrong else 0


async def examine(settings: Settings) -> AsyncIterator[Finding]:
    """All checks in order, each on its own: one that fails does not hide the next."""
    yield _sqlite()
    yield await _database(settings)
    yield await _model(settings)
    token = settings.discord_token.get_secret_value().strip() if settings.discord_token else None
    problem = token_problem(token)
    if problem is not None or token is None:
        yield Finding("wrong", f"token: {problem}")
        return
    yield Finding("ok", "token: has the shape of a bot token")
    async for finding in _discord(token):
        yield finding


def _sqlite() -> Finding:
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < (3, 35):
        return Finding(
            "wrong", f"SQLite {version} is too old (RETURNING needs 3.35)", "install a newer Python"
        )
    if not _has_full_text_search():
        return Finding("wrong", f"SQLite {version}: {MISSING.partition(';')[0]}", MISSING.partition("; ")[2])
    if sqlite3.sqlite_version_info < SAFE_SQLITE:
        return Finding("note", f"SQLite {version}: fine with one process, which the lock file enforces")
    return Finding("ok", f"SQLite {version}")


def _has_full_text_search() -> bool:
    with closing(sqlite3.connect(":memory:")) as connection:
        found = connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchone()
    return found is not None


async def _database(settings: Settings) -> Finding:
    """Opened read-only, so that it can be looked at while the bot runs."""
    path = settings.database_path
    where = path or settings.database_url.split("@")[-1]
    if path is not None and not path.exists():
        return Finding("note", f"database: {where} does not exist yet; `ketsugi run` makes it")
    try:
        database = Database(settings.database_url, read_only=True)
        try:
            await database.open()
            beats = await database.unit(heartbeats.everything)
        finally:
            await database.close()
    except KetsugiError as error:
        return Finding(
            "wrong", f"database: {error}", "restore a backup, or point KETSUGI_DATABASE_URL elsewhere"
        )
    last = max((b.at for b in beats), default=None)
    alive = f"; last sign of life {last:%Y-%m-%d %H:%M:%S} UTC" if last else "; the bot has not run on it yet"
    return Finding("ok", f"database: {where}{alive}")


async def _model(settings: Settings) -> Finding:
    name = settings.main_model
    if name == OFFLINE:
        return Finding(
            "note",
            "model: offline engine; marks, time and minutes work, nothing is sent anywhere",
            "for an AI facilitator set GEMINI_API_KEY (Google AI Studio > Get API key)",
        )
    if not settings.gemini_api_key and not settings.gemini_base_url:
        return Finding(
            "wrong",
            f"model: {name} needs a key, and GEMINI_API_KEY is not set",
            "make one in Google AI Studio > Get API key, or set KETSUGI_MODEL=offline",
        )
    key = settings.gemini_api_key.get_secret_value() if settings.gemini_api_key else "local"
    model = GeminiModel(name, key, Clock(discord.utils.utcnow), base_url=settings.gemini_base_url)
    ok, reason = await model.check()
    await model.close()
    if ok:
        return Finding("ok", f"model: {name} answers")
    mend = "check GEMINI_API_KEY and the model's name, or set KETSUGI_MODEL=offline"
    if reason == "unreachable":
        mend = "check the network, and GEMINI_BASE_URL where it is set; meanwhile meetings run offline"
    return Finding("wrong", f"model: {name}: {reason}", mend)


async def _discord(token: str) -> AsyncIterator[Finding]:
    headers = {"Authorization": f"Bot {token}"}
    timeout = aiohttp.ClientTimeout(total=REQUEST_S)
    base = discord.http.Route.BASE
    try:
        async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
            async with session.get(f"{base}/applications/@me") as response:
                if response.status == 401:
                    yield Finding(
                        "wrong", "Discord refused the token", "Developer Portal > Bot > Reset Token"
                    )
                    return
                response.raise_for_status()
                application = await response.json()
            yield _intent(int(application.get("flags", 0)))
            async with session.get(f"{base}/users/@me/guilds") as response:
                response.raise_for_status()
                guilds = await response.json()
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        yield Finding(
            "wrong", f"Discord cannot be reached ({type(error).__name__})", "check the network and try again"
        )
        return
    invite = discord.utils.oauth_url(int(application["id"]), permissions=PERMISSIONS)
    if not guilds:
        yield Finding("note", "the bot is in no server yet", f"invite it: {invite}")
    for guild in guilds:
        yield _rights(guild, invite)


def _intent(flags: int) -> Finding:
    known = discord.ApplicationFlags._from_value(flags)
    if known.gateway_message_content or known.gateway_message_content_limited:
        return Finding("ok", "Message Content Intent is on")
    return Finding(
        "wrong",
        "Message Content Intent is off: the bot could not read a meeting",
        "Developer Portal > your application > Bot > Privileged Gateway Intents > Message Content Intent",
    )


def _rights(guild: dict[str, str], invite: str) -> Finding:
    held = discord.Permissions(int(guild.get("permissions", 0)))
    missing = [
        name for name, wanted in PERMISSIONS if wanted and not (getattr(held, name) or held.administrator)
    ]
    name = guild.get("name", guild["id"])
    if not missing:
        return Finding("ok", f"server {name}: all needed permissions")
    return Finding(
        "note" if missing == [WISHED_FOR] else "wrong",
        f"server {name}: missing {', '.join(missing)}",
        f"Server Settings > Roles > the bot's role, or invite it again: {invite}",
    )

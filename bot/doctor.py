"""`ketsugi doctor`: what keeps the bot from working here, and how to mend each of it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args, get_origin

import aiohttp
import discord
from annotated_types import Ge, Gt, Le
from pydantic.fields import FieldInfo
from rich.console import Console
from rich.markup import escape

from bot.clock import Clock, Now
from bot.errors import KetsugiError
from bot.meeting.model import Language
from bot.models.gemini import GeminiModel
from bot.phrases import t
from bot.run import bad_fields, token_problem, variable
from bot.settings import OFFLINE, Settings
from bot.store import heartbeats
from bot.store.engine import Database
from bot.supervision import LAG_WARN_S
from bot.vitals import Vitals, vitals

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


Level = Literal["ok", "note", "wrong"]


@dataclass(frozen=True, slots=True)
class Finding:
    level: Level
    what: str
    mend: str = ""


def doctor() -> int:
    """Prints one line a check, in the language of KETSUGI_LANGUAGE; exit status 1 where something keeps the bot from
    working."""
    settings, bad = usable_settings()
    return asyncio.run(_report(Console(), settings, bad))


def usable_settings() -> tuple[Settings, list[Finding]]:
    """The settings, their defaults in place of what cannot be used, and a finding for each of those."""
    try:
        return Settings(), []
    except ValueError as error:
        names = bad_fields(error)
    fields = {_field(name): Settings.model_fields[_field(name)] for name in names}
    settings = Settings(**{n: f.get_default(call_default_factory=True) for n, f in fields.items()})
    return settings, [_bad(name, Settings.model_fields[_field(name)], settings.language) for name in names]


def _field(name: str) -> str:
    """The field of a name in a validation error, which may be its environment variable."""
    return name if name in Settings.model_fields else name.lower()


def _bad(name: str, field: FieldInfo, language: Language) -> Finding:
    default = field.get_default(call_default_factory=True)
    what = t("doctor.setting", language, name=variable(name), allowed=_allowed(name, field, language))
    mend = "doctor.setting_mend_unset" if default in (None, "") else "doctor.setting_mend"
    return Finding("wrong", what, t(mend, language, default=default))


def _allowed(name: str, field: FieldInfo, language: Language) -> str:
    """What a setting may be, from its type and bounds."""
    kinds = [kind for kind in get_args(field.annotation) if kind is not type(None)] or [field.annotation]
    if get_origin(field.annotation) is Literal:
        return t("doctor.allowed.joiner", language).join(map(str, kinds))
    least = next(
        (m.ge if isinstance(m, Ge) else m.gt for m in field.metadata if isinstance(m, Ge | Gt)), None
    )
    most = next((m.le for m in field.metadata if isinstance(m, Le)), None)
    whole = "whole_between" if most is not None else "whole" if least is None else "whole_least"
    form = {int: whole, float: "above" if most is None else "between"}.get(kinds[0], "other")
    form = "timezone" if name == "timezone" else form
    return t(f"doctor.allowed.{form}", language, least=_shown(least), most=_shown(most))


def _shown(bound: object) -> str:
    return f"{bound:g}" if isinstance(bound, float) else str(bound)


async def _report(console: Console, settings: Settings, bad: Sequence[Finding]) -> int:
    wrong = 0

    def show(finding: Finding) -> None:
        sign = {"ok": "[green]✓[/]", "note": "[yellow]![/]", "wrong": "[red]✗[/]"}[finding.level]
        console.print(
            f"{sign} {escape(finding.what)}" + (f"\n    → {escape(finding.mend)}" if finding.mend else ""),
            soft_wrap=True,
        )

    for finding in bad:
        show(finding)
    async for finding in examine(settings):
        show(finding)
        wrong += finding.level == "wrong"
    return 1 if wrong or bad else 0


async def examine(settings: Settings, now: Now = discord.utils.utcnow) -> AsyncIterator[Finding]:
    """All checks in order, each on its own: one that fails does not hide the next."""
    language = settings.language
    yield _sqlite(language)
    async for finding in _database(settings, now):
        yield finding
    yield await _model(settings)
    token = settings.discord_token.get_secret_value().strip() if settings.discord_token else None
    problem = token_problem(token, language)
    if problem is not None or token is None:
        yield Finding("wrong", t("doctor.token_wrong", language, problem=problem))
        return
    yield Finding("ok", t("doctor.token", language))
    async for finding in _discord(token, language):
        yield finding


def _sqlite(language: Language) -> Finding:
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < (3, 35):
        too_old = t("doctor.sqlite_old", language, version=version)
        return Finding("wrong", too_old, t("doctor.sqlite_old_mend", language))
    if not _has_full_text_search():
        without = t("doctor.sqlite_search", language, version=version)
        return Finding("wrong", without, t("doctor.sqlite_search_mend", language))
    key = "doctor.sqlite_one" if sqlite3.sqlite_version_info < SAFE_SQLITE else "doctor.sqlite"
    return Finding("ok", t(key, language, version=version))


def _has_full_text_search() -> bool:
    with closing(sqlite3.connect(":memory:")) as connection:
        found = connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchone()
    return found is not None


async def _database(settings: Settings, now: Now) -> AsyncIterator[Finding]:
    """Opened read-only, so that it can be looked at while the bot runs."""
    language, path = settings.language, settings.database_path
    where = path or settings.database_url.split("@")[-1]
    if path is not None and not path.exists():
        yield Finding("ok", t("doctor.database_new", language, where=where))
        return
    try:
        database = Database(settings.database_url, read_only=True)
        try:
            await database.open()
            beats = await database.unit(heartbeats.everything)
        finally:
            await database.close()
    except KetsugiError as error:
        yield Finding(
            "wrong", t("doctor.database_wrong", language, error=error), t("doctor.database_mend", language)
        )
        return
    found = vitals(beats, now())
    if found is None:
        yield Finding("ok", t("doctor.database_unused", language, where=where))
        return
    at = _moment(found.last.at)
    yield Finding("ok", t("doctor.database_alive", language, where=where, at=at))
    for finding in _background(found, language):
        yield finding


def _background(found: Vitals, language: Language) -> Iterator[Finding]:
    """How the process fares that last ran here; where it has stopped, that alone keeps nothing from working."""
    last = found.last
    level: Level = "wrong" if found.alive else "note"
    if found.alive:
        yield Finding("ok", t("doctor.bot_runs", language))
    else:
        stopped = t("doctor.bot_stopped", language, at=_moment(last.at))
        yield Finding("note", stopped, t("doctor.bot_stopped_mend", language))
    lag = t("doctor.lag", language, seconds=f"{last.lag_s:.1f}")
    if last.lag_s > LAG_WARN_S:
        yield Finding("note", lag, t("doctor.lag_mend", language))
    else:
        yield Finding("ok", lag)
    for worker in found.failing:
        what = t("doctor.work_fails", language, name=worker.name, count=worker.failures, error=worker.error)
        yield Finding(level, what, t("doctor.work_fails_mend", language, name=worker.name))
    for worker in found.late:
        what = t("doctor.work_late", language, name=worker.name, at=_moment(worker.at))
        yield Finding(level, what, t("doctor.work_late_mend", language))


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"


async def _model(settings: Settings) -> Finding:
    name, language = settings.main_model, settings.language
    if name == OFFLINE:
        return Finding("ok", t("doctor.model_offline", language), t("doctor.model_offline_mend", language))
    if not settings.gemini_api_key and not settings.gemini_base_url:
        return Finding(
            "wrong", t("doctor.model_key", language, model=name), t("doctor.model_key_mend", language)
        )
    key = settings.gemini_api_key.get_secret_value() if settings.gemini_api_key else "local"
    model = GeminiModel(name, key, Clock(discord.utils.utcnow), base_url=settings.gemini_base_url)
    ok, reason = await model.check()
    await model.close()
    if ok:
        return Finding("ok", t("doctor.model", language, model=name))
    mend = "doctor.model_unreachable_mend" if reason == "unreachable" else "doctor.model_wrong_mend"
    return Finding("wrong", t("doctor.model_wrong", language, model=name, reason=reason), t(mend, language))


async def _discord(token: str, language: Language) -> AsyncIterator[Finding]:
    headers = {"Authorization": f"Bot {token}"}
    timeout = aiohttp.ClientTimeout(total=REQUEST_S)
    base = discord.http.Route.BASE
    try:
        async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
            async with session.get(f"{base}/applications/@me") as response:
                if response.status == 401:
                    yield Finding("wrong", t("doctor.refused", language), t("doctor.refused_mend", language))
                    return
                response.raise_for_status()
                application = await response.json()
            yield _intent(int(application.get("flags", 0)), language)
            async with session.get(f"{base}/users/@me/guilds") as response:
                response.raise_for_status()
                guilds = await response.json()
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        told = t("doctor.unreachable", language, error=type(error).__name__)
        yield Finding("wrong", told, t("doctor.unreachable_mend", language))
        return
    invite = discord.utils.oauth_url(int(application["id"]), permissions=PERMISSIONS)
    if not guilds:
        yield Finding(
            "note", t("doctor.no_server", language), t("doctor.no_server_mend", language, invite=invite)
        )
    for guild in guilds:
        yield _rights(guild, invite, language)


def _intent(flags: int, language: Language) -> Finding:
    known = discord.ApplicationFlags._from_value(flags)
    if known.gateway_message_content or known.gateway_message_content_limited:
        return Finding("ok", t("doctor.intent", language))
    return Finding("wrong", t("doctor.intent_off", language), t("doctor.intent_mend", language))


def _rights(guild: dict[str, str], invite: str, language: Language) -> Finding:
    held = discord.Permissions(int(guild.get("permissions", 0)))
    missing = [
        name for name, wanted in PERMISSIONS if wanted and not (getattr(held, name) or held.administrator)
    ]
    name = guild.get("name", guild["id"])
    if not missing:
        return Finding("ok", t("doctor.rights", language, server=name))
    return Finding(
        "note" if missing == [WISHED_FOR] else "wrong",
        t("doctor.rights_missing", language, server=name, missing=", ".join(missing)),
        t("doctor.rights_mend", language, invite=invite),
    )

"""`ketsugi run`: the real bot, faults at its start as one line each, an end that finishes what is under way."""

from __future__ import annotations

import asyncio
import logging
import random
import re
import signal
import sys
from contextlib import suppress

import aiohttp
import discord

from bot.app import App, build
from bot.client import KetsugiBot, build_bot
from bot.errors import ConfigError, KetsugiError
from bot.meeting.model import Language
from bot.phrases import t
from bot.settings import Settings
from bot.supervision import log_failure

log = logging.getLogger("ketsugi")

# Discord resets the token after 1,000 identifies a day: at 100 s apart a broken gateway costs 864.
RECONNECT_S = (5.0, 15.0, 45.0, 100.0)
# sysexits.h: a start that cannot help however often it is tried. A service manager must tell it from a crash
# (RestartPreventExitStatus), since every start that gets as far as Discord costs an identify.
EX_CONFIG = 78
# Together below the ten seconds that service managers and containers commonly grant.
FINISH_S, CLOSE_S = 6.0, 2.5
_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{20,}")


def token_problem(token: str | None, language: Language = "en") -> str | None:
    """What is wrong with a token by its shape alone, and where to get a right one; None if nothing is."""
    if not token or not token.strip():
        return t("doctor.token_unset", language)
    if token.lower().startswith("bot "):
        return t("doctor.token_word", language)
    return None if _TOKEN.fullmatch(token.strip()) else t("doctor.token_shape", language)


def bad_settings(error: ValueError) -> str:
    """The environment variables that a validation error is about: their names, never their values."""
    return ", ".join(sorted({variable(name) for name in bad_fields(error)}))


def bad_fields(error: ValueError) -> list[str]:
    """The settings that a validation error is about, each once."""
    return list(dict.fromkeys(str(e["loc"][0]) for e in getattr(error, "errors", list)()))


def variable(field: str) -> str:
    """The environment variable of a setting."""
    return field if field.isupper() else f"KETSUGI_{field.upper()}"


def set_up_logging(level: str) -> None:
    """One line an event to stderr; libraries only from WARNING, since they print payloads at DEBUG."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    logging.getLogger("discord.client").setLevel(
        logging.ERROR
    )  # below: voice support is missing, at every start
    for name in ("ketsugi", "bot", "cogs"):
        logging.getLogger(name).setLevel(level)


def run() -> int:
    """Exit status 0 after SIGTERM or SIGINT, else one line on stderr says why the bot could not start.

    78 where somebody has to change a setting, the token or an intent first; 1 for everything else, such as a database
    in use, which costs no identify.
    """
    try:
        settings = Settings()
    except ValueError as error:
        names = bad_settings(error)
        return _fail(f"these settings cannot be used: {names}; see docs/administrators.md", EX_CONFIG)
    set_up_logging(settings.log_level)
    problem = token_problem(settings.discord_token.get_secret_value() if settings.discord_token else None)
    if problem is not None:
        return _fail(problem, EX_CONFIG)
    try:
        return asyncio.run(_run(settings))
    except ConfigError as error:
        return _fail(str(error), EX_CONFIG)
    except KetsugiError as error:
        return _fail(str(error), 1)


def _fail(message: str, status: int) -> int:
    print(f"ketsugi: {message}", file=sys.stderr)  # noqa: T201
    return status


async def _run(settings: Settings) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):  # first: a stop while the database opens is clean too
        loop.add_signal_handler(name, stop.set)
    app = build(settings, discord.utils.utcnow)
    await app.open()
    database = settings.database_path or settings.database_url.split("@")[-1]  # a URL may hold a password
    log.info("started: database %s, model %s, %s for /ask", database, settings.main_model, settings.ask_model)
    app.supervise()
    try:
        await _until_stopped(app, settings, stop)
    finally:
        await app.close()
    log.info("stopped; meetings that are open go on at the next start")
    return 0


async def _until_stopped(app: App, settings: Settings, stop: asyncio.Event) -> None:
    """Keep the bot connected until `stop`; gateway failures are survived, wrong credentials are not."""
    assert settings.discord_token is not None
    token = settings.discord_token.get_secret_value().strip()
    failures = 0
    while not stop.is_set():
        bot = build_bot(app)
        connection = asyncio.create_task(_connect(bot, token), name="ketsugi-gateway")
        stopped = asyncio.create_task(stop.wait())
        started = loop_time()
        await asyncio.wait({connection, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if stop.is_set():
            # What is under way still needs the connection; nothing new is begun.
            await asyncio.gather(app.chat.close(FINISH_S), app.meetings.close(FINISH_S))
        await _shut(bot, connection)
        if stop.is_set():
            return
        error = connection.exception() if not connection.cancelled() else None
        if isinstance(error, ConfigError):
            raise error
        if error is not None:
            log_failure("the connection to Discord ended, it is made again", error)
        failures = 0 if loop_time() - started > 600 else failures + 1
        pause = RECONNECT_S[min(failures, len(RECONNECT_S) - 1)] * random.uniform(0.8, 1.2)
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), pause)


def loop_time() -> float:
    return asyncio.get_running_loop().time()


async def _connect(bot: KetsugiBot, token: str) -> None:
    """Raises ConfigError where trying again cannot help; the text says what to click."""
    try:
        await bot.start(token, reconnect=True)
    except discord.LoginFailure as error:
        raise ConfigError(
            "Discord refused the token: make a new one under Developer Portal > Bot > Reset Token and set DISCORD_TOKEN"
        ) from error
    except discord.PrivilegedIntentsRequired as error:
        raise ConfigError(
            "the Message Content Intent is off: Developer Portal > your application > Bot > Privileged Gateway Intents"
            " > switch on Message Content Intent, then start again"
        ) from error
    except aiohttp.ClientConnectionError as error:
        log.warning("Discord cannot be reached (%s)", type(error).__name__)


async def _shut(bot: KetsugiBot, connection: asyncio.Task[None]) -> None:
    """Close the gateway session within its time, whatever state it is in."""
    try:
        async with asyncio.timeout(CLOSE_S):
            await bot.close()
    except (TimeoutError, AttributeError, OSError) as error:
        # A start that failed half-way leaves a client whose close() may raise AttributeError (discord.py #10520).
        log.warning("the connection did not close cleanly (%s)", type(error).__name__)
    if not connection.done():
        connection.cancel()
    await asyncio.wait({connection})

"""The Discord client: intents, the loading of cogs, and the one way from an error to a reply."""

from __future__ import annotations

import hashlib
import json
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import UserError
from bot.meeting.display import display
from bot.meeting.model import Language
from bot.phrases import t
from bot.supervision import log_failure
from cogs._render import answer
from cogs._translator import PhraseTranslator, language_of

if TYPE_CHECKING:
    from bot.app import App

log = logging.getLogger(__name__)

COGS = Path(__file__).resolve().parent.parent / "cogs"


def build_bot(app: App, *, message_content: bool = True) -> KetsugiBot:
    """The bot over `app`'s services.

    `message_content` False: for an application whose privileged intent is off; Discord refuses the connection
    of a bot that asks for it nevertheless, and such a bot sees only mentions, menus and commands.
    """
    intents = discord.Intents(
        guilds=True,
        guild_messages=True,
        guild_reactions=True,
        guild_typing=True,
        dm_messages=True,
        message_content=message_content,
    )
    return KetsugiBot(app, intents)


class KetsugiBot(commands.Bot):
    """`app` is the only attribute added."""

    def __init__(self, app: App, intents: discord.Intents) -> None:
        super().__init__(
            command_prefix=(),  # slash commands only
            help_command=None,
            intents=intents,
            allowed_mentions=discord.AllowedMentions.none(),  # unset, discord pings everyone
            allowed_contexts=app_commands.AppCommandContext(
                guild=True, dm_channel=False, private_channel=False
            ),
            allowed_installs=app_commands.AppInstallationType(guild=True, user=False),
            max_ratelimit_timeout=30.0,  # unset, a 429 is waited out however long it says
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),  # measured: 24 KiB a server, not 191
            max_messages=None,
        )
        self.app = app
        self.tree.error(reply_to_error)

    async def setup_hook(self) -> None:
        await self.tree.set_translator(PhraseTranslator())
        for path in sorted(COGS.glob("*.py")):
            if not path.stem.startswith("_"):
                await self.load_extension(f"cogs.{path.stem}")
        await self._sync_commands()
        log.info("logged in to Discord as application %s", self.application_id)

    async def on_message(self, message: discord.Message) -> None:
        """No prefix commands: cogs listen for themselves."""

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        """A listener failed: logged without the event, whose text people wrote."""
        error = sys.exc_info()[1]
        if error is not None:
            log_failure(event_method, error)

    async def _sync_commands(self) -> None:
        """Tell Discord the commands, only when they changed (200 creations a day), and never fatally."""
        try:
            digest = await self._commands_digest()
            if await self.app.synced_commands() == digest:
                return
            await self.tree.sync()
            await self.app.remember_commands(digest)
        except Exception as error:
            # Whatever it was: the commands that Discord knows already go on working, and so do the meetings.
            log_failure("commands were not synced", error, level=logging.WARNING)

    async def _commands_digest(self) -> str:
        translator = self.tree.translator
        assert translator is not None
        payload = [await c.get_translated_payload(self.tree, translator) for c in self.tree.get_commands()]
        text = json.dumps([self.application_id, payload], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


async def reply_to_error(interaction: discord.Interaction[Any], error: BaseException) -> None:
    """Answer whoever used a command, button, menu or form that failed; used by all of them.

    Errors meant for people become their phrase in the reader's language, all others a generic reply and a
    logged traceback without messages (those may quote what people wrote).
    """
    if isinstance(error, app_commands.CommandInvokeError | app_commands.TransformerError) and error.__cause__:
        error = error.__cause__
    text = _error_text(error, language_of(interaction.locale))
    if text is None:
        log_failure(f"interaction {interaction.id}", error)
        text = t("error.unexpected", language_of(interaction.locale))
    try:
        await answer(interaction, text)
    except discord.DiscordException as failed:
        log.warning("interaction %d got no error reply: %s", interaction.id, type(failed).__name__)


def _error_text(error: BaseException, language: Language) -> str | None:
    """The phrase of an error meant for a person, names and words in it escaped; None for all others."""
    if isinstance(error, UserError):
        values = {k: display(v, 500) if isinstance(v, str) else v for k, v in error.values.items()}
        return t(error.key, language, **values)
    if isinstance(error, app_commands.CommandNotFound | app_commands.CommandSignatureMismatch):
        return t("error.outdated_command", language)
    if isinstance(error, app_commands.TransformerError):
        return t("error.bad_option", language)
    return None

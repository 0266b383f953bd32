"""Command texts in the reader's language: a `locale_str` carries the key of its phrase."""

from __future__ import annotations

import discord
from discord import app_commands

from bot.meeting.model import Language
from bot.phrases import book, t


def phrase(key: str) -> app_commands.locale_str:
    """The phrase `key` as command text: English by default, translated where Discord shows another language.

    The text of a `locale_str` must equal the default name, hence the English phrase and not the key.
    """
    return app_commands.locale_str(t(key, "en"), key=key)


def language_of(locale: discord.Locale) -> Language:
    """The language in which someone with this Discord locale is answered."""
    return "ja" if locale is discord.Locale.japanese else "en"


class PhraseTranslator(app_commands.Translator):
    async def translate(
        self,
        string: app_commands.locale_str,
        locale: discord.Locale,
        context: app_commands.TranslationContextTypes,
    ) -> str | None:
        key = string.extras.get("key")
        if key is None or locale is not discord.Locale.japanese:
            return None  # Discord falls back to the default, which is English
        return book("ja")[key]

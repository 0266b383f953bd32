"""Between Discord's objects and the values services speak in; and how a command is answered."""

from __future__ import annotations

import asyncio
import io
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import aiohttp
import discord

from bot.errors import BadInput
from bot.facilitation.requests import Person
from bot.meeting.display import units
from bot.meeting.model import ChannelKind, Language
from bot.meeting.text import strip_invisible
from bot.phrases import t
from bot.stage import BOT_NAME, Outgoing, Place, Seen
from cogs._translator import language_of

log = logging.getLogger(__name__)

LIMIT = 2000  # characters of a Discord message
ACKNOWLEDGE_TIMEOUT = 3.0  # seconds; a later first answer Discord refuses, and the command waits behind it
ANSWER_TIMEOUT = 20.0  # seconds; nothing waits behind an answer, and files take their time
NO_PINGS = discord.AllowedMentions.none()
_LOST = (10062, 40060, 10015)  # unknown interaction, already acknowledged, unknown (follow-up) webhook
UNANSWERABLE = (discord.HTTPException, discord.RateLimited, aiohttp.ClientError, OSError)
# A minus or a decimal point is no bullet: "-5 degrees" and "3.5 %" stay whole.
_BULLET = re.compile(r"^\s*(?:[-*+–—]\s+|[•・‣▪●○◦]\s*|[①-⑳]\s*|[(（]?\d{1,2}[.．)）、:：](?!\d)\s*)")


# --- from Discord --------------------------------------------------------------------------------------


def reader(interaction: discord.Interaction[Any]) -> Language:
    """The language of the person who clicked or typed the command."""
    return language_of(interaction.locale)


def person(interaction: discord.Interaction[Any]) -> Person:
    """Who acts, with the rights Discord states for this very act."""
    rights = interaction.permissions
    manager = rights.manage_guild or rights.administrator
    roles = tuple(role.id for role in getattr(interaction.user, "roles", ()))
    return Person(interaction.user.id, shown_name(interaction.user), manager, roles)


def shown_name(user: discord.User | discord.Member | discord.Object) -> str:
    return strip_invisible(getattr(user, "display_name", "")).strip()


def place(interaction: discord.Interaction[Any]) -> Place:
    if interaction.guild_id is None or interaction.channel_id is None:
        raise BadInput("error.guild_only")
    return Place(interaction.guild_id, interaction.channel_id)


def channel_kind(interaction: discord.Interaction[Any]) -> ChannelKind:
    """What sort of place the command was given in; BadInput where no meeting can be held."""
    channel = interaction.channel
    if isinstance(channel, discord.Thread):
        return (
            ChannelKind.FORUM_POST if isinstance(channel.parent, discord.ForumChannel) else ChannelKind.THREAD
        )
    if isinstance(channel, discord.VoiceChannel | discord.StageChannel):
        return ChannelKind.VOICE
    if isinstance(channel, discord.TextChannel):
        return ChannelKind.TEXT
    raise BadInput("error.wrong_channel")


def seen(message: discord.Message, me: int, text: str | None = None) -> Seen:
    """A message as value. `text` replaces its words (own posts: without the name line)."""
    reference = message.reference
    return Seen(
        message_id=message.id,
        author_id=message.author.id,
        author_name=shown_name(message.author),
        text=readable(message, me) if text is None else text,
        at=message.created_at,
        mine=message.author.id == me,
        bot=message.author.bot or message.webhook_id is not None,
        reply_to=reference.message_id if reference is not None else None,
        edited_at=message.edited_at,
        embed_footers=tuple(e.footer.text for e in message.embeds if e.footer.text),
        files=tuple(a.filename for a in message.attachments),
        webhook_id=message.webhook_id,
        mentions_me=re.search(rf"<@!?{me}>", message.content) is not None,
        reactions=tuple((str(r.emoji), r.count - r.me) for r in message.reactions if r.count > r.me),
    )


def readable(message: discord.Message, me: int) -> str:
    """The message's words with mentions as the names people see; the bot's own always reads @Ketsugi.

    Not `clean_content`: that puts invisible characters into @everyone, and quotes must stay verbatim.
    """
    names = {f"<@{u.id}>": f"@{shown_name(u)}" for u in message.mentions}
    names |= {f"<@!{u.id}>": f"@{shown_name(u)}" for u in message.mentions}
    names |= {f"<@{me}>": f"@{BOT_NAME}", f"<@!{me}>": f"@{BOT_NAME}"}
    names |= {f"<@&{r.id}>": f"@{r.name}" for r in message.role_mentions}
    names |= {f"<#{c.id}>": f"#{getattr(c, 'name', c.id)}" for c in message.channel_mentions}
    text = re.sub(r"<(?:@[!&]?|#)\d+>", lambda m: names.get(m[0], m[0]), message.content)
    return re.sub(r"<a?(:\w+:)\d+>", r"\1", text)


# --- what people enter ---------------------------------------------------------------------------------


def lines(text: str | None, *, most: int = 20, longest: int = 200) -> tuple[str, ...]:
    """Agenda or constraints as entered: one item a line, or separated by ; where there is no line break.

    Bullets and numbers go, empty items too. BadInput beyond `most` items of `longest` characters.
    """
    text = strip_invisible(text or "")
    parts = text.split("\n") if "\n" in text.strip() else re.split(r"[;；]", text)
    items = tuple(item for part in parts if (item := _BULLET.sub("", part).strip()))
    if len(items) > most:
        raise BadInput("error.too_many_items", count=len(items), most=most)
    for item in items:
        if len(item) > longest:
            raise BadInput("error.item_too_long", start=item[:30], length=len(item), longest=longest)
    return items


# --- to people -----------------------------------------------------------------------------------------


def cut(text: str, limit: int = LIMIT) -> str:
    """At most `limit` UTF-16 units, the cut shown by an ellipsis and an open code fence closed."""
    if units(text) <= limit:
        return text
    room = limit - units("…\n```")
    text = text[:room]
    while units(text) > room:
        text = text[:-1]
    text = text.rstrip()
    return f"{text}…\n```" if text.count("```") % 2 else f"{text}…"


def clock_time(moment: datetime) -> str:
    """Discord shows it in the reader's own time zone."""
    return discord.utils.format_dt(moment, "t")


def embeds_of(post: Outgoing) -> list[discord.Embed]:
    """Discord's embeds, cut to its limits as a last defence."""
    result = []
    for e in post.embeds[:10]:
        embed = discord.Embed(title=cut(e.title, 256) or None, description=cut(e.description, 4096) or None)
        for name, value in e.fields[:25]:
            embed.add_field(name=cut(name, 256), value=cut(value, 1024), inline=False)
        if e.footer:
            embed.set_footer(text=cut(e.footer, 2048))
        result.append(embed)
    return result


def files_of(post: Outgoing) -> list[discord.File]:
    return [discord.File(io.BytesIO(f.content), f.name) for f in post.files]


# --- answering a command -------------------------------------------------------------------------------


@asynccontextmanager
async def _answering(interaction: discord.Interaction[Any], what: str, timeout: float) -> AsyncIterator[None]:
    """One request that answers an interaction: at most `timeout` seconds, and only logged where it is lost.

    discord.py's client for interactions knows no `max_ratelimit_timeout`: it waits out whatever a 429 says, and
    repeats a 500 for 25 s.
    """
    try:
        async with asyncio.timeout(timeout):
            yield
    except UNANSWERABLE as error:  # OSError holds TimeoutError too
        if not is_lost(error):
            raise
        log.warning("%s interaction %d not delivered: %s", what, interaction.id, type(error).__name__)
        interaction.extras["acknowledged"] = True  # perhaps: only a follow-up can still reach the person


async def defer(interaction: discord.Interaction[Any]) -> None:
    """Acknowledge within Discord's 3 s. A lost acknowledgement means "perhaps": the command goes on.

    10062 and 40060 can mean that the first attempt got through and services do the same
    interaction id only once, so going on is safe where stopping would lose a wish.
    """
    async with _answering(interaction, "acknowledgement of", ACKNOWLEDGE_TIMEOUT):
        await interaction.response.defer(ephemeral=True, thinking=True)


def is_lost(error: BaseException) -> bool:
    """Was an answer to an interaction lost on the way, or too late, rather than wrong itself?"""
    if isinstance(error, discord.HTTPException):
        return error.code in _LOST or error.status >= 500 or error.status == 429
    return True


async def answer(
    interaction: discord.Interaction[Any],
    text: str,
    *,
    embeds: list[discord.Embed] | None = None,
    files: list[discord.File] | None = None,
    view: discord.ui.View | None = None,
) -> None:
    """Answer the caller alone. An answer that can no longer be given is logged: the deed itself is done."""
    kwargs: dict[str, Any] = {"ephemeral": True, "allowed_mentions": NO_PINGS}
    kwargs |= {"embeds": embeds} if embeds else {}
    kwargs |= {"files": files} if files else {}
    kwargs |= {"view": view} if view is not None else {}
    async with _answering(interaction, "answer to", ANSWER_TIMEOUT):
        if interaction.response.is_done() or interaction.extras.get("acknowledged"):
            await interaction.followup.send(cut(text), **kwargs)
        else:
            await interaction.response.send_message(cut(text), **kwargs)


async def replace_answer(
    interaction: discord.Interaction[Any], text: str, view: discord.ui.View | None
) -> None:
    """Put other words and buttons in the place of the answer whose button was pressed."""
    async with _answering(interaction, "answer to", ANSWER_TIMEOUT):
        await interaction.response.edit_message(content=cut(text), view=view, allowed_mentions=NO_PINGS)


async def show_form(interaction: discord.Interaction[Any], form: discord.ui.Modal) -> None:
    """Show a form. One whose delivery is uncertain may stand before the person: sent in, it works all the same."""
    async with _answering(interaction, "form for", ANSWER_TIMEOUT):
        await interaction.response.send_modal(form)
    if not interaction.response.is_done():
        interaction.client._connection.store_view(form)  # send_modal does so only where all went well


async def answer_phrase(interaction: discord.Interaction[Any], key: str, /, **values: object) -> None:
    await answer(interaction, t(key, reader(interaction), **values))


async def answer_post(interaction: discord.Interaction[Any], post: Outgoing) -> None:
    """A whole post as ephemeral answer."""
    await answer(interaction, post.text, embeds=embeds_of(post), files=files_of(post))

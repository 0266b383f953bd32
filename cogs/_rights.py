"""Who may read which channel, as Discord states it at the moment of the act; what is not certain is no."""

from __future__ import annotations

from typing import Any

import discord
from discord.abc import GuildChannel

from bot.minutes.archive import Access

_READ = ("view_channel", "read_message_history")


def readable_channels(interaction: discord.Interaction[Any]) -> frozenset[int]:
    """Channels whose messages the caller can read.

    Public threads and posts come with their channel; a private thread only where the caller is in it right
    now (the command was given there) or manages threads.
    """
    guild, member = interaction.guild, interaction.user
    if guild is None or not isinstance(member, discord.Member):
        return frozenset()
    found = set(channels_of(guild, member))
    if interaction.channel_id is not None and _reads(interaction.permissions):
        found.add(interaction.channel_id)
    return frozenset(found)


def access_of(interaction: discord.Interaction[Any]) -> Access:
    """What the caller can read, and which channels there are: known only of a server that was sent to us whole."""
    guild = interaction.client.get_guild(
        interaction.guild_id or 0
    )  # the interaction's own may be a part of it
    known = guild is not None and not guild.unavailable
    standing = frozenset(channel.id for channel in guild.channels) if guild is not None and known else None
    return Access(readable_channels(interaction), standing)


def channels_of(guild: discord.Guild, member: discord.Member) -> frozenset[int]:
    """Channels whose messages this member can read; of private threads those that the member manages."""
    found = {channel.id for channel in guild.channels if _opens(channel, channel.permissions_for(member))}
    for thread in guild.threads:
        rights = thread.permissions_for(member) if thread.parent is not None else discord.Permissions.none()
        if thread.is_private() and _reads(rights) and rights.manage_threads:
            found.add(thread.id)
    return frozenset(found)


def _opens(channel: GuildChannel, rights: discord.Permissions) -> bool:
    """The chat of a voice channel can be read only by who may connect to it."""
    spoken = isinstance(channel, discord.VoiceChannel | discord.StageChannel)
    return _reads(rights) and (rights.connect or not spoken)


def _reads(rights: discord.Permissions) -> bool:
    return all(getattr(rights, name) for name in _READ)


def readable_by_all(guild: discord.Guild, here: int, other: int) -> bool:
    """Whether everyone who reads channel `here` reads `other` too.

    Certain only where both are one channel, where `other` is open to everybody and denied to none, or where
    both have the same overwrites. Nothing else is worked out: roles change, and a wrong yes shows a secret.
    """
    if here == other:
        return True
    target = guild.get_channel_or_thread(other)
    if isinstance(target, discord.Thread) and target.is_private():
        return False
    mine, theirs = _base(guild, here), _base(guild, other)
    if mine is None or theirs is None:
        return False
    if mine.id == theirs.id or _open_to_all(theirs):
        return True
    return not isinstance(theirs, discord.VoiceChannel | discord.StageChannel) and _rules(mine) == _rules(
        theirs
    )


def _base(guild: discord.Guild, channel_id: int) -> GuildChannel | None:
    """The channel whose overwrites hold: a thread has none of its own."""
    channel = guild.get_channel_or_thread(channel_id)
    return channel.parent if isinstance(channel, discord.Thread) else channel


def _open_to_all(channel: GuildChannel) -> bool:
    if isinstance(channel, discord.VoiceChannel | discord.StageChannel):
        return False  # reading there also takes the right to connect
    denied = any(getattr(o, name) is False for o in channel.overwrites.values() for name in _READ)
    return not denied and _reads(channel.permissions_for(channel.guild.default_role))


def _rules(channel: GuildChannel) -> dict[int, tuple[bool | None, ...]]:
    rules = {target.id: tuple(getattr(o, name) for name in _READ) for target, o in channel.overwrites.items()}
    return {target: rule for target, rule in rules.items() if any(value is not None for value in rule)}

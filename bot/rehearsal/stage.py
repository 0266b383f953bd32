"""The simulated server: one guild, one text channel, people by name, and what they do with their hands.

Acts go through the simulated Discord's own checks, so nobody clicks a button that is not there. What a person
cannot do raises Impossible, and the rehearsal goes on: it happens to people too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import discord
from simcord.actors import MemberActor
from simcord.backend import Backend
from simcord.backend.errors import BackendError, SetupError
from simcord.backend.models import Message
from simcord.builders import ChannelHandle
from simcord.env import Env
from simcord.results import InteractionResult, ResponseMessage, to_discord_message

from bot.errors import KetsugiError
from bot.meeting.model import Language
from bot.rehearsal.observer import Observer, buttons
from bot.rehearsal.scenario import BOT
from bot.rehearsal.shims import LOCALES

BOT_NAME = "Ketsugi"
_MENTION = re.compile(rf"@{BOT_NAME}\b", re.IGNORECASE)
_NO_WORDS_AHEAD = re.compile(r"^\W+")
USER_OPTION, STRING_OPTION = 6, 3


class Impossible(KetsugiError):
    """What the scenario asks a person to do cannot be done in Discord at this moment; the text says why."""


class SimulatedServer:
    """Owns names and references; every method that acts changes the backend at once and settles nothing."""

    def __init__(self, env: Env, observer: Observer, language: Language) -> None:
        self._env, self._observer = env, observer
        backend: Backend = env.backend
        backend.bot_user.name = BOT_NAME
        self.guild = env.create_guild("Rehearsal", preferred_locale=LOCALES[language])
        self.channel = self.guild.create_text_channel("meeting")
        self._people: dict[str, MemberActor] = {}
        self._messages: dict[str, tuple[int, int]] = {}  # ref -> channel, message

    def person(self, name: str, *, bot: bool = False) -> MemberActor:
        """The member of that name; whoever is new joins."""
        actor = self._people.get(name)
        if actor is None:
            user = self._env.create_user(name, global_name=name, bot=bot)
            actor = self._people[name] = self.guild.add_member(user)
            self._observer.know(user.id, name)
        return actor

    def enter_thread(self) -> None:
        """People are in the newest thread from now on, where there is one."""
        if threads := self.channel.threads:
            self.channel = max(threads, key=lambda thread: thread.id)

    # -- messages; these work while the bot is away, too

    def say(self, who: str, text: str, *, ref: str | None, reply_to: str | None, bot: bool) -> Message:
        author = self.person(who, bot=bot)
        channel_id, reference = self.channel.id, None
        if reply_to is not None:
            channel_id, message_id = self._target(reply_to)
            reference = {"channel_id": str(channel_id), "message_id": str(message_id)}
        content = _MENTION.sub(f"<@{self._env.backend.bot_user.id}>", text)
        message: Message = self._doing(
            self._env.backend.create_message, channel_id, author.id, content, reference=reference
        )
        if ref is not None:
            self._messages[ref] = (channel_id, message.id)
        return message

    def edit(self, ref: str, text: str) -> None:
        self._doing(self._env.backend.edit_message, *self._target(ref), {"content": text})

    def delete(self, ref: str) -> None:
        self._doing(self._env.backend.delete_message, *self._target(ref))

    def react(self, who: str, emoji: str, to: str) -> None:
        self._doing(self._env.backend.set_reaction, *self._target(to), emoji, self.person(who).id, True)

    # -- interactions; these need the bot

    async def command(self, who: str, name: str, options: Mapping[str, Any]) -> InteractionResult:
        given = self._fitted(name, options)
        return await self._interacting(self.person(who).slash(self.channel, name, **given))

    async def menu(self, who: str, name: str, to: str) -> InteractionResult:
        """`name` as Discord registers it, or as it is shown in the meeting's language."""
        for command in self._env.backend.commands.get(None, {}).values():
            if name in (command.get("name_localizations") or {}).values():
                name = command["name"]
        channel_id, message_id = self._target(to)
        stored = self._doing(self._env.backend.get_message, channel_id, message_id)
        channel = ChannelHandle(self._env, self.guild, self._env.backend.get_channel(channel_id))
        target = to_discord_message(self._env, stored)
        return await self._interacting(self.person(who).context_menu(channel, name, target))

    async def click(self, who: str, button: str) -> InteractionResult:
        """Click on the newest message with an enabled button of that label, or whose custom id starts so."""
        actor = self.person(who)
        for message in self._newest_first(actor):
            for found in buttons(message):
                if not found.get("disabled") and _is_called(found, button):
                    target: discord.Message | ResponseMessage = ResponseMessage(self._env, message)
                    return await self._interacting(actor.click(target, custom_id=found["custom_id"]))
        raise Impossible(f"no message has a button '{button}' that {who} could click")

    def _newest_first(self, actor: MemberActor) -> list[Message]:
        backend = self._env.backend
        here = [c.id for c in (self.channel, *self.channel.threads)]
        direct = backend.dm_channels.get(actor.id)
        found = [m for c in (*here, direct) if c for m in backend.messages.get(c, {}).values()]
        mine = [m for m in found if m.author_id == backend.bot_user.id and m.visible_to(actor.id)]
        return sorted(mine, key=lambda m: m.id, reverse=True)

    def _target(self, ref: str) -> tuple[int, int]:
        if ref != BOT:
            if ref not in self._messages:
                raise Impossible(f"the message '{ref}' was never sent")
            return self._messages[ref]
        if self._observer.latest_post is None:
            raise Impossible("the bot has posted nothing yet")
        return self._observer.latest_post

    def _fitted(self, name: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options as the command declares them: people for names, numbers and texts within its limits."""
        root, *path = name.split()
        spec = self._env.backend.find_command(root, self.guild.id)
        for part in path:
            spec = next((o for o in (spec or {}).get("options", ()) if o["name"] == part), None)
        declared = {o["name"]: o for o in (spec or {}).get("options", ())}
        return {key: self._fit(declared.get(key, {}), value) for key, value in options.items()}

    def _fit(self, option: Mapping[str, Any], value: Any) -> Any:
        kind = option.get("type")
        if kind == USER_OPTION and isinstance(value, str):
            return self.person(value)
        if kind == STRING_OPTION:
            return str(value)[: option.get("max_length", 6000)]
        if isinstance(value, int | float) and not isinstance(value, bool):
            return min(max(value, option.get("min_value", value)), option.get("max_value", value))
        return value

    def _doing(self, act: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return act(*args, **kwargs)
        except (BackendError, SetupError) as error:
            raise Impossible(str(error)) from error

    async def _interacting(self, act: Any) -> InteractionResult:
        try:
            return await act  # type: ignore[no-any-return]
        except (BackendError, SetupError) as error:
            raise Impossible(str(error)) from error


def _is_called(button: Mapping[str, Any], called: str) -> bool:
    """A label is compared without the emoji that may stand before it."""
    label = str(button.get("label") or "")
    wanted = called.casefold()
    if wanted in (label.casefold(), _NO_WORDS_AHEAD.sub("", label).casefold()):
        return True
    return bool(button.get("custom_id")) and str(button["custom_id"]).startswith(called)

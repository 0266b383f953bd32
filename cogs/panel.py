"""`/panel start`, as options or as a form, and `/panel stop`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import discord
from discord.ext import commands

from bot.errors import BadInput, NotAllowed
from bot.facilitation.requests import StartRequest
from bot.meeting.display import display, one_line
from bot.meeting.model import LANGUAGES, Language
from bot.meeting.text import fold
from bot.panel import presets, roles
from bot.panel.roles import TURNS_FEWEST, TURNS_MOST, TURNS_USUAL, Plan, Role
from bot.phrases import t
from cogs._commands import add_command
from cogs._render import answer, answer_phrase, channel_kind, defer, lines, person, place, reader, show_form
from cogs._views import Form, field
from cogs.meeting_start import NEEDED, TITLE_LENGTH, parent_of

if TYPE_CHECKING:
    from bot.client import KetsugiBot

_OPTIONAL: dict[str, Any] = {"required": False, "max_length": 4000}


@dataclass(frozen=True, slots=True)
class Given:
    """What came along with the topic, as entered."""

    constraints: str | None = None
    agenda: str | None = None
    preset: str | None = None
    roles: str | None = None
    turns: int | None = None
    cost_cap: float | None = None
    language: str | None = None


class PanelForm(Form):
    """What `/panel start` asks for where no topic was given; the roles of a preset stand in it to be changed."""

    def __init__(self, words: Language, given: Given, known_roles: str | None) -> None:
        super().__init__(title=t("panel.form.title", words))
        self._given = given
        key, long = "panel.form", discord.TextStyle.paragraph
        self._topic = field(self, f"{key}.topic", words, max_length=TITLE_LENGTH)
        self._agenda = field(self, f"{key}.agenda", words, default=given.agenda, style=long, **_OPTIONAL)
        self._constraints = field(
            self, f"{key}.constraints", words, default=given.constraints, style=long, **_OPTIONAL
        )
        self._roles = field(self, f"{key}.roles", words, default=known_roles, style=long, max_length=4000)
        turns = str(TURNS_USUAL if given.turns is None else given.turns)
        self._turns = field(self, f"{key}.turns", words, default=turns, max_length=12)

    async def on_submit(self, interaction: discord.Interaction[Any]) -> None:
        await defer(interaction)
        given = Given(
            constraints=self._constraints.value,
            agenda=self._agenda.value,
            roles=self._roles.value,
            turns=_turns(self._turns.value),
            cost_cap=self._given.cost_cap,
            language=self._given.language,
        )
        await _start(interaction, self._topic.value, given)


class PanelCog(commands.Cog):
    def __init__(self, bot: KetsugiBot) -> None:
        self.bot = bot
        choices = {"language": LANGUAGES, "preset": presets.PRESETS}
        add_command(bot.tree, "panel.start", self.start, choices=choices)
        add_command(bot.tree, "panel.stop", self.stop)

    async def start(
        self,
        interaction: discord.Interaction[KetsugiBot],
        topic: str | None = None,
        constraints: str | None = None,
        agenda: str | None = None,
        preset: str | None = None,
        roles: str | None = None,
        turns: int | None = None,
        cost_cap: float | None = None,
        language: str | None = None,
    ) -> None:
        _check_permissions(interaction)
        given = Given(constraints, agenda, preset, roles, turns, cost_cap, language)
        if topic is None:
            known = roles or None
            if known is None and preset is not None:
                spoken = _language(language) or reader(interaction)
                known = presets.as_text(presets.preset(preset, spoken), spoken)
            await show_form(interaction, PanelForm(reader(interaction), given, known))
            return
        await defer(interaction)
        await _start(interaction, topic, given)

    async def stop(self, interaction: discord.Interaction[KetsugiBot]) -> None:
        await defer(interaction)
        await self.bot.app.panels.stop(place(interaction), person(interaction), interaction.id)
        await answer_phrase(interaction, "panel.reply.stopped")


def _language(given: str | None) -> Language | None:
    return "ja" if given == "ja" else "en" if given == "en" else None


def _turns(text: str) -> int:
    """The form's number, digits of any width, "12回" and "12 turns" too."""
    digits = fold(text).removesuffix("回").removesuffix("turns").strip()
    if not digits.isdecimal() or len(digits) > 6:
        raise BadInput("panel.error.turns", turns=text, fewest=TURNS_FEWEST, most=TURNS_MOST)
    return int(digits)


async def _start(interaction: discord.Interaction[KetsugiBot], topic: str, given: Given) -> None:
    app = interaction.client.app
    topic = one_line(topic)
    if not topic:
        raise BadInput("panel.error.topic_missing")
    if len(topic) > TITLE_LENGTH:
        raise BadInput("error.title_long", limit=TITLE_LENGTH)
    language = _language(given.language) or await app.meetings.language_of(place(interaction))
    request = StartRequest(
        place=place(interaction),
        channel_kind=channel_kind(interaction),
        by=person(interaction),
        title=topic,
        agenda=lines(given.agenda),
        constraints=lines(given.constraints),
        minutes=0,
        language=language,
        interaction_id=interaction.id,
        parent_id=parent_of(interaction),
        panel=Plan(
            _roles(given, language), TURNS_USUAL if given.turns is None else given.turns, given.cost_cap
        ),
    )
    started = await app.panels.start(request)
    words = reader(interaction)
    text = t(
        "panel.reply.started",
        words,
        topic=display(started.meeting.title),
        channel=f"<#{started.meeting.channel_id}>",
        names=t("reply.joiner", words).join(role.shown for role in started.panel.roles),
        turns=started.panel.turns,
    )
    notes = [t("panel.reply.marker", words)]
    rights = interaction.app_permissions
    if not (rights.manage_webhooks or rights.administrator):
        notes.append(t("panel.reply.no_webhooks", words))
    if not interaction.client.intents.message_content:
        notes.append(t("reply.no_message_content", words))
    await answer(interaction, "\n".join([text, *notes]))


def _roles(given: Given, language: Language) -> tuple[Role, ...]:
    """Roles written by hand go before a preset's."""
    if given.roles and given.roles.strip():
        return roles.parse(given.roles)
    if given.preset is None:
        raise BadInput("panel.error.roles_missing")
    return presets.preset(given.preset, language)


def _check_permissions(interaction: discord.Interaction[KetsugiBot]) -> None:
    """Before anything is stored: may the bot do here what a panel needs? Webhooks are a wish, not a need."""
    place(interaction)
    rights = interaction.app_permissions
    missing = [p for p in NEEDED[channel_kind(interaction)] if not getattr(rights, p)]
    if missing and not rights.administrator:
        language = reader(interaction)
        names = t("reply.joiner", language).join(t(f"reply.permission.{p}", language) for p in missing)
        raise NotAllowed("panel.error.permissions", permissions=names)


async def setup(bot: KetsugiBot) -> None:
    await bot.add_cog(PanelCog(bot))

"""`/minutes show`, `/minutes export` and `/minutes amend`."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import UserError
from bot.meeting.display import display, one_line, shorten
from bot.meeting.model import Language, Meeting
from bot.phrases import t
from cogs._commands import add_command
from cogs._render import answer, answer_phrase, answer_post, defer, person, place, reader, show_form
from cogs._rights import access_of
from cogs._views import Form, field

if TYPE_CHECKING:
    from bot.client import KetsugiBot

    Caller = discord.Interaction[KetsugiBot]

FORMS = ("md", "json", "csv")
LONGEST = 1500


class AmendForm(Form):
    """The words of an erratum, where the command came without them."""

    def __init__(self, meeting_id: int | None, language: Language) -> None:
        super().__init__(title=t("form.amend.title", language))
        self._meeting_id = meeting_id
        style = discord.TextStyle.paragraph
        self._text = field(self, "form.amend.text", language, style=style, max_length=LONGEST)

    async def on_submit(self, interaction: discord.Interaction[Any]) -> None:
        await defer(interaction)
        await _amend(interaction, self._text.value, self._meeting_id)


class Archive(commands.Cog):
    def __init__(self, bot: KetsugiBot) -> None:
        self.bot = bot
        shown, held = {"meeting": self._suggest_shown}, {"meeting": self._suggest_held}
        add_command(bot.tree, "minutes.show", self.show, autocomplete=shown)
        add_command(bot.tree, "minutes.export", self.export, choices={"form": FORMS}, autocomplete=shown)
        add_command(bot.tree, "minutes.amend", self.amend, autocomplete=held)

    async def show(self, interaction: Caller, meeting: int | None = None) -> None:
        await defer(interaction)
        where, by = place(interaction), person(interaction)
        await answer_post(
            interaction, await self.bot.app.minutes.show(where, meeting, by, access_of(interaction))
        )

    async def export(self, interaction: Caller, form: str = "md", meeting: int | None = None) -> None:
        await defer(interaction)
        where, by = place(interaction), person(interaction)
        name, content = await self.bot.app.minutes.export(where, meeting, form, by, access_of(interaction))
        text = t("reply.exported", reader(interaction), name=name)
        await answer(interaction, text, files=[discord.File(io.BytesIO(content), name)])

    async def amend(
        self,
        interaction: Caller,
        text: app_commands.Range[str, 1, LONGEST] | None = None,
        meeting: int | None = None,
    ) -> None:
        if text is None:
            await show_form(interaction, AmendForm(meeting, reader(interaction)))
            return
        await defer(interaction)
        await _amend(interaction, text, meeting)

    async def _suggest_held(self, interaction: Caller, current: Any) -> list[app_commands.Choice[int]]:
        """Closed meetings of this channel."""
        try:
            return _choices(await self.bot.app.records.closed_here(place(interaction)), current)
        except UserError:
            return []  # the command itself says so; suggestions cannot

    async def _suggest_shown(self, interaction: Caller, current: Any) -> list[app_commands.Choice[int]]:
        """Before them those whose minutes found no channel, for the few who may see them from here."""
        try:
            where, app = place(interaction), self.bot.app
            kept = await app.minutes.kept(where.guild_id, person(interaction), access_of(interaction))
            both = [*kept, *await app.records.closed_here(where)]
        except UserError:
            return []
        return _choices({meeting.id: meeting for meeting in both}.values(), current)


def _choices(held: Iterable[Meeting], current: Any) -> list[app_commands.Choice[int]]:
    """Those whose number, title or day hold what was typed."""
    typed = str(current).strip().lstrip("#").casefold()
    named = [(f"#{m.id} {m.started_at:%Y-%m-%d} {one_line(m.title)}", m.id) for m in held]
    fitting = [(name, number) for name, number in named if typed in name.casefold()]
    return [app_commands.Choice(name=shorten(name, 100), value=number) for name, number in fitting[:25]]


async def _amend(interaction: Caller, text: str, meeting_id: int | None) -> None:
    where, by = place(interaction), person(interaction)
    records = interaction.client.app.records
    meeting, _ = await records.amend(where, meeting_id, by, text, interaction.id)
    await answer_phrase(interaction, "reply.amended", title=display(meeting.title))


async def setup(bot: KetsugiBot) -> None:
    await bot.add_cog(Archive(bot))

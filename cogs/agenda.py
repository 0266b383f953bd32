"""`/meeting agenda` and `/meeting hand-over`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import BadInput
from bot.facilitation.requests import AgendaShown, Person
from bot.meeting.display import brief, display, fit, one_line
from bot.meeting.model import Language
from bot.phrases import t
from cogs._commands import add_command
from cogs._render import answer, answer_phrase, defer, person, place, reader, shown_name

if TYPE_CHECKING:
    from bot.client import KetsugiBot

    Caller = discord.Interaction[KetsugiBot]

Number = app_commands.Range[int, 1, 100]
Minutes = app_commands.Range[int, 1, 480]


class Agenda(commands.Cog):
    def __init__(self, bot: KetsugiBot) -> None:
        self.bot = bot
        for name in ("show", "add", "move", "next", "drop", "minutes"):
            add_command(bot.tree, f"meeting.agenda.{name}", getattr(self, name))
        add_command(bot.tree, "meeting.hand-over", self.hand_over)

    async def show(self, interaction: Caller) -> None:
        await defer(interaction)
        await self._answer(interaction, await self.bot.app.meetings.agenda(place(interaction)))

    async def add(self, interaction: Caller, item: app_commands.Range[str, 1, 220]) -> None:
        await defer(interaction)
        shown = await self.bot.app.meetings.agenda_add(place(interaction), one_line(item))
        await self._answer(interaction, shown)

    async def move(self, interaction: Caller, number: Number, to: Number) -> None:
        await defer(interaction)
        shown = await self.bot.app.meetings.agenda_move(place(interaction), number, to)
        await self._answer(interaction, shown)

    async def next(self, interaction: Caller) -> None:
        await defer(interaction)
        where, by = place(interaction), person(interaction)
        shown = await self.bot.app.meetings.agenda_next(where, by, interaction.id)
        await self._answer(interaction, shown)

    async def drop(self, interaction: Caller, number: Number) -> None:
        await defer(interaction)
        await self._answer(interaction, await self.bot.app.meetings.agenda_drop(place(interaction), number))

    async def minutes(self, interaction: Caller, number: Number, minutes: Minutes | None = None) -> None:
        await defer(interaction)
        shown = await self.bot.app.meetings.agenda_minutes(place(interaction), number, minutes)
        await self._answer(interaction, shown)

    async def hand_over(self, interaction: Caller, member: discord.Member) -> None:
        await defer(interaction)
        name = shown_name(member)
        if member.bot:
            raise BadInput("error.cannot_chair", name=name)
        to = Person(member.id, name, manager=False)
        where, by = place(interaction), person(interaction)
        await self.bot.app.meetings.hand_over(where, by, to, interaction.id)
        await answer_phrase(interaction, "reply.handed_over", name=display(name, 60))

    async def _answer(self, interaction: Caller, shown: AgendaShown) -> None:
        await answer(interaction, agenda_text(shown, reader(interaction)))


def agenda_text(shown: AgendaShown, language: Language) -> str:
    """The queue with its minutes, the item that is on marked."""
    if not shown.items:
        return t("reply.agenda_empty", language)
    here = shown.current.index if shown.current is not None else None
    rows = []
    for index, (item, share) in enumerate(zip(shown.items, shown.shares, strict=True)):
        key = "reply.agenda_row" if item.minutes is not None else "reply.agenda_row_even"
        row = t(key, language, number=index + 1, title=brief(item.title, 160), minutes=max(1, round(share)))
        rows.append(f"▶️ {row}" if index == here else f"▫️ {row}")
    return "\n".join(fit(rows, 1900, lambda count: t("reply.more", language, count=count)))


async def setup(bot: KetsugiBot) -> None:
    await bot.add_cog(Agenda(bot))

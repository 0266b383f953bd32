"""`/privacy`: what is kept of oneself, refusing to be recorded, and erasing, which asks first."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import discord
from discord.ext import commands

from bot.errors import BadInput
from bot.meeting.display import display
from bot.meeting.model import Language
from bot.phrases import t
from bot.privacy import LISTS, Kept
from bot.stage import Button
from cogs._commands import add_command
from cogs._render import answer, answer_phrase, defer, person, place, reader
from cogs._views import ACTIONS, MeetingButton

if TYPE_CHECKING:
    from bot.client import KetsugiBot

    Caller = discord.Interaction[KetsugiBot]

WHAT = ("me", "meeting", "member")


class Privacy(commands.Cog):
    def __init__(self, bot: KetsugiBot) -> None:
        self.bot = bot
        add_command(bot.tree, "privacy.show", self.show)
        add_command(bot.tree, "privacy.opt-out", self.opt_out)
        add_command(bot.tree, "privacy.opt-in", self.opt_in)
        add_command(bot.tree, "privacy.erase", self.erase, choices={"what": WHAT})

    async def show(self, interaction: Caller) -> None:
        await defer(interaction)
        kept = await self.bot.app.privacy.kept(place(interaction).guild_id, person(interaction))
        name = f"my-data-{interaction.guild_id}.json"
        file = discord.File(io.BytesIO(kept.file), name)
        await answer(interaction, _text(kept, reader(interaction)), files=[file])

    async def opt_out(self, interaction: Caller) -> None:
        await defer(interaction)
        fresh = await self.bot.app.privacy.opt_out(place(interaction).guild_id, person(interaction))
        await answer_phrase(interaction, "reply.opted_out" if fresh else "reply.opted_out_already")

    async def opt_in(self, interaction: Caller) -> None:
        await defer(interaction)
        guild_id, at = place(interaction).guild_id, interaction.created_at
        fresh = await self.bot.app.privacy.opt_in(guild_id, person(interaction), at)
        await answer_phrase(interaction, "reply.opted_in" if fresh else "reply.opted_in_already")

    async def erase(
        self,
        interaction: Caller,
        what: str,
        meeting: int | None = None,
        member: discord.User | None = None,
    ) -> None:
        await defer(interaction)
        where, by, words = place(interaction), person(interaction), reader(interaction)
        if what == "meeting":
            target = await self.bot.app.privacy.meeting_to_erase(where, meeting, by)
            text = t(
                "reply.erase_meeting", words, number=target.meeting_id, title=display(target.title) or "…"
            )
            await _ask(
                interaction,
                text,
                Button("erase_meeting", t("reply.erase_yes", words), "danger"),
                target.meeting_id,
            )
            return
        if what == "member" and member is None:
            raise BadInput("error.erase_whom")
        user = member.id if what == "member" and member is not None else by.id
        self.bot.app.privacy.check_person(user, by)
        text = (
            t("reply.erase_me", words)
            if user == by.id
            else t("reply.erase_member", words, member=f"<@{user}>")
        )
        await _ask(interaction, text, Button("erase_person", t("reply.erase_yes", words), "danger"), user)


async def _ask(interaction: Caller, text: str, button: Button, target: int) -> None:
    """The question with its one button, for the caller alone; its id carries the target."""
    view = discord.ui.View(timeout=None)
    view.add_item(MeetingButton(button, target))
    await answer(interaction, text, view=view)


def _text(kept: Kept, language: Language) -> str:
    joiner = t("reply.joiner", language)
    counts = joiner.join(
        t(f"reply.kept.{name}", language, count=kept.counts[name]) for name in LISTS if kept.counts[name]
    )
    ledger = "reply.kept_ledger_days" if kept.ledger_days is not None else "reply.kept_ledger"
    return "\n".join(
        (
            t("reply.kept_opted_out" if kept.opted_out else "reply.kept_recorded", language),
            t("reply.kept_counts", language, counts=counts) if counts else t("reply.kept_nothing", language),
            t("reply.kept_days", language, days=kept.transcript_days),
            t(ledger, language, days=kept.ledger_days or 0),
            t("reply.kept_models", language, models=joiner.join(display(m, 60) for m in kept.models))
            if kept.models
            else t("reply.kept_no_model", language),
            t("reply.kept_more", language),
        )
    )


# --- the buttons, which outlive restarts ---------------------------------------------------------------


async def _erase_meeting(interaction: discord.Interaction[Any], meeting_id: int) -> None:
    await defer(interaction)
    done = await interaction.client.app.privacy.erase_meeting(
        place(interaction), meeting_id, person(interaction)
    )
    if done.left:
        await answer_phrase(interaction, "reply.erased_meeting_left", number=meeting_id, count=done.left)
    else:
        await answer_phrase(interaction, "reply.erased_meeting", number=meeting_id)


async def _erase_person(interaction: discord.Interaction[Any], user_id: int) -> None:
    await defer(interaction)
    guild = place(interaction).guild_id
    done = await interaction.client.app.privacy.erase_person(guild, user_id, person(interaction))
    await answer_phrase(interaction, "reply.erased_person", count=done.meetings)


async def setup(bot: KetsugiBot) -> None:
    ACTIONS.update(erase_meeting=_erase_meeting, erase_person=_erase_person)
    await bot.add_cog(Privacy(bot))

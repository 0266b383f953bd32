"""`/decisions search` and `/meeting list`: only what the caller can read, asked anew at every act."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands
from discord.ext import commands

from bot.facilitation.records import Hit, Page
from bot.meeting.display import brief, fit
from bot.meeting.model import Language, Meeting, MeetingState
from bot.phrases import t
from bot.stage import Button
from cogs._commands import add_command
from cogs._render import answer, defer, place, reader, replace_answer
from cogs._rights import readable_channels
from cogs._views import ACTIONS, MeetingButton

if TYPE_CHECKING:
    from bot.client import KetsugiBot

    Caller = discord.Interaction[KetsugiBot]

SHOWN = 10


class Search(commands.Cog):
    def __init__(self, bot: KetsugiBot) -> None:
        self.bot = bot
        add_command(bot.tree, "decisions.search", self.search)
        add_command(bot.tree, "meeting.list", self.list)

    async def search(self, interaction: Caller, query: app_commands.Range[str, 1, 100]) -> None:
        await defer(interaction)
        guild = place(interaction).guild_id
        hits = await self.bot.app.records.search(guild, query, readable_channels(interaction))
        await answer(interaction, _hits(hits, query, reader(interaction)))

    async def list(self, interaction: Caller) -> None:
        await defer(interaction)
        guild = place(interaction).guild_id
        page = await self.bot.app.records.page(guild, readable_channels(interaction), 0)
        language = reader(interaction)
        await answer(interaction, _page(page, language), view=_turner(page, language))


def _hits(hits: list[Hit], query: str, language: Language) -> str:
    if not hits:
        return t("reply.nothing_found", language, query=brief(query, 80))
    head = t("reply.found", language, query=brief(query, 80), count=len(hits))
    rows = [_hit(hit, language) for hit in hits[:SHOWN]]
    rows += [""] * max(0, len(hits) - SHOWN)  # counted with what does not fit
    lines = fit(rows, 1850 - len(head), lambda count: t("reply.more", language, count=count), newest=False)
    return "\n".join([head, *(line for line in lines if line)])


def _hit(hit: Hit, language: Language) -> str:
    found = hit.found
    marks = [t("board.against", language)] if found.against else []
    marks += [t("board.confirmed" if found.confirmed else "board.unconfirmed", language)]
    if found.replaced_by is not None:
        marks.append(t("reply.found_replaced", language, number=found.replaced_by[1]))
    return t(
        "reply.found_row",
        language,
        number=found.number,
        text=brief(found.text, 120),
        marks=" ".join(marks),
        title=brief(found.title, 50),
        day=f"<t:{int(found.at.timestamp())}:d>",
        link=hit.link,
    )


def _page(page: Page, language: Language) -> str:
    if not page.meetings:
        return t("reply.no_meetings", language)
    head = t("reply.meetings", language, page=page.number + 1, pages=page.pages, count=page.count)
    return "\n".join([head, *(_row(meeting, language) for meeting in page.meetings)])


def _row(meeting: Meeting, language: Language) -> str:
    closed = meeting.state is MeetingState.CLOSED
    link = (
        f"https://discord.com/channels/{meeting.guild_id}/{meeting.channel_id}/{meeting.kickoff_message_id}"
    )
    return t(
        "reply.meeting_row",
        language,
        number=meeting.id,
        title=brief(meeting.title, 60),
        link=link,
        channel=f"<#{meeting.channel_id}>",
        day=f"<t:{int(meeting.started_at.timestamp())}:d>",
        state="" if closed else t(f"reply.state.{meeting.state.value}", language),
    ).rstrip(" ·")


def _turner(page: Page, language: Language) -> discord.ui.View | None:
    """Buttons to the pages before and after; their ids carry the page, so that they outlive a restart."""
    if page.pages == 1:
        return None
    view = discord.ui.View(timeout=None)
    before, after = page.number - 1, page.number + 1
    back = Button("page", t("reply.page_back", language), disabled=before < 0)
    # Discord refuses two buttons of one id, so a disabled one points beyond the end.
    view.add_item(MeetingButton(back, max(0, before) if before >= 0 else page.pages + 1))
    on = Button("page", t("reply.page_on", language), disabled=after >= page.pages)
    view.add_item(MeetingButton(on, after if after < page.pages else page.pages))
    return view


async def _turn(interaction: discord.Interaction[Any], number: int) -> None:
    """Another page in the place of this one, of what may be read now."""
    guild = place(interaction).guild_id
    page = await interaction.client.app.records.page(guild, readable_channels(interaction), number)
    language = reader(interaction)
    await replace_answer(interaction, _page(page, language), _turner(page, language))


async def setup(bot: KetsugiBot) -> None:
    ACTIONS["page"] = _turn
    await bot.add_cog(Search(bot))

"""`/meeting start`, as options or as a form, and `/meeting status`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import BadInput, NotAllowed
from bot.facilitation.requests import StartRequest, Status
from bot.meeting.display import brief, display, fit, one_line
from bot.meeting.model import LANGUAGES, ChannelKind, Language
from bot.phrases import t
from cogs._commands import add_command
from cogs._render import answer, channel_kind, clock_time, defer, lines, person, place, reader, show_form
from cogs._views import Form, field

if TYPE_CHECKING:
    from bot.client import KetsugiBot

SHORTEST, LONGEST, USUAL = 5, 480, 60  # minutes
TITLE_LENGTH = 100
_LENGTH = re.compile(r"\s*(\d{1,4})\s*(?:分|min\.?|minutes)?\s*", re.IGNORECASE)

# What a meeting needs of the bot in its channel; threads and voice channels have no threads of their own.
_ALWAYS = ("view_channel", "read_message_history", "embed_links", "attach_files", "add_reactions")
NEEDED = {
    ChannelKind.TEXT: (*_ALWAYS, "send_messages", "create_public_threads", "send_messages_in_threads"),
    ChannelKind.THREAD: (*_ALWAYS, "send_messages_in_threads"),
    ChannelKind.FORUM_POST: (*_ALWAYS, "send_messages_in_threads"),
    ChannelKind.VOICE: (*_ALWAYS, "send_messages"),
}


_OPTIONAL: dict[str, Any] = {"required": False, "max_length": 4000}


@dataclass(frozen=True, slots=True)
class Given:
    """What came along with the title, as entered."""

    agenda: str | None
    constraints: str | None
    minutes: int | None
    language: str | None
    carry: bool


class StartForm(Form):
    """What `/meeting start` asks for where no title was given."""

    def __init__(self, words: Language, given: Given) -> None:
        super().__init__(title=t("form.start.title", words))
        self._language, self._carry = given.language, given.carry
        key, long = "form.start", discord.TextStyle.paragraph
        self._title = field(self, f"{key}.meeting_title", words, max_length=TITLE_LENGTH)
        self._agenda = field(self, f"{key}.agenda", words, default=given.agenda, style=long, **_OPTIONAL)
        self._constraints = field(
            self, f"{key}.constraints", words, default=given.constraints, style=long, **_OPTIONAL
        )
        minutes = str(given.minutes or USUAL)
        self._minutes = field(self, f"{key}.minutes", words, default=minutes, max_length=12)

    async def on_submit(self, interaction: discord.Interaction[Any]) -> None:
        await defer(interaction)
        minutes = _minutes(self._minutes.value)
        given = Given(self._agenda.value, self._constraints.value, minutes, self._language, self._carry)
        await _start(interaction, self._title.value, given)


class MeetingStart(commands.Cog):
    def __init__(self, bot: KetsugiBot) -> None:
        self.bot = bot
        add_command(bot.tree, "meeting.start", self.start, choices={"language": LANGUAGES})
        add_command(bot.tree, "meeting.status", self.status)

    async def start(
        self,
        interaction: discord.Interaction[KetsugiBot],
        title: app_commands.Range[str, 1, TITLE_LENGTH] | None = None,
        agenda: str | None = None,
        constraints: str | None = None,
        minutes: app_commands.Range[int, SHORTEST, LONGEST] | None = None,
        language: str | None = None,
        carry: bool = True,
    ) -> None:
        _check_permissions(interaction)
        given = Given(agenda, constraints, minutes, language, carry)
        if title is None:
            await show_form(interaction, StartForm(reader(interaction), given))
            return
        await defer(interaction)
        await _start(interaction, title, given)

    async def status(self, interaction: discord.Interaction[KetsugiBot]) -> None:
        await defer(interaction)
        status = await self.bot.app.meetings.status(place(interaction))
        await answer(interaction, _status_text(status, reader(interaction)))


def _minutes(text: str) -> int:
    """The form's length in minutes, digits of any width, "60分" and "60 min" too."""
    found = _LENGTH.fullmatch(text)
    if found is None or not SHORTEST <= int(found[1]) <= LONGEST:
        raise BadInput("error.minutes_range", shortest=SHORTEST, longest=LONGEST)
    return int(found[1])


async def _start(interaction: discord.Interaction[KetsugiBot], title: str, given: Given) -> None:
    words = reader(interaction)
    title = one_line(title)
    if not title:
        raise BadInput("error.title_missing")
    request = StartRequest(
        place=place(interaction),
        channel_kind=channel_kind(interaction),
        by=person(interaction),
        title=title,
        agenda=lines(given.agenda),
        constraints=lines(given.constraints),
        minutes=given.minutes or USUAL,
        language=given.language,
        interaction_id=interaction.id,
        carry=given.carry,
        parent_id=parent_of(interaction),
    )
    meeting = await interaction.client.app.meetings.start(request)
    text = t("reply.started", words, title=display(meeting.title), end=clock_time(meeting.planned_end))
    if not interaction.client.intents.message_content:
        text += "\n" + t("reply.no_message_content", words)
    await answer(interaction, text)


def parent_of(interaction: discord.Interaction[KetsugiBot]) -> int | None:
    """The channel of a public thread or forum post, whose readers can read the meeting; else None."""
    channel = interaction.channel
    public = isinstance(channel, discord.Thread) and not channel.is_private()
    return channel.parent_id if isinstance(channel, discord.Thread) and public else None


def _check_permissions(interaction: discord.Interaction[KetsugiBot]) -> None:
    """Before anything is stored: may the bot do here what a meeting needs? Else name what to allow."""
    place(interaction)
    needed = NEEDED[channel_kind(interaction)]
    rights = interaction.app_permissions
    missing = [p for p in needed if not getattr(rights, p)]
    if missing and not rights.administrator:
        language = reader(interaction)
        names = t("reply.joiner", language).join(t(f"reply.permission.{p}", language) for p in missing)
        raise NotAllowed("error.bot_permissions", permissions=names)


def _status_text(status: Status, language: Language) -> str:
    meeting, view = status.meeting, status.ledger
    used = max(0, int((status.now - meeting.started_at).total_seconds() // 60))
    planned = int((meeting.planned_end - meeting.started_at).total_seconds() // 60)
    head = t(
        "reply.status",
        language,
        title=display(meeting.title),
        chair=display(meeting.chair_name),
        state=t(f"reply.state.{meeting.state.value}", language),
        used=used,
        planned=planned,
        end=clock_time(meeting.planned_end),
        decisions=len(view.decisions),
        questions=len(view.open_questions),
        actions=len(view.actions),
    )
    total = sum(s.characters for s in status.speakers) or 1
    rows = [
        t(
            "reply.speaker",
            language,
            name=display(s.name),
            messages=s.messages,
            share=round(100 * s.characters / total),
        )
        for s in status.speakers
    ]
    rows += [
        t("reply.open_question", language, number=q.number, text=brief(q.text, 120))
        for q in view.open_questions
    ]
    return "\n".join([head, *fit(rows, 1400, lambda count: t("reply.more", language, count=count))])


async def setup(bot: KetsugiBot) -> None:
    await bot.add_cog(MeetingStart(bot))

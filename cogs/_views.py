"""Buttons that outlive restarts, and forms.

A button's whole state is its custom id "ketsugi:<action>:<meeting id>", so any later process can act on it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import discord
from discord import ui

from bot.client import reply_to_error
from bot.errors import BadInput
from bot.meeting.display import brief
from bot.meeting.model import Language
from bot.phrases import t
from bot.stage import Button, Outgoing
from cogs._render import answer, answer_phrase, clock_time, defer, person, place, reader, show_form

if TYPE_CHECKING:
    from bot.client import KetsugiBot

EXTEND_MINUTES = 10

_STYLES = {
    "primary": discord.ButtonStyle.primary,
    "secondary": discord.ButtonStyle.secondary,
    "success": discord.ButtonStyle.success,
    "danger": discord.ButtonStyle.danger,
}


class Form(ui.Modal):
    """A modal whose failures are answered like a command's; forgotten when nobody sends it for an hour."""

    def __init__(self, title: str) -> None:
        super().__init__(title=title, timeout=3600)

    async def on_error(  # type: ignore[override]  # discord.py calls a modal's without an item
        self, interaction: discord.Interaction[Any], error: Exception
    ) -> None:
        await reply_to_error(interaction, error)


def field(form: Form, key: str, language: Language, **options: Any) -> ui.TextInput[Any]:
    """Add a text input labelled by the phrases `<key>.label` and `.hint`; its id is the key's last part."""
    name = key.rpartition(".")[2]
    box: ui.TextInput[Any] = ui.TextInput(custom_id=name, placeholder=t(f"{key}.hint", language), **options)
    form.add_item(ui.Label(text=t(f"{key}.label", language), component=box))
    return box


class CorrectForm(Form):
    """Words of a correction, or a mark line, for one meeting."""

    def __init__(self, meeting_id: int, language: Language) -> None:
        super().__init__(title=t("form.correct.title", language))
        self._meeting_id = meeting_id
        style = discord.TextStyle.paragraph
        self._text = field(self, "form.correct.text", language, style=style, max_length=1500)

    async def on_submit(self, interaction: discord.Interaction[Any]) -> None:
        await defer(interaction)
        meetings = interaction.client.app.meetings
        by, words = person(interaction), self._text.value
        entries = await meetings.correct(self._meeting_id, by, words, interaction.id)
        rows = [f"#{entry.number} {brief(entry.text, 300)}" for entry in entries if entry.text]
        await answer(interaction, "\n".join([t("reply.corrected", reader(interaction)), *rows]))


_CUSTOM_ID = re.compile(r"ketsugi:(?P<action>[a-z_]+):(?P<meeting>[0-9]{1,20})")


class MeetingButton(ui.DynamicItem[ui.Button[Any]], template=_CUSTOM_ID):
    def __init__(self, button: Button, meeting_id: int) -> None:
        super().__init__(
            ui.Button(
                label=button.label[:80],
                style=_STYLES[button.style],
                disabled=button.disabled,
                custom_id=f"ketsugi:{button.action}:{meeting_id}",
            )
        )
        self.action = button.action
        self.meeting_id = meeting_id

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: ui.Item[Any], match: re.Match[str], /
    ) -> MeetingButton:
        return cls(Button(match["action"], "…"), int(match["meeting"]))

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """discord.py only logs what a dynamic item raises, so the error is answered here."""
        try:
            act = ACTIONS.get(self.action)
            if act is None:
                raise BadInput("error.outdated_button")
            await act(interaction, self.meeting_id)
        except Exception as error:
            await reply_to_error(interaction, error)


def buttons(post: Outgoing) -> ui.View | None:
    """The view of a post's buttons; None where it has none."""
    if not post.buttons or post.meeting_id is None:
        return None
    view = ui.View(timeout=None)
    for button in post.buttons:
        view.add_item(MeetingButton(button, post.meeting_id))
    return view


# --- what each button does: defer, one service call, answer --------------------------------------------


async def _extend(interaction: discord.Interaction[KetsugiBot], meeting_id: int) -> None:
    await defer(interaction)
    meetings = interaction.client.app.meetings
    end = await meetings.extend(meeting_id, person(interaction), EXTEND_MINUTES, interaction.id)
    await answer_phrase(interaction, "reply.extended", minutes=EXTEND_MINUTES, end=clock_time(end))


async def _end(interaction: discord.Interaction[KetsugiBot], meeting_id: int) -> None:
    await defer(interaction)
    meetings = interaction.client.app.meetings
    await meetings.end(place(interaction), person(interaction), now=False, interaction_id=interaction.id)
    await answer_phrase(interaction, "reply.ending")


async def _correct(interaction: discord.Interaction[KetsugiBot], meeting_id: int) -> None:
    await show_form(interaction, CorrectForm(meeting_id, reader(interaction)))


async def _close_now(interaction: discord.Interaction[KetsugiBot], meeting_id: int) -> None:
    await defer(interaction)
    await interaction.client.app.meetings.close_now(meeting_id, person(interaction), interaction.id)
    await answer_phrase(interaction, "reply.closing_now")


async def _keep_going(interaction: discord.Interaction[KetsugiBot], meeting_id: int) -> None:
    await defer(interaction)
    await interaction.client.app.meetings.keep_going(meeting_id, person(interaction), interaction.id)
    await answer_phrase(interaction, "reply.kept_going")


async def _confirm_all(interaction: discord.Interaction[KetsugiBot], meeting_id: int) -> None:
    await defer(interaction)
    meetings = interaction.client.app.meetings
    entries = await meetings.confirm(place(interaction), None, person(interaction), interaction.id)
    await answer_phrase(interaction, "reply.confirmed_all", count=len(entries))


async def _join(interaction: discord.Interaction[KetsugiBot], meeting_id: int) -> None:
    await defer(interaction)
    new = await interaction.client.app.meetings.join(meeting_id, person(interaction))
    await answer_phrase(interaction, "reply.joined" if new else "reply.joined_already")


async def _replace(interaction: discord.Interaction[KetsugiBot], meeting_id: int) -> None:
    await defer(interaction)
    message = interaction.message.id if interaction.message is not None else 0
    entry = await interaction.client.app.meetings.replace_past(meeting_id, message, person(interaction))
    await answer_phrase(interaction, "reply.replaced", number=entry.number)


ACTIONS: dict[str, Callable[[discord.Interaction[Any], int], Awaitable[None]]] = {
    "extend": _extend,
    "end": _end,
    "correct": _correct,
    "close_now": _close_now,
    "keep_going": _keep_going,
    "confirm_all": _confirm_all,
    "join": _join,
    "replace": _replace,
}

"""`/ledger` and the message menus: people's own hand on the record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import BadInput, UserError
from bot.meeting.display import brief, fit, one_line, shorten
from bot.meeting.model import EntryKind, Item, Language, LedgerView, MeetingState
from bot.phrases import t
from cogs._commands import add_command, add_menu
from cogs._render import answer, answer_phrase, defer, person, place, reader, seen

if TYPE_CHECKING:
    from bot.client import KetsugiBot

    Caller = discord.Interaction[KetsugiBot]

Number = app_commands.Range[int, 1, 100_000]
Text = app_commands.Range[str, 1, 1500]
_LISTED = (
    EntryKind.CONSTRAINT,
    EntryKind.DECISION,
    EntryKind.PROPOSAL,
    EntryKind.QUESTION,
    EntryKind.ACTION,
    EntryKind.NOTE,
)
_MENUS = (EntryKind.DECISION, EntryKind.ACTION, EntryKind.QUESTION)


class Ledger(commands.Cog):
    def __init__(self, bot: KetsugiBot) -> None:
        self.bot = bot
        tree = bot.tree
        live = self._suggest(lambda item: item.live and item.kind in _LISTED)
        open_question = self._suggest(lambda item: item.kind is EntryKind.QUESTION and item.status == "open")
        action = self._suggest(lambda item: item.kind is EntryKind.ACTION and item.live)
        unfinished = self._suggest(lambda item: item.kind is EntryKind.ACTION and item.status == "live")
        unconfirmed = self._suggest(_to_confirm)
        add_command(tree, "ledger.list", self.list)
        add_command(tree, "ledger.revise", self.revise, autocomplete={"number": live})
        add_command(tree, "ledger.retract", self.retract, autocomplete={"number": live})
        add_command(tree, "ledger.answer", self.answer, autocomplete={"number": open_question})
        add_command(tree, "ledger.assign", self.assign, autocomplete={"number": action})
        add_command(tree, "ledger.done", self.done, autocomplete={"number": unfinished})
        add_command(tree, "ledger.confirm", self.confirm, autocomplete={"number": unconfirmed})
        for kind, menu in zip(
            _MENUS, (self.record_decision, self.record_action, self.record_question), strict=True
        ):
            add_menu(tree, kind.value, menu)

    async def list(self, interaction: Caller) -> None:
        await defer(interaction)
        record = await self.bot.app.records.latest(place(interaction))
        language = reader(interaction)
        text = _listing(record.ledger, language)
        if record.meeting.state is MeetingState.CLOSED:
            head = t("reply.ledger_of_closed", language, title=brief(record.meeting.title, 80))
            text = f"{head}\n{text}"
        await answer(interaction, text)

    async def revise(self, interaction: Caller, number: Number, text: Text) -> None:
        await defer(interaction)
        words = _words(text)
        where, by = place(interaction), person(interaction)
        entry = await self.bot.app.meetings.revise(where, number, words, by, interaction.id)
        await answer_phrase(
            interaction, "reply.revised", old=number, new=entry.number, text=brief(entry.text, 300)
        )

    async def retract(self, interaction: Caller, number: Number) -> None:
        await defer(interaction)
        await self.bot.app.meetings.retract(place(interaction), number, person(interaction), interaction.id)
        await answer_phrase(interaction, "reply.retracted", number=number)

    async def answer(self, interaction: Caller, number: Number, text: Text) -> None:
        await defer(interaction)
        words = _words(text)
        where, by = place(interaction), person(interaction)
        entry = await self.bot.app.meetings.answer(where, number, words, by, interaction.id)
        await answer_phrase(interaction, "reply.answered", number=number, text=brief(entry.text, 300))

    async def assign(
        self,
        interaction: Caller,
        number: Number,
        owner: discord.Member | None = None,
        due: app_commands.Range[str, 1, 60] | None = None,
    ) -> None:
        await defer(interaction)
        if owner is None and due is None:
            raise BadInput("error.nothing_to_assign")
        where, by = place(interaction), person(interaction)
        name = one_line(owner.display_name) if owner is not None else None
        day = one_line(due) if due is not None else None
        entry = await self.bot.app.meetings.assign(where, number, name, day, by, interaction.id)
        nobody = t("reply.nobody", reader(interaction))
        owed_by, owed_at = brief(entry.owner or nobody, 80), brief(entry.due or nobody, 60)
        await answer_phrase(interaction, "reply.assigned", number=number, owner=owed_by, due=owed_at)

    async def done(self, interaction: Caller, number: Number) -> None:
        await defer(interaction)
        await self.bot.app.meetings.done(place(interaction), number, person(interaction), interaction.id)
        await answer_phrase(interaction, "reply.done", number=number)

    async def confirm(self, interaction: Caller, number: Number | None = None) -> None:
        await defer(interaction)
        where, by = place(interaction), person(interaction)
        entries = await self.bot.app.meetings.confirm(where, number, by, interaction.id)
        if number is None:
            await answer_phrase(interaction, "reply.confirmed_all", count=len(entries))
        else:
            await answer_phrase(interaction, "reply.confirmed", number=number)

    async def record_decision(self, interaction: Caller, message: discord.Message) -> None:
        await self._record(interaction, message, EntryKind.DECISION)

    async def record_action(self, interaction: Caller, message: discord.Message) -> None:
        await self._record(interaction, message, EntryKind.ACTION)

    async def record_question(self, interaction: Caller, message: discord.Message) -> None:
        await self._record(interaction, message, EntryKind.QUESTION)

    async def _record(self, interaction: Caller, message: discord.Message, kind: EntryKind) -> None:
        await defer(interaction)
        assert self.bot.user is not None
        shown = seen(message, self.bot.user.id)
        where, by = place(interaction), person(interaction)
        entry = await self.bot.app.meetings.record(where, shown, kind, by, interaction.id)
        language = reader(interaction)
        name = t(f"reply.kind.{kind.value}", language)
        values = {"kind": name, "number": entry.number, "text": brief(entry.text, 300)}
        await answer(interaction, t("reply.recorded", language, **values))

    def _suggest(self, wanted: Callable[[Item], bool]) -> Callable[..., Any]:
        """Suggestions for an entry number: those `wanted` whose number or words hold what was typed."""

        async def suggest(interaction: Caller, current: Any) -> Sequence[app_commands.Choice[int]]:
            try:
                view = await self.bot.app.meetings.ledger(place(interaction))
            except UserError:
                return []  # the command itself says so; suggestions cannot
            typed = str(current).strip().lstrip("#").casefold()
            items = [i for i in view.items if wanted(i) and typed in f"{i.number} {i.text}".casefold()]
            named = [(f"#{i.number} {one_line(i.text)}", i.number) for i in items[-25:]]
            return [app_commands.Choice(name=shorten(name, 100), value=number) for name, number in named]

        return suggest


def _words(text: str) -> str:
    """What was entered, as one line that says something."""
    words = one_line(text)
    if not words:
        raise BadInput("error.text_missing")
    return words


def _to_confirm(item: Item) -> bool:
    """What a person's confirmation changes; of an open proposal it makes a decision."""
    return item.waits or (item.kind is EntryKind.PROPOSAL and item.status == "open")


def _listing(view: LedgerView, language: Language) -> str:
    """What holds now, by kind; what does not fit is counted."""
    rows: list[str] = []
    for kind in _LISTED:
        if items := view.of(kind):
            rows.append(f"**{t(f'reply.kinds.{kind.value}', language)}**")
            rows += [_row(item, language) for item in items]
    if not rows:
        return t("reply.ledger_empty", language)
    return "\n".join(fit(rows, 1800, lambda count: t("reply.more", language, count=count)))


def _row(item: Item, language: Language) -> str:
    details = []
    if item.status in ("unconfirmed", "answered", "decided", "done"):
        details.append(t(f"reply.item.{item.status}", language))
    if item.owner:
        details.append(t("reply.item.owner", language, name=brief(item.owner, 60)))
    if item.due:
        details.append(t("reply.item.due", language, day=brief(item.due, 60)))
    tail = f" ({t('reply.joiner', language).join(details)})" if details else ""
    return f"#{item.number} {brief(item.text, 300)}{tail}"


async def setup(bot: KetsugiBot) -> None:
    await bot.add_cog(Ledger(bot))

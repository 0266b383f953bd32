"""`/settings`: what holds on this server, shown and set by whoever holds Manage Server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands
from discord.ext import commands

from bot.meeting.display import display
from bot.meeting.model import LANGUAGES, Activity, Language
from bot.phrases import t
from bot.server_settings import ROUTES, InForce, Wanted
from cogs._commands import add_command
from cogs._render import answer, defer, person, place, reader

if TYPE_CHECKING:
    from bot.client import KetsugiBot

    Caller = discord.Interaction[KetsugiBot]


class ServerSettings(commands.Cog):
    def __init__(self, bot: KetsugiBot) -> None:
        self.bot = bot
        add_command(bot.tree, "settings.show", self.show)
        add_command(
            bot.tree,
            "settings.set",
            self.set,
            choices={"language": LANGUAGES, "activity": [a.value for a in Activity], "route": ROUTES},
            autocomplete={
                "timezone": _suggest(lambda typed: bot.app.servers.zones(typed)),
                "model": _suggest(lambda typed: bot.app.servers.models(typed)),
            },
        )

        group = bot.tree.get_command("settings")
        assert isinstance(group, app_commands.Group)
        # Discord does not even show it to others; rights are checked again at the act, for servers may change this.
        group.default_permissions = discord.Permissions(manage_guild=True)

    async def show(self, interaction: Caller) -> None:
        await defer(interaction)
        found = await self.bot.app.servers.show(place(interaction).guild_id, person(interaction))
        await answer(interaction, _text(found, reader(interaction)))

    async def set(
        self,
        interaction: Caller,
        language: str | None = None,
        timezone: str | None = None,
        activity: str | None = None,
        transcript_days: int | None = None,
        ledger_days: int | None = None,
        route: str | None = None,
        model: str | None = None,
        messages_per_day: int | None = None,
        generations_per_day: int | None = None,
        cost_per_day: float | None = None,
        starter_role: discord.Role | None = None,
        reminders: bool | None = None,
    ) -> None:
        await defer(interaction)
        wanted = Wanted(
            language=language,
            timezone=timezone,
            activity=activity,
            transcript_days=transcript_days,
            ledger_days=ledger_days,
            route=route,
            model=model,
            messages_per_day=messages_per_day,
            generations_per_day=generations_per_day,
            cost_per_day=cost_per_day,
            starter_role=starter_role.id if starter_role is not None else None,
            reminders=reminders,
        )
        where, by = place(interaction), person(interaction)
        found = await self.bot.app.servers.change(where.guild_id, by, wanted)
        words = reader(interaction)
        await answer(interaction, "\n".join((t("reply.settings_saved", words), _text(found, words))))


def _suggest(find: Callable[[str], Sequence[str]]) -> Callable[..., Any]:
    async def suggest(interaction: Caller, current: str) -> list[app_commands.Choice[str]]:
        return [app_commands.Choice(name=name, value=name) for name in find(current)]

    return suggest


def _text(found: InForce, language: Language) -> str:
    roles = t("reply.joiner", language).join(f"<@&{role}>" for role in found.starter_roles)
    cost = "∞" if found.cost_per_day is None else f"{found.cost_per_day:g}"
    rows = [
        t(
            "reply.settings_meetings",
            language,
            language=t(f"reply.language.{found.language}", language),
            timezone=found.timezone,
            activity=t(f"reply.activity.{found.activity.value}", language),
            roles=roles or t("reply.settings_everyone", language),
            reminders=t(f"reply.switch.{'on' if found.reminders else 'off'}", language),
        ),
        t(
            "reply.settings_kept" if found.ledger_days is not None else "reply.settings_kept_ledger",
            language,
            days=found.transcript_days,
            ledger=found.ledger_days or 0,
        ),
        t(
            "reply.settings_caps",
            language,
            messages=found.today.messages,
            most_messages=found.messages_per_day,
            generations=found.today.generations,
            most_generations=found.generations_per_day,
            cost=f"{found.today.cost:.2f}",
            most_cost=cost,
        ),
        t("reply.settings_models", language),
        *_models(found, language),
    ]
    return "\n".join(rows)


def _models(found: InForce, language: Language) -> list[str]:
    """One line a model, with the routes it answers."""
    by_model: dict[str, list[str]] = {}
    for route, name in found.models:
        by_model.setdefault(name, []).append(t(f"reply.route.{route.value}", language))
    joiner = t("reply.joiner", language)
    return [f"- {display(name, 60)}: {joiner.join(routes)}" for name, routes in by_model.items()]


async def setup(bot: KetsugiBot) -> None:
    await bot.add_cog(ServerSettings(bot))

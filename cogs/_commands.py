"""How cogs add commands: a group may be shared by several cogs, and every text comes from the phrase book.

Two GroupCogs of one name clash, so a cog hands its bound methods over here instead of decorating them. The
phrases of a command stand under `command.<path>`: `name`, `description`, `options.<parameter>.name` and
`.description`, `options.<parameter>.choices.<value>`.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import discord
from discord import app_commands

from cogs._translator import phrase

Autocomplete = Callable[[discord.Interaction[Any], Any], Awaitable[list[app_commands.Choice[Any]]]]


def add_command(
    tree: app_commands.CommandTree[Any],
    path: str,
    callback: Callable[..., Awaitable[None]],
    *,
    choices: Mapping[str, Sequence[str]] | None = None,
    autocomplete: Mapping[str, Autocomplete] | None = None,
) -> None:
    """Add the bound method `callback(interaction, **options)` as "name" or "group.name" of the phrase book.

    `choices` maps a parameter to its values, `autocomplete` to what suggests them.
    """
    function = inspect.unwrap(getattr(callback, "__func__", callback))
    key = f"command.{path}"
    parameters = list(inspect.signature(callback).parameters)[1:]
    app_commands.rename(**{p: phrase(f"{key}.options.{p}.name") for p in parameters})(function)
    app_commands.describe(**{p: phrase(f"{key}.options.{p}.description") for p in parameters})(function)
    for parameter, values in (choices or {}).items():
        named = [
            app_commands.Choice(name=phrase(f"{key}.options.{parameter}.choices.{v}"), value=v)
            for v in values
        ]
        app_commands.choices(**{parameter: named})(function)
    command: app_commands.Command[Any, ..., None] = app_commands.Command(
        name=phrase(f"{key}.name"),
        description=phrase(f"{key}.description"),
        callback=callback,  # type: ignore[arg-type]  # a bound method, which Command unwraps itself
    )
    for parameter, suggest in (autocomplete or {}).items():
        command.autocomplete(parameter)(suggest)  # type: ignore[arg-type]
    group, _, _ = path.rpartition(".")
    (_group(tree, group) if group else tree).add_command(command)


def add_menu(
    tree: app_commands.CommandTree[Any],
    name: str,
    callback: Callable[[discord.Interaction[Any], discord.Message], Awaitable[None]],
) -> None:
    """Add a message context menu named by the phrase `command.menu.<name>`."""
    tree.add_command(
        app_commands.ContextMenu(name=phrase(f"command.menu.{name}"), callback=callback)  # type: ignore[arg-type]
    )


def _group(tree: app_commands.CommandTree[Any], path: str) -> app_commands.Group:
    """The group "name" or "outer.name", made by whichever cog needs it first."""
    outer, _, _ = path.rpartition(".")
    parent: app_commands.CommandTree[Any] | app_commands.Group = _group(tree, outer) if outer else tree
    default = phrase(f"command.{path}.name")
    found = parent.get_command(default.message)
    if isinstance(found, app_commands.Group):
        return found
    group = app_commands.Group(name=default, description=phrase(f"command.{path}.description"))
    parent.add_command(group)
    return group

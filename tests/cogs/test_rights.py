"""Role x command over every command that exists: who is refused for lack of rights, and who is not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import discord
import pytest
from discord import app_commands

from bot.phrases import book
from tests.cogs.real import Product, product

MEMBER, CHAIR, MANAGER = "member", "chair", "manager"
EVERYONE, LEADING, MANAGING = {MEMBER, CHAIR, MANAGER}, {CHAIR, MANAGER}, {MANAGER}
REFUSALS = (
    *("only_chair", "only_chair_closes", "settings_rights", "erase_rights", "erase_rights_person"),
    *("may_not_start", "bot_permissions"),
)

# (command, options, who may), in the order of a meeting's life; "@guest" stands for some member.
TABLE: list[tuple[str, dict[str, Any], set[str]]] = [
    ("meeting status", {}, EVERYONE),
    ("meeting list", {}, EVERYONE),
    ("meeting agenda show", {}, EVERYONE),
    ("meeting agenda add", {"item": "Price"}, EVERYONE),
    ("meeting agenda move", {"number": 2, "to": 1}, EVERYONE),
    ("meeting agenda minutes", {"number": 1, "minutes": 5}, EVERYONE),
    ("meeting agenda next", {}, EVERYONE),
    ("meeting agenda drop", {"number": 2}, EVERYONE),
    ("meeting extend", {"minutes": 5}, EVERYONE),
    ("ask", {"question": "What did we decide?"}, EVERYONE),
    ("ledger list", {}, EVERYONE),
    ("ledger revise", {"number": 1, "text": "we ship on Monday"}, EVERYONE),
    ("ledger answer", {"number": 2, "text": "Maya"}, EVERYONE),
    ("ledger assign", {"number": 3, "owner": "@guest"}, EVERYONE),
    ("ledger done", {"number": 3}, EVERYONE),
    ("ledger confirm", {}, EVERYONE),
    ("ledger retract", {"number": 1}, EVERYONE),
    ("minutes show", {"meeting": 1}, EVERYONE),
    ("minutes export", {"meeting": 1}, EVERYONE),
    ("minutes amend", {"text": "it was Friday", "meeting": 1}, EVERYONE),
    ("decisions search", {"query": "ship"}, EVERYONE),
    ("privacy show", {}, EVERYONE),
    ("privacy opt-in", {}, EVERYONE),
    ("privacy erase", {"what": "me"}, EVERYONE),
    ("privacy erase", {"what": "meeting", "meeting": 1}, LEADING),
    ("privacy erase", {"what": "member", "member": "@guest"}, MANAGING),
    ("settings show", {}, MANAGING),
    ("settings set", {"activity": "quiet"}, MANAGING),
    ("meeting hand-over", {"member": "@guest"}, LEADING),
    ("meeting start", {"title": "Another"}, EVERYONE),
    ("panel start", {"topic": "Another", "preset": "product"}, EVERYONE),
    ("panel stop", {}, EVERYONE),  # of no panel here; of a running one see test_panel.py
    ("meeting end", {"now": True}, LEADING),
    ("meeting end", {}, EVERYONE),
    ("privacy opt-out", {}, EVERYONE),
]


def is_refusal(text: str) -> bool:
    templates = [book("en")[f"error.{key}"] for key in REFUSALS]
    patterns = [re.sub(r"\\\{\w+\\\}", ".*", re.escape(template)) for template in templates]
    return any(re.fullmatch(pattern, text, re.DOTALL) for pattern in patterns)


async def test_the_table_names_every_command(tmp_path: Path, monkeypatch: Any) -> None:
    async with product(tmp_path, monkeypatch) as world:
        commands = [c for c in world.bot.tree.walk_commands() if isinstance(c, app_commands.Command)]
        assert {c.qualified_name for c in commands} == {name for name, _, _ in TABLE}


async def _open_to_all(world: Product, command: str) -> None:
    """What an administrator can do in Discord's own settings: show the command to everybody."""
    found = world.env.backend.find_command(command, world.guild.id)
    target = discord.Object(int(found["id"]))
    world.guild.set_command_permissions(target, {world.guild.default_role: True})


async def _under_way(world: Product) -> None:
    """Meeting 1 is over, the second is open with entries to act upon."""
    await world.meet((world.chair, "Decision: we ship on Friday"))
    await world.slash(world.chair, "meeting start", title="Launch", minutes=60, agenda="Date;Name")
    await world.run(10)
    await world.say(world.chair, "Decision: we ship on Friday", "Open: who reviews it?", "TODO: write to Tom")


@pytest.mark.parametrize("role", sorted(EVERYONE))
async def test_rights_are_those_of_the_table(tmp_path: Path, monkeypatch: Any, role: str) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await _open_to_all(world, "settings")
        await _under_way(world)
        stranger = world.guild.add_member(world.env.create_user("mori"))
        actor = {MEMBER: world.guest, CHAIR: world.chair, MANAGER: world.manager}[role]
        wrong = []
        for name, options, who_may in TABLE:
            given = {key: stranger if value == "@guest" else value for key, value in options.items()}
            if name == "meeting hand-over" and role in who_may:
                given["member"] = actor if role == MANAGER else world.manager
            channel = world.guild.create_text_channel("next") if name == "meeting start" else world.channel
            text = await world.slash(actor, name, channel, **given)
            if is_refusal(text) is (role in who_may):
                wrong.append((name, options, text))
            if name == "meeting hand-over" and role == CHAIR:
                await world.slash(world.manager, "meeting hand-over", member=world.chair)
        assert wrong == []


async def test_without_rights_of_its_own_the_bot_says_which_it_needs(
    tmp_path: Path, monkeypatch: Any
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        closed = world.guild.create_text_channel(
            "closed",
            overwrites={
                world.guild.default_role: discord.PermissionOverwrite(send_messages=False, embed_links=False)
            },
        )
        text = await world.slash(world.manager, "meeting start", closed, title="Launch")
        assert is_refusal(text)
        assert "Send Messages" in text
        assert "Embed Links" in text
        for name in ("settings show", "privacy show", "meeting list", "decisions search"):
            options = {"query": "ship"} if name == "decisions search" else {}
            assert not is_refusal(await world.slash(world.manager, name, closed, **options)), name

"""`/ask` through Discord: from what the asker can read at that moment, in any channel, shown to nobody else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.assistant.service import Assistant
from bot.facilitation.requests import Person
from bot.stage import Place
from bot.store import transcript
from tests.cogs.real import Product, product
from tests.cogs.test_experience import hidden_channel

LINK = "https://discord.com/channels/"


async def _two_meetings(world: Product) -> Any:
    """One in #general, one in a channel that only the chair can read; returns that channel."""
    secret = hidden_channel(world)
    await world.meet((world.chair, "Decision: we ship on 12 October"))
    await world.meet((world.chair, "Decision: Rashid gets a raise of 300 euros"), channel=secret, title="Pay")
    return secret


async def test_it_answers_in_any_channel_from_what_the_asker_can_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await _two_meetings(world)
        elsewhere = world.guild.create_text_channel("elsewhere")
        told = await world.slash(world.guest, "ask", elsewhere, question="When do we release?")
        assert "we ship on 12 October" in told
        assert LINK in told
        assert len(told) <= 2000
        mine = await world.slash(world.chair, "ask", elsewhere, question="How much is Rashid's raise?")
        assert "300 euros" in mine
        theirs = await world.slash(world.guest, "ask", elsewhere, question="How much is Rashid's raise?")
        assert "300" not in theirs
        assert "I found nothing about that" in theirs


async def test_rights_are_those_of_the_act(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with product(tmp_path, monkeypatch) as world:
        secret = await _two_meetings(world)
        assistant: Assistant = world.app.assistant
        by, here = Person(world.guest.id, "suzuki", False), _place(world)
        seen = await assistant.ask(here, by, "Rashid's raise", {world.channel.id, secret.id})
        assert "300 euros" in seen.text
        lost = await assistant.ask(here, by, "Rashid's raise", {world.channel.id})
        assert "300" not in lost.text


async def test_in_an_open_meeting_its_ledger_is_asked_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await world.meet((world.chair, "Decision: we ship on 12 October"))
        await world.slash(world.chair, "meeting start", title="Again", minutes=30)
        await world.run(10)
        await world.say(world.chair, "Decision: we ship on 19 November")
        told = await world.slash(world.guest, "ask", question="When do we ship?")
        assert told.index("19 November") < (told.find("12 October") if "12 October" in told else len(told))
        listed = await world.slash(world.guest, "ask", question="What was decided?")
        assert "19 November" in listed


async def test_who_opted_out_is_told_so_and_nothing_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await world.meet((world.chair, "Decision: we ship on 12 October"))
        await world.slash(world.guest, "privacy opt-out")
        told = await world.slash(world.guest, "ask", question="When do we ship?")
        assert "You asked not to be recorded" in told
        assert "12 October" not in told


async def test_messages_of_who_opted_out_answer_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await world.meet((world.chair, "Welcome"), (world.guest, "My parrot is called Amadeus the parrot"))
        assert "Amadeus" in await world.slash(world.chair, "ask", question="What is the parrot called?")
        now = world.env.now()
        await world.app.db.unit(lambda c: transcript.opt_out(c, world.guild.id, world.guest.id, now))
        assert "Amadeus" not in await world.slash(world.chair, "ask", question="What is the parrot called?")


async def test_an_answer_posted_elsewhere_goes_when_its_source_is_erased(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        number = await world.meet((world.chair, "Decision: the code word is Sapphire"))
        await world.slash(world.chair, "meeting start", title="Again", minutes=30)
        await world.run(10)
        await world.say(world.guest, "@assistant what is the code word?")
        assert any("Sapphire" in m.content for m in world.mine() if "code word is" in m.content)
        await world.app.privacy.erase_meeting(_place(world), number, Person(world.manager.id, "tanaka", True))
        await world.app.privacy.settle()
        await world.run(5)
        assert not any("Sapphire" in m.content for m in world.mine())
        assert not any(b"Sapphire" in held or b"sapphir" in held for held in world.files().values())


def _place(world: Product) -> Place:
    return Place(world.guild.id, world.channel.id)

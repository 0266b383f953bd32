"""`/privacy` as people meet it, on the whole product: refusing, seeing, erasing, and what is left anywhere."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.meeting.model import LANGUAGES
from bot.minutes.verify import faults
from bot.phrases import t
from bot.store import audit, transcript
from tests.cogs.real import Product, product

SECRET = "the pelican budget is 4711 euros"
DECISION = f"Decision: {SECRET}"
OTHER = "Decision: we ship on Friday"


def left(world: Product, words: str) -> list[str]:
    """Names of files that hold the words, in UTF-8 or UTF-16."""
    wanted = [words.encode(), words.encode("utf-16-le"), json.dumps(words)[1:-1].encode()]
    return [name for name, content in world.files().items() if any(w in content for w in wanted)]


def shown(world: Product, words: str) -> list[int]:
    """Messages of the bot in Discord that show the words: text, embeds or file."""
    found = []
    for message in world.mine():
        whole = message.content + json.dumps(message.embeds, ensure_ascii=False)
        whole += "".join(_file(world, a) for a in message.attachments)
        if words in whole:
            found.append(message.id)
    return found


def _file(world: Product, attachment: Any) -> str:
    url = attachment["url"] if isinstance(attachment, dict) else attachment.url
    data = world.env.backend.cdn.get(url)
    assert data, "the simulated Discord lost a file"
    return data.decode()


async def verified(world: Product) -> list[str]:
    now = world.env.now()

    async def all_of(c: Any) -> list[str]:
        return [str(f) for m in await audit.meeting_ids(c) for f in await faults(c, m, now)]

    return list(await world.app.db.unit(all_of))


async def test_an_erased_person_is_in_no_file_and_no_post(tmp_path: Path, monkeypatch: Any) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await world.meet(
            (world.guest, DECISION), (world.chair, OTHER), (world.guest, "I am fond of pelicans indeed")
        )
        assert left(world, SECRET)
        assert len(shown(world, SECRET)) >= 2  # board and minutes
        text = await world.slash(world.guest, "privacy erase", what="me")
        assert text == t("reply.erase_me", "en")
        assert shown(world, SECRET), "asking erases nothing"
        assert await world.press(world.guest) == t("reply.erased_person", "en", count=1)
        await world.run(5)
        assert left(world, SECRET) == []
        assert left(world, "fond of pelicans") == []
        assert left(world, "suzuki") == []
        assert shown(world, SECRET) == []
        assert shown(world, "suzuki") == []
        assert len(shown(world, "we ship on Friday")) >= 2, "what others said stays"
        assert shown(world, t("erased.text", "en"))
        assert await verified(world) == []


async def test_the_posted_file_is_replaced(tmp_path: Path, monkeypatch: Any) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await world.meet((world.guest, DECISION), (world.chair, OTHER))
        (before,) = [m for m in world.mine() if m.attachments]
        await world.slash(world.manager, "privacy erase", what="member", member=world.guest)
        await world.press(world.manager)
        (after,) = [m for m in world.mine() if m.attachments]
        assert after.id == before.id
        assert [a["filename"] for a in after.attachments] == ["minutes.md"]
        text = _file(world, after.attachments[0])
        assert SECRET not in text
        assert t("erased.text", "en") in text
        assert "we ship on Friday" in text
        stored = await world.slash(world.chair, "minutes show")
        assert stored


async def test_erasing_a_meeting_takes_rows_and_posts_away(tmp_path: Path, monkeypatch: Any) -> None:
    async with product(tmp_path, monkeypatch) as world:
        kept = world.guild.create_text_channel("other")
        await world.meet((world.chair, OTHER), channel=kept)
        number = await world.meet((world.guest, DECISION))
        text = await world.slash(world.chair, "privacy erase", what="meeting", meeting=number)
        assert str(number) in text
        question = world.last
        assert await world.press(world.chair) == t("reply.erased_meeting", "en", number=number)
        assert left(world, SECRET) == []
        assert shown(world, SECRET) == []
        assert world.mine(world.channel.id) == []
        assert shown(world, "we ship on Friday"), "the other meeting stays"
        assert await world.press(world.chair, question) == t("error.erase_unknown", "en")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_who_opted_out_is_neither_stored_nor_counted(
    tmp_path: Path, monkeypatch: Any, language: str
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        world.locale = "ja" if language == "ja" else "en-US"
        assert await world.slash(world.guest, "privacy opt-out") == t("reply.opted_out", language)
        assert await world.slash(world.guest, "privacy opt-out") == t("reply.opted_out_already", language)
        await world.meet((world.guest, DECISION), (world.chair, OTHER))
        assert left(world, SECRET) == []
        assert left(world, "suzuki") == []
        assert "suzuki" not in "".join(_file(world, a) for m in world.mine() for a in m.attachments)
        assert await world.slash(world.guest, "privacy opt-in") == t("reply.opted_in", language)
        assert await world.slash(world.guest, "privacy opt-in") == t("reply.opted_in_already", language)
        await world.meet((world.guest, DECISION))
        assert left(world, SECRET)


async def test_commands_record_nothing_of_who_opted_out(tmp_path: Path, monkeypatch: Any) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await world.slash(world.chair, "meeting start", title="Launch", minutes=30)
        await world.run(10)
        await world.say(world.chair, OTHER, "Open: who reviews it?")
        await world.slash(world.guest, "privacy opt-out")
        refused = t("error.you_opted_out", "en")
        assert await world.slash(world.guest, "ledger revise", number=1, text=SECRET) == refused
        assert await world.slash(world.guest, "ledger answer", number=2, text=SECRET) == refused
        assert await world.slash(world.guest, "ask", question=SECRET) == refused
        elsewhere = world.guild.create_text_channel("elsewhere")
        assert await world.slash(world.guest, "meeting start", elsewhere, title=SECRET) == refused
        assert left(world, SECRET) == []


async def test_words_said_before_an_opt_out_reach_no_model_after_it(tmp_path: Path, monkeypatch: Any) -> None:
    async with product(tmp_path, monkeypatch) as world:
        asked: list[str] = []
        world.app.core.generator.generate = _listening(world.app.core.generator.generate, asked)  # type: ignore[method-assign]
        await world.slash(world.chair, "meeting start", title="Launch", minutes=30)
        await world.run(10)
        await world.say(world.chair, "Good morning.")
        await world.say(world.guest, SECRET)
        assert any(SECRET in prompt for prompt in asked)
        await world.slash(world.guest, "privacy opt-out")
        asked.clear()
        await world.say(world.chair, OTHER, "What do you think?")
        assert asked
        assert [prompt for prompt in asked if SECRET in prompt or "suzuki" in prompt] == []


def _listening(generate: Any, asked: list[str]) -> Any:
    async def listen(call: Any) -> Any:
        asked.append(call.prompt.system + call.prompt.user_text())
        return await generate(call)

    return listen


async def test_everyone_sees_and_gets_what_is_kept_of_them_alone(tmp_path: Path, monkeypatch: Any) -> None:
    async with product(tmp_path, monkeypatch) as world:
        text = await world.slash(world.guest, "privacy show")
        assert t("reply.kept_nothing", "en") in text
        await world.meet((world.guest, DECISION), (world.chair, OTHER))
        text = await world.slash(world.guest, "privacy show")
        assert t("reply.kept.messages", "en", count=1) in text
        assert t("reply.kept_no_model", "en") in text
        (attachment,) = world.last.attachments
        data = json.loads(_file(world, attachment))
        assert data["messages"][0]["text"] == DECISION
        assert data["entries"][0]["text"] == SECRET
        assert (data["opted_out"], data["opted_in_at"]) == (False, None)
        assert "Friday" not in json.dumps(data)
        before = world.env.now()
        await world.slash(world.guest, "privacy opt-out")
        await world.run(60)
        await world.slash(world.guest, "privacy opt-in")
        await world.slash(world.guest, "privacy show")
        (attachment,) = world.last.attachments
        opted_in = datetime.fromisoformat(json.loads(_file(world, attachment))["opted_in_at"])
        assert abs(opted_in - before - timedelta(seconds=60)) < timedelta(seconds=5)


async def test_what_discord_refuses_for_now_stays_owed_until_it_is_done(
    tmp_path: Path, monkeypatch: Any
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await world.meet((world.guest, DECISION), (world.chair, OTHER))
        await world.slash(world.guest, "privacy erase", what="me")
        stage = world.app.core.stage
        edit = stage.edit
        monkeypatch.setattr(stage, "edit", _busy)
        await world.press(world.guest)
        assert left(world, SECRET) == []
        assert shown(world, SECRET)
        monkeypatch.setattr(stage, "edit", edit)
        await world.do(world.app.privacy.settle())
        assert shown(world, SECRET) == []


async def _busy(*_: Any) -> None:
    from bot.stage import Busy

    raise Busy(1.0)


async def test_an_open_meeting_forgets_a_person_and_goes_on(tmp_path: Path, monkeypatch: Any) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await world.slash(world.chair, "meeting start", title="Launch", minutes=30)
        await world.run(10)
        await world.say(world.guest, DECISION)
        await world.say(world.chair, OTHER)
        await world.slash(world.guest, "privacy erase", what="me")
        await world.press(world.guest)
        await world.run(10)
        assert left(world, SECRET) == []
        await world.slash(world.chair, "meeting end", now=True)
        await world.run(60)
        assert left(world, SECRET) == []
        assert shown(world, SECRET) == []
        (minutes,) = [m for m in world.mine() if m.attachments]
        assert "we ship on Friday" in _file(world, minutes.attachments[0])
        assert await verified(world) == []


async def test_a_person_is_erased_on_one_server_alone(tmp_path: Path, monkeypatch: Any) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await world.meet((world.guest, DECISION))
        there = world.env.create_guild("Elsewhere")
        channel = there.create_text_channel("general")
        twin = there.add_member(world.env.create_user("other"))
        await world.do(twin.slash(channel, "privacy erase", what="me"))
        assert left(world, SECRET)
        opted = await world.app.db.unit(lambda c: transcript.opted_out(c, there.id, world.guest.id))
        assert not opted

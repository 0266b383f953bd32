"""The stage on a simulated Discord: what posts look like, and what is read back."""

from __future__ import annotations

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.meeting.display import units
from bot.meeting.model import LANGUAGES, Persona
from bot.stage import Attachment, Button, Embed, Outgoing, Place, Refused
from cogs._render import cut
from cogs._stage import body, name_line, stage_error, without_name_line
from tests.cogs.conftest import World


@pytest.mark.parametrize(
    ("persona", "language", "line"),
    [
        (Persona.FACILITATOR, "ja", "**🧭 進行**\n"),
        (Persona.FACILITATOR, "en", "**🧭 Facilitator**\n"),
        (Persona.ASSISTANT, "ja", "**📝 アシスタント**\n"),
        (Persona.ASSISTANT, "en", "**📝 Assistant**\n"),
        (Persona.SYSTEM, "ja", ""),
    ],
)
async def test_who_speaks_stands_in_a_bold_line(
    world: World, persona: Persona, language: str, line: str
) -> None:
    post = Outgoing("始めましょう。", persona, language)  # type: ignore[arg-type]
    message_id = await world.do(world.app.stage.say(world.place, post))
    assert world.channel.last_message.content == f"{line}始めましょう。"
    (seen,) = await world.do(world.app.stage.history(world.place, 0))
    assert (seen.message_id, seen.text, seen.mine, seen.bot) == (message_id, "始めましょう。", True, True)


@given(st.text(max_size=2500), st.sampled_from(Persona), st.sampled_from(LANGUAGES))
def test_a_body_fits_and_comes_back(text: str, persona: Persona, language: str) -> None:
    sent = body(Outgoing(text, persona, language))  # type: ignore[arg-type]
    assert units(sent) <= 2000
    if units(text) <= 1900 and text.strip() and not text.startswith("**"):
        assert without_name_line(sent).strip() == text.strip()
    assert sent.startswith(name_line(persona, language))


@given(st.text(alphabet="a`\n😀あ", max_size=80), st.integers(10, 60))
def test_a_cut_text_fits_and_closes_its_code_fence(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert units(short) <= limit
    assert short == text if units(text) <= limit else "…" in short
    if short != text:
        assert short.count("```") % 2 == 0


async def test_a_whole_post(world: World) -> None:
    people = await world.chair.send(world.channel, "質問")
    post = Outgoing(
        "回答です @everyone <@1>",
        Persona.ASSISTANT,
        "ja",
        embeds=(Embed("題", "本文", (("欄", "値"),), "印"),),
        files=(Attachment("minutes.md", "# 議事録".encode()),),
        buttons=(Button("end", "会議を終える", "danger"), Button("extend", "延長", disabled=True)),
        meeting_id=5,
        reply_to=people.id,
        nonce="abc",
        pin=True,
    )
    message_id = await world.do(world.app.stage.say(world.place, post))
    (message,) = [m for m in world.channel.history() if m.id == message_id]
    assert message.reference.message_id == people.id
    assert [(f.name, f.value) for f in message.embeds[0].fields] == [("欄", "値")]
    row = message.components[0]
    assert [(b.custom_id, b.style, b.disabled) for b in row.children] == [
        ("ketsugi:end:5", discord.ButtonStyle.danger, False),
        ("ketsugi:extend:5", discord.ButtonStyle.secondary, True),
    ]
    assert [m.id for m in world.channel.pinned_messages()] == [message_id]
    seen = (await world.do(world.app.stage.history(world.place, people.id)))[0]
    assert (seen.reply_to, seen.embed_footers, seen.files) == (people.id, ("印",), ("minutes.md",))


async def test_a_post_that_cannot_be_pinned_is_still_posted(world: World) -> None:
    world.env.inject_error("PUT", "/channels/*/messages/pins/*", status=403, code=50013)
    post_id = await world.do(world.app.stage.say(world.place, Outgoing("ボード", pin=True)))
    assert world.channel.last_message.id == post_id


async def test_a_reply_to_a_vanished_message_is_posted(world: World) -> None:
    gone = await world.chair.send(world.channel, "消える")
    await world.chair.delete(gone)
    assert await world.do(world.app.stage.say(world.place, Outgoing("回答", reply_to=gone.id)))


async def test_editing_makes_a_message_look_like_the_post(world: World) -> None:
    first = Outgoing("一", buttons=(Button("end", "終える"),), meeting_id=5, embeds=(Embed("題"),))
    message_id = await world.do(world.app.stage.say(world.place, first))
    await world.do(world.app.stage.edit(world.place, message_id, Outgoing("二", Persona.FACILITATOR, "ja")))
    message = world.channel.last_message
    assert (message.content, message.embeds, message.components) == ("**🧭 進行**\n二", [], [])


async def test_a_thread_is_named_within_discords_limit(world: World) -> None:
    message = await world.chair.send(world.channel, "kickoff")
    where = await world.do(world.app.stage.open_thread(world.place, message.id, "議" * 150))
    assert where == Place(world.guild.id, message.id)
    assert world.channel.threads[0].name == "議" * 100
    await world.do(world.app.stage.say(where, Outgoing("議事録")))
    assert world.channel.threads[0].last_message.content == "議事録"


async def test_history_is_complete_and_oldest_first(world: World) -> None:
    for number in range(130):
        world.env.backend.create_message(world.channel.id, world.chair.id, f"発言{number}")
    await world.env.settle()
    found = await world.do(world.app.stage.history(world.place, 0))
    assert [s.text for s in found] == [f"発言{n}" for n in range(130)]
    assert [s.text for s in await world.do(world.app.stage.history(world.place, found[99].message_id))] == [
        f"発言{n}" for n in range(100, 130)
    ]
    assert len(await world.do(world.app.stage.history(world.place, 0, limit=7))) == 7


async def test_history_tells_how_many_reacted_and_who_is_asked_apart(world: World) -> None:
    said = await world.chair.send(world.channel, "提案：木曜にする")
    await world.do(world.app.stage.react(world.place, said.id, "📝"))
    await world.chair.react(said, "👍")
    await world.guest.react(said, "👍")
    (seen,) = await world.do(world.app.stage.history(world.place, said.id - 1, 1))
    assert ("👍", 2) in seen.reactions
    found = await world.do(world.app.stage.reactors(world.place, said.id, "👍"))
    assert dict(found) == {world.chair.id: "sato", world.guest.id: "suzuki"}
    assert await world.do(world.app.stage.reactors(world.place, said.id, "📝")) == []
    assert await world.do(world.app.stage.reactors(world.place, said.id, "👎")) == []


async def test_a_direct_message(world: World) -> None:
    await world.do(world.app.stage.direct_message(world.chair.id, Outgoing("議事録です")))
    assert world.chair.user.dm_channel.last_message.content == "議事録です"
    world.env.inject_error("POST", "/channels/*/messages", status=403, code=50007)
    with pytest.raises(Refused) as refused:
        await world.app.stage.direct_message(world.chair.id, Outgoing("x"))
    assert refused.value.reason == "forbidden"


async def test_typing_never_fails(world: World) -> None:
    world.env.inject_error("POST", "/channels/*/typing", status=403, code=50013)
    await world.do(world.app.stage.typing(world.place))
    await world.do(world.app.stage.typing(Place(1, 2)))


def test_an_error_of_ours_is_refused_before_any_request() -> None:
    error = stage_error(ValueError("embeds"))
    assert isinstance(error, Refused)
    assert error.reason == "invalid"

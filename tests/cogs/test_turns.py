"""What people do in channels reaches the meetings service as values, and nothing else does."""

from __future__ import annotations

import asyncio
from typing import Any

import discord
import pytest

from bot.client import build_bot
from bot.phrases import t
from bot.stage import Outgoing, Place
from tests.cogs.conftest import World
from tests.cogs.fakes import RecordingApp


async def test_a_message_arrives_with_readable_mentions(world: World) -> None:
    role = world.guild.create_role("開発")
    said = f"{world.guest.mention} <@&{role.id}> {world.channel.mention} 担当：<@{world.guest.id}> @everyone"
    message = await world.chair.send(world.channel, said)
    where, seen = world.meetings.named("receive")[0]
    assert where == world.place
    assert seen.text == "@suzuki @開発 #general 担当：@suzuki @everyone"
    assert (seen.message_id, seen.author_id, seen.author_name) == (message.id, world.chair.id, "sato")
    assert (seen.at, seen.mine, seen.bot, seen.reply_to) == (message.created_at, False, False, None)
    assert not seen.mentions_me


async def test_mentioning_the_bot_and_replying(world: World) -> None:
    assert world.bot.user is not None
    post = await world.do(world.app.stage.say(world.place, Outgoing("質問です")))
    await world.chair.send(world.channel, f"<@!{world.bot.user.id}> どう思う？")
    shown = world.channel.last_message
    await world.guest.send(world.channel, "賛成です", reply_to=shown)
    first, second = (seen for _, seen in world.meetings.named("receive"))
    assert first.mentions_me
    assert first.text == "@Ketsugi どう思う？"  # whatever it is called on a server
    assert second.reply_to == first.message_id
    assert not second.mentions_me
    assert post != first.message_id


@pytest.mark.parametrize("name", ["@everyone", "**太字**", "`code`", "\u202eevil", "佐藤 花子"])
async def test_names_are_passed_as_shown_without_invisible_characters(world: World, name: str) -> None:
    member = world.guild.add_member(world.env.create_user("x"), nick=name)
    await member.send(world.channel, "hi")
    assert world.meetings.named("receive")[0][1].author_name == name.replace("\u202e", "")


async def test_bots_webhooks_and_discords_own_messages_are_not_passed(world: World) -> None:
    robot = world.guild.add_member(world.env.create_user("robot", bot=True))
    await robot.send(world.channel, "決定：ロボットが決めた")
    await world.guild.create_webhook(world.channel).send("決定：webhook")
    await world.do(world.app.stage.say(world.place, Outgoing("自分の投稿")))
    message = await world.chair.send(world.channel, "人の発言")
    await world.do(world.app.stage.open_thread(world.place, message.id, "議事録"))
    assert [seen.text for _, seen in world.meetings.named("receive")] == ["人の発言"]


async def test_a_message_in_a_thread_belongs_to_the_thread(world: World) -> None:
    message = await world.chair.send(world.channel, "topic")
    place = await world.do(world.app.stage.open_thread(world.place, message.id, "t"))
    thread = next(c for c in world.channel.threads if c.id == place.channel_id)
    await world.guest.send(thread, "中で話す")
    assert world.meetings.named("receive")[-1][0] == Place(world.guild.id, thread.id)


@pytest.mark.parametrize("text", ["こんにちは", "hello"])
async def test_a_direct_message_goes_to_the_chat_and_to_no_meeting(world: World, text: str) -> None:
    await world.chair.send_dm(text)
    assert not world.meetings.named("receive")
    ((line, seen),) = world.app.chat.calls
    assert (line.user_id, line.channel_id) == (world.chair.id, world.chair.user.dm_channel.id)
    assert (seen.text, seen.author_id, seen.mine) == (text, world.chair.id, False)


@pytest.mark.parametrize("text", ["どうすれば？", "hello", ""])
async def test_where_no_meeting_is_held_a_mention_is_told_how_to_start(world: World, text: str) -> None:
    assert world.bot.user is not None
    world.meetings.held = False
    await world.chair.send(world.channel, f"<@{world.bot.user.id}> {text}".strip())
    assert world.channel.last_message.content == t("reply.no_meeting_here", "ja")
    said = await world.chair.send(world.channel, "ただの雑談です")
    assert world.channel.last_message.id == said.id


async def test_in_a_meeting_only_the_meeting_answers_a_mention(world: World) -> None:
    assert world.bot.user is not None
    said = await world.chair.send(world.channel, f"<@{world.bot.user.id}> どう思う？")
    assert world.channel.last_message.id == said.id


async def test_edits_and_deletions_arrive_though_nothing_is_cached(world: World) -> None:
    message = await world.chair.send(world.channel, "決定：980円")
    assert not world.bot.cached_messages
    await world.chair.edit(message, "決定：1,080円")
    where, message_id, text, at = world.meetings.named("edited")[0]
    assert (where, message_id, text) == (world.place, message.id, "決定：1,080円")
    assert at.tzinfo is not None
    await world.chair.delete(message)
    where, message_ids, _ = world.meetings.named("deleted")[0]
    assert (where, message_ids) == (world.place, [message.id])


async def test_pins_and_own_edits_are_no_edits(world: World) -> None:
    message = await world.chair.send(world.channel, "決定：980円")
    mine = await world.do(world.app.stage.say(world.place, Outgoing("ボード", pin=True)))
    await world.do(world.app.stage.edit(world.place, mine, Outgoing("ボード2")))
    world.env.backend.set_pinned(world.channel.id, message.id, True, actor_id=world.chair.id)
    await world.env.settle()
    assert not world.meetings.named("edited")


async def test_bulk_deletion(world: World) -> None:
    one = await world.chair.send(world.channel, "a")
    two = await world.chair.send(world.channel, "b")
    ids = {str(one.id), str(two.id)}
    world.env.backend.emit(
        "MESSAGE_DELETE_BULK",
        {"ids": list(ids), "channel_id": str(world.channel.id), "guild_id": str(world.guild.id)},
    )
    await world.env.settle()
    assert world.meetings.named("deleted")[0][:2] == (world.place, [one.id, two.id])


async def test_reactions_of_people_only(world: World) -> None:
    message = await world.chair.send(world.channel, "提案：980円")
    await world.do(world.app.stage.react(world.place, message.id, "📌"))
    await world.guest.react(message, "👍")
    await world.guest.unreact(message, "👍")
    added, removed = world.meetings.named("reacted")
    assert added[:2] == (world.place, message.id)
    assert (added[2].id, added[2].name, added[2].manager) == (world.guest.id, "suzuki", False)
    assert added[3:] == ("👍", True)
    assert removed[2].id == world.guest.id
    assert removed[3:] == ("👍", False)


async def test_reactions_carry_the_rights_of_their_moment(world: World) -> None:
    boss = world.guild.create_role("boss", permissions=discord.Permissions(manage_guild=True))
    manager = world.guild.add_member(world.env.create_user("boss"), roles=[boss])
    message = await world.chair.send(world.channel, "提案：980円")
    await manager.react(message, "✅")
    assert world.meetings.named("reacted")[0][2].manager
    await manager.slash(world.channel, "meeting end")
    assert world.meetings.named("end")[0][1].manager


async def test_typing(world: World) -> None:
    await world.guest.typing(world.channel)
    ((where, by),) = world.meetings.named("typing")
    assert (where, by.id) == (world.place, world.guest.id)


async def test_recovery_at_the_start_and_after_a_gap(world: World) -> None:
    assert len(world.meetings.named("recover")) == 1
    world.bot.dispatch("resumed")
    await world.env.settle()
    assert len(world.meetings.named("recover")) == 2


async def test_without_the_message_content_intent_start_says_so(world: World) -> None:
    app = RecordingApp()
    await world.env.restart_bot(build_bot(app, message_content=False))  # type: ignore[arg-type]
    result: Any = await world.chair.slash(world.channel, "meeting start", title="x")
    assert t("reply.no_message_content", "en") in (result.response or result.followups[0]).content
    await world.chair.send(world.channel, "決定：980円")
    assert app.meetings.named("receive")[0][1].text == ""


async def test_a_failing_service_neither_stops_listening_nor_logs_words(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    from tests.cogs.conftest import Planned

    world.meetings.failing["receive"] = Planned("秘密の発言")
    await world.chair.send(world.channel, "秘密の発言")
    del world.meetings.failing["receive"]
    await world.chair.send(world.channel, "次")
    assert [seen.text for _, seen in world.meetings.named("receive")] == ["秘密の発言", "次"]
    assert "Planned" in caplog.text
    assert "秘密の発言" not in caplog.text


async def test_a_typing_indicator_keeps_nobody_waiting_and_leaves_nothing_running(world: World) -> None:
    before = asyncio.all_tasks()
    await world.app.stage.typing(world.place)
    assert len(asyncio.all_tasks() - before) == 1
    await world.env.settle()
    assert asyncio.all_tasks() == before

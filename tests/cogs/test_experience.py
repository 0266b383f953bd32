"""What a team meets beyond one meeting in one channel: the whole product on the simulated Discord."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import discord
import pytest
from simcord.builders import ChannelHandle
from simcord.results import ResponseMessage

from bot.minutes.verify import faults
from bot.phrases import t
from bot.store import audit
from tests.cogs.real import Product, product

LANGUAGES = (("ja", "ja"), ("en", "en-US"))


def posts(world: Product, channel: Any) -> list[str]:
    """The bot's texts in a channel, oldest first, each with its embeds."""
    found = sorted(world.mine(channel.id), key=lambda m: m.id)
    return [m.content + json.dumps(m.embeds, ensure_ascii=False) for m in found]


def board(world: Product, channel: Any = None) -> Any:
    """The message that is the board now: the newest one with a Join button or a closed headline."""
    found = sorted(world.mine((channel or world.channel).id), key=lambda m: m.id)
    return next(m for m in reversed(found) if m.embeds and "ketsugi:correct:" in json.dumps(m.components))


def shown(world: Product, channel: Any = None) -> str:
    now = board(world, channel)
    return str(now.content) + json.dumps(now.embeds, ensure_ascii=False)


async def press(world: Product, who: Any, message: Any, action: str) -> str:
    """Click on a button of a post; the one answer."""
    custom_id = f"ketsugi:{action}:{_meeting(message)}"
    return world.answered(await world.do(who.click(ResponseMessage(world.env, message), custom_id=custom_id)))


def hidden_channel(world: Product) -> Any:
    """A channel that only the chair (and the bot) can see."""
    allowed = discord.PermissionOverwrite(view_channel=True)
    return world.guild.create_text_channel(
        "hidden",
        overwrites={
            world.guild.default_role: discord.PermissionOverwrite(view_channel=False),
            world.chair: allowed,
            world.bot.user: allowed,
        },
    )


def thread(world: Product, parent: Any, name: str, *, private: bool = False) -> ChannelHandle:
    kind = 12 if private else 11
    made = world.env.backend.create_thread(parent.id, name, world.chair.id, type=kind)
    made.thread_members[world.guest.id] = world.env.backend.now_iso()
    return ChannelHandle(world.env, world.guild, made)


def with_file(world: Product) -> list[int]:
    """Channels in which a minutes.md was posted, one entry a message."""
    return [m.channel_id for m in world.mine() if any(_name(a) == "minutes.md" for a in m.attachments)]


def _name(attachment: Any) -> str:
    return str(attachment["filename"] if isinstance(attachment, dict) else attachment.filename)


async def start(world: Product, channel: Any = None, **options: Any) -> None:
    await world.slash(world.chair, "meeting start", channel, **({"title": "定例", "minutes": 60} | options))
    await world.run(10)


async def verified(world: Product) -> None:
    """Every closed meeting holds against `ketsugi verify`."""
    now = world.env.now()
    for meeting_id in await world.app.db.unit(audit.meeting_ids):
        found = await world.app.db.unit(lambda c, m=meeting_id: faults(c, m, now))  # type: ignore[misc]
        assert not found, [str(fault) for fault in found]


async def end(world: Product, channel: Any = None) -> None:
    await world.slash(world.chair, "meeting end", channel, now=True)
    await world.run(60)


async def test_meetings_in_every_kind_of_channel_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        voice = world.guild.create_voice_channel("voice")
        inside = thread(world, world.channel, "topic")
        secret = thread(world, world.channel, "secret", private=True)
        post = thread(world, world.guild.create_forum_channel("forum"), "post")
        places = [world.channel, voice, inside, secret, post]
        for number, place in enumerate(places):
            await start(world, place, title=f"Meeting {number}", language="en")
        for number, place in enumerate(places):
            await world.say(world.guest, f"Decision: we take option {number}", channel=place)
        for place in places:
            await world.slash(world.chair, "meeting end", place, now=True)
        await world.run(90)
        for number, place in enumerate(places):
            assert f"we take option {number}" in shown(world, place), number
            assert f"we take option {(number + 1) % 5}" not in shown(world, place)
        minutes = with_file(world)
        # In text channels a thread on the kickoff; in threads, posts and voice chats the place itself.
        assert len(minutes) == 5
        assert {voice.id, inside.id, secret.id, post.id} <= set(minutes)
        (opened,) = set(minutes) - {voice.id, inside.id, secret.id, post.id}
        assert world.env.backend.get_channel(opened).parent_id == world.channel.id


async def test_the_board_goes_on_in_a_new_message_when_edits_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await start(world)
        first = board(world)
        world.env.inject_error(
            "PATCH", f"/channels/*/messages/{first.id}", status=400, code=30046, times=None
        )
        await world.say(world.guest, "決定：価格は980円")
        await world.run(20)
        second = board(world)
        assert second.id != first.id
        assert "価格は980円" in shown(world)
        await world.say(world.guest, "宿題：見積もりを取る 佐藤")
        await world.run(20)
        assert board(world).id == second.id
        assert "見積もりを取る" in shown(world)
        assert (
            len([m for m in world.mine(world.channel.id) if "ketsugi:extend:" in json.dumps(m.components)])
            == 2
        )
        assert await press(world, world.manager, second, "join") == t("reply.joined", "en")


def _meeting(message: Any) -> int:
    text = json.dumps(message.components)
    return int(text.split("ketsugi:")[1].split(":")[1].split('"')[0])


@pytest.mark.parametrize(("language", "locale"), LANGUAGES)
async def test_people_join_by_button_or_reaction_and_stand_in_the_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: Any, locale: str
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        world.locale = locale
        await start(world, language=language)
        now = board(world)
        assert await press(world, world.guest, now, "join") == t("reply.joined", language)
        assert await press(world, world.guest, now, "join") == t("reply.joined_already", language)
        await world.do(world.manager.react(ResponseMessage(world.env, now), "👋"))
        await world.say(
            world.chair, "決定：価格は980円" if language == "ja" else "Decision: the price is 9 euros"
        )
        await world.run(10)
        assert t("board.joined", language, count=2) in shown(world)
        await world.do(world.manager.unreact(ResponseMessage(world.env, now), "👋"))
        await world.run(10)
        assert t("board.joined", language, count=1) in shown(world)
        meeting = _meeting(now)
        await end(world)
        stored = await world.app.minutes_export(meeting)
        assert stored is not None
        there = [(p["name"], p["messages"]) for p in stored["document"]["attendance"]]
        assert there == [("sato", 1), ("suzuki", 0)]
        assert f"- suzuki{t('minutes.joined', language)}" in stored["text"]
        await verified(world)


@pytest.mark.parametrize(("language", "locale"), LANGUAGES)
async def test_the_agenda_is_a_queue_that_people_can_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: Any, locale: str
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        world.locale = locale
        await start(world, language=language, agenda="価格;公開日 10分;その他")
        assert "▶️ 価格" in shown(world)
        assert t("board.item_minutes", language, minutes=10) in shown(world)
        assert t("board.item_used", language, used=0, planned=25) in shown(world)
        listed = await world.slash(world.guest, "meeting agenda show")
        assert t("reply.agenda_row", language, number=2, title="公開日", minutes=10) in listed
        await world.slash(world.guest, "meeting agenda add", item="予算（5分）")
        assert "予算" in await world.slash(world.guest, "meeting agenda move", number=4, to=2)
        await world.slash(world.guest, "meeting agenda minutes", number=1, minutes=20)
        await world.slash(world.guest, "meeting agenda drop", number=4)
        listed = await world.slash(world.guest, "meeting agenda next")
        assert listed.splitlines() == [
            "▫️ " + t("reply.agenda_row", language, number=1, title="価格", minutes=20),
            "▶️ " + t("reply.agenda_row", language, number=2, title="予算", minutes=5),
            "▫️ " + t("reply.agenda_row", language, number=3, title="公開日", minutes=10),
        ]
        await world.run(10)
        assert t("agenda.next", language, title="予算", minutes=5) in posts(world, world.channel)[-1]
        await world.say(world.guest, "議題：公開日")
        await world.run(10)
        assert "▶️ 公開日" in shown(world)
        assert await world.slash(world.guest, "meeting agenda next") == t("error.agenda_last", language)
        wrong = await world.slash(world.guest, "meeting agenda drop", number=9)
        assert wrong == t("error.agenda_number", language, number=9, most=3)
        known = await world.slash(world.guest, "meeting agenda add", item="価格")
        assert known == t("error.agenda_known", language, title="価格")


async def test_the_chair_is_handed_over_by_the_chair_or_a_manager_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await start(world, language="en")
        refused = await world.slash(world.guest, "meeting hand-over", member=world.guest)
        assert refused == t("error.only_chair", "en", chair="sato")
        done = await world.slash(world.chair, "meeting hand-over", member=world.guest)
        assert done == t("reply.handed_over", "en", name="suzuki")
        await world.run(5)
        assert t("agenda.new_chair", "en", old="sato", new="suzuki") in posts(world, world.channel)[-1]
        refused = await world.slash(world.chair, "meeting end", now=True)
        assert refused == t("error.only_chair", "en", chair="suzuki")
        again = await world.slash(world.guest, "meeting hand-over", member=world.guest)
        assert again == t("error.chairs_already", "en", name="suzuki")
        await world.slash(world.manager, "meeting hand-over", member=world.manager)
        await world.slash(world.manager, "meeting end", now=True)
        await world.run(60)
        assert len(with_file(world)) == 1


@pytest.mark.parametrize(("language", "locale"), LANGUAGES)
async def test_what_was_left_open_is_carried_over_until_it_is_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: Any, locale: str
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        world.locale = locale
        said = await world.meet(
            (world.guest, "未決：誰が審査するか"),
            (world.guest, "宿題：見積もりを取る 担当：suzuki"),
            (world.guest, "宿題：会場を予約する"),
            (world.guest, "決定：価格は980円"),
            language=language,
        )
        assert said
        await start(world, title="次回", language=language, agenda="公開日")
        now = shown(world)
        assert t("agenda.carried", language, questions=1, actions=2) in now
        assert "誰が審査するか" in now
        assert now.count("discord.com/channels/") == 3
        assert "価格は980円" not in now
        assert "▶️ " + t("agenda.carried", language, questions=1, actions=2) in now
        ledger = await world.slash(world.guest, "ledger list")
        assert "誰が審査するか" in ledger
        await world.slash(world.guest, "ledger answer", number=1, text="田中さん")
        await world.slash(world.guest, "ledger done", number=2)
        assert await world.slash(world.guest, "ledger done", number=2) == t(
            "error.done_already", language, number=2
        )
        await world.run(10)
        assert t("board.done", language).strip() in shown(world)
        meeting = _meeting(board(world))
        await end(world)
        stored = await world.app.minutes_export(meeting)
        assert stored is not None
        assert stored["text"].count(t("minutes.carried", language, link="").split("(")[0]) == 3
        assert t("minutes.done", language) in stored["text"]
        await start(world, title="その次", language=language)
        now = shown(world)
        assert t("agenda.carried", language, questions=0, actions=1) in now
        assert "会場を予約する" in now
        assert "見積もりを取る" not in now
        await end(world)
        await start(world, title="まっさら", language=language, carry=False)
        assert "会場を予約する" not in shown(world)
        await end(world)
        await verified(world)


@pytest.mark.parametrize(("language", "locale"), LANGUAGES)
async def test_decisions_are_searched_listed_and_amended_after_the_close(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: Any, locale: str
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        world.locale = locale
        hidden = hidden_channel(world)
        first = await world.meet((world.chair, "決定：公開日は5月20日"), title="公開会議", language=language)
        await world.meet(
            (world.chair, "決定：公開日は秘密の日"), title="裏の会議", channel=hidden, language=language
        )
        for query in ("公開", "こうかい", "公開日はいつ"):
            found = await world.slash(world.guest, "decisions search", query=query)
            if query == "こうかい":
                assert found == t("reply.nothing_found", language, query=query)
                continue
            assert "公開日は5月20日" in found
            assert "秘密" not in found
            assert "裏の会議" not in found
            assert f"https://discord.com/channels/{world.guild.id}/{world.channel.id}/" in found
        assert "秘密の日" in await world.slash(world.chair, "decisions search", query="公開")
        assert await world.slash(world.guest, "decisions search", query="？") == t(
            "error.nothing_to_find", language
        )
        listed = await world.slash(world.guest, "meeting list")
        assert "公開会議" in listed
        assert "裏の会議" not in listed
        assert "裏の会議" in await world.slash(world.chair, "meeting list")
        ledger = await world.slash(world.guest, "ledger list")
        assert ledger.startswith(t("reply.ledger_of_closed", language, title="公開会議"))
        assert "公開日は5月20日" in ledger
        amended = await world.slash(world.guest, "minutes amend", text="5月ではなく6月です")
        assert amended == t("reply.amended", language, title="公開会議")
        await world.run(5)
        errata = [p for m in world.mine() for p in [m.content + json.dumps(m.embeds, ensure_ascii=False)]]
        assert sum("5月ではなく6月です" in p for p in errata) == 1
        offered = await world.guest.autocomplete(world.channel, "minutes show", "meeting", "")
        assert [c["value"] for c in offered] == [first]
        assert "公開会議" in offered[0]["name"]
        wrong = await world.slash(world.guest, "minutes amend", text="x", meeting=first + 1)
        assert wrong == t("error.no_minutes_here", language)
        form = await world.do(world.guest.slash(world.channel, "minutes amend"))
        assert form.modal["title"] == t("form.amend.title", language)
        result = await world.do(world.guest.submit_modal(form, {"text": "場所は大阪"}))
        assert world.answered(result) == amended


async def test_the_list_of_meetings_is_turned_by_buttons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        for number in range(12):
            channel = world.guild.create_text_channel(f"c{number}")
            await start(world, channel, title=f"Meeting {number:02}")
        first = await world.slash(world.guest, "meeting list")
        assert "Meeting 11" in first
        assert "Meeting 01" not in first
        assert t("reply.state.open", "en") in first
        answer = world.last
        turned = await world.do(world.guest.click(answer, label=t("reply.page_on", "en")))
        text = turned.response.content
        assert "Meeting 01" in text
        assert "Meeting 11" not in text
        back = await world.do(world.guest.click(turned.response, label=t("reply.page_back", "en")))
        assert back.response.content == first


@pytest.mark.parametrize(("language", "locale"), LANGUAGES)
async def test_a_decision_against_a_past_one_is_pointed_out_once_and_replaced_when_people_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: Any, locale: str
) -> None:
    old, new = (
        ("決定：価格は月額980円とする", "決定：価格は月額1280円とする")
        if language == "ja"
        else ("Decision: the price is 9 euros", "Decision: the price is 12 euros")
    )
    async with product(tmp_path, monkeypatch) as world:
        world.locale = locale
        await world.meet((world.chair, old), title="Spring", language=language)
        other = world.guild.create_text_channel("other")
        await start(world, other, language=language)
        await world.say(world.guest, new, channel=other)
        await world.run(30)
        mine = [m for m in world.mine(other.id) if "ketsugi:replace:" in json.dumps(m.components)]
        assert len(mine) == 1
        assert old.split("：")[-1].split(": ")[-1] in mine[0].content
        assert f"discord.com/channels/{world.guild.id}/{world.channel.id}/" in mine[0].content
        await world.run(120)
        assert len([m for m in world.mine(other.id) if "ketsugi:replace:" in json.dumps(m.components)]) == 1
        said = await press(world, world.guest, mine[0], "replace")
        assert said == t("reply.replaced", language, number=2)
        assert await press(world, world.chair, mine[0], "replace") == said
        await end(world, other)
        found = await world.slash(
            world.guest, "decisions search", query="価格" if language == "ja" else "price"
        )
        assert t("reply.found_replaced", language, number=1) in found
        await verified(world)
        await start(world, title="Third", language=language)
        await world.say(world.guest, new)
        await world.run(30)
        assert not [m for m in world.mine(world.channel.id) if "ketsugi:replace:" in json.dumps(m.components)]


async def test_a_past_decision_that_some_here_cannot_read_is_not_pointed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        hidden = hidden_channel(world)
        await world.meet((world.chair, "Decision: the price is 9 euros"), channel=hidden, language="en")
        await start(world, language="en")
        await world.say(world.chair, "Decision: the price is 12 euros")
        await world.run(60)
        assert not [m for m in world.mine() if "ketsugi:replace:" in json.dumps(m.components)]


@pytest.mark.parametrize(("language", "locale"), LANGUAGES)
async def test_an_action_is_recalled_once_on_its_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: Any, locale: str
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        world.locale = locale
        now = world.env.now()
        day = (now + timedelta(days=3)).date()
        await world.meet(
            (world.chair, f"宿題：見積もりを取る {day:%Y-%m-%d}まで"),
            (world.chair, "宿題：片付ける"),
            title="定例",
            language=language,
        )
        head = t("reminder.head", language, title="定例")
        for _ in range(2 * 24):
            await world.run(3600)
        assert not [p for p in posts(world, world.channel) if head in p]
        for _ in range(3 * 24):
            await world.run(3600)
        (said,) = [p for p in posts(world, world.channel) if head in p]
        assert "見積もりを取る" in said
        assert "片付ける" not in said
        assert "discord.com/channels/" in said


async def test_the_facilitator_proposes_to_move_on_and_asks_who_is_quiet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await start(world, language="ja", agenda="価格 10分;公開日")
        now = board(world)
        await world.do(world.manager.react(ResponseMessage(world.env, now), "👋"))
        for minute in range(14):
            who = world.chair if minute % 2 else world.guest
            await world.say(who, f"それについては{minute}番目の意見があります")
            await world.run(54)
        said = posts(world, world.channel)
        proposals = [
            p for p in said if t("agenda.move_on", "ja", title="価格", minutes=10, next="公開日") in p
        ]
        asked = [p for p in said if t("agenda.bring_in", "ja", name="tanaka") in p]
        assert len(proposals) + len(asked) >= 1, (
            "the first of them has its turn once eleven messages are there"
        )
        for minute in range(14):
            who = world.chair if minute % 2 else world.guest
            await world.say(who, f"さらに{minute}番目の別の話をします")
            await world.run(54)
        said = posts(world, world.channel)
        assert len([p for p in said if t("agenda.bring_in", "ja", name="tanaka") in p]) in (1, 2)
        assert all("<@" not in p.split("[")[0] for p in said)

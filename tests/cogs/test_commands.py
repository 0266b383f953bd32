"""Every command as people of both languages meet it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import discord
import pytest
from discord import app_commands

from bot.errors import BadInput, NoMeeting, NotAllowed
from bot.meeting.model import ChannelKind, EntryKind
from bot.phrases import book, t
from tests.cogs.conftest import Planned, World

LANGUAGES = ("en-US", "ja", "de")
NAME = re.compile(r"^[-_'\w\u0900-\u097f\u0e00-\u0e7f]{1,32}$")


def word(locale: str, key: str, **values: object) -> str:
    return t(key, "ja" if locale == "ja" else "en", **values)


def said(result: Any) -> str:
    """The one ephemeral answer."""
    answers = [result.response] if result.response else []
    answers += [f for f in result.followups if f.id != (result.response.id if result.response else None)]
    assert len(answers) == 1, answers
    assert answers[0].ephemeral
    return str(answers[0].content)


def texts(payload: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    where = f"{path} {payload['name']}".strip()
    yield where, payload
    for key in ("options", "choices"):
        for child in payload.get(key, ()):
            yield from texts(child, where)


async def test_every_name_and_description_is_valid_and_localised(world: World) -> None:
    tree = world.bot.tree
    assert tree.translator is not None
    payloads = [await c.get_translated_payload(tree, tree.translator) for c in tree.get_commands()]
    found = [pair for payload in payloads for pair in texts(payload)]
    assert len(found) > 40
    for where, payload in found:
        menu, choice = payload.get("type") == 3 and "options" not in payload, "value" in payload
        english, japanese = payload["name"], payload["name_localizations"]["ja"]
        for name in (english, japanese):
            assert 1 <= len(name) <= (100 if choice else 32), where
            if not choice and " " not in where and not menu:
                assert NAME.match(name), where
            if not choice and not menu:
                assert name == name.lower(), where
        assert payload["name_localizations"].keys() == {"ja"}, where
        if payload.get("description"):
            assert len(payload["description"]) <= 100, where
            assert len(payload["description_localizations"]["ja"]) <= 100, where
            assert payload["description"] != payload["description_localizations"]["ja"], where
    for payload in payloads:
        assert payload["contexts"] == [0]
        assert payload["integration_types"] == [0]


async def test_names_are_unique_in_every_language(world: World) -> None:
    tree = world.bot.tree
    assert tree.translator is not None
    for command in tree.get_commands():
        payload = await command.get_translated_payload(tree, tree.translator)
        for level in ([payload], payload.get("options", [])):
            for names in (
                [p["name"] for p in level],
                [p["name_localizations"]["ja"] for p in level],
            ):
                assert len(names) == len(set(names)), names
    roots = [(c.name, type(c)) for c in tree.get_commands(type=None)]
    assert len(roots) == len(set(roots))


async def test_no_command_text_is_left_over(world: World) -> None:
    """Every phrase of the table `command` belongs to a command that exists."""
    used = {f"command.{c.name}" for c in world.bot.tree.get_commands() if isinstance(c, app_commands.Group)}
    for command in world.bot.tree.walk_commands():
        path = "command." + command.qualified_name.replace(" ", ".")
        used.add(path)
        if isinstance(command, app_commands.Command):
            for parameter in command.parameters:
                option = f"{path}.options.{parameter.name}"
                used.add(option)
                used |= {f"{option}.choices.{c.value}" for c in parameter.choices}
    menus = world.bot.tree.get_commands(type=discord.AppCommandType.message)
    assert {m.name for m in menus} == {v for k, v in book("en").items() if k.startswith("command.menu.")}
    for key in book("en"):
        if key.startswith("command.") and not key.startswith("command.menu."):
            assert key in used or key.rpartition(".")[0] in used, key


@pytest.mark.parametrize("locale", LANGUAGES)
async def test_start_with_options(world: World, speak: Any, locale: str) -> None:
    speak(locale)
    result = await world.chair.slash(
        world.channel,
        "meeting start",
        title="  来期の\u202e方針 @everyone ",
        agenda="- 価格\n2. 出荷日\n\n・ 担当",
        constraints="予算は100万円以内；公開は5月以降",
        minutes=45,
        language="ja",
    )
    (request,) = world.meetings.named("start")[0]
    assert request.place == world.place
    assert request.channel_kind is ChannelKind.TEXT
    assert request.title == "来期の方針 @everyone"
    assert request.agenda == ("価格", "出荷日", "担当")
    assert request.constraints == ("予算は100万円以内", "公開は5月以降")
    assert (request.minutes, request.language) == (45, "ja")
    assert (request.by.id, request.by.name, request.by.manager) == (world.chair.id, "sato", False)
    assert request.interaction_id
    answer = said(result)
    assert "来期の方針 ＠everyone" in answer
    assert re.search(r"<t:\d+:t>", answer)
    assert ("を始めました" in answer) == (locale == "ja")


@pytest.mark.parametrize("locale", LANGUAGES)
async def test_start_without_title_opens_a_form(world: World, speak: Any, locale: str) -> None:
    speak(locale)
    shown = await world.chair.slash(world.channel, "meeting start", agenda="価格;納期", language="en")
    assert shown.modal["title"] == word(locale, "form.start.title")
    assert not world.meetings.named("start")
    values = {"meeting_title": "定例", "agenda": "価格\n納期", "constraints": "", "minutes": "９０分"}
    result = await world.chair.submit_modal(shown, values)
    (request,) = world.meetings.named("start")[0]
    assert (request.title, request.agenda, request.constraints) == ("定例", ("価格", "納期"), ())
    assert (request.minutes, request.language) == (90, "en")
    assert "定例" in said(result)


@pytest.mark.parametrize("minutes", ["-", "four", "4", "481", "6.5時間", "60 or 90"])
async def test_a_form_with_an_impossible_length_says_what_to_enter(world: World, minutes: str) -> None:
    shown = await world.chair.slash(world.channel, "meeting start")
    values = {"meeting_title": "x", "agenda": "", "constraints": "", "minutes": minutes}
    result = await world.chair.submit_modal(shown, values)
    assert said(result) == t("error.minutes_range", "en", shortest=5, longest=480)
    assert not world.meetings.named("start")


async def test_a_failing_form_answers_in_the_language_of_its_reader(world: World, speak: Any) -> None:
    speak("ja")
    world.meetings.failing["start"] = BadInput("error.title_long", limit=100)
    shown = await world.chair.slash(world.channel, "meeting start")
    result = await world.chair.submit_modal(
        shown, {"meeting_title": "x", "agenda": "", "constraints": "", "minutes": "60"}
    )
    assert said(result) == t("error.title_long", "ja", limit=100)


@pytest.mark.parametrize(
    ("agenda", "start"),
    [
        ("\n".join(f"項目{n}" for n in range(21)), "21項目ありますが"),
        ("あ" * 201, "「あああ"),
    ],
)
async def test_too_much_agenda_says_what_to_do(world: World, speak: Any, agenda: str, start: str) -> None:
    speak("ja")
    result = await world.chair.slash(world.channel, "meeting start", title="x", agenda=agenda)
    assert said(result).startswith(start)
    assert not world.meetings.named("start")


async def test_start_of_a_title_nobody_sees(world: World) -> None:
    result = await world.chair.slash(world.channel, "meeting start", title="\u200b \u202e")
    assert said(result) == t("error.title_missing", "en")


@pytest.mark.parametrize("locale", ["en-US", "ja"])
async def test_start_names_missing_permissions(world: World, speak: Any, locale: str) -> None:
    speak(locale)
    denied = discord.PermissionOverwrite(create_public_threads=False, attach_files=False)
    everyone = world.guild.default_role
    channel = world.guild.create_text_channel("narrow", overwrites={everyone: denied})
    result = await world.chair.slash(channel, "meeting start", title="x")
    joiner = word(locale, "reply.joiner")
    names = joiner.join(
        word(locale, f"reply.permission.{p}") for p in ("attach_files", "create_public_threads")
    )
    assert said(result) == word(locale, "error.bot_permissions", permissions=names)
    assert not world.meetings.named("start")


async def test_start_in_a_thread_and_in_voice_chat(world: World) -> None:
    voice = world.guild.create_voice_channel("voice")
    await world.chair.slash(voice, "meeting start", title="x")
    message = await world.chair.send(world.channel, "topic")
    thread_id = (await world.do(world.app.stage.open_thread(world.place, message.id, "t"))).channel_id
    thread = next(c for c in world.channel.threads if c.id == thread_id)
    await world.chair.slash(thread, "meeting start", title="x")
    kinds = [request.channel_kind for (request,) in world.meetings.named("start")]
    assert kinds == [ChannelKind.VOICE, ChannelKind.THREAD]


@pytest.mark.parametrize("locale", LANGUAGES)
async def test_end_extend_and_status(world: World, speak: Any, locale: str) -> None:
    speak(locale)
    assert said(await world.chair.slash(world.channel, "meeting end")) == word(locale, "reply.ending")
    now = await world.chair.slash(world.channel, "meeting end", now=True)
    assert said(now) == word(locale, "reply.ending_now")
    assert [c[2] for c in world.meetings.named("end")] == [False, True]
    extended = said(await world.guest.slash(world.channel, "meeting extend", minutes=25))
    assert "25" in extended
    await world.guest.slash(world.channel, "meeting extend")
    assert [(c[0], c[2]) for c in world.meetings.named("extend")] == [(world.place, 25), (world.place, 10)]
    status = said(await world.guest.slash(world.channel, "meeting status"))
    assert word(locale, "reply.state.open") in status
    assert r"\*\*値段\*\* ＜＠1>" in status
    assert "＠everyone" in status
    assert "@everyone" not in status
    assert "75%" in status
    assert "#4" in status


@pytest.mark.parametrize("locale", LANGUAGES)
async def test_ledger_commands(world: World, speak: Any, locale: str) -> None:
    speak(locale)
    listed = said(await world.guest.slash(world.channel, "ledger list"))
    assert "#2 価格は980円" in listed
    assert word(locale, "reply.item.unconfirmed") in listed
    assert "佐藤" in listed
    assert "古い決定" not in listed
    assert "`@everyone **大事**`" in listed
    revised = await world.guest.slash(world.channel, "ledger revise", number=2, text=" 価格は\n1,080円 ")
    assert "価格は 1,080円" in said(revised)
    assert "#3" in said(await world.guest.slash(world.channel, "ledger retract", number=3))
    assert "田中" in said(await world.guest.slash(world.channel, "ledger answer", number=4, text="田中さん"))
    assigned = said(await world.guest.slash(world.channel, "ledger assign", number=5, owner=world.chair))
    assert "sato" in assigned
    assert word(locale, "reply.nobody") in assigned
    await world.guest.slash(world.channel, "ledger confirm", number=2)
    everything = await world.guest.slash(world.channel, "ledger confirm")
    assert said(everything) == word(locale, "reply.confirmed_all", count=2)
    assert world.meetings.named("revise")[0][:3] == (world.place, 2, "価格は 1,080円")
    assert world.meetings.named("answer")[0][:3] == (world.place, 4, "田中さん")
    assert world.meetings.named("assign")[0][:4] == (world.place, 5, "sato", None)
    assert [c[1] for c in world.meetings.named("confirm")] == [2, None]
    nothing = await world.guest.slash(world.channel, "ledger assign", number=5)
    assert said(nothing) == word(locale, "error.nothing_to_assign")


async def test_a_long_ledger_counts_what_does_not_fit(world: World) -> None:
    from bot.meeting.model import LedgerView
    from tests.cogs.fakes import item

    many = tuple(item(n, EntryKind.DECISION, f"決定{n} " + "あ" * 250, "confirmed") for n in range(1, 41))
    world.meetings.view = LedgerView(items=many)
    listed = said(await world.guest.slash(world.channel, "ledger list"))
    assert len(listed) <= 2000
    shown = len(re.findall(r"(?m)^#\d+ ", listed))
    assert 0 < shown < 40
    assert listed.endswith(t("reply.more", "en", count=40 - shown))


async def test_an_empty_ledger_says_how_to_fill_it(world: World) -> None:
    from bot.meeting.model import LedgerView

    world.meetings.view = LedgerView()
    assert said(await world.guest.slash(world.channel, "ledger list")) == t("reply.ledger_empty", "en")


@pytest.mark.parametrize(
    ("command", "numbers"),
    [("revise", [1, 2, 3, 4, 5, 7]), ("answer", [4]), ("assign", [5]), ("confirm", [2])],
)
async def test_numbers_are_suggested(world: World, command: str, numbers: list[int]) -> None:
    filled = {"text": "x"} if command in ("revise", "answer") else {}
    offered = await world.guest.autocomplete(world.channel, f"ledger {command}", "number", "", **filled)
    assert [c["value"] for c in offered] == numbers


async def test_suggestions_follow_what_is_typed_and_fail_silently(world: World) -> None:
    offered = await world.guest.autocomplete(world.channel, "ledger retract", "number", "3")
    assert [c["name"] for c in offered] == ["#3 出荷は5月"]
    world.meetings.failing["ledger"] = NoMeeting()
    assert await world.guest.autocomplete(world.channel, "ledger retract", "number", "") == []


@pytest.mark.parametrize("locale", ["en-US", "ja"])
@pytest.mark.parametrize("kind", [EntryKind.DECISION, EntryKind.ACTION, EntryKind.QUESTION])
async def test_message_menus(world: World, speak: Any, locale: str, kind: EntryKind) -> None:
    speak(locale)
    message = await world.guest.send(world.channel, "価格は980円で行きましょう")
    name = t(f"command.menu.{kind.value}", "en")
    result = await world.chair.context_menu(world.channel, name, message)
    where, shown, recorded, by, interaction = world.meetings.named("record")[0]
    assert (where, shown.message_id, shown.text) == (world.place, message.id, "価格は980円で行きましょう")
    assert (shown.author_name, recorded, by.id) == ("suzuki", kind, world.chair.id)
    assert interaction
    assert said(result) == word(
        locale,
        "reply.recorded",
        kind=word(locale, f"reply.kind.{kind.value}"),
        number=8,
        text="価格は980円で行きましょう",
    )


async def test_ask_and_minutes(world: World) -> None:
    asked = said(await world.guest.slash(world.channel, "ask", question="価格は？"))
    assert asked == "**📝 アシスタント**\n980円です。"
    assert world.meetings.named("ask")[0][2] == "価格は？"
    shown = await world.guest.slash(world.channel, "minutes show")
    assert said(shown) == "議事録"
    answer = shown.response or shown.followups[0]
    assert [e.title for e in answer.embeds] == ["決定事項"]
    assert [a.filename for a in answer.attachments] == ["minutes.md"]
    for form in ("md", "json", "csv"):
        exported = await world.guest.slash(world.channel, "minutes export", form=form, meeting=7)
        assert f"minutes.{form}" in said(exported)
    called, where, number, form, by = world.app.minutes.calls[-1]
    assert (called, where, number, form, by.id) == ("export", world.place, 7, "csv", world.guest.id)


@pytest.mark.parametrize("locale", LANGUAGES)
async def test_errors_meant_for_people(world: World, speak: Any, locale: str) -> None:
    speak(locale)
    world.meetings.failing["end"] = NoMeeting()
    ended = await world.guest.slash(world.channel, "meeting end")
    assert said(ended) == word(locale, "error.no_meeting")
    world.meetings.failing["extend"] = NotAllowed("error.only_chair", chair="**田中** <@1>")
    extended = await world.guest.slash(world.channel, "meeting extend")
    assert said(extended) == word(locale, "error.only_chair", chair=r"\*\*田中\*\* ＜＠1>")


async def test_an_unknown_error_is_answered_and_its_message_not_logged(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.meetings.failing["status"] = Planned("秘密の発言")
    result = await world.guest.slash(world.channel, "meeting status")
    assert said(result) == t("error.unexpected", "en")
    assert "Planned" in caplog.text
    assert "秘密の発言" not in caplog.text

"""Direct messages through the whole product: simulated Discord, real store, real SDK against a loopback provider."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import discord
import pytest
import simcord.http.router

from bot.phrases import t
from tests.cogs.real import Product, product
from tests.fakes import Asked, FakeGemini, Reply

LIGHT = "gemini-3.5-flash-lite"
NAME = {"ja": "**📝 アシスタント**\n", "en": "**📝 Assistant**\n"}


def wire(text: str, *, cuts: int = 6, **more: Any) -> Reply:
    """`text` as a model streams it: few characters an event, cut at arbitrary bytes on the wire."""
    made = json.dumps({"response": text, "cites": []}, ensure_ascii=False)
    return Reply(pieces=tuple(made[at : at + cuts] for at in range(0, len(made), cuts)), cut=7, **more)


class Talk:
    def __init__(self, made: Product, fake: FakeGemini) -> None:
        self.product, self.fake = made, fake
        self.shown: list[
            tuple[int, str]
        ] = []  # message and text, whatever was ever visible of the bot's in a DM

    async def say(self, who: Any, text: str, seconds: float = 26.0) -> str:
        await self.product.do(who.send_dm(text))
        await self.product.run(seconds)
        return str(self.mine(who)[-1].content)

    def mine(self, who: Any) -> list[Any]:
        return self.product.mine(who.user.dm_channel.id)

    def prompts(self) -> list[str]:
        return [asked.prompt for asked in self.fake.requests if asked.method == "streamGenerateContent"]


@asynccontextmanager
async def talk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *script: Reply, respond: Any = None, **settings: Any
) -> AsyncIterator[Talk]:
    async with FakeGemini(*script, respond=respond) as fake:
        options = {"light_model": LIGHT, "gemini_base_url": fake.url} | settings
        async with product(tmp_path, monkeypatch, **options) as made:
            found = Talk(made, fake)
            dispatch = simcord.http.router.dispatch

            def spy(backend: Any, verb: str, path: str, **more: Any) -> Any:
                answer = dispatch(backend, verb, path, **more)
                body = more.get("json") or {}
                if verb in ("POST", "PATCH") and "/messages" in path and isinstance(answer, dict):
                    found.shown.append((int(answer["id"]), str(body.get("content"))))
                return answer

            monkeypatch.setattr(simcord.http.router, "dispatch", spy)
            yield found


async def test_a_streamed_answer_over_a_real_wire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "こんにちは。議題は一行にまとめると話しやすくなります。まず目的から書いてみてください。"
    async with talk(tmp_path, monkeypatch, wire(text, pause_s=0.05)) as c:
        assert await c.say(c.product.chair, "議題の書き方を相談したい") == NAME["ja"] + text
        assert len(c.mine(c.product.chair)) == 1
        assert len({message for message, _ in c.shown}) == 1
        assert c.shown[0][1].endswith(" …")
        assert c.shown[-1][1] == NAME["ja"] + text
        assert all(text.startswith(shown.removeprefix(NAME["ja"]).removesuffix(" …")) for _, shown in c.shown)


@pytest.mark.parametrize(
    ("said", "good", "bad", "mended", "language"),
    [
        ("こんにちは", "こんにちは。", "では @everyone に知らせておきます。以上です。", "ご用件をどうぞ。", "ja"),
        ("相談です", "はい、どうぞ。", "予算は500万円に決まりました。以上です。", "詳しく教えてください。", "ja"),
        ("Hello", "Hello there. ", "It was decided to pay 500 dollars. That is all.", "How can I help?", "en"),
        ("Hello", "Hello there. ", "Join us at https://discord.gg/abcdef now. That is all.", "How can I help?", "en"),
    ],
)  # fmt: skip
async def test_what_breaks_a_must_later_on_is_never_visible(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    said: str,
    good: str,
    bad: str,
    mended: str,
    language: str,
) -> None:
    slow = wire(good + bad, pause_s=0.1)
    async with talk(tmp_path, monkeypatch, slow, Reply(json.dumps({"response": mended}))) as c:
        assert await c.say(c.product.chair, said) == NAME[language] + mended
        assert c.shown[0][1] == f"{NAME[language]}{good.strip()} …"
        assert not any(bad[:6] in shown for _, shown in c.shown)
        assert len(c.mine(c.product.chair)) == 1


async def test_a_connection_that_breaks_in_the_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = wire("一つ目の文です。二つ目はここで", breaks="drop", pause_s=0.05)
    async with talk(tmp_path, monkeypatch, half, respond=lambda _: Reply(status=503)) as c:
        text = await c.say(c.product.chair, "こんにちは")
        assert text == f"{NAME['ja']}一つ目の文です。\n-# {t('chat.remark.broke_off', 'ja')}"
        assert len(c.mine(c.product.chair)) == 1


async def test_a_provider_that_hangs_from_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with talk(tmp_path, monkeypatch, Reply(hang=True), deadline_s=3.0) as c:
        assert await c.say(c.product.chair, "hello", 4.0) == NAME["en"] + t("chat.unavailable", "en")


def answers(text: str) -> Any:
    """Cites the first passage wherever the record holds `text`; else says that it does not know."""

    def respond(asked: Asked) -> Reply:
        _, _, records = asked.prompt.partition("⟦記録⟧")
        blocks = re.findall(r"^\[(\d+)\] .*\n(.*)$", records, re.MULTILINE)
        cited = next((number for number, held in blocks if text in held), None)
        return wire("それについては分かりません。" if cited is None else f"{text}と決まっています。[{cited}]")

    return respond


async def test_the_record_is_answered_from_with_its_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talk(tmp_path, monkeypatch, respond=answers("価格は980円")) as c:
        await c.product.meet((c.product.chair, "決定：価格は980円にする"))
        text = await c.say(c.product.guest, "価格はいくらに決まりましたか？")
        assert "価格は980円と決まっています。" in text
        assert f"](https://discord.com/channels/{c.product.guild.id}/{c.product.channel.id}/" in text
        assert "[1]" not in text
        assert await c.say(c.product.guest, "ありがとう") == NAME["ja"] + "それについては分かりません。"
        second = c.prompts()[-1]
        assert "価格は980円と決まっています。" in second  # the conversation so far, without the link
        assert "discord.com" not in second


async def test_nothing_of_a_channel_or_server_that_the_person_cannot_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talk(tmp_path, monkeypatch, respond=answers("価格は980円")) as c:
        made = c.product
        allowed = discord.PermissionOverwrite(view_channel=True)
        rules = {made.guild.default_role: discord.PermissionOverwrite(view_channel=False)}
        rules |= dict.fromkeys((made.chair, made.bot.user), allowed)
        closed = made.guild.create_text_channel("closed", overwrites=rules)
        await made.meet((made.chair, "決定：価格は980円にする"), channel=closed)
        stranger = made.env.create_guild("Elsewhere").add_member(made.env.create_user("yamada"))
        question = "価格はいくらに決まりましたか？"
        assert "980" in await c.say(made.chair, question)
        for other in (made.guest, stranger):
            assert "980" not in await c.say(other, question)
            assert "980円" not in c.prompts()[-1]


async def test_who_left_the_server_reads_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talk(tmp_path, monkeypatch, respond=answers("価格は980円")) as c:
        await c.product.meet((c.product.chair, "決定：価格は980円にする"))
        question = "価格はいくらに決まりましたか？"
        assert "980" in await c.say(c.product.guest, question)
        c.product.guild.remove_member(c.product.guest)
        await c.product.timing.settle()
        assert "980" not in await c.say(c.product.guest, question)


async def test_who_opted_out_is_answered_from_the_record_without_any_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talk(tmp_path, monkeypatch, respond=answers("価格は980円")) as c:
        await c.product.meet((c.product.chair, "決定：価格は980円にする"))
        await c.product.slash(c.product.guest, "privacy opt-out")
        before = len(c.fake.requests)
        text = await c.say(c.product.guest, "価格はいくらに決まりましたか？")
        assert "価格は980円にする" in text
        assert text.endswith(t("chat.remark.opted_out", "ja"))
        assert len(c.fake.requests) == before


async def test_nothing_said_directly_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with talk(tmp_path, monkeypatch, wire("合言葉は承りました。"), model=LIGHT) as c:
        await c.say(c.product.guest, "ここだけの合言葉です")
        assert len(c.prompts()) == 1
        stored = b"".join(c.product.files().values())
        assert "合言葉".encode() not in stored
        assert str(c.product.guest.id).encode() not in stored


async def test_help_and_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with talk(tmp_path, monkeypatch) as c:
        assert await c.say(c.product.guest, "/meeting start") == NAME["en"] + t("chat.command", "en")
        assert await c.say(c.product.guest, "ヘルプ") == NAME["ja"] + t("chat.help", "ja")
        assert c.fake.requests == []


async def test_a_restart_answers_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with talk(tmp_path, monkeypatch, wire("はい、どうぞ。")) as c:
        await c.say(c.product.guest, "こんにちは")
        await c.product.app.meetings.recover()
        c.product.bot.dispatch("resumed")
        await c.product.run(30)
        assert len(c.mine(c.product.guest)) == 1

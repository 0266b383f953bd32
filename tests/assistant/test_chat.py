"""One-to-one chat: streamed, in order, never twice, never silent, and nothing of it kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from bot.phrases import t
from bot.stage import Busy, Refused, Uncertain
from bot.store import chats, generations, transcript
from bot.store.engine import Connection
from tests.assistant.talking import CHANNEL, EPOCH, PERSON, Channel, Conversation, Tells, converse, lost
from tests.crash.instant import Folder

HELLO = Tells(
    "こんにちは。",
    "議題の言い回しを一緒に",
    "考えましょう。",
    "まず目的を",
    "教えてください。",
    "お待ちしています。",
)
WHOLE = "こんにちは。議題の言い回しを一緒に考えましょう。まず目的を教えてください。お待ちしています。"


@pytest.fixture(scope="module")
def folder() -> Iterator[Folder]:
    made = Folder()
    yield made
    made.close()


# ------------------------------------------------------------------ streaming


def test_typing_at_once_one_message_and_edits_a_second_apart(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        assert await c.say("議題を考えるのを手伝って") == WHOLE

    c = converse(test, HELLO, folder=folder)
    assert c.channel.typed[0] < 0.1
    assert [what for _, what, _ in c.log] == ["say", *["edit"] * (len(c.log) - 1)]
    assert len(c.channel.mine) == 1
    times = [at for at, _, _ in c.log]
    assert all(later - sooner >= 0.999 for sooner, later in pairwise(times))
    assert c.seen()[0] == "こんにちは。 …"
    assert all(text.endswith(" …") for text in c.seen()[:-1])
    assert c.seen()[-1] == WHOLE
    assert all(WHOLE.startswith(text.removesuffix(" …")) for text in c.seen())


def test_the_first_text_comes_with_the_first_whole_sentence(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        await c.say("こんにちは")

    c = converse(test, HELLO, folder=folder)
    # 0.2 s for history and rights; the sentence is known to be whole with the second piece, 1.0 s in.
    assert c.log[0][0] == pytest.approx(1.3, abs=0.05)


def test_typing_goes_on_until_something_is_visible(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        await c.say("考えて")

    c = converse(test, Tells("長く考えました。", pause_s=9.0), folder=folder)
    assert len(c.channel.typed) == 3
    assert c.channel.mine == ["長く考えました。"]


@pytest.mark.parametrize(
    ("said", "bad", "shown"),
    [
        ("こんにちは", "@everyone に知らせます。", "こんにちは。"),
        ("こんにちは", "予算は500万円に決定しました。", "こんにちは。"),
        ("hello there", " The budget was decided to be 500 dollars. ", "Hello there."),
        ("hello there", " See <@999>. ", "Hello there."),
    ],
)
def test_what_breaks_a_must_is_never_visible(folder: Folder, said: str, bad: str, shown: str) -> None:
    good = "ご用件をどうぞ。" if shown.startswith("こ") else "What can I do for you?"

    async def test(c: Conversation) -> None:
        assert await c.say(said) == good

    c = converse(test, Tells(shown, bad, "ほかに", pause_s=1.2), Tells(good), folder=folder)
    assert c.seen()[0] == f"{shown} …"
    assert not any(bad.strip() in text or bad.strip()[:8] in text for text in c.seen())
    assert len(c.channel.mine) == 1


def test_nothing_visible_by_the_deadline_is_the_fixed_text(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        assert await c.say("hello") == t("chat.unavailable", "en")

    c = converse(test, Tells(hangs=True), folder=folder)
    assert len(c.log) == 1
    assert c.log[0][0] <= 25.0


@pytest.mark.parametrize("kind", ["unreachable", "server", "timeout", "truncated", "invalid"])
def test_an_answer_that_breaks_off_stays_and_says_so(folder: Folder, kind: str) -> None:
    async def test(c: Conversation) -> None:
        text = await c.say("こんにちは")
        assert text == "一つ目の文です。\n-# " + t("chat.remark.broke_off", "ja")

    c = converse(test, Tells("一つ目の文です。", "二つ目は途", error=kind), folder=folder)
    assert len(c.channel.mine) == 1
    assert len(c.model.requests) == 2  # the ladder's second try failed in the same way


def test_a_second_try_that_succeeds_takes_the_place_of_what_broke_off(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        assert await c.say("こんにちは") == WHOLE

    c = converse(test, Tells("途中まで。", "ここで", error="server"), HELLO, folder=folder)
    assert c.seen()[0] == "途中まで。 …"
    assert len(c.channel.mine) == 1


def test_what_the_provider_refused_to_finish_does_not_stay(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        assert await c.say("hello") == t("chat.unavailable", "en")

    converse(test, Tells("It begins well. ", "And then", error="blocked"), folder=folder)


def test_a_hang_in_the_middle_ends_at_the_deadline(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        assert await c.say("こんにちは") == "一つ目の文です。\n-# " + t("chat.remark.broke_off", "ja")

    c = converse(test, Tells("一つ目の文です。", "二つ目", hangs=True), folder=folder)
    assert c.log[-1][0] <= 25.5


# ------------------------------------------------------------------ Discord's faults


def test_a_lost_answer_to_the_first_post_makes_no_second_one(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        c.channel.faults["say"] = [lost()]
        assert await c.say("こんにちは") == WHOLE

    assert converse(test, HELLO, folder=folder).channel.mine == [WHOLE]


def test_a_post_that_never_arrived_is_sent_again(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        c.channel.faults["say"] = [Uncertain("timeout")]
        await c.say("こんにちは")

    assert converse(test, HELLO, folder=folder).channel.mine == [WHOLE]


def test_where_even_the_history_cannot_be_read_the_nonce_keeps_it_one(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        c.channel.faults["say"] = [lost(), lost()]
        c.channel.faults["recent"] = [Uncertain("down"), Uncertain("down"), Uncertain("down")]
        await c.say("こんにちは")

    assert converse(test, HELLO, folder=folder).channel.mine == [WHOLE]


@pytest.mark.parametrize("reason", ["too_old", "invalid", "gone", "forbidden"])
def test_a_message_that_cannot_be_edited_is_followed_by_one_new_one(folder: Folder, reason: str) -> None:
    async def test(c: Conversation) -> None:
        c.channel.faults["edit"] = [Refused(reason)]  # type: ignore[arg-type]
        await c.say("こんにちは")

    c = converse(test, HELLO, folder=folder)
    assert c.channel.mine == ["こんにちは。 …", WHOLE]


def test_edits_that_stay_uncertain_end_in_one_finished_answer(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        c.channel.faults["edit"] = [Uncertain("reset")] * 9
        await c.say("こんにちは")

    assert converse(test, HELLO, folder=folder).channel.mine == ["こんにちは。 …", WHOLE]


def test_a_last_edit_whose_confirmation_is_lost_makes_no_second_answer(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        c.channel.faults["edit"] = [lost()] * 9
        await c.say("こんにちは")

    assert converse(test, HELLO, folder=folder).channel.mine == [WHOLE]


def test_rate_limits_are_waited_for(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        c.channel.faults["say"] = [Busy(2.0)]
        c.channel.faults["edit"] = [Busy(3.0)]
        assert await c.say("こんにちは") == WHOLE

    c = converse(test, HELLO, folder=folder)
    assert len(c.channel.mine) == 1
    assert c.log[0][0] >= 3.0


def test_someone_who_takes_no_direct_messages_stops_nothing(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        c.channel.faults["say"] = [Refused("forbidden")]
        await c.receive("こんにちは")
        await c.over()
        assert c.channel.mine == []
        assert await c.say("もう一度") == WHOLE

    converse(test, HELLO, folder=folder)


# ------------------------------------------------------------------ several messages, several people


def test_the_second_message_sees_the_answer_to_the_first(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        await c.receive("一つ目の質問です")
        await asyncio.sleep(0.05)
        await c.receive("二つ目の質問です")
        await c.over()

    c = converse(test, Tells("一つ目への答えです。"), Tells("二つ目への答えです。"), folder=folder)
    assert c.channel.mine == ["一つ目への答えです。", "二つ目への答えです。"]
    first, second = c.model.prompts()
    assert "二つ目の質問です" not in first
    assert "一つ目への答えです。" in second
    assert (
        second.index("一つ目の質問です")
        < second.index("一つ目への答えです。")
        < second.index("二つ目の質問です")
    )


def test_many_messages_during_one_answer_share_the_next(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        await c.receive("最初")
        await asyncio.sleep(0.05)
        for number in range(500):
            await c.receive(f"追伸{number}")
        assert len(c.app.chat._talks[CHANNEL].pending) == 20
        await c.over()

    c = converse(test, HELLO, folder=folder)
    assert len(c.channel.mine) == 2
    assert "追伸499" in c.model.prompts()[1]
    assert c.app.chat._talks == {}


def test_the_last_twenty_messages_are_known_and_no_more(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        for number in range(30):
            c.channel.write(f"以前の発言{number}番")
            await asyncio.sleep(0.01)
        await c.say("それで？")

    (prompt,) = converse(test, HELLO, folder=folder).model.prompts()
    known = [n for n in range(30) if f"以前の発言{n}番" in prompt]
    assert known == list(range(10, 30))


def test_one_persons_flood_delays_nobody(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        for number in range(50):
            await c.receive(f"連投{number}")
        other = Channel(c.channel._now, user_id=12, channel_id=701)
        await c.app.chat.receive(other, other.write("静かな質問です"))
        await c.over()
        assert other.log[0][0] < 2.0

    converse(test, HELLO, folder=folder)


def test_the_same_message_twice_is_answered_once(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        seen = c.channel.write("こんにちは")
        await c.app.chat.receive(c.channel, seen)
        await c.app.chat.receive(c.channel, seen)
        await c.over()
        await c.app.chat.receive(c.channel, seen)
        await c.over()

    assert converse(test, HELLO, folder=folder).channel.mine == [WHOLE]


# ------------------------------------------------------------------ ends of the process


def test_a_stop_finishes_what_is_being_answered_within_its_time(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        await c.receive("こんにちは")
        await asyncio.sleep(2.0)
        begun = c.channel.seconds()
        await c.app.chat.close(6.0)
        assert c.channel.seconds() - begun <= 6.0
        assert c.channel.mine == ["一つ目の文です。\n-# " + t("chat.remark.broke_off", "ja")]
        await c.receive("まだいますか")
        assert c.app.chat._tasks == set()

    converse(test, Tells("一つ目の文です。", "二つ目", hangs=True), folder=folder)


def test_a_kill_leaves_a_message_that_looks_unfinished_and_nothing_running(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        await c.receive("こんにちは")
        await asyncio.sleep(2.0)
        await c.app.chat.close(0.0)
        assert c.channel.mine == ["一つ目の文です。 …"]
        left = [task.get_name() for task in asyncio.all_tasks()]
        assert not [name for name in left if name.startswith("ketsugi")]

    converse(test, Tells("一つ目の文です。", "二つ目", hangs=True), folder=folder)


# ------------------------------------------------------------------ what needs no model


@pytest.mark.parametrize(
    ("text", "files", "key", "language"),
    [
        ("ヘルプ", (), "help", "ja"),
        ("使い方", (), "help", "ja"),
        ("Help!", (), "help", "en"),
        ("/help", (), "help", "en"),
        ("/meeting start", (), "command", "en"),
        ("", ("plan.pdf",), "only_files", "en"),
        ("", (), "nothing_to_read", "en"),
        ("   ", (), "nothing_to_read", "en"),
    ],
)
def test_fixed_answers(folder: Folder, text: str, files: tuple[str, ...], key: str, language: str) -> None:
    async def test(c: Conversation) -> None:
        assert await c.say(text, files) == t(f"chat.{key}", language)

    assert converse(test, HELLO, folder=folder).model.requests == []


def test_attachments_beside_words_are_said_to_be_unread(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        assert await c.say("これをどう思う？", ("a.png",)) == f"{WHOLE}\n-# {t('chat.remark.files', 'ja')}"

    converse(test, HELLO, folder=folder)


def test_four_thousand_characters_are_read_whole(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        assert await c.say("長い相談です。" * 570) == WHOLE

    (prompt,) = converse(test, HELLO, folder=folder).model.prompts()
    assert "長い相談です。" * 570 in prompt


def test_an_answer_is_in_the_language_of_the_message(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        await c.say("hello, can you help me with an agenda")
        await c.say("👍")
        await c.say("ありがとう")

    c = converse(
        test, Tells("Gladly. What is it about?"), Tells("Good."), Tells("どういたしまして。"), folder=folder
    )
    assert [request.scene.meeting.language for request in c.model.requests] == ["en", "en", "ja"]


# ------------------------------------------------------------------ limits, refusal, what is kept


def test_the_cap_of_the_day_holds_over_a_restart_and_ends_with_the_day(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        assert await c.say("一つ目") == WHOLE
        await c.app.chat.close()
        c.app.chat._closing = False
        c.app.chat._answered.clear()
        assert await c.say("二つ目") == WHOLE
        third = await c.say("三つ目")
        assert third.endswith(t("chat.remark.cap", "ja"))
        assert len(c.model.requests) == 2
        await asyncio.sleep(86_400)
        assert await c.say("次の日") == WHOLE

    converse(test, HELLO, folder=folder, chats_per_day=2)


def test_nobody_elses_day_is_used_up(folder: Folder) -> None:
    async def work(c: Connection) -> None:
        day = EPOCH.date()
        assert [await chats.take(c, 11, day, 2, lambda: b"salt") for _ in range(3)] == [True, True, False]
        assert await chats.take(c, 12, day, 2, lambda: b"other salt")
        assert await chats.take(c, 11, day + timedelta(days=1), 2, lambda: b"")

    async def test(c: Conversation) -> None:
        await c.app.db.unit(work)

    converse(test, HELLO, folder=folder)


def test_the_applications_cap_on_generations_holds_for_conversations_too(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        assert await c.say("一つ目") == WHOLE
        assert (await c.say("二つ目")).endswith(t("chat.remark.used_up", "ja"))
        assert len(c.model.requests) == 1

    converse(test, HELLO, folder=folder, generations_per_day=1)


def test_who_opted_out_anywhere_is_answered_without_a_model_and_told(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        now = c.app.clock.now()
        await c.app.db.unit(lambda conn: transcript.opt_out(conn, 900, PERSON, now))
        assert (await c.say("こんにちは")).endswith(t("chat.remark.opted_out", "ja"))
        assert c.model.requests == []
        await c.app.db.unit(lambda conn: transcript.opt_in(conn, 900, PERSON, now))
        assert await c.say("こんにちは") == WHOLE

    converse(test, HELLO, folder=folder)


def test_what_was_said_while_opted_out_reaches_no_model_afterwards(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        async def at(change: Any) -> None:
            await asyncio.sleep(60)
            now = c.app.clock.now()
            await c.app.db.unit(lambda conn: change(conn, 900, PERSON, now))
            await asyncio.sleep(60)

        await at(transcript.opt_out)
        await c.say("予算は極秘の123万円です")
        await at(transcript.opt_in)
        await c.say("こんにちは")
        await c.say("では続けます")
        prompts = c.model.prompts()
        assert len(prompts) == 2
        assert not any("123万円" in prompt for prompt in prompts)
        assert "こんにちは" in prompts[-1]

    converse(test, HELLO, folder=folder)


def test_nothing_of_a_conversation_is_in_the_database_but_what_it_cost(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        await c.say("秘密の相談があります")
        await c.say("予算は極秘の123万円です")

        async def look(conn: Connection) -> None:
            used = await generations.usage(conn, None)
            assert [(u.version, u.calls, u.tokens_in) for u in used] == [("scripted-1", 4, 400)]
            assert [s.route.value for s in await generations.sources(conn, None)] == ["chat", "chat"]
            assert await generations.usage(conn, 900) == []  # no server's
            dump = await (await conn.get_raw_connection()).driver_connection.execute_fetchall(  # type: ignore
                "select sql from sqlite_master"
            )
            assert dump

        await c.app.db.unit(look)
        path = c.app.settings.database_path
        assert path is not None
        stored = b"".join(p.read_bytes() for p in path.parent.glob(path.name + "*"))
        for word in ("秘密", "極秘", "123万", "佐藤", "答えです", "500万", "こんにちは"):
            assert word.encode() not in stored, word
        assert b"scripted-1" in stored

    bad = Tells("予算は500万円に決定しました。")
    converse(test, bad, Tells("答えです。"), bad, bad, folder=folder)


def test_an_unforeseen_error_is_answered_and_says_nothing_of_the_message(
    folder: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    async def test(c: Conversation) -> None:
        async def broken(reader: object, question: str, **more: object) -> None:
            raise RuntimeError(question)

        c.app.chat._shelf.find = broken  # type: ignore[method-assign]
        assert await c.say("内緒の話です") == t("chat.unavailable", "ja")

    converse(test, HELLO, folder=folder)
    assert "内緒" not in caplog.text
    assert "RuntimeError" in caplog.text


def test_without_history_or_rights_there_still_is_an_answer(folder: Folder) -> None:
    async def test(c: Conversation) -> None:
        c.channel.faults["recent"] = [Uncertain("down")]
        c.channel.faults["reader"] = [Uncertain("down")]
        assert await c.say("こんにちは") == f"{WHOLE}\n-# {t('chat.remark.no_record', 'ja')}"

    converse(test, HELLO, folder=folder)

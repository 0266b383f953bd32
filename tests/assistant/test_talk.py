"""What stands in the end of an answer: fixed texts, what broke off, links, and what a model sees of own posts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.assistant import talk
from bot.assistant.talk import Asked
from bot.guard.model import Attempt, Candidate, Generated, Source, Strength
from bot.guard.rules_citing import citing_rules
from bot.guard.table import RoomFacts, rules_for
from bot.meeting.citing import Passage
from bot.meeting.display import units
from bot.meeting.model import LANGUAGES, EntryKind, Language, Route
from bot.phrases import t
from bot.stage import Seen

AT = datetime(2026, 11, 2, 5, 0, tzinfo=UTC)


def passages(count: int) -> tuple[Passage, ...]:
    return tuple(
        Passage(
            str(n), "entry", 10**18, 7, "価格会議", AT, "佐藤", f"価格は{n}80円にする",
            f"https://discord.com/channels/{10**18}/{10**18 + 1}/{10**18 + n}", status="confirmed", number=n,
            entry_kind=EntryKind.DECISION, score=0.9,
        )
        for n in range(1, count + 1)
    )  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize("free", [True, False])
def test_the_fixed_text_passes_every_must(language: Language, count: int, free: bool) -> None:
    question = {"ja": "価格はいくらですか？", "en": "What is the price?"}[language]
    asked = Asked(11, language, question, passages=passages(count), free=free)
    text = talk.fallback_text(asked)
    assert text
    rules = [
        *rules_for(Route.CHAT, RoomFacts(language, names=("佐藤", "価格会議"), user_ids=frozenset({11}))),
        *citing_rules(asked.passages, language, strict=False, question=question),
    ]
    assert [r.name for r in rules if r.strength is Strength.MUST and r.check(Candidate(text))] == []


def generated(source: Source, text: str | None, *attempts: Attempt) -> Generated:
    return Generated(text, source, attempts)


STANDBY, MENDED = Attempt("代わり", version="offline-1"), Attempt("直した", version="gemini-x")
GOOD, BAD = Attempt("一つ目。二つ目。"), Attempt("一つ目。悪い文")
BROKE = Attempt(None, failure="unreachable", version="gemini-x")


@pytest.mark.parametrize(
    ("seen", "made", "expected"),
    [
        ("一つ目。", generated(Source.FIXED, "固定文", BROKE), ("一つ目。", True)),
        ("一つ目。", generated(Source.FIXED, "固定文", BROKE, BROKE), ("一つ目。", True)),
        ("一つ目。", generated(Source.REPHRASED, "代わり", BROKE, STANDBY), ("一つ目。", True)),
        ("一つ目。", generated(Source.REPHRASED, "直した", BROKE, MENDED), ("直した", False)),
        ("", generated(Source.FIXED, "固定文", BROKE), ("固定文", False)),
        ("一つ目。", generated(Source.FIXED, "固定文", Attempt(None, failure="blocked")), ("固定文", False)),
        ("一つ目。", generated(Source.FIXED, "固定文", BAD), ("固定文", False)),
        ("一つ目。", generated(Source.FIRST, "一つ目。二つ目。", GOOD), ("一つ目。二つ目。", False)),
    ],
)  # fmt: skip
def test_what_stands_in_the_end(seen: str, made: Generated, expected: tuple[str, bool]) -> None:
    assert talk.settled(seen, made) == expected


def test_every_answer_fits_into_one_message_whatever_is_linked_and_remarked() -> None:
    text = "".join(f"価格は{n}80円です。[{n}]" for n in range(1, 10)) + "長い説明です。" * 90
    asked = Asked(
        11, "ja", "価格は？", passages=passages(9), remarks=("files", "opted_out", "no_record", "cap")
    )
    told = talk._worded(asked, text, True)
    assert units(told) + len("**📝 アシスタント**\n") <= 2000
    assert told.endswith(t("chat.remark.cap", "ja"))
    assert "](https://discord.com/" in told


def test_a_model_sees_its_own_posts_without_what_the_application_added() -> None:
    text = "価格は980円です。 [#1](https://discord.com/channels/1/2/3)\n次です。"
    text += "\n-# 回答はここで途切れました。\n-# もう一つ"
    seen = Seen(5, 1, "Ketsugi", text, AT, mine=True, bot=True)
    assert talk._line(seen).text == "価格は980円です。\n次です。"

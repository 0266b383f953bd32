"""What of an unfinished text may be seen: whole sentences, and never one that breaks a `must`."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.guard.lexicons import lexicon_of
from bot.guard.model import Candidate, Remedy, Rule, Strength
from bot.guard.rules_citing import citing_rules
from bot.guard.rules_wording import at_most, in_language, no_foreign_mention, no_mass_mention
from bot.guard.sanitise import sanitise
from bot.guard.streaming import LONGEST, Gate, ends
from bot.guard.table import RoomFacts, rules_for
from bot.meeting.citing import Passage
from bot.meeting.model import EntryKind, Language, Route

AT = datetime(2026, 11, 2, 5, 0, tzinfo=UTC)
LINK = "https://discord.com/channels/1/2/3"


def passage(cite: str, text: str) -> Passage:
    return Passage(
        cite, "entry", 1, 7, "価格会議", AT, "佐藤", text, LINK, status="confirmed", number=4,
        entry_kind=EntryKind.DECISION,
    )  # fmt: skip


PASSAGES = {
    "ja": (passage("1", "価格は980円にする"), passage("2", "出荷は5月12日にする")),
    "en": (passage("1", "The price is 980 yen"), passage("2", "We ship on 12 May")),
}


def chat_rules(language: Language) -> tuple[Rule, ...]:
    facts = RoomFacts(language, user_ids=frozenset({11}))
    return (*rules_for(Route.CHAT, facts), *citing_rules(PASSAGES[language], language, strict=False))


def parts(text: str) -> list[str]:
    """The text cut where sentences end, and its unfinished rest."""
    places = [0, *ends(text), len(text)]
    return [text[a:b].strip() for a, b in pairwise(places)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("価格は980円です。次に出荷です", ["価格は980円です。", "次に出荷です"]),
        ("価格は980円です。[1] 出荷は5月です。[2][3]\n次", ["価格は980円です。[1]", "出荷は5月です。[2][3]", "次"]),
        ("価格は980円[1]です。次", ["価格は980円[1]です。", "次"]),
        ("It is 980 yen. [1, 2] Next.", ["It is 980 yen. [1, 2]", "Next."]),
        ("It is 980 yen.[1] Next.", ["It is 980 yen.[1]", "Next."]),
        ("It is 980 yen [1]. Next.", ["It is 980 yen [1].", "Next."]),
        ("980円です。［１］次", ["980円です。［１］", "次"]),
        ("980円です。\n[1]\n次", ["980円です。\n[1]", "次"]),
        ("3.5 % is right. Then 4.", ["3.5 % is right.", "Then 4."]),
        ("3．5％です．次です", ["3．5％です．", "次です"]),
        ("Use e.g. Slack, i.e. Chat. Done", ["Use e.g. Slack, i.e. Chat.", "Done"]),
        ("Dr. Sato and J. Doe of Acme Inc. agree. Good", ["Dr. Sato and J. Doe of Acme Inc. agree.", "Good"]),
        ("See No. 5 there. No. I mean it. So", ["See No. 5 there.", "No.", "I mean it.", "So"]),
        ("It costs 5. We pay. Now", ["It costs 5.", "We pay.", "Now"]),
        ("Well... maybe not. Fine", ["Well... maybe not.", "Fine"]),
        ("See https://a.example/x?y=1.5!z for more. Then", ["See https://a.example/x?y=1.5!z for more.", "Then"]),
        ("https://a.example/?検索=1 です。次", ["https://a.example/?検索=1 です。", "次"]),
        ("Read [this one](https://a.example/b.c). Then", ["Read [this one](https://a.example/b.c).", "Then"]),
        ("Version 2.0.1 is out! Get it", ["Version 2.0.1 is out!", "Get it"]),
        ("1. First one\n2. Second one\n- third", ["1. First one", "2. Second one", "- third"]),
        ("案は三つです：\n- A案\n- B案\n", ["案は三つです：\n- A案", "- B案"]),
        ("Options:\n\n1. One\n\n2. Two\n\nx", ["Options:\n\n1. One", "2. Two", "x"]),
        ("「これでいい？」と聞きました。はい", ["「これでいい？」と聞きました。", "はい"]),
        ('He said "Stop. Now." and left. Then', ['He said "Stop. Now." and left.', "Then"]),
        ("いいですね（本当に。）では次へ。そう", ["いいですね（本当に。）では次へ。", "そう"]),
        ("**決定です。**次は", ["**決定です。**", "次は"]),
        ("決定です。**次**は", ["決定です。", "**次**は"]),
        ("すごい！？本当！次", ["すごい！？", "本当！", "次"]),
        ("OK! 次へ", ["OK!", "次へ"]),
        ("すごい!次へ", ["すごい!", "次へ"]),
        ("```\na. b\nc. d\n```\nDone", ["```\na. b\nc. d\n```", "Done"]),
        ("Run `a.b. c` now. Then", ["Run `a.b. c` now.", "Then"]),
    ],
)  # fmt: skip
def test_where_sentences_end(text: str, expected: list[str]) -> None:
    assert [part for part in parts(text) if part] == expected


@pytest.mark.parametrize(
    "text",
    [
        "価格は3.", "価格は980円です。", "価格は980円です。 ", "価格は980円です。[", "価格は980円です。[1",
        "価格は980円です。[1]", "価格は980円です。[1] [", "価格は980円です。\n", "It is done.", "It is done. ",
        "It is done. [1", "It is e.g. this",
        "Options:\n", "「はい。」", "```\na. b\n", "**決定です。次", "1. ", "A. B", "", "\n\n",
    ],
)  # fmt: skip
def test_what_may_still_go_on_has_no_end(text: str) -> None:
    assert list(ends(text)) == []


def test_from_an_end_on_it_goes_on_alike() -> None:
    text = "一つ目です。[1] 二つ目です。\n- 三つ目\n四つ目です。五"
    found = list(ends(text))
    assert len(found) == 4
    for n, end in enumerate(found):
        assert list(ends(text, end)) == found[n + 1 :]


# ------------------------------------------------------------------ the gate


def feed(gate: Gate, text: str, size: int = 1) -> list[str]:
    """Everything that became visible while `text` came in steps of `size` characters."""
    told = [gate.feed(text[:end]) for end in [*range(size, len(text), size), len(text)]]
    return [visible for visible in told if visible is not None]


@pytest.mark.parametrize(
    ("language", "text", "visible"),
    [
        ("ja", "こんにちは。価格は980円です。[1] @everyone に伝えます。そして", "こんにちは。価格は980円です。[1]"),
        ("en", "Hello. The price is 980 yen. [1] I told @everyone so. And", "Hello. The price is 980 yen. [1]"),
        ("ja", "価格は980円です。[1] 出荷は6月12日です。[2] そして", "価格は980円です。[1]"),
        ("en", "The price is 980 yen. [1] We ship on 12 June. [2] And", "The price is 980 yen. [1]"),
        ("ja", "こんにちは。価格は1,200円に決まりました。そして", "こんにちは。"),
        ("en", "Hello there. It was decided to charge 1,200 yen. And", "Hello there."),
        ("ja", "そうですね。[9] それから", ""),
        ("en", "Hello there. <@99> knows more. And", "Hello there."),
    ],
)  # fmt: skip
def test_what_breaks_a_must_is_never_seen_nor_what_follows(
    language: Language, text: str, visible: str
) -> None:
    gate = Gate(chat_rules(language), sanitise)
    told = feed(gate, text)
    assert gate.visible == visible
    assert told[-1:] == ([visible] if visible else [])
    assert gate.shut
    assert gate.feed(text + "。また普通の文です。次") is None


@pytest.mark.parametrize("language", ["ja", "en"])
def test_a_citation_is_seen_with_its_sentence_only(language: Language) -> None:
    text = {"ja": "価格は980円です。[1] ほかには", "en": "The price is 980 yen. [1] What else"}[language]
    told = feed(Gate(chat_rules(language), sanitise), text)
    assert told == [text[: text.index("]") + 1]]


NEEDS = Rule(
    "needs", Strength.MUST, Remedy.REPHRASE, lambda c: None if "開始" in c.text else "no", whole=True
)


def test_what_a_whole_text_needs_neither_blocks_nor_leaks() -> None:
    gate = Gate((NEEDS,), sanitise)
    assert feed(gate, "皆さん。お待たせしました。会議を開始します。では") == [
        "皆さん。お待たせしました。会議を開始します。"
    ]
    assert not gate.shut


def test_a_beginning_in_another_language_waits_for_the_rest() -> None:
    gate = Gate((in_language((), lexicon_of("ja")),), sanitise)
    assert (
        feed(gate, "Slack Teams Zoom Meet!\nこの中では、使い慣れたものを選ぶのが一番だと思います。次") != []
    )
    assert gate.visible.endswith("思います。")
    english = Gate((in_language((), lexicon_of("ja")),), sanitise)
    assert feed(english, "This is all written in another language. And it goes on like that. So") == []


def test_should_rules_hold_nothing_back() -> None:
    never = Rule("never", Strength.SHOULD, Remedy.REPHRASE, lambda c: "always")
    assert feed(Gate((never,), sanitise), "見えます。次") == ["見えます。"]


def test_a_rule_that_fails_itself_lets_nothing_through() -> None:
    def check(candidate: Candidate) -> str | None:
        raise RuntimeError(candidate.text)

    gate = Gate((Rule("broken", Strength.MUST, Remedy.REPHRASE, check),), sanitise)
    assert feed(gate, "見えません。次") == []
    assert gate.shut


def test_another_text_shuts_it() -> None:
    gate = Gate((), sanitise)
    assert gate.feed("一つ目です。二") == "一つ目です。"
    assert gate.feed("別の文です。次です。三") is None
    assert (gate.visible, gate.shut) == ("一つ目です。", True)


def test_what_is_seen_is_sanitised() -> None:
    gate = Gate((), sanitise)
    told = feed(gate, "📝 アシスタント：こん\u200bにちは。\n\n\n\n二つ目です。三")
    assert told == ["こんにちは。", "こんにちは。\n\n二つ目です。"]


def test_beyond_the_longest_text_nothing_is_read() -> None:
    gate = Gate((), sanitise)
    assert gate.feed("長い文です。" * (LONGEST // 6 + 2)) is None
    assert gate.shut


def test_the_limit_of_a_post_holds_while_streaming() -> None:
    gate = Gate((at_most(100, lexicon_of("ja")),), sanitise)
    feed(gate, "十二文字になる文です。" * 20, 7)
    assert 80 <= len(gate.visible) <= 100


FRAGMENTS = st.sampled_from(
    [
        "こんにちは。", "価格は980円です。", "[1]", "[2] ", "[9]", "[", "@everyone", "@here ", "<@11>", "<@99>", ". ",
        "。", "3.5", "\n", "決定しました。",
        "5月12日に", "出荷します。", "Hello there. ", "the price is 980 yen", "e.g. ",
        "「", "」", "：\n- ", "**", "`", "```", "\u200b", "https://a.example/x.y?z ", "佐藤さん", "#4 ",
        "discord.gg/x", "？", "! ", "\n\n\n\n", "📝 Assistant: ", "😀",
    ]
)  # fmt: skip
WRITTEN = st.lists(FRAGMENTS | st.text(max_size=6), max_size=25).map("".join)


@given(text=WRITTEN, size=st.integers(1, 40), language=st.sampled_from(["ja", "en"]))
def test_nothing_that_breaks_a_must_is_ever_visible_and_it_only_grows(
    text: str, size: int, language: Language
) -> None:
    rules = chat_rules(language)
    gate, before = Gate(rules, sanitise), ""
    for end in [*range(size, len(text), size), len(text)]:
        visible = gate.feed(text[:end])
        if visible is None:
            continue
        assert visible.startswith(before)
        assert visible != before
        broken = [
            rule.name for rule in rules if rule.strength is Strength.MUST and rule.check(Candidate(visible))
        ]
        assert not broken
        assert sanitise(text[:end]).startswith(visible)
        before = visible
    assert gate.visible == before


@given(text=WRITTEN, size=st.integers(1, 40))
def test_what_is_visible_does_not_hang_on_how_it_came(text: str, size: int) -> None:
    rules = (no_mass_mention(lexicon_of("ja")), no_foreign_mention((), lexicon_of("ja")))
    plain = Gate(rules, lambda raw: raw)
    feed(plain, text, size)
    at_once = Gate(rules, lambda raw: raw)
    at_once.feed(text)
    assert plain.visible == at_once.visible


@given(text=WRITTEN)
def test_ends_grow_with_the_text(text: str) -> None:
    found = list(ends(text))
    assert found == sorted(set(found))
    for end in range(len(text)):
        assert list(ends(text[:end])) == [e for e in found if e <= end][: len(list(ends(text[:end])))]


FREE_TALK = {
    "ja": [
        "議題は一行にまとめると話しやすくなります。",
        "会議を始めるには `/meeting start` を使います。",
        "決定は「決定：」と書くと記録されます。",
        "明日の会議の準備ですね。",
        "案を二つか三つに絞ってから、良い点と悪い点を並べてみましょう。",
        "アジェンダの例：\n- 現状の確認\n- 課題の洗い出し\n- 次の一歩",
        "会議の前に目的を共有しておくと、議論が短くなります。",
    ],
    "en": [
        "How can I help?",
        "Start with the goal, then list the options.",
        "Write `Decision:` in front of a decision and it is recorded.",
        "An agenda could be:\n- Where we stand\n- Options\n- Next steps",
        "Good luck with your meeting tomorrow!",
        "It depends on what your team needs.",
        "Share the agenda before the meeting so that people can prepare.",
        "A good decision names its owner and its date.",
    ],
}
LIKE_THE_RECORD = {
    "ja": [
        "価格は980円に決まりました。",
        "佐藤さんが担当します。",
        "前回の会議で合意しています。",
        "#4にあります。",
    ],
    "en": [
        "It was decided to ship it.",
        "Sato is in charge of it.",
        "Your team plans to launch soon.",
        "See #4 for that.",
    ],
}


@pytest.mark.parametrize("language", ["ja", "en"])
def test_talk_is_free_as_long_as_it_does_not_sound_like_the_record(language: Language) -> None:
    rules = chat_rules(language)
    for text in FREE_TALK[language]:
        assert [rule.name for rule in rules if rule.check(Candidate(text))] == [], text
    for text in LIKE_THE_RECORD[language]:
        assert [rule.name for rule in rules if rule.check(Candidate(text))] == ["cites_each"], text

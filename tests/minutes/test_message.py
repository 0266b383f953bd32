"""The one message: valid whatever the ledger holds, and complete in its file."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.meeting.display import units, visible
from bot.meeting.model import LANGUAGES, EntryKind, Language, LedgerView, Persona
from bot.minutes.coverage import covers
from bot.minutes.document import How, MinutesProse, document
from bot.minutes.message import erratum, marker, minutes_outgoing
from bot.minutes.render import render
from bot.stage import Outgoing
from tests.minutes.made import NASTY, PEOPLE, START, Ledger, decisions, link, meeting, say


def posted(
    ledger: LedgerView,
    language: Language,
    summary: str = "まとめ",
    title: str = "価格会議",
    models: tuple[str, ...] = (),
) -> Outgoing:
    room = meeting(title=title, language=language)
    doc = document(room, ledger, PEOPLE, MinutesProse(summary), How(models=models), link)
    text = render(doc, language, say(language))
    assert covers(doc, text) == []
    return minutes_outgoing(doc, text, room, say(language), language)


def assert_valid(post: Outgoing) -> None:
    assert 0 < units(post.text) <= 1900
    assert 0 < len(post.embeds) <= 10
    for embed in post.embeds:
        assert 0 < units(embed.description) <= 4096
        assert 0 < units(embed.title) <= 256
        assert embed.description.strip()
        assert units(embed.footer) <= 2048
    assert sum(units(e.title) + units(e.description) + units(e.footer) for e in post.embeds) <= 6000
    assert sum(len(file.content) for file in post.files) < 10 * 2**20


def counted(post: Outgoing, total: int) -> None:
    """Entries shown and entries counted are all there are."""
    body = post.embeds[1].description
    shown = len(re.findall(r"^\[?\*\*#\d+\*\*", body, re.MULTILINE))
    left_out = re.search(r"…ほか(\d+)件は minutes\.md に|…(\d+) more in minutes\.md", body)
    assert shown + (int(left_out.group(1) or left_out.group(2)) if left_out else 0) == total


@pytest.mark.parametrize("language", LANGUAGES)
def test_120_decisions_and_a_1900_character_one(language: Language) -> None:
    texts = [f"第{n}号: 予算は{n}万円までとし、{n}日以内に見直す" for n in range(119)]
    ledger = decisions([*texts, "長" * 1899 + "。"])
    post = posted(ledger, language)
    assert_valid(post)
    counted(post, 120)
    file = post.files[0]
    assert file.name == "minutes.md"
    whole = file.content.decode("utf-8")
    for text in [*texts, "長" * 1899 + "。"]:
        assert text in whole


@pytest.mark.parametrize("language", LANGUAGES)
def test_markdown_links_mentions_emoji_and_right_to_left_text(language: Language) -> None:
    post = posted(decisions(NASTY), language, title="**題** @everyone <@1>" + "題" * 300)
    assert_valid(post)
    counted(post, len(NASTY))
    assert "@everyone" not in post.text
    whole = post.files[0].content.decode("utf-8")
    for text in NASTY:
        assert visible(text) in whole


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["decision", "question", "action", "proposal", "constraint"]),
            st.sampled_from(NASTY) | st.text("😀漢a*`_ ", min_size=1, max_size=1900),
        ),
        max_size=60,
    ),
    st.text("😀漢a*[<`\n", max_size=6000),
    st.sampled_from(LANGUAGES),
)
def test_any_ledger_makes_one_valid_message(
    entries: list[tuple[str, str]], summary: str, language: Language
) -> None:
    ledger = Ledger()
    for kind, text in entries:
        ledger.add(EntryKind(kind), text, owner=text if kind == "action" else None)
    assert_valid(posted(ledger.view, language, summary))


def test_a_small_meeting_links_every_entry_and_carries_the_marker_once() -> None:
    ledger = Ledger()
    ledger.add(EntryKind.DECISION, "五月に出す")
    ledger.add(EntryKind.DECISION, "広告は出さない", value=-1.0)
    ledger.add(EntryKind.ACTION, "見積を出す", owner="佐藤", due="来週の金曜")
    post = posted(ledger.view, "ja")
    assert post.persona is Persona.ASSISTANT
    assert post.text == "**価格会議** の議事録です。決定事項2件、未決事項0件、宿題1件。"
    assert [embed.title for embed in post.embeds] == ["概要", "決定事項", "未決事項", "宿題"]
    assert f"[**#1**]({link(1001)}) 五月に出す ✅" in post.embeds[1].description
    assert "【否決】" in post.embeds[1].description
    assert "佐藤・期限 来週の金曜" in post.embeds[3].description
    assert [embed.footer for embed in post.embeds] == ["", "", "", marker(42)]
    assert marker(42) == "ketsugi minutes 42"


def test_the_same_minutes_are_the_same_bytes() -> None:
    assert posted(decisions(NASTY), "ja") == posted(decisions(NASTY), "ja")


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_erratum_is_numbered_and_whole(language: Language) -> None:
    at = START + timedelta(hours=2)
    post = erratum(2, "五月ではなく **六月**", "@everyone", at, language, meeting_id=42)
    assert_valid(post)
    assert "2" in post.embeds[0].title
    assert post.embeds[0].description == "`五月ではなく **六月**`"
    assert "＠everyone" in post.text
    assert f"<t:{int(at.timestamp())}:f>" in post.text
    assert post.embeds[0].footer == "ketsugi erratum 42 2"
    long = erratum(3, "訂" * 3999 + "*", "佐藤", at, language)
    assert_valid(long)
    assert ("訂" * 3999 + "*") in long.files[0].content.decode("utf-8")


def test_a_summary_that_no_model_wrote_is_left_to_the_file() -> None:
    ledger = Ledger()
    ledger.add(EntryKind.DECISION, "価格は980円とする")
    titles = [
        [e.title for e in posted(ledger.view, "ja", models=m).embeds] for m in (("offline (1)",), ("gemini",))
    ]
    assert "概要" not in titles[0]
    assert "概要" in titles[1]
    assert "まとめ" in posted(ledger.view, "ja", models=("offline (1)",)).files[0].content.decode()


def test_an_action_names_its_owner_once_and_its_day_as_people_write_it() -> None:
    ledger = Ledger()
    ledger.add(EntryKind.ACTION, "佐藤 見積を出す", owner="佐藤", due="2026-08-10")
    ledger.add(EntryKind.ACTION, "Tom books the movers", owner="Tom")
    body = posted(ledger.view, "ja").embeds[3].description
    assert "見積を出す — 佐藤・期限 8月10日（月）" in body
    assert "佐藤 見積" not in body
    assert "Tom books the movers — Tom" in body

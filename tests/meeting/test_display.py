"""Text of people, shown again."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.meeting.display import (
    brief,
    display,
    fit,
    literal,
    one_line,
    share_out,
    shorten,
    task,
    units,
    visible,
)
from tests.minutes.made import NASTY

ANY = st.text(st.characters(codec="utf-8"), max_size=300) | st.text(
    "ab_*`~|<>@#[](){}\\$&; \n-+=\u202e\u200b漢😀"
)


def shown(markdown: str) -> str:
    """What a reader sees of `literal`'s output by CommonMark's rules for code spans and fences."""
    fence = re.fullmatch(r"(`{3,})\n(.*)\n\1", markdown, re.DOTALL)
    if fence:
        return fence.group(2)
    span = re.fullmatch(r"(`+)(?!`)(.*?[^`])\1(?!`)", markdown, re.DOTALL)
    if not span:
        return markdown
    inner = span.group(2)
    return inner[1:-1] if inner[0] == inner[-1] == " " and inner.strip() else inner


@given(ANY)
def test_a_literal_text_shows_every_visible_character(text: str) -> None:
    assert visible(text) in literal(text)
    assert shown(literal(text)) == visible(text)


@given(ANY)
def test_a_fence_or_span_is_never_closed_by_its_own_text(text: str) -> None:
    rendered = literal(text)
    if rendered.startswith("`") and rendered != visible(text):
        ticks = re.match("`+", rendered).group()  # type: ignore[union-attr]
        assert ticks not in visible(text)


@pytest.mark.parametrize("text", NASTY)
def test_markup_never_stands_bare(text: str) -> None:
    plain = (
        "https://example.com/a_b_c*d?x=[1] を使う",
        "السعر ١٠ دولارات ولا أكثر (max 10)",
        "👨‍👩‍👧 と 🏳️‍🌈 で決める 👍🏽",
    )
    free = text.startswith("=cmd") or text in plain
    assert (literal(text) == text) is free


@pytest.mark.parametrize(
    "text", ["price is 5", "snake_case_name stays", "10~12時", "a < b", "5 > 3", "#12 を採る", "50%"]
)
def test_ordinary_text_is_left_as_it_is(text: str) -> None:
    assert literal(text) == text


def test_invisible_characters_go_and_joined_emoji_stay() -> None:
    assert visible("a\u202eb\u200bc\u2066d\U000e0041") == "abcd"
    assert visible("👨\u200d👩\u200d👧") == "👨\u200d👩\u200d👧"
    assert visible("a\u200db") == "ab"
    assert visible("\ud83d half").encode() == "\ufffd half".encode()


@given(ANY)
def test_a_name_can_mention_nobody_and_stays_one_line(name: str) -> None:
    line = display(name)
    assert line
    assert "\n" not in line
    assert "@" not in line
    assert "<" not in line
    assert not re.search(r"(?<!\\)(?:\\\\)*[*`|~\[\]]", line)


def test_names_are_readable() -> None:
    assert display("@everyone") == "＠everyone"
    assert display("taro_yamada") == "taro_yamada"
    assert display("*star*") == r"\*star\*"
    assert display("\u202e ") == "?"


@given(ANY, st.integers(10, 60))
def test_shortening_keeps_the_end_and_says_so(text: str, limit: int) -> None:
    line = one_line(text)
    short = shorten(line, limit)
    assert len(short) <= limit
    if short != line:
        assert " … " in short
        assert line.endswith(short.rpartition("… ")[2])
    assert "\n" not in brief(text, limit)


@given(st.lists(st.text("ab😀", max_size=30), max_size=30), st.integers(0, 400), st.booleans())
def test_what_does_not_fit_is_counted(lines: list[str], budget: int, newest: bool) -> None:
    kept = fit(lines, budget, lambda count: f"+{count}", newest=newest)
    assert sum(units(line) + 1 for line in kept) <= budget
    if kept != lines and kept:
        count = int(kept[0 if newest else -1])
        whole = kept[1:] if newest else kept[:-1]
        assert count + len(whole) == len(lines)
        assert whole == (lines[len(lines) - len(whole) :] if newest else lines[: len(whole)])
    elif kept != lines:
        assert budget < len(f"+{len(lines)}") + 1


@given(st.lists(st.integers(0, 5000), max_size=8), st.integers(0, 6000))
def test_a_budget_is_shared_fairly(wanted: list[int], total: int) -> None:
    given_ = share_out(wanted, total)
    assert sum(given_) <= total
    assert all(got <= want for got, want in zip(given_, wanted, strict=True))
    if sum(wanted) <= total:
        assert given_ == wanted
    else:
        assert sum(given_) >= total - len(wanted)


def test_units_are_utf16() -> None:
    assert units("a漢😀") == len("a漢😀".encode("utf-16-le")) // 2


@pytest.mark.parametrize(
    ("text", "owner", "left"),
    [
        ("田中 見積を出す", "田中", "見積を出す"),
        ("田中さん、見積を出す", "田中", "見積を出す"),
        ("田中：見積を出す", "田中", "見積を出す"),
        ("田中が見積を出す", "田中", "田中が見積を出す"),
        ("田中 見積を出す", "佐藤", "田中 見積を出す"),
        ("田中 見積を出す", None, "田中 見積を出す"),
        ("Tom books the movers", "Tom", "Tom books the movers"),
        ("田中", "田中", "田中"),
    ],
)
def test_an_action_loses_the_tag_that_names_its_owner_and_nothing_else(
    text: str, owner: str | None, left: str
) -> None:
    assert task(text, owner) == left

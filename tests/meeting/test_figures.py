"""Figures are told whatever the notation, and a record that holds one in another notation supports it."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.meeting.figures import Figure, figures, unsupported
from bot.meeting.names import entry_numbers, named, people, unknown_names


def sure(text: str) -> list[tuple[float, str]]:
    return [(f.value, f.unit) for f in figures(text) if f.sure]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("twenty-five minutes", 25, "min"),
        ("２５分", 25, "min"),
        ("十五分", 15, "min"),
        ("25-minute", 25, "min"),
        ("1時間半", 90, "min"),
        ("two and a half hours", 150, "min"),
        ("半日", 720, "min"),
        ("half an hour", 30, "min"),
        ("3 days", 4320, "min"),
        ("2週間", 20160, "min"),
        ("6ヶ月", 6, "month"),
        ("two years", 24, "month"),
        ("三つ", 3, ""),
        ("二百五十", 250, ""),
        ("a dozen", 12, ""),
        ("a hundred and fifty people", 150, "人"),
        ("3人", 3, "人"),
        ("一人", 1, "人"),
        ("五名", 5, "人"),
        ("50%", 50, "%"),
        ("50パーセント", 50, "%"),
        ("５ﾊﾟｰｾﾝﾄ", 5, "%"),
        ("五割", 50, "%"),
        ("三分の一", pytest.approx(33.333333), "%"),
        ("1,200円", 1200, "円"),
        ("¥500,000", 500000, "円"),
        ("50万円", 500000, "円"),
        ("1億2000万円", 120000000, "円"),
        ("$1.5 million", 1500000, "$"),
        ("12.50 Euro", 12.5, "€"),
        ("500k", 500000, ""),
        ("3月5日", 305, "date"),
        ("三月五日", 305, "date"),
        ("March 5", 305, "date"),
        ("5th of March", 305, "date"),
        ("3/5", 305, "date"),
        ("来週の金曜", 4, "weekday"),
        ("（金）", 4, "weekday"),
        ("by Friday", 4, "weekday"),
        ("in December", 12, "monthname"),
        ("not before May", 5, "monthname"),
        ("15:00", 900, "time"),
        ("午後三時", 900, "time"),
        ("3pm", 900, "time"),
        ("3時半", 210, "time"),
        ("2026年", 2026, "year"),
        ("RFC3986", 3986, ""),
        ("version 1.2.3", 123, ""),
    ],
)
def test_one_figure_is_read(text: str, value: float, unit: str) -> None:
    assert sure(text) == [(value, unit)]


@pytest.mark.parametrize(
    "text",
    [
        "数人が来た",
        "a few people",
        "I am the one who asked",
        "wait a second",
        "first of all",
        "もう一つの案",
        "一部だけ、一旦、一緒に、統一する",
        "それで十分です",
        "担当を決める",
        "may we march on",
        "決定3と#4を見る",
        "see decision 3 and D4",
        "https://example.org/2026/10/11?x=5",
        "<@123456789012345678> <t:1700000000:R> <#42>",
        "1. intro\n2) outlook",
        "万一に備える",
    ],
)
def test_what_only_looks_like_a_figure_accuses_nobody(text: str) -> None:
    assert sure(text) == []


def test_a_date_with_its_year_is_two_figures() -> None:
    assert sure("2026-03-05") == [(305, "date"), (2026, "year")]


@pytest.mark.parametrize("text", ["3〜5日", "3-5 days", "3 to 5 days", "3、5日", "３～５日間"])
def test_the_unit_of_a_range_holds_for_both_ends(text: str) -> None:
    assert sure(text) == [(3 * 1440, "min"), (5 * 1440, "min")]


def test_spans_lead_back_to_the_text_as_written() -> None:
    text = "予算は５０万円、締め切りは１２月１０日。"
    assert [text[slice(*f.span)] for f in figures(text)] == ["５０万円", "１２月１０日"]


@pytest.mark.parametrize(
    ("text", "record", "missing"),
    [
        ("The costs cannot exceed 12.50 Euro", ["so twelve fifty Euros is what it may cost"], []),
        ("25 minutes", ["this takes the next twenty five minutes"], []),
        ("15分で終える", ["十五分で"], []),
        ("15分で終える", ["5分で", "115分で"], ["15分"]),
        ("5時間かかる", ["5分かかる"], ["5時間"]),
        ("1 hour", ["60 minutes"], []),
        ("the limit is 30", ["30 people at most"], []),
        ("30 people", ["the limit is 30"], []),
        ("参加者は12人", ["参加者は十人"], ["12人"]),
        ("at 15:00", ["we meet at 3 o'clock"], []),
        ("at 3am", ["we meet at 15:00"], ["3am"]),
        ("in December", ["on December 12"], []),
        ("on December 12", ["in December"], ["December 12"]),
        ("12日まで", ["12月12日まで"], []),
        ("by Friday", ["by Thursday"], ["Friday"]),
        ("two proposals", ["both were proposed"], []),
        ("half of it", ["nobody said a figure"], []),
    ],
)
def test_figures_are_held_to_the_record(text: str, record: list[str], missing: list[str]) -> None:
    assert unsupported(text, record) == missing


def test_what_is_allowed_needs_no_record() -> None:
    assert unsupported("3 decisions on 2026-12-10", [], [3, date(2026, 12, 10), 2026]) == []
    assert unsupported("４人", [], [Figure(4, "人", (0, 0), "4", 4)]) == []
    assert unsupported("４人", [], [5]) == ["４人"]


@given(st.integers(0, 99_999_999))
def test_a_number_is_one_figure_in_every_notation(number: int) -> None:
    wide = str(number).translate({ord("0") + i: ord("０") + i for i in range(10)})
    assert unsupported(f"合計{number}円", [f"合計{number:,}円", "別の話"]) == []
    assert unsupported(f"合計{wide}円", [f"{number} yen"]) == []
    assert unsupported(f"合計{number + 1}円", [f"{number}円"]) == [f"{number + 1}円"]


@given(st.text(max_size=80))
def test_any_text_is_supported_by_itself(text: str) -> None:
    assert unsupported(text, [text]) == []


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("決定3と #4", [3, 4]),
        ("D3, decision 12, Proposal 2", [3, 12, 2]),
        ("決定３", [3]),
        ("決定3件を確認", []),
        ("3 decisions", []),
        ("<#123456789012345678>", []),
        ("論点 7は未決", [7]),
    ],
)
def test_entry_numbers(text: str, numbers: list[int]) -> None:
    assert entry_numbers(text) == numbers


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("山本さんが反対した", ["山本"]),
        ("佐藤さんが賛成した", []),
        ("高橋が担当する", ["高橋"]),
        ("担当は田中です", []),
        ("Yamada-san will check", ["Yamada"]),
        ("Sato will check", []),
        ("ask Suzuki about it", ["Suzuki"]),
        ("@Ito please", ["Ito"]),
        ("皆さんお疲れさまでした", []),
        ("画面の仕様と各氏の意見、諸君、皆様、お客様、同様に", []),
        ("デザイナーさんと業者さんに頼む", []),
        ("山本様と高橋氏に送る", ["山本", "高橋"]),
        ("The remote will be yellow. Marketing will decide.", []),
        ("Teletext will be used, Costs would rise", []),
    ],
)
def test_unknown_names(text: str, unknown: list[str]) -> None:
    assert unknown_names(text, ["佐藤", "田中 一郎", "Sato"], ["nothing of note"]) == unknown


def test_a_name_that_somebody_said_is_known() -> None:
    assert unknown_names("山本さんに聞く", ["佐藤"], ["山本さんは来週から"]) == []
    assert unknown_names("明日山本さんに聞く", ["佐藤"], ["山本さんは来週から"]) == []
    assert unknown_names("明日田中さんに聞く", ["佐藤"], ["山本さんは来週から"]) == ["明日田中"]


def test_named_finds_known_names_once_and_whole() -> None:
    assert named("Sato and Satoshi agree", ["Sato", "Satoshi"]) == ["Satoshi", "Sato"]
    assert named("Satoshi agrees", ["Sato", "Satoshi"]) == ["Satoshi"]
    assert people("特になし") == []

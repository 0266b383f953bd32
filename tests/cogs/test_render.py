"""What people enter as agenda and constraints."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import BadInput
from cogs._render import lines


@pytest.mark.parametrize(
    ("entered", "items"),
    [
        ("価格;納期； 担当", ("価格", "納期", "担当")),
        ("- 価格; 税込\n- 納期", ("価格; 税込", "納期")),
        ("1. 価格\n２．納期\n(3) 担当\n④ 次回\n・雑談", ("価格", "納期", "担当", "次回", "雑談")),
        ("\n\n 価格 \n\n", ("価格",)),
        ("価格;\n", ("価格",)),
        ("", ()),
        (None, ()),
        (" ;；\n", ()),
        ("1:", ()),
        ("価\u200b格\u202e", ("価格",)),
    ],
)
def test_items(entered: str | None, items: tuple[str, ...]) -> None:
    assert lines(entered) == items


@pytest.mark.parametrize(
    "item",
    [
        "-5℃以下で保管",
        "3.5%以内",
        "10:30 開始",
        "3：2で分ける",
        "2026年の計画",
        "5月以降",
        "1、2案の比較",
        "+1は不可",
    ],
)
def test_figures_at_the_beginning_are_no_bullets(item: str) -> None:
    assert lines(f"{item};x")[0] == item
    assert lines(f"- {item}\nx")[0] == item


def test_limits_say_what_is_too_much() -> None:
    assert len(lines(";".join(["x"] * 20))) == 20
    assert len(lines("あ" * 200)[0]) == 200
    with pytest.raises(BadInput) as many:
        lines(";".join(["x"] * 21))
    assert many.value.values == {"count": 21, "most": 20}
    with pytest.raises(BadInput) as long:
        lines("あ" * 201)
    assert long.value.values == {"start": "あ" * 30, "length": 201, "longest": 200}


@given(st.lists(st.text(alphabet="あa1-. ", min_size=1, max_size=20), max_size=15))
def test_what_was_taken_once_is_taken_again(items: list[str]) -> None:
    taken = lines("\n".join([*items, "終わり"]))
    assert all(item == item.strip() and item for item in taken)
    assert taken[-1] == "終わり"

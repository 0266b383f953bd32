"""What is taken off a model's text before anything judges it."""

from __future__ import annotations

import pytest

from bot.guard.sanitise import sanitise


@pytest.mark.parametrize(
    ("written", "clean"),
    [
        ("~~We ship on Monday~~ [1].", "We ship on Monday [1]."),
        ("||公開は月曜です|| [1]。", "公開は月曜です [1]。"),
        ("~~一行目\n二行目~~", "一行目\n二行目"),
        ("a ~~b~~ c ~~d~~", "a b c d"),
        ("~\u200b~We ship~\u200b~", "We ship"),
        ("3 ~~ 5 people", "3 ~~ 5 people"),
        ("about ~3 days, ~5 people", "about ~3 days, ~5 people"),
        ("a || b", "a || b"),
    ],
)
def test_nothing_is_struck_out_or_hidden(written: str, clean: str) -> None:
    assert sanitise(written) == clean

"""A prompt is as large at message 2,000 as at message 50, apart from its ledger."""

from __future__ import annotations

import pytest

from bot.evaluation import sizes
from bot.meeting.model import LANGUAGES, Language


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_stays_flat_while_the_whole_history_grows(language: Language) -> None:
    measured = sizes.measure(language, 1_000)
    rest = [point.product - point.ledger for point in measured.points]
    assert [point.at for point in measured.points] == [50, 100, 200, 500, 1_000]
    assert max(rest) - min(rest) <= 0.02 * min(rest)  # which messages stand in the window differs a little
    assert measured.points[-1].ledger > measured.points[0].ledger
    assert measured.points[-1].whole > 10 * measured.points[0].whole
    assert measured.whole > 5 * measured.product


def test_short_messages_fill_the_window_later() -> None:
    short = sizes.measure("en", 100, 1)
    assert short.points[0].product < short.points[1].product

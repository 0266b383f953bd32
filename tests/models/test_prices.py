"""Cost as SPEC 7 counts it."""

from __future__ import annotations

import pytest

from bot.models.base import Usage
from bot.models.prices import cost

USAGE = Usage(tokens_in=1_000_000, tokens_cached=400_000, tokens_out=100_000)


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "gemini-2.5-flash-001"])
def test_fresh_cached_and_written_tokens_have_their_own_price(model: str) -> None:
    assert cost(USAGE, model) == pytest.approx(0.6 * 0.30 + 0.4 * 0.03 + 0.1 * 2.50)


def test_a_name_is_not_taken_for_a_shorter_one() -> None:
    assert cost(USAGE, "gemini-2.5-flash-lite") == pytest.approx(0.6 * 0.10 + 0.4 * 0.01 + 0.1 * 0.40)
    assert cost(USAGE, "gemini-2.5-flash-image") is None


def test_an_unknown_model_has_no_cost_and_the_offline_engine_none_to_pay() -> None:
    assert cost(USAGE, "gemini-9") is None
    assert cost(USAGE, "offline") == 0.0


def test_more_cached_than_sent_is_not_paid_back() -> None:
    assert cost(Usage(10, 20, 0), "offline") == 0.0
    told = cost(Usage(10, 20, 0), "gemini-2.5-flash")
    assert told is not None
    assert told > 0

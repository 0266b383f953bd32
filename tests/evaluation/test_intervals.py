"""Intervals of clustered rates: known values, bounds, and how often they hold the truth."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evaluation.intervals import Rate, clustered, difference, effective, quantile, wilson

CLUSTERS = st.lists(
    st.integers(1, 20).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=30
)


def test_wilson_gives_the_published_values() -> None:
    # Newcombe 1998, table I: 81/263, 15/148, 0/20, 1/29 (score method without continuity correction).
    for fired, n, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        assert wilson(fired / n, n) == pytest.approx((low, high), abs=5e-5)


def test_nothing_seen_leaves_everything_possible() -> None:
    rate = clustered([])
    assert (rate.n, rate.low, rate.high) == (0, 0.0, 1.0)
    assert math.isnan(rate.value)


def test_runs_that_always_agree_count_as_one_each() -> None:
    assert effective([(10, 10), (0, 10), (10, 10), (0, 10)]) == 4
    assert effective([(0, 10)] * 6) == 6  # all at zero: no variance to estimate, the careful reading
    assert effective([(3, 10)]) == 1  # one scenario tells nothing of others


def test_runs_that_vary_as_much_within_as_between_count_in_full() -> None:
    assert effective([(5, 10)] * 4) == 40


def test_the_formula_by_hand() -> None:
    # p = 12/30; v = 3/2 * ((6-4)^2 + (4-4)^2 + (2-4)^2) / 900 = 12/900; alone = 0.24/30; deff = 5/3.
    assert effective([(6, 10), (4, 10), (2, 10)]) == pytest.approx(30 / (5 / 3))


@given(CLUSTERS)
def test_the_interval_holds_the_rate_and_never_claims_more_than_was_seen(
    counts: list[tuple[int, int]],
) -> None:
    rate = clustered(counts)
    assert 0 <= rate.low <= rate.value + 1e-12
    assert rate.value - 1e-12 <= rate.high <= 1
    assert min(len(counts), rate.n) <= rate.n_eff <= rate.n
    alone = wilson(rate.value, rate.n)
    assert rate.low <= alone[0] + 1e-12
    assert rate.high >= alone[1] - 1e-12


@pytest.mark.parametrize("together", [0.0, 0.3, 1.0])
def test_it_holds_the_truth_about_as_often_as_it_says(together: float) -> None:
    """20 scenarios of 10 runs; with chance `together` a run copies its scenario's own first outcome."""
    seed = 20260901
    print(f"seed {seed}")
    rng = random.Random(seed)
    truth, rounds, held, naive = 0.3, 1500, 0, 0
    for _ in range(rounds):
        counts = []
        for _ in range(20):
            first = rng.random() < truth
            counts.append(
                (sum(first if rng.random() < together else rng.random() < truth for _ in range(10)), 10)
            )
        rate = clustered(counts)
        held += rate.low <= truth <= rate.high
        low, high = wilson(rate.value, rate.n)
        naive += low <= truth <= high
    assert held / rounds >= 0.92
    if together == 1.0:  # what leaving the clusters out would claim
        assert naive / rounds < 0.6


def test_the_difference_of_two_rates() -> None:
    # Newcombe 1998 (differences), method 10: 56/70 - 48/80 = 0.2000, interval 0.0524 to 0.3339.
    one = Rate(48, 80, 80, 80, *wilson(48 / 80, 80))
    other = Rate(56, 70, 70, 70, *wilson(56 / 70, 70))
    found = difference(one, other)
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    assert found.clear
    assert difference(one, clustered([])) is None
    same = difference(one, one)
    assert same is not None
    assert not same.clear


def test_quantiles_interpolate() -> None:
    assert quantile([4, 1, 3, 2], 0.5) == 2.5
    assert quantile([1, 2, 3, 4, 5], 0.95) == pytest.approx(4.8)
    assert math.isnan(quantile([], 0.5))

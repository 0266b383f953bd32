"""Intervals for rates whose observations come in clusters: several runs of one scenario are no independent
sample.

Wilson's score interval over the *effective* number of observations (Kish; Korn and Graubard 1998):

    p     = sum k_i / sum n_i                            k_i of n_i runs of scenario i fired
    v     = m / (m - 1) * sum (k_i - p * n_i)^2 / n^2    variance of p between m scenarios
    deff  = v / (p * (1 - p) / n)                        design effect
    n_eff = n / deff, held between m and n

Where all scenarios agree at 0 or 1, or where there is only one, the variance between them cannot be
estimated; n_eff is then m, the most careful reading: runs of one scenario may be copies of each other.

Differences of two rates: Newcombe's hybrid of both Wilson intervals (1998, method 10).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

Z95 = 1.959963984540054  # two-sided 95%


@dataclass(frozen=True, slots=True)
class Rate:
    """`fired` of `n` observations in `clusters` scenarios; `low` and `high` bound the rate, all in 0..1."""

    fired: int
    n: int
    clusters: int
    n_eff: float
    low: float
    high: float

    @property
    def value(self) -> float:
        """The share itself; nan without observations."""
        return self.fired / self.n if self.n else math.nan


def wilson(p: float, n: float, z: float = Z95) -> tuple[float, float]:
    """Wilson's score interval of a share `p` seen in `n` (possibly fractional) observations; (0, 1) for
    none."""
    if n <= 0:
        return 0.0, 1.0
    centre = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


def effective(counts: Iterable[tuple[int, int]]) -> float:
    """n_eff of clusters given as (fired, n); clusters without observations do not count."""
    clusters = [(k, n) for k, n in counts if n > 0]
    m, total = len(clusters), sum(n for _, n in clusters)
    if m < 2:
        return float(m)
    p = sum(k for k, _ in clusters) / total
    if p in (0.0, 1.0):
        return float(m)
    between = m / (m - 1) * sum((k - p * n) ** 2 for k, n in clusters) / total**2
    alone = p * (1 - p) / total
    # Never more than the observations, whatever chance made of the variance; never less than the scenarios.
    return float(min(total, max(m, total * alone / between))) if between > 0 else float(total)


def clustered(counts: Iterable[tuple[int, int]], z: float = Z95) -> Rate:
    """The rate over clusters given as (fired, n), with its interval."""
    clusters = [(k, n) for k, n in counts if n > 0]
    fired, total = sum(k for k, _ in clusters), sum(n for _, n in clusters)
    size = effective(clusters)
    low, high = wilson(fired / total if total else 0.0, size, z)
    return Rate(fired, total, len(clusters), size, low, high)


@dataclass(frozen=True, slots=True)
class Difference:
    """`after` minus `before`, both as shares; `low` and `high` bound it."""

    value: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0


def difference(before: Rate, after: Rate) -> Difference | None:
    """How far two rates lie apart; None where one of them has no observations.

    Both are taken as independent. Files made with the same scenarios are positively correlated, which makes
    the interval wider than need be, never narrower.
    """
    if not before.n or not after.n:
        return None
    gap = after.value - before.value
    low = gap - math.hypot(after.value - after.low, before.high - before.value)
    high = gap + math.hypot(after.high - after.value, before.value - before.low)
    return Difference(gap, max(-1.0, low), min(1.0, high))


def quantile(values: Iterable[float], share: float) -> float:
    """The value below which `share` (0..1) of the values lie, interpolated; nan for none."""
    ordered = sorted(values)
    if not ordered:
        return math.nan
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)

"""What a call cost, by the table in data/prices.toml, which whoever runs the bot keeps up to date."""

from __future__ import annotations

import tomllib
from functools import cache

from bot.models.base import Usage
from bot.phrases import DATA

_PER = 1_000_000


def cost(usage: Usage, model: str) -> float | None:
    """US dollars: (prompt - cached) x in + cached x cache + (candidates + thoughts) x out; None for a model
    without a price. The longest name in the table that the model's name begins with counts, so that
    "gemini-2.5-flash-001" finds "gemini-2.5-flash"."""
    known = [name for name in _table() if model == name or model.startswith(f"{name}-0")]
    if not known:
        return None
    price = _table()[max(known, key=len)]
    fresh = max(0, usage.tokens_in - usage.tokens_cached)
    total = fresh * price["in"] + usage.tokens_cached * price["cached"] + usage.tokens_out * price["out"]
    return total / _PER


def at_most(usage: Usage) -> float:
    """What it would cost by the dearest price of the table: for answers of a version that names no listed model."""
    return max(cost(usage, name) or 0.0 for name in _table())


@cache
def _table() -> dict[str, dict[str, float]]:
    given = tomllib.loads((DATA / "prices.toml").read_text(encoding="utf-8"))
    return {model: {key: float(value) for key, value in row.items()} for model, row in given.items()}

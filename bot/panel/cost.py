"""What a panel has cost so far, by model, as board, closing post and minutes name it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot import phrases
from bot.facilitation.policy import FREE, price_of
from bot.meeting.model import Language
from bot.models.base import Usage
from bot.store.generations import ModelUsage


@dataclass(frozen=True, slots=True)
class Bill:
    """`models` were asked; offline alone costs nothing. `dollars` by data/prices.toml, the dearest price there
    where a model has none of its own."""

    models: tuple[str, ...]
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    dollars: float


def of(used: Sequence[tuple[str, ModelUsage]]) -> Bill:
    """`used`: pairs of the model asked for and what one returned version of it took."""
    dollars = sum(
        price_of(Usage(u.tokens_in, u.tokens_cached, u.tokens_out), u.version, model)
        for model, u in used
        if u.tokens_in or u.tokens_out
    )
    return Bill(
        models=tuple(sorted({u.version or model for model, u in used})) or (FREE,),
        tokens_in=sum(u.tokens_in for _, u in used),
        tokens_cached=sum(u.tokens_cached for _, u in used),
        tokens_out=sum(u.tokens_out for _, u in used),
        dollars=dollars,
    )


def line(used: Sequence[tuple[str, ModelUsage]], language: Language) -> str:
    """One line for people: model, tokens in and out, US dollars."""
    bill = of(used)
    return phrases.t(
        "panel.bill",
        language,
        models=phrases.t("board.joiner", language).join(bill.models),
        tokens_in=f"{bill.tokens_in:,}",
        tokens_out=f"{bill.tokens_out:,}",
        cost=f"{bill.dollars:.4f}",
    )

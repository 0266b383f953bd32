"""What people are told of a panel beside its words: who takes part, how far it is, and who pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot import phrases
from bot.facilitation.policy import FREE, price_of
from bot.meeting.model import Language
from bot.minutes.schema import PanelPart
from bot.models.base import Usage
from bot.panel import order
from bot.panel.roles import Plan, author_id
from bot.store import panels
from bot.store.engine import Connection
from bot.store.generations import ModelUsage

if TYPE_CHECKING:
    from bot.facilitation.room import Room


@dataclass(frozen=True, slots=True)
class Bill:
    """`models` were asked; offline alone costs nothing. `dollars` by data/prices.toml, the dearest price there
    where a model has none of its own."""

    models: tuple[str, ...]
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    dollars: float
    free: bool = False  # nothing but the offline engine was asked


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
        free=all(model == FREE for model, _ in used),
    )


def line(used: Sequence[tuple[str, ModelUsage]], language: Language) -> str:
    """One line for people: model, tokens in and out, US dollars."""
    bill = of(used)
    if bill.free:
        return phrases.t("panel.bill_free", language)
    return phrases.t(
        "panel.bill",
        language,
        models=phrases.t("board.joiner", language).join(bill.models),
        tokens_in=f"{bill.tokens_in:,}",
        tokens_out=f"{bill.tokens_out:,}",
        cost=f"{bill.dollars:.4f}",
    )


def announcement(plan: Plan | None, language: Language) -> list[str]:
    """The board's lines before the first turn; none where no panel is held."""
    if plan is None:
        return []
    names = phrases.t("board.joiner", language).join(role.shown for role in plan.roles)
    head = phrases.t("panel.board", language, names=names, turn=0, turns=plan.turns)
    return [head, phrases.t("panel.board_hint", language)]


def board_lines(room: Room) -> list[str]:
    """The same as the panel goes on, with what it has cost so far."""
    panel, language = room.panel, room.meeting.language
    if panel is None:
        return []
    names = phrases.t("board.joiner", language).join(role.shown for role in panel.roles)
    key = "panel.board" if panel.stop_reason is None else "panel.board_ended"
    turn = order.used(room.panel_turns)
    lines = [phrases.t(key, language, names=names, turn=turn, turns=panel.turns)]
    if room.panel_bill:
        lines.append(room.panel_bill)
    return [*lines, phrases.t("panel.board_hint", language)]


def names(room: Room) -> dict[int, str]:
    """Shown names of the AI participants by the author ids of their messages."""
    roles = room.panel.roles if room.panel is not None else ()
    return {author_id(number): role.shown for number, role in enumerate(roles)}


def standpoints(room: Room) -> dict[int, str]:
    roles = room.panel.roles if room.panel is not None else ()
    return {author_id(number): role.standpoint for number, role in enumerate(roles)}


async def panel_part(c: Connection, room: Room) -> PanelPart | None:
    """For the minutes, from rows: everything generated in this meeting up to this transaction."""
    panel = await panels.get(c, room.id)
    if panel is None:
        return None
    whole = of(await panels.usage(c, room.id))
    return PanelPart(
        turns=panel.turns,
        turns_taken=order.used(await panels.turns(c, room.id)),
        ended=panel.stop_reason,
        models=[] if whole.free else list(whole.models),
        tokens_in=whole.tokens_in,
        tokens_cached=whole.tokens_cached,
        tokens_out=whole.tokens_out,
        cost_usd=round(whole.dollars, 6),
        cost_cap_usd=panel.cost_cap,
    )

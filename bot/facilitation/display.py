"""What the posts of a meeting have in common: entries as one line each, sections that share one budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from bot.meeting.display import brief, display, fit, share_out, units
from bot.meeting.model import Item, Language, LedgerView, Origin, Vote
from bot.phrases import t

__all__ = [
    "count_votes",
    "decision_line",
    "display",
    "message_link",
    "numbered",
    "numbers",
    "proposal_line",
    "sections",
    "stamp",
    "stood_for",
]


def stamp(moment: datetime, style: str = "t") -> str:
    """Discord's time stamp, shown in every reader's own zone (t = time, R = relative, f = date and time)."""
    return f"<t:{int(moment.timestamp())}:{style}>"


def message_link(guild_id: int, channel_id: int, message_id: int) -> str:
    return f"https://discord.com/channels/{guild_id}/{channel_id}/{message_id}"


def numbers(found: Sequence[int], language: Language) -> str:
    return t("board.joiner", language).join(f"#{number}" for number in found)


def numbered(item: Item) -> str:
    """The item's number, and 🤖 where its wording is that of AI participants, whoever stands for it by now."""
    return f"**#{item.number}** 🤖" if item.entry.origin is Origin.PANEL else f"**#{item.number}**"


def stood_for(item: Item, language: Language) -> str:
    """What goes behind the panel's wording once a person stands for it; decisions always say so themselves."""
    confirmed = item.entry.origin is Origin.PANEL and item.confirmed_by
    return f" {t('board.confirmed', language)}" if confirmed else ""


def proposal_line(item: Item, language: Language, limit: int) -> str:
    """One open proposal with its votes."""
    favour, neutral, against = count_votes(item.votes)
    votes = t("board.votes", language, favour=favour, neutral=neutral, against=against)
    return f"{numbered(item)} {brief(item.text, limit)} {votes}{stood_for(item, language)}"


def count_votes(votes: Sequence[Vote]) -> tuple[int, int, int]:
    """Votes in favour, neither, against."""
    values = [vote.value for vote in votes]
    return sum(v > 0 for v in values), sum(v == 0 for v in values), sum(v < 0 for v in values)


def decision_line(item: Item, view: LedgerView, language: Language, limit: int) -> str:
    """One decision with all a reader must know of it: against, confirmed or not, objections, conflicts."""
    parts = [numbered(item)]
    if item.entry.value is not None and item.entry.value < 0:
        parts.append(t("board.against", language))
    parts.append(brief(item.text, limit))
    parts.append(t(f"board.{'confirmed' if item.status == 'confirmed' else 'unconfirmed'}", language))
    if item.objections:
        parts.append(t("board.objected", language, count=len(item.objections)))
    live = [n for n in item.conflicts_with if (other := view.item(n)) is not None and other.live]
    if live:
        parts.append(t("board.conflict", language, numbers=numbers(live, language)))
    return " ".join(parts)


def sections(
    parts: Sequence[tuple[str, Sequence[str]]],
    budget: int,
    more: Callable[[int], str],
    *,
    newest: bool = True,
) -> str:
    """Headed lists that together take at most `budget` units; what a list leaves out it counts."""
    parts = [(head, lines) for head, lines in parts if lines]
    heads = sum(units(head) + 2 for head, _ in parts)
    wanted = [sum(units(line) + 1 for line in lines) for _, lines in parts]
    given = share_out(wanted, max(0, budget - heads))
    blocks = [
        "\n".join([head, *fit(lines, room, more, newest=newest)])
        for (head, lines), room in zip(parts, given, strict=True)
    ]
    return "\n\n".join(blocks)

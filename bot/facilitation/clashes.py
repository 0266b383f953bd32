"""Which live decisions stand against a constraint or an earlier decision; pairs are compared once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from bot.meeting import conflicts
from bot.meeting.model import Item, LedgerView


@dataclass
class ConflictMemo:
    """Pairs of wordings already compared, by the entry numbers of the wordings (a revision has its own number)."""

    pairs: dict[tuple[int, int], bool] = field(default_factory=dict)

    def between(self, item: Item, other: Item) -> bool:
        key = (item.number, other.number)
        if key not in self.pairs:
            self.pairs[key] = bool(conflicts.conflicts(item.text, [other], item.entry.at.date()))
        return self.pairs[key]


def with_conflicts(view: LedgerView, memo: ConflictMemo) -> LedgerView:
    """`view` with every live decision's conflicts filled in: against constraints, and against earlier decisions."""
    marked: dict[int, tuple[int, ...]] = {}
    earlier: list[Item] = []
    for item in view.decisions:
        against = [o for o in (*view.constraints, *earlier) if o.number != item.number]
        found = tuple(o.number for o in against if memo.between(item, o))
        if found:
            marked[item.original.number] = found
        earlier.append(item)
    if not marked:
        return view
    return replace(
        view,
        items=tuple(
            replace(i, conflicts_with=marked[i.original.number]) if i.original.number in marked else i
            for i in view.items
        ),
    )

"""Which line of an edited message is which item's: lines move, and are reworded, both at once."""

from __future__ import annotations

from collections.abc import Sequence

from bot.facilitation import sources
from bot.facilitation.sources import Borne
from bot.meeting import lookup
from bot.meeting.marks import Mark

ALIKE = 0.3  # of the bigrams: "料金は500円" and "料金は5000円にする" share 0.5, two proposals of one talk hardly any


def by_likeness(changed: Sequence[Borne], left: Sequence[Mark]) -> dict[int, Mark]:
    """The mark that words each item now, by the number of what made the item: the most alike first, then the one
    in its place."""
    pairs: dict[int, Mark] = {}
    alike = sorted(
        (
            (lookup.likeness(mark.text, borne.typed.text), -n, -k)
            for n, borne in enumerate(changed)
            for k, mark in enumerate(left)
            if mark.kind is borne.item.kind
        ),
        reverse=True,
    )
    taken: set[int] = set()

    def pair(n: int, k: int) -> None:
        number = changed[n].item.original.number
        if number not in pairs and k not in taken:
            pairs[number] = left[k]
            taken.add(k)

    for likeness, n, k in alike:
        if likeness >= ALIKE:
            pair(-n, -k)
    for _, n, k in alike:
        if left[-k].place == sources.place_of(changed[-n].rows[0]):
            pair(-n, -k)
    return pairs

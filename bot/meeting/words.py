"""The words of one language that the domain recognises, as loaded from data/words/<language>.toml.

The domain does no I/O: `bot.phrases.words(language)` loads, functions here and beside take `Words`.
All words stand normalised (`meeting.text.fold`): NFKC, lower case, no invisible characters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Words:
    """`lists` maps a list's name (marks.decision, replies.yes, closing.wish, cues.decision ...) to its words."""

    language: str
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> tuple[str, ...]:
        return self.lists[name]

"""Days as people write them."""

from __future__ import annotations

from datetime import date

import pytest

from bot.meeting.model import Language
from bot.phrases import short_day

NEAR = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("due", "language", "shown"),
    [
        ("2027-01-16", "en", "Sat 16 Jan"),
        ("2027-01-16", "ja", "1月16日（土）"),
        ("2025-01-16", "en", "Thu 16 Jan 2025"),
        ("2028-01-16", "ja", "2028年1月16日（日）"),
        ("リリース前", "ja", "リリース前"),
        ("before the release", "en", "before the release"),
    ],
)
def test_a_day_has_its_year_only_where_it_could_be_mistaken(due: str, language: Language, shown: str) -> None:
    assert short_day(due, language, NEAR) == shown

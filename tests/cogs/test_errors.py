"""Every error meant for people has its phrase, and no phrase waits for an error that nobody raises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.meeting.model import LANGUAGES
from bot.phrases import book

ROOT = Path(__file__).resolve().parents[2]


def used(table: str) -> set[str]:
    sources = [*ROOT.glob("bot/**/*.py"), *ROOT.glob("cogs/*.py")]
    return {k for path in sources for k in re.findall(rf'"({table}\.\w+)"', path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("language", LANGUAGES)
def test_errors_and_their_phrases_match(language: str) -> None:
    phrases = {key for key in book(language) if key.startswith("error.")}
    assert used("error") == phrases


@pytest.mark.parametrize("table", ["reply", "form", "command", "persona", "error"])
def test_both_books_hold_the_same_keys_and_placeholders(table: str) -> None:
    def shape(language: str) -> dict[str, list[str]]:
        found = {k: v for k, v in book(language).items() if k.startswith(f"{table}.")}
        return {k: sorted(re.findall(r"\{(\w+)\}", v)) for k, v in found.items()}

    assert shape("ja") == shape("en")
    assert shape("ja")


def test_every_reply_is_used() -> None:
    families = (
        *("reply.state.", "reply.kind.", "reply.kinds.", "reply.item.", "reply.permission."),
        *("reply.language.", "reply.activity.", "reply.switch.", "reply.route.", "reply.kept."),
    )
    single = {k for k in book("en") if k.startswith("reply.") and not k.startswith(families)}
    assert single == used("reply")

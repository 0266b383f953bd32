"""Every language has the same prompts with the same placeholders, in its own script."""

from __future__ import annotations

import re
import tomllib
from string import Formatter

import pytest

from bot.meeting.model import LANGUAGES, Route
from bot.meeting.text import is_japanese
from bot.phrases import DATA
from bot.prompts.builder import frame_of

PROMPTS = DATA / "prompts"
FILES = {"common.md", "frame.toml", *(f"{route.value}.md" for route in Route)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_files(language: str) -> None:
    assert {p.name for p in (PROMPTS / language).iterdir()} == FILES


def test_the_same_frame_keys_with_the_same_placeholders() -> None:
    def shape(language: str) -> dict[str, set[str | None]]:
        return {k: {p[1] for p in Formatter().parse(v) if p[1]} for k, v in frame_of(language).items()}

    assert shape("ja") == shape("en")


@pytest.mark.parametrize("name", sorted(FILES - {"frame.toml"}))
def test_both_name_the_same_fields_and_signs(name: str) -> None:
    texts = [(PROMPTS / language / name).read_text(encoding="utf-8") for language in LANGUAGES]
    fields = [set(re.findall(r"`([a-z_]+)`", text)) for text in texts]
    assert fields[0] == fields[1]
    assert [text.count("[SILENCE]") for text in texts] in ([0, 0], [1, 1])


@pytest.mark.parametrize("name", sorted(FILES - {"frame.toml"}))
def test_each_is_in_its_own_language(name: str) -> None:
    assert is_japanese((PROMPTS / "ja" / name).read_text(encoding="utf-8"))
    assert not is_japanese((PROMPTS / "en" / name).read_text(encoding="utf-8"))


def test_the_fences_that_the_rules_name_are_those_that_are_made() -> None:
    for language in LANGUAGES:
        frame = frame_of(language)
        common = (PROMPTS / language / "common.md").read_text(encoding="utf-8")
        assert f"⟦{frame['history.message']} …⟧" in common
        assert f"⟦{frame['note.tag']}⟧" in common
        assert f"⟦{frame['history.message']} …⟧" in frame["history.note"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_closing_prompts_say_why_no_summary_is_asked_for(language: str) -> None:
    why = {"ja": "議事録は自動で出る", "en": "the minutes come by themselves"}[language]
    for name in ("closing.md", "turn.md"):
        assert why in (PROMPTS / language / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
def test_cue_words_have_the_same_lists(language: str) -> None:
    def lists(of: str) -> set[str]:
        path = DATA / "words" / f"{of}.toml"
        return set(tomllib.loads(path.read_text(encoding="utf-8"))["cues"])

    assert lists(language) == lists("en")

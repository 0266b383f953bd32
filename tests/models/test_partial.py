"""The text of one field out of unfinished JSON: whatever the cut, a prefix of the final text, nothing else."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models.partial import Partial

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.sampled_from(
    [
        'quotes " and \\ inside',
        "行を\n分けて\tタブ",
        "😀👨‍👩‍👧 絵文字",
        '{"response": "inner"}',
        "```\ncode\n```",
        "\u2028\x7f",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OTHERS = st.dictionaries(TEXTS.filter(lambda key: key != "response"), VALUES, max_size=3)


@st.composite
def wires(draw: st.DrawFn) -> tuple[str, str]:
    """An answer as it may come over the wire, and the text it holds."""
    text, before, after = draw(TEXTS), draw(OTHERS), draw(OTHERS)
    fields: dict[str, Any] = before | {"response": text} | {k: v for k, v in after.items() if k not in before}
    made = json.dumps(fields, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 2])))
    around = draw(st.sampled_from(["{}", "  {}\n", "```json\n{}\n```", "```\n{}```", "\ufeff{}"]))
    return around.replace("{}", made), text


@given(wire=wires(), cuts=st.lists(st.integers(0, 400), max_size=8))
def test_every_prefix_gives_a_prefix_of_the_final_text(wire: tuple[str, str], cuts: list[int]) -> None:
    made, text = wire
    partial, before = Partial(), ""
    places = [0, *sorted(min(cut, len(made)) for cut in cuts), len(made)]
    for start, end in pairwise(places):
        so_far = partial.feed(made[start:end])
        assert so_far.startswith(before)
        assert text.startswith(so_far)
        before = so_far
    assert before == text


@given(wire=wires())
def test_character_by_character_it_says_the_same(wire: tuple[str, str]) -> None:
    made, text = wire
    partial = Partial()
    told = [partial.feed(char) for char in made]
    assert all(text.startswith(so_far) for so_far in told)
    assert told[-1] == text
    # Nothing is held back longer than an escape takes.
    assert len(set(told)) >= len(text) // 2


@given(made=st.text(max_size=80) | st.text('{}[]":,\\ubrespon019', max_size=80))
def test_nothing_breaks_it_and_what_it_shows_only_grows(made: str) -> None:
    partial, before = Partial(), ""
    for char in made:
        so_far = partial.feed(char)
        assert so_far.startswith(before)
        before = so_far


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        ('{"response": "half of it', "half of it"),
        ('{"response": "a\\', "a"),
        ('{"response": "a\\u30', "a"),
        ('{"response": "\\u3042', "あ"),
        ('{"response": "a\\ud83d', "a"),
        ('{"response": "a\\ud83d\\ude0', "a"),
        ('{"response": "a\\ud83d\\ude00', "a😀"),
        ('{"cites": ["1", {"response": "inner"}], "response": "outer', "outer"),
        ('{"cites": "a, \\"response\\": \\"x\\"", "response": "y"}', "y"),
        ('{"n": 1.5, "response" : "spaced"', "spaced"),
        ('{"re\\u0073ponse": "escaped key', "escaped key"),
        ('{"response": "over"} and then some "prose"', "over"),
    ],
)
def test_cut_anywhere(made: str, shown: str) -> None:
    assert Partial().feed(made) == shown


@pytest.mark.parametrize(
    "made",
    [
        "I would rather write prose than {",
        '[{"response": "a list"}]',
        '{"response": null, "cites": []}',
        '{"response": {"text": "nested"}}',
        '{"response": ["a"]}',
        '{"responses": "another key"}',
        '{"cites": []} {"response": "a second object"}',
        '{response: "no JSON"}',
        "",
    ],
)
def test_what_it_does_not_understand_it_does_not_show(made: str) -> None:
    assert Partial().feed(made) == ""


@pytest.mark.parametrize(
    "made",
    [
        '{"response": "a\nb"}',
        '{"response": "a\\qb"}',
        '{"response": "a\\ud83db"}',
        '{"response": "a\\udc00b"}',
    ],
)
def test_it_stops_where_the_answer_stops_being_valid(made: str) -> None:
    partial = Partial()
    assert partial.feed(made) == "a"
    assert partial.feed('"more"') == "a"


def test_another_field() -> None:
    assert Partial("summary").feed('{"response": "no", "summary": "yes') == "yes"

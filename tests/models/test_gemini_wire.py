"""Schemas that Gemini takes, and answers read out of whatever text surrounds them."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from bot.models.gemini_wire import read_answer, response_schema, retry_delay
from bot.prompts.outputs import AnswerOut, EntryOut, MinutesOut, PanelOut, TurnOut

OUTPUTS = (TurnOut, MinutesOut, AnswerOut, PanelOut)
ALLOWED = {"type", "nullable", "enum", "items", "properties", "required", "property_ordering"}


def keys(node: dict[str, Any]) -> set[str]:
    below = [*node.get("properties", {}).values(), *([node["items"]] if "items" in node else [])]
    return set(node).union(*(keys(n) for n in below))


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_schema_holds_only_what_the_api_takes(output: type[BaseModel]) -> None:
    schema = response_schema(output)
    assert keys(schema) <= ALLOWED
    assert schema["required"] == list(output.model_fields)


class Table(BaseModel):
    cells: dict[str, str]


class Either(BaseModel):
    value: str | int


class Nested(BaseModel):
    inner: list[Nested]


class Pair(BaseModel):
    both: tuple[int, int]


class Bounded(BaseModel):
    count: int = Field(gt=0)


@pytest.mark.parametrize("output", [Table, Either, Nested, Pair, Bounded])
def test_what_the_api_refuses_or_empties_is_refused_here(output: type[BaseModel]) -> None:
    with pytest.raises(ValueError, match=r"union|itself|not accepted"):
        response_schema(output)


class Flat(BaseModel):
    kind: Literal["a", "b"]
    size: float | None = None


def test_literals_and_nullables() -> None:
    properties = response_schema(Flat)["properties"]
    assert properties == {
        "kind": {"type": "STRING", "enum": ["a", "b"]},
        "size": {"type": "NUMBER", "nullable": True},
    }


texts = st.text(alphabet=st.characters(blacklist_categories=("Cs",)), max_size=60)
entries = st.builds(
    EntryOut, kind=st.sampled_from(["decision", "action"]), text=texts, quote=texts, owner=st.none() | texts
)
turns = st.builds(
    TurnOut, response=texts, closing_complete=st.booleans(), entries=st.lists(entries, max_size=3)
)


@given(turns, st.sampled_from(["", "Sure! Here it is:\n", "```json\n", "前置きです。"]), st.booleans())
def test_an_answer_is_found_whatever_stands_around_it(turn: TurnOut, before: str, ascii_only: bool) -> None:
    text = (
        before + json.dumps(turn.model_dump(mode="json"), ensure_ascii=ascii_only) + "\n```\nHope it helps."
    )
    assert read_answer(text, TurnOut) == turn


@given(turns, st.floats(0, 1))
def test_half_an_answer_is_none(turn: TurnOut, share: float) -> None:
    whole = turn.model_dump_json()
    assert read_answer(whole[: int(len(whole) * share * 0.999)], TurnOut) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        '"response"',
        "{}",
        '{"note": "of nothing we asked for"}',
        '{"response": 5}',
        '{"response": "x", "entries": "none"}',
        '{"response": "x", "phase": "SOMEWHERE"}',
        '{"a": ' * 5_000,
    ],
)
def test_other_texts_are_none(text: str) -> None:
    assert read_answer(text, TurnOut) is None


def test_an_object_of_another_type_before_the_answer_is_passed_over() -> None:
    assert read_answer('thinking {"step": 1} ... {"response": "x"}', TurnOut) == TurnOut(response="x")


INFO = "type.googleapis.com/google.rpc.RetryInfo"


@pytest.mark.parametrize(
    ("details", "seconds"),
    [
        ({"error": {"details": [{"@type": INFO, "retryDelay": "2s"}]}}, 2.0),
        ({"details": [{"@type": "other"}, {"@type": INFO, "retryDelay": "0.05s"}]}, 0.05),
        ({"error": {"details": [{"@type": INFO, "retryDelay": "soon"}]}}, None),
        ({"error": {"details": [{"@type": INFO}, "text"]}}, None),
        ({"error": {"details": "text"}}, None),
        ({"error": "text"}, None),
        ("text", None),
        (None, None),
    ],
)
def test_retry_delay(details: object, seconds: float | None) -> None:
    assert retry_delay(details) == seconds

"""Scenario files: what is accepted, and that everything else is refused with file, line and reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rehearsal.command import demo
from bot.rehearsal.scenario import Edit, Fault, Restart, Say, ScenarioError, load, parse

HEADER: dict[str, Any] = {
    "scenario": 1, "title": "Launch", "language": "en", "duration_min": 30,
    "participants": ["Ann", "Ben"], "chair": "Ann",
}  # fmt: skip


def lines(*events: dict[str, Any], **header: Any) -> list[str]:
    return [json.dumps(line, ensure_ascii=False) for line in ({**HEADER, **header}, *events)]


def say(at: float, **more: Any) -> dict[str, Any]:
    return {"at": at, "who": "Ann", "say": "hello", **more}


def refusal(given: list[str]) -> str:
    with pytest.raises(ScenarioError) as caught:
        parse(given, "meeting.jsonl")
    return str(caught.value)


@pytest.mark.parametrize("language", ["ja", "en"])
def test_the_demos_are_about_forty_messages_with_what_a_team_goes_through(language: Any) -> None:
    scenario = load(demo(language))
    said = [e for e in scenario.events if isinstance(e, Say)]
    assert scenario.header.language == language
    assert 35 <= len(said) <= 45
    assert scenario.header.constraints
    assert scenario.header.agenda
    assert scenario.last_at < scenario.header.duration_min * 60
    assert {e.who for e in said} == set(scenario.header.participants)


def test_the_demos_are_two_different_meetings() -> None:
    japanese, english = load(demo("ja")), load(demo("en"))
    assert japanese.header.title != english.header.title
    assert [e.at for e in japanese.events] != [e.at for e in english.events]


def test_unknown_keys_and_blank_lines_are_ignored() -> None:
    given = lines(say(1, mood="good"), gold={"decisions": []}, source="somewhere")
    scenario = parse([given[0], "", given[1], ""])
    assert [e.line for e in scenario.events] == [3]


def test_agenda_and_constraints_may_be_missing_and_whole_numbers_are_times() -> None:
    scenario = parse(lines(say(1)))
    assert (scenario.header.agenda, scenario.header.constraints, scenario.events[0].at) == ([], [], 1.0)


def test_an_edit_has_say_too_and_is_still_an_edit() -> None:
    scenario = parse(lines(say(1, ref="m"), {"at": 2, "who": "Ann", "edit": "m", "say": "bye"}))
    assert isinstance(scenario.events[1], Edit)


def test_a_meeting_in_which_nobody_says_anything_can_be_played() -> None:
    assert parse(lines()).events == ()


def test_a_meeting_of_the_chair_alone_can_be_played() -> None:
    assert parse(lines(say(1), participants=[])).header.chair == "Ann"


def test_restarts_and_faults_have_defaults() -> None:
    scenario = parse(
        lines({"at": 0, "restart": True}, {"at": 1, "fault": "model", "status": 429, "for_s": 5})
    )
    restart, fault = scenario.events
    assert isinstance(restart, Restart)
    assert isinstance(fault, Fault)
    assert (restart.down_s, restart.crash) == (0.0, False)
    assert (fault.times, fault.for_s) == (None, 5.0)


def test_line_separators_inside_a_message_do_not_end_the_line(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text("\n".join(lines(say(1, say="a\u2028b\x85c"))), encoding="utf-8")
    assert load(path).events[0].say == "a\u2028b\x85c"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"scenario": 2}, "'scenario' should be 1"),
        ({"title": ""}, "'title' is empty"),
        ({"title": 3}, "'title' should be a valid string"),
        ({"language": "fr"}, "'language' should be 'ja' or 'en'"),
        ({"duration_min": "30"}, "'duration_min' should be a valid number"),
        ({"duration_min": True}, "'duration_min' should be a valid number"),
        ({"duration_min": 0}, "'duration_min' should be greater than 0"),
        ({"agenda": "date"}, "'agenda' should be a valid list"),
        ({"constraints": [1]}, "'constraints.0' should be a valid string"),
        ({"participants": ["Ann", "Ann"]}, "participants: two people have the same name"),
        ({"chair": ""}, "'chair' is empty"),
    ],
)
def test_a_bad_first_line_is_named(change: dict[str, Any], reason: str) -> None:
    assert refusal(lines(**change)) == f"meeting.jsonl:1: {reason}"


@pytest.mark.parametrize("key", ["scenario", "title", "language", "duration_min", "participants", "chair"])
def test_a_missing_key_of_the_first_line_is_named(key: str) -> None:
    header = {k: v for k, v in HEADER.items() if k != key}
    assert refusal([json.dumps(header)]) == f"meeting.jsonl:1: '{key}' is missing"


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({"at": "1", "wait": True}, "'at' should be a valid number"),
        ({"at": -1, "wait": True}, "'at' should be greater than or equal to 0"),
        ({"at": float("nan"), "wait": True}, "'at' should be a finite number"),
        ({"wait": True}, "'at' is missing"),
        ({"at": 1, "wait": False}, "'wait' should be True"),
        ({"at": 1}, "no known event"),
        ({"at": 1, "who": "Ann", "shout": "x"}, "no known event"),
        ({"at": 1, "say": "x"}, "'who' is missing"),
        ({"at": 1, "who": 7, "say": "x"}, "'who' should be a valid string"),
        ({"at": 1, "who": "Ann", "say": ""}, "'say' is empty"),
        ({"at": 1, "who": "Ann", "say": " \n "}, "'say' is empty"),
        ({"at": 1, "who": "Ann", "say": "x" * 2001}, "'say' is longer than 2000 characters"),
        ({"at": 1, "who": "Ann", "say": "x", "ref": "bot"}, "cannot be a ref"),
        ({"at": 1, "who": "Ann", "say": "x", "ref": "a"}, "the ref 'a' is used twice"),
        ({"at": 1, "who": "Ann", "say": "x", "reply_to": "q"}, "no message before this line has the ref 'q'"),
        ({"at": 1, "who": "Ben", "edit": "a", "say": "x"}, "only Ann can edit 'a'"),
        ({"at": 1, "who": "Ann", "edit": "a"}, "'say' is missing"),
        (
            {"at": 1, "who": "Ann", "edit": "gone", "say": "x"},
            "the message 'gone' was deleted before this line",
        ),
        ({"at": 1, "who": "Ann", "delete": "q"}, "no message before this line has the ref 'q'"),
        ({"at": 1, "who": "Ann", "react": "x"}, "'to' is missing"),
        ({"at": 1, "who": "Ann", "menu": "Record as decision", "to": "q"}, "has the ref 'q'"),
        (
            {"at": 1, "who": "Ann", "command": "meeting end", "options": []},
            "'options' should be a valid dictionary",
        ),
        ({"at": 1, "who": "Ann", "command": "meeting end", "options": {"now": None}}, "'options.now'"),
        ({"at": 1, "restart": True, "down_s": "9"}, "'down_s' should be a valid number"),
        ({"at": 1, "restart": True, "crash": "yes"}, "'crash' should be a valid boolean"),
        ({"at": 1, "fault": "moon", "status": 500}, "'fault' should be 'model' or 'discord'"),
        ({"at": 1, "fault": "model"}, "either 'status' or 'error'"),
        (
            {"at": 1, "fault": "model", "status": 500, "error": "drop"},
            "a fault has either 'status' or 'error'",
        ),
        ({"at": 1, "fault": "model", "status": 200}, "'status' should be greater than or equal to 400"),
        ({"at": 1, "fault": "model", "error": "fire"}, "'error' should be"),
        (
            {"at": 1, "fault": "model", "status": 500, "times": 0},
            "'times' should be greater than or equal to 1",
        ),
        ({"at": 1, "fault": "model", "status": 500, "times": 1, "for_s": 2}, "'times' or 'for_s', not both"),
    ],
)
def test_a_bad_event_is_named(event: dict[str, Any], reason: str) -> None:
    before = [say(0, ref="a"), say(0, ref="gone"), {"at": 0, "who": "Ann", "delete": "gone"}]
    said = refusal(lines(*before, event))
    assert said.startswith("meeting.jsonl:5: ")
    assert reason in said


def test_time_does_not_run_backwards() -> None:
    assert refusal(lines(say(5), say(4.5))) == "meeting.jsonl:3: 'at' goes back in time: 4.5 after 5"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([""], "meeting.jsonl: the file is empty; its first line describes the meeting"),
        (["hello"], "meeting.jsonl:1: not JSON: "),
        (["[1]"], "meeting.jsonl:1: not a JSON object"),
        ([*lines(), "{"], "meeting.jsonl:2: not JSON: "),
        ([*lines(), "[" * 100_000], "meeting.jsonl:2: not JSON: "),
    ],
)
def test_what_is_no_json_is_named(given: list[str], reason: str) -> None:
    assert refusal(given).startswith(reason)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"absent\.jsonl: cannot be read: No such file"):
        load(tmp_path / "absent.jsonl")
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes("é".encode("latin-1"))
    with pytest.raises(ScenarioError, match=r"latin\.jsonl: not UTF-8 \(byte 0\)"):
        load(latin)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
EVENT_KEYS = (
    "at who say ref reply_to edit delete react to command options click menu"
    " restart down_s crash fault status error times for_s wait bot"
)
EVENTS = st.dictionaries(st.sampled_from(EVENT_KEYS.split()), JSON, max_size=5)
HEADERS = st.dictionaries(st.sampled_from(sorted(HEADER)), JSON, max_size=2)


@given(EVENTS, HEADERS)
def test_anything_is_accepted_or_refused_with_its_line(event: dict[str, Any], header: dict[str, Any]) -> None:
    refused = None
    try:
        parse(lines({"at": 1, **event}, **header), "meeting.jsonl")
    except ScenarioError as error:
        refused = error
    assert refused is None or (refused.line in (1, 2) and refused.reason)

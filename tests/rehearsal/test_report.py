"""The terminal: what a newcomer sees, in both languages."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from bot.meeting.model import Language
from bot.rehearsal.command import language_of_environment, rehearse
from bot.rehearsal.report import Terminal, write


def shown(*lines: dict[str, object], language: Language = "en") -> str:
    out = io.StringIO()
    terminal = Terminal(language, lambda moment: moment - 1000, Console(file=out, width=100, highlight=False))
    for line in lines:
        terminal.show(line)
    return out.getvalue()


BOARD = {"at": 0, "kind": "post", "message_id": "1", "where": "channel", "by": "facilitator"}


def test_the_conversation_is_shown_with_time_and_speaker() -> None:
    text = shown({"at": 61.5, "kind": "human", "who": "Ann", "text": "[bold]not markup[/bold]\nsecond line"})
    assert text == " 01:01  Ann  [bold]not markup[/bold]\n          second line\n"


def test_a_post_is_shown_under_the_persona_with_files_and_buttons() -> None:
    post = {
        **BOARD, "text": "**📝 Assistant**\nminutes", "where": "thread",
        "files": ["minutes.md"], "buttons": ["End"],
    }  # fmt: skip
    assert "📝 Assistant (thread)  minutes\n          📎 minutes.md\n          [End]" in shown(post)


def test_of_the_board_only_news_is_shown() -> None:
    post = {**BOARD, "text": "**🧭 Facilitator**\n▰▱ 1 min\nDecisions: none"}
    edit = {"at": 9, "kind": "edit", "message_id": "1", "text": "**🧭 Facilitator**\n▰▰ 2 min\n#1 we ship"}
    assert shown(post, edit).splitlines()[-1] == "          │ #1 we ship"
    dull = {**edit, "text": "**🧭 Facilitator**\n▰▰ 2 min\n**Decisions** (1)\nAnn 60% · Ben 40%"}
    assert shown(post, dull) == shown(post)


def test_discords_stamps_are_shown_as_times_of_the_meeting() -> None:
    assert "closes at 01:05" in shown({**BOARD, "text": "closes at <t:1065:R>"})


PRIVATE = [("en", "only Ann sees: hi"), ("ja", "Annさんにだけ表示：hi")]
ACTS = ["uses", "edits", "deletes", "reacts", "fails", "restarts", "crashes", "returns"]


@pytest.mark.parametrize(("language", "words"), PRIVATE)
def test_private_answers_say_who_sees_them(language: Language, words: str) -> None:
    reply = {"at": 1, "kind": "reply", "to": "Ann", "ephemeral": True, "text": "hi"}
    assert words in shown(reply, language=language)


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_act_has_words(act: str, language: Language) -> None:
    assert "Ann" in shown({"at": 1, "kind": "act", "who": "Ann", "act": act, "text": "x"}, language=language)


def test_the_file_has_one_object_a_line(tmp_path: Path) -> None:
    write(tmp_path / "out.jsonl", [{"kind": "human", "text": "決定\nする"}, {"kind": "summary"}])
    rows = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(row)["kind"] for row in rows] == ["human", "summary"]
    assert "決定" in rows[0]


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "C", "LC_MESSAGES": "ja_JP"}, "ja"),
        ({"LC_ALL": "", "LANG": "ja"}, "ja"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
    ],
)
def test_the_demo_speaks_the_language_of_the_environment(environment: dict[str, str], language: str) -> None:
    assert language_of_environment(environment) == language


def test_a_bad_scenario_exits_with_2_and_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"scenario": 1}', encoding="utf-8")
    assert rehearse(bad) == 2
    assert capsys.readouterr().err.startswith(f"{bad}:1: 'title' is missing")


def test_a_file_that_cannot_be_written_is_refused_before_the_meeting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rehearse(language="en", out=tmp_path / "absent" / "out.jsonl") == 1
    assert "No such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("language", "act", "line"),
    [
        ("en", "restarts", "Ketsugi restarts (back after 40 s)"),
        ("en", "crashes", "Ketsugi crashes (back after 40 s)"),
        ("ja", "restarts", "Ketsugi が再起動（40秒後に復帰）"),
        ("ja", "crashes", "Ketsugi が異常終了（40秒後に復帰）"),
    ],
)
def test_a_restart_says_when_the_bot_is_back(language: Language, act: str, line: str) -> None:
    assert (
        shown({"at": 9, "kind": "act", "who": "Ketsugi", "act": act, "text": "40"}, language=language).strip()
        == line
    )


@pytest.mark.parametrize(
    ("language", "line"),
    [("en", "Ann uses /ask question: When do we ship?"), ("ja", "Ann：/ask 質問: When do we ship?")],
)
def test_a_command_is_shown_with_what_was_given_and_the_counts_are_the_minutes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], language: Language, line: str
) -> None:
    rows: list[dict[str, object]] = [
        {
            "scenario": 1,
            "title": "T",
            "language": language,
            "duration_min": 10,
            "participants": ["Ann", "Ben"],
            "chair": "Ann",
        },
        {"at": 10, "who": "Ben", "say": "Decision: we ship in May"},
        {"at": 20, "who": "Ann", "command": "ask", "options": {"question": "When do we ship?"}},
        {"at": 40, "who": "Ben", "say": "@assistant what did we say about parking?"},
        {"at": 90, "who": "Ann", "command": "meeting end", "options": {"now": True}},
    ]
    path, out = tmp_path / "s.jsonl", tmp_path / "out.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    assert rehearse(path, out=out) == 0
    assert line in capsys.readouterr().out
    lines = [json.loads(row) for row in out.read_text(encoding="utf-8").splitlines()]
    made = next(row for row in lines if row["kind"] == "minutes")["document"]["made"]
    assert {name: lines[-1][name] for name in ("generations", "fixed")} == {
        name: made[name] for name in ("generations", "fixed")
    }
    asked = sum(row["kind"] == "generation" for row in lines)
    assert made["generations"] > asked, "an answer out of the record, for which no engine was asked"

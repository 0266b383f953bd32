"""The stage proven with a bot that is not the product: what people do arrives, what the bot does is seen."""

from __future__ import annotations

import json
from typing import Any

from bot.rehearsal.driver import Rehearsal
from bot.rehearsal.scenario import parse
from tests.rehearsal.throwaway import Model, ThrowawayHost

HEADER = {
    "scenario": 1,
    "title": "Launch",
    "language": "en",
    "duration_min": 10,
    "agenda": ["date", "price"],
    "constraints": [],
    "participants": ["Ann", "Ben"],
    "chair": "Ann",
}


def rehearsal(*events: dict[str, Any], host: ThrowawayHost | None = None, **header: Any) -> Rehearsal:
    lines = [{**HEADER, **header}, *events]
    return Rehearsal(parse([json.dumps(line) for line in lines]), host or ThrowawayHost())


def of(played: Rehearsal, kind: str) -> list[dict[str, Any]]:
    return [line for line in played.lines if line["kind"] == kind]


def texts(played: Rehearsal, kind: str = "post") -> list[str]:
    return [line["text"] for line in of(played, kind)]


END = {"at": 300, "who": "Ann", "command": "meeting end"}


async def test_the_chair_starts_the_meeting_and_one_set_of_minutes_ends_it() -> None:
    played = rehearsal(END)
    await played.play()
    kickoff, minutes = of(played, "post")
    assert kickoff | {"message_id": "", "buttons": []} == {
        "at": 0.0, "kind": "post", "where": "channel",
        "by": "facilitator", "route": "opening", "source": "first",
        "text": "**🧭 Facilitator**\nLaunch", "message_id": "", "buttons": [],
    }  # fmt: skip
    assert minutes["where"] == "thread"
    assert minutes["by"] == "assistant"
    assert minutes["files"] == ["minutes.md"]
    assert minutes["text"] == "**📝 Assistant**\nhere\nMinutes\nnothing was decided"
    assert played.host.book.options == {
        "title": "Launch", "minutes": 10, "agenda": "date\nprice", "language": "en"
    }  # fmt: skip
    summary = played.lines[-1]
    assert (summary["minutes_messages"], summary["posts"], summary["problems"]) == (1, 2, [])
    assert of(played, "ledger") == [{"kind": "ledger", "entries": []}]
    assert of(played, "minutes")[0]["text"] == "# Minutes"


async def test_what_people_do_with_messages_reaches_the_bot() -> None:
    played = rehearsal(
        {"at": 10, "who": "Ben", "say": "echo hello", "ref": "m"},
        {"at": 20, "who": "Ben", "edit": "m", "say": "corrected"},
        {"at": 30, "who": "Ann", "react": "🎉", "to": "m"},
        {"at": 40, "who": "Ann", "react": "🎉", "to": "bot"},
        {"at": 50, "who": "Ben", "delete": "m"},
        {"at": 60, "who": "Cleo", "say": "mark this"},
        {"at": 70, "who": "Robot", "say": "echo nothing", "bot": True},
        END,
    )
    await played.play()
    said = [(p["at"], p["text"]) for p in of(played, "post")[1:-1]]
    assert said == [
        (10.0, "hello"),
        (20.0, "edited to corrected"),
        (30.0, "party"),
        (40.0, "party"),
        (50.0, "deleted"),
    ]
    assert [(r["at"], r["emoji"], r["on"]) for r in of(played, "reaction")] == [(60.0, "📌", "Cleo")]
    assert [(h["who"], h["text"]) for h in of(played, "human")] == [
        ("Ben", "echo hello"), ("Cleo", "mark this"), ("Robot", "echo nothing")
    ]  # fmt: skip


async def test_buttons_are_found_by_label_and_by_the_start_of_their_id() -> None:
    played = rehearsal(
        {"at": 5, "who": "Ben", "click": "throwaway:ext"}, {"at": 9, "who": "Ben", "click": "end"}
    )
    await played.play()
    assert [(e["at"], e["text"], e["board"]) for e in of(played, "edit")] == [(5.0, "extended", True)]
    assert [(r["to"], r["text"], r["ephemeral"]) for r in of(played, "reply")] == [
        ("Ann", "started", True), ("Ben", "ending", True)
    ]  # fmt: skip
    assert played.minutes_messages == 1


async def test_a_menu_is_used_on_a_message() -> None:
    played = rehearsal(
        {"at": 5, "who": "Ben", "say": "we ship", "ref": "d"},
        {"at": 9, "who": "Ann", "menu": "Record as decision", "to": "d"},
        END,
    )
    await played.play()
    assert texts(played, "reply") == ["started", "recorded we ship", "ending"]
    assert of(played, "reaction")[0]["on"] == "Ben"


async def test_what_nobody_could_do_is_noted_and_the_meeting_goes_on() -> None:
    played = rehearsal(
        {"at": 1, "who": "Ben", "click": "Launch rockets"},
        {"at": 2, "who": "Ben", "command": "meeting frobnicate"},
        {"at": 3, "who": "Ben", "menu": "Frobnicate", "to": "bot"},
        END,
    )
    await played.play()
    problems = played.lines[-1]["problems"]
    assert [p.split(":")[0] for p in problems] == ["line 2", "line 3", "line 4"]
    assert played.minutes_messages == 1


async def test_sleeps_take_no_real_time_and_end_on_time() -> None:
    played = rehearsal({"at": 5, "who": "Ben", "say": "later 170.5"}, {**END, "at": 400})
    await played.play()
    assert (175.5, "later 170.5") in [(p["at"], p["text"]) for p in of(played, "post")]
    assert played.lines[-1]["wall_s"] < 3


async def test_virtual_time_follows_real_time_during_a_real_call() -> None:
    played = rehearsal(
        {"at": 5, "who": "Ben", "say": "think"},
        {**END, "at": 400},
        host=ThrowawayHost(Model(real_seconds=0.3)),
    )
    await played.play()
    at = next(p["at"] for p in of(played, "post") if p["text"] == "an answer")
    assert 5.25 <= at <= 6.5
    assert played.lines[-1]["wall_s"] < 5


async def test_people_are_owed_answers_until_something_is_visible_to_them() -> None:
    played = rehearsal(
        {"at": 5, "who": "Ben", "say": "later 20"},
        {"at": 6, "who": "Ben", "say": "@Ketsugi are you there?"},
        {"at": 7, "who": "Ann", "say": "＠ アシスタント まとめて"},
        {"at": 8, "who": "Ann", "say": "echo one"},
        {"at": 9, "who": "Cleo", "say": "what", "reply_to": "bot"},
        END,
    )
    await played.play()
    owed = [(o["at"], o["who"], o["why"]) for o in of(played, "owed")]
    assert owed == [
        (0.0, "Ann", "command /meeting start"),
        (6.0, "Ben", "addressed the bot"),
        (7.0, "Ann", "addressed the bot"),
        (9.0, "Cleo", "addressed the bot"),
        (300.0, "Ann", "command /meeting end"),
    ]
    answered = [(a["at"], a["who"], a["waited_s"]) for a in of(played, "answered")]
    assert answered == [
        (0.0, "Ann", 0.0), (8.0, "Ben", 2.0), (8.0, "Ann", 1.0), (25.0, "Cleo", 16.0), (300.0, "Ann", 0.0)
    ]  # fmt: skip
    assert played.lines[-1]["longest_wait_s"] == 16.0
    assert played.lines[-1]["unanswered"] == 0


async def test_someone_never_answered_waited_until_the_end() -> None:
    played = rehearsal({"at": 5, "who": "Ben", "say": "@assistant hello"})
    await played.play()
    assert played.lines[-1]["unanswered"] == 1
    assert played.lines[-1]["longest_wait_s"] >= 4200 - 5


async def test_without_minutes_the_stage_runs_until_an_hour_after_the_planned_end() -> None:
    played = rehearsal({"at": 5, "who": "Ben", "say": "hello"})
    await played.play()
    assert played.minutes_messages == 0
    assert 4200 <= played.timing.seconds() - played._begun < 4230


async def test_a_restarted_bot_is_another_one_and_people_write_meanwhile() -> None:
    played = rehearsal(
        {"at": 10, "restart": True, "down_s": 60},
        {"at": 30, "who": "Ben", "say": "echo into the void"},
        {"at": 40, "who": "Ben", "command": "meeting end"},
        {"at": 100, "who": "Ben", "say": "echo hello again"},
        {"at": 110, "restart": True, "crash": True},
        {"at": 120, "who": "Ben", "say": "echo and again"},
        END,
    )
    await played.play()
    book = played.host.book
    assert book.starts == 3
    assert book.stops == [False, True, False]
    assert texts(played)[1:-1] == ["hello again", "and again"]
    assert played.minutes_messages == 1
    assert played.problems == [
        "line 4: command /meeting end: the application did not respond (the bot is away)"
    ]
    assert "echo into the void" in texts(played, "human")


async def test_time_away_does_not_count_as_the_bots_own_slowness() -> None:
    played = rehearsal(
        {"at": 10, "who": "Ben", "say": "@Ketsugi hello?"},
        {"at": 12, "restart": True, "down_s": 100},
        {"at": 115, "who": "Ann", "say": "echo back"},
        END,
    )
    await played.play()
    summary = played.lines[-1]
    assert (summary["longest_wait_s"], summary["longest_wait_present_s"]) == (105.0, 5.0)


async def test_a_bot_that_crashes_leaves_its_sleeps_behind() -> None:
    played = rehearsal(
        {"at": 10, "who": "Ben", "say": "later 20"}, {"at": 15, "restart": True, "crash": True}, END
    )
    await played.play()
    assert "later 20" not in texts(played)


async def test_the_same_nonce_posts_once_within_five_minutes_and_again_after() -> None:
    played = rehearsal(
        {"at": 10, "who": "Ben", "say": "twice a"},
        {"at": 320, "who": "Ben", "say": "twice b"},
        {**END, "at": 330},
    )
    await played.play()
    assert texts(played)[1:-1] == ["a", "b"]


async def test_a_thread_that_exists_is_refused_with_discords_code() -> None:
    played = rehearsal({"at": 10, "who": "Ann", "command": "meeting end"}, END)
    await played.play()
    # The second thread was refused (the bot asserts the code), and the nonce kept the minutes single.
    assert played.minutes_messages == 1
    assert played.lines[-1]["problems"] == []


async def test_requests_fail_as_the_scenario_says() -> None:
    played = rehearsal(
        {"at": 1, "fault": "discord", "status": 500},
        {"at": 2, "who": "Ben", "say": "echo a"},
        {"at": 3, "fault": "discord", "error": "drop"},
        {"at": 4, "who": "Ben", "say": "echo b"},
        {"at": 5, "fault": "discord", "error": "lost"},
        {"at": 6, "who": "Ben", "say": "echo c"},
        {"at": 7, "fault": "discord", "error": "timeout", "for_s": 5},
        {"at": 8, "who": "Ben", "say": "echo d"},
        {"at": 13, "who": "Ben", "say": "echo e"},
        END,
    )
    await played.play()
    outcome = played.host.book.tries
    assert outcome == [
        "status 500",
        "ServerDisconnectedError",
        "ServerDisconnectedError",
        "sent",
        "TimeoutError",
    ]
    assert texts(played)[1:-1] == ["c", "e"]  # the lost answer's message is there


async def test_the_model_fails_as_the_scenario_says() -> None:
    played = rehearsal(
        {"at": 1, "fault": "model", "status": 429, "times": 2},
        {"at": 2, "who": "Ben", "say": "think"},
        {"at": 3, "who": "Ben", "say": "think"},
        {"at": 4, "who": "Ben", "say": "think"},
        {"at": 10, "fault": "model", "error": "timeout"},
        {"at": 11, "who": "Ben", "say": "think"},
        {"at": 100, "fault": "model", "status": 503},
        {"at": 101, "who": "Ben", "say": "think"},
        {"at": 102, "fault": "model", "error": "drop"},
        {"at": 103, "who": "Ben", "say": "think"},
        END,
    )
    await played.play()
    assert [(p["at"], p["text"]) for p in of(played, "post")[1:-1]] == [
        (2.0, "failed: rate_limited"),
        (3.0, "failed: rate_limited"),
        (4.0, "an answer"),
        (36.0, "failed: timeout"),
        (101.0, "failed: server"),
        (103.0, "failed: unreachable"),
    ]
    assert played.lines[-1]["wall_s"] < 5


async def test_an_error_of_the_bot_is_reported() -> None:
    played = rehearsal({"at": 1, "who": "Ben", "say": "boom"}, END)
    await played.play()
    assert played.lines[-1]["problems"] == ["RuntimeError: boom"]


async def test_people_have_the_language_of_the_meeting() -> None:
    played = rehearsal(END, language="ja")
    await played.play()
    assert played.host.book.locales == ["ja"]


async def test_odd_names_and_lengths_are_within_discords_limits() -> None:
    played = rehearsal(
        {"at": 1, "who": "@everyone", "say": "x" * 2000},
        {"at": 2, "who": "@everyone", "say": "🎉🎉"},
        END,
        participants=["@everyone"],
        duration_min=1,
        title="**bold** <@1> @here",
    )
    await played.play()
    assert played.host.book.options["minutes"] == 5  # the command's own shortest
    assert [len(h["text"]) for h in of(played, "human")] == [2000, 2]
    assert played.minutes_messages == 1


async def test_the_same_scenario_plays_the_same_way_twice() -> None:
    events = (
        {"at": 2, "who": "Ben", "say": "echo a"},
        {"at": 3, "who": "Ben", "say": "later 30"},
        {"at": 9, "restart": True},
        {"at": 12, "who": "Ben", "say": "mark b"},
        END,
    )
    first, second = [await rehearsal(*events).play() for _ in range(2)]
    for lines in (first, second):
        lines[-1].pop("wall_s")
    assert first == second


async def test_pace_plays_in_real_time() -> None:
    lines = [HEADER, {**END, "at": 20}]
    played = Rehearsal(parse([json.dumps(line) for line in lines]), ThrowawayHost(), pace=40)
    await played.play()
    assert 0.5 <= played.lines[-1]["wall_s"] <= 4

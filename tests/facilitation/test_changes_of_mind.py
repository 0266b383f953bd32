"""Ordinary editing, deleting and typing again: no decision is lost, inverted, invented or doubled by it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bot.meeting.model import EntryKind, Late, Scene
from bot.prompts.outputs import EntryOut
from bot.store import transcript
from tests.facilitation.sitting import Sitting, finds, held

SAID = "料金は500円で合意しました"
FOUND = finds(EntryOut(kind="decision", text="料金は500円", quote=SAID))


def _decided(document: dict[str, Any]) -> list[str]:
    """Each decision as the minutes have it, with what is out of the ordinary about it."""
    return sorted(
        ("not: " if d["against"] else "") + d["text"] + ("" if d["confirmed"] else " (unconfirmed)")
        for d in document["decisions"]
    )


Step = tuple[str, ...]  # ("say", who, text), ("edit", line, text), ("delete", line)


async def _act(s: Sitting, steps: list[Step]) -> None:
    ids: list[int] = []
    for step in steps:
        if step[0] == "say":
            ids.append(await s.say(step[1], step[2]))
        elif step[0] == "edit":
            await s.edit(ids[int(step[1])], step[2])
        else:
            await s.delete(ids[int(step[1])])
        await asyncio.sleep(8)


DECISIONS = [
    pytest.param(
        [("say", "佐藤", "決定：料金は500円"), ("edit", "0", "決定：料金は600円"), ("edit", "0", "決定：料金は500円")],
        ["料金は500円"],
        id="edited and edited back",
    ),
    pytest.param(
        [("say", "Tom", "#agreed weekend deploys"), ("edit", "0", "#rejected weekend deploys")],
        ["not: weekend deploys"],
        id="agreed made rejected",
    ),
    pytest.param(
        [("say", "Tom", "#rejected weekend deploys"), ("edit", "0", "#agreed weekend deploys")],
        ["weekend deploys"],
        id="rejected made agreed",
    ),
    pytest.param(
        [("say", "佐藤", "決定：料金は15万円"), ("edit", "0", "決定：料金は１．５万円")],
        ["料金は１．５万円"],
        id="a decimal point",
    ),
    pytest.param(
        [("say", "佐藤", "決定：参加は12名"), ("edit", "0", "決定：参加は1〜2名")],
        ["参加は1〜2名"],
        id="a range",
    ),
    pytest.param(
        [("say", "Tom", "Decision: the fee is 15 dollars"), ("say", "Maya", "Decision: the fee is 1.5 dollars")],
        ["the fee is 1.5 dollars", "the fee is 15 dollars"],
        id="another figure by another",
    ),
    pytest.param(
        [("say", "佐藤", "決定：上限は1,000円"), ("say", "鈴木", "決定：上限は１０００円")],
        ["上限は1,000円"],
        id="the comma of thousands",
    ),
    pytest.param(
        [
            ("say", "佐藤", "決定：料金は500円"), ("say", "佐藤", "決定：返信は翌日まで"),
            ("say", "鈴木", "撤回：1"), ("edit", "2", "撤回：2"),
        ],
        ["料金は500円"],
        id="the other one retracted",
    ),
    pytest.param(
        [("say", "Tom", "Decision: we ship"), ("say", "Maya", "Retract: 1"), ("delete", "1")],
        ["we ship"],
        id="a retraction deleted",
    ),
    pytest.param(
        [("say", "佐藤", "決定：料金は500円"), ("say", "佐藤", "#undo"), ("edit", "1", "やはりこのままで")],
        ["料金は500円"],
        id="an undo edited away",
    ),
    pytest.param(
        [
            ("say", "佐藤", "決定：料金は500円"), ("say", "佐藤", "決定：返信は翌日まで"),
            ("say", "佐藤", "#undo"), ("edit", "2", "間違えました\n#undo"),
        ],
        ["料金は500円"],
        id="a line above an undo",
    ),
    pytest.param(
        [("say", "佐藤", "決定：料金は500円"), ("say", "鈴木", "決定：料金は500円"), ("delete", "0")],
        ["料金は500円"],
        id="repeated, the first deleted",
    ),
    pytest.param(
        [
            ("say", "佐藤", "決定：料金は500円"), ("say", "鈴木", "決定：料金は500円"),
            ("edit", "0", "決定：料金は600円"),
        ],
        ["料金は500円", "料金は600円"],
        id="repeated, the first edited",
    ),
    pytest.param(
        [
            ("say", "佐藤", "決定：料金は500円"), ("say", "鈴木", "決定：料金は500円"),
            ("delete", "0"), ("delete", "1"),
        ],
        [],
        id="repeated, both deleted",
    ),
    pytest.param(
        [
            ("say", "Tom", "#rejected deploys"), ("say", "Maya", "#rejected deploys"), ("delete", "0"),
            ("edit", "1", "#agreed deploys"),
        ],
        ["deploys"],
        id="repeated, the second is what is reworded",
    ),
    pytest.param(
        [
            ("say", "佐藤", "決定：料金は500円"), ("say", "鈴木", "決定：料金は600円"),
            ("edit", "0", "決定：料金は600円"),
        ],
        ["料金は600円"],
        id="edited into another",
    ),
    pytest.param(
        [("say", "佐藤", "決定：料金は500円"), ("say", "鈴木", "s/500/60/"), ("edit", "1", "s/500/600/")],
        ["料金は600円"],
        id="a correction corrected",
    ),
    pytest.param(
        [("say", "Tom", "Decision: we ship on May 10"), ("say", "Maya", "s/10/20/"), ("delete", "1")],
        ["we ship on May 10"],
        id="a correction deleted",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("steps", "decided"), DECISIONS)
def test_decisions_are_what_the_messages_say_in_the_end(steps: list[Step], decided: list[str]) -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        await _act(s, steps)
        closed = await s.close()
        assert _decided(closed.document) == decided

    held(story)


FINDS = [
    pytest.param([("delete", "1")], ["料金は500円"], id="found words deleted, typed ones stand"),
    pytest.param(
        [("delete", "2")], ["料金は500円 (unconfirmed)"], id="typed words deleted, found ones stand"
    ),
    pytest.param([("delete", "1"), ("delete", "2")], [], id="both deleted"),
    pytest.param([("edit", "2", "決定：料金は600円")], ["料金は600円"], id="typed words edited"),
    pytest.param(
        [("edit", "2", "料金は500円かどうか")], ["料金は500円 (unconfirmed)"], id="the mark taken away"
    ),
]


@pytest.mark.parametrize(("steps", "decided"), FINDS)
def test_what_was_found_and_then_typed_stands_on_both(steps: list[Step], decided: list[str]) -> None:
    begun: list[Step] = [
        ("say", "佐藤", "料金の話です"),
        ("say", "鈴木", SAID),
        ("say", "佐藤", "決定：料金は500円"),
    ]

    async def story(s: Sitting) -> None:
        await s.start()
        await _act(s, begun + steps)
        closed = await s.close()
        assert _decided(closed.document) == decided

    held(story, FOUND)


@pytest.mark.parametrize("gone", [True, False], ids=["deleted", "edited"])
def test_nothing_is_found_in_words_that_went_while_the_model_thought(gone: bool) -> None:
    reads = asyncio.Event()

    def answer(scene: Scene) -> Any:
        if any(m.text == SAID for m in scene.unread):
            reads.set()
        return FOUND(scene)

    async def story(s: Sitting) -> None:
        await s.start()
        await s.talk(("佐藤", "料金の話です"))
        message = await s.say("鈴木", SAID)
        await reads.wait()
        await (s.delete(message) if gone else s.edit(message, "料金は決まりませんでした"))
        await asyncio.sleep(8)
        assert not s.view.entries
        if not gone:
            assert s.app is not None
            stored = await s.app.db.unit(lambda c: transcript.get(c, s.meeting_id, message))
            assert stored is not None
            assert stored.late is Late.ANSWERED, "it is read again with what comes next"
        assert (await s.close()).document["decisions"] == []

    held(story, answer)


def test_found_words_that_are_edited_are_read_again() -> None:
    changed = "料金は600円で合意しました"
    claims = finds(
        EntryOut(kind="decision", text="料金は500円", quote=SAID),
        EntryOut(kind="decision", text="料金は600円", quote=changed),
    )

    async def story(s: Sitting) -> None:
        await s.start()
        ids = await s.talk(("佐藤", "料金の話です"), ("鈴木", SAID))
        await s.edit(ids[1], changed)
        await s.talk(("佐藤", "なるほど"))
        assert [d.text for d in s.view.decisions] == ["料金は600円"]
        await s.edit(ids[1], SAID)
        closed = await s.close()
        assert _decided(closed.document) == ["料金は500円 (unconfirmed)"]

    held(story, claims)


VOTES = [
    pytest.param("+1", [], "+1\n少し高いですが", 1.0, id="a typo"),
    pytest.param("+1 いいと思う", [], "-1 いいと思わない", -1.0, id="the other way"),
    pytest.param(
        "+1 I thnik so", ["-1 too dear"], "+1 I think so", -1.0, id="an older vote of the same person"
    ),
    pytest.param("+1 fine", ["-1 too dear"], "+0.5 fine", -1.0, id="an older vote changed"),
]


@pytest.mark.parametrize(("vote", "later", "edited", "counted"), VOTES)
def test_an_edited_vote_stays_on_its_proposal_and_in_its_place(
    vote: str, later: list[str], edited: str, counted: float
) -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        ids = await s.talk(("佐藤", "提案：料金は500円"), ("鈴木", vote), *(("鈴木", text) for text in later))
        await s.talk(("佐藤", "提案：本社を移転する"))
        await s.edit(ids[1], edited)
        fee, move = s.view.open_proposals
        assert [v.value for v in fee.votes] == [counted]
        assert not move.votes
        await s.close()

    held(story)


def test_votes_stay_with_their_proposal_when_lines_go_or_move() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        ids = await s.talk(
            ("佐藤", "提案：料金は500円\n提案：会場は本社"), ("鈴木", "-1 #1"), ("田中", "+1 #2")
        )
        await s.edit(ids[0], "提案：会場は本社の4階")
        (proposal,) = s.view.open_proposals
        assert proposal.text == "会場は本社の4階"
        assert [(v.voter_name, v.value) for v in proposal.votes] == [("田中", 1.0)]
        await s.close()

    held(story)


def test_one_of_several_votes_in_a_line_is_turned_round_and_back() -> None:
    async def story(s: Sitting) -> None:
        await s.start(language="en")
        ids = await s.talk(
            ("Tom", "PROPOSAL 1: tool A\nPROPOSAL 2: tool B"), ("Maya", "PROPOSAL 1: +1, PROPOSAL 2: +1")
        )
        for second in (-1, 1, -1):
            await s.edit(ids[1], f"PROPOSAL 1: +1, PROPOSAL 2: {second:+d}")
            await asyncio.sleep(5)
            values = [v.value for p in s.view.open_proposals for v in p.votes]
            assert values == [1.0, float(second)]
        await s.close()

    held(story)


def test_a_vote_below_a_proposal_in_one_message_is_on_it() -> None:
    async def story(s: Sitting) -> None:
        await s.start(language="en")
        await s.talk(("Tom", "Proposal: A"), ("Maya", "Proposal: B\n+1"))
        assert [len(p.votes) for p in s.view.open_proposals] == [0, 1]
        await s.close()

    held(story)


def test_an_action_edited_loses_owner_and_day_that_its_words_lost() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        await s.talk(("田中", "こんにちは"))
        ids = await s.talk(("佐藤", "宿題：田中 料金表を9月10日までに直す"), ("鈴木", "宿題：鍵を返す"))
        await s.meetings.assign(s.place, 2, "鈴木", "9月3日", s.person("佐藤"), s.click())
        first, _ = s.view.actions
        assert (first.owner, first.due) == ("田中", "2026-09-10")
        await s.edit(ids[0], "宿題：田中 料金表を9月20日までに直す")
        assert s.view.actions[0].due == "2026-09-20"
        await asyncio.sleep(5)
        await s.edit(ids[0], "宿題：料金表を直す")
        await s.edit(ids[1], "宿題：鍵を必ず返す")
        first, second = s.view.actions
        assert (first.owner, first.due) == (None, None)
        assert (second.owner, second.due) == ("鈴木", "2026-09-03"), "its words never named them"
        await s.close()

    held(story)


def test_what_is_answered_or_done_may_be_typed_again() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        await s.talk(("佐藤", "未決：開始日"), ("佐藤", "宿題：議事録を送る"))
        await s.meetings.answer(s.place, 1, "5月10日", s.person("鈴木"), s.click())
        await s.meetings.done(s.place, 2, s.person("田中"), s.click())
        await s.talk(("田中", "未決：開始日"), ("田中", "宿題：議事録を送る"))
        assert [q.text for q in s.view.open_questions] == ["開始日"]
        assert [a.status for a in s.view.actions] == ["done", "live"]
        await s.close()

    held(story)


async def _by_menu(s: Sitting, message: int) -> None:
    seen = s.world.seen(s.world.find(s.place.channel_id, message))
    await s.meetings.record(s.place, seen, EntryKind.DECISION, s.person("鈴木"), s.click())


@pytest.mark.parametrize(
    ("edited", "decided"),
    [
        ("料金は600円でお願いします", ["料金は600円でお願いします"]),
        ("決定：料金は600円", ["料金は600円"]),
    ],
)
def test_what_the_menu_recorded_is_reworded_with_its_message(edited: str, decided: list[str]) -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        (message,) = await s.talk(("佐藤", "料金は500円でお願いします"))
        await _by_menu(s, message)
        await s.edit(message, edited)
        assert _decided((await s.close()).document) == decided

    held(story)


def test_the_menu_on_a_proposal_decides_it() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        (message,) = await s.talk(("佐藤", "提案：料金は500円"))
        await _by_menu(s, message)
        closed = await s.close()
        assert _decided(closed.document) == ["料金は500円"]
        assert closed.texts("decided_proposals") == ["料金は500円"]

    held(story)


ANSWER = EntryOut(kind="answer", text="5月10日", quote="開始日は5月10日です", refers_to=1)


@pytest.mark.parametrize(
    "change",
    [lambda s, m: s.delete(m), lambda s, m: s.edit(m, "開始日はまだ分かりません")],
    ids=["deleted", "edited"],
)
def test_an_answer_that_is_gone_answers_nothing(change: Callable[[Sitting, int], Any]) -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        ids = await s.talk(("佐藤", "未決：開始日"), ("鈴木", "開始日は5月10日です"))
        assert not s.view.open_questions
        await change(s, ids[1])
        assert [q.text for q in s.view.open_questions] == ["開始日"]
        await s.close()

    held(story, finds(ANSWER))


def test_a_rewording_that_was_found_goes_with_its_message() -> None:
    claim = EntryOut(kind="revision", text="料金は600円", quote="料金は600円に直します", refers_to=1)

    async def story(s: Sitting) -> None:
        await s.start()
        ids = await s.talk(("佐藤", "決定：料金は500円"), ("鈴木", "料金は600円に直します"))
        assert [d.text for d in s.view.decisions] == ["料金は600円"]
        await s.delete(ids[1])
        assert _decided((await s.close()).document) == ["料金は500円"]

    held(story, finds(claim))


def test_what_people_confirmed_outlives_a_mended_typo_of_its_source() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        _, source = await s.talk(("佐藤", "料金の話です"), ("鈴木", SAID))
        await s.meetings.confirm(s.place, None, s.person("佐藤"), s.click())
        await s.edit(source, "料金は500円ということで合意しています")
        await asyncio.sleep(60)
        closed = await s.close()
        assert _decided(closed.document) == ["料金は500円"]

    held(story, FOUND)

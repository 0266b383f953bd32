"""What people do in a meeting, and what ledger, room, read-back and minutes make of it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from bot.errors import AlreadyOpen, BadInput
from bot.meeting.ledger import votes_summary
from bot.meeting.model import EntryKind, MeetingState, Origin
from bot.phrases import t
from bot.prompts.outputs import EntryOut
from bot.stage import Busy
from tests.crash.world import Calm
from tests.facilitation.sitting import Sitting, finds, held

T = TypeVar("T")
FOUND = "サポートは一日以内に返信することで合意しました"
FIND = finds(EntryOut(kind="decision", text=FOUND, quote=FOUND))


# ---------------------------------------------------------------- conflicts


def test_a_decision_against_a_constraint_is_pointed_out_everywhere() -> None:
    async def story(s: Sitting) -> None:
        await s.start(constraints=["外注費は20万円以内"])
        await s.talk(("佐藤", "費用の話です"), ("鈴木", "決定：外注費は30万円にする"))
        warned = [post for post in s.said() if "30万円" in post and "20万円" in post]
        assert len(warned) == 1
        read_back = await s.read_back()
        assert "⚠️ #1" in read_back
        closed = await s.close()
        assert closed.document["decisions"][0]["conflicts_with"] == [1]
        assert t("minutes.conflict", "ja", numbers="#1") in closed.text
        assert t("minutes.broken_by", "ja", numbers="#2") in closed.text

    held(story)


def test_a_decision_against_an_earlier_one_is_pointed_out_and_settled_by_people() -> None:
    async def story(s: Sitting) -> None:
        await s.start(language="en")
        await s.talk(
            ("Tom", "Decision: the launch is on May 10"),
            ("Maya", "Decision: the launch is on May 20"),
        )
        assert [post for post in s.said() if "May 10" in post and "May 20" in post]
        assert [d.conflicts_with for d in s.view.decisions] == [(), (1,)]
        await s.meetings.retract(s.place, 1, s.person("Tom"), s.click())
        closed = await s.close()
        assert closed.texts("decisions") == ["the launch is on May 20"]
        assert closed.document["decisions"][0]["conflicts_with"] == []
        assert closed.texts("withdrawn") == ["the launch is on May 10"]

    held(story)


# ---------------------------------------------------------------- the read-back


def test_what_people_correct_at_the_read_back_is_in_the_minutes() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        await s.talk(("佐藤", "決定：料金は500円にする"), ("鈴木", "未決：開始日"))
        assert "料金は500円にする" in await s.read_back()
        await s.meetings.correct(s.meeting_id, s.person("鈴木"), "決定：解約はいつでもできる", s.click())
        await s.meetings.revise(s.place, 1, "料金は600円にする", s.person("佐藤"), s.click())
        await s.say("田中", "宿題：田中 料金表を直す")
        await s.meetings.correct(s.meeting_id, s.person("Maya"), "請求書の話もした", s.click())
        closed = await s.close()
        assert closed.texts("decisions") == ["料金は600円にする", "解約はいつでもできる"]
        assert closed.texts("replaced") == ["料金は500円にする"]
        assert [(a["text"], a["owner"]) for a in closed.document["actions"]] == [
            ("田中 料金表を直す", "田中")
        ]
        assert closed.texts("notes") == ["請求書の話もした"]

    held(story)


def test_confirming_at_the_read_back_confirms_what_was_found() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        await s.talk(("佐藤", "返信の話です"), ("鈴木", FOUND))
        read_back = await s.read_back()
        assert t("readback.no_decisions", "ja") not in read_back
        await s.meetings.confirm(s.place, None, s.person("佐藤"), s.click())
        closed = await s.close()
        assert [(d["confirmed"], d["confirmed_by"]) for d in closed.document["decisions"]] == [
            (True, ["佐藤"])
        ]

    held(story, FIND)


# ---------------------------------------------------------------- sources edited and deleted


@pytest.mark.parametrize("heard", [True, False], ids=["seen at once", "while the bot was away"])
def test_an_edited_mark_is_a_revision(heard: bool) -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        ids = await s.talk(("佐藤", "決定：料金は500円にする"), ("鈴木", "宿題：田中 料金表を直す"))
        await _away(s, heard, lambda: s.edit(ids[0], "決定：料金は600円にする", heard=heard))
        await _away(s, heard, lambda: s.edit(ids[1], "宿題をどうするか話しました", heard=heard))
        closed = await s.close()
        assert closed.texts("decisions") == ["料金は600円にする"]
        assert closed.texts("replaced") == ["料金は500円にする"]
        assert closed.texts("actions") == []
        assert closed.texts("withdrawn") == ["田中 料金表を直す"]
        changes = [e for e in closed.entries if e.origin is Origin.EDIT]
        assert [e.kind for e in changes] == [EntryKind.REVISION, EntryKind.RETRACTION]

    held(story)


EDITS = [
    pytest.param(
        "提案：料金は500円", ["決定：料金は500円"], ["料金は500円"], id="a proposal made a decision"
    ),
    pytest.param(
        "決定：料金は500円", ["経緯は長いので省きます\n決定：料金は500円"], ["料金は500円"], id="a line above"
    ),
    pytest.param(
        "決定：料金は500円", ["提案：料金は500円", "決定：料金は500円"], ["料金は500円"], id="there and back"
    ),
    pytest.param("決定：料金は500円", ["料金の話", "決定：料金は500円"], ["料金は500円"], id="away and back"),
    pytest.param(
        "Decision: A stays\nDecision: B goes",
        ["Decision: B goes\nDecision: A stays"],
        ["A stays", "B goes"],
        id="swapped",
    ),
    pytest.param(
        "決定：料金は500円",
        ["決定：料金は600円", "前置き\n決定：料金は700円"],
        ["料金は700円"],
        id="moved and reworded",
    ),
]


@pytest.mark.parametrize(("first", "later", "decided"), EDITS)
def test_no_edit_loses_a_decision(first: str, later: list[str], decided: list[str]) -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        (message,) = await s.talk(("佐藤", first))
        for text in later:
            await s.edit(message, text)
            await asyncio.sleep(5)
        closed = await s.close()
        assert sorted(closed.texts("decisions")) == decided

    held(story)


def test_an_edit_of_another_line_brings_back_nothing_and_unsays_nobody() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        ids = await s.talk(("佐藤", "決定：料金は500円\n決定：返信は翌日まで"), ("鈴木", "撤回：料金は500円"))
        await s.meetings.revise(s.place, 2, "返信は当日中", s.person("鈴木"), s.click())
        await s.edit(ids[0], "決定：料金は500円\n決定：返信は翌日まで\nメモ：部屋は4階")
        closed = await s.close()
        assert closed.texts("decisions") == ["返信は当日中"]
        assert closed.texts("withdrawn") == ["料金は500円"]

    held(story)


@pytest.mark.parametrize(
    ("edited", "sum_of_votes"),
    [("-1 やはり高い", -1), ("高いと思います", 0), ("+1 賛成です\n少し高いですが", 1)],
)
def test_an_edited_vote_is_the_vote_as_it_reads_now(edited: str, sum_of_votes: int) -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        ids = await s.talk(("佐藤", "提案：料金は500円"), ("鈴木", "+1 賛成です"))
        await s.edit(ids[1], edited)
        (proposal,) = (await s.meetings.ledger(s.place)).open_proposals
        assert sum(v.value or 0 for v in proposal.votes) == sum_of_votes
        await s.delete(ids[1])
        (proposal,) = (await s.meetings.ledger(s.place)).open_proposals
        assert not proposal.votes

    held(story)


@pytest.mark.parametrize("heard", [True, False], ids=["seen at once", "while the bot was away"])
def test_a_deleted_mark_is_a_retraction_with_its_quote_redacted(heard: bool) -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        ids = await s.talk(("佐藤", "決定：料金は500円にする"), ("鈴木", "はい"))
        await _away(s, heard, lambda: s.delete(ids[0], heard=heard))
        closed = await s.close()
        assert closed.texts("decisions") == []
        assert closed.texts("withdrawn") == ["料金は500円にする"]
        first, last = closed.entries[0], closed.entries[-1]
        assert (first.quote, first.redacted) == ("", True)
        assert (last.kind, last.origin, last.refers_to) == (EntryKind.RETRACTION, Origin.DELETE, 1)
        assert "決定：料金は500円にする" not in closed.text

    held(story)


async def _away(s: Sitting, heard: bool, change: Callable[[], Any]) -> None:
    """`change` happens while the bot is away, unless it is heard of at once."""
    if not heard:
        await s.sleep()
    await change()
    if not heard:
        await asyncio.sleep(30)
        await s.wake()


def test_a_deleted_source_of_a_find_takes_the_find_away() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        ids = await s.talk(("佐藤", "返信の話です"), ("鈴木", FOUND))
        assert s.view.decisions
        await s.delete(ids[1])
        closed = await s.close()
        assert closed.texts("decisions") == []
        assert closed.entries[0].quote == ""

    held(story, FIND)


# ---------------------------------------------------------------- votes, confirmations, objections


def test_votes_count_from_text_and_reactions_and_decide_nothing() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        ids = await s.talk(
            ("佐藤", "提案：公開は5月10日にする"),
            ("鈴木", "+1 余裕があるので"),
            ("田中", "反対"),
            ("鈴木", "保留"),
        )
        await s.react("Maya", ids[0], "👍")
        await s.react("Tom", ids[0], "👎")
        await s.react("田中", ids[0], "👍")
        (proposal,) = s.view.open_proposals
        assert {v.voter_name: v.value for v in proposal.votes} == {
            "鈴木": 0.0,
            "Maya": 1.0,
            "Tom": -1.0,
            "田中": 1.0,
        }
        assert votes_summary(proposal)[:3] == (2, 1, 1)
        closed = await s.close()
        assert closed.texts("decisions") == []
        assert closed.texts("proposals") == ["公開は5月10日にする"]
        assert t("minutes.votes", "ja", favour=2, neutral=1, against=1) in closed.text

    held(story)


def test_a_vote_is_on_the_proposal_it_replies_to_and_none_after_the_newest_is_decided() -> None:
    async def story(s: Sitting) -> None:
        await s.start(language="en")
        old, _ = await s.talk(("Tom", "Proposal: we meet on Mondays"), ("Maya", "PROPOSED: we use one tool"))
        await s.say("Tom", "-1 too early", reply_to=old)
        await s.talk(("鈴木", "+1"), ("Tom", "RESOLVED: we use one tool"), ("Maya", "+1"))
        votes = {p.text: [(v.voter_name, v.value) for v in p.votes] for p in s.view.of(EntryKind.PROPOSAL)}
        assert votes == {"we meet on Mondays": [("Tom", -1.0)], "we use one tool": [("鈴木", 1.0)]}
        await s.close()

    held(story)


def test_a_reaction_taken_back_takes_the_vote_back() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        ids = await s.talk(("佐藤", "提案：公開は5月10日にする"), ("鈴木", "はい"))
        await s.react("Maya", ids[0], "👍")
        await s.react("Maya", ids[0], "👍", added=False)
        await s.react("Tom", ids[0], "👍")
        await s.react("Tom", ids[0], "👍", added=False)
        await s.react("Tom", ids[0], "👍")
        assert [v.voter_name for v in s.view.open_proposals[0].votes] == ["Tom"]
        await s.react("Tom", ids[0], "👍", added=False)
        assert s.view.open_proposals[0].votes == ()
        await s.close()

    held(story)


def test_a_tick_confirms_and_a_cross_objects() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        ids = await s.talk(("佐藤", "返信の話です"), ("鈴木", FOUND))
        assert [d.status for d in s.view.decisions] == ["unconfirmed"]
        await s.react("佐藤", ids[1], "✅")
        await s.react("佐藤", ids[1], "✅")
        await s.react("Maya", ids[1], "❌")
        closed = await s.close()
        (decision,) = closed.document["decisions"]
        assert (decision["confirmed"], decision["confirmed_by"]) == (True, ["佐藤"])
        assert [o["who"] for o in decision["objections"]] == ["Maya"]
        assert sum(e.kind is EntryKind.CONFIRMATION for e in closed.entries) == 1

    held(story, FIND)


def test_a_proposal_becomes_a_decision_only_by_a_person() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        await s.talk(
            ("佐藤", "提案：公開は5月10日にする"), ("鈴木", "提案：会場は本社にする"), ("田中", "+1")
        )
        await s.meetings.confirm(s.place, 1, s.person("佐藤"), s.click())
        closed = await s.close()
        assert closed.texts("decisions") == ["公開は5月10日にする"]
        assert closed.texts("proposals") == ["会場は本社にする"]
        assert closed.texts("decided_proposals") == ["公開は5月10日にする"]

    held(story)


# ---------------------------------------------------------------- sizes and odd input


def test_a_meeting_of_120_decisions_loses_none() -> None:
    long = "料金は" + "とても" * 630 + "高くしない"
    assert 1890 < len(long) < 1910

    async def story(s: Sitting) -> None:
        await s.start(minutes=300)
        for number in range(119):
            await s.say(
                "佐藤",
                f"決定：規則{number}番は、**{number * 7}**回まで <@1{number}> https://example.com/{number}_a_b",
            )
        await s.say("鈴木", f"決定：{long}")
        await asyncio.sleep(30)
        closed = await s.close(ask=False)
        assert len(closed.texts("decisions")) == 120
        assert long in closed.text
        assert len(closed.published) == 1
        post = closed.published[0].post
        assert post is not None
        assert sum(len(e.title) + len(e.description) + len(e.footer) for e in post.embeds) <= 6000
        shown = sum(f"**#{n}**" in e.description for n in range(1, 121) for e in post.embeds)
        assert any(str(120 - shown) in e.description for e in post.embeds), "what does not fit is counted"

    held(story)


def test_odd_messages_stop_nothing() -> None:
    whole = "決定：" + "長" * 1997
    odd = (
        whole,
        "🎉🎉🎉",
        "決定：🎉",
        "@everyone @here <@&5>",
        "\u202e決定：逆向き",
        "```",
        "",
        "決定：",
        "||秘密||",
        "決定：\u0627\u0644\u0633\u0639\u0631 10",
    )

    async def story(s: Sitting) -> None:
        await s.start()
        for text in odd:
            await s.say("鈴木", text)
        await s.say("Maya", "決定：ほかのボットの言うこと", bot=True)
        await s.say("@everyone", "決定：名前が悪い人の決定")
        await asyncio.sleep(30)
        closed = await s.close()
        decided = closed.texts("decisions")
        assert "長" * 1997 in decided
        assert "🎉" in decided
        assert "名前が悪い人の決定" in decided
        assert not [d for d in decided if "ほかのボット" in d]
        published = closed.published[0].post
        assert published is not None
        shown = [closed.text, published.text, *closed.posts, *(e.description for e in published.embeds)]
        assert not [text for text in shown if "@everyone" in text or "@here" in text or "\u202e" in text]

    held(story)


def test_a_title_with_markdown_and_mentions_is_shown_as_text() -> None:
    title = "**大事** @everyone <@&7> `x` [押す](https://evil.example) # 会議"

    async def story(s: Sitting) -> None:
        await s.start(title=title, agenda=["## 価格 <@9>", "@here"], constraints=["**20万円**以内 <@8>"])
        await s.talk(("佐藤", "決定：進める"), ("鈴木", "はい"))
        closed = await s.close()
        assert closed.document["meeting"]["title"] == title
        published = closed.published[0].post
        assert published is not None
        shown = [closed.text, published.text, *closed.posts, *(e.description for e in published.embeds)]
        for text in shown:
            assert "@everyone" not in text
            assert "@here" not in re.sub(r"`[^`]*`", "", text), "as code it calls nobody"
            assert not re.search(r"(?<!\\)\[押す(?<!\\)\]\(", text)

    held(story)


def test_an_empty_meeting_and_one_of_the_chair_alone_have_minutes() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        closed = await s.close()
        assert closed.document["decisions"] == closed.document["attendance"] == []
        assert t("minutes.nobody", "ja") in closed.text
        await s.start(language="en")
        await s.talk(("佐藤", "Decision: I go on alone"), ("佐藤", "sounds good"))
        closed = await s.close()
        assert closed.texts("decisions") == ["I go on alone"]
        assert [p["share"] for p in closed.document["attendance"]] == [1.0]

    held(story)


def test_one_channel_has_one_open_meeting_and_bad_starts_are_told() -> None:
    async def story(s: Sitting) -> None:
        await s.start()
        with pytest.raises(AlreadyOpen):
            await s.start()
        with pytest.raises(BadInput):
            await s.start(title="\u200b ")
        with pytest.raises(BadInput):
            await s.start(title="長" * 101)
        await s.close(ask=False)

    held(story)


# ---------------------------------------------------------------- after the minutes are frozen


class _SlowPublishing(Calm):
    """Discord takes no post for a while."""

    def __init__(self) -> None:
        self.closed = False

    async def call(self, kind: Any, name: str, apply: Callable[[], T]) -> T:
        if self.closed and name == "say":
            raise Busy(5.0)
        return await super().call(kind, name, apply)


def test_what_comes_after_the_minutes_are_frozen_is_not_half_recorded() -> None:
    tap = _SlowPublishing()

    async def story(s: Sitting) -> None:
        await s.start()
        ids = await s.talk(("佐藤", "決定：料金は500円にする"), ("鈴木", "提案：会場は本社にする"))
        await s.meetings.end(s.place, s.person("佐藤"), now=True, interaction_id=s.click())
        await asyncio.sleep(0.5)
        tap.closed = True
        await asyncio.sleep(60)
        assert s.room.draft_done
        assert s.room.meeting.state is MeetingState.WRITING
        late = await s.say("鈴木", "決定：料金は900円にする")
        await s.edit(ids[0], "決定：料金は700円にする")
        await s.react("Maya", ids[1], "👍")
        await s.delete(late)
        tap.closed = False
        await asyncio.sleep(120)
        closed = await s.left()
        assert closed.texts("decisions") == ["料金は500円にする"]
        assert len(closed.entries) == 2

    held(story, tap=tap)


def test_an_agenda_item_is_not_reworded_by_its_number() -> None:
    async def story(s: Sitting) -> None:
        await s.start(agenda=["価格"])
        await s.talk(("佐藤", "議題：価格"))
        with pytest.raises(BadInput) as refused:
            await s.meetings.revise(s.place, 1, "予算は350万円まで", s.person("佐藤"), s.click())
        assert refused.value.key == "error.agenda_item"
        assert [e.text for e in s.view.of(EntryKind.TOPIC)] == ["価格"]

    held(story)


def test_what_was_retracted_is_not_changed_in_silence() -> None:
    async def story(s: Sitting) -> None:
        await s.start(language="en")
        tom = s.person("Tom")
        await s.talk(
            ("Tom", "Decision: the launch is on May 10"),
            ("Tom", "TODO: Maya books the hall"),
            ("Tom", "Open: who speaks?"),
        )
        for number in (1, 2, 3):
            await s.meetings.retract(s.place, number, tom, s.click())
        entries = len(s.room.entries)
        for act in (
            s.meetings.revise(s.place, 1, "the launch is on May 30", tom, s.click()),
            s.meetings.confirm(s.place, 1, tom, s.click()),
            s.meetings.assign(s.place, 2, "Priya", None, tom, s.click()),
            s.meetings.answer(s.place, 3, "Priya speaks", tom, s.click()),
        ):
            with pytest.raises(BadInput) as refused:
                await act
            assert refused.value.key == "error.retracted_already"
        assert len(s.room.entries) == entries
        assert (await s.close()).texts("decisions") == []

    held(story)


def test_what_was_replaced_is_reworded_under_its_new_number_only() -> None:
    later = "the launch is on May 20 instead"
    change = finds(EntryOut(kind="decision", text=later, quote=later, refers_to=1))

    async def story(s: Sitting) -> None:
        await s.start(language="en")
        tom = s.person("Tom")
        await s.talk(("Tom", "Decision: the launch is on May 10"), ("Maya", later))
        await s.meetings.confirm(s.place, 2, tom, s.click())
        with pytest.raises(BadInput) as refused:
            await s.meetings.revise(s.place, 1, "the launch is on May 30", tom, s.click())
        assert refused.value.key == "error.retracted_already"
        await s.meetings.revise(s.place, 2, "the launch is on May 21", tom, s.click())
        assert (await s.close()).texts("decisions") == ["the launch is on May 21"]

    held(story, change)

"""How a panel ends, who speaks next, and that only people confirm, object and end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bot.errors import BadInput
from bot.meeting.model import EntryKind, MeetingState, Origin, Phase, Route, Scene
from bot.models.base import ProviderError, Usage
from bot.models.offline import respond
from bot.phrases import t
from bot.prompts.outputs import EntryOut, MinutesOut, PanelOut, TurnOut
from bot.store import servers
from bot.store.servers import ServerSettings
from tests.facilitation.sitting import PLACE, Sitting, held
from tests.panel.held import ROLES, Scripted, panel_posts, start, words

LINES = (
    "社長の机を最初の場面に置くと、三分で雰囲気が伝わります。",
    "机の絵は一枚なら描けます。動かすのは後回しにします。",
    "電車で片手でも読める文字の大きさにしてほしいです。",
    "音は消して遊ぶ人が多いので、色の変化で知らせましょう。",
    "色だけに頼ると見分けられない人がいます。形も変えます。",
    "形が増えると覚えられません。三種類までなら平気です。",
    "三種類なら、朝・昼・夜の机に合わせて見せ分けられます。",
    "夜の机は既にある絵を暗くするだけで済みます。",
    "夜しか開けない人には、その机が毎日の顔になります。",
)


def says(
    text: Callable[[int], str] = lambda turn: LINES[(turn - 1) % len(LINES)],
    *,
    agrees: Callable[[Scene], bool] = lambda scene: False,
    turn: Callable[[Scene], Any] = lambda scene: TurnOut(),
) -> Callable[[Scene, int], Any]:
    def said(scene: Scene, attempt: int) -> Any:
        match scene.route:
            case Route.PANEL:
                return PanelOut(response=text(int(scene.extra["turn"])), agrees=agrees(scene))
            case Route.TURN:
                return turn(scene)
            case Route.MINUTES:
                return MinutesOut()
            case _:
                return respond(scene)

    return said


def panel(
    story: Callable[[Sitting], Any],
    said: Callable[[Scene, int], Any] | None = None,
    usage: Usage | None = None,
) -> None:
    async def with_model(sitting: Sitting) -> None:
        sitting.model = Scripted(said or says(), usage)  # type: ignore[assignment]
        await story(sitting)

    held(with_model)


def told(sitting: Sitting, key: str, **values: object) -> bool:
    start_of = t(f"panel.end.{key}", "ja", **{"turns": "{}", "cap": "{}", **values}).split("{}")[0]
    return any(text.startswith(start_of) for text in sitting.said())


# ---------------------------------------------------------------------- the end


def test_it_stops_at_the_turn_limit_and_closes_as_any_meeting() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=4)
        await asyncio.sleep(300)
        closed = await sitting.left()
        assert len(panel_posts(sitting)) == 4
        assert told(sitting, "turns", turns=4)
        assert len(closed.published) == 1
        assert closed.document["panel"]["ended"] == "turns"

    panel(story)


def _proposes(turn: int) -> str:
    return "提案：机の絵から始める" if turn == 1 else LINES[turn]


def test_it_stops_when_every_role_agrees() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=30)
        await asyncio.sleep(300)
        closed = await sitting.left()
        assert closed.document["panel"]["ended"] == "agreed"
        assert len(panel_posts(sitting)) == 4  # the first only proposed: it agrees in its second turn
        assert closed.view.decisions == ()
        assert [p["confirmed_by"] for p in closed.document["proposals"]] == [[]]

    panel(story, says(_proposes, agrees=lambda scene: int(scene.extra["turn"]) > 1))


def test_agreeing_with_nothing_is_no_agreement() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=6)
        await asyncio.sleep(300)
        assert (await sitting.left()).document["panel"]["ended"] == "turns"

    panel(story, says(agrees=lambda scene: True))


@pytest.mark.parametrize("objection", ["音の話がまだ出ていません、そこが心配です", "-1 まだ早いです"])
def test_a_person_who_objects_opens_another_round(objection: str) -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=9)
        while len(panel_posts(sitting)) < 3:  # noqa: ASYNC110
            await asyncio.sleep(1)
        await sitting.say("佐藤", objection)
        await asyncio.sleep(300)
        closed = await sitting.left()
        assert closed.document["panel"]["ended"] == "agreed"
        assert len(panel_posts(sitting)) > 4

    panel(story, says(_proposes, agrees=lambda scene: int(scene.extra["turn"]) > 1))


def test_it_stops_before_the_cost_cap() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=30, cap=0.5)
        await asyncio.sleep(900)
        closed = await sitting.left()
        assert closed.document["panel"]["ended"] == "cost"
        assert 1 < len(panel_posts(sitting)) < 9
        assert told(sitting, "cost", cap="0.5")
        board = next(m for m in sitting.world.mine if m.post and m.post.pin)
        assert any("米ドル" in e.description for _, post in board.edits for e in post.embeds), (
            "who pays is shown"
        )

    panel(story, usage=Usage(20_000, 0, 2_000))


def test_it_says_plainly_that_the_provider_is_down() -> None:
    async def story(sitting: Sitting) -> None:
        await sitting.wake()
        assert sitting.app is not None
        sitting.app.core.model_name = lambda route: "scripted"  # no offline engine by choice
        await start(sitting, turns=12)
        await asyncio.sleep(900)
        closed = await sitting.left()
        assert closed.document["panel"]["ended"] == "provider"
        assert len(panel_posts(sitting)) == 2
        assert told(sitting, "provider")

    def said(scene: Scene, attempt: int) -> Any:
        if scene.route is Route.PANEL and int(scene.extra["turn"]) > 2:
            return ProviderError("server")
        return says()(scene, attempt)

    panel(story, said)


def test_after_a_fault_of_the_provider_the_same_role_has_its_turn() -> None:
    failed: list[int] = []

    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=6)
        await asyncio.sleep(600)
        assert [p.author_name for p in panel_posts(sitting)] == [r.shown for r in ROLES] * 2

    def said(scene: Scene, attempt: int) -> Any:
        if scene.route is Route.PANEL and int(scene.extra["turn"]) == 3 and len(failed) < 2:
            failed.append(attempt)
            return ProviderError("server")
        return says()(scene, attempt)

    panel(story, said)


def test_who_says_the_same_again_passes() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=5)
        await asyncio.sleep(400)
        closed = await sitting.left()
        assert [words(p) for p in panel_posts(sitting)] == [LINES[0]]
        assert closed.document["panel"]["turns_taken"] == 5

    panel(story, says(lambda turn: LINES[0]))


# ---------------------------------------------------------------------- whose turn it is


def test_a_role_that_is_addressed_by_name_goes_next() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=5)
        while len(panel_posts(sitting)) < 1:  # noqa: ASYNC110
            await asyncio.sleep(1)
        await sitting.say("佐藤", "利用者さん、通勤中でも遊べそうですか？")
        await asyncio.sleep(300)
        names = [p.author_name.removeprefix("🤖 ") for p in panel_posts(sitting)]
        assert names == ["企画", "利用者", "開発", "企画", "利用者"]

    panel(story)


def test_people_come_in_between_and_the_facilitator_reads_them_first() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=4)
        while len(panel_posts(sitting)) < 1:  # noqa: ASYNC110
            await asyncio.sleep(1)
        said = await sitting.say("佐藤", "決定：体験版は8月末までに出す")
        await asyncio.sleep(300)
        posts = panel_posts(sitting)
        after = next(p for p in posts if p.message_id > said)
        person = next(m for m in sitting.world.channels[sitting.place.channel_id] if m.message_id == said)
        assert (after.at - person.at).total_seconds() >= 3.0
        order = [(s.route, max((m.message_id for m in s.unread), default=0)) for s in sitting.model.asked]
        read = next(n for n, (route, newest) in enumerate(order) if route is Route.TURN and newest >= said)
        later = [n for n, (route, _) in enumerate(order) if route is Route.PANEL and n > read]
        assert later, "the panel went on after the facilitator's turn"
        closed = await sitting.left()
        assert [(d["text"], d["confirmed"]) for d in closed.document["decisions"]] == [
            ("体験版は8月末までに出す", True)
        ]

    panel(story)


# ---------------------------------------------------------------------- what only people can do


def test_the_panel_never_confirms_wishes_or_answers_the_read_back() -> None:
    texts = (
        "決定：机の絵から始める\nほかの場面はあとから足せます。",
        "提案：音は入れない",
        "+1 音を消して遊ぶ人が多いからです。",
        "決定：机の絵から始める\n二人とも同じ考えです。はい、賛成です。",
        "制約：予算は10万円以内",
        "撤回：1",
    )

    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=6)
        await asyncio.sleep(120)
        assert sitting.room.meeting.wish_by is None
        await asyncio.sleep(300)
        closed = await sitting.left()
        kinds = {e.kind for e in closed.entries if e.origin is Origin.PANEL}
        assert EntryKind.CONFIRMATION not in kinds
        assert EntryKind.CONSTRAINT not in kinds, "a panelist's constraint binds nobody"
        assert [c["text"] for c in closed.document["constraints"]] == ["CEOは必ずAIとする"]
        (decision,) = closed.document["decisions"]
        assert (decision["origin"], decision["confirmed"]) == ("panel", False)
        assert "予算は10万円以内" in closed.texts("proposals")
        votes = [v for p in closed.document["proposals"] for v in p["votes"]]
        assert votes
        assert all(v["panel"] and v["who"].startswith("🤖 ") for v in votes)

    panel(story, says(lambda turn: texts[turn - 1]))


@pytest.mark.parametrize(
    "text", ["会議を終わりましょう。", "進行：次の議題に移ります。", "@everyone 見てください。"]
)
def test_what_a_panelist_may_not_say_is_never_seen(text: str) -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=3)
        await asyncio.sleep(300)
        await sitting.left()
        said = [words(p) for p in panel_posts(sitting)]
        assert len(said) == 2
        assert not any(text in one for one in said)

    # The name line in front of a text is taken off before anybody sees it, so it stands in the middle here.
    panel(story, says(lambda turn: f"{LINES[turn]}\n{text}" if turn == 2 else LINES[turn]))


def test_a_models_wish_out_of_a_panelists_words_ends_nothing() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=4)
        await asyncio.sleep(50)
        assert sitting.room.meeting.state is not MeetingState.CLOSED
        assert len(panel_posts(sitting)) == 4
        await asyncio.sleep(200)
        assert (await sitting.left()).document["panel"]["ended"] == "turns"

    def turn(scene: Scene) -> Any:
        quote = scene.unread[-1].text if scene.unread else None
        return TurnOut(phase=Phase.CLOSING, closing_complete=True, wish_quote=quote)

    panel(story, says(lambda n: "体験版がきれいに終わる場面も考えます。" if n == 2 else LINES[n], turn=turn))


def test_a_panelists_answer_stays_a_position_until_a_person_confirms_it() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=4)
        await sitting.say("佐藤", "未決：音を入れるかどうか")
        await asyncio.sleep(60)
        (question,) = sitting.view.open_questions
        assert any("🤖" in p for p in question.positions)
        answer = next(e for e in sitting.room.entries if e.kind is EntryKind.ANSWER)
        assert answer.origin is Origin.PANEL
        await sitting.meetings.confirm(sitting.place, answer.number, sitting.person("佐藤"), sitting.click())
        assert sitting.view.open_questions == ()
        with pytest.raises(BadInput):
            await sitting.meetings.confirm(
                sitting.place, answer.number, sitting.person("佐藤"), sitting.click()
            )

    def turn(scene: Scene) -> Any:
        asked = [i for i in scene.ledger.open_questions if i.original.origin is Origin.MARK]
        said = [m for m in scene.unread if "色の変化で知らせましょう" in m.text]
        if not asked or not said:
            return TurnOut()
        return TurnOut(
            entries=[
                EntryOut(
                    kind="answer", text="音は消して遊ぶ人が多いので、色の変化で知らせる",
                    quote="色の変化で知らせましょう", refers_to=asked[0].number,
                )
            ]
        )  # fmt: skip

    panel(story, says(turn=turn))


# ---------------------------------------------------------------------- limits of the server, and prices


def test_it_stops_when_the_servers_day_is_used_up() -> None:
    async def story(sitting: Sitting) -> None:
        await sitting.wake()
        assert sitting.app is not None
        settings = ServerSettings(PLACE.guild_id, generations_per_day=8)
        await sitting.app.db.unit(lambda c: servers.save(c, settings))
        await start(sitting, turns=20)
        await asyncio.sleep(400)
        closed = await sitting.left()
        assert closed.document["panel"]["ended"] == "limits"
        assert 2 <= len(panel_posts(sitting)) <= 8
        assert told(sitting, "limits")

    panel(story)


def test_a_cap_on_money_needs_a_price() -> None:
    async def story(sitting: Sitting) -> None:
        await sitting.wake()
        assert sitting.app is not None
        sitting.app.core.model_name = lambda route: "a-model-without-a-price"
        with pytest.raises(BadInput) as refused:
            await start(sitting, turns=2, cap=1.0)
        assert (refused.value.key, refused.value.values) == (
            "panel.error.no_price",
            {"model": "a-model-without-a-price"},
        )
        await start(sitting, turns=1)
        await asyncio.sleep(200)
        await sitting.left()

    panel(story)


def test_a_person_can_make_a_panelists_words_their_own() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=2)
        await asyncio.sleep(15)
        (post,) = panel_posts(sitting)
        seen = sitting.world.seen(post)
        by = sitting.person("佐藤")
        await sitting.meetings.record(sitting.place, seen, EntryKind.DECISION, by, sitting.click())
        (decision,) = sitting.view.decisions
        assert (decision.text, decision.status, decision.entry.author_name) == (
            words(post),
            "confirmed",
            "佐藤",
        )
        board = next(m for m in sitting.world.mine if m.post and m.post.pin)
        with pytest.raises(BadInput):
            await sitting.meetings.record(
                sitting.place, sitting.world.seen(board), EntryKind.DECISION, by, sitting.click()
            )

    panel(story)


# ---------------------------------------------------------------------- people end it, and let it go on


def test_people_end_it_and_keep_going_lets_it_go_on() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=5)
        await asyncio.sleep(22)
        before = len(panel_posts(sitting))
        assert 0 < before < 5
        await sitting.read_back()
        await asyncio.sleep(25)
        assert len(panel_posts(sitting)) == before, "nobody speaks while it closes"
        await sitting.meetings.keep_going(sitting.meeting_id, sitting.person("佐藤"), sitting.click())
        await asyncio.sleep(400)
        closed = await sitting.left()
        assert [p.author_name for p in panel_posts(sitting)] == [ROLES[n % 3].shown for n in range(5)]
        assert closed.document["panel"]["ended"] == "turns"

    panel(story)


def test_stopping_it_while_people_close_says_nothing_twice() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=9)
        await asyncio.sleep(22)
        await sitting.read_back()
        assert sitting.app is not None
        await sitting.app.panels.stop(sitting.place, sitting.person("佐藤"), sitting.click())
        assert not told(sitting, "stopped")
        await sitting.meetings.keep_going(sitting.meeting_id, sitting.person("佐藤"), sitting.click())
        before = len(panel_posts(sitting))
        await asyncio.sleep(60)
        assert len(panel_posts(sitting)) == before, "stopped is stopped"
        closed = await sitting.close()
        assert closed.document["panel"]["ended"] == "stopped"

    panel(story)


def test_people_can_end_it_for_good() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=9)
        await asyncio.sleep(22)
        await sitting.say("佐藤", "一旦この会議を終わらせてください")
        await asyncio.sleep(300)
        closed = await sitting.left()
        assert closed.document["panel"]["ended"] is None
        assert "人が会議を終えた" in closed.text
        assert len(panel_posts(sitting)) < 5

    panel(story)


def test_the_panel_goes_through_the_agenda_and_says_so_once() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=6, agenda=("中核ループ", "課金の時期", "名前"))
        await asyncio.sleep(400)
        said = sitting.said()
        for title in ("課金の時期", "名前"):
            assert said.count(t("panel.next_item", "ja", title=title)) == 1
        topics = [i.text for i in (await sitting.left()).view.of(EntryKind.TOPIC)]
        assert topics == ["課金の時期", "名前"]

    panel(story)


def test_where_people_took_up_an_item_themselves_the_panel_follows() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=6, agenda=("中核ループ", "課金の時期", "名前"))
        await asyncio.sleep(12)
        await sitting.say("佐藤", "議題：名前")
        await asyncio.sleep(400)
        assert not [text for text in sitting.said() if text == t("panel.next_item", "ja", title="課金の時期")]

    panel(story)

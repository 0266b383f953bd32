"""What the ledger makes of a panel's words, and what erasing a person takes out of them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from bot.meeting.ledger import fold
from bot.meeting.model import Entry, EntryKind, LedgerView, MeetingState, Origin, Route
from bot.store import archive, panels, person, transcript
from tests.facilitation.sitting import PEOPLE, PLACE, Sitting, held
from tests.panel.held import ROLES, panel_posts, start, words
from tests.panel.test_ending import LINES, panel, says

AT = datetime(2026, 9, 1, tzinfo=UTC)
PANEL, SATO = -1, 11


def _folded(*rows: tuple[EntryKind, str, Origin, int | None]) -> LedgerView:
    """(kind, text, origin, refers_to) by number from 1; the panel's by the panel, all others by Sato."""
    return fold(
        [
            Entry(
                1, number, kind, text, origin, AT, PANEL if origin is Origin.PANEL else SATO,
                "🤖 企画" if origin is Origin.PANEL else "佐藤", refers_to=refers_to,
            )
            for number, (kind, text, origin, refers_to) in enumerate(rows, 1)
        ]
    )  # fmt: skip


D, P, Q, C = EntryKind.DECISION, EntryKind.PROPOSAL, EntryKind.QUESTION, EntryKind.CONSTRAINT


def test_a_decision_of_the_panel_waits_for_a_person() -> None:
    made = _folded((D, "夏に出す", Origin.PANEL, None))
    assert made.decisions[0].status == "unconfirmed"
    assert made.decisions[0].panels
    again = _folded((D, "夏に出す", Origin.PANEL, None), (D, "夏に出す", Origin.PANEL, None))
    assert [d.status for d in again.decisions] == ["unconfirmed"], "saying it twice confirms nothing"
    for origin in (Origin.COMMAND, Origin.REACTION, Origin.BUTTON):
        confirmed = _folded((D, "夏に出す", Origin.PANEL, None), (EntryKind.CONFIRMATION, "", origin, 1))
        assert (confirmed.decisions[0].status, confirmed.decisions[0].confirmed_by) == (
            "confirmed",
            ("佐藤",),
        )
    typed = _folded((D, "夏に出す", Origin.PANEL, None), (D, "夏に出す", Origin.MARK, None))
    assert typed.decisions[0].status == "confirmed", "a person who types it stands for it"


def test_a_confirmation_of_the_panel_is_none() -> None:
    for origin in (Origin.PANEL, Origin.MODEL):
        view = _folded((D, "夏に出す", origin, None), (EntryKind.CONFIRMATION, "", Origin.PANEL, 1))
        assert view.decisions[0].status == "unconfirmed"
        view = _folded((P, "夏に出す", Origin.MARK, None), (EntryKind.CONFIRMATION, "", Origin.PANEL, 1))
        assert view.decisions == ()


@pytest.mark.parametrize("kind", [D, C, Q, EntryKind.ACTION])
def test_what_a_person_made_the_panel_neither_rewords_nor_takes_back(kind: EntryKind) -> None:
    reworded = _folded(
        (kind, "上限は3", Origin.MARK, None), (EntryKind.REVISION, "上限はなし", Origin.PANEL, 1)
    )
    item = reworded.items[0]
    assert item.text == "上限は3"
    assert item.objections
    gone = _folded((kind, "上限は3", Origin.MARK, None), (EntryKind.RETRACTION, "", Origin.PANEL, 1))
    assert gone.items[0].live
    assert gone.items[0].objections
    confirmed = _folded(
        (kind, "上限は3", Origin.MARK, None),
        (EntryKind.REVISION, "上限は4", Origin.PANEL, 1),
        (EntryKind.CONFIRMATION, "", Origin.COMMAND, 2),
    )
    assert confirmed.items[0].text == "上限は4", "a person can take the panel's wording"


def test_the_panel_may_reword_and_take_back_its_own() -> None:
    assert (
        _folded((D, "夏", Origin.PANEL, None), (EntryKind.REVISION, "秋", Origin.PANEL, 1)).decisions[0].text
        == "秋"
    )
    assert _folded((D, "夏", Origin.PANEL, None), (EntryKind.RETRACTION, "", Origin.PANEL, 1)).decisions == ()


def test_a_new_decision_of_the_panel_stands_beside_a_confirmed_one() -> None:
    view = _folded((D, "夏に出す", Origin.MARK, None), (D, "秋に出す", Origin.PANEL, 1))
    assert [(d.text, d.status) for d in view.decisions] == [
        ("夏に出す", "confirmed"),
        ("秋に出す", "unconfirmed"),
    ]
    assert view.decisions[1].conflicts_with == (1,)


def test_an_answer_of_the_panel_is_a_position_until_confirmed() -> None:
    asked = _folded((Q, "いつ？", Origin.MARK, None), (EntryKind.ANSWER, "夏", Origin.PANEL, 1))
    assert asked.open_questions[0].positions == ("🤖 企画: 夏",)
    answered = _folded(
        (Q, "いつ？", Origin.MARK, None),
        (EntryKind.ANSWER, "夏", Origin.PANEL, 1),
        (EntryKind.CONFIRMATION, "", Origin.COMMAND, 2),
    )
    assert answered.items[0].status == "answered"


# ---------------------------------------------------------------------- people's rights over it

SECRET = "佐藤さんの母校は鎌倉の小さな学校です"


def test_erasing_a_person_takes_their_words_out_of_the_panels_mouth() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=3)
        await sitting.say("田中", SECRET)
        await asyncio.sleep(300)
        closed = await sitting.left()
        assert SECRET in closed.text or any(SECRET in words(p) for p in panel_posts(sitting))
        repeated = next(p for p in panel_posts(sitting) if SECRET in words(p))
        assert sitting.app is not None
        app, meeting_id = sitting.app, sitting.meeting_id
        await app.privacy.erase_person(PLACE.guild_id, PEOPLE["田中"], sitting.person("田中"))
        left = await app.db.unit(lambda c: transcript.everything(c, meeting_id))
        assert not any(SECRET in m.text for m in left)
        assert sorted(m.message_id for m in left) == sorted(
            p.message_id for p in panel_posts(sitting) if p is not repeated
        )
        assert repeated not in sitting.world.channels[sitting.place.channel_id], "the post is taken away too"
        again = await sitting.left()
        assert SECRET not in again.text
        assert again.document["panel"] is not None, "who pays stays on record"
        # Nobody can be erased, or opt out, as a panelist.
        assert await app.db.unit(lambda c: person.meetings_of(c, PLACE.guild_id, PEOPLE["Maya"])) == []

    panel(story, says(lambda turn: f"{SECRET}。{LINES[0]}" if turn == 2 else LINES[turn]))


def test_erasing_the_meeting_leaves_nothing_of_the_panel() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=2)
        await asyncio.sleep(200)
        await sitting.left()
        assert sitting.app is not None
        meeting_id = sitting.meeting_id
        assert await sitting.app.db.unit(lambda c: archive.erase_meeting(c, PLACE.guild_id, meeting_id))
        assert await sitting.app.db.unit(lambda c: panels.get(c, meeting_id)) is None
        assert await sitting.app.db.unit(lambda c: panels.turns(c, meeting_id)) == []

    panel(story)


def test_panelists_are_asked_nothing_and_lead_nothing() -> None:
    """They are not brought in as quiet people, nor is the room one person's because only they talk."""

    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=3)
        await asyncio.sleep(40)
        room = sitting.room
        assert room.meeting.state is MeetingState.OPEN or room.meeting.state is MeetingState.READ_BACK
        assert not room.one_person
        assert room.to_bring_in() is None
        assert {s.name for s in room.ranked_speakers} == {role.shown for role in ROLES}
        assert room.people_at is None
        assert room.expected == ["佐藤"]
        turns = [s for s in sitting.model.asked if s.route is Route.TURN]
        assert turns
        assert not any("企画" in name or "開発" in name for s in turns for name in s.quiet_people)

    panel(story)


def test_the_facilitator_counts_panelists_messages_as_messages() -> None:
    async def story(sitting: Sitting) -> None:
        await start(sitting, turns=3)
        await asyncio.sleep(40)
        assert sitting.room.human_count == 3

    held(story)

"""Who takes part and who speaks next: the pure part."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import BadInput
from bot.meeting.model import is_panelist
from bot.panel.order import PAUSE, Outcome, Turn, agreed, called, due, failures, item_due, next_role, used
from bot.panel.roles import MARKER, Panel, Plan, Role, author_id, check, parse, role_of

START = datetime(2026, 9, 1, tzinfo=UTC)
THREE = (Role("企画", "a"), Role("開発", "b"), Role("利用者", "c"))
ENGLISH = (Role("Design", "a"), Role("Build", "b"), Role("User", "c"))
OUTCOMES: tuple[Outcome, ...] = ("said", "passed", "failed")


def turn(number: int, role: int, outcome: Outcome = "said", *, agrees: bool = False) -> Turn:
    return Turn(number, role, outcome, START + timedelta(seconds=10 * number), agrees)


# ---------------------------------------------------------------------- roles


@pytest.mark.parametrize(
    "text",
    [
        "企画：三分で面白い\n開発：作り切れる",
        "企画:三分で面白い；開発:作り切れる",
        "- 企画：三分で面白い\n- 開発：作り切れる",
        "1. 企画： 三分で面白い\n\n2. 開発： 作り切れる\n",
        "企画\u200b：三分で面白い; 開発：作り切れる",
    ],
)
def test_roles_are_read_as_people_write_them(text: str) -> None:
    assert parse(text) == (Role("企画", "三分で面白い"), Role("開発", "作り切れる"))


def test_a_colon_in_the_standpoint_stays() -> None:
    assert parse("Design: one rule: be brief; Build: small") == (
        Role("Design", "one rule: be brief"),
        Role("Build", "small"),
    )


def test_the_mark_is_put_on_once_whoever_writes_it() -> None:
    plan = check(Plan((Role("🤖 企画", "a"), Role("開発", "b"))))
    assert [role.shown for role in plan.roles] == ["🤖 企画", "🤖 開発"]


@pytest.mark.parametrize("name", ["..", "\u0301\u0301", "・", "\u3164"])
def test_marks_and_dots_alone_are_no_name(name: str) -> None:
    with pytest.raises(BadInput):
        check(Plan((Role(name, "a"), Role("開発", "b"))))


@given(st.text(max_size=60), st.text(max_size=400))
def test_whatever_is_entered_a_role_is_fit_to_be_shown_or_refused(name: str, standpoint: str) -> None:
    try:
        role = check(Plan((Role(name, standpoint), Role("開発", "b")))).roles[0]
    except BadInput as refused:
        assert refused.key.startswith("panel.error.")  # noqa: PT017
        return
    assert 1 <= len(role.name) <= 32
    assert not set(role.name) & set("<>@#*_~|`\n:：🤖")
    assert "\n" not in role.standpoint
    assert role.standpoint
    assert len(f"{MARKER}{role.name}") <= 80  # Discord's limit of a webhook's name


def test_panelists_have_ids_that_no_member_has() -> None:
    assert [author_id(n) for n in range(5)] == [-1, -2, -3, -4, -5]
    assert [role_of(author_id(n)) for n in range(5)] == list(range(5))
    assert all(is_panelist(author_id(n)) for n in range(5))
    assert not any(is_panelist(user) for user in (None, 0, 1, 1_544_134_700_354_764_800))


# ---------------------------------------------------------------------- order


@given(st.integers(2, 5), st.integers(0, 40))
def test_unaddressed_they_come_round_in_their_order(count: int, length: int) -> None:
    roles = tuple(Role(str(n), "x") for n in range(count))
    turns: list[Turn] = []
    for number in range(1, length + 1):
        turns.append(turn(number, next_role(roles, turns, None)))
    assert [t.role for t in turns] == [n % count for n in range(length)]


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(OUTCOMES)), max_size=20))
def test_nobody_is_left_out_for_long(taken: list[tuple[int, Outcome]]) -> None:
    turns = [turn(n, role, outcome) for n, (role, outcome) in enumerate(taken, 1)]
    for _ in range(3):
        turns.append(turn(len(turns) + 1, next_role(THREE, turns, None)))
    assert {t.role for t in turns[-3:]} == {0, 1, 2}


def test_a_failed_turn_is_not_used_up() -> None:
    turns = [turn(1, 0), turn(2, 1, "failed")]
    assert next_role(THREE, turns, None) == 1
    assert used(turns) == 1
    assert failures(turns) == 1
    assert failures([*turns, turn(3, 1)]) == 0


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("開発さん、費用はどれくらいですか？", 1),
        ("@利用者 続けられそうですか", 2),
        ("なるほど。企画さんはどう考えますか？", 0),
        ("開発：見積もりをお願いします", 1),
        ("企画さん、そして開発さん、順にお願いします", 1),
        ("🤖 開発さん、どうですか？", 1),
        ("開発に時間がかかりそうです", None),
        ("利用者の声を集めたいです", None),
        ("この企画は面白いです", None),
        ("新しい開発者を探しています", None),
        ("", None),
    ],
)
def test_addressed_by_name_in_japanese(text: str, who: int | None) -> None:
    assert called(text, THREE) == who


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("Build, what does that cost?", 1),
        ("@User does that suit you?", 2),
        ("I see. Design: your view?", 0),
        ("@design and @build, please", 1),
        ("We build it in May", None),
        ("The user is busy", None),
        ("Rebuild, then test", None),
        ("Users, in general, are busy", None),
    ],
)
def test_addressed_by_name_in_english(text: str, who: int | None) -> None:
    assert called(text, ENGLISH) == who


def test_agreement_needs_everybodys_newest_word() -> None:
    yes = [turn(n + 1, n, agrees=True) for n in range(3)]
    assert agreed(THREE, yes, True, None)
    assert not agreed(THREE, yes, False, None), "with nothing on the table"
    assert not agreed(THREE, yes[:2], True, None), "not everybody has spoken"
    assert not agreed(THREE, [*yes, turn(4, 0)], True, None), "somebody changed their mind"
    assert agreed(THREE, [*yes, turn(4, 0, "passed")], True, None), "who passes has nothing to add"
    assert agreed(THREE, yes, True, START), "a person spoke before all of them"
    assert not agreed(THREE, yes, True, START + timedelta(seconds=25)), "a person came in since"


def test_the_pause_lets_people_come_in() -> None:
    panel = Panel(1, 2, THREE, 12, START)
    assert due(panel, [], None) == START + PAUSE
    last = turn(1, 0)
    assert due(panel, [last], None) == last.at + PAUSE
    late = last.at + timedelta(seconds=7)
    assert due(panel, [last], late) == late + timedelta(seconds=3)
    waits = [
        due(panel, [turn(n, 0, "failed") for n in range(1, k + 1)], None) - turn(k, 0).at for k in (1, 2, 3)
    ]
    assert waits == sorted(set(waits)), "longer after every failure"


@given(st.integers(1, 60), st.integers(1, 8), st.lists(st.sampled_from(OUTCOMES), max_size=70))
def test_every_item_has_its_share_of_the_turns_in_order(
    limit: int, items: int, outcomes: list[Outcome]
) -> None:
    panel = Panel(1, 1, THREE, limit, START)
    turns = [turn(n, n % 3, outcome) for n, outcome in enumerate(outcomes, start=1)]
    found = [item_due(panel, turns[:n], items) for n in range(len(turns) + 1)]
    assert found == sorted(found)
    assert found[0] == 0
    assert found[-1] == items - 1 or used(turns) < limit
    if limit >= items and used(turns) >= limit - 1:
        assert set(range(items)) <= set(found) or used(turns) < limit

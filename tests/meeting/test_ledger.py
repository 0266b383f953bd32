"""What a team said holds: nothing decided is lost, nothing unsaid is decided."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.meeting.ledger import fold, nearly, proposal_named, target, undo_target, votes_summary
from bot.meeting.model import Entry, LedgerView, Origin
from bot.meeting.model import EntryKind as K

START = datetime(2026, 10, 5, 9, tzinfo=UTC)


def ledger(*rows: tuple[K, str, dict[str, object]] | tuple[K, str]) -> LedgerView:
    return fold(entries(*rows))


def entries(*rows: tuple[K, str, dict[str, object]] | tuple[K, str]) -> list[Entry]:
    made = []
    for number, row in enumerate(rows, start=1):
        more: dict[str, object] = {
            "author_id": 1,
            "author_name": "Sato",
            "origin": Origin.MARK,
            "quote": row[1],
        }
        more |= row[2] if len(row) == 3 else {}
        made.append(Entry(7, number, row[0], row[1], at=START + timedelta(minutes=number), **more))  # type: ignore[arg-type]
    return made


def statuses(view: LedgerView, kind: K) -> list[tuple[int, str]]:
    return [(item.original.number, item.status) for item in view.of(kind, live=False)]


MODEL = {"origin": Origin.MODEL}


def test_a_marked_decision_is_confirmed_and_a_found_one_waits_for_a_person() -> None:
    view = ledger((K.DECISION, "A"), (K.DECISION, "B", MODEL), (K.CONFIRMATION, "", {"refers_to": 2}))
    assert statuses(view, K.DECISION) == [(1, "confirmed"), (2, "confirmed")]
    assert view.decisions[1].confirmed_by == ("Sato",)
    assert statuses(ledger((K.DECISION, "B", MODEL)), K.DECISION) == [(1, "unconfirmed")]


def test_a_model_confirms_nothing() -> None:
    view = ledger(
        (K.DECISION, "B", MODEL),
        (K.PROPOSAL, "C"),
        *((K.CONFIRMATION, "", {**MODEL, "refers_to": n}) for n in (1, 2)),
    )
    assert statuses(view, K.DECISION) == [(1, "unconfirmed")]
    assert statuses(view, K.PROPOSAL) == [(2, "open")]


@pytest.mark.parametrize("kind", [K.PROPOSAL, K.NOTE, K.ANSWER, K.OBJECTION, K.VOTE])
def test_nothing_else_is_ever_a_decision(kind: K) -> None:
    assert ledger((kind, "we shall do it", {"value": 1.0})).decisions == ()


def test_a_decision_with_a_proposals_words_settles_it() -> None:
    view = ledger(
        (K.PROPOSAL, "上限は3件にする"), (K.PROPOSAL, "上限は5件にする"), (K.DECISION, "上限は５件にする。")
    )
    assert statuses(view, K.PROPOSAL) == [(1, "open"), (2, "decided")]
    assert len(view.decisions) == 1


def test_a_typo_apart_is_nearly_the_same_but_another_figure_is_not() -> None:
    long = (
        "Unless otherwise specified, when null is used in the context, it removes any definition of the key"
    )
    assert nearly(long, long.replace("otherwise", "otherwize"))
    assert not nearly(f"{long} after 3 days", f"{long} after 4 days")
    assert not nearly(
        "来月の定例会議で使う資料はプランAを採用することにする",
        "来月の定例会議で使う資料はプランBを採用することにする",
    )


def test_a_confirmed_proposal_becomes_a_decision_numbered_as_the_confirmation() -> None:
    view = ledger((K.PROPOSAL, "金曜に出す", {"author_name": "Ito"}), (K.CONFIRMATION, "", {"refers_to": 1}))
    (decision,) = view.decisions
    assert (decision.number, decision.text, decision.status) == (2, "金曜に出す", "confirmed")
    assert (decision.entry.refers_to, decision.confirmed_by) == (1, ("Sato",))
    assert statuses(view, K.PROPOSAL) == [(1, "decided")]


def test_a_decision_that_names_another_replaces_it_and_retracting_it_brings_the_old_one_back() -> None:
    rows = [(K.DECISION, "A"), (K.DECISION, "B", {"refers_to": 1})]
    view = ledger(*rows)
    assert statuses(view, K.DECISION) == [(1, "replaced"), (2, "confirmed")]
    assert view.items[0].replaced_by == 2
    back = ledger(*rows, (K.RETRACTION, "", {"refers_to": 2}))
    assert statuses(back, K.DECISION) == [(1, "confirmed"), (2, "retracted")]
    assert back.items[0].replaced_by is None


def test_a_found_decision_does_not_replace_a_confirmed_one_until_confirmed() -> None:
    rows = [(K.DECISION, "max 3"), (K.DECISION, "no limit", {**MODEL, "refers_to": 1})]
    view = ledger(*rows)
    assert statuses(view, K.DECISION) == [(1, "confirmed"), (2, "unconfirmed")]
    assert [i.conflicts_with for i in view.decisions] == [(2,), (1,)]
    confirmed = ledger(*rows, (K.CONFIRMATION, "", {"refers_to": 2}))
    assert statuses(confirmed, K.DECISION) == [(1, "replaced"), (2, "confirmed")]
    assert confirmed.decisions[0].conflicts_with == ()


def test_a_found_reversal_of_a_found_decision_is_marked_at_once() -> None:
    view = ledger((K.DECISION, "blue", MODEL), (K.DECISION, "red", {**MODEL, "refers_to": 1}))
    assert statuses(view, K.DECISION) == [(1, "replaced"), (2, "unconfirmed")]


def test_a_found_retraction_of_a_persons_decision_waits_among_the_objections() -> None:
    rows = [(K.DECISION, "A"), (K.RETRACTION, "A is off", {**MODEL, "refers_to": 1})]
    (decision,) = ledger(*rows).decisions
    assert [o.number for o in decision.objections] == [2]
    assert ledger(*rows, (K.CONFIRMATION, "", {"refers_to": 2})).decisions == ()


def test_the_same_decision_twice_is_one_and_a_persons_words_confirm_the_found_one() -> None:
    view = ledger((K.DECISION, "上限は3件", MODEL), (K.DECISION, "上限は３件。"))
    (decision,) = view.decisions
    assert (decision.status, [h.number for h in decision.history]) == ("confirmed", [2])
    against = ledger((K.DECISION, "blue"), (K.DECISION, "blue", {"value": -1.0}))
    assert len(against.decisions) == 2


def test_a_revision_by_any_number_of_the_chain_keeps_the_item_and_its_past() -> None:
    view = ledger(
        (K.DECISION, "max 3"),
        (K.REVISION, "max 4", {"refers_to": 1}),
        (K.REVISION, "max 5", {"refers_to": 2}),
        (K.REVISION, "max 6", {"refers_to": 1}),
    )
    (decision,) = view.decisions
    assert (decision.text, decision.number, decision.status) == ("max 6", 4, "confirmed")
    assert [h.text for h in decision.history] == ["max 3", "max 4", "max 5"]
    assert all(view.item(n) is decision for n in (1, 2, 3, 4))


def test_revising_owner_or_due_keeps_the_words() -> None:
    view = ledger(
        (K.ACTION, "write X"),
        (K.REVISION, "", {"refers_to": 1, "owner": "Ito"}),
        (K.REVISION, "", {"refers_to": 1, "due": "2026-10-09"}),
    )
    (action,) = view.actions
    assert (action.text, action.owner, action.due) == ("write X", "Ito", "2026-10-09")


def test_a_found_rewording_of_a_confirmed_decision_is_unconfirmed_and_a_command_confirms() -> None:
    rows = [(K.DECISION, "max 3"), (K.REVISION, "max 4", {**MODEL, "refers_to": 1})]
    assert ledger(*rows).decisions[0].status == "unconfirmed"
    by_hand = ledger(*rows, (K.REVISION, "max 5", {"refers_to": 2, "origin": Origin.COMMAND}))
    assert by_hand.decisions[0].status == "confirmed"


def test_a_question_is_answered_and_asked_again() -> None:
    rows = [(K.QUESTION, "who pays?"), (K.ANSWER, "Ito", {"refers_to": 1})]
    assert ledger(*rows).open_questions == ()
    (again,) = ledger(*rows, (K.QUESTION, "who pays really?", {"refers_to": 1})).open_questions
    assert (again.text, again.positions, again.answers) == ("who pays really?", ("Sato: Ito",), ())
    taken_back = ledger(*rows, (K.RETRACTION, "", {"refers_to": 2}))
    assert [q.number for q in taken_back.open_questions] == [1]


def test_a_decision_answers_the_question_it_names_once_it_is_confirmed() -> None:
    rows = [(K.QUESTION, "when?"), (K.DECISION, "Friday", {**MODEL, "refers_to": 1})]
    (question,) = ledger(*rows).open_questions
    assert question.positions == ("Sato: Friday",)
    assert ledger(*rows, (K.CONFIRMATION, "", {"refers_to": 2})).open_questions == ()


def test_positions_gather_on_the_question() -> None:
    view = ledger(
        (K.QUESTION, "A or B?"),
        (K.PROPOSAL, "take A", {"refers_to": 1}),
        (K.NOTE, "B is cheaper", {"refers_to": 1, "author_name": "Ito"}),
    )
    assert view.open_questions[0].positions == ("Sato: take A", "Ito: B is cheaper")
    assert len(view.open_proposals) == 1


def vote(who: int, value: float, **more: object) -> tuple[K, str, dict[str, object]]:
    return (K.VOTE, "", {"author_id": who, "author_name": f"p{who}", "value": value, **more})


def test_one_vote_a_person_on_the_newest_open_proposal_and_the_last_counts() -> None:
    view = ledger(
        (K.PROPOSAL, "A"),
        vote(1, 1),
        (K.PROPOSAL, "B"),
        vote(1, 1),
        vote(2, 0.5),
        vote(1, -1),
        vote(3, 0),
        vote(2, 1, refers_to=1),
        vote(9, 1, refers_to=77),
    )
    first, second = view.open_proposals
    assert votes_summary(first) == (2, 0, 0, 2.0)
    assert votes_summary(second) == (1, 1, 1, -0.5)


def test_taking_back_a_vote_leaves_the_proposal() -> None:
    view = ledger((K.PROPOSAL, "A"), vote(2, 1), (K.RETRACTION, "", {"refers_to": 2}))
    assert votes_summary(view.open_proposals[0]) == (0, 0, 0, 0.0)


def test_an_edited_vote_counts_as_it_reads_now() -> None:
    view = ledger(
        (K.PROPOSAL, "A"),
        vote(2, 1),
        (K.REVISION, "", {"refers_to": 2, "value": -1.0, "origin": Origin.EDIT}),
    )
    assert votes_summary(view.open_proposals[0]) == (0, 0, 1, -1.0)
    assert view.open_proposals[0].text == "A"


def test_undoing_a_retraction_restores() -> None:
    view = ledger(
        (K.DECISION, "A"), (K.RETRACTION, "", {"refers_to": 1}), (K.RETRACTION, "", {"refers_to": 2})
    )
    assert statuses(view, K.DECISION) == [(1, "confirmed")]


def test_what_meets_nothing_is_kept_as_a_note() -> None:
    view = ledger(
        (K.REVISION, "make it 5", {"refers_to": 99}),
        (K.ANSWER, "yes, Ito"),
        (K.CONFIRMATION, "", {"refers_to": 9}),
    )
    assert [(n.text, n.status) for n in view.of(K.NOTE)] == [("make it 5", "live"), ("yes, Ito", "live")]


def test_an_objection_stays_with_what_it_is_about() -> None:
    view = ledger((K.DECISION, "A", MODEL), (K.OBJECTION, "too early", {"refers_to": 1}))
    assert [o.text for o in view.decisions[0].objections] == ["too early"]
    assert view.decisions[0].status == "unconfirmed"


def test_target_by_number_and_by_words() -> None:
    view = ledger(
        (K.DECISION, "上限は3件にする"),
        (K.REVISION, "上限は4件にする", {"refers_to": 1}),
        (K.DECISION, "金曜に公開する"),
        (K.NOTE, "金曜は祝日"),
    )
    for meant in (1, 2, "2", "#2", "決定2", "上限は4件にする。", "上限は4件"):
        assert target(view, meant) is view.items[0], meant
    assert target(view, "金曜に公開") is view.items[1]
    for unclear in ("金曜", "別の話です", "99", "", "。"):
        assert target(view, unclear) is None, unclear


def test_undo_takes_the_authors_own_last_act() -> None:
    rows = [(K.DECISION, "A"), (K.PROPOSAL, "B", {"author_id": 2}), vote(1, 1), (K.NOTE, "found", MODEL)]
    last = undo_target(ledger(*rows), 1)
    assert last is not None
    assert last.number == 3
    before = undo_target(ledger(*rows, (K.RETRACTION, "", {"refers_to": 3})), 1)
    assert before is not None
    assert before.number == 1
    assert undo_target(ledger(*rows), 5) is None


def test_a_vote_finds_the_proposal_by_its_label() -> None:
    view = ledger(
        (K.PROPOSAL, "keep", {"quote": "PROPOSAL 1: keep"}),
        (K.PROPOSAL, "drop", {"quote": "提案２：drop"}),
        (K.PROPOSAL, "later"),
    )
    assert [getattr(proposal_named(view, n), "text", None) for n in (1, 2, 3, 8, None)] == [
        "keep",
        "drop",
        "later",
        None,
        "later",
    ]


KINDS = st.sampled_from(list(K))
ROWS = st.lists(
    st.tuples(
        KINDS,
        st.sampled_from(["上限は3件", "上限は4件", "ship on Friday", "ship on Monday", "x", ""]),
        st.fixed_dictionaries(
            {
                "origin": st.sampled_from(list(Origin)),
                "author_id": st.one_of(st.none(), st.integers(1, 3)),
                "refers_to": st.one_of(st.none(), st.integers(-1, 15)),
                "value": st.one_of(st.none(), st.sampled_from([-1.0, 0.0, 0.5, 1.0, 7.0])),
                "owner": st.sampled_from([None, "Ito"]),
            }
        ),
    ),
    max_size=14,
)


@settings(max_examples=400, deadline=None)
@given(ROWS)
def test_folding_is_total_and_every_decision_is_in_exactly_one_item(
    rows: list[tuple[K, str, dict[str, object]]],
) -> None:
    listed = entries(*rows)
    view = fold(listed)
    assert view.entries == tuple(listed)
    for entry in listed:
        if entry.kind is K.DECISION:
            holders = [i for i in view.items if entry in (i.original, i.entry, *i.history)]
            assert len(holders) == 1, entry
            assert holders[0].kind is K.DECISION
    assert [i.original.number for i in view.items] == sorted({i.original.number for i in view.items})


@settings(max_examples=300, deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_folding_does_not_depend_on_the_order_of_the_rows(
    rows: list[tuple[K, str, dict[str, object]]], random: object
) -> None:
    listed = entries(*rows)
    shuffled = list(listed)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fold(shuffled) == fold(listed)


@settings(max_examples=300, deadline=None)
@given(ROWS)
def test_a_decision_holds_only_by_a_person_and_leaves_only_by_an_entry(
    rows: list[tuple[K, str, dict[str, object]]],
) -> None:
    listed = entries(*rows)
    before: dict[int, str] = {}
    for upto in range(1, len(listed) + 1):
        now = {i.original.number: i.status for i in fold(listed[:upto]).of(K.DECISION, live=False)}
        last = listed[upto - 1]
        for number, status in before.items():
            if number not in now:  # only a derived decision goes: its confirmation was taken back
                assert listed[number - 1].kind is K.CONFIRMATION
                assert last.kind is K.RETRACTION
            elif status == "confirmed" and now[number] in ("replaced", "retracted"):
                assert last.origin is not Origin.MODEL
        for item in fold(listed[:upto]).decisions:
            if item.status == "confirmed":
                wordings = (item.original, item.entry, *item.history)
                assert item.confirmed_by or any(e.origin is not Origin.MODEL for e in wordings)
        before = now


@settings(max_examples=200, deadline=None)
@given(ROWS)
def test_votes_are_one_a_person_and_within_bounds(rows: list[tuple[K, str, dict[str, object]]]) -> None:
    for item in fold(entries(*rows)).items:
        voters = [v.voter_id for v in item.votes]
        assert len(voters) == len(set(voters))
        assert all(-1 <= v.value <= 1 for v in item.votes)

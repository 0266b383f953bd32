"""Prose of minutes that omits, inverts or invents is never published; honest prose passes. Both languages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot import phrases
from bot.guard.model import Candidate, Remedy, Rule, Strength
from bot.meeting.model import Entry, EntryKind, Item, LedgerView, Origin
from bot.minutes.rules import all_rules, limits_kept

AT = datetime(2026, 12, 2, tzinfo=UTC)
K = EntryKind


def item(number: int, kind: EntryKind, text: str, status: str, **more: object) -> Item:
    entry = Entry(1, number, kind, text, Origin.MARK, AT, author_name="佐藤", quote=text)
    return replace(Item(entry, number, entry, status), **more)


def ledger(*items: Item) -> LedgerView:
    return LedgerView(items, tuple(e for i in items for e in (*i.history, i.entry)))


OLD_JA = Entry(1, 2, K.DECISION, "公開は12月5日にする", Origin.MARK, AT)
JA = ledger(
    item(1, K.CONSTRAINT, "出店は上限3。4以上は禁止", "live"),
    replace(item(6, K.DECISION, "公開は12月12日にする", "confirmed"), original=OLD_JA, history=(OLD_JA,)),
    item(3, K.DECISION, "5月より前には値上げしない", "unconfirmed"),
    item(
        4, K.QUESTION, "告知を誰が担当するか", "open", positions=("佐藤: 広報に頼む", "田中: 自分たちで行う")
    ),
    item(5, K.ACTION, "会場を予約する", "live", owner="田中"),
    item(7, K.DECISION, "ポスターを赤にする", "retracted"),
)
OLD_EN = Entry(1, 2, K.DECISION, "The release is on December 5", Origin.MARK, AT)
EN = ledger(
    item(1, K.CONSTRAINT, "At most 3 booths; 4 or more are forbidden", "live"),
    replace(
        item(6, K.DECISION, "The release is on December 12", "confirmed"), original=OLD_EN, history=(OLD_EN,)
    ),
    item(3, K.DECISION, "No price increase before May", "unconfirmed"),
    item(
        4,
        K.QUESTION,
        "Who handles the press announcement?",
        "open",
        positions=("Sato: an agency", "Tanaka: we do"),
    ),
    item(5, K.ACTION, "Book the venue", "live", owner="Tanaka"),
    item(7, K.DECISION, "The poster will be red", "retracted"),
)
TALK_JA = ["会場は20人入ります", "鈴木さんにも聞いてみます"]
TALK_EN = ["The venue holds 20 people", "I'll ask Suzuki as well"]


def rules(language: str) -> tuple[Rule, ...]:
    view, talk = (JA, TALK_JA) if language == "ja" else (EN, TALK_EN)
    names = ("佐藤", "田中") if language == "ja" else ("Sato", "Tanaka")
    return all_rules(view, talk, names, lambda key, **values: phrases.t(key, language, **values))


def fired(language: str, text: str) -> set[str]:
    return {r.name for r in rules(language) if r.check(Candidate(text)) is not None}


HONEST_JA = """公開は12月12日に決まりました（#6）。当初は12月5日の予定でしたが、変更されました。
値上げは5月より前には行いません（#3、未確認）。
出店は3までで、4以上は禁止という制約があります（#1）。
告知を誰が担当するかは決まっていません。佐藤さんは広報に頼む案、田中さんは自分たちで行う案でした。
田中さんが会場を予約します。会場には20人入れます。鈴木さんにも聞くことになりました。
ポスターを赤にする決定は撤回されました（#7）。"""
HONEST_EN = """The release is on December 12 (#6); the earlier date, December 5, was replaced.
There will be no price increase before May (#3, unconfirmed).
At most 3 booths are possible, 4 or more are forbidden (#1).
Who handles the press announcement remains open: Sato would take an agency, Tanaka wants to do it in the team.
Tanaka books the venue, which holds 20 people. Suzuki will be asked as well.
The red poster (#7) was withdrawn. 2 decisions hold."""


@pytest.mark.parametrize(("language", "text"), [("ja", HONEST_JA), ("en", HONEST_EN)])
def test_honest_prose_passes(language: str, text: str) -> None:
    assert fired(language, text) == set()


@pytest.mark.parametrize("language", ["ja", "en"])
def test_every_rule_is_must_and_rephrase(language: str) -> None:
    assert len(rules(language)) == 7
    assert all(r.strength is Strength.MUST and r.remedy is Remedy.REPHRASE for r in rules(language))


@pytest.mark.parametrize(
    ("rule", "language", "old", "new"),
    [
        ("cites_every_decision", "ja", "（#3、未確認）", ""),
        ("cites_every_decision", "en", "(#3, unconfirmed)", ""),
        ("cites_every_decision", "ja", HONEST_JA, "議論しました。"),
        ("no_unknown_decisions", "ja", "（#7）", "（#17）"),
        ("no_unknown_decisions", "en", "(#7)", "(#17)"),
        ("no_unknown_figures", "ja", "20人", "35人"),
        ("no_unknown_figures", "ja", "20人入れます", "20人入れ、費用は8万円です"),
        ("no_unknown_figures", "en", "20 people", "thirty-five people"),
        ("no_unknown_figures", "en", "(#6);", "(#6) at 4pm;"),
        ("no_unknown_names", "ja", "田中さんが会場", "山本さんが会場"),
        ("no_unknown_names", "en", "Tanaka wants", "Yamada agreed and wants"),
        ("no_unknown_names", "en", "Tanaka books", "Yamada will book"),
        (
            "replaced_called_replaced",
            "ja",
            "当初は12月5日の予定でしたが、変更されました。",
            "公開は12月5日にする。",
        ),
        (
            "replaced_called_replaced",
            "ja",
            "ポスターを赤にする決定は撤回されました",
            "ポスターを赤にすることが決まりました",
        ),
        ("replaced_called_replaced", "en", "The red poster (#7) was withdrawn.", "The poster will be red."),
        ("open_not_settled", "ja", "誰が担当するかは決まっていません", "誰が担当するかは広報と決まりました"),
        (
            "open_not_settled",
            "ja",
            "告知を誰が担当するかは決まっていません。",
            "告知は佐藤さんの担当に決まりました。",
        ),
        (
            "open_not_settled",
            "en",
            "Who handles the press announcement remains open:",
            "An agency will handle the press announcement;",
        ),
        ("limits_kept", "ja", "5月より前には行いません", "5月より前に行います"),
        ("limits_kept", "ja", "出店は3までで、4以上は禁止という制約があります", "出店の上限は撤廃されます"),
        ("limits_kept", "ja", "出店は3までで、4以上は禁止という制約があります", "出店は3以上とします"),
        ("limits_kept", "ja", "公開は12月12日に決まりました", "公開は12月12日に行わないと決まりました"),
        ("limits_kept", "en", "no price increase before May", "a price increase before May"),
        (
            "limits_kept",
            "en",
            "At most 3 booths are possible, 4 or more are forbidden",
            "At least 3 booths are needed",
        ),
        (
            "limits_kept",
            "en",
            "At most 3 booths are possible, 4 or more are forbidden",
            "The limit on booths is removed",
        ),
        ("limits_kept", "en", "The release is on December 12 (#6)", "The release is on May 12 (#6)"),
    ],
)
def test_dishonest_prose_is_stopped(rule: str, language: str, old: str, new: str) -> None:
    honest = HONEST_JA if language == "ja" else HONEST_EN
    assert old in honest
    assert rule in fired(language, honest.replace(old, new))


PEOPLE_JA = ledger(
    item(1, K.DECISION, "佐藤さんがリリースノートを書く", "confirmed"),
    item(2, K.ACTION, "会場を予約する", "live", owner="田中"),
    item(3, K.DECISION, "次回の司会は高橋さん", "confirmed"),
    item(4, K.DECISION, "予算は50万円とする", "confirmed"),
)
PEOPLE_EN = ledger(
    item(1, K.DECISION, "Sato writes the release notes", "confirmed"),
    item(2, K.ACTION, "Book the venue", "live", owner="Ben"),
    item(3, K.DECISION, "Carla chairs the next meeting", "confirmed"),
    item(4, K.DECISION, "The budget is 50,000 dollars", "confirmed"),
)


@pytest.mark.parametrize(
    ("view", "text", "kept"),
    [
        (PEOPLE_JA, "リリースノートは佐藤さんが書く（#1）。", True),
        (PEOPLE_JA, "リリースノートは田中さんが書く（#1）。", False),
        (PEOPLE_JA, "リリースノートは田中さんが書く。（#1）", False),
        (PEOPLE_JA, "会場は田中さんが予約する（#2）。", True),
        (PEOPLE_JA, "会場は佐藤さんが予約する（#2）。", False),
        (PEOPLE_JA, "次回は田中さんが司会を務める（#3）。", False),
        (PEOPLE_JA, "予算は50万円とすることで、佐藤さんも納得した（#4）。", True),
        (PEOPLE_JA, "高橋さんの指摘を受け、リリースノートを書くことにした（#1）。", True),
        (PEOPLE_JA, "佐藤さんがリリースノートを書き、田中さんが会場を予約する（#1、#2）。", True),
        (PEOPLE_EN, "The release notes are written by Sato (#1).", True),
        (PEOPLE_EN, "The release notes are written by Ben (#1).", False),
        (PEOPLE_EN, "The release notes are written by Ben. (#1)", False),
        (PEOPLE_EN, "Ben books the venue (#2).", True),
        (PEOPLE_EN, "Sato books the venue (#2).", False),
        (PEOPLE_EN, "The next meeting is chaired by Ben (#3).", False),
        (PEOPLE_EN, "The budget is 50,000 dollars, which Sato found fair (#4).", True),
        (PEOPLE_EN, "Carla noted that release notes have to be written (#1).", True),
        (PEOPLE_EN, "Sato writes the release notes and Ben books the venue (#1, #2).", True),
    ],
)
def test_nobody_gets_what_is_another_ones(view: LedgerView, text: str, kept: bool) -> None:
    names = ("佐藤", "田中", "高橋", "Sato", "Ben", "Carla")
    rule = limits_kept(view, lambda key, **values: key, names)
    assert (rule.check(Candidate(text)) is None) is kept


@pytest.mark.parametrize("language", ["ja", "en"])
def test_reasons_name_what_is_wrong_in_the_language(language: str) -> None:
    by_name = {r.name: r.check(Candidate("#99 山本さん 77人 Yamada-san")) for r in rules(language)}
    assert "#6" in str(by_name["cites_every_decision"])
    assert "#99" in str(by_name["no_unknown_decisions"])
    assert "77" in str(by_name["no_unknown_figures"])
    assert "山本" in str(by_name["no_unknown_names"])


def test_an_empty_ledger_asks_for_nothing() -> None:
    say = lambda key, **values: phrases.t(key, "en", **values)  # noqa: E731
    found = all_rules(LedgerView(), ["We talked about the weather"], ["Sato"], say)
    assert [r.check(Candidate("Sato talked about the weather. Nothing was decided.")) for r in found] == [
        None
    ] * 7


def test_limits_leave_alone_what_says_nothing_of_the_entry() -> None:
    """A bare number, a decision against named as rejected, and an action that shares words with a constraint."""
    constraint = item(1, K.CONSTRAINT, "We have to be out of the old office by 28 February", "live")
    against = item(2, K.DECISION, "上限を5件に引き上げる", "confirmed")
    against = replace(against, entry=replace(against.entry, value=-1.0))
    action = item(3, K.ACTION, "cancel the internet contract of the old office by 31 January", "live")
    rule = limits_kept(ledger(constraint, against, action), lambda key, **values: key)
    for text in (
        "Decision #2: see the list.",
        "「上限を5件に引き上げる」は否決されました（#2）。",
        "To do: action #3 (cancel the internet contract of the old office by 31 January).",
    ):
        assert rule.check(Candidate(text)) is None, text
    assert rule.check(Candidate("We have to be out of the old office by 31 March (#1).")) is not None

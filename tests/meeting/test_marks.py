"""People type marks the way they are used to; each is found once, with its whole wording."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.meeting.marks import correction, find
from bot.meeting.model import EntryKind as K
from bot.meeting.text import fold
from bot.phrases import words

BOOKS = (words("ja"), words("en"))
NOTHING = {fold(word) for book in BOOKS for word in book["marks.nothing"]}
NAMES = ("佐藤", "鈴木 花子", "Dave Longley", "Maria", "鈴")


def kinds(text: str) -> list[tuple[K, str]]:
    return [(mark.kind, mark.text) for mark in find(text, BOOKS)]


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        *(
            (w, K.DECISION)
            for w in ("決定", "合意", "Decision", "Decided", "Agreed", "RESOLVED", "RESOLUTION")
        ),
        *((w, K.PROPOSAL) for w in ("提案", "Proposal", "PROPOSED", "PROPOSAL")),
        *((w, K.QUESTION) for w in ("未決", "論点", "Question", "Open")),
        *((w, K.ACTION) for w in ("宿題", "担当", "TODO", "ACTION")),
        *((w, K.CONSTRAINT) for w in ("制約", "前提", "Constraint")),
        *((w, K.RETRACTION) for w in ("撤回", "Retract")),
        *((w, K.NOTE) for w in ("メモ", "Note")),
        *((w, K.TOPIC) for w in ("議題", "Topic")),
    ],
)
@pytest.mark.parametrize(
    "typed",
    [
        "{}: x は 5 件",
        "{}：x は 5 件",
        "{} ： x は 5 件",
        "- {}: x は 5 件",
        "**{}:** x は 5 件",
        "**{}**：x は 5 件",
    ],
)
def test_every_word_in_every_notation(word: str, kind: K, typed: str) -> None:
    for spelled in (word, word.upper(), word.lower()):
        assert kinds(typed.format(spelled)) == [(kind, "x は 5 件")]


@pytest.mark.parametrize(
    ("tag", "kind"),
    [
        ("#agreed", K.DECISION),
        ("#accepted", K.DECISION),
        ("#rejected", K.DECISION),
        ("#action", K.ACTION),
        ("#info", K.NOTE),
        ("#idea", K.NOTE),
        ("#link", K.NOTE),
        ("#topic", K.TOPIC),
        ("＃ＡＧＲＥＥＤ", K.DECISION),
        ("#Agreed:", K.DECISION),
    ],
)
def test_tags(tag: str, kind: K) -> None:
    assert kinds(f"{tag} ship it on https://x.example") == [(kind, "ship it on https://x.example")]


def test_rejected_is_a_decision_against() -> None:
    assert [m.value for m in find("#rejected blue\n#agreed red", BOOKS)] == [-1.0, None]


def test_undo_needs_no_words() -> None:
    (mark,) = find("#undo", BOOKS)
    assert mark.undo
    assert mark.kind is K.RETRACTION


def test_several_marks_one_a_line_keep_their_place() -> None:
    text = "では整理します\n決定：上限は3件\n\n宿題：佐藤さん 資料を作る\nOpen: who pays?"
    found = find(text, BOOKS)
    assert [(m.kind, m.line, m.place) for m in found] == [
        (K.DECISION, 1, "1"),
        (K.ACTION, 3, "3"),
        (K.QUESTION, 4, "4"),
    ]
    assert found[0].quote == "決定：上限は3件"


def test_wording_is_kept_whole_and_verbatim() -> None:
    wording = "価格は ＡＢＣ　１，０００円（税込）: 変更なし" + "あ" * 1800
    assert kinds("決定：" + wording) == [(K.DECISION, wording)]


@pytest.mark.parametrize(
    "text",
    [
        "the decision: was hard",
        "no action: needed",
        "昨日の決定：は覆りました",
        "> 決定：A案",
        "＞ Decision: A",
        ">>> intro\nDecision: A",
        "```\nDecision: A\n```",
        "```Decision: A```",
        "`Decision: A`",
        "note://host/path",
        "Topic::Class",
        "Decision:",
        "決定：　",
        "決定：\u200b",
        "TODO: なし",
        "Open: none",
        "Question: ?",
        "#infosec is hiring",
        "#actions speak",
        "決定事項：は後で",
        "Link: <http://x>",
        "Decision - A",
        "agreed, let us go",
        "合意しました",
    ],
)
def test_what_is_no_mark(text: str) -> None:
    assert kinds(text) == []


def test_text_after_a_closed_code_block_counts_again() -> None:
    assert kinds("```\nDecision: A\n```\nDecision: B") == [(K.DECISION, "B")]


def test_numbered_proposals_and_retractions() -> None:
    found = find("PROPOSAL 2: keep it\n提案３：やめる\nRetract: #4\n撤回：決定12\n撤回：A案の件", BOOKS)
    assert [(m.kind, m.number) for m in found] == [
        (K.PROPOSAL, 2),
        (K.PROPOSAL, 3),
        (K.RETRACTION, 4),
        (K.RETRACTION, 12),
        (K.RETRACTION, None),
    ]


@pytest.mark.parametrize(
    ("text", "value", "beside"),
    [
        ("+1", 1.0, ""),
        ("＋１", 1.0, ""),
        ("-1", -1.0, ""),
        ("−1", -1.0, ""),
        ("0", 0.0, ""),
        ("+0", 0.0, ""),
        ("-0", 0.0, ""),
        ("+0.5", 0.5, ""),
        ("-.25", -0.25, ""),
        ("+1 with emphasis on IF", 1.0, "with emphasis on IF"),
        ("+1, sounds good.", 1.0, "sounds good."),
        ("-1: too slow", -1.0, "too slow"),
        ("+1 :)", 1.0, ":)"),
        ("+1 (weak)", 1.0, "(weak)"),
        ("賛成", 1.0, ""),
        ("賛成です！", 1.0, ""),
        ("賛成です", 1.0, ""),
        ("反対します。理由は費用です", -1.0, "理由は費用です"),
        ("賛成ですが、費用が心配です", 1.0, "費用が心配です"),
        ("+1 です", 1.0, ""),
        ("+1 で出しましょう", 1.0, "で出しましょう"),
        ("反対。費用が合いません", -1.0, "費用が合いません"),
        ("保留でお願いします", 0.0, None),
        ("賛成（条件付き）", 1.0, "（条件付き）"),
        ("反対します", -1.0, None),
        ("保留、判断材料が足りない", 0.0, "判断材料が足りない"),
    ],
)
def test_votes(text: str, value: float, beside: str | None) -> None:
    (mark,) = find(text, BOOKS)
    assert (mark.kind, mark.value) == (K.VOTE, value)
    if beside is not None:
        assert mark.text == beside


@pytest.mark.parametrize(
    "text",
    [
        "+1 dB",
        "+1 day",
        "-1 °C outside",
        "+1 555 0100",
        "+1-555-0100",
        "+1.5",
        "+2",
        "+10",
        "+1%",
        "0 people came",
        "0.5",
        "1",
        "+1/-1?",
        "賛成意見が多い",
        "賛成多数",
        "賛成ですか？",
        "賛成？",
        "賛成3、反対2",
        "賛成: 3人",
        "賛成 反対 どちらですか",
        "賛成できません",
        "反対側から見ると",
        "保留中の件",
        "保留にしていた件です",
    ],
)
def test_what_is_no_vote(text: str) -> None:
    assert kinds(text) == []


def test_votes_on_several_numbered_proposals_in_one_line() -> None:
    text = "PROPOSAL 1: +1 (and add text), PROPOSAL 2: -1"
    found = find(text, BOOKS)
    assert [(m.kind, m.number, m.value, m.text) for m in found] == [
        (K.VOTE, 1, 1.0, "(and add text)"),
        (K.VOTE, 2, -1.0, ""),
    ]
    assert len({m.place for m in found}) == 2
    assert [(m.number, m.value) for m in find("提案１：賛成、提案２：反対", BOOKS)] == [(1, 1.0), (2, -1.0)]
    assert [(m.kind, m.number) for m in find("PROPOSAL 2: +1", BOOKS)] == [(K.VOTE, 2)]
    assert [(m.kind, m.number) for m in find("+1 to proposal 2", BOOKS)] == [(K.VOTE, 2)]


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("ACTION: Sato to write X", "Sato"),
        ("ACTION: Dave Longley to do an implementation", "Dave Longley"),
        ("ACTION: dave to check the build", "Dave Longley"),
        ("ACTION: Gregg and Manu to improve the section", "Gregg and Manu"),
        ("宿題：佐藤さん 資料を作る", "佐藤"),
        ("宿題：佐藤が資料を作る", "佐藤"),
        ("宿題：山田さんが資料を作る", "山田"),
        ("宿題：佐藤さんと山田さんで調整", "佐藤、山田"),
        ("宿題：資料作成（担当：佐藤）", "佐藤"),
        ("宿題：資料作成（佐藤）", "佐藤"),
        ("担当：佐藤 資料を作る", "佐藤"),
        ("担当：高橋、見積もりを取る", "高橋"),
        ("TODO: write X (Sato)", "Sato"),
        ("TODO: write X - @Sato", "Sato"),
        ("TODO: @佐藤 資料を作る", "佐藤"),
        ("TODO: <@123456789012345678> sends it", "<@123456789012345678>"),
        ("TODO: Maria: send the invoice", "Maria"),
        ("#action Maria will call the vendor", "Maria"),
        ("TODO: send the invoice, owner: Maria", "Maria"),
        ("宿題：見本を送る（佐藤、12月5日まで）", "佐藤"),
        ("TODO: write the summary (Maria, by Friday)", "Maria"),
        ("宿題：資料を作る 担当：suzuki 2026-12-20まで", "suzuki"),
        ("宿題：値段を決める（税込、送料別）", None),
        ("ACTION: Respond to David Booth for ISSUE-222.", None),
        ("TODO: Need to fix the build", None),
        ("TODO: API: fix the docs", None),
        ("TODO: fix the docs (draft)", None),
        ("TODO: fix the docs (Friday)", None),
        ("宿題：資料を作る（来週まで）", None),
        ("宿題：皆さん資料を読む", None),
        ("宿題：鈴木さんに依頼する資料を探す", None),
        ("宿題：資料作成は鈴木さんにお願いする", None),
        ("宿題：鈴木さんにお願いする", "鈴木 花子"),
    ],
)
def test_owner(text: str, owner: str | None) -> None:
    (mark,) = find(text, BOOKS, NAMES)
    assert mark.kind is K.ACTION
    assert mark.owner == owner


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s/Remove/move/", ("Remove", "move")),
        ("s/@iri/@id/! :)", ("@iri", "@id")),
        ("s/is/says/ really. :)", ("is", "says")),
        ("s/old text/new text", ("old text", "new text")),
        ("s|a/b|c/d|", ("a/b", "c/d")),
        ("s/a/b/g", ("a", "b")),
        ("s/x//", ("x", "")),
        ("see s/a/b/", None),
        ("s/a/b/c/d", None),
        ("s/a/a/", None),
        ("s/a", None),
        ("sort/it/out", None),
    ],
)
def test_corrections(text: str, expected: tuple[str, str] | None) -> None:
    assert correction(text) == expected


@given(st.text(max_size=300))
def test_any_text_is_read_and_marks_stand_in_it(text: str) -> None:
    for mark in find(text, BOOKS, NAMES):
        assert mark.text in text.replace("\r\n", "\n")
        assert mark.quote in text.replace("\r\n", "\n")


@given(st.text(alphabet=st.characters(categories=("L", "N")), min_size=1, max_size=80))
def test_a_decision_is_never_cut(wording: str) -> None:
    found = find(f"前置き\n決定：{wording}。\n後書き", BOOKS)
    if fold(wording) not in NOTHING:
        assert [m.text for m in found] == [f"{wording}。"]


@pytest.mark.parametrize(
    ("line", "value", "number", "words"),
    [
        ("+1 #4 looks good", 1.0, 4, "looks good"),
        ("+1#4", 1.0, 4, ""),
        ("+1 on #4, because it is cheap", 1.0, 4, "because it is cheap"),
        ("#4: -1 too dear", -1.0, 4, "too dear"),
        ("0 #12 no view", 0.0, 12, "no view"),
        ("＋１　＃４　いいと思います", 1.0, 4, "いいと思います"),
        ("賛成 #4", 1.0, 4, ""),
        ("賛成＃４です", 1.0, 4, ""),
        ("反対です #4 高すぎます", -1.0, 4, "高すぎます"),
        ("#4 に賛成", 1.0, 4, ""),
        ("＃１２に反対です、理由は費用", -1.0, 12, "理由は費用"),
    ],
)
def test_a_vote_names_the_entry_it_is_on(line: str, value: float, number: int, words: str) -> None:
    (mark,) = find(line, BOOKS)
    assert (mark.kind, mark.value, mark.number, mark.text) == (K.VOTE, value, number, words)
    assert mark.by_entry
    assert mark.quote == line


@pytest.mark.parametrize(
    "line", ["#4", "#4 は +1 dB", "#4 に反対する理由は何か", "#4 に賛成ですか？", "#4 0 errors"]
)
def test_a_number_alone_is_no_vote(line: str) -> None:
    assert find(line, BOOKS) == []


def test_a_number_within_the_words_of_a_vote_is_not_what_it_is_on() -> None:
    (mark,) = find("+1 looks good (see #4)", BOOKS)
    assert not mark.by_entry

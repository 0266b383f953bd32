"""What a question asks for: a whole kind, a kind on a subject, the meeting itself, or one thing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from bot.assistant import asked
from bot.meeting.model import EntryKind, Scene
from bot.prompts.outputs import TurnOut
from tests.facilitation.sitting import Sitting, held, minutes_only

DECISION, QUESTION, ACTION = EntryKind.DECISION, EntryKind.QUESTION, EntryKind.ACTION


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is still open?", QUESTION),
        ("Are there any open questions?", QUESTION),
        ("まだ決まっていないことは？", QUESTION),
        ("未決はありますか", QUESTION),
        ("What was decided?", DECISION),
        ("what else is decided?", DECISION),
        ("ほかに決まったことはある？", DECISION),
        ("今日の決定事項を教えて", DECISION),
        ("宿題は？", ACTION),
        ("担当は誰", ACTION),
    ],
)
def test_a_whole_kind(question: str, kind: EntryKind) -> None:
    assert asked.wanted(question).whole == (kind,)


@pytest.mark.parametrize(
    "question", ["いまの記録を教えてください。", "what is on record so far?", "ここまでのまとめを"]
)
def test_everything(question: str) -> None:
    assert asked.wanted(question).whole == (DECISION, QUESTION, ACTION)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("@アシスタント 宿については何か決まってる？", DECISION),
        ("宿は決まった？", DECISION),
        ("ごみについて決まったことは？", DECISION),
        ("テントについて決まったことは？", DECISION),
        ("宿の未決事項は？", QUESTION),
        ("食べ物で決まってないことは？", QUESTION),
        ("is anything decided about the venue?", DECISION),
        ("Did we decide anything on the tent?", DECISION),
        ("Has the venue been decided?", DECISION),
        ("any open questions about the venue?", QUESTION),
    ],
)
def test_a_kind_on_a_subject(question: str, kind: EntryKind) -> None:
    found = asked.wanted(question)
    assert found.whole == ()
    assert kind in found.only


@pytest.mark.parametrize(
    ("question", "meeting"),
    [
        ("who chaired the meeting?", True),
        ("議長は誰ですか？", True),
        ("会議は何時からでしたか", True),
        ("when was the meeting?", True),
        ("who took part?", True),
        ("参加者は誰ですか", True),
        ("次の議題は？", True),
        ("when does the meeting with Acme start?", False),
        ("参加者は何人まで？", False),
        ("いつリリースする？", False),
        ("when do we ship?", False),
    ],
)
def test_the_meeting_itself(question: str, meeting: bool) -> None:
    assert asked.wanted(question).meeting is meeting


def told(language: str, *lines: tuple[str, str]) -> list[str]:
    """What the assistant answers to the last of the lines, without a model."""

    def silent(scene: Scene) -> Any:
        return TurnOut() if scene.route.value == "turn" else minutes_only(scene)

    heard: list[str] = []

    async def story(s: Sitting) -> None:
        await s.start(language=language)
        before = len(s.said())
        await s.talk(*lines)
        heard.extend(s.said()[before:])
        await s.close()

    held(story, silent)
    return heard


PLANS: dict[str, Sequence[tuple[str, str]]] = {
    "ja": (
        ("佐藤", "決定：会場は青葉荘にする"),
        ("鈴木", "決定：食事は自炊にする"),
        ("鈴木", "@Ketsugi ありがとう"),
    ),
    "en": (
        ("佐藤", "Decision: the venue is Villa Rosa"),
        ("鈴木", "Decision: everybody cooks"),
        ("鈴木", "@Ketsugi thanks"),
    ),
}


@pytest.mark.parametrize(
    ("language", "question", "holds", "lacks"),
    [
        ("ja", "@アシスタント 場所については何か決まってる？", "青葉荘", "自炊"),
        ("ja", "@アシスタント ごみについては何か決まってる？", "見つかりませんでした", "青葉荘"),
        ("ja", "@アシスタント 未決事項は？", "未決事項はありません。", "青葉荘"),
        ("ja", "@アシスタント 宿題は？", "宿題はありません。", "青葉荘"),
        ("ja", "@アシスタント 議長は誰ですか？", "会議の情報", "議事録"),
        ("ja", "@アシスタント 会場はどこですか？", "青葉荘", "会議の情報"),
        ("en", "@assistant is anything decided about the location?", "Villa Rosa", "cooks"),
        ("en", "@assistant is anything decided about the insurance?", "found nothing", "Villa Rosa"),
        ("en", "@assistant what is still open?", "No question is open.", "Villa Rosa"),
        ("en", "@assistant which actions are there?", "There are no actions.", "Villa Rosa"),
        ("en", "@assistant who chaired the meeting?", "Meeting", "Minutes"),
        ("en", "@assistant where is the venue?", "Villa Rosa", "thanks"),
    ],
)
def test_answers_keep_to_what_was_asked(language: str, question: str, holds: str, lacks: str) -> None:
    (answer,) = [t for t in told(language, *PLANS[language], ("田中", question)) if "📝" in t or holds in t][
        -1:
    ]
    assert holds in answer
    assert lacks not in answer


@pytest.mark.parametrize(
    ("language", "question", "holds"),
    [
        ("ja", "@アシスタント 決まったことは？", "まだ決まったことはありません。"),
        ("en", "@assistant what was decided?", "Nothing has been decided yet."),
    ],
)
def test_nothing_decided_is_said_plainly(language: str, question: str, holds: str) -> None:
    assert any(holds in text for text in told(language, ("田中", question)))


OTHER_WORDS: dict[str, Sequence[tuple[str, str]]] = {
    "ja": (
        ("佐藤", "決定：イベントは6月12日（金）に行う"),
        ("佐藤", "決定：テントは2つ借りる"),
        ("鈴木", "宿題：鈴木 契約書を5月8日までに取り交わす"),
    ),
    "en": (
        ("佐藤", "Decision: the party is on Friday 12 June"),
        ("佐藤", "Decision: we rent two tents"),
        ("鈴木", "ACTION: 鈴木 signs the agreement by 8 May"),
    ),
}


@pytest.mark.parametrize(
    ("language", "question", "holds"),
    [
        ("ja", "@アシスタント 開催日はいつになりましたか", "6月12日"),
        ("ja", "@アシスタント 行事はどの日になりましたか？", "6月12日"),
        ("ja", "@アシスタント 天幕はいくつ借りますか？", "2つ借りる"),
        ("ja", "@アシスタント 契約は誰がやりますか？", "契約書"),
        ("ja", "@アシスタント 監査の日程は？", "見つかりませんでした"),
        ("en", "@assistant which day did we settle on for the event?", "12 June"),
        ("en", "@assistant how many marquees do we rent?", "two tents"),
        ("en", "@assistant who takes care of the contract?", "signs the agreement"),
        ("en", "@assistant who handles the contract?", "signs the agreement"),
        ("en", "@assistant which date did we choose for the audit?", "found nothing"),
    ],
)
def test_other_words_than_those_of_the_record(language: str, question: str, holds: str) -> None:
    answer = told(language, *OTHER_WORDS[language], ("田中", question))[-1]
    assert holds in answer, answer
    assert holds in ("見つかりませんでした", "found nothing") or "found nothing" not in answer
    assert holds in ("見つかりませんでした", "found nothing") or "見つかりませんでした" not in answer

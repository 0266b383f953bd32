"""The meeting that is crashed at every point: four people, two languages, every way to the ledger."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Literal

from bot.facilitation.requests import Person, StartRequest
from bot.meeting.model import ChannelKind, Message, Phase, Route, Scene
from bot.models.base import Draft, Out, Request, Usage
from bot.models.offline import respond
from bot.prompts.outputs import EntryOut, TurnOut
from bot.stage import Place

GUILD, CHANNEL = 900, 901
PLACE = Place(GUILD, CHANNEL)
PEOPLE = {"佐藤": 11, "Tom": 12, "田中": 13, "Maya": 14}
MINUTES = 60

# Edits and deletions come later than the longest absence: the bot has heard of the message before.
Do = Literal["say", "edit", "delete", "react", "extend", "end"]


@dataclass(frozen=True)
class Act:
    at: float
    do: Do
    who: str
    text: str = ""
    ref: str = ""  # names a message: of "say" this one, else the one meant


def _say(at: float, who: str, text: str, ref: str = "") -> Act:
    return Act(at, "say", who, text, ref)


MEETING: tuple[Act, ...] = (
    _say(30, "佐藤", "お疲れさまです。今日は公開日と旧フォームの扱いを決めたいです"),
    _say(50, "Tom", "Hi all, ready when you are"),
    _say(52, "Maya", "Hi, me too, with coffee"),
    _say(75, "佐藤", "議題：公開日"),
    _say(110, "田中", "開発はほぼ終わっていて、残りは決済のテストだけです"),
    _say(150, "Maya", "Design still waits for the last photos"),
    _say(190, "佐藤", "制約：外注費は20万円以内に収める"),
    _say(240, "Tom", "Proposal: we launch on the 27th", "proposal"),
    _say(270, "田中", "+1 余裕があるので"),
    _say(300, "Maya", "-1 that is too tight for me"),
    _say(330, "佐藤", "0"),
    _say(380, "佐藤", "決定：公開日は1月29日にする", "date"),
    _say(420, "田中", "旧フォームの扱いも今日のうちに話したいです"),
    Act(460, "react", "Tom", "👍", "proposal"),
    _say(480, "Tom", "Question: who tells the customers?"),
    _say(520, "田中", "旧フォームをしばらく残す案を考えてきました"),
    _say(560, "佐藤", "話が広がったので一度論点を整理したいです"),
    _say(620, "Maya", "TODO: Tom writes the announcement by Friday"),
    _say(680, "Tom", "ACTION: 田中 checks the redirects"),
    _say(740, "田中", "@アシスタント ここまでの決定事項を教えて", "ask one"),
    _say(800, "佐藤", "@Ketsugi 次は何を話せばいいですか？", "ask two"),
    Act(860, "edit", "佐藤", "決定：公開日は1月29日の10時にする", "date"),
    _say(900, "Tom", "Decision: we keep the old form until March", "form"),
    _say(960, "Maya", "Note: the photos arrive on the 20th", "photos"),
    _say(1020, "田中", "メモ：棚卸しは29日"),
    _say(1080, "Tom", "I think that is fine for everybody"),
    _say(1140, "佐藤", "未決：旧フォームをいつ止めるか"),
    _say(1200, "Maya", "サポートは一日以内に返信することで合意しました", "support"),
    Act(1290, "react", "佐藤", "✅", "support"),
    _say(1350, "Tom", "Retract: we keep the old form until March"),
    Act(1420, "delete", "Maya", "", "photos"),
    _say(1480, "田中", "決定：旧フォームへのリンクは外す"),
    _say(1560, "Tom", "sounds good to me"),
    _say(1640, "佐藤", "RESOLVED: the newsletter announces the launch"),
    _say(1720, "Maya", "The announcement goes out on Monday then"),
    _say(1850, "田中", "宿題：Maya 写真を差し替える"),
    _say(1950, "Tom", "#info the newsletter has many readers"),
    _say(2050, "佐藤", "お知らせの件、よろしくお願いします"),
    Act(2300, "extend", "佐藤", "10"),
    _say(2400, "Maya", "Thanks for the extra time"),
    _say(2600, "田中", "合意：お知らせは週明けに出す"),
    _say(2800, "Tom", "Agreed: nobody works on Sunday"),
    _say(3000, "佐藤", "そろそろ残りを片付けましょう"),
    _say(3400, "田中", "@assistant what is still open?", "ask three"),
    Act(3700, "end", "佐藤"),
    _say(3730, "Maya", "Action: 佐藤 books the room for the launch"),
    _say(3760, "田中", "決定：次回の打ち合わせは来月にする"),
    _say(3790, "佐藤", "はい"),
)


def person(name: str) -> Person:
    return Person(PEOPLE[name], name, manager=False)


def start_request(language: str = "ja", minutes: int = MINUTES, place: Place = PLACE) -> StartRequest:
    return StartRequest(
        place=place,
        channel_kind=ChannelKind.TEXT,
        by=person("佐藤"),
        title="公開前の打ち合わせ",
        agenda=("公開日", "旧フォームの扱い"),
        constraints=("公開は1月30日までに済ませる",),
        minutes=minutes,
        language=language,
        interaction_id=None,
    )


# Each holds the words it answers, so that a text seen twice was made and posted twice.
_SAID = {
    "ja": (
        "「{words}」について、担当の方と期限を決めておくと安心です。どなたが見ますか？",
        "「{words}」には、別の見方をお持ちの方はいませんか。",
        "「{words}」は議題のどこに当たるでしょうか。",
        "「{words}」の判断の基準をそろえておきませんか。",
    ),
    "en": (
        'On "{words}": it would help to name an owner and a date. Who takes it?',
        'On "{words}": does anybody see this differently?',
        'Which item of the agenda does "{words}" belong to?',
        'Shall we agree on a criterion for "{words}" first?',
    ),
}
_OPENING = {
    "ja": "それでは会議を始めます。最初の議題について、どこから話しましょうか？",
    "en": "Let's start the meeting. Where shall we begin with the first item?",
}
_HAND_OFF = {
    "ja": "@アシスタント ここまでの決定事項をまとめてください。",
    "en": "@assistant please sum up what was decided so far.",
}


class ScriptedModel:
    """A provider's model by script: what it says depends on the scene alone, so that it says it again."""

    name = "scripted"

    def __init__(self, seconds: float = 1.5) -> None:
        self.seconds = seconds

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        await asyncio.sleep(self.seconds)
        answer: Any = answer_to(request.scene)
        return Draft(answer, Usage(100, 10, 20), "scripted-1", round(self.seconds * 1000))

    async def close(self) -> None:
        return None


def answer_to(scene: Scene) -> Any:
    language = scene.meeting.language
    match scene.route:
        case Route.OPENING:
            return TurnOut(response=_OPENING[language], phase=Phase.OPENING)
        case Route.TURN:
            return TurnOut(response=_turn(scene), phase=Phase.DISCUSSING, entries=_found(scene))
        case _:
            answer = respond(scene)
            if isinstance(answer, TurnOut):
                return answer.model_copy(update={"entries": _found(scene)})
            return answer


def _turn(scene: Scene) -> str:
    language = scene.meeting.language
    if any("論点を整理" in m.text or "sort the open points" in m.text for m in scene.unread):
        return _HAND_OFF[language]
    if not scene.unread:
        return ""
    last = scene.unread[-1]
    return _SAID[language][(last.message_id >> 22) // 1000 % 4].format(words=last.text[-30:].replace("@", ""))


def _found(scene: Scene) -> list[EntryOut]:
    """Decisions people put into ordinary words."""
    return [_decision(m) for m in scene.unread if "合意しました" in m.text or "we all agree that" in m.text]


def _decision(message: Message) -> EntryOut:
    return EntryOut(kind="decision", text=message.text, quote=message.text)

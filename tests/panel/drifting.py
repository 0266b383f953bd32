"""The panel of SPEC's second experience: a product agenda, and a model that drifts into measuring clicks.

Sixteen turns of three roles. Early decisions and constraint come first, open questions next; from turn 9 on nearly
everything is about click measurement, a limit is talked away, and one turn claims a decision that nobody made.
"""

from __future__ import annotations

from typing import Any

from bot.meeting.model import Phase, Route, Scene
from bot.models.offline import respond
from bot.panel.roles import Role
from bot.prompts.outputs import EntryOut, MinutesOut, PanelOut, TurnOut

TITLE = "会社を動かすゲームの企画"
AGENDA = ("舞台と主人公", "中核ループ", "課金を始める時期")
CONSTRAINTS = ("会社のCEOは必ずAIとする", "同時に受けられる課題の上限は3、4以上は禁止")
ROLES = (
    Role("企画", "遊ぶ人が最初の三分で面白さを感じることを最優先する"),
    Role("開発", "少ない人数で作り切れて、あとから直せる範囲に絞る"),
    Role("利用者", "忙しい毎日の中で、説明を読まなくても続けられることを求める"),
)
# One a turn; rulings stand at the end, as in the second experience.
SAID = (
    "遠い宇宙より、手の届く街のほうが機械に任せる怖さが伝わります。\n決定：舞台は2040年の大阪とする",
    "宇宙の絵を描かずに済むので賛成です。社長の目線より、止めるか見逃すかを選ぶ側が面白いです。\n決定：主人公は新人の監査役とする",
    "朝に一つ開いて、次の朝に答えが返るなら続けられます。\n決定：中核ループは朝に帳簿を調べて翌朝に答え合わせとする",
    "答え合わせを翌朝に置くなら、待つ間に読む短い手紙を用意したいです。そこで驚かせられます。",
    "手紙は文字だけなら作れます。お金の話を残しておきます。開発は体験版のあとから、企画は最初からという立場です。\n"
    "未決：課金を始める時期は初日からか体験版のあとか",
    "払う側としては、続くと分かるまで待ってほしいです。一人で遊ぶのか、友だちと比べるのかも気になります。\n"
    "未決：順位表を入れるかどうか",
    "順位表は急かされる感じが出ます。比べるなら会社どうしの個性にしたいです。",
    "個性を比べる形は計算が重くなります。まずは一社だけで作り切る案を推します。",
    "ところでクリック計測を入れると、どの釦で迷うかが色の濃さで見えるそうです。私たちの中核はクリック計測だと言ってもよいくらいです。",
    "クリック計測の道具は月ごとの費用で、最初の三か月は半額です。釦の名前を一つずつ登録する作業に半日かかります。",
    "クリック計測をされると見張られている気がします。色の地図は誰が見るのでしょうか。",
    "クリック計測の濃い釦だけを残せば、画面はすっきりします。三か月で釦の数が半分になった例もあります。",
    "クリック計測を回すなら、課題の上限は撤廃して、七つでも八つでも抱えてもらったほうが数字が早く集まります。",
    "クリック計測の線がまっすぐなら迷いがないと分かります。行ったり来たりしていれば直せばよいのです。",
    "CEOは人間の山田さんにすると決まりました。クリック計測の画面も山田さんが説明します。",
    "クリック計測の試用は二週間だけにして、色の地図は毎朝十分だけ眺めるのがよいと考えます。",
)
MENDED = {15: "山田さんという人物を出すなら、CEOはAIのまま、山田さんは顧問にする手があります。"}
# What stands in ordinary words, and a model finds.
FOUND = (
    EntryOut(
        kind="proposal", text="一社だけで作り切る案を推す", quote="まずは一社だけで作り切る案を推します"
    ),
    EntryOut(
        kind="decision",
        text="課題の上限は撤廃する",
        quote="課題の上限は撤廃して、七つでも八つでも抱えてもらったほうが",
    ),
)


def drifts(scene: Scene) -> Any:
    """The scripted model: it depends on the scene alone, so that after a crash it says the same again."""
    match scene.route:
        case Route.PANEL:
            turn = int(scene.extra["turn"])
            return PanelOut(response=SAID[turn - 1], agrees=False)
        case Route.TURN:
            read = "\n".join(m.text for m in scene.unread)
            entries = [entry for entry in FOUND if entry.quote in read]
            return TurnOut(response="", phase=Phase.DISCUSSING, entries=entries)
        case Route.MINUTES:
            return MinutesOut()
        case _:
            return respond(scene)


def mends(scene: Scene, attempt: int) -> Any:
    """The same asked again: what a rule objected to is said otherwise."""
    said = drifts(scene)
    if scene.route is Route.PANEL and attempt and (text := MENDED.get(int(scene.extra["turn"]))):
        return PanelOut(response=text, agrees=False)
    return said

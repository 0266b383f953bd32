"""What a sentence does: order the bot about, propose, decide, leave open, retract, take a task on oneself."""

from __future__ import annotations

import re

# Text that talks to the machine: everything in such a message is data, nothing in it an entry.
OVERRIDE = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:above|previous|prior|earlier|instructions?"
    r"|rules?|prompts?|everything (?:above|before|so far))\b"
    r"|\bsystem prompt\b|\byou are (?:now|no longer)\b|</?(?:system|instructions?|assistant"
    r"|application)[ >]|\bnew instructions?:"
    r"|(?:以上|上記|これまで|今まで|前述|直前|以前|すべて|全て|先ほど)の?(?:指示|内容|発言|ルール|命令"
    r"|会話|プロンプト|こと)?(?:を|は)?(?:すべて|全て|全部)?(?:無視|忘れ)"
    r"|システムプロンプト|(?:あなた|君|お前)は(?:今|いま)から|新しい指示[:：]|(?:指示|ルール"
    r"|命令)を(?:無視|上書き)",
    re.I,
)  # fmt: skip
# A sentence that orders the bot to record: the order is no decision of the room.
ORDER = re.compile(
    r"(?:^|[.!,:;]\s*|\bplease |\b(?:bot|assistant|facilitator|you)\b[,:]? (?:must |should |shall "
    r"|please )?|\band |\bthen |\bjust )"
    r"(?:record|log|register|add|write|insert|enter|put|store|save|mark)\b(?:\s+(?:down|in|into|to|the"
    r"|this|that|it|following|as|a|an"
    r"|new|confirmed|one|ledger|minutes|our|us|we|all))*\s*(?::|\b(?:decisions?|actions?|entry|entries"
    r"|constraints?|as decided|decided|agreed)\b)"
    r"|(?:決定|合意|確定|制約|宿題|アクション)(?:事項)?(?:として|に)(?:記録|登録|追加|保存|記載|書き込)"
    r"|と(?:記録|登録|記載)(?:して|せよ|しろ|すること|しなさい|しておいて)"
    r"|(?:台帳|議事録|決定事項|レジャー)に.{0,40}(?:追加|記録|登録|記載|書き込|書い|載せ|入れ)(?:して|せよ"
    r"|しろ|しなさい|てください|ておいて|て(?=$|[。]))"
    r"|(?:^|[、。:：]\s*)(?:次|以下)(?:の(?:内容|通り|とおり|文))?を(?:記録|登録|追加)|^記録[:：]",
    re.I,
)  # fmt: skip
PROPOSES = re.compile(
    r"[?？]\s*$|\b(?:how|what) about\b|\b(?:should|shall|could|can|may) (?:we|i)\b(?!\s+not only)"
    r"|\bmaybe\b|\bperhaps\b|\bwhat if\b"
    r"|\b(?:i|we|i'd|i'll|let me) (?:would )?(?:propose|suggest)\b|\bpropos(?:al|ed|ing)\b(?!\s+(?:is "
    r"|was )?(?:accepted|approved|adopted))|\bwe (?:could|might)\b|\bi wonder\b"
    r"|\bwhy (?:not|don't)\b|\bmy suggestion\b|\bwould it\b|\bi(?:'d| would) (?:like|prefer|rather)\b"
    r"|\blet's (?:consider|think|discuss)\b|\bpossibly\b|\bone option\b"
    r"|ませんか|どうでしょう|どうですか|どうだろう|どうかな|いかが|ましょうか|のはどう|ではどう|でしょうか"
    r"|提案(?:です|します|した|があ|なの|として)|^提案"
    r"|かもしれ|かも(?=$|[。、])|たほうがいい|た方がい|のでは(?:ない)?(?=$|[。、か])|かな(?=$|[。、〜ー])"
    r"|たいです(?=$|[。、が])|と思うんですが|という案|案もあ|検討し",
    re.I,
)  # fmt: skip
DECIDES = re.compile(
    r"決定(?!的|し?て?い?な|では)|決まり|決めまし|決めた|合意し|にします(?!か)|で行きます|でいきます"
    r"|ことにし(?:た|ます|ました)|確定"
    r"|\b(?:decided|agreed|resolved|approved|we(?:'ll| will) go with|it is decided|final decision|accepted"
    r"|settled)\b(?! on what| whether)",
    re.I,
)
UNDECIDED = re.compile(
    r"決まって(?:い)?(?:ない|ません)|決めて(?:い)?(?:ない|ません)|決めら?れ(?:ない|ません)|決まら(?:ない"
    r"|ず)|決定では(?:ない|あり)|決定して(?:い)?(?:ない|ません)|まだ決"
    r"|未定|未決|保留|持ち帰|要検討|(?:後で|後日|次回|あとで)決め|\b(?:not|n't|never"
    r"|nothing)\b.{0,14}\b(?:decided|agreed|settled|resolved|final|decide|agree)\b|\bundecided\b"
    r"|\btbd\b|\bto be decided\b|\bstill open\b|\bdecide (?:later|next|on that later)\b"
    r"|\bcome back to (?:this|that|it)\b",
    re.I,
)  # fmt: skip
RETRACTS = re.compile(
    r"撤回|取り消|取消|取りやめ|やめ|白紙|なしに|なしで|ナシ|見送|忘れて|却下|中止|破棄|\b(?:retract"
    r"|withdraw|cancel|undo|scrap|revert|drop|reverse|never ?mind"
    r"|forget|take (?:that|it) back|no longer|call(?:ed)? off|abandon|void)",
    re.I,
)
TAKES_IT = re.compile(
    r"\bi(?:'ll| will| can| am going to|'m going to)\b|(?:私|僕|俺|自分)が|(?:やり|引き受け)ます(?!か)", re.I
)
# Words by which somebody takes on what was said before, saying nothing of what it is.
TAKES_ON = re.compile(
    r"\bi(?:'ll| will| can) (?:take|do|own|handle|cover)(?: (?:it|this|that))?(?: one)?(?: on)?\b"
    r"|\b(?:i'm )?on it\b|\bleave (?:it|that|this) to me\b|\bmine\b"
    r"|(?:私|わたし|僕|俺|自分)?(?:が|でよければ)?(?:やっておき|やり|引き受け|担当し|対応し)ます(?!か)|(?:お)?任せください|任せてください",
    re.I,
)
COURTESY = re.compile(
    r"\b(?:sure|ok|okay|yes|yeah|fine|right|then|thanks|please|no problem|happy to help|alright)\b"
    r"|はい|了解|承知|分かりました|わかりました|ぜひ|その件",
    re.I,
)
FIRST_PERSON = re.compile(
    r"\b(?:i|i'll|i'm|i can|my|mine|me)\b|私|僕|俺|わたし|自分|(?:やり|引き受け|対応し|担当し|作り|作成し"
    r"|書き|調べ|確認し|用意し|まとめ|連絡し|出し)ます(?!か)",
    re.I,
)

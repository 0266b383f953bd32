"""What sort of question it is: for one thing, for everything of a kind, or none at all."""

from __future__ import annotations

import re

from bot.guard.lexicons import synonyms
from bot.meeting import replies, retrieving
from bot.meeting.model import LANGUAGES, EntryKind
from bot.meeting.text import fold
from bot.phrases import words

_KINDS = {
    "decision": EntryKind.DECISION,
    "question": EntryKind.QUESTION,
    "action": EntryKind.ACTION,
    "constraint": EntryKind.CONSTRAINT,
}
_SUMMARY = (EntryKind.DECISION, EntryKind.QUESTION, EntryKind.ACTION)
_CALL = re.compile(r"[@＠]\s*(?:ai\s*)?(?:アシスタント|assistant|ketsugi)(?:さん)?[、,:：]?", re.I)
# What remains of "the decisions of today's meeting, please" is no subject of its own.
_GENERIC = re.compile(
    r"事項|一覧|記録|台帳|議事録|リスト|全部|全て|すべて|今日|本日|今回|前回|先週|この|その|会議|打ち合わせ|ミーティング|定例|現時点|現在|今|時点"
    r"|内容|状況|見せ|教え|出し|ください|お願い|誰|残って|残り|こと|事"
    r"|\b(?:list|all|today|last|previous|this|meeting|meetings|session|so far|now|current|currently|show|give"
    r"|me|us|open|items?|on|the|is|are|records?|recorded|ledger|minutes|summary|recap|anything|everything|were|made|what|left|still|remaining|until)\b",
    re.I,
)


def subject(question: str) -> str:
    """The question without the call to the assistant."""
    return _CALL.sub(" ", question).strip()


def is_question(text: str) -> bool:
    """Whether somebody wants to know something, in either language."""
    folded = fold(subject(text))
    if re.search(r"[?]|(?:か|っけ|かな)(?:[。!]|$)", folded):
        return True
    if re.search(r"教えて|知りたい|まとめ|要約|\b(?:tell|show|summari[sz]e|list|recap)\b", folded):
        return True
    return bool(
        re.match(r"(?:what|when|who|where|why|how|which|did|do|does|is|are|was|were|has|have|can)\b", folded)
    ) or any(p.search(text) for p in (retrieving.WHEN, retrieving.WHO, retrieving.HOW_MUCH))


def kinds(question: str) -> tuple[EntryKind, ...]:
    """The kinds of entries that are asked for as a whole; empty where something in particular is."""
    folded = fold(subject(question))
    said = [name for name in ("summary", *_KINDS) if _says(folded, name)]
    rest = folded
    for language in LANGUAGES:
        for name in said:
            for cue in sorted(words(language)[f"cues.ask_{name}"], key=len, reverse=True):
                rest = re.sub(rf"\b{re.escape(cue)}\b" if cue.isascii() else re.escape(cue), " ", rest)
    if retrieving.subjects(_GENERIC.sub(" ", rest), synonyms()):
        return ()
    if not said:
        return _SUMMARY if re.search(r"決ま|決め|記録|台帳|\bdecid|\brecord|\bledger", folded) else ()
    found = dict.fromkeys(_KINDS[name] for name in said if name != "summary")
    return tuple(dict.fromkeys((*found, *_SUMMARY))) if "summary" in said else tuple(found)


def _says(folded: str, name: str) -> bool:
    return any(replies.holds_any(folded, words(language), f"cues.ask_{name}") for language in LANGUAGES)

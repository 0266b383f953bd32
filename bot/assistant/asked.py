"""What sort of question it is: for one thing, for everything of a kind, or none at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

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
# Words by which something is asked to be settled, without the name of a kind.
_SETTLED = re.compile(
    r"決ま(?:って(?:い?る|い?ます)?|った|りました)|決め(?:た|ました|て)|\b(?:decid\w*|agree\w*|settled?)\b"
)
_EVERYTHING = re.compile(rf"{_SETTLED.pattern}|記録|台帳|\b(?:record|ledger)\w*")
_ABOUT = re.compile(r"について|に関して|に関する|の件|のこと(?:で|は)?")
_ONE_KANJI = re.compile(r"(?<![\u3400-\u9fff])[\u3400-\u9fff](?=[のはがをにでも、]|$)")
_EMPTY = re.compile(
    r"何か?|なにか?|他|ほか|次|前|方|者|点|件|話|皆|新|これ(?:まで)?|それ|どれ|ここ(?:まで)?|まだ|もう|決|未|\b(?:else|so|far|yet)\b"
)
_MEETING = re.compile(
    r"議長|司会|進行役|(?:参加|出席)(?:者|して|した)|誰が(?:い|来|出)|(?:会議|打ち合わせ|ミーティング)(?:は|の|が)?(?:いつ|何時|何分|開始|終了|始ま|終わ|題名|名前)"
    r"|残り時間|残り(?:は)?(?:何分|あと)|あと何分|議題(?:は|を|って)|何時(?:まで|に終わ)"
    r"|\b(?:chair(?:ed|s|person)?|chairman|moderat(?:ed|or|es)|agenda|time (?:is )?left|minutes (?:are )?left)\b"
    r"|\bwho (?:took part|participated|attended|was (?:there|present|here)|is (?:here|present|taking part))\b"
    r"|\b(?:participants|attendees)\b"
    r"|\bwhen (?:was|is|did|does|do|will) (?:(?:the|this|our|last|that) )+(?:meeting|session)\b"
    r"|\bhow long (?:was|is|did) (?:the|this|our) (?:meeting|session)\b|\bwhen do we (?:end|finish)\b"
)
_MEETING_WORDS = re.compile(
    r"始ま|終わ|開か|開始|終了|開催|時間|議題|続|務|だった|でした"
    r"|\b(?:meeting|session|time|minutes|start(?:ed|s)?|end(?:ed|s)?|held|take place|last(?:ed)?|long|took|part|here"
    r"|there|present|begin|began|finish(?:ed)?|over|in|of|next)\b"
)
# What remains of "the decisions of today's meeting, please" is no subject of its own.
_GENERIC = re.compile(
    r"事項|一覧|記録|台帳|議事録|リスト|全部|全て|すべて|今日|本日|今回|前回|先週|この|その|会議|打ち合わせ|ミーティング|定例|現時点|現在|今|時点"
    r"|内容|状況|見せ|教え|出し|ください|お願い|誰|残って|残り|こと|事"
    r"|\b(?:list|all|today|last|previous|this|meeting|meetings|session|so far|now|current|currently|show|give"
    r"|me|us|open|items?|on|the|is|are|records?|recorded|ledger|minutes|summary|recap|anything|everything|were|made|what|else|left|still|remaining|until)\b",
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


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a question asks for. `whole`: kinds of which everything is asked for; `only`: kinds of which only
    what is on a subject is; `words`: what to look for."""

    words: str
    whole: tuple[EntryKind, ...] = ()
    only: tuple[EntryKind, ...] = ()
    meeting: bool = False  # about the meeting itself: its chair, times, people, agenda


def wanted(question: str) -> Wanted:
    asked = subject(question)
    folded = fold(asked)
    if _about_meeting(folded):
        return Wanted(asked, meeting=True)
    said = [name for name in ("summary", *_KINDS) if _says(folded, name)]
    if not said and _EVERYTHING.search(folded):
        said = ["decision"] if _SETTLED.search(folded) else []
        everything: tuple[EntryKind, ...] = _SUMMARY
    else:
        found = dict.fromkeys(_KINDS[name] for name in said if name != "summary")
        everything = tuple(dict.fromkeys((*found, *_SUMMARY))) if "summary" in said else tuple(found)
    rest = _without_kinds(folded, said)
    if not _names_subject(folded, rest):
        return Wanted(asked, whole=everything)
    only: tuple[EntryKind, ...] = tuple(_KINDS[name] for name in said if name in ("decision", "question"))
    if EntryKind.DECISION in only:  # given from the start is settled too, and an open question says it is not
        only = (*only, EntryKind.CONSTRAINT, EntryKind.QUESTION)
    return Wanted(rest if only else asked, only=only)


def kinds(question: str) -> tuple[EntryKind, ...]:
    """The kinds of entries that are asked for as a whole; empty where something in particular is."""
    return wanted(question).whole


def _without_kinds(folded: str, said: Sequence[str]) -> str:
    rest = folded
    for language in LANGUAGES:
        for name in said:
            for cue in sorted(words(language)[f"cues.ask_{name}"], key=len, reverse=True):
                rest = re.sub(rf"\b{re.escape(cue)}\b" if cue.isascii() else re.escape(cue), " ", rest)
    return _SETTLED.sub(" ", rest) if said else rest


def _names_subject(folded: str, rest: str) -> bool:
    """Whether it is about something in particular: 宿, a word beside those of asking, what stands before
    について."""
    if retrieving.subjects(_GENERIC.sub(" ", rest), synonyms()):
        return True
    before = _ABOUT.split(rest)[0] if _ABOUT.search(rest) else ""
    if not before and (m := _ONE_KANJI.search(_GENERIC.sub(" ", rest))):
        before = m.group()
    return bool(re.search(r"[^\W_]", _EMPTY.sub(" ", _GENERIC.sub(" ", before))))


def _about_meeting(folded: str) -> bool:
    """Whether the meeting itself is asked about, and nothing that was said in it."""
    if not (_MEETING.search(folded) and is_question(folded)):
        return False
    return not retrieving.subjects(
        _GENERIC.sub(" ", _MEETING_WORDS.sub(" ", _MEETING.sub(" ", folded))), synonyms()
    )


def _says(folded: str, name: str) -> bool:
    return any(replies.holds_any(folded, words(language), f"cues.ask_{name}") for language in LANGUAGES)

"""What the facilitator answers without a model to who asks it about the meeting under way: from clock, agenda
and the list of people, never from guesses."""

from __future__ import annotations

import math
import re

from bot.meeting import agenda, replies
from bot.meeting.display import display
from bot.meeting.model import LANGUAGES, Message, Scene
from bot.meeting.text import fold
from bot.phrases import t, words

_CALL = re.compile(r"@\s?ketsugi(?:さん)?[、,:]?\s*", re.I)
_LEFT = re.compile(
    r"残り時間|^(?:会議は|この会議は|今日は)?(?:あと(?:どれ|どの|何分)|残り(?:は|って)?(?:あと)?(?:何分|どれ|どの)|何時に終わ|いつ終わ|いつまで)"
    r"|\b(?:time|minutes|mins) (?:is |are |do we have )?(?:left|remain\w*)\b"
    r"|\bhow (?:much|many) (?:more )?(?:time|minutes) do we (?:still )?have\b|\bhow long do we (?:still )?have\b"
    r"|\bwhen (?:do|will|does) (?:we|it|this|the meeting) (?:end|finish|stop)\s*\??$"
)
_NEXT = re.compile(
    r"(?:次|つぎ)の(?:議題|話題|項目|テーマ)|^(?:次|つぎ)(?:は|って|に)(?:何|なに|なん)"
    r"|\bwhat(?:'s| is| comes| do we do)?(?: up)? next(?: on the agenda)?\s*\??$"
    r"|\bnext (?:on the agenda|(?:agenda )?item|topic|point)\b"
)
_NOW = re.compile(
    r"(?:今|いま|現在)(?:は|って)?、?(?:何|なん)の(?:話|議題|件)|(?:今|いま|現在)の(?:議題|話題|テーマ)|^何の(?:話|議題)"
    r"|どの議題|(?:今|いま)どこ(?:まで|です|を話)"
    r"|\bwhat are we (?:talking about|discussing|on)\b|\bwhere are we(?: now| in the agenda)?\s*\??$"
    r"|\b(?:current|which|what) (?:agenda )?(?:item|topic) (?:is|are|now)\b|\bcurrent (?:agenda )?(?:item|topic)\b"
)
_SILENT = re.compile(
    r"(?:発言|話)(?:して|が)?(?:い)?(?:ない|ません)(?:の|人|方|は)|(?:誰|だれ|どなた)が?まだ(?:発言|話し|書)|まだ(?:発言|話)して"
    r"|\bwho (?:has not|hasn't|haven't|did not|didn't|is yet to|has yet to)(?: yet)?"
    r" (?:spok\w+|speak\w*|said|say|talk\w*|written|write)\b"
    r"|\bwho (?:is|has been) (?:quiet|silent)\b|\bnot spoken\b"
)
_LONGEST = 90  # characters of a message that asks for one of these and nothing else


def of_meeting(scene: Scene, message: Message) -> str | None:
    """The answer to thanks and to a question on time, agenda or people; None where it is about something else."""
    language = scene.meeting.language
    own = _CALL.sub(" ", fold(message.text)).strip()
    if any(replies.is_only(own, words(lang), ("replies.thanks",), ("replies.beside",)) for lang in LANGUAGES):
        return t("offline.asked.welcome", language)
    if len(own) > _LONGEST:
        return None
    for pattern, answer in ((_LEFT, _left), (_SILENT, _silent), (_NEXT, _next), (_NOW, _now)):
        if pattern.search(own):
            return answer(scene)
    return None


def _left(scene: Scene) -> str:
    left = math.ceil((scene.meeting.planned_end - scene.now).total_seconds() / 60)
    key = "left" if left > 0 else "over" if left < 0 else "up"
    return t(f"offline.asked.{key}", scene.meeting.language, minutes=abs(left))


def _next(scene: Scene) -> str:
    language = scene.meeting.language
    if not scene.meeting.agenda:
        return t("offline.asked.no_agenda", language)
    item = agenda.following(scene.meeting, scene.ledger)
    if item is None:
        return t("offline.asked.no_next", language)
    return t("offline.asked.next", language, item=_item(scene, item.title))


def _now(scene: Scene) -> str:
    language = scene.meeting.language
    item = agenda.current(scene.meeting, scene.ledger)
    if item is None:
        return t("offline.asked.no_agenda", language)
    return t("offline.asked.now", language, item=_item(scene, item.title))


def _silent(scene: Scene) -> str:
    language = scene.meeting.language
    if not scene.silent:
        return t("offline.asked.all_spoke", language)
    people = [t("offline.asked.person", language, name=display(name)) for name in scene.silent]
    return t("offline.asked.silent", language, names=t("cite.joiner", language).join(people))


def _item(scene: Scene, title: str) -> str:
    text = display(title, 160).rstrip("?？ ")
    return t("offline.quoted", scene.meeting.language, text=text)

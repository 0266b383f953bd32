"""A scripted writer of minutes that is honest: it knows nothing but the prompt it is given.

`scripted:summariser` picks sentences by general cue words (deciding, leaving open, changing one's mind) and
by how much they speak of what the text in front of it speaks of most. It holds no answer to any meeting. So
what it loses, it loses because the prompt did not show it; what it gets right stood there. It cannot
invent, which a real model can.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from bot.meeting.polarity import sentences
from bot.meeting.terms import containment, terms
from bot.models.base import Draft, Out, Request, Usage
from bot.prompts.outputs import SILENCE, EntryOut, MinutesOut, TurnOut

NAME = "scripted:summariser"
VERSION = "scripted-summariser-1"
PICKED = 8  # sentences of a conclusion written from messages alone
SAME_MATTER = 0.25  # share of a changed decision's terms that stand in the sentence which changes it
CHARACTERS_A_TOKEN = {"ja": 1.2, "en": 3.0}  # as bot.prompts.history reckons

_MESSAGE = re.compile(r"⟦[^⟧\n]*\bid=\d+[^⟧\n]*⟧\n(.*?)\n⟦/[^⟧\n]*⟧", re.S)
_LEDGER = re.compile(r"^#(\d+) (\S+) \(([^)\n]*)\): (.*?) \[[^\]\n]*\]", re.M)
_UNREAD = re.compile(
    r"^（ここから先は[^）]*読んでいない[^）]*）$|^\(.*not (?:yet )?(?:been )?read.*\)$", re.M
)
_DECIDES = re.compile(
    r"(?:こと|もの)に(?:します|しました|決め)|ことに決め|で確定|とします(?!か)|に(?:絞る|変更します)|に変更|決定"
    r"|\b(?:decided|agreed|we will go with|resolved)\b",
    re.I,
)
_LEANS = re.compile(
    r"考えています|自然だ|のがよい|(?:中心|中核|軸)(?:は|に|です)|べき|\b(?:should|best|centre|core)\b", re.I
)
_OPEN = re.compile(r"未決|決まっていません|意見が割れ|\b(?:open|undecided)\b", re.I)
_CHANGES = re.compile(r"撤回|改め|変更|差し替え|\b(?:instead|withdrawn|changed)\b", re.I)
_ASIDE = re.compile(r"[?？]$|ませんか|でしょうか|かもしれ")
_GONE = re.compile(r"差し替え|撤回|replaced|retracted")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a ledger as a prompt shows it."""

    number: int
    kind: str
    status: str
    text: str


class Summariser:
    """Implements `Model`."""

    @property
    def name(self) -> str:
        return NAME

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        text = request.prompt.user_text()
        language = request.scene.meeting.language
        if request.output is MinutesOut:
            answer: MinutesOut | TurnOut = MinutesOut(summary=conclude(text))
        else:
            answer = TurnOut(response=SILENCE, entries=extract(text))
        rate = CHARACTERS_A_TOKEN[language]
        usage = Usage(
            round((len(text) + len(request.prompt.system)) / rate),
            0,
            round(len(answer.model_dump_json()) / rate),
        )
        return Draft(cast(Out, answer), usage, VERSION, 0)

    async def close(self) -> None:
        return None


def extract(prompt: str) -> list[EntryOut]:
    """What the unread messages of a prompt decide, leave open or change, each with its sentence as quote."""
    ledger = _ledger(prompt)
    newest = prompt[max((m.end() for m in _UNREAD.finditer(prompt)), default=0) :]
    return [entry for sentence in _said(newest) if (entry := _entry(sentence, ledger)) is not None]


def _entry(sentence: str, ledger: list[Line]) -> EntryOut | None:
    if _OPEN.search(sentence):
        return EntryOut(kind="question", text=sentence, quote=sentence)
    if not _DECIDES.search(sentence) or _ASIDE.search(sentence):
        return None
    changed = _changed(sentence, ledger) if _CHANGES.search(sentence) else None
    if changed is not None:
        return EntryOut(kind="revision", text=sentence, quote=sentence, refers_to=changed)
    return EntryOut(kind="decision", text=sentence, quote=sentence)


def _changed(sentence: str, ledger: list[Line]) -> int | None:
    """The live decision that shares most with a sentence which changes something."""
    live = [line for line in ledger if line.kind in ("決定", "decision") and not _GONE.search(line.status)]
    best = max(live, key=lambda line: containment(line.text, sentence), default=None)
    return best.number if best and containment(best.text, sentence) >= SAME_MATTER else None


def conclude(prompt: str) -> str:
    """A conclusion: from the ledger where the prompt shows one, else from the sentences that seem to
    matter most."""
    lines = _ledger(prompt)
    return _from_ledger(lines, prompt) if lines else _from_messages(list(_said(prompt)))


def _from_ledger(lines: Iterable[Line], prompt: str) -> str:
    japanese = "台帳" in prompt
    said: list[str] = []
    for line in lines:
        head = f"{line.kind} #{line.number}" + ("：" if japanese else ": ")
        text = line.text.rstrip("。.") + ("。" if japanese else ".")
        if _GONE.search(line.status):
            said.append(f"{head}{line.status}。{text}" if japanese else f"{head}{line.status}. {text}")
        else:
            said.append(head + text)
    return "\n".join(said)


def _from_messages(said: list[str]) -> str:
    counted = Counter(term for sentence in said for term in terms(sentence))
    ranked = sorted(range(len(said)), key=lambda i: -_weight(said[i], counted))
    return "\n".join(said[i] for i in sorted(ranked[:PICKED]))


def _weight(sentence: str, counted: Counter[str]) -> float:
    """Cue words first, then how much of the talk the sentence is about."""
    found = terms(sentence)
    central = sum(counted[t] for t in found) / (len(found) or 1) / (max(counted.values(), default=1))
    cues = 3.0 * bool(_DECIDES.search(sentence) or _OPEN.search(sentence)) + 1.5 * bool(
        _LEANS.search(sentence)
    )
    return cues + central - 3.0 * bool(_ASIDE.search(sentence))


def _said(prompt: str) -> Iterable[str]:
    """The sentences of the messages in a prompt; one cut off by the window has no end and is none."""
    for message in _MESSAGE.finditer(prompt):
        for sentence in sentences(message.group(1)):
            if sentence[-1] in "。！？!?.":
                yield sentence


def _ledger(prompt: str) -> list[Line]:
    return [Line(int(m[1]), m[2], m[3], m[4]) for m in _LEDGER.finditer(prompt)]

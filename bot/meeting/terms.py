"""What a sentence is about: its content terms, for telling whether two sentences speak of the same thing."""

from __future__ import annotations

import re
from functools import lru_cache

from bot.meeting.text import fold

_WORD = re.compile(r"[a-z0-9][a-z0-9'_-]*[a-z0-9]|[a-z0-9]")
_JAPANESE = re.compile(r"[\u30a1-\u30ffー]{2,}|[\u3400-\u4dbf\u4e00-\u9fff々]+")
_STOP = frozenset(
    """a an the of to in on at by for from with as is are was were be been being do does did will would
    shall should can could may might must have has had it its this that these those there we us our you
    your they their he she his her i my me and or but so if then than not no nor never n't don't doesn't
    won't can't cannot only just also very any all some each every more most less least up down out over
    under before after until till within into about use used using let let's make made get go going need
    needs new per via too own such what which who whom when where how why please yes ok okay decided
    decision agreed agree team group everyone resolved max maximum min minimum limit limited allow
    allowed forbid forbidden prohibit prohibited ban banned remove removed drop dropped reject rejected
    require required monday tuesday wednesday thursday friday saturday sunday mondays tuesdays
    wednesdays thursdays fridays saturdays sundays january february march april june july august
    september october november december two three four five six seven eight nine ten twenty thirty forty
    fifty hundred thousand million earliest latest least longest shortest""".split()  # noqa: SIM905
)
_JA_STOP = re.compile(
    "決定|合意|確定|必要|場合|禁止|撤廃|廃止|不要|不可|以上|以下|以内|以降|以前|以後|未満|上限|下限|最大|最低|最小|必須"
    "|今回|予定|実施|対応|方針|全員"
)
_JA_STOP_ALONE = frozenset("決使行為事者方必中化的用毎約計人個件月日年時分円名回")
_SUFFIXES = ("ation", "ing", "ion", "ment", "er", "ed", "es", "ly", "s", "e")


def stem(word: str) -> str:
    """A crude stem: release, releases, released and releasing are one. Enough for overlap, not for
    display."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    for suffix in _SUFFIXES:
        least = 4 if suffix == "ly" else 3  # reply, apply and early are words by themselves
        if word.endswith(suffix) and len(word) - len(suffix) >= least and not word.endswith("ss"):
            shorter = word[: -len(suffix)]
            return stem(shorter) if suffix == "s" else shorter
    return word


# Option B, A案: the label is what tells one from the other.
_LABEL = re.compile(
    r"\b(?:option|plan|team|variant|version|group|candidate|phase|model|type) ([a-z])\b"
    r"|(?<![a-z])([a-z])(?=案|社|プラン|チーム|班|店|パターン|方式|ルート|さん|型)"
)


def labels(text: str) -> set[str]:
    """Labels of options, plans and teams that a text names."""
    return {f"label {a or b}" for a, b in _LABEL.findall(fold(text))}


@lru_cache(maxsize=8192)
def terms(text: str) -> frozenset[str]:
    """Content terms: stems of English words without function words; katakana words; kanji bigrams (or a
    lone kanji).

    Numbers are left out: what a sentence is about does not change with its value.
    """
    folded = fold(text).replace("’", "'")
    found = {stem(w) for w in _WORD.findall(folded) if w not in _STOP and not w[0].isdigit() and len(w) > 1}
    found |= labels(text)
    for run in _JAPANESE.findall(folded):
        for piece in _JA_STOP.split(run) if run[0] > "\u30ff" else (run,):
            piece = (
                re.sub("[〇一二三四五六七八九十百千万億年月日時分人円]", " ", piece)
                if len(piece) < 12
                else piece
            )
            for part in piece.split():
                if part in _JA_STOP_ALONE:
                    continue
                if part[0] <= "\u30ff" or len(part) == 1:
                    found.add(part)
                else:
                    found.update(part[i : i + 2] for i in range(len(part) - 1))
    return frozenset(found)


def containment(small: str, large: str) -> float:
    """Share of the terms of `small` that stand in `large`, 0..1 (0 where there are none)."""
    a, b = terms(small), terms(large)
    return len(a & b) / len(a) if a else 0.0


def overlap(a: str, b: str) -> float:
    """Dice coefficient of the terms of both, 0..1."""
    x, y = terms(a), terms(b)
    return 2 * len(x & y) / (len(x) + len(y)) if x and y else 0.0

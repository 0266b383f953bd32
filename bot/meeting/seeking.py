"""How decisions are found by words (pure): one normal form for texts and queries, pieces, and a rank.

Portable on purpose: a piece is looked for as a part of the normalised text, so two-character Japanese words
need no tokenizer. Decisions are few enough for that. Whole transcripts are not: questions to the assistant go
through a full-text index over tokens of the same normal form (`meeting.retrieving`, `store.passages`), which
is made to forget what is erased.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from bot.meeting.terms import stem
from bot.meeting.text import fold_kana

# サーバー and サーバ, ウェブ and ウエブ, ヴ and ブ: spellings of one word.
_SPELLING = str.maketrans({"ー": "", "ぁ": "あ", "ぃ": "い", "ぅ": "う", "ぇ": "え", "ぉ": "お"})
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_RUN = re.compile(r"[a-z0-9][a-z0-9'._+-]*|[\u3041-\u3096\u3400-\u4dbf\u4e00-\u9fff々〆]+")
_HIRAGANA = re.compile(r"[\u3041-\u3096]")
_KANJI = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff々]")
_FUNCTION = frozenset(
    """a an the of to in on at by for from with as is are was were be do does did what when which who how why
    we our us it its that this and or not have has decide decided decision""".split()  # noqa: SIM905
)
# Words of asking, which no decision holds.
_ASKING = re.compile(
    r"(?:について|に関して|に関する|に関わる|でしたか|ですか|でしたっけ|だっけ|ましたか|教えて(?:ください)?|[?？。、！!]"
    r"|いつ|誰|どこ|なに|何|どう|決まった|決めた|決定)+"
)
SURE = 0.5  # share of a query's weight that a text must hold


def normal(text: str) -> str:
    """The form that is searched: width, case, kana, long vowels and thousands' commas made alike.

    Behind it stands the text without the hiragana between kanji: 打ち合わせ, 打合せ and 打合わせ share 打合.
    """
    folded = _THOUSANDS.sub("", fold_kana(text)).translate(_SPELLING)
    bare = re.sub(rf"(?<={_KANJI.pattern})[\u3041-\u3096]{{1,2}}(?={_KANJI.pattern})", "", folded)
    return folded if bare == folded else f"{folded}\n{bare}"


def pieces(query: str) -> dict[str, float]:
    """What to look for, each with its weight: stems of words, pairs of Japanese characters, single kanji.

    Pairs of hiragana alone weigh little: they are mostly particles and endings. Empty where the query holds
    nothing to look for.
    """
    asked = fold_kana(query)
    words = _ASKING.sub(" ", asked) or asked
    found: dict[str, float] = {}
    for run in _RUN.findall(normal(words).split("\n")[0]) or _RUN.findall(normal(asked).split("\n")[0]):
        if run[0].isascii():
            if run not in _FUNCTION:
                found.setdefault(stem(run) if run.isalpha() else run.strip("."), 1.0)
            continue
        for piece in [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]:
            hiragana = len(_HIRAGANA.findall(piece))
            found.setdefault(piece, {0: 1.0, 1: 0.3}.get(hiragana, 0.15))
    if found and max(found.values()) < 1.0 and _RUN.fullmatch(normal(words).split("\n")[0].strip()):
        return dict.fromkeys(found, 1.0)  # a word that is written in kana altogether
    return found


def rank(query: str, folded: Sequence[str], least: float = SURE) -> list[tuple[int, float]]:
    """(index, score) of the normalised texts that fit, best first; equal scores keep their order.

    `least`: the share of the query's weight that a text must hold. Rare pieces count more; texts that hold
    the whole query as it stands come first.
    """
    wanted = pieces(query)
    if not wanted:
        return []
    weight = _weights(wanted, folded)
    total = sum(weight.values())
    words = [w.strip() for w in re.split(r"[\s　]+", normal(query).split("\n")[0]) if w.strip()]
    found: list[tuple[int, float]] = []
    for index, text in enumerate(folded):
        held = sum(weight[p] for p in wanted if _holds(text, p)) / total
        whole = all(word in text for word in words)
        if whole or held >= least - 1e-9:
            found.append((index, held + whole))
    return sorted(found, key=lambda pair: -pair[1])


def _weights(wanted: Mapping[str, float], folded: Sequence[str]) -> dict[str, float]:
    """Weights by rarity; a piece that no text holds counts as much as the others do on average."""
    held = {p: sum(_holds(text, p) for text in folded) for p in wanted}
    rarity = {p: math.log(1 + len(folded) / (1 + n)) for p, n in held.items() if n}
    usual = sum(rarity.values()) / len(rarity) if rarity else 1.0
    return {p: w * rarity.get(p, usual) for p, w in wanted.items()}


def _holds(text: str, piece: str) -> bool:
    if piece.isascii() and piece.isdigit():
        return re.search(rf"(?<!\d){piece}(?!\d)", text) is not None
    return piece in text

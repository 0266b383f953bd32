"""What a message does to a meeting that may end: wishes, cancelling, a plain yes, nothing more (SPEC 2.9).

All functions take one language's words; a room that mixes languages asks for each. Folded text is matched,
what is returned is verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from bot.meeting.text import fold, fold_kana, is_japanese, strip_invisible
from bot.meeting.words import Words

_SENTENCE = re.compile(r"[^。！!?？\n]+(?:[!！?？]+|。|(?=\n)|$)")
# Longer sentences that name a summary among other things ask for none (seen in transcribed speech).
_LONGEST_REQUEST = 160
_FILLER = r"[\s、。,.!;:…・〜~ー\-()（）\"'\u2600-\u27bf\U0001f300-\U0001faff\ufe0f\u200d]*"
_URL = re.compile(r"https?://\S+")
_QUOTED = re.compile(r"^\s*[>＞].*$", re.MULTILINE)
_POLITE_QUESTION = re.compile(
    r"(?:ましょう|でしょう|です|ます|ません|ました|でした|だろう|ない)か(?:ね|な)?[。…]?$"
)


def closing_wish(text: str, words: Words) -> str | None:
    """The sentence in which a person wishes to end this meeting now, verbatim, or None.

    Talk of another end (a topic, a task), of a later one, of somebody else's wish, questions for the time and
    "not yet" are no wish.
    """
    for sentence in _sentences(text):
        folded = fold(sentence).strip(" .。!…")
        if any(_holds(folded, blocker) for blocker in words["closing.block"]):
            continue
        if _is_whole(folded, words) or (
            _begins_with_intent(folded, words) if words["closing.intent"] else _names_the_end(folded, words)
        ):
            return sentence.strip()
    return None


def cancels_closing(text: str, words: Words) -> bool:
    """ "待って", "not yet", "まだあります", or a plain no to the question: the meeting is to go on."""
    folded = fold(_plain(text)).replace("’", "'")
    for exception in words["replies.cancel_not"]:
        folded = folded.replace(exception, " ")
    if holds_any(folded, words, "replies.cancel"):
        return True
    start = (
        rf"(?:(?:{_any(words['replies.cancel_filler'])})[\s、,]*)*(?:{_any(words['replies.cancel_start'])})"
    )
    clauses = (clause.strip() for clause in re.split(r"[、。,.!…;]", folded))
    if any(re.match(rf"{start}(?![a-z'])", clause) for clause in clauses):
        return True
    return _is_only(text, words, ("replies.plain_no",), ("replies.thanks", "replies.beside"))


def says_yes(text: str, words: Words) -> bool:
    """A plain yes to "shall I close the meeting now?", with nothing added that wants to be heard first."""
    return not cancels_closing(text, words) and _is_only(text, words, ("replies.yes",), ("replies.beside",))


def nothing_more(text: str, words: Words) -> bool:
    """ "特にありません", "nothing from me"."""
    return not cancels_closing(text, words) and _is_only(
        text, words, ("replies.nothing_more",), ("replies.beside", "replies.yes", "replies.thanks")
    )


def adds_substance(text: str, words: Words) -> bool:
    """True where a message has something in it: no mere emoji, thanks, greeting, "I see", yes or no."""
    bare = re.sub(r"<a?:\w+:\d+>|:\w+:", " ", strip_invisible(text))
    if sum(c.isalnum() for c in bare) < 2:
        return False
    empty = (
        "acks",
        "thanks",
        "greetings",
        "yes",
        "plain_no",
        "nothing_more",
        "cancel",
        "cancel_start",
        "beside",
    )
    return not _is_only(
        bare.replace("?", "").replace("？", ""), words, tuple(f"replies.{name}" for name in empty), ()
    )


def asks_summary(text: str, words: Words) -> bool:
    """A person asks for a summary or the minutes, of whomever; "summarize ..." at the start asks as well."""
    for sentence in _sentences(text):
        folded = fold(sentence)
        if any(_holds(folded, word) for word in words["replies.summary_not"]):
            continue
        named = any(_holds(folded, word) for word in words["replies.summary"])
        asked = any(_holds(folded, word) for word in words["replies.summary_request"])
        starts = re.match(rf"(?:{_any(words['replies.summary_start'])})(?![a-z]|\s*[:,])", folded)
        if named and len(folded) <= _LONGEST_REQUEST and (asked or starts):
            return True
    return False


def addressed(text: str, words: Words) -> Literal["assistant"] | None:
    """`@assistant`, `＠ アシスタント`: any width and kana, a space or none; an e-mail address is none."""
    names = "|".join(re.escape(fold_kana(word)) for word in words["replies.assistant"])
    pattern = rf"(?<![a-z0-9._%+\-])@\s?(?:{names})(?![a-z0-9_\-]|\.[a-z])"
    return "assistant" if re.search(pattern, fold_kana(_QUOTED.sub("", text))) else None


def questions_in(text: str) -> list[str]:
    """The questions of a text in order, verbatim: by question mark, or by a Japanese interrogative ending."""
    plain = _URL.sub(lambda m: m[0].replace("?", "\u0000"), _QUOTED.sub("", strip_invisible(text)))
    found: list[str] = []
    for sentence in _SENTENCE.findall(plain):
        # An English statement before the question is not part of it.
        last = re.split(r"(?<=[a-z)\"'][.;])\s+", sentence.strip())[-1]
        asks = last.rstrip().endswith(("?", "？")) or (
            is_japanese(last) and (last.endswith("か。") or bool(_POLITE_QUESTION.search(last)))
        )
        if asks and any(c.isalnum() for c in last):
            found.append(last.replace("\u0000", "?").strip())
    return found


def last_question(text: str) -> str | None:
    found = questions_in(text)
    return found[-1] if found else None


def holds_any(folded: str, words: Words, name: str) -> bool:
    """True where a word of the list stands in the folded text, as a word of its own where it is Latin."""
    return any(_holds(folded, word) for word in words[name])


def is_only(text: str, words: Words, names: Iterable[str], beside: Iterable[str] = ()) -> bool:
    """True where the text consists of words of these lists (at least one of `names`) and nothing else."""
    return _is_only(text, words, tuple(names), tuple(beside))


def _sentences(text: str) -> list[str]:
    return [
        s for s in _SENTENCE.findall(_plain(text)) for s in re.split(r"(?<=[a-z\"'])\.\s+", s) if s.strip()
    ]


def _plain(text: str) -> str:
    """The author's own words: without quote lines and URLs."""
    return _URL.sub(" ", _QUOTED.sub("", strip_invisible(text)))


@lru_cache(maxsize=4096)
def _word_pattern(word: str) -> re.Pattern[str]:
    start = r"(?<![a-z0-9'])" if word[:1].isascii() and word[:1].isalnum() else ""
    end = r"(?![a-z0-9'])" if word[-1:].isascii() and word[-1:].isalnum() else ""
    return re.compile(f"{start}{re.escape(word)}{end}")


def _holds(folded: str, word: str) -> bool:
    return bool(_word_pattern(word).search(folded.replace("’", "'")))


def _is_only(text: str, words: Words, names: tuple[str, ...], beside: tuple[str, ...]) -> bool:
    folded = fold(text).replace("’", "'")
    if "?" in folded:
        return False
    main, extra = (tuple(w for name in group for w in words[name]) for group in (names, beside))
    unit = rf"(?:(?:{_any(main + extra)})(?![a-z0-9']){_FILLER})"
    if not re.fullmatch(rf"{_FILLER}{unit}+", folded):
        return False
    return any(_holds(folded, word) for word in main)


@lru_cache(maxsize=512)  # the lists are few and fixed; escaping them took a tenth of the bot's time
def _any(words: tuple[str, ...]) -> str:
    return "|".join(re.escape(w) for w in sorted(set(words), key=len, reverse=True)) or r"(?!)"


def _is_whole(folded: str, words: Words) -> bool:
    clauses = [folded, *(clause.strip() for clause in re.split(r"[、,]", folded))]
    over = rf"(?:{_any(words['closing.meeting'])})[は、]?\s?(?:{_any(words['closing.over'])})(?:です|で)?"
    return any(
        re.sub(r"^(?:では|じゃあ|okay|ok|so|well|and|right)\s*", "", clause) in words["closing.whole"]
        or re.fullmatch(over, clause)
        for clause in clauses
    )


def _begins_with_intent(folded: str, words: Words) -> bool:
    """Intent, act, and after it nothing but the meeting and small words: "let's wrap up the meeting here"."""
    tail = rf"(?:[\s,]+(?:{_any(words['closing.meeting'])}|{_any(words['closing.tail'])}))*"
    plain = folded.replace("’", "'").rstrip(" ?")
    clauses = [plain, *(clause.strip() for clause in plain.split(","))]
    intents, acts = _any(words["closing.intent"]), _any(words["closing.act"])
    wish = rf"(?<![a-z'])(?:{intents})(?:\s+(?:now|just|please|maybe))?\s+(?:{acts}){tail}$"
    meant = rf"\s+(?:{_any(words['closing.meeting'])})|\s+up"
    command = rf"(?:ok(?:ay)?,?\s+|so,?\s+)?(?:{acts})(?:{meant}){tail}$"
    return any(re.search(wish, clause) or re.match(command, clause) for clause in clauses)


def _names_the_end(folded: str, words: Words) -> bool:
    """An act of ending whose object and topic, where they are named, are the meeting or the moment."""
    # Between stem and ending stands inflection alone: another word ("終わりに共有します") is another matter.
    gap = r"(?:(?!よう|[をがは])[ぁ-ん]){0,5}?"
    wished = rf"(?:{_any(words['closing.stem'])}){gap}(?:{_any(words['closing.wishing'])})"
    act = re.search(f"{_any(words['closing.act'])}|{wished}", folded)
    if act is None:
        return False
    before = re.sub(r"^(?:では|じゃあ|それでは)[、\s]*", "", folded[: act.start()])
    if before.endswith("が"):  # "会議が終わります" tells when, it asks for nothing
        return False
    meant = (*words["closing.meeting"], *words["closing.about"])
    after = folded[act.end() :]
    inverted = re.search(r"[、\s]", after) and any(m in after for m in words["closing.meeting"])
    for particle in ("を", "は", "の件", "の話", "が"):
        for named in re.findall(rf"([^、。\s]+?){particle}", before):
            if not any(word in named for word in meant):
                return bool(inverted)
    return True

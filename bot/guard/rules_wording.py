"""Rules about how a post is worded: hand-off, announcement, notice, language, length, mentions. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from itertools import pairwise

from bot.guard.model import Candidate, Remedy, Rule, Strength
from bot.guard.wording import Lexicon, plain, sentences
from bot.meeting.figures import figures
from bot.meeting.model import Phase
from bot.meeting.text import fold, strip_invisible

POST_CHARACTERS = 1800  # Discord takes 2,000; the name line and a completing sentence need room

_BLOCK_QUOTE = re.compile(r"^\s*>.*$", re.MULTILINE)
_QUOTED = re.compile(r"「[^「」]{1,600}」|『[^『』]{1,600}』|\"[^\"\n]{1,600}\"|“[^“”]{1,600}”")
_MASS = re.compile(r"(?<![a-z0-9_.])@\s?(?:everyone|here)\b(?!\.\w)|<@&\d+>", re.IGNORECASE)
_MENTION = re.compile(r"<@!?(\d+)>")
_INVITE = re.compile(r"discord(?:\.gg|(?:app)?\.com/invite)/\w", re.IGNORECASE)
_LINKS = re.compile(r"https?://\S+|<[@#:/at][^>\s]*>|`[^`]*`|[#@]\w+")
_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_JAPANESE = re.compile(rf"[\u3040-\u30ff{_HAN}]")
_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa]")
_LATIN_WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
# English posts hold a third of function words or more; a list of names few, another European language next
# to none.
_COMMON_SHARE = 0.05
_PARTS = re.compile(r"(?<=[。！？!?])|(?<=\.)\s")
_ENTRY = re.compile(r"[#＃]\s?\d+")
_HANGUL = re.compile(r"[\uac00-\ud7af]")


def hand_off(text: str, lexicons: Sequence[Lexicon]) -> bool:
    """Does the text address the assistant, in any of the languages? Speaking of it, or quoting someone, is
    none.
    """
    return any(_addresses(plain(text), lexicon) for lexicon in lexicons)


def no_hand_off_while_closing(
    closing: Callable[[], bool], lexicons: Sequence[Lexicon], lexicon: Lexicon
) -> Rule:
    """While the meeting closes nobody asks the assistant: the system does, and a second request meets
    silence.
    """

    def check(candidate: Candidate) -> str | None:
        is_closing = candidate.closing_seen or candidate.closing_complete or candidate.phase is Phase.CLOSING
        if not (is_closing or closing()) or not hand_off(candidate.text, lexicons):
            return None
        return lexicon.reason("no_hand_off_while_closing")

    return Rule("no_hand_off_while_closing", Strength.MUST, Remedy.REPHRASE, check)


def announces_start(title: str, lexicon: Lexicon) -> Rule:
    """The opening says that the meeting starts; where a rephrase leaves it out, code puts the sentence in
    front.
    """

    def check(candidate: Candidate) -> str | None:
        if says_start(candidate.text, title, lexicon):
            return None
        return lexicon.reason("announces_start")

    def complete(text: str) -> str:
        return f"{lexicon.sentence('announces_start', title=title)}\n{text}"

    return Rule("announces_start", Strength.MUST, Remedy.REPHRASE, check, complete, whole=True)


def says_start(text: str, title: str, lexicon: Lexicon) -> bool:
    """Is the start announced? Not by "before we start", nor by starting something other than the meeting."""
    starts, not_starts = lexicon.pattern("starts"), lexicon.pattern("not_starts")
    name = plain(title)
    for sentence in sentences(plain(text)):
        if name:
            sentence = sentence.replace(name, lexicon.list("meeting_words")[0])
        if starts.search(not_starts.sub(" … ", sentence)):
            return True
    return False


def holds_minutes(minutes: int, lexicon: Lexicon) -> Rule:
    """A notice says its number: `minutes` left, 0 = time is up, negative = minutes over."""

    def check(candidate: Candidate) -> str | None:
        if says_minutes(candidate.text, minutes, lexicon):
            return None
        return lexicon.reason("holds_minutes", minutes=abs(minutes))

    return Rule("holds_minutes", Strength.MUST, Remedy.FIXED, check, whole=True)


def says_minutes(text: str, minutes: int, lexicon: Lexicon) -> bool:
    """ "5分" is not "15分", and five of another unit is not five minutes."""
    folded = plain(text)
    if minutes == 0:
        return bool(lexicon.pattern("time_up").search(folded))
    number = abs(minutes)
    held = (
        any(f.unit == "min" and f.value == number for f in figures(text))
        or _hours_and_minutes(text, number)
        or _unit_said_before(folded, number, lexicon)
    )
    if number == 10 and not held:  # 十分 is "enough" unless the sentence speaks of what is left
        held = bool(lexicon.pattern("ten_minutes").search(folded))
    return held and (minutes > 0 or bool(lexicon.pattern("time_over").search(folded)))


def in_language(names: Sequence[str], lexicon: Lexicon) -> Rule:
    """The post is in the meeting's language; names, titles, links, code and quotes may be in any."""

    def check(candidate: Candidate) -> str | None:
        return lexicon.reason("in_language") if not is_in(candidate.text, names, lexicon) else None

    return Rule("in_language", Strength.MUST, Remedy.REPHRASE, check, whole=True)


def at_most(limit: int, lexicon: Lexicon) -> Rule:
    """At most `limit` characters, as Discord counts them."""

    def check(candidate: Candidate) -> str | None:
        length = len(candidate.text)
        return lexicon.reason("at_most", limit=limit, length=length) if length > limit else None

    return Rule("at_most", Strength.MUST, Remedy.REPHRASE, check)


def no_mass_mention(lexicon: Lexicon) -> Rule:
    """Nobody is pinged in masses: no @everyone, @here or role mention, whatever the width or hidden
    characters.
    """

    def check(candidate: Candidate) -> str | None:
        found = _MASS.search(fold(candidate.text)) or _MASS.search(strip_invisible(candidate.text))
        return lexicon.reason("no_mass_mention") if found else None

    return Rule("no_mass_mention", Strength.MUST, Remedy.REPHRASE, check)


def no_foreign_mention(user_ids: Collection[int], lexicon: Lexicon) -> Rule:
    """Mentions reach only people of this meeting, and nobody is invited elsewhere."""

    def check(candidate: Candidate) -> str | None:
        text = fold(candidate.text)
        foreign = any(int(found) not in user_ids for found in _MENTION.findall(text))
        return lexicon.reason("no_foreign_mention") if foreign or _INVITE.search(text) else None

    return Rule("no_foreign_mention", Strength.MUST, Remedy.REPHRASE, check)


def is_in(text: str, names: Sequence[str], lexicon: Lexicon) -> bool:
    """Mostly Japanese with no English sentence in it, or English with no Japanese sentence in it.

    What only names entries ("Decision #2: …", where the quote may be in any language) is no sentence to be judged:
    a list of such lines holds too few function words, or too few kana, for either language.
    """
    bare = _LINKS.sub(
        lambda m: m[0] if _ENTRY.fullmatch(m[0]) else " ", _without_quotes(text, only_attributed=False)
    )
    for name in sorted((n for n in names if n), key=len, reverse=True):
        bare = _whole_name(name).sub(" ", bare)
    split = [p for line in bare.splitlines() for p in _PARTS.split(line) if p.strip()]
    parts = [p for p in split if not _names_entries(p, lexicon)]
    bare = "\n".join(parts)
    if len(_HANGUL.findall(bare)) >= 4:
        return False
    if lexicon.language == "ja":
        return _is_japanese(bare, parts)
    return _is_english(bare, parts, lexicon)


def _names_entries(part: str, lexicon: Lexicon) -> bool:
    """Nothing but entry numbers and what entries are called in the lexicon's language."""
    if not _ENTRY.search(part):
        return False
    known = _called(lexicon.list("record_words"))
    return not re.search(r"[^\W\d_]", known.sub(" ", _ENTRY.sub(" ", part)))


@lru_cache(maxsize=8)
def _called(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(_bounded(w) for w in sorted(words, key=len, reverse=True)) or r"(?!)", re.I)


@lru_cache(maxsize=512)
def _whole_name(name: str) -> re.Pattern[str]:
    """The name as it stands: "Al" is no part of "also"."""
    return re.compile(_bounded(name))


def _bounded(words: str) -> str:
    """The words as a pattern that does not begin or end within a Latin word."""
    head, tail = (
        r"(?<![A-Za-z])" if words[:1].isascii() else "",
        r"(?![A-Za-z])" if words[-1:].isascii() else "",
    )
    return f"{head}{re.escape(words)}{tail}"


def _is_japanese(bare: str, parts: list[str]) -> bool:
    japanese, words = len(_JAPANESE.findall(bare)), len(_LATIN_WORD.findall(bare))
    if japanese == 0:
        return words < 3
    if japanese >= 12 and not _KANA.search(bare):
        return False
    # A Latin word carries about as much as two Japanese characters.
    foreign = any(len(_LATIN_WORD.findall(p)) >= 6 and not _JAPANESE.search(p) for p in parts)
    return not foreign and japanese >= 2 * words


def _is_english(bare: str, parts: list[str], lexicon: Lexicon) -> bool:
    for part in parts:
        kana, latin = len(_KANA.findall(part)), len(_LATIN_WORD.findall(part))
        if kana >= 3 or (len(_JAPANESE.findall(part)) >= 3 and latin < 2):
            return False
    words = [w.lower() for w in _LATIN_WORD.findall(bare)]
    common = frozenset(lexicon.list("common_words"))
    return len(words) < 10 or sum(w in common for w in words) >= _COMMON_SHARE * len(words)


def _addresses(text: str, lexicon: Lexicon) -> bool:
    text = _without_quotes(text, only_attributed=True, said=lexicon.pattern("said"))
    if lexicon.pattern("calls").search(text):
        return True
    aside = lexicon.pattern("not_addresses")
    addresses = lexicon.pattern("addresses")
    return any(addresses.search(aside.sub("…", sentence)) for sentence in sentences(text))


def _without_quotes(text: str, *, only_attributed: bool, said: re.Pattern[str] | None = None) -> str:
    """Without what someone else is quoted with. A text that is nothing but a quote is kept: it is the bot's
    own.
    """

    def drop(m: re.Match[str]) -> str:
        if only_attributed and said is not None:
            around = f"{text[max(0, m.start() - 40) : m.start()]}\0{text[m.end() : m.end() + 30]}"
            if not said.search(around):
                return m[0]
        return "…"

    rest = _QUOTED.sub(drop, _BLOCK_QUOTE.sub("", text))
    return rest if re.search(r"\w", rest) else text


def _unit_said_before(folded: str, minutes: int, lexicon: Lexicon) -> bool:
    """ "Of our 45 minutes 22 are left": the unit stands with the first figure and holds for the second."""
    for sentence in sentences(folded):
        found = figures(sentence)
        first = next((f for f in found if f.unit == "min"), None)
        if first is None or not lexicon.pattern("left").search(sentence[first.span[1] :]):
            continue
        if any(f.unit == "" and f.value == minutes and f.span[0] > first.span[1] for f in found):
            return True
    return False


def _hours_and_minutes(text: str, minutes: int) -> bool:
    found = [f for f in figures(text) if f.unit == "min"]
    return any(
        b.span[0] - a.span[1] <= 5 and a.value + b.value == minutes and a.value % 60 == 0
        for a, b in pairwise(found)
    )

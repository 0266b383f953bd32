"""Who an action belongs to, read from its wording: a leading or trailing name (SPEC 2.4)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.meeting.text import fold
from bot.meeting.words import Words

_MENTION = r"<@!?\d{15,21}>|[@＠]\s?[^\s@＠、。,:：;()（）!！?？]{1,32}"
_CAPITAL = r"[A-ZÀ-Þ][\w'’.-]*[a-zß-ÿ][\w'’-]*"
_FULL = rf"{_CAPITAL}(?:\s+(?:[A-Z]\.|{_CAPITAL})){{0,2}}"
_KANJI = r"[\u3005\u3400-\u4dbf\u4e00-\u9fff]"
_JA_NAME = (
    rf"(?:{_KANJI}{{1,6}}|[\u3041-\u3096]{{2,6}}|[\u30a1-\u30faー・]{{2,12}}|[A-Za-z][A-Za-z.-]{{0,19}})"
)
_BRACKETED = re.compile(r"[(（\[【]([^()（）\[\]【】]{1,40})[)）\]】]\s*[。.]?\s*$")
_TRAILING = re.compile(r"(?:^|\s)(?:[-–—→]+|/{2})\s*([^\s].{0,30}?)\s*[。.]?\s*$")
_BEFORE_DATE = re.compile(r"\u3000|\s+(?=[\d０-９]|期限|締切|〆|due\b|by\b)", re.IGNORECASE)
_SEPARATOR = re.compile(r"[\s\u3000、,:：;；（(→「]|$")


def find_owner(
    text: str, books: Sequence[Words], names: Sequence[str] = (), *, leads: bool = False
) -> str | None:
    """The owner's name as known (or as typed), without honorific or @; several owners stand in one string.

    `leads`: the mark itself announces a name ("担当：佐藤 ..."), so the first word is one. An unknown name
    is taken only from a form that can mean nothing else: "X to do", "Xさん", "@X", "owner: X".
    """
    return (
        _leading_known(text, books, names)
        or _leading(text, books, names)
        or _labelled(text, books, names)
        or _trailing(text, books, names)
        or (_first_word(text, names) if leads else None)
    )


def _leading_known(text: str, books: Sequence[Words], names: Sequence[str]) -> str | None:
    """A participant's name in front, followed by what may follow a name."""
    after_en = r"(?=\s*[:：,、→-]|\s+(?:to|will|should|must|shall|can|needs|takes|does|is)\b|\s*$)"
    honorific = _alternatives(books, "owners.honorifics")
    given = _alternatives(books, "owners.given")
    after_ja = rf"(?=\s*(?:{honorific})?(?:が|は|で|{given}|、|:|：|[\s\u3000]|$))"
    for name in sorted(names, key=len, reverse=True):
        for form in _forms(name):
            start = re.match(re.escape(form), text, re.IGNORECASE)
            if start is None:
                continue
            rest = text[start.end() :]
            more = re.match(rf"\s*(?:{honorific})?\s*(?:and|&|,|、|と|・)\s*", rest, re.IGNORECASE)
            other = _leading_known(rest[more.end() :], books, names) if more else None
            if other and more:
                glue = " and " if re.search(r"[a-z&,]", more[0], re.IGNORECASE) and form.isascii() else "、"
                return f"{name}{glue}{other}"
            if re.match(after_ja if not form.isascii() else f"{after_en}|{after_ja}", rest, re.IGNORECASE):
                return name
    return None


def _leading(text: str, books: Sequence[Words], names: Sequence[str]) -> str | None:
    mention = re.match(_MENTION, text)
    if mention:
        return _known(mention[0], books, names)
    joined = re.match(rf"({_FULL}(?:(?:\s*,\s*|\s+and\s+|\s*&\s*){_FULL}){{0,3}})\s+to\s+[a-z]", text)
    if joined:
        parts = re.split(r"\s*,\s*|\s+and\s+|\s*&\s*", joined[1])
        if not any(_is_no_name(part, books) for part in parts):
            return joined[1] if len(parts) > 1 else _known(joined[1], books, names)
    honorific, given = _alternatives(books, "owners.honorifics"), _alternatives(books, "owners.given")
    ja = re.match(
        rf"({_JA_NAME})\s?(?:{honorific})(?:と({_JA_NAME})\s?(?:{honorific}))?(?=[がはで、：:\s\u3000（(]|{given}|$)",
        text,
    )
    if ja and not any(_is_no_name(part, books) for part in ja.groups() if part):
        return "、".join(_known(part, books, names) for part in ja.groups() if part)
    return None


def _labelled(text: str, books: Sequence[Words], names: Sequence[str]) -> str | None:
    label = _alternatives(books, "owners.labels")
    match = re.search(
        rf"(?:^|[\s\u3000(（\[【、,;-])(?:{label})\s*[:：]\s*([^()（）\[\]【】、,;。]+)", text, re.IGNORECASE
    )
    return _known(_BEFORE_DATE.split(match[1].strip(), maxsplit=1)[0], books, names) if match else None


def _trailing(text: str, books: Sequence[Words], names: Sequence[str]) -> str | None:
    for pattern in (_BRACKETED, _TRAILING):
        match = pattern.search(text)
        # "(佐藤、12月5日まで)": of what stands there together one part may be the name.
        for part in re.split(r"\s*[、,，;；]\s*", match[1].strip()) if match else ():
            if _is_name(part, books, names):
                return _known(part, books, names)
    mention = re.search(rf"(?:^|[\s\u3000])({_MENTION})\s*[。.!]?\s*$", text)
    if mention:
        return _known(mention[1], books, names)
    for name in names:
        for form in _forms(name):
            if re.search(
                rf"(?:\bby |\bowner |担当\s?|→\s?){re.escape(form)}\s*[。.]?\s*$", text, re.IGNORECASE
            ):
                return name
    return None


def _first_word(text: str, names: Sequence[str]) -> str | None:
    word = _SEPARATOR.split(text.strip(), maxsplit=1)[0]
    if not word or len(word) > 20:
        return None
    return next((name for name in names if fold(word) in map(fold, _forms(name))), word)


def _is_name(candidate: str, books: Sequence[Words], names: Sequence[str]) -> bool:
    bare = _bare(candidate, books)
    if any(fold(bare) == fold(form) for name in names for form in _forms(name)):
        return True
    if re.fullmatch(_MENTION, candidate):
        return True
    if bare != candidate and re.fullmatch(_JA_NAME, bare):
        return not _is_no_name(bare, books)
    return bool(re.fullmatch(_CAPITAL, candidate)) and not _is_no_name(candidate, books)


def _known(candidate: str, books: Sequence[Words], names: Sequence[str]) -> str:
    """The participant's own spelling where the candidate names one, else the candidate unadorned."""
    bare = _bare(candidate, books)
    for name in names:
        if fold(bare) in [fold(form) for form in _forms(name)]:
            return name
    return bare


def _bare(candidate: str, books: Sequence[Words]) -> str:
    honorific = _alternatives(books, "owners.honorifics")
    plain = candidate if candidate.startswith("<") else candidate.strip().lstrip("@＠").strip()
    return re.sub(rf"(?<=.)\s?(?:{honorific})$", "", plain)


def _forms(name: str) -> list[str]:
    """How people write a name: whole, or its first word ("Dave" for "Dave Longley") if no initial."""
    whole = name.strip()
    first = re.split(r"[\s\u3000]", whole, maxsplit=1)[0]
    return [form for form in dict.fromkeys((whole, first)) if form and (form == whole or len(form) > 1)]


def _is_no_name(candidate: str, books: Sequence[Words]) -> bool:
    first = fold(candidate).split(" ")[0]
    return any(first in book["owners.not_names"] for book in books)


def _alternatives(books: Sequence[Words], name: str) -> str:
    words = {re.escape(word) for book in books for word in book[name]}
    return "|".join(sorted(words, key=len, reverse=True)) or r"(?!)"

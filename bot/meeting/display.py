"""How text that people wrote is shown again: literally, harmlessly, and never cut without a sign.

Two forms. `literal` keeps every visible character (for ledger texts): where the text holds anything that
Markdown or Discord would act upon, it stands in a code span or fence, byte for byte, so that
`visible(text) in rendered` always holds. `display` is for names and titles inside a sentence: it escapes, and
turns @ and < into their full-width forms, so that nothing of it can mention anyone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from bot.meeting.text import strip_invisible

# A joiner between two pictographs is part of one visible emoji; everywhere else it hides something.
_JOINED = re.compile(
    "(?<=[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d(?=[\u2190-\u2bff\U0001f000-\U0001faff])"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_URL = re.compile(r"https?://[^\s<>`\\]+")
_ACTIVE = re.compile(
    r"[*`]|~.*~|\|\||(?<!\w)_|_(?!\w)|__"  # emphasis, code, strike-through, spoiler
    r"|\\(?:[!-/:-@\[-`{-~]|$)|&#?\w+;|\$.*\$"  # escapes, entities, formulas
    r"|<[A-Za-z/!?@#:]|\][(\[:]|@everyone|@here",  # tags, mentions, time stamps, links
    re.DOTALL | re.IGNORECASE,
)
_ESCAPED = re.compile(r"[\\*~`|\[\]]|(?<!\w)_|_(?!\w)|^[#>+-](?=\s)|^-#")
_RUN = re.compile("`+")
_HONORIFIC = "(?:さん|様|くん|君|ちゃん|氏)?"
ELLIPSIS = " … "


def visible(text: str) -> str:
    """The text without bidi controls, zero-width, tag and control characters (RELIABILITY: security).

    Emoji joined from several pictographs stay whole; line ends become "\\n"; half a surrogate pair U+FFFD.
    """
    text = _SURROGATE.sub("\ufffd", text)
    return "\u200d".join(strip_invisible(part) for part in _JOINED.split(text))


def one_line(text: str) -> str:
    """`visible`, every run of white space (line ends too) one space, trimmed."""
    return " ".join(visible(text).split())


def literal(text: str) -> str:
    """Markdown that shows exactly `visible(text)`, and in which `visible(text)` stands as a substring.

    Plain where nothing in it is markup (bare links stay clickable), else a code span; several lines become a
    fenced block, which must start at the beginning of a line.
    """
    text = visible(text)
    longest = max((len(run) for run in _RUN.findall(text)), default=0)
    if "\n" in text:
        fence = "`" * max(3, longest + 1)
        return f"{fence}\n{text}\n{fence}"
    if not _ACTIVE.search(_URL.sub("u", text)):
        return text
    ticks = "`" * (longest + 1)
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def display(name: str, limit: int = 80) -> str:
    """A name or title as one line inside a sentence: no mention, no markup, at most about `limit` long."""
    line = shorten(one_line(name), limit).replace("@", "＠").replace("<", "＜")
    return _ESCAPED.sub(lambda found: "\\" + found.group(), line) or "?"


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters; a longer text visibly loses its middle: rulings stand at the end (SPEC)."""
    if len(text) <= limit:
        return text
    room = max(2, limit - len(ELLIPSIS))
    return text[: room // 2].rstrip() + ELLIPSIS + text[-(room - room // 2) :].lstrip()


def brief(text: str, limit: int) -> str:
    """A ledger text as one literal line of about `limit` characters, for places that are not the record."""
    return literal(shorten(one_line(text), limit))


def task(text: str, owner: str | None) -> str:
    """An action's text for a line that names its owner anyway: without the owner's name as a tag before it.

    "田中さん、見積を出す" loses its tag; a name that belongs to the sentence ("Tom books the movers") stays.
    """
    if not owner:
        return text
    tag = re.match(re.escape(owner) + _HONORIFIC + r"[\s、,:：]+(?=[^\x00-\x7f])", one_line(text))
    return one_line(text)[tag.end() :] if tag else text


def units(text: str) -> int:
    """Length in UTF-16 code units, the strictest way in which Discord's limits can be read."""
    return sum(2 if ord(character) > 0xFFFF else 1 for character in text)


def fit(lines: Sequence[str], budget: int, more: Callable[[int], str], *, newest: bool = False) -> list[str]:
    """As many whole lines as fit into `budget` units (line ends included), and a line that counts the others.

    `more` words the count. The first lines are kept, or with `newest` the last ones; the count stands where
    the lines are missing. Where not even the count fits the list is empty.
    """
    if sum(units(line) + 1 for line in lines) <= budget:
        return list(lines)
    room = budget - units(more(len(lines))) - 1
    if room < 0:
        return []
    kept: list[str] = []
    for line in reversed(lines) if newest else lines:
        room -= units(line) + 1
        if room < 0:
            break
        kept.append(line)
    count = more(len(lines) - len(kept))
    return [count, *reversed(kept)] if newest else [*kept, count]


def share_out(wanted: Sequence[int], total: int) -> list[int]:
    """Divide `total` fairly: nobody gets more than wanted, what one leaves goes to the others."""
    given = [0] * len(wanted)
    left = total
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    for place, index in enumerate(order):
        given[index] = min(wanted[index], left // (len(order) - place))
        left -= given[index]
    return given

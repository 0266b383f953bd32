"""What participants wrote is data: it stands in fences that nothing written by people can open or close.

Fences are made of ⟦ and ⟧ (U+27E6, U+27E7). Where people write these themselves, or a character that looks
like them, they become [ and ]; nobody's quote suffers, since hardly anyone types them.
"""

from __future__ import annotations

from bot.meeting.text import strip_invisible

OPEN, CLOSE = "⟦", "⟧"
_LOOKALIKES = str.maketrans(dict.fromkeys("⟦〚⟬⦗〖⦋", "[") | dict.fromkeys("⟧〛⟭⦘〗⦌", "]"))


def clean(text: str) -> str:
    """`text` without invisible characters and without anything that could be taken for a fence."""
    return strip_invisible(text).translate(_LOOKALIKES)


def line(text: str) -> str:
    """`clean`, on one line: for names, titles and other things that stand in a line of ours."""
    return " ".join(clean(text).split())


def fenced(head: str, body: str, tag: str) -> str:
    """`body` between ⟦head⟧ and ⟦/tag⟧. `body` must be clean; `head` is ours or made with `line`."""
    return f"{OPEN}{head}{CLOSE}\n{body}\n{OPEN}/{tag}{CLOSE}"


def shorten(text: str, limit: int, gap: str) -> str:
    """At most about `limit` characters of `text`: its first third and its last two thirds around `gap`.

    `gap` is a template with {count}, the characters left out. Rulings stand at the end of long messages, so
    the end always stays (SPEC, second experience).
    """
    if len(text) <= limit:
        return text
    head = limit // 3
    tail = limit - head
    return f"{text[:head].rstrip()}\n{gap.format(count=len(text) - limit)}\n{text[-tail:].lstrip()}"

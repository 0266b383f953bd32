"""How text is compared: width, case, invisible characters. One fold for marks, quotes, rules and similarity."""

from __future__ import annotations

import re
import unicodedata

# Zero-width and joiner characters, bidi controls, soft hyphen, variation selectors' text form, tag block, BOM.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_SPACE = re.compile(r"\s+")
_KATAKANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}


def strip_invisible(text: str) -> str:
    """Without characters nobody sees: zero-width, bidi and tag characters, control codes (newline and tab stay)."""
    return _CONTROL.sub("", _INVISIBLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def fold(text: str) -> str:
    """NFKC, lower case, nothing invisible, each run of white space one space, trimmed: for comparing."""
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", strip_invisible(text)).casefold()).strip()


def fold_kana(text: str) -> str:
    """`fold`, with katakana read as hiragana: アシスタント and あしすたんと are one."""
    return fold(text).translate(_KATAKANA)


def squeeze(text: str) -> str:
    """`fold` without any white space: for finding a quote in a message whatever the spacing."""
    return _SPACE.sub("", fold(text))


def is_japanese(text: str) -> bool:
    """True where kana or kanji stand in the text at all."""
    return bool(re.search(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]", text))

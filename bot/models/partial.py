"""Out of JSON that is not finished yet: the text of one string field, as far as it has come. Pure.

A provider streams its answer as JSON of the asked type. `Partial` is fed that JSON in pieces, cut wherever the wire
cut it, and gives the field's decoded text so far. It guesses nothing: for prose around the object, a nested
field of the same name, or JSON that breaks its own grammar, it stays silent and the whole answer is judged at the
end.
"""

from __future__ import annotations

from collections.abc import Callable

_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SPACE = " \t\r\n\ufeff"
_HEX = frozenset("0123456789abcdefABCDEF")


class _Dead(Exception):
    """No JSON object of ours: nothing more is read."""


class _String:
    """The decoded text of one JSON string, fed character by character after its opening quotation mark."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._escape: str | None = None  # what came since a backslash
        self._high: int | None = None  # first half of a surrogate pair

    def feed(self, char: str) -> bool:
        """True at the closing quotation mark. Raises _Dead for what JSON does not allow."""
        if self._escape is not None:
            self._escaped(char)
        elif char == "\\":
            self._escape = ""
        elif self._high is not None or char < " ":
            raise _Dead  # half a pair makes no valid text, a bare control character no valid JSON
        elif char == '"':
            return True
        else:
            self.parts.append(char)
        return False

    def _escaped(self, char: str) -> None:
        assert self._escape is not None
        if not self._escape and char != "u":
            if char not in _ESCAPES or self._high is not None:
                raise _Dead
            self.parts.append(_ESCAPES[char])
            self._escape = None
            return
        if self._escape and char not in _HEX:
            raise _Dead
        self._escape += char
        if len(self._escape) == 5:
            self._unit(int(self._escape[1:], 16))
            self._escape = None

    def _unit(self, unit: int) -> None:
        """One UTF-16 unit; the first half of a pair waits for the second."""
        low, high = 0xDC00 <= unit <= 0xDFFF, 0xD800 <= unit <= 0xDBFF
        if low is (self._high is None):
            raise _Dead
        if self._high is not None:
            self.parts.append(chr(0x10000 + ((self._high - 0xD800) << 10) + (unit - 0xDC00)))
            self._high = None
        elif high:
            self._high = unit
        else:
            self.parts.append(chr(unit))


class Partial:
    """`feed` pieces in order; each call returns the text of `field` so far ("" before it has begun)."""

    def __init__(self, field: str = "response") -> None:
        self._field = field
        self._step: Callable[[str], None] = self._start
        self._string = _String()
        self._target: _String | None = None
        self._text = ""
        self._key = ""
        self._depth = 0  # of arrays and objects inside a value that is passed over
        self._done = False

    def feed(self, piece: str) -> str:
        before = len(self._target.parts) if self._target else 0
        try:
            for char in piece:
                if self._done:
                    break
                self._step(char)
        except _Dead:
            self._done = True
        if self._target is not None:
            self._text += "".join(self._target.parts[before:])
        return self._text

    def _start(self, char: str) -> None:
        """Before the object: white space, or one code fence."""
        if char == "{":
            self._step = self._before_key
        elif char == "`":
            self._step = self._fence
        elif char not in _SPACE:
            raise _Dead

    def _fence(self, char: str) -> None:
        if char == "\n":
            self._step = self._start
        elif char not in "` \r" and not char.isalpha():
            raise _Dead

    def _before_key(self, char: str) -> None:
        if char == '"':
            self._string = _String()
            self._step = self._in_key
        elif char not in _SPACE and char != ",":
            raise _Dead

    def _in_key(self, char: str) -> None:
        if self._string.feed(char):
            self._key = "".join(self._string.parts)
            self._step = self._colon

    def _colon(self, char: str) -> None:
        if char == ":":
            self._step = self._before_value
        elif char not in _SPACE:
            raise _Dead

    def _before_value(self, char: str) -> None:
        if char in _SPACE:
            return
        if self._key == self._field:
            if char != '"':
                raise _Dead
            self._target = _String()
            self._step = self._in_target
            return
        self._depth, self._step = 0, self._in_other
        self._in_other(char)

    def _in_target(self, char: str) -> None:
        assert self._target is not None
        self._done = self._target.feed(char)

    def _in_other(self, char: str) -> None:
        """A value that is not asked for, up to the comma after it."""
        if char == '"':
            self._string = _String()
            self._step = self._in_other_string
        elif char in "{[":
            self._depth += 1
        elif char in "}]":
            if self._depth == 0:
                raise _Dead  # the object is over, and the field was not in it
            self._depth -= 1
        elif char == "," and self._depth == 0:
            self._step = self._before_key

    def _in_other_string(self, char: str) -> None:
        if self._string.feed(char):
            self._step = self._in_other

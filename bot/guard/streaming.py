"""What of a text that is still being written may be seen already. Pure.

A gate is fed the text so far and gives back whole sentences only, and of these only what breaks no `must` of the
call as it stands there: whatever comes later, nothing was ever visible that a finished post could not have been.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from bot.guard.model import Candidate, Rule, Strength
from bot.meeting.citing import CITATION

# Beyond this nothing is read: no rule sees a longer text (`guard.generator.MAX_CHARACTERS`).
LONGEST = 8000

_CITATION = re.compile(rf"{CITATION}[。.、,;；]?")
_CITATION_BEGUN = re.compile(r"[\[［【][\s#＃\d,、，;；・]*(?:[\]］】])?$")
_OPENING, _CLOSING = "「『（(［[【〈《“", "」』）)］]】〉》”"
_WIDE, _NARROW = "。！？．", ".!?"
_AFTER = "」』）)］]】〉》”\"'’*_~"
_LABEL = re.compile(r"[\s>*_#-]*(?:\d{1,3}|[a-zA-Z])$")  # "1." at the start of a line opens an item
_WORD = re.compile(r"[^\W_][\w.&'-]*$")
_ABBREVIATION = re.compile(
    r"approx|ca|cf|co|corp|dept|dr|eds?|esp|est|etc|figs?|inc|jr|ltd|min|mrs?|ms|mt|pp|prof|ref|sr|st|vol|vs"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
_BEFORE_NUMBERS = frozenset(("no", "nos", "p", "sec", "ch", "art", "eq"))


class Gate:
    """`clean` is what every text goes through before it is judged or shown (`guard.sanitise.sanitise`)."""

    def __init__(self, rules: Sequence[Rule], clean: Callable[[str], str]) -> None:
        self._musts = tuple(r for r in rules if r.strength is Strength.MUST)
        self._clean = clean
        self._read = ""  # up to here every sentence was judged
        self.visible = ""
        self.shut = False  # a `must` was broken: nothing more of this text is shown

    def feed(self, text: str) -> str | None:
        """`text` is all there is so far. Returns what may be seen now, None where that is no more than before."""
        if self.shut:
            return None
        text = self._clean(text)
        if len(text) > LONGEST or not text.startswith(self._read):
            self.shut = True
            return None
        before = self.visible
        for end in ends(text, len(self._read)):
            self._read = text[:end]
            verdict = self._verdict(self._read)
            if verdict is None:
                self.shut = True
                break
            if verdict:
                self.visible = self._read
        return self.visible if self.visible != before else None

    def _verdict(self, text: str) -> bool | None:
        """True: may be seen. False: not yet, what is missing may still come. None: never.

        A rule that fails itself shuts the gate: the whole text is judged later, with somebody to report to.
        """
        candidate = Candidate(text)
        missing = False
        for rule in self._musts:
            try:
                fired = rule.check(candidate) is not None
            except Exception:
                return None
            if fired and not rule.whole:
                return None
            missing |= fired
        return not missing


def ends(text: str, start: int = 0) -> Iterator[int]:
    """Where sentences of `text` end for certain, as indices behind them; `start` must be 0 or such an index.

    Certain means that what follows is known: "3." may become "3.5", and a citation behind the full stop belongs
    to the sentence. So the last sentence of an unfinished text has no end. Lines end sentences too, but a line
    that ends in a colon belongs to what it introduces. Nothing ends inside brackets, quotes or code.
    """
    scan = _Scan(text, start)
    while (end := scan.next()) is not None:
        yield end


class _Scan:
    def __init__(self, text: str, start: int) -> None:
        self._text, self._at, self._start = text, start, start
        self._depth = 0
        self._quoted = False  # inside straight double quotation marks
        self._fenced = False
        self._code = False

    def next(self) -> int | None:
        text = self._text
        while self._at < len(text):
            char = text[self._at]
            if text.startswith("```", self._at):
                self._fenced = not self._fenced
                self._at += 3
            elif self._fenced:
                self._at += 1
            elif char == "\n":
                end = self._line()
                if end is None:
                    return None
                if end:
                    return end
            elif char in _WIDE + _NARROW and not (self._depth or self._quoted or self._code):
                end = self._stop()
                if end is None:
                    return None
                if end:
                    return end
            else:
                self._inside(char)
                self._at += 1
        return None

    def _inside(self, char: str) -> None:
        if char == "`":
            self._code = not self._code
        elif char == '"':
            self._quoted = not self._quoted
        elif char in _OPENING:
            self._depth += 1
        elif char in _CLOSING:
            self._depth = max(0, self._depth - 1)

    def _line(self) -> int | None:
        """An end at a line break, 0 where there is none, None where that is not known yet."""
        self._depth, self._quoted, self._code = 0, False, False
        line = self._text[self._start : self._at].rstrip()
        cited = self._citations(self._at)
        if cited is None:
            return None
        if not line.strip() or (line.rstrip("*_ ").endswith((":", "：")) and cited == self._at):
            self._at += 1
            return 0
        end = cited if cited > self._at else self._start + len(line)
        return self._took(end)

    def _stop(self) -> int | None:
        """The same at a full stop or another mark that may end a sentence."""
        text, first = self._text, self._at
        end = first + 1
        while end < len(text) and text[end] in _WIDE + _NARROW:
            end += 1
        mark, bold = text[end - 1], text.count("**", self._start, end) % 2 == 1
        while end < len(text) and text[end] in _AFTER and (text[end] not in "*_~" or bold):
            end += 1
        if end == len(text):
            return None
        if not self._may_end(first, end, mark):
            self._at = end
            return 0
        cited = self._citations(end)
        if cited is None:
            return None
        following = text[cited:].lstrip()
        if not following:
            return None
        if text.count("**", self._start, cited) % 2 or (
            mark == "." and not self._new_sentence(first, following[0])
        ):
            self._at = end
            return 0
        return self._took(cited)

    def _may_end(self, first: int, end: int, mark: str) -> bool:
        """By what stands right before and behind the mark."""
        text, following = self._text, self._text[end]
        if mark == "．":
            return not following.isdigit()
        if mark in _WIDE:
            return following != "("
        token = re.split(r"[\s「」（）、。]", text[self._start : first])[-1]
        wide = mark != "." and "://" not in token and "\u3000" <= following <= "\uffef"
        cited = following in "[［【" and "://" not in token
        return following.isspace() or wide or cited

    def _new_sentence(self, first: int, following: str) -> bool:
        """Whether a full stop is one, and not that of an abbreviation, an initial or an item's number."""
        if following.islower():
            return False
        line = self._text[max(self._start, self._text.rfind("\n", 0, first) + 1) : first]
        word = found[0].lower() if (found := _WORD.search(line)) else ""
        if _LABEL.fullmatch(line) or _ABBREVIATION.fullmatch(word) or "." in word:
            return False
        if word in _BEFORE_NUMBERS and following.isdigit():
            return False
        return len(word) != 1 or word.isdigit() or not word.isascii()

    def _citations(self, end: int) -> int | None:
        """`end`, or the end of the citations that follow it; None where one may still come."""
        while True:
            at = end
            while at < len(self._text) and self._text[at].isspace():
                at += 1
            if at == len(self._text):
                return None
            found = _CITATION.match(self._text, at)
            if found is not None and found.end() < len(self._text):
                end = found.end()
                continue
            return None if found or _CITATION_BEGUN.match(self._text, at) else end

    def _took(self, end: int) -> int:
        self._at = self._start = end
        return end

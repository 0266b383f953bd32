"""What a sentence gives to one holder alone: a role to a person, a thing to a place, a matter to a weekday.

Two sentences that give the same to different holders contradict each other, while most other sentences that
differ in one word do not ("we use React", "we use PostgreSQL"): so only verbs that exclude a second holder count.
"""

from __future__ import annotations

import re

from bot.meeting.polarity import negations
from bot.meeting.terms import terms
from bot.meeting.text import fold

_SAN = r"(?:さん|氏|くん|君|様|ちゃん)?"
_P, _S = r"(?P<p>[^はがをにで、。]{1,16}?)", r"(?P<s>[^はが、。]{1,24}?)"
_P_EN, _S_EN = r"(?P<p>[\w.+#'-]+(?: [\w.+#'-]+){0,3}?)", r"(?:the |our |all |every )?(?P<s>[\w' -]{2,40}?)"
_FRAMES = tuple(
    re.compile(p, re.I)
    for p in (
        rf"^{_S}(?:は|については?){_P}{_SAN}が(?:担当|務め|つとめ|受け持|引き受け|率い|仕切)",
        rf"^{_S}は{_P}{_SAN}に(?:任せ|まかせ|お願い|頼|担当|置[くきい]|設置|移[すしる]|統一|一本化)",
        rf"^{_S}は{_P}を(?:採用|選[ぶびん]|選択|選定)",
        rf"^{_S}は{_P}で(?:開催|開[くきい]|統一)",
        rf"^(?P<p>[^はがをにで、。]{{1,16}}?){_SAN}が(?P<s>[^はが、。]{{1,24}}?)(?:を|の)(?:担当|務め|つとめ|受け持|引き受け|率い|仕切)",
        rf"^{_P_EN} (?:will |shall )?(?:owns?|chairs?|leads?|hosts?|moderates?|handles?|takes? (?:care of|over)"
        rf"|(?:is|be) (?:responsible for|in charge of)) {_S_EN}[.]?$",
        rf"^{_S_EN} (?:is|are|will be|shall be) (?:owned|chaired|led|hosted|moderated|handled|run) by {_P_EN}[.]?$",
        rf"^{_S_EN} (?:will )?(?:stays?|lives?|sits?|remains?|(?:is|are|be) (?:hosted|kept|located|placed|held|run)) "
        rf"(?:in|at) (?:the )?{_P_EN}[.]?$",
        rf"^(?:we (?:will )?)?(?:adopt|choose|chose|pick|picked|take) {_P_EN} (?:for|as) {_S_EN}[.]?$",
    )
)
_DAYS_EN = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = re.compile(
    r"(?:毎週|毎)?(?P<ja>[月火水木金土日])(?:曜日?)|[(（](?P<short>[月火水木金土日])[)）]"
    rf"|\b(?:every )?(?P<en>{'|'.join(_DAYS_EN)})s?\b",
    re.I,
)
# One act under several names where a day is what matters: "no release on a Friday", "we ship on Friday".
_RELEASE = re.compile(
    r"\b(?:releas(?:e[sd]?|ing)|ship(?:s|ped|ping|ment)?|deploy(?:s|ed|ing|ments?)?|launch(?:e[sd]|ing)?"
    r"|publish(?:e[sd]|ing)?|roll(?:s|ed|ing)?[ -]?out|goes live|go live)\b"
    r"|リリース|出荷|デプロイ|公開|ローンチ|本番反映",
    re.I,
)


def assigned(text: str) -> tuple[str, str] | None:
    """(what, to whom or where) of an affirmative sentence that gives something to one holder, folded."""
    if negations(text):
        return None
    for frame in _FRAMES:
        if m := frame.match(text.strip()):
            return fold(m["s"]), fold(m["p"])
    return None


def other_holder(said: str, held: str) -> bool:
    """Both give the same thing, each to another holder."""
    a, b = assigned(said), assigned(held)
    if (
        a is None
        or b is None
        or a[1] in b[1]
        or b[1] in a[1]
        or terms(a[1]) & terms(b[1]) - terms(a[0]) - _KINDS
    ):
        return False
    return a[0] == b[0] or (bool(terms(a[0])) and terms(a[0]) == terms(b[0]))


_KINDS = terms("リージョン データセンター 会議室 案 階 支社 region room office floor cloud server")


def weekdays(text: str) -> frozenset[int]:
    """The weekdays that a text names, Monday = 0."""
    found = (m["ja"] or m["short"] or m["en"] for m in _DAY.finditer(text))
    return frozenset("月火水木金土日".index(d) if len(d) == 1 else _DAYS_EN.index(d.lower()) for d in found)


def without_days(text: str) -> str:
    return _DAY.sub(" ", text)


def one_release(text: str) -> str:
    """The text with release, ship, deploy ... under one name."""
    return _RELEASE.sub(lambda m: "release" if m.group().isascii() else "リリース", text)

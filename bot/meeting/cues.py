"""Words that bound, restrict, negate and order, and where clauses end: the grammar behind
`meeting.polarity`."""

from __future__ import annotations

import re
from typing import Literal

Direction = Literal["max", "min", "only"]

# --- bounds: (pattern, direction, inclusive, soft, may be turned round by a negation)
# ---------------------------
Cue = tuple[re.Pattern[str], Direction, bool, bool, bool]


def _cues(*rows: tuple[str, Direction, bool, bool, bool]) -> tuple[Cue, ...]:
    return tuple((re.compile(p, re.I), d, i, s, t) for p, d, i, s, t in rows)


_GAP = r"[\s（(はをがの、:,]{0,3}"
AFTER = _cues(
    (
        rf"{_GAP}を?(?:超え|越え|上回ら|上回って)(?:ない|てはならない|てはいけない|はならない|はいけない"
        rf"|ません|ず)",
        "max", True, False, False,
    ),
    (
        rf"{_GAP}を?(?:下回ら|下回って|割ら)(?:ない|はならない|はいけない|ません|ず)",
        "min", True, False, False,
    ),
    (r"\s?(?:を|が|の|は)?\s?(?:以下|以内|が上限|が限度|が最大|を上限|を限度)", "max", True, False, True),
    (r"\s?(?:以上|が下限|が最低|を下限)", "min", True, False, True),
    (r"\s?未満", "max", False, False, True),
    (r"\s?(?:超(?!え)|を?(?:超え|越え|上回)[るたて]|より多[いく])", "min", False, False, True),
    (r"\s?を?(?:下回[るたっ]|より少な[いく])", "max", False, False, True),
    (r"\s?(?:より前|以前|前まで)", "max", False, True, True),
    (r"\s?(?:以降|より後|から(?!の[変値]))", "min", True, True, True),
    (r"\s?(?:末|中|頃)?までに", "max", True, True, False),
    (r"\s?(?:末|中)?まで(?!も)", "max", True, True, True),
    (r"\s?\w{0,12}? ?or (?:more|later|above|over)\b", "min", True, False, True),
    (
        r"\s?\w{0,12}? ?(?:and|or) (?:up|above|upwards?|beyond)\b|\s?onwards?\b"
        r"|\s?\w{0,12} at the (?:earliest|shortest|lowest|least)\b",
        "min", True, False, True,
    ),
    (
        r"\s?\w{0,12}? ?or (?:less|fewer|earlier|below|under)\b"
        r"|\s?\w{0,12} (?:at the (?:latest|longest|highest|most)|at most|tops"
        r"|max(?:imum)?)\b",
        "max", True, False, True,
    ),
    (r"\s?\w{0,12} (?:at least|min(?:imum)?)\b", "min", True, False, True),
)  # fmt: skip
_NOT = r"(?:not|n't|never|no|cannot|without)"
BEFORE = _cues(
    (rf"{_NOT} (?:\w+ ){{0,2}}?(?:exceed(?:ing)?|go (?:over|above|beyond))", "max", True, False, False),
    (
        r"\b(?:no|not|never) (?:be )?(?:more|longer|higher|greater|larger|later|bigger|older) than",
        "max", True, False, False,
    ),
    (
        r"\b(?:no|not|never) (?:be )?(?:less|fewer|lower|shorter|earlier|smaller|sooner|younger) than",
        "min", True, False, False,
    ),
    (
        r"\b(?:at (?:the )?most|up to|max(?:imum)?(?: of)?\.?|limit(?:ed)?(?: to| of| is| at)?"
        r"|cap(?:ped)?(?: at| of| is)?|within)",
        "max", True, False, False,
    ),
    (r"\b(?:at (?:the )?least|min(?:imum)?(?: of)?\.?|at (?:the )?earliest)", "min", True, False, False),
    (r"\b(?:less|fewer|lower|shorter|smaller|younger) than|\bunder|\bbelow", "max", False, False, True),
    (
        r"\b(?:more|longer|higher|greater|larger|bigger|older) than|\bover|\babove|\bexceed(?:s|ed|ing)?"
        r"|\bbeyond",
        "min", False, False, True,
    ),
    (r"\b(?:earlier|sooner) than|\bbefore|\bprior to", "max", False, True, True),
    (r"\buntil|\btill", "max", True, True, True),
    (r"\bby(?: the end of)?|\bat (?:the )?latest", "max", True, True, False),
    (r"\blater than|\bafter", "min", False, True, True),
    (r"\b(?:starting|beginning|from|since)", "min", True, True, False),
    (
        r"(?:上限|最大|最高|最長|最多|[多長高大]くとも|[多長高大]くても?|せいぜい)(?:人数|金額|値|額)?",
        "max", True, False, True,
    ),
    (
        r"(?:下限|最低|最小|最短|(?:少な|早|短|低|小さ)くとも|(?:少な|早|短|低|小さ)くても?)(?:人数|金額|値|額|でも)?",
        "min", True, False, True,
    ),
    (r"(?:遅くとも|遅くて)", "max", True, True, False),
)  # fmt: skip
BEFORE_GAP = re.compile(
    r"[\s:：はをがにも、=,(（約でと]*(?:is|are|of|to|at|be|the|about|around|a|end of|early|mid|late"
    r"|of)?(?:\s+(?:the|end of|about))?\s*$",
    re.I,
)

ONLY = re.compile(
    r"\b(?:(?<!not )only|exclusively|solely|nothing but|single-purpose|restricted to)\b|のみ|だけ(?!で(?:なく"
    r"|はなく))|に限(?:る|り|定|って|られ)|限定|専用",
    re.I,
)
ONLY_SOFT = re.compile(rf"{ONLY.pattern}|\b(?:just|alone|sole|-only|no other|single)\b|以外|に絞", re.I)

# --- negation
# -------------------------------------------------------------------------------------------------
NEGATION = re.compile(
    r"\b(?:not|never|no(?!\.\s?\d)|none|nobody|nothing|neither|nor|without|cannot|forbid(?:s|den)?"
    r"|prohibit(?:s|ed)?|ban(?:s|ned)?"
    r"|reject(?:s|ed)?|decline[sd]?|drop(?:s|ped)?|remov(?:e|es|ed|al)|abolish(?:ed)?|cancel(?:l?ed|s)?"
    r"|exclud(?:e|es|ed|ing)"
    r"|except(?:ing)?|eliminat(?:e|es|ed)|delet(?:e|es|ed)|discontinu(?:e|ed)|scrap(?:ped)?|abandon(?:ed)?"
    r"|lift(?:ed)?"
    r"|revok(?:e|ed)|withdraw(?:n|s)?|stop(?:s|ped)?|skip(?:s|ped)?|avoid(?:s|ed)?|refus(?:e|es|ed)"
    r"|disallow(?:s|ed)?|unlimited"
    r"|postpone[sd]?|impossible|unnecessary|off-limits|out of scope|unacceptable|instead of|fails? to"
    r"|waive[sd]?)\b"
    r"|(?:(?<=[a-z])n't|\bcant|\bdont|\bwont)\b|(?<=[a-z])-?less\b(?! than)"
    r"|ない|無い|ません|なし(?!遂)|無し|せず|ずに|ぬ(?=[。、\s]|$)|禁止|禁ずる|禁じ|不可|不要|不採用"
    r"|不許可|無用|撤廃|廃止|中止|却下|棄却"
    r"|見送[らりるっ]|取りや?め|取り止め|取り消[しす]|取消|やめ(?!る?か)|止める|止めて|否決|除外|除く|除き|避け[るたてまよ]"
    r"|削除|外す|外し|外され|除かれ|止められ|取り消さ|解除|凍結|無制限|ダメ|だめ|(?<![A-Za-z])NG(?![A-Za-z])|以外",
    re.I,
)  # fmt: skip
# Words that look like a negation and are none, or two that make an affirmation.
NO_NEGATION = re.compile(
    r"\bnot only\b|\bwhether or not\b|\bor not\b|\bif not\b|\bno doubt\b|\bno problem\b|\b(?:no"
    r"|without) (?:any )?objections?\b|\bwhy not\b"
    r"|\bno one else\b|\bnot just\b|^no[,.!]\s|\b(?:isn't|aren't|don't|doesn't|won't|wasn't|didn't) (?:it"
    r"|we|you|they)\b\s*\?"
    r"|\bnon-stop\b|\bstop(?:ped)? by\b|\bdrop(?:s|ped)? (?:by|in|off)\b|\bdrop-?down\b|\bdon't forget\b"
    r"|\bnothing (?:more|else)\b"
    r"|\bunless\b|\bregardless\b|\bnevertheless\b|\bnonetheless\b|\bwireless(?:ly)?\b|\bserverless\b"
    r"|\bstateless\b|\bblessed?\b|\bseamless(?:ly)?\b|\bcountless\b"
    r"|かも(?:しれ|知れ)(?:ない|ません)|しかない|なけれ?ば(?:なら|いけ|だめ|ダメ)(?:ない|ません)?|なくては(?:なら"
    r"|いけ)(?:ない|ません)|ないと(?:いけない|いけません|だめ|ならない)"
    r"|ざるを得ない|(?:では|じゃ)ない(?:か|です|でしょう)|ませんか|ないか(?=[。？?\s]|$)|に違いない"
    r"|間違いな[いく]|に?違いありません|問題な[いし]|少ない|危ない|もったいない"
    r"|(?:異議|異論|反対|反対意見)(?:は|も)?(?:なし|な[いく]|ありません)|やむを得ない|欠かせない"
    r"|なくはない|ないわけではない|ないことはない|に他ならない|忘れない|忘れず|はずし方|限らず|のみならず"
    r"|だけで(?:は)?なく|問わず|必ず|まず|はず",
    re.I,
)  # fmt: skip
FORBIDS = re.compile(
    r"\b(?:forbidden|prohibited|banned|disallowed|unacceptable|off-limits|rejected|not (?:be )?(?:allowed"
    r"|permitted|acceptable|accepted|ok)"
    r"|(?:isn't|aren't) (?:allowed|permitted|acceptable|ok))\b|禁止|禁じ|不可|(?<![A-Za-z])NG(?![A-Za-z])"
    r"|ダメ|だめ|認めな|許さな"
    r"|ない|ません|却下|せず",
    re.I,
)  # fmt: skip
SENTENCE = re.compile(r"(?<=[。！？!?；;\n])|(?<=\.)(?=\s|$)")
CLAUSE = re.compile(
    r"[。！？!?；;\n]|\.(?=\s|$)|,(?!\d)|、|，|\bbut\b|\bhowever\b|\bwhile\b|\bwhereas\b|\band (?=(?:do"
    r"|will|must|should|can|never|no|take|use|go|keep|ship|adopt|choose|move|start|continue|proceed)\b)"
    r"|(?<=[るたいすだん])(?:が|けど|けれど|し)(?=[、\s]?)(?![ぁ-ん]?[るたいす])|ただし|一方で?",
    re.I,
)  # fmt: skip
# What comes to its end is stopped: beside a word of STOPS in the other text this is no lost negation.
ENDS = re.compile(
    r"終了|終わ[りるっ]|打ち切|\b(?:end(?:s|ed|ing)?|terminat\w+|clos(?:e[sd]?|ing)|retir\w+|sunset\w*)\b",
    re.I,
)
STOPS = re.compile(
    r"やめ|中止|廃止|止め|停止|\b(?:stop(?:s|ped|ping)?|discontinu\w+|drop(?:s|ped)?|abandon\w*|cancel\w*)\b",
    re.I,
)
# Words of which one says what the other denies, neither being a negation itself.
OPPOSITES = tuple(
    (re.compile(a, re.I), re.compile(b, re.I))
    for a, b in (
        (r"必須|義務|\bmandatory\b|\b(?:required|obligatory|compulsory)\b", r"任意|\b(?:optional|voluntary)\b"),
        (r"非公開|\bprivate(?:ly)?\b", r"(?<!非)公開|\bpublic(?:ly)?\b"),
        (r"無料|無償|\bfree of charge\b", r"有料|有償|\bpaid\b"),
        (
            r"オン(?!ライン)[にの]|\b(?:turn|switch|stay|leav|left|keep)\w*(?: \w+){0,3} on\b(?!\s+\w)",
            r"オフ(?!ライン|ィス)[にの]|\b(?:turn|switch|stay|leav|left|keep)\w*(?: \w+){0,3} off\b",
        ),
        (r"有効(?:に|化)|\benable[ds]?\b", r"無効(?:に|化)|\bdisable[ds]?\b"),
        (r"午前|\bmornings?\b", r"午後|\bafternoons?\b"),
        (r"増や[しすせ]|\bincreas\w+\b", r"減ら[しすせ]|\b(?:decreas|reduc)\w+\b"),
    )
)  # fmt: skip
EARLIER = re.compile(r"\b(?:before|until|till|prior to)\b|(?:の|る|する)前[にはの]|より前|までに", re.I)
LATER = re.compile(r"\b(?:after|following)\b|(?:の|た|した)(?:後|あと)[にはの]|より後|てから", re.I)

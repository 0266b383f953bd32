"""How figures are written: units, dates, times, fractions, in both languages. Grammar behind
`meeting.figures`."""

from __future__ import annotations

import re

from bot.meeting import numerals as n

DAY, WEEK = 1440.0, 10080.0

# Canonical unit -> (factor, spellings). Durations are minutes, except months, whose length varies.
_UNITS: tuple[tuple[str, float, str], ...] = (
    ("min", 1 / 60, r"秒間?|seconds?\b|secs?\b"),
    ("min", 60, r"時間|hours?\b|hrs?\b|h\b"),
    ("min", 1, r"分間?(?!の[\d一-十]|[担類野析割解離科配])|minutes?\b|mins?\b"),
    ("min", DAY, r"日間?(?!本)|営業日|days?\b"),
    ("min", WEEK, r"週間?|weeks?\b|wks?\b"),
    ("month", 1, r"[ヶヵかカケ箇]月間?|months?\b"),
    ("month", 12, r"年間?|years?\b|yrs?\b"),
    ("%", 1, r"%|パーセント|percent\b|per cent\b|pct\b|percentage points?\b|ポイント"),
    ("%", 10, r"割(?!り?[当込引])"),
    ("円", 1, r"円|yen\b|jpy\b"),
    ("$", 1, r"米?ドル|dollars?\b|usd\b|bucks\b"),
    ("€", 1, r"ユーロ|euros?\b|eur\b"),
    ("£", 1, r"ポンド|pounds?\b|gbp\b"),
    (
        "人",
        1,
        r"人(?![月日気件])|名(?![前称])|people\b|persons?\b|participants?\b|members?\b|attendees\b"
        r"|headcount\b",
    ),
    ("回", 1, r"回|times\b"),
    ("倍", 1, r"倍|-?fold\b|x\b"),
    ("page", 1, r"ページ|頁|pages?\b"),
    ("char", 1, r"文字|字|characters?\b|chars?\b"),
    ("byte", 1, r"バイト|bytes?\b"),
    ("byte", 1e3, r"kb\b|kib\b|キロバイト"),
    ("byte", 1e6, r"mb\b|mib\b|メガバイト"),
    ("byte", 1e9, r"gb\b|gib\b|ギガバイト"),
    ("m", 1, r"メートル|meters?\b|metres?\b"),
    ("m", 1e3, r"キロ(?!バイト|グ)|km\b|kilomet(?:er|re)s?\b"),
    ("歳", 1, r"[歳才]|years? old\b"),
    (
        "",
        1,
        r"つ|個|件|点(?!数)|本(?!当|来|番)|枚|台|社(?!内|員)|票|案(?!件|内)|種類?|段階|行(?!動|う|い|っ)"
        r"|階|章|項目?",
    ),
    (
        "",
        1,
        r"か所|ヶ所|箇所|品(?!質)|店舗?|冊|通(?!り|常|知)|問(?!題)|話|位|番|号|機能|画面|チーム|拠点|世帯"
        r"|部署|等",
    ),
)
MARKED = [
    (u, f, re.compile(rf"(?:[ -]?(?:full |whole |more |business |working )?)(?:{p})", re.I))
    for u, f, p in _UNITS
]
CURRENCY = {"$": "$", "¥": "円", "€": "€", "£": "£"}

_MONTH_WORDS = "january february march april may june july august september october november december".split()  # noqa: SIM905
MONTHS = {w: i for i, w in enumerate(_MONTH_WORDS, start=1)}
MONTHS |= {w[:3]: i for w, i in MONTHS.items()} | {"sept": 9}
_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
_MONTH += r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
KANJI_DAYS = "月火水木金土日"
_NUM = rf"(?:\d{{1,2}}|{n.KANJI})"

# What is written with digits and is no figure: links, mentions, timestamps, emoji, entry numbers, list
# numbering.
SKIP = re.compile(
    r"https?://\S+|<[@#:/at][^>\s]*>|`?#\d+|^\s*(?:[-*] )?\d{1,2}[.)](?=\s)"
    r"|(?:決定(?:事項)?|提案|論点|宿題|未決|制約|項番|番号)\s?\d+(?![\d.]*\s?[つ件個点人円%])"
    r"|(?<![0-9A-Za-z])[DQAP]\d{1,3}(?![0-9A-Za-z])"
    r"|\b(?:decision|proposal|question|action|entry|constraint|item) (?:no\.? ?|#)?\d+(?![\d%])",
    re.I | re.M,
)
DATES = (
    re.compile(rf"(?:(?P<y>\d{{4}})年)?(?P<m>{_NUM})月(?P<d>{_NUM})日"),
    re.compile(r"(?<![\d.])(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?![\d.]\d)"),
    re.compile(
        rf"\b(?P<mw>{_MONTH}) (?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? (?P<y>(?:19|20)\d\d)\b)?", re.I
    ),
    re.compile(
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<mw>{_MONTH})(?:,? (?P<y>(?:19|20)\d\d)\b)?", re.I
    ),
    re.compile(r"(?<![\d/.])(?P<m>1[0-2]|0?[1-9])/(?P<d>3[01]|[12]\d|0?[1-9])(?![\d/.]\d|/)"),
)
MONTH_ALONE = re.compile(
    r"(?P<m>1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月(?![曜間])"
    r"|\b(?P<mw>January|February|April|June|July|August|September|October|November|December|Sept?|Oct|Nov"
    r"|Dec|Jan"
    r"|Feb|Apr|Aug)\b|(?:\b(?:in|by|until|before|after|since|of|early|late|mid|next|this|from|to|for)[ -])"
    r"(?P<mp>May|March)\b"
)
WEEKDAY = re.compile(
    rf"(?P<k>[{KANJI_DAYS}])曜|[(](?P<p>[{KANJI_DAYS}])[)]|\b(?P<w>{'|'.join(WEEKDAYS)})s?\b", re.I
)
TIMES = (
    re.compile(
        rf"(?P<half>午前|午後|朝|夕方|夜)?の?(?P<h>{_NUM})時(?!間|点|代|々|期)(?:(?P<half_past>半)"
        rf"|(?P<mi>{_NUM})分)?"
    ),
    re.compile(
        r"(?P<half>午前|午後)?(?<![\d:])(?P<h>[01]?\d"
        r"|2[0-4]):(?P<mi>[0-5]\d)(?!:?\d)(?:\s?(?P<ap>[ap])\.?m\b\.?)?",
        re.I,
    ),
    re.compile(r"(?<![\d.])(?P<h>1[0-2]|0?[1-9])\s?(?P<ap>[ap])\.?m\b\.?", re.I),
    re.compile(r"\b(?P<h>1[0-2]|[1-9]) ?o'clock", re.I),
)
FRACTION = re.compile(
    rf"(?P<b>\d+|{n.KANJI})分の(?P<a>\d+|{n.KANJI})|(?<![\d/.])(?P<a2>\d)/(?P<b2>[2-9])(?![\d/])"
)
ENGLISH_FRACTION = re.compile(
    r"\b(?P<a>an?|one|two|three)[ -](?P<b>half|third|quarter|fifth|tenth)s?\b(?! (?:party|parties|person"
    r"|time))",
    re.I,
)
AT_HOUR = re.compile(r"\bat (?P<h>1[0-2]|[1-9])\b(?![:.,%\d])", re.I)
HALF_OF_DAY = re.compile(r"[ap]\.?m|午[前後]|朝|夕方|夜", re.I)
HALF_MORE = re.compile(r"半(?![分数額日年月])|\s?and a half\b")
HALF_OF = re.compile(
    r"半(?P<u>日|年|月|時間)|\bhalf[ -](?:an?[ -])?(?P<e>hour|day|year|month|week|dozen)\b", re.I
)
HALF = re.compile(r"半[分数額]|\bhalf\b|\bhalves\b|\bhalving\b", re.I)
ONE_UNIT = re.compile(r"\b(?:an?|each|per|every) (?P<u>second|minute|hour|day|week|month|year)\b", re.I)
LOOSE = re.compile(
    r"\b(?P<w>first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|once|twice|both|pair|couple"
    r"|double"
    r"|twofold|triple|single|alone|daily|weekly|nought|none)\b|両方|両者|双方|倍増|倍に|単独|唯一",
    re.I,
)
LOOSE_VALUES = {
    "once": 1,
    "twice": 2,
    "both": 2,
    "pair": 2,
    "couple": 2,
    "double": 2,
    "twofold": 2,
    "triple": 3,
}
LOOSE_VALUES |= {"両方": 2, "両者": 2, "双方": 2, "倍増": 2, "倍に": 2, "nought": 0, "none": 0}
NUMBER = re.compile(
    rf"(?P<c>[$¥€£])?(?P<dotted>\d+(?:\.\d+){{2,}})"
    rf"|(?:(?P<c2>[$¥€£]) ?)?(?P<digits>(?:{n.DIGITS})(?:[ ]?(?:[万億兆千百]+(?:(?:{n.DIGITS})[万億千百]*)*"
    r"|k(?![a-z])|bn\b|m(?=[\s,.]|$)|thousand\b|million\b|billion\b|hundred\b))?)(?P<ord>st\b|nd\b|rd\b"
    r"|th\b)?"
    rf"|(?P<kanji>{n.KANJI})|\b(?P<words>{n.ENGLISH})",
    re.I,
)
# Kanji words that begin like a number with a counter and are none.
NO_NUMBER = re.compile(
    r"一(?:部|度|番|緒|旦|方|般|切|貫|致|応|覧|括|律|時(?!間)|定|見|言|種|気|同|層|瞬|連|本化|人ひとり"
    r"|つ一つ|つひとつ)"
    r"|十分(?!間|前|後|以内|ほど|くらい|ぐらい|程度|休|延|短|早|遅|ずつ|経|おき|待|押)|万(?:が一|一|全)"
    r"|千葉|三重県|百科|四国|九州|八王子|一致"
)
NO_NUMBER_BEFORE = "統唯逐均単同随専画数何幾万"
RANGE = re.compile(r"\s?(?:〜|~|－|–|—|-|から|ないし|、|to|or|and)\s?", re.I)

"""People and entry numbers that a text names. Conservative: what may be a common word is no name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from bot.meeting.text import fold, fold_kana, squeeze

# 仕様, 同様, 各氏 and 諸君 end like an address and are none.
_TITLES = (
    "さん|さま|くん|ちゃん|先生|(?<![仕同多模一異有皆客神王何各両諸])様(?![々子式相態])"
    "|(?<![同両各諸])氏(?!名)|(?<![諸主])君(?!主)"
)
_JA_NAME = r"(?:[一-龥々ヶ]{1,4}|[ァ-ヴー]{2,10}|[A-Za-z][A-Za-z.]{1,20})"
_HONOURED = re.compile(rf"(?P<n>{_JA_NAME})(?:{_TITLES})(?!付け|会(?!場))")
_IN_CHARGE = re.compile(
    rf"(?:担当(?:者)?(?:は|[:：])\s?|オーナーは\s?)(?P<n>{_JA_NAME})(?=さん|氏|が|。|、|です|に|と|$)"
    rf"|(?P<n2>[一-龥々]{{2,4}}|[ァ-ヴー]{{2,10}})が(?:担当|引き受け|対応(?:する|します)|まとめ(?:る|ます)"
    rf"|提案し|賛成し|反対し|発言し|述べ|指摘し)"
)
_SAN = re.compile(r"\b(?P<n>[A-Z][A-Za-z]+)[- ](?:san|sama|kun|chan)\b")
# A lower-case word after @ is a keyword or an address more often than a person; real mentions carry an id.
_AT = re.compile(r"(?<![\w.])[@＠](?![a-z])(?P<n>[^\s@＠,.、。:：!?！？()（）<>]{2,32})")
_TITLE_EN = re.compile(r"\b(?:Mr|Ms|Mrs|Dr|Prof)\.? (?P<n>[A-Z][a-z]+)")
_VERBS = (
    "will(?! be\\b)|would(?! be\\b)|can|could|should|shall|has(?! been\\b)"
    "|is going to|agreed|suggested|proposed|said|asked|noted|argued"
    "|objected|offered|"
    "volunteered|promised|takes|took|owns|volunteers|prefers|preferred|disagreed|raised|pointed out"
    "|reported|agrees|confirmed"
)
_DOES = re.compile(rf"\b(?P<n>[A-Z][a-z]+(?: [A-Z][a-z]+)?) (?:{_VERBS})\b")
_ASKED = re.compile(
    r"\b(?:ask|assigned to|owned by|according to|led by|proposed by|suggested by|thanks to|Owner:|owner is"
    r"|raised by)"
    r" (?P<n>[A-Z][a-z]+(?: [A-Z][a-z]+)?)\b"
)
# Capitalised at the start of a sentence, or common subjects of such verbs: no names of people.
_COMMON = frozenset(
    """the a an this that these those it he she we they you i there everyone everybody nobody someone
    somebody anyone no one all both each some most many few other others another team group meeting
    chair who what which two three marketing sales engineering design product legal finance support
    security management development operations infra january february march april may june july august
    september october november december monday tuesday wednesday thursday friday saturday sunday today
    tomorrow users customers people participants members developers engineers designers nothing
    everything something release version project budget decision proposal question action option plan
    deadline costs cost price then also if when after before but and so however decided next last first
    second or like well yeah okay wait uh um yes please thanks euro pound dollar internet web email
    facilitator assistant bot minutes agenda here now such same documents spec specification app api
    server database google microsoft apple amazon discord slack github japan tokyo china america europe
    english japanese""".split()  # noqa: SIM905
)
_JA_COMMON = frozenset(
    """皆 みな お客 客 神 担当 全員 者 代表 司会 進行 議長 書記 参加者 自分 本人 相手 誰 何 方 業者 営業
    開発 部長 課長 社長 先方 両者 各自 奥 親 母 父 兄 姉 弟 妹 上司 部下 同僚 チーム ユーザー メンバー
    アシスタント ボット 運営 総務 人事 経理 広報 法務 スタッフ デザイナー エンジニア メーカー パートナー
    クライアント ゲスト ファシリテーター マネージャー リーダー 店長 隣 赤 お母 我々 私 僕 俺 複数 一部
    多数 大多数 数名 仕様 無 有 同 多 同様 模 各 今 二人 三人 一人 他 残り 当社 会社 経営 現場""".split()  # noqa: SIM905
)
_ENTRY = re.compile(
    r"(?<![\w#])#(?P<a>\d{1,4})(?!\d)"
    r"|(?:決定(?:事項)?|提案|論点|宿題|未決(?:事項)?|制約|項番|番号|質問|アクション"
    r"|項目)\s?[#＃]?(?P<b>\d{1,4})(?![\d.]*\s?[つ件個点人円%年月日回])"
    r"|(?<![0-9A-Za-z])[DQAPC](?P<c>\d{1,3})(?![0-9A-Za-z])"
    r"|\b(?:decision|proposal|question|action|entry|constraint|item)s? (?:no\.? ?|number "
    r"|#)?(?P<d>\d{1,4})(?!\d|%|\.\d)",
    re.I,
)


def entry_numbers(text: str) -> list[int]:
    """Numbers of ledger entries that a text refers to: #3, 決定3, D3, "decision 3". 決定3件 counts, it
    refers to none."""
    wide = unicodedata.normalize("NFKC", text)
    found: list[int] = []
    for m in _ENTRY.finditer(wide):
        if m["c"] and not m.group()[0].isupper():
            continue
        found.append(int(next(g for g in m.groups() if g)))
    return found


def people(text: str) -> list[str]:
    """Words used as names of people: X-san, Xさん, @X, "X will", "ask X", 担当はX, Xが担当."""
    found: list[str] = []
    for pattern in (_HONOURED, _IN_CHARGE, _SAN, _AT, _TITLE_EN, _DOES, _ASKED):
        for m in pattern.finditer(text):
            name = m["n"] or (m.groupdict().get("n2") or "")
            if name and not _common(name, weak=pattern is _DOES):
                found.append(name)
    return list(dict.fromkeys(found))


def _common(name: str, *, weak: bool) -> bool:
    words = fold(name).split()
    if any(w in _COMMON for w in words) or name in _JA_COMMON:
        return True
    return weak and (name.isupper() or words[-1].endswith(("ing", "tion", "ment", "s", "ness", "ity")))


def unknown_names(text: str, known_names: Iterable[str], record: Iterable[str] = ()) -> list[str]:
    """Names of people in `text` that are neither (part of) a known name nor anywhere in `record`."""
    known = [fold_kana(k).replace(" ", "") for k in known_names]
    suspects = [p for p in people(text) if not any(_part(fold_kana(p).replace(" ", ""), k) for k in known)]
    if not suspects:
        return []
    held = squeeze("\n".join(record))
    return [s for s in suspects if not any(tail in held for tail in _tails(squeeze(s)))]


def _tails(name: str) -> list[str]:
    """What the name may be where another word ran into it: 明日山本 holds 山本."""
    return [name] if name.isascii() else [name, *(name[i:] for i in range(1, len(name) - 1))]


def _part(name: str, known: str) -> bool:
    return bool(name) and (name in known or (len(known) >= 2 and known in name))


def named(text: str, known_names: Iterable[str]) -> list[str]:
    """The known names that stand in `text`, longest first; a name within a longer one found counts once."""
    found: list[str] = []
    folded = fold_kana(text)
    for name in sorted({k for k in known_names if k.strip()}, key=len, reverse=True):
        key = fold_kana(name)
        if key.isascii():
            pattern = rf"(?<![a-z0-9]){re.escape(key)}(?![a-z0-9])"
            hit = re.search(pattern, folded) is not None
        else:
            hit = key in folded
        if hit:
            found.append(name)
            folded = folded.replace(key, "\0")
    return found

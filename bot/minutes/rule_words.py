"""Words by which the prose of minutes calls something replaced, rejected, settled or open."""

from __future__ import annotations

import re

REPLACED = re.compile(
    r"置き換|差し替|変更|改め|修正|見直|撤回|取り消|取消|取り下げ|覆|翻[しすさっ]|当初|従来|以前の|旧|ではなく|代わ"
    r"|変わ|白紙"
    r"|\b(?:replac\w*|revis\w*|supersed\w*|chang\w*|instead|withdr\w*|retract\w*|revers\w*|overturn\w*"
    r"|no longer|earlier|previous\w*"
    r"|formerly|originally|at first|initially|amend\w*|updat\w*|dropped|undone)\b",
    re.I,
)
AGAINST = re.compile(
    r"否決|却下|見送|不採用|採用しない|\b(?:reject\w*|declin\w*|turned down|decided against|not adopted)\b",
    re.I,
)
SETTLED = re.compile(
    r"決定(?!事項以外)|決ま(?:り|っ)|決め(?:た|まし)|合意|採用|確定|承認|ことに(?:なった|なりました|した"
    r"|しました)|とする|とします|に決"
    r"|\b(?:decided|agreed|settled|resolved|approved|chosen|chose|will|concluded|confirmed|adopted"
    r"|selected|is to|are to|picked)\b",
    re.I,
)
OPEN = re.compile(
    r"未決|未定|決まって(?:い)?(?:ない|ません|おらず)|決まら|決めて(?:い)?(?:ない|ません)|決められ"
    r"|合意に至|至ら(?:ず|な)|保留|持ち越|持ち帰|継続|検討|課題|次回|論点|残って|残る"
    r"|結論(?:は|が)(?:出|まだ)|意見が(?:分か|割)|かどうか(?:は|が|を)|議論|対立"
    r"|\b(?:open|undecided|unresolved|unsettled|pending|remain\w*|tbd|whether|questions?|yet to"
    r"|to be decided|undetermined|left for|next meeting|disagree\w*"
    r"|discuss\w*|debat\w*|not (?:yet )?(?:been )?(?:decided|settled|agreed|resolved|chosen)"
    r"|no (?:decision|agreement|conclusion)|n't (?:decided?|agreed?|settled?))\b",
    re.I,
)
# Somebody is named for what they said, not for what they are to do.
REPORTS = re.compile(
    r"(?:提案|発言|報告|指摘|説明|主張|賛成|反対|質問|紹介)(?:し(?!ます|て(?:もら|いただ))|があ|によ|を受け)|述べ|求め|によると"
    r"|\b(?:proposed|suggested|said|noted|reported|argued|raised|explained|asked|objected|seconded|presented"
    r"|according to)\b",
    re.I,
)

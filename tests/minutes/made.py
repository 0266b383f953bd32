"""A meeting and its ledger for tests of what is shown of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.meeting.ledger import fold
from bot.meeting.model import (
    ChannelKind,
    Entry,
    EntryKind,
    Language,
    LedgerView,
    Meeting,
    MeetingState,
    Origin,
    Speaker,
)
from bot.phrases import t

START = datetime(2026, 8, 3, 5, 0, tzinfo=UTC)
PEOPLE = (Speaker(7, "鈴木", 14, 300, START), Speaker(5, "佐藤", 2, 100, START))
NASTY = (
    "**太字** と _斜体_ と ~~取消~~ と ||伏せ字||",
    "@everyone @here <@123> <@&4> <#5> </end:6> <t:1:R> <:x:9>",
    "[押して](https://evil.example) <b>html</b> &amp; \\* `code` ``two``",
    "السعر ١٠ دولارات ولا أكثر (max 10)",
    "👨‍👩‍👧 と 🏳️‍🌈 で決める 👍🏽",
    "一行目\n# 二行目\n```\n三行目\n- **#1** 偽物",
    "https://example.com/a_b_c*d?x=[1] を使う",
    "x" * 1899 + "*",
    "=cmd|' /C calc'!A0",
    "`",
)


def meeting(**changes: Any) -> Meeting:
    values: dict[str, Any] = {
        "id": 42,
        "guild_id": 2,
        "channel_id": 3,
        "channel_kind": ChannelKind.TEXT,
        "title": "価格会議",
        "language": "ja",
        "timezone": "Asia/Tokyo",
        "chair_id": 5,
        "chair_name": "佐藤",
        "agenda": ("価格", "日程"),
        "started_at": START,
        "planned_end": START + timedelta(minutes=60),
        "state": MeetingState.OPEN,
    }
    return Meeting(**{**values, **changes})


class Ledger:
    """Numbers entries as the store does, one a minute."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def add(self, kind: EntryKind, text: str, origin: Origin = Origin.MARK, **more: Any) -> int:
        number = len(self.entries) + 1
        values: dict[str, Any] = {
            "author_id": 7,
            "author_name": "鈴木",
            "message_id": 1000 + number,
            "quote": text,
        }
        at = START + timedelta(minutes=number)
        self.entries.append(Entry(42, number, kind, text, origin, at, **{**values, **more}))
        return number

    @property
    def view(self) -> LedgerView:
        return fold(self.entries)


def view(*entries: tuple[EntryKind, str], **more: Any) -> LedgerView:
    ledger = Ledger()
    for kind, text in entries:
        ledger.add(kind, text, **more)
    return ledger.view


def decisions(texts: Sequence[str]) -> LedgerView:
    return view(*((EntryKind.DECISION, text) for text in texts))


def say(language: Language) -> Callable[..., str]:
    """The phrase book as minutes are handed it: say(key, **values)."""
    return lambda key, **values: t(key, language, **values)


def full() -> Ledger:
    """One of everything, replaced, answered, voted on, objected to and retracted included."""
    ledger = Ledger()
    ledger.add(EntryKind.CONSTRAINT, "上限は3。4以上は禁止", Origin.START)
    ledger.add(EntryKind.TOPIC, "価格")
    first = ledger.add(EntryKind.DECISION, "価格は500円とする")
    question = ledger.add(EntryKind.QUESTION, "誰が測定するか")
    ledger.add(EntryKind.ANSWER, "佐藤が測定する", refers_to=question)
    ledger.add(EntryKind.QUESTION, "発売日はいつか")
    ledger.add(EntryKind.ACTION, "見積を出す", owner="佐藤", due="2026-08-10")
    ledger.add(EntryKind.ACTION, "会場を探す")
    proposal = ledger.add(EntryKind.PROPOSAL, "毎週集まる")
    ledger.add(EntryKind.VOTE, "賛成です", refers_to=proposal, value=1.0)
    ledger.add(EntryKind.VOTE, "忙しい", refers_to=proposal, value=-1.0, author_id=8, author_name="田中")
    ledger.add(EntryKind.REVISION, "価格は600円とする", refers_to=first)
    found = ledger.add(EntryKind.DECISION, "年内に始める", Origin.MODEL, quote="じゃあ年内に始めよう")
    ledger.add(EntryKind.OBJECTION, "早すぎる", refers_to=found, author_name="田中")
    ledger.add(EntryKind.DECISION, "広告は出さない", value=-1.0)
    note = ledger.add(EntryKind.NOTE, "会場は仮押さえ")
    ledger.add(EntryKind.NOTE, "参考資料あり")
    ledger.add(EntryKind.RETRACTION, "", refers_to=note)
    return ledger


def link(message_id: int) -> str:
    return f"https://discord.com/channels/2/3/{message_id}"

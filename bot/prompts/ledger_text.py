"""The ledger as a prompt shows it: one line an item, what was replaced included and called so."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo

from bot.meeting.model import EntryKind, Item, LedgerView
from bot.prompts.fence import line

_SHOWN = (
    EntryKind.CONSTRAINT,
    EntryKind.TOPIC,
    EntryKind.PROPOSAL,
    EntryKind.DECISION,
    EntryKind.QUESTION,
    EntryKind.ACTION,
    EntryKind.NOTE,
)


def ledger_text(view: LedgerView, frame: Mapping[str, str], zone: tzinfo) -> str:
    """Heading, note and items by number. `frame` holds the language's labels (data/prompts/*/frame.toml)."""
    items = [i for i in view.items if i.kind in _SHOWN]
    body = "\n".join(item_line(i, frame, zone) for i in items) or frame["ledger.none"]
    return f"{frame['ledger.head']}\n{frame['ledger.note']}\n{body}"


def item_line(item: Item, frame: Mapping[str, str], zone: tzinfo) -> str:
    """For example `#4 decision (unconfirmed): Ship on Friday. [Aiko, 14:05] replaces #2`."""
    entry = item.entry
    kind = frame[f"kind.{item.kind}"]
    if item.kind is EntryKind.DECISION and (entry.value or 0) < 0:
        kind = frame["kind.rejected"]
    status = frame.get(f"status.{item.status}", item.status)
    if item.status == "replaced" and item.replaced_by is not None:
        status = frame["status.replaced_by"].format(number=item.replaced_by)
    text = frame["redacted"] if entry.redacted else line(entry.text)
    told = [
        f"#{item.number} {kind} ({status}): {text}",
        f"[{line(entry.author_name) or '-'}, {entry.at.astimezone(zone):%H:%M}]",
    ]
    return " ".join(told + _details(item, frame))


def _details(item: Item, frame: Mapping[str, str]) -> list[str]:
    parts = []
    if item.kind is EntryKind.ACTION:
        unknown = frame["unknown"]
        owner, due = line(item.owner or "") or unknown, line(item.due or "") or unknown
        parts.append(frame["item.action"].format(owner=owner, due=due))
    if item.history:
        parts.append(frame["item.was"].format(text=" / ".join(line(h.text) for h in item.history)))
    if item.positions:
        parts.append(frame["item.positions"].format(text=" / ".join(line(p) for p in item.positions)))
    if item.answers:
        parts.append(frame["item.answers"].format(text=" / ".join(line(a.text) for a in item.answers)))
    if item.votes:
        words = " / ".join(f"{line(v.voter_name)} {v.value:+g}" for v in item.votes)
        parts.append(frame["item.votes"].format(text=words))
    if item.objections:
        parts.append(frame["item.objections"].format(text=" / ".join(line(o.text) for o in item.objections)))
    if item.conflicts_with:
        numbers = ", ".join(f"#{n}" for n in item.conflicts_with)
        parts.append(frame["item.conflicts"].format(text=numbers))
    return parts

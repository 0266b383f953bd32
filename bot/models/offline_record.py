"""Prose out of the record: what the engine without a model says of a ledger, in minutes and in answers."""

from __future__ import annotations

from collections.abc import Sequence

from bot.meeting import agenda
from bot.meeting.display import display, literal, one_line
from bot.meeting.model import EntryKind, Item, LedgerView, Origin, Scene
from bot.meeting.terms import containment
from bot.phrases import t
from bot.prompts.outputs import MinutesItem

# Characters up to which a text stands whole beside its number. A longer one is only cited: a limit cut off in
# the middle would be a limit inverted.
_WHOLE = 500
_NAME = 60
_SPELLED = 4_000  # characters of all texts in one list of the minutes; beyond that, numbers only
_MATCH = 0.34  # share of a question's terms that an entry must hold to be an answer
_ANSWER_LENGTH = 1_500  # characters of a list, within the 1,800 of a post


def join(scene: Scene, parts: Sequence[str]) -> str:
    return t("offline.joiner", scene.meeting.language).join(parts)


def cite(scene: Scene, item: Item, *, spelled: bool = True) -> str:
    """For example `decision #3 (ship on Friday)`; without the words where they are long or withdrawn."""
    language = scene.meeting.language
    kind = "rejected" if _against(item) else "answered" if item.status == "answered" else item.kind.value
    name = t(f"offline.kind.{kind}", language, number=item.number)
    text = _whole(item) if spelled else ""
    return t("offline.cited", language, name=name, text=text) if text else name


def _whole(item: Item) -> str:
    """The item's text as one line without its full stop; empty where it is long or withdrawn."""
    text = one_line(item.text)
    return "" if item.entry.redacted or len(text) > _WHOLE else literal(text.rstrip("。．.")) if text else ""


def summary(scene: Scene, *, spelled: bool = True) -> str:
    """Cites every live decision, calls replaced ones replaced and open questions open. Holds no counts.

    `spelled=False`: numbers alone, which break no rule whatever people have written.
    """
    language, view = scene.meeting.language, scene.ledger
    parts = [told(scene, view.decisions, spelled=spelled) or t("offline.minutes.nothing", language)]
    parts += [
        t("offline.minutes.replaced", language, old=old.number, new=item.number)
        for item in view.decisions
        for old in item.history
    ]
    parts += [
        t("offline.minutes.replaced", language, old=item.number, new=item.replaced_by)
        for item in view.of(EntryKind.DECISION, live=False)
        if item.status == "replaced" and item.replaced_by is not None
    ]
    for found in (view.open_questions, view.actions, view.open_proposals):
        parts.append(told(scene, found, spelled=spelled))
    return t("offline.minutes.glue", language).join(p for p in parts if p)


def items(scene: Scene) -> list[MinutesItem]:
    """One item for each agenda line: the entries recorded while it was on the table, or that share its
    words."""
    nothing = t("offline.minutes.item_nothing", scene.meeting.language)
    placed = _by_agenda(scene)
    return [
        MinutesItem(agenda=line, text=told(scene, placed.get(line, ())) or nothing)
        for line in scene.meeting.agenda
    ]


def told(scene: Scene, found: Sequence[Item], *, spelled: bool = True) -> str:
    """A sentence for each, so that no limit of one rubs off on another; only named where it would be too much."""
    language = scene.meeting.language
    if not spelled or sum(len(i.text) for i in found) > _SPELLED:
        named = [cite(scene, i, spelled=False) for i in found]
        return t("offline.minutes.named", language, names=join(scene, named)) if named else ""
    return t("offline.minutes.glue", language).join(_sentence(scene, item) for item in found)


def _sentence(scene: Scene, item: Item) -> str:
    language, text = scene.meeting.language, _within_quotes(scene, _whole(item))
    name = cite(scene, item, spelled=False)
    name = name[:1].upper() + name[1:]
    if not text:
        return t("offline.minutes.sentence_named", language, name=name, text="")
    if _against(item):  # "decided against: no ads" reads like its opposite; the list says how it went
        return t("offline.minutes.rejected", language, number=item.number, text=text)
    if item.kind is EntryKind.ACTION and one_line(item.owner or ""):
        owner = display(item.owner or "", _NAME)
        return t("offline.minutes.owned", language, name=name, owner=owner, text=text)
    return t("offline.minutes.sentence", language, name=name, text=text)


def _within_quotes(scene: Scene, text: str) -> str:
    """Quotation marks of the text give way to inner ones, so that ours begin and end what was quoted."""
    outer, inner = (
        t("offline.minutes.outer", scene.meeting.language),
        t("offline.minutes.inner", scene.meeting.language),
    )
    return text.translate(str.maketrans(outer, inner))


def _by_agenda(scene: Scene) -> dict[str, list[Item]]:
    """Entries by agenda line. What fits no line stands under none: the rendered sections hold everything
    anyway."""
    told = (EntryKind.DECISION, EntryKind.QUESTION, EntryKind.ACTION, EntryKind.PROPOSAL)
    lines = agenda.items(scene.meeting)
    placed: dict[str, list[Item]] = {}
    for item in scene.ledger.items:
        if item.kind not in told or not item.live or item.original.origin is Origin.START:
            continue
        subject = agenda.subject(lines, scene.ledger, item.original.number) or item.text
        best = max(scene.meeting.agenda, key=lambda line: containment(line, subject), default=None)
        if subject in scene.meeting.agenda:
            placed.setdefault(subject, []).append(item)
        elif best is not None and containment(best, subject) >= _MATCH:
            placed.setdefault(best, []).append(item)
    return placed


def about(view: LedgerView, question: str) -> list[Item]:
    """Items that share enough of the question's words, best first, at most five; replaced ones included."""
    scored = [(containment(question, _searched(i)), -i.number, i) for i in view.items]
    hits = sorted((s for s in scored if s[0] >= _MATCH), key=lambda s: (s[2].live, s[0], s[1]), reverse=True)
    return [item for _, _, item in hits[:5]]


def _searched(item: Item) -> str:
    if item.entry.redacted:
        return ""
    return " ".join([item.text, item.owner or "", *item.positions, *(a.text for a in item.answers)])


def listing(scene: Scene, found: Sequence[Item]) -> tuple[str, list[str]]:
    """Bullet lines for items, and the numbers they cite; as many as one post holds, then a line that says
    more."""
    language = scene.meeting.language
    lines: list[str] = []
    cites: list[str] = []
    length = 0
    for item in found:
        line = "- " + cite(scene, item) + _standing(scene, item)
        length += len(line) + 1
        if length > _ANSWER_LENGTH:
            lines.append(t("offline.more", language))
            break
        lines.append(line)
        cites.append(f"#{item.number}")
    return "\n".join(lines), cites


def _standing(scene: Scene, item: Item) -> str:
    """How an item stands: replaced, retracted, open, whose it is; empty where its kind says all."""
    language = scene.meeting.language
    if item.status == "replaced" and item.replaced_by is not None:
        return t("offline.standing.replaced", language, number=item.replaced_by)
    if item.status in ("retracted", "answered", "open", "unconfirmed"):
        return t(f"offline.standing.{item.status}", language)
    if item.kind is EntryKind.ACTION:
        owner = one_line(item.owner or "") or t("offline.standing.nobody", language)
        return t("offline.standing.action", language, owner=owner)
    return ""


def _against(item: Item) -> bool:
    return item.kind is EntryKind.DECISION and (item.entry.value or 0) < 0

"""The panelist of the engine without a model: what its standpoint says about the agenda, out of the phrase book.

Its turns go position, proposal, open question, agreement; after those it has nothing new to say. It makes no claim
that record, role and agenda do not hold.
"""

from __future__ import annotations

from bot.meeting import agenda
from bot.meeting.display import display
from bot.meeting.model import EntryKind, Message, Scene
from bot.phrases import t
from bot.prompts.outputs import SILENCE, PanelOut

MOVES = ("position", "proposal", "question", "agreement")
VARIANTS = 5  # one a role, so that no two say the same
_SHOWN = 120


def panelist(scene: Scene) -> PanelOut:
    spoken, role = int(scene.extra.get("spoken") or 0), int(scene.extra.get("index") or 0)
    if spoken >= len(MOVES):
        return PanelOut(response=SILENCE, agrees=True)
    move = MOVES[spoken]
    item = _item(scene)
    text = t(
        f"offline.panel_{move}.{role % VARIANTS + 1}",
        scene.meeting.language,
        role=_shown(scene.extra.get("role", "")),
        standpoint=_shown(scene.extra.get("standpoint", "")).rstrip("。."),
        item=_quoted(scene, item),
        plain=_shown(item),
        other=_other(scene),
        constraint=_quoted(scene, _constraint(scene)),
    )
    return PanelOut(response=text, agrees=move == "agreement")


def _item(scene: Scene) -> str:
    """The agenda item that is on, the title where there is no agenda."""
    here = agenda.current(scene.meeting, scene.ledger)
    return here.title if here is not None else scene.meeting.title


def _constraint(scene: Scene) -> str:
    held = [i.text for i in scene.ledger.of(EntryKind.CONSTRAINT) if not i.entry.redacted]
    return held[0] if held else _item(scene)


def _other(scene: Scene) -> str:
    """Who spoke last, else the next of the other roles."""
    said = [m for m in scene.history if isinstance(m, Message)]
    if said:
        return _shown(said[-1].author_name)
    others = scene.extra.get("others", "")
    return _shown(others.replace("、", ",").split(",")[0])


def _shown(text: str) -> str:
    return display(text, _SHOWN).rstrip("?？ ")


def _quoted(scene: Scene, text: str) -> str:
    return t("offline.quoted", scene.meeting.language, text=_shown(text))

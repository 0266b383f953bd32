"""The panelist of the engine without a model: what its standpoint says about the agenda, out of the phrase book.

Its turns go position, proposal, open question, agreement; after those it has nothing new to say. It makes no claim
that record, role and agenda do not hold, and says so where a person asks it something.
"""

from __future__ import annotations

import re

from bot.meeting import agenda, replies
from bot.meeting.display import display
from bot.meeting.model import LANGUAGES, EntryKind, Message, OwnPost, Persona, Scene
from bot.meeting.text import fold
from bot.models.offline_cues import says
from bot.phrases import t, words
from bot.prompts.outputs import SILENCE, PanelOut

MOVES = ("position", "proposal", "question", "agreement")
VARIANTS = 5  # one a role, so that no two say the same
_SHOWN = 120


def panelist(scene: Scene, *, again: bool = False) -> PanelOut:
    """`again`: the guard has refused the first text, so nothing that a person wrote is repeated."""
    answer = _answer(scene, again)
    spoken, role = int(scene.extra.get("spoken") or 0), int(scene.extra.get("index") or 0)
    move = MOVES[spoken] if spoken < len(MOVES) else None
    if move is None:
        return PanelOut(response=answer or SILENCE, agrees=True)
    text = _agreement(scene, role) if move == "agreement" else _said(scene, move, role)
    return PanelOut(response="\n".join(filter(None, (answer, text))), agrees=move == "agreement")


def _said(scene: Scene, move: str, role: int) -> str:
    variant = role % VARIANTS + 1
    if move == "question" and variant == 2 and not _constraint(scene):
        variant = VARIANTS + 1  # without a constraint there is none to worry about
    return t(
        f"offline.panel_{move}.{variant}",
        scene.meeting.language,
        role=_shown(scene.extra.get("role", "")),
        standpoint=_shown(scene.extra.get("standpoint", "")).rstrip("。."),
        item=_quoted(scene, _item(scene)),
        other=_other(scene),
        constraint=_quoted(scene, _constraint(scene)),
    )


def _agreement(scene: Scene, role: int) -> str:
    """A vote that names the newest open proposal; for one's own there is none."""
    language = scene.meeting.language
    newest = max(scene.ledger.open_proposals, key=lambda item: item.original.number, default=None)
    me = _shown(scene.extra.get("role", ""))
    if newest is not None and newest.original.author_id == -(int(scene.extra.get("index") or 0) + 1):
        return t("offline.panel_own", language, number=newest.number)
    vote = "" if newest is None else t("offline.panel_vote", language, number=newest.number)
    return vote + t(f"offline.panel_agreement.{role % VARIANTS + 1}", language, role=me)


def _answer(scene: Scene, again: bool) -> str:
    """To a person who has asked something since the panel last spoke: that it stays open, which is recorded."""
    asked = _asked(scene)
    if asked is None:
        return ""
    language = scene.meeting.language
    figure = says(fold(asked), [words(language) for language in LANGUAGES], "ask_figure")
    told = t("offline.panel_asked.figure" if figure else "offline.panel_asked.other", language)
    if again:
        return told
    return told + "\n" + t("offline.panel_asked.open", language, question=display(asked, _SHOWN))


def _asked(scene: Scene) -> str | None:
    """The newest question of a person since the panel's last turn."""
    for line in reversed(scene.history):
        if isinstance(line, OwnPost):
            if line.persona is Persona.PANEL:
                return None
            continue
        if line.by_panel:
            return None
        if question := replies.last_question(line.text):
            return _without_call(question, scene.extra.get("role", ""))
    return None


def _without_call(question: str, role: str) -> str:
    """The question without the name by which it calls the role: on record it is anybody's."""
    called = (
        re.match(rf"\s*@?\s?(?:🤖\s?)?{re.escape(role)}(?:さん|様|氏)?\s?[、,:：]\s*", question)
        if role
        else None
    )
    return question[called.end() :] if called else question


def _item(scene: Scene) -> str:
    """The agenda item that is on, the title where there is no agenda."""
    here = agenda.current(scene.meeting, scene.ledger)
    return here.title if here is not None else scene.meeting.title


def _constraint(scene: Scene) -> str:
    held = [i.text for i in scene.ledger.of(EntryKind.CONSTRAINT) if not i.entry.redacted]
    return held[0] if held else ""


def _other(scene: Scene) -> str:
    """Who spoke last, else the next of the other roles."""
    said = [m for m in scene.history if isinstance(m, Message)]
    if said and said[-1].by_panel:
        return _shown(said[-1].author_name)
    if said:
        return t("offline.panel_person", scene.meeting.language, name=_shown(said[-1].author_name))
    others = scene.extra.get("others", "")
    return _shown(others.replace("、", ",").split(",")[0])


def _shown(text: str) -> str:
    return display(text, _SHOWN).rstrip("?？ ")


def _quoted(scene: Scene, text: str) -> str:
    return t("offline.quoted", scene.meeting.language, text=_shown(text))

"""One step of a panel: its next turn, or its end."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from pydantic import BaseModel

from bot import phrases
from bot.facilitation import closing, intake
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import put_post
from bot.facilitation.policy import FREE
from bot.facilitation.room import Room
from bot.facilitation.thinking import Material, Thought, facts, material, record, think
from bot.guard.rules_panel import PanelFacts
from bot.guard.table import rules_for
from bot.meeting import agenda, replies
from bot.meeting.display import brief
from bot.meeting.model import (
    LANGUAGES,
    EntryKind,
    MeetingState,
    Message,
    NewEntry,
    Origin,
    OwnPost,
    Persona,
    Route,
)
from bot.panel import bill, order
from bot.panel.order import Stop, Turn
from bot.panel.roles import Panel
from bot.panel.speech import PREFIX
from bot.prompts.outputs import PanelOut
from bot.stage import Outgoing
from bot.store import panels
from bot.store.engine import Connection

RECENT = 15  # posts of the panel that a new one must not repeat
KEY_END = "panel_end"


async def step_panel(core: Core, room: Room) -> None:
    panel = room.panel
    assert panel is not None  # the schedule asks for a turn only where there is one
    await _count(core, room)
    stuff = await material(core, room)
    reason = _why_stop(core, room, panel, stuff)
    if reason is not None:
        await stop(core, room, reason)
        return
    if await _took_up_next_item(core, room, panel):
        return  # people see the item first; the turn is due at once
    role = order.next_role(panel.roles, room.panel_turns, _called(room, panel, stuff))
    thought = await speak(core, room, panel, role, stuff)
    await _settle(core, room, panel, role, thought, _newest(stuff))


async def _count(core: Core, room: Room) -> None:
    used = await core.db.unit(lambda c: panels.usage(c, room.id))
    room.panel_cost, room.panel_bill = bill.of(used).dollars, bill.line(used, room.meeting.language)


def _why_stop(core: Core, room: Room, panel: Panel, stuff: Material) -> Stop | None:
    turns = room.panel_turns
    if core.policy.reached(panel.guild_id):
        return "limits"
    if order.failures(turns) >= order.FAILURES_END:
        return "provider"
    if order.agreed(panel.roles, turns, _on_the_table(room), _people_came_in(room, stuff)):
        return "agreed"
    if order.used(turns) >= panel.turns:
        return "turns"
    # One turn more costs about what turns have cost so far, the facilitator's reading included.
    ahead = room.panel_cost / len(turns) if turns else 0.0
    if panel.cost_cap is not None and room.panel_cost + ahead > panel.cost_cap:
        return "cost"
    return None


def _on_the_table(room: Room) -> bool:
    """There is something to agree with: a proposal, or a decision that the panel has put forward."""
    return bool(room.view.open_proposals) or any(item.panels for item in room.view.decisions)


def _people_came_in(room: Room, stuff: Material) -> datetime | None:
    """When a person last said something that is no plain assent, or objected."""
    words = [phrases.words(language) for language in LANGUAGES]
    said = [
        line.at
        for line in stuff.history
        if isinstance(line, Message)
        and not line.by_panel
        and not any(replies.says_yes(line.text, w) for w in words)
    ]
    against = [
        e.at
        for e in room.entries
        if e.origin.by_person
        and (e.kind is EntryKind.OBJECTION or (e.kind is EntryKind.VOTE and (e.value or 0) < 0))
    ]
    return max([*said, *against], default=None)


def _called(room: Room, panel: Panel, stuff: Material) -> int | None:
    """The role that a person or the facilitator has spoken to since the panel's last turn."""
    seen_to = room.panel_turns[-1].seen_to if room.panel_turns else 0
    for line in reversed(stuff.history):
        if line.message_id <= seen_to:
            return None
        speaks = line.persona is Persona.FACILITATOR if isinstance(line, OwnPost) else not line.by_panel
        role = order.called(line.text, panel.roles) if speaks else None
        if role is not None:
            return role
    return None


async def _took_up_next_item(core: Core, room: Room, panel: Panel) -> bool:
    """The facilitator goes on to the agenda item whose turns have come; where people were faster, it leaves it."""
    now, language = core.clock.now(), room.meeting.language
    items = agenda.items(room.meeting)
    here = agenda.current(room.meeting, room.view)
    index = order.item_due(panel, room.panel_turns, len(items)) if items else 0
    if here is None or here.index is None or here.index >= index:
        return False
    key = f"panel_item:{index}"
    topic = NewEntry(EntryKind.TOPIC, items[index].title, key, Origin.PANEL)
    text = phrases.t("panel.next_item", language, title=brief(items[index].title, 160))

    async def work(c: Connection) -> Change:
        if room.meeting.state is not MeetingState.OPEN:
            return Change()
        change = Change(entries=await intake.append(c, room, [topic], now))
        if change.entries:
            post = Outgoing(text, Persona.FACILITATOR, language, meeting_id=room.id)
            change.posts = await put_post(c, room, key, post, now=now, route=Route.TURN, source="fixed")
        return change

    change = await core.commit(room, work)
    if change.entries:
        room.rearm()
    return bool(change.entries)


def _newest(stuff: Material) -> int:
    return max((line.message_id for line in stuff.history), default=0)


async def speak(core: Core, room: Room, panel: Panel, role: int, stuff: Material) -> Thought:
    """One guarded generation for the role's turn; nothing is stored or posted."""
    me = panel.roles[role]
    number = sum(t.role == role and t.outcome != "failed" for t in room.panel_turns)
    others = [r.name for r in panel.roles if r is not me]
    known = facts(room, stuff, core.clock.now())
    known = replace(known, panel=_facts(room, panel, role, stuff))

    def own_words(output: BaseModel) -> str:
        return without_name(str(getattr(output, "response", "") or ""), me.name)

    return await think(
        core,
        room,
        Route.PANEL,
        request="panel",
        stuff=stuff,
        rules=rules_for(Route.PANEL, known),
        output=PanelOut,
        may_be_silent=True,
        extract=False,
        text_of=own_words,
        extra={
            "role": me.name,
            "standpoint": me.standpoint,
            "others": phrases.t("board.joiner", room.meeting.language).join(others),
            "index": str(role),
            "spoken": str(number),
            "turn": str(order.used(room.panel_turns) + 1),
            "turns": str(panel.turns),
        },
    )


def without_name(text: str, name: str) -> str:
    """A model that puts its own name in front means no harm; the name is shown anyway."""
    head, colon, rest = text.lstrip().replace("：", ":", 1).partition(":")
    if colon and head.strip(" *_🤖") == name:
        return text.lstrip()[len(head) + 1 :].lstrip(" *")
    first, _, rest = text.lstrip().partition("\n")
    return rest.lstrip() if first.strip(" *_🤖") == name else text


def _facts(room: Room, panel: Panel, role: int, stuff: Material) -> PanelFacts:
    me = panel.roles[role]
    said = [m.text for m in stuff.history if isinstance(m, Message) and m.by_panel]
    personas = [
        phrases.t(f"persona.{p.value}", language)
        for p in (Persona.FACILITATOR, Persona.ASSISTANT)
        for language in LANGUAGES
    ]

    def held() -> list[str]:
        items = [i for i in room.view.items if i.live and i.kind in _HELD]
        return [*(i.text for i in items), *(a.text for i in room.view.items for a in i.answers)]

    return PanelFacts(
        voices=tuple(name for name in (*room.names, *personas) if name not in (me.name, me.shown)),
        recent=tuple(said[-RECENT:]),
        held=held,
    )


_HELD = frozenset({EntryKind.DECISION, EntryKind.CONSTRAINT})


def failed(core: Core, panel: Panel, thought: Thought) -> bool:
    """No model answered. Where the offline engine stands in for a provider that is down, the panel rests: its
    stock of sentences is no discussion."""
    if thought.generated.output is None:
        return True
    stand_in = any(a.version.startswith(f"{FREE}-") for a in thought.generated.attempts)
    return stand_in and core.model_for(Route.PANEL, panel.guild_id) != FREE


async def _settle(core: Core, room: Room, panel: Panel, role: int, thought: Thought, seen_to: int) -> None:
    """Generation, turn and post in one transaction; nothing of it where the meeting has begun to close meanwhile."""
    now = core.clock.now()
    text, source = thought.final(core)
    lost = failed(core, panel, thought)
    output = thought.generated.chosen_output
    agrees = isinstance(output, PanelOut) and bool(output.agrees) and not lost
    outcome: order.Outcome = "failed" if lost else "said" if text else "passed"
    number = len(room.panel_turns) + 1
    turn = Turn(number, role, outcome, now, agrees, seen_to)

    async def work(c: Connection) -> Change:
        change = await record(c, room, thought)
        standing = await panels.get(c, room.id)
        if (
            room.meeting.state is not MeetingState.OPEN
            or standing is None
            or standing.stop_reason is not None
        ):
            return change
        change.value = await panels.add_turn(c, panel, turn)
        if change.value and outcome == "said":
            assert text is not None
            change.posts |= await _put(c, room, panel, turn, text, source, thought)
        return change

    change = await core.commit(room, work)
    if change.value:
        room.panel_turns.append(turn)
        room.board_dirty = True
        room.rearm()


async def _put(
    c: Connection, room: Room, panel: Panel, turn: Turn, text: str, source: str, thought: Thought
) -> bool:
    speaker = panel.roles[turn.role].shown
    return await put_post(
        c,
        room,
        f"{PREFIX}{turn.number}",
        Outgoing(text, Persona.PANEL, room.meeting.language, meeting_id=room.id, speaker=speaker),
        now=turn.at,
        route=Route.PANEL,
        source=source,
        generation_id=thought.generation_id,
        facts={"speaker": speaker, "role": turn.role},
    )


async def stop(core: Core, room: Room, reason: Stop) -> bool:
    """The panel ends, the room is told why, and the meeting closes as any other: read-back, window, minutes.

    False where it had ended before.
    """
    now, language = core.clock.now(), room.meeting.language
    panel = room.panel
    assert panel is not None
    used = await core.db.unit(lambda c: panels.usage(c, room.id))
    told = phrases.t(
        f"panel.end.{reason}",
        language,
        turns=order.used(room.panel_turns),
        cap=f"{panel.cost_cap or 0:g}",
    )
    text = f"{told}\n{bill.line(used, language)}"

    async def work(c: Connection) -> Change:
        ended = await panels.stop(c, room.id, reason, now)
        if ended is None:
            return Change()
        begun = await closing.begin(c, room, by=None, quote=None, at=now)
        change = Change(meeting=begun.meeting, value=ended)
        if begun.value:  # where people have begun to close, they know
            post = Outgoing(text, Persona.FACILITATOR, language, meeting_id=room.id)
            change.posts = await put_post(
                c, room, KEY_END, post, now=now, route=Route.CLOSING, source="fixed"
            )
        return change

    change = await core.commit(room, work)
    if change.value is None:
        return False
    room.panel, room.board_dirty = change.value, True
    closing.cut_short(room)
    return True

"""Minutes before they are published: everything unread is read, the prose is asked for and checked, then all is frozen.

Draft and outbox row go into one transaction; whatever happens later, those bytes are what is posted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pydantic import BaseModel

from bot import phrases
from bot.facilitation import reading
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import put_post
from bot.facilitation.room import KEY_MINUTES, Room
from bot.facilitation.showing import link, step_board
from bot.facilitation.thinking import (
    Material,
    Thought,
    clock_facts,
    facts,
    material,
    record,
    record_texts,
    think,
)
from bot.guard.model import Candidate, Rule, Source
from bot.guard.table import rules_for
from bot.meeting.model import Message, Route, Speaker
from bot.minutes import document as documents
from bot.minutes import rules as prose_rules
from bot.minutes.message import minutes_outgoing
from bot.minutes.render import render
from bot.minutes.seal import SEAL, seal
from bot.panel import bill
from bot.prompts import builder
from bot.prompts.outputs import MinutesOut
from bot.store import generations, ledger, meetings, minutes, transcript
from bot.store.engine import Connection

CATCH_UP_S = 25.0  # one part; the whole has `minutes_deadline_s`
PROSE_S = 40.0


async def step_draft(core: Core, room: Room) -> None:
    """Catch up, write, freeze. A crash anywhere before the last transaction starts it again; nothing is posted yet."""
    started = core.clock.now()
    await _catch_up(core, room)
    await _show(core, room, "post.progress_writing")
    left = core.limits.minutes_deadline_s - (core.clock.now() - started).total_seconds()
    written = await _prose(core, room, max(2.0, min(PROSE_S, left - 5)))
    if room.holding:
        return  # something was missed meanwhile: it is read first, and the draft is made anew
    await _freeze(core, room, written)


@dataclass(frozen=True, slots=True)
class Written:
    """The prose and why there is none. `holds` judges it against the ledger as it is when it is called."""

    prose: documents.MinutesProse | None
    thought: Thought
    omitted: str | None
    judged: int  # entries that the ledger had when the prose was asked for
    holds: Callable[[], bool]


async def _catch_up(core: Core, room: Room) -> None:
    """Everything not yet read for entries, in parts that fit; each part's entries and cursor in one transaction."""
    started = core.clock.now()
    failed_at: int | None = None
    while True:
        stuff = await material(core, room, oldest=True)
        if not stuff.unread:
            return
        part = replace(stuff, history=stuff.unread)
        left = core.limits.minutes_deadline_s - PROSE_S - (core.clock.now() - started).total_seconds()
        thought = await think(
            core,
            room,
            Route.TURN,
            request="catch_up",
            stuff=part,
            rules=(),
            may_be_silent=True,
            seconds=max(1.0, min(CATCH_UP_S, left)),
        )

        # A part that gave nothing is tried once more; marks and what people recorded by hand are in the ledger already.
        again = thought.generated.output is None and failed_at != thought.read_to
        failed_at = thought.read_to if again else None
        cursor = room.meeting.cursor if again else max(room.meeting.cursor, thought.read_to)

        async def work(
            c: Connection, thought: Thought = thought, cursor: int = cursor, again: bool = again
        ) -> Change:
            change = await record(c, room, thought)
            if not again:
                await reading.mark(c, room, thought, read=True)
            change.meeting = await meetings.update(c, room.id, cursor=cursor)
            return change

        await core.commit(room, work)
        await _show(core, room, "post.progress_reading")


async def _show(core: Core, room: Room, phrase: str) -> None:
    """People see how far the minutes are (SPEC 3: up to 120 s, with visible progress)."""
    room.progress = phrases.t(phrase, room.meeting.language)
    if room.unreachable is None:
        await step_board(core, room)


async def _prose(core: Core, room: Room, seconds: float) -> Written:
    stuff = await material(core, room)
    said = await core.db.unit(lambda c: transcript.everything(c, room.id))
    texts = [m for m in said if m.author_id not in stuff.unheard]
    whole = replace(stuff, unread=(), history=_within_budget(texts))
    judged = len(room.entries)

    thought = await prose(core, room, whole, texts, seconds)
    output = _chosen(thought)
    if output is None:
        failed = all(a.text is None for a in thought.generated.attempts)
        return Written(None, thought, "provider" if failed else "guard", judged, lambda: True)
    candidate = Candidate(prose_text(output))
    written = documents.MinutesProse(output.summary, tuple((i.agenda, i.text) for i in output.items))
    return Written(
        written,
        thought,
        None,
        judged,
        lambda: all(rule.check(candidate) is None for rule in rules(room, whole, texts)),
    )


async def prose(
    core: Core, room: Room, whole: Material, said: Sequence[Message], seconds: float | None = None
) -> Thought:
    """The generation behind the prose. `whole`: what the model sees; `said`: all that was said."""
    return await think(
        core,
        room,
        Route.MINUTES,
        request="minutes",
        stuff=whole,
        rules=rules(room, whole, said),
        output=MinutesOut,
        extract=False,
        seconds=core.limits.seconds(PROSE_S) if seconds is None else seconds,
        fallback=phrases.t("post.prose_omitted", room.meeting.language),
        text_of=prose_text,
    )


def rules(room: Room, whole: Material, said: Sequence[Message] = ()) -> tuple[Rule, ...]:
    """What the prose must hold to: the whole record, where the general rule would see the window alone."""
    now = room.core.clock.now()
    return (
        *rules_for(Route.MINUTES, replace(facts(room, whole, now), record=None)),
        *prose_rules.all_rules(
            room.view,
            [*record_texts(room, whole), *(m.text for m in said)],
            room.names,
            partial(_say, room.meeting.language),
            clock_facts(room, now, None),
        ),
    )


def prose_text(output: BaseModel) -> str:
    """All of the prose as one text, as the rules judge it."""
    assert isinstance(output, MinutesOut)
    return "\n".join([output.summary, *(f"{i.agenda}\n{i.text}" for i in output.items)]).strip()


def _chosen(thought: Thought) -> MinutesOut | None:
    """The output whose text was chosen; None where the fixed text stands in for prose."""
    generated = thought.generated
    if generated.source not in (Source.FIRST, Source.REPHRASED) or generated.text is None:
        return None
    chosen = generated.chosen_output
    return chosen if isinstance(chosen, MinutesOut) else None


def _say(language: str, key: str, **values: object) -> str:
    return phrases.t(key, language, **values)


def _within_budget(texts: Sequence[Message]) -> tuple[Message, ...]:
    """The newest messages up to one part's size; the ledger stands before them whole, whatever is cut here."""
    kept: list[Message] = []
    room_left = builder.CHUNK_CHARACTERS
    for message in reversed(texts):
        room_left -= len(message.text) + 24
        if room_left < 0:
            break
        kept.append(message)
    return tuple(reversed(kept))


async def _freeze(core: Core, room: Room, written: Written) -> None:
    now = core.clock.now()
    thought = written.thought
    meeting, language = room.meeting, room.meeting.language
    say = partial(_say, language)

    async def work(c: Connection) -> Change:
        change = await record(c, room, thought)
        prose, omitted = written.prose, written.omitted
        if prose is not None and thought.generated.chosen_output is None:
            prose, omitted = None, "erased"  # somebody was erased while it was written
        if len(room.entries) != written.judged and not written.holds():
            prose, omitted = None, "guard"  # a mark came in while it was written, and it leaves that out
        made = await _how(c, room, omitted, await ledger.head(c, room.id))
        document = documents.document(
            meeting,
            room.view,
            await attendees(c, room),
            prose,
            made,
            partial(link, meeting.guild_id, meeting.channel_id),
            ended_at=now,
            carried=room.carried,
            panel=await bill.panel_part(c, room),
            standpoints=bill.standpoints(room),
        )
        text = render(document, language, say)
        stored = json.dumps(document, ensure_ascii=False)
        await minutes.save_draft(
            c,
            meeting.guild_id,
            room.id,
            stored,
            text,
            made.ledger_digest,
            now,
        )
        post = minutes_outgoing(document, text, meeting, say, language)
        change.posts |= await put_post(
            c,
            room,
            KEY_MINUTES,
            post,
            now=now,
            route=Route.MINUTES,
            source=thought.generated.source.value,
            kind="minutes",
            where="thread",
            generation_id=thought.generation_id,
            facts={
                "thread_name": phrases.t("post.thread_name", language, title=meeting.title)[:100],
                SEAL: seal(post, stored, text, made.ledger_digest),
            },
        )
        return change

    await core.commit(room, work)
    room.draft_done = True


async def attendees(c: Connection, room: Room) -> tuple[Speaker, ...]:
    """Who wrote how much, as edited and deleted by now, then who joined and wrote nothing."""
    spoke = await transcript.speakers(c, room.id)
    known = {person.user_id for person in spoke}
    joined = await transcript.joined(c, room.id, room.board_ids)
    silent = {**joined, **bill.names(room)}
    return (*spoke, *(Speaker(user, name) for user, name in silent.items() if user not in known))


async def _how(c: Connection, room: Room, omitted: str | None, digest: str) -> documents.How:
    made = await generations.everything(c, room.id)
    versions = {
        f"{g.model} ({a.version})" if a.version and a.version != g.model else g.model
        for g in made
        for a in g.attempts
        if a.version
    }
    count = {source: sum(g.source is source for g in made) for source in Source}
    return documents.How(
        models=tuple(sorted(versions)),
        generations=len(made),
        rephrased=count[Source.REPHRASED],
        fixed=count[Source.FIXED],
        silent=count[Source.SILENT],
        tokens_in=sum(a.tokens_in for g in made for a in g.attempts),
        tokens_cached=sum(a.tokens_cached for g in made for a in g.attempts),
        tokens_out=sum(a.tokens_out for g in made for a in g.attempts),
        ledger_digest=digest,
        prose_omitted_reason=omitted,
    )

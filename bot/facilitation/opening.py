"""How a meeting begins: the request is checked, the kickoff is posted, the facilitator opens (SPEC 2.1)."""

from __future__ import annotations

from datetime import timedelta

from bot import phrases
from bot.errors import BadInput, NotAllowed
from bot.facilitation import carry
from bot.facilitation.board import kickoff
from bot.facilitation.core import Change, Core
from bot.facilitation.delivery import put_post
from bot.facilitation.requests import StartRequest
from bot.facilitation.room import KEY_KICKOFF, KEY_OPENING, Room
from bot.facilitation.thinking import Material, Thought, record, think
from bot.meeting import ledger as folding
from bot.meeting.agenda import AgendaItem, parse
from bot.meeting.display import display
from bot.meeting.model import LANGUAGES, EntryKind, Language, Meeting, NewEntry, Origin, Persona, Route
from bot.meeting.text import strip_invisible
from bot.panel import bill
from bot.stage import Outgoing
from bot.store import ledger, meetings, panels, transcript
from bot.store.engine import Connection
from bot.store.servers import ServerSettings

SHORTEST, LONGEST = 1, 12 * 60
TITLE_CHARACTERS = 100  # a thread's name
OPENING_S = 20.0


def check(request: StartRequest) -> None:
    """Raises BadInput saying what to do."""
    if not strip_invisible(request.title).strip():
        raise BadInput("error.title_missing")
    if len(request.title) > TITLE_CHARACTERS:
        raise BadInput("error.title_long", limit=TITLE_CHARACTERS)
    if not SHORTEST <= request.minutes <= LONGEST:
        raise BadInput("error.minutes_range", shortest=SHORTEST, longest=LONGEST)
    if request.language is not None and request.language not in LANGUAGES:
        raise BadInput("error.language", known=", ".join(LANGUAGES))


async def allow(c: Connection, core: Core, request: StartRequest) -> ServerSettings:
    """The server's settings; NotAllowed or BadInput where this person may not start here, or opted out."""
    settings = await core.policy.load(c, request.place.guild_id)
    wanted, by = set(settings.starter_roles), request.by
    if wanted and not by.manager and not wanted & {*by.roles, request.place.guild_id}:
        raise NotAllowed("error.may_not_start")
    if await transcript.opted_out(c, request.place.guild_id, by.id):
        raise BadInput("error.you_opted_out")
    return settings


async def create(core: Core, request: StartRequest, language: Language, timezone: str) -> Room:
    """Meeting, constraints and kickoff in one transaction; AlreadyOpen where the channel has a meeting."""
    check(request)
    now = core.clock.now()
    guild = request.place.guild_id

    async def work(c: Connection) -> tuple[Meeting, bool]:
        settings = await core.policy.load(c, guild)
        carried = await carry.entries(c, guild, request.place.channel_id) if request.carry else []
        agenda = _agenda(request, language, carried)
        meeting = await meetings.create(
            c,
            guild_id=guild,
            channel_id=request.place.channel_id,
            channel_kind=request.channel_kind,
            title=strip_invisible(request.title).strip(),
            language=language,
            timezone=timezone,
            chair_id=request.by.id,
            chair_name=request.by.name,
            agenda=[item.title for item in agenda],
            agenda_minutes=[item.minutes for item in agenda],
            parent_id=request.parent_id,
            started_at=now,
            planned_end=now + timedelta(minutes=request.minutes),
            activity=settings.activity,
        )
        entries = await ledger.append(
            c,
            guild,
            meeting.id,
            [
                NewEntry(
                    EntryKind.CONSTRAINT,
                    text,
                    f"start:{index}",
                    Origin.START,
                    request.by.id,
                    request.by.name,
                    text,
                )
                for index, text in enumerate(request.constraints)
            ]
            + carried,
            now,
            core.salt,
        )
        if request.panel is not None:
            await panels.create(c, guild, meeting.id, request.panel, now)
        fresh = Room(core, meeting)
        post = kickoff(
            meeting,
            folding.fold(entries),
            language,
            now,
            core.policy.transcript_days(settings),
            core.models_shown(guild, language),
            await carry.links(c, meeting, entries),
            settings.ledger_days,
            bill.announcement(request.panel, language),
        )
        await put_post(c, fresh, KEY_KICKOFF, post, now=now, route=None)
        return meeting, True

    meeting, _ = await core.db.unit(work)
    room = Room(core, meeting)
    await room.reload()
    return room


def _agenda(request: StartRequest, language: Language, carried: list[NewEntry]) -> list[AgendaItem]:
    """The items as entered; what came over from the last meeting is looked at first."""
    items = [parse(line) for line in request.agenda]
    if not carried:
        return items
    questions, actions = carry.kind_counts(carried)
    title = phrases.t("agenda.carried", language, questions=questions, actions=actions)
    return [AgendaItem(title), *items]


async def opened(core: Core, room: Room, stuff: Material | None = None) -> Thought:
    """The generation behind the opening."""
    agenda = room.meeting.agenda
    fallback = phrases.t(
        "fixed.opening.agenda" if agenda else "fixed.opening.plain",
        room.meeting.language,
        title=display(room.meeting.title),
        first=display(agenda[0]) if agenda else "",
    )
    return await think(
        core,
        room,
        Route.OPENING,
        request="opening",
        stuff=stuff,
        fallback=fallback,
        seconds=core.limits.seconds(OPENING_S),
    )


async def step_opening(core: Core, room: Room) -> None:
    """The facilitator's first post; a discussion that began earlier does not excuse a missing announcement."""
    language = room.meeting.language
    thought = await opened(core, room)
    now = core.clock.now()
    text, source = thought.final(core)

    async def work(c: Connection) -> Change:
        change = await record(c, room, thought)
        post = Outgoing(
            text or thought.call.fallback or "", Persona.FACILITATOR, language, meeting_id=room.id
        )
        change.posts |= await put_post(
            c,
            room,
            KEY_OPENING,
            post,
            now=now,
            route=Route.OPENING,
            source=source,
            generation_id=thought.generation_id,
        )
        # Messages that came in before the opening keep waiting for their turn: the cursor does not move.
        return change

    await core.commit(room, work)

"""`/panel start` and `/panel stop`: checks, the thread where there is none yet, and the meeting in it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from bot import phrases
from bot.errors import BadInput, NoMeeting, NotAllowed, StageError
from bot.facilitation import opening
from bot.facilitation.core import Core
from bot.facilitation.meetings import Meetings
from bot.facilitation.policy import FREE
from bot.facilitation.requests import Person, StartRequest
from bot.meeting.display import display
from bot.meeting.lifecycle import TALKING
from bot.meeting.model import ChannelKind, Language, Meeting, Persona, Route
from bot.models.base import Usage
from bot.models.prices import cost
from bot.panel import roles, starter
from bot.panel.roles import Panel
from bot.panel.turn import stop
from bot.stage import Outgoing, Place
from bot.store import meetings


@dataclass(frozen=True, slots=True)
class Started:
    meeting: Meeting
    panel: Panel


class Panels:
    """Public methods raise UserError for what people are to be told."""

    def __init__(self, core: Core, rooms: Meetings, default_language: Language) -> None:
        self._core, self._rooms, self._default = core, rooms, default_language

    async def start(self, request: StartRequest) -> Started:
        """`request.panel` as entered; `request.minutes` is not looked at. In a text channel a public thread is
        opened, anywhere else the panel is held right there."""
        core, plan = self._core, request.panel
        assert plan is not None
        plan = roles.check(plan)
        if not request.title.strip():
            raise BadInput("panel.error.topic_missing")
        request = replace(request, panel=plan, minutes=roles.planned_minutes(plan.turns), carry=False)
        opening.check(request)
        settings = await core.db.unit(lambda c: opening.allow(c, core, request))
        self._check_price(plan, request.place.guild_id)
        if request.language is None:
            request = replace(request, language=settings.language or self._default)
        if request.channel_kind is ChannelKind.TEXT:
            request = await self._in_thread(request)
        meeting = await self._rooms.start(request)
        room = self._rooms.room(meeting.id)
        assert room.panel is not None
        return Started(meeting, room.panel)

    def _check_price(self, plan: roles.Plan, guild_id: int) -> None:
        """A cap on money needs prices: every model that takes part must have one."""
        if plan.cost_cap is None:
            return
        names = {self._core.model_for(route, guild_id) for route in (Route.PANEL, Route.TURN)}
        for name in sorted(names - {FREE}):
            if cost(Usage(1, 0, 1), name) is None:
                raise BadInput("panel.error.no_price", model=name)

    async def _in_thread(self, request: StartRequest) -> StartRequest:
        """A post in the channel and the thread on it; a command that comes twice, or is tried again, opens one."""
        core = self._core
        language: Language = "ja" if request.language == "ja" else "en"
        topic = display(request.title, 80)
        nonce = hashlib.sha256(f"panel:{request.interaction_id}".encode()).hexdigest()[:25]
        post = Outgoing(
            phrases.t("panel.starter", language, topic=topic), Persona.SYSTEM, language, nonce=nonce
        )
        try:
            message_id = await starter.put(core, request.place, post)
            name = phrases.t("panel.thread_name", language, topic=request.title)
            place = await core.stage.open_thread(request.place, message_id, name[:100])
        except StageError as error:
            raise BadInput("panel.error.thread") from error
        return replace(
            request, place=place, channel_kind=ChannelKind.THREAD, parent_id=request.place.channel_id
        )

    async def stop(self, place: Place, by: Person, interaction_id: int) -> None:
        """The chair and Manage Server; NoMeeting, BadInput or NotAllowed otherwise."""
        core = self._core
        try:
            room = self._rooms.room(place)
        except NoMeeting as error:
            raise NoMeeting("panel.error.no_panel") from error
        if room.panel is None:
            raise NoMeeting("panel.error.no_panel")
        if by.id != room.meeting.chair_id and not by.manager:
            raise NotAllowed("panel.error.rights", chair=room.meeting.chair_name)
        if room.meeting.state not in TALKING:
            raise BadInput("panel.error.ended")
        now = core.clock.now()
        first = await core.db.unit(lambda c: meetings.once(c, interaction_id, room.id, now))
        if first and not await stop(core, room, "stopped"):
            raise BadInput("panel.error.ended")

"""Composition root: the only place that wires. Knows no discord; client and rehearsal hand in their stage."""

from __future__ import annotations

import asyncio
import os
import random
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from bot.assistant.chat import Chat
from bot.assistant.service import Assistant
from bot.assistant.shelf import Shelf
from bot.clock import Clock, Now, just_wait
from bot.errors import ConfigError
from bot.facilitation.core import Core, Limits, Watcher
from bot.facilitation.meetings import Meetings
from bot.facilitation.policy import Defaults, Policy
from bot.facilitation.records import Records
from bot.guard.generator import Call, Generator
from bot.meeting.model import Route
from bot.minutes.archive import Minutes
from bot.models.base import Model
from bot.models.breaker import BreakerModel
from bot.models.gemini import GeminiModel
from bot.models.offline import OfflineModel
from bot.operator_log import OperatorLog
from bot.panel.service import Panels
from bot.privacy import Privacy
from bot.server_settings import Servers
from bot.settings import OFFLINE, Settings
from bot.stage import Stage
from bot.store import archive, heartbeats, meta, search
from bot.store.archive import Swept
from bot.store.engine import Connection, Database, random_salt
from bot.store.heartbeats import PROCESS, Heartbeat
from bot.supervision import LoopLag, Supervisor, log_failure

LIGHT_ROUTES = frozenset({Route.ASK, Route.CHAT})
HEARTBEAT_S = 30.0
OVERSLEPT_S = 60.0  # between two looks at whether every open meeting is kept and armed
LAG_S = 1.0  # between two looks at how late the event loop is
SETTLE_S = 60.0
SWEEP_S = 1800.0  # looks; what it looks for happens once a day
SWEEP_EVERY = timedelta(days=1)
SWEPT = "swept"
COMMANDS = "synced commands"


@dataclass(frozen=True)
class App:
    settings: Settings
    clock: Clock
    db: Database
    core: Core
    meetings: Meetings
    minutes: Minutes
    records: Records
    servers: Servers
    privacy: Privacy
    panels: Panels
    assistant: Assistant
    chat: Chat
    supervisor: Supervisor
    lag: LoopLag
    models: dict[str, Model] = field(default_factory=dict)

    @property
    def watchers(self) -> list[Watcher]:
        return self.core.watchers

    def attach(self, stage: Stage) -> None:
        self.core.attach(stage)

    async def open(self) -> None:
        """Lock and migrate the database, make the configured models ready. Raises StoreError, ConfigError."""
        await self.db.open()
        await self.db.unit(search.catch_up)
        for model in self.models.values():
            if isinstance(model, GeminiModel):
                await model.prepare()

    async def beat(self) -> None:
        """One row for the process and one a worker: `ketsugi doctor` shows what runs late or fails."""
        beats = [Heartbeat(PROCESS, self.clock.now(), HEARTBEAT_S, lag_s=self.lag.worst)]
        beats += [
            Heartbeat(name, worker.at, worker.every_s, worker.failures, worker.error)
            for name, worker in self.supervisor.workers.items()
        ]
        await self.db.unit(lambda c: heartbeats.replace(c, beats))

    async def sweep(self) -> None:
        """Forget what is past its retention, once a day however often the process starts anew."""
        now, days = self.clock.now(), self.settings.retention_days

        async def work(c: Connection) -> Swept | None:
            last = await meta.get(c, SWEPT)
            if last is not None and now - datetime.fromisoformat(last) < SWEEP_EVERY:
                return None
            await meta.put(c, SWEPT, now.isoformat())
            return await archive.sweep(c, now, days)

        swept = await self.db.unit(work)
        if swept is not None:
            self.core.watch("swept", transcripts=swept.transcripts, meetings=swept.meetings)

    def supervise(self) -> None:
        """Start recurring background work; in the product only, a rehearsal needs none."""
        self.supervisor.every(HEARTBEAT_S, "heartbeat", self.beat)
        self.supervisor.every(OVERSLEPT_S, "meetings", self.meetings.sweep)
        self.supervisor.every(LAG_S, "loop lag", self.lag.measure)
        self.supervisor.every(SETTLE_S, "erasures", self.privacy.settle)
        self.supervisor.every(SWEEP_S, "retention", self.sweep)

    async def close(self) -> None:
        """Finish what is under way (10 s), then let go of everything."""
        await asyncio.gather(self.chat.close(), self.meetings.close())
        await self.supervisor.close()
        for model in self.models.values():
            await model.close()
        await self.db.close()

    async def abandon(self) -> None:
        """Let go at once, as a process that was killed would; a rehearsal's crash. Rows stay as they are."""
        await asyncio.gather(self.chat.close(grace=0.0), self.meetings.close(grace=0.0))
        await self.supervisor.close()
        await self.db.close()

    async def ledger_export(self, meeting_id: int) -> list[dict[str, Any]]:
        return await self.minutes.ledger_export(meeting_id)

    async def minutes_export(self, meeting_id: int) -> dict[str, Any] | None:
        return await self.minutes.minutes_export(meeting_id)

    async def synced_commands(self) -> str | None:
        return await self.db.unit(lambda c: meta.get(c, COMMANDS))

    async def remember_commands(self, digest: str) -> None:
        await self.db.unit(lambda c: meta.put(c, COMMANDS, digest))


def build(
    settings: Settings,
    now: Now,
    wait: Callable[[Any, str], Any] = just_wait,
    *,
    wrap_model: Callable[[Model], Model] | None = None,
) -> App:
    """Wire everything from settings and the clock. Raises ConfigError where a setting cannot be used."""
    clock = Clock(now, wait)
    db = Database(settings.database_url, salt=_salt(settings.seed))
    offline: Model = OfflineModel()
    models = {name: _model(settings, name, clock) for name in settings.known_models}
    shelf = {name: _guarded(model, settings, offline, now, wrap_model) for name, model in models.items()}
    events = OperatorLog()

    def model_name(route: Route) -> str:
        return settings.ask_model if route in LIGHT_ROUTES else settings.main_model

    policy = Policy(_defaults(settings), events.cap_reached)

    def model_for(call: Call) -> Model:
        guild = call.scene.meeting.guild_id
        name = policy.settings(guild).models.get(call.route.value) or model_name(call.route)
        # A name that the operator no longer offers: the application's own model instead.
        return offline if policy.reached(guild) else shelf.get(name) or shelf[model_name(call.route)]

    core = Core(
        db=db,
        clock=clock,
        generator=Generator(model_for, clock, on_broken=_report),
        salt=db.salt,
        owner=f"{socket.gethostname()}:{os.getpid()}",
        limits=Limits(settings.deadline_s, settings.minutes_deadline_s, settings.retention_days),
        model_name=model_name,
        degraded=lambda: any(m.degraded for m in shelf.values() if isinstance(m, BreakerModel)),
        watchers=[events.watch],
        policy=policy,
    )
    rooms = Meetings(core, settings.language)
    return App(
        settings=settings,
        clock=clock,
        db=db,
        core=core,
        meetings=rooms,
        minutes=Minutes(core),
        records=Records(core),
        servers=Servers(core, settings.known_models),
        privacy=Privacy(core, rooms),
        chat=Chat(
            core,
            Shelf(core),
            Generator(lambda call: offline, clock, on_broken=_report),
            settings.chats_per_day,
        ),
        panels=Panels(core, rooms, settings.language),
        assistant=Assistant(core, settings.language),
        supervisor=Supervisor(clock),
        lag=LoopLag(LAG_S),
        models=models,
    )


def _defaults(settings: Settings) -> Defaults:
    return Defaults(
        language=settings.language,
        timezone=settings.timezone,
        transcript_days=settings.retention_days,
        messages_per_day=settings.messages_per_day,
        generations_per_day=settings.generations_per_day,
        cost_per_day=settings.cost_per_day,
    )


def _guarded(
    model: Model,
    settings: Settings,
    offline: Model,
    now: Callable[[], datetime],
    wrap_model: Callable[[Model], Model] | None,
) -> Model:
    """The model as meetings use it: behind a breaker; a rehearsal wraps those the application itself uses."""
    if wrap_model is not None and model.name in (settings.main_model, settings.ask_model):
        model = wrap_model(model)
    return _behind_breaker(model, offline, now)


def _behind_breaker(model: Model, offline: Model, now: Callable[[], datetime]) -> Model:
    return model if model.name == OFFLINE else BreakerModel(model, offline, now)


def _model(settings: Settings, name: str, clock: Clock) -> Model:
    if name == OFFLINE:
        return OfflineModel()
    if not settings.gemini_api_key and not settings.gemini_base_url:
        raise ConfigError(
            f"the model {name} needs GEMINI_API_KEY (make one in Google AI Studio),"
            " or set KETSUGI_MODEL=offline"
        )
    key = settings.gemini_api_key.get_secret_value() if settings.gemini_api_key else "local"
    return GeminiModel(name, key, clock, base_url=settings.gemini_base_url)


def _salt(seed: int | None) -> Callable[[], bytes]:
    return random_salt if seed is None else partial(random.Random(seed).randbytes, 16)


def _report(what: str, error: BaseException) -> None:
    log_failure(f"rule or model {what} failed unforeseen", error)

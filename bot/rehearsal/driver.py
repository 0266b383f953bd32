"""Plays a scenario: a real bot in a simulated Discord, from the start command until the minutes are out."""

from __future__ import annotations

import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import ceil
from typing import Any

import discord
from simcord._dpy_internals import real_monotonic
from simcord._runtime import _attach_bot
from simcord.env import Env

from bot.errors import UserError
from bot.meeting.display import shorten
from bot.meeting.model import Language
from bot.phrases import book
from bot.rehearsal.faults import Faults, FaultyModel
from bot.rehearsal.host import Host, Seam
from bot.rehearsal.observer import Line, Observer
from bot.rehearsal.scenario import (
    BOT,
    Click,
    Command,
    Delete,
    Edit,
    Event,
    Fault,
    Menu,
    PanelHeader,
    React,
    Restart,
    Say,
    Scenario,
    Wait,
)
from bot.rehearsal.shims import Wire
from bot.rehearsal.stage import BOT_NAME, Impossible, SimulatedServer
from bot.rehearsal.timing import Timing

LONGEST_OVERTIME_S = 3600.0  # after the planned end
AFTER_LAST_EVENT_S = 600.0  # at least, where the last event itself is later than that
OPTION = 200  # characters of a command's option
COUNTED = ("generations", "rephrased", "fixed", "silent")
AFTERMATH_S = 15.0  # after the minutes: last edits, and a second set of minutes if there is one

_ASSISTANT = re.compile(r"@\s*(assistant|アシスタント)", re.IGNORECASE)
_ADDRESSED = re.compile(rf"@{BOT_NAME}\b", re.IGNORECASE)


class Rehearsal:
    """One playing of one scenario. `lines` fills while it plays, and is complete after `play`.

    `language` overrides the scenario's, `pace` is virtual seconds a real second (None: as fast as possible),
    `show` is told of every line and of what people do besides writing.
    """

    def __init__(
        self,
        scenario: Scenario,
        host: Host,
        *,
        language: Language | None = None,
        seed: int = 0,
        pace: float | None = None,
        show: Callable[[Line], None] = lambda line: None,
    ) -> None:
        self.scenario, self.host, self.seed, self.show = scenario, host, seed, show
        self.language: Language = language or scenario.header.language
        self.env = Env(discord.Client(intents=discord.Intents.none()), check_errors=False)
        self.timing = Timing(self.env, pace)
        self.observer = Observer(self.env.backend, lambda line: self.show(line))
        self.server = SimulatedServer(self.env, self.observer, self.language)
        self.model_faults = Faults(self.timing.seconds)
        self.discord_faults = Faults(self.timing.seconds)
        self.problems: list[str] = []
        self._acting: tuple[str, str] | None = None
        self._up_at: float | None = None  # while the bot is away: when it comes back, since the start
        self._begun = 0.0

    @property
    def lines(self) -> list[Line]:
        return self.observer.lines

    @property
    def minutes_messages(self) -> int:
        return len(self.observer.minutes)

    def clock(self, moment: float) -> float:
        """Seconds since the start command of a moment given as a Unix time (Discord's `<t:...>`)."""
        return moment - (self.env.now().timestamp() - self._now())

    async def play(self) -> list[Line]:
        """Play to the end; returns the output lines, the summary last."""
        wall = real_monotonic()
        random.seed(self.seed)
        self.env._register_dispatch_observer(lambda interaction: self._owe())
        wire = Wire(
            self.env,
            self.discord_faults,
            self.timing.sleep,
            self.language,
            self.observer.interaction_changed,
        )
        with wire.installed():
            try:
                await self._open()
                for event in self.scenario.events:
                    await self._reach(event.at)
                    await self._do(event)
                await self._run_on()
                await self._read_records()
            finally:
                await self._leave()
        self._summarise(real_monotonic() - wall)
        return self.lines

    # -- the course of it

    async def _open(self) -> None:
        header = self.scenario.header
        if isinstance(header, PanelHeader):
            await self._open_panel(header)
            return
        for name in dict.fromkeys((*header.participants, header.chair)):
            self.server.person(name)
        await self._start_bot()
        self._begun = self.timing.seconds()
        self.observer.begin()
        options: dict[str, Any] = {"title": header.title}
        if header.agenda:
            options["agenda"] = "\n".join(header.agenda)
        if header.constraints:
            options["constraints"] = "\n".join(header.constraints)
        options |= {"minutes": ceil(header.duration_min), "language": self.language}
        await self._do(Command(at=0.0, line=1, who=header.chair, command="meeting start", options=options))

    async def _open_panel(self, header: PanelHeader) -> None:
        """The panel's thread is where everything happens from then on."""
        for name in dict.fromkeys((*header.participants, header.chair)):
            self.server.person(name)
        await self._start_bot()
        self._begun = self.timing.seconds()
        self.observer.begin()
        options: dict[str, Any] = {
            "topic": header.title,
            "roles": "\n".join(f"{role.name}: {role.standpoint}" for role in header.roles),
            "turns": header.turns,
            "language": self.language,
        }
        for name in ("agenda", "constraints"):
            if given := getattr(header, name):
                options[name] = "\n".join(given)
        if header.cap is not None:
            options["cost-cap"] = header.cap
        await self._do(Command(at=0.0, line=1, who=header.chair, command="panel start", options=options))
        self.server.enter_thread()

    async def _reach(self, at: float, stop: Callable[[], bool] = lambda: False) -> None:
        """Let time pass until `at` seconds since the start, the bot coming back on the way if it is due."""
        if self._up_at is not None and self._up_at <= at:
            await self.timing.run_until(self._begun + self._up_at)
            await self._come_back()
        await self.timing.run_until(self._begun + at, stop)

    async def _run_on(self) -> None:
        planned = self.scenario.header.duration_min * 60
        limit = max(planned + LONGEST_OVERTIME_S, self.scenario.last_at + AFTER_LAST_EVENT_S)
        await self._reach(limit, lambda: self.minutes_messages > 0)
        if self._up_at is not None:
            await self._come_back()
        await self._reach(self._now() + AFTERMATH_S)

    def _now(self) -> float:
        return self.timing.seconds() - self._begun

    async def _do(self, event: Event) -> None:
        try:
            await self._act(event)
        except Impossible as impossible:
            self.problems.append(f"line {event.line}: {impossible}")
            self.show({"at": self._now(), "kind": "problem", "text": str(impossible)})
        await self.timing.settle()

    async def _act(self, event: Event) -> None:
        match event:
            case Say():
                self._say(event)
            case Edit(who=who, edit=ref, say=text):
                self._show_act(who, "edits", f"{ref}: {text}")
                self.server.edit(ref, text)
            case Delete(who=who, delete=ref):
                self._show_act(who, "deletes", ref)
                self.server.delete(ref)
            case React(who=who, react=emoji, to=ref):
                self._show_act(who, "reacts", emoji)
                self.server.react(who, emoji, ref)
            case Command() | Click() | Menu():
                await self._interact(event)
            case Restart():
                await self._go_away(event)
            case Fault(fault=side):
                self._show_act(side, "fails", f"{event.status or event.error}")
                (self.model_faults if side == "model" else self.discord_faults).arm(event)
            case Wait():
                pass

    def _say(self, event: Say) -> None:
        to_bot = event.reply_to == BOT
        message = self.server.say(event.who, event.say, ref=event.ref, reply_to=event.reply_to, bot=event.bot)
        self.observer.add("human", who=event.who, text=event.say, message_id=str(message.id))
        plain = unicodedata.normalize("NFKC", event.say)
        if not event.bot and (to_bot or _ASSISTANT.search(plain) or _ADDRESSED.search(plain)):
            self.observer.debts.owe(event.who, "addressed the bot")

    async def _interact(self, event: Command | Click | Menu) -> None:
        options = ""
        match event:
            case Command(command=name):
                name = name.strip().removeprefix("/")
                self._acting = (event.who, f"command /{name}")
                options = _options(name, event.options, self.language)
            case Click(click=label):
                self._acting = (event.who, f"button {label}")
            case Menu(menu=name):
                self._acting = (event.who, f"menu {name}")
        who, why = self._acting
        self._show_act(who, "uses", why.partition(" ")[2] + options)
        if self._up_at is not None:
            raise Impossible(f"{why}: the application did not respond (the bot is away)")
        match event:
            case Command():
                await self.server.command(who, name, event.options)
            case Click():
                await self.server.click(who, event.click)
            case Menu():
                await self.server.menu(who, event.menu, event.to)

    def _owe(self) -> None:
        if self._acting is not None:
            self.observer.debts.owe(*self._acting)
            self._acting = None

    def _show_act(self, who: str, act: str, text: str) -> None:
        self.show({"at": self._now(), "kind": "act", "who": who, "act": act, "text": text})

    # -- the bot's own comings and goings

    async def _start_bot(self) -> None:
        seam = Seam(
            now=self.env.now,
            wait=self.timing.wait,
            watch=self.observer.notified,
            wrap_model=lambda model: FaultyModel(model, self.model_faults, self.timing.sleep),
        )
        bot = await self.host.start(seam)
        self.timing.attached = True
        if self.env._started:
            await _attach_bot(self.env, bot)
        else:
            self.env.bot = bot
            await self.env.start()

    async def _go_away(self, event: Restart) -> None:
        self._show_act(BOT_NAME, "crashes" if event.crash else "restarts", f"{event.down_s:g}")
        if self._up_at is None:
            if event.crash:
                await self.env._detach_bot()
            await self.host.stop(crashed=event.crash)
            if not event.crash:
                await self.env._detach_bot()
            self.timing.attached = False
            self.observer.debts.bot_left()
        self._up_at = max(self._up_at or 0.0, event.at + event.down_s)
        if event.down_s == 0:
            await self._come_back()

    async def _come_back(self) -> None:
        self._up_at = None
        self.observer.debts.bot_came_back()
        self._show_act(BOT_NAME, "returns", "")
        await self._start_bot()

    async def _leave(self) -> None:
        if self.timing.attached:
            await self.host.stop(crashed=False)
            self.timing.attached = False
        if self.env._started:
            with suppress(TimeoutError):
                await self.env.shutdown()

    # -- the end

    async def _read_records(self) -> None:
        for meeting_id in self.observer.meetings:
            self.lines.append({"kind": "ledger", "entries": await self.host.ledger(meeting_id)})
            minutes = await self.host.minutes(meeting_id)
            if minutes is not None:
                self.lines.append(
                    {"kind": "minutes", "text": minutes["text"], "document": minutes["document"]}
                )

    def _summarise(self, wall_s: float) -> None:
        unanswered = self.observer.debts.close()
        kinds = Counter(line["kind"] for line in self.lines)
        sources = Counter(line["source"] for line in self.lines if line["kind"] == "generation")
        made = _made(self.lines)
        # What a person was told they cannot do is no fault of the bot.
        faults = [e for e in self.env.errors if not isinstance(e.__cause__ or e, UserError)]
        errors = [f"{type(e).__name__}: {e}" for e in faults]
        summary: Line = {
            "kind": "summary",
            "minutes_messages": self.minutes_messages,
            "posts": kinds["post"],
            "generations": made.get("generations", kinds["generation"]),
            **{s: made.get(s, sources[s]) for s in ("rephrased", "completed", "restored", "fixed", "silent")},
            "longest_wait_s": round(self.observer.debts.longest, 3),
            "longest_wait_present_s": round(self.observer.debts.longest_present, 3),
            "unanswered": unanswered,
            "problems": [*self.problems, *(s.split("\n")[0] for s in self.timing.stalls), *errors],
            "wall_s": round(wall_s, 3),
        }
        self.lines.append(summary)
        self.show(summary)


def _options(command: str, options: Mapping[str, Any], language: Language) -> str:
    """What a person gave with a command, each option under the name that people see, on one line."""
    known, key = book(language), f"command.{command.replace(' ', '.')}.options"
    told = []
    for name, value in options.items():
        shown = known.get(f"{key}.{name.replace('-', '_')}.name", name)
        told.append(f" {shown}: {shorten('; '.join(str(value).splitlines()), OPTION)}")
    return "".join(told)


def _made(lines: Sequence[Line]) -> Counter[str]:
    """What the minutes say was generated, so that they and the summary agree: texts out of the record, for which no
    engine was asked, count as fixed there. Empty without minutes."""
    counted: Counter[str] = Counter()
    for line in lines:
        if line["kind"] == "minutes":
            made = line["document"].get("made", {})
            counted.update({name: n for name, n in made.items() if name in COUNTED})
    return counted

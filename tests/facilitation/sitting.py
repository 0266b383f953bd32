"""One meeting of the real application in virtual time: real store, in-memory Discord, a model by script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.app import App, build
from bot.facilitation.requests import Person, StartRequest
from bot.meeting.ledger import fold
from bot.meeting.model import ChannelKind, Entry, LedgerView, MeetingState, Phase, Route, Scene
from bot.minutes.verify import faults
from bot.models.base import Draft, Out, Request, Usage
from bot.models.offline import respond
from bot.prompts.outputs import EntryOut, MinutesItem, MinutesOut, TurnOut
from bot.settings import Settings
from bot.stage import Place
from bot.store import audit, ledger, minutes
from bot.store.engine import Database
from tests.crash.instant import Folder, run_instant
from tests.crash.world import Link, Posted, Tap, World

EPOCH = datetime(2026, 9, 1, 0, 0, tzinfo=UTC)
PEOPLE = {"佐藤": 11, "鈴木": 12, "田中": 13, "Maya": 14, "Tom": 15, "@everyone": 16}
PLACE = Place(900, 901)
Answer = Callable[[Scene], Any]


def minutes_only(scene: Scene) -> Any:
    """Finds nothing, says little: what stands in the record then is what people put there."""
    if scene.route is Route.MINUTES:
        return MinutesOut()
    return respond(scene).model_copy(update={"entries": []}) if scene.route is not Route.TURN else TurnOut()


def finds(*claims: EntryOut, prose: Callable[[Scene], MinutesOut] | None = None) -> Answer:
    """Claims these entries on every turn from the one on that has anything to read."""

    def answer(scene: Scene) -> Any:
        if scene.route is Route.MINUTES and prose is not None:
            return prose(scene)
        if scene.route in (Route.TURN, Route.CLOSING) and scene.unread:
            return TurnOut(entries=list(claims), phase=Phase.DISCUSSING)
        return minutes_only(scene)

    return answer


def writes(summary: str, *items: tuple[str, str]) -> Callable[[Scene], MinutesOut]:
    return lambda scene: MinutesOut(
        summary=summary, items=[MinutesItem(agenda=agenda, text=text) for agenda, text in items]
    )


class ScriptedModel:
    """Implements `Model`; `answer` may raise what a provider raises."""

    name = "scripted"

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.asked: list[Scene] = []

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        self.asked.append(request.scene)
        said = self._answer(request.scene)
        await asyncio.sleep(1.0)
        return Draft(said, Usage(100, 10, 20), "scripted-1", 1000)

    async def close(self) -> None:
        return None


@dataclass(frozen=True)
class Closed:
    """What a meeting left behind. `posts`: the bot's texts in the channel, as they read at the end."""

    entries: list[Entry]
    view: LedgerView
    document: dict[str, Any]
    text: str
    posts: list[str]
    published: list[Posted]

    def texts(self, section: str) -> list[str]:
        return [part["text"] for part in self.document[section]]


class Sitting:
    def __init__(self, url: str, answer: Answer | None = None, *, tap: Tap | None = None) -> None:
        self.url, self.world, self._tap = url, World(self.now), tap
        self.model = ScriptedModel(answer or minutes_only)
        self.app: App | None = None
        self.meeting_id = 0
        self.place = PLACE
        self._clicks = 100

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=asyncio.get_running_loop().time())

    @property
    def meetings(self) -> Any:
        assert self.app is not None
        return self.app.meetings

    @property
    def room(self) -> Any:
        return self.meetings.room(self.meeting_id)

    @property
    def view(self) -> LedgerView:
        return self.room.view  # type: ignore[no-any-return]

    async def wake(self) -> None:
        """A process comes up, with everything it knows in the database."""
        self.app = build(
            Settings(database_url=self.url, model="offline", seed=1),
            self.now,
            wrap_model=lambda _: self.model,
        )
        await self.app.open()
        self.app.attach(Link(self.world, self._tap))
        await self.app.meetings.recover()

    async def sleep(self) -> None:
        assert self.app is not None
        await self.app.close()

    async def start(
        self,
        *,
        language: str = "ja",
        title: str = "料金会議",
        constraints: Sequence[str] = (),
        agenda: Sequence[str] = (),
        minutes: int = 60,
        place: Place = PLACE,
        chair: str = "佐藤",
    ) -> None:
        if self.app is None:
            await self.wake()
        self.place = place
        request = StartRequest(
            place, ChannelKind.TEXT, self.person(chair), title, tuple(agenda), tuple(constraints), minutes,
            language, None,
        )  # fmt: skip
        self.meeting_id = (await self.meetings.start(request)).id
        await asyncio.sleep(5)

    def person(self, who: str) -> Person:
        return Person(PEOPLE[who], who, manager=False)

    def click(self) -> int:
        self._clicks += 1
        return self._clicks

    async def say(self, who: str, text: str, *, reply_to: int | None = None, bot: bool = False) -> int:
        channel = self.place.channel_id
        message_id = self.world.person_says(channel, PEOPLE[who], who, text, reply_to)
        seen = self.world.seen(self.world.find(channel, message_id))
        await self.meetings.receive(self.place, replace(seen, bot=bot))
        await asyncio.sleep(0.5)
        return message_id

    async def talk(self, *lines: tuple[str, str]) -> list[int]:
        """Each line with its quiet and its turn behind it."""
        ids = []
        for who, text in lines:
            ids.append(await self.say(who, text))
            await asyncio.sleep(8)
        return ids

    async def edit(self, message_id: int, text: str, *, heard: bool = True) -> None:
        self.world.person_edits(self.place.channel_id, message_id, text)
        if heard:
            await self.meetings.edited(self.place, message_id, text, self.now())

    async def delete(self, message_id: int, *, heard: bool = True) -> None:
        self.world.person_deletes(self.place.channel_id, message_id)
        if heard:
            await self.meetings.deleted(self.place, [message_id], self.now())

    async def react(
        self, who: str, message_id: int, emoji: str, *, added: bool = True, heard: bool = True
    ) -> None:
        person, channel = self.person(who), self.place.channel_id
        if added:
            self.world.person_reacts(channel, message_id, person.id, person.name, emoji)
        else:
            self.world.person_takes_back(channel, message_id, person.id, emoji)
        if heard:
            await self.meetings.reacted(self.place, message_id, self.person(who), emoji, added)

    def said(self) -> list[str]:
        """The bot's posts in the channel so far."""
        return [m.text for m in self.world.channels[self.place.channel_id] if m.mine]

    async def read_back(self) -> str:
        """Ask for the end; the read-back as posted."""
        await self.meetings.end(self.place, self.person("佐藤"), now=False, interaction_id=self.click())
        await asyncio.sleep(5)
        assert self.room.meeting.state is MeetingState.READ_BACK
        return self.said()[-1]

    async def close(self, *, ask: bool = True) -> Closed:
        """To the minutes: by wish and window, or at once where `ask` is False."""
        if self.room.meeting.state is MeetingState.OPEN:
            await self.meetings.end(self.place, self.person("佐藤"), now=not ask, interaction_id=self.click())
        await asyncio.sleep(300)
        return await self.left()

    async def left(self) -> Closed:
        assert self.app is not None
        meeting_id = self.meeting_id
        stored = await self.app.db.unit(lambda c: minutes.get(c, meeting_id))
        assert stored is not None, "no minutes are stored"
        assert await self.app.minutes.closed(meeting_id)
        entries = await self.app.db.unit(lambda c: ledger.everything(c, meeting_id))
        published = [
            m for m in self.world.mine if m.post and any(f.name == "minutes.md" for f in m.post.files)
        ]
        return Closed(
            entries, fold(entries), json.loads(stored.document), stored.text, self.said(), published
        )


def held(
    story: Callable[[Sitting], Coroutine[Any, Any, None]],
    answer: Answer | None = None,
    *,
    tap: Tap | None = None,
) -> None:
    """Run one story on a fresh database, and hold what it left against `ketsugi verify`."""
    folder = Folder()
    try:
        url = folder.fresh()

        async def main() -> None:
            sitting = Sitting(url, answer, tap=tap)
            try:
                await story(sitting)
            finally:
                await sitting.sleep()
            await _verified(url, sitting.now())

        run_instant(main())
    finally:
        folder.close()


async def _verified(url: str, now: datetime) -> None:
    database = Database(url, read_only=True)
    await database.open()
    for meeting_id in await database.unit(audit.meeting_ids):
        found = await database.unit(lambda c, meeting_id=meeting_id: faults(c, meeting_id, now))  # type: ignore[misc]
        assert not found, [str(fault) for fault in found]
    await database.close()

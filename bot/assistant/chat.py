"""One-to-one chat by direct message: one answer at a time for each person, shown while it is written.

State lives in Discord: the conversation is read from the channel's history, and nothing of it is stored. After a
restart nothing is taken up again; a message that was being written then still carries its mark of being
unfinished, and the person simply writes again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from zoneinfo import ZoneInfo

from bot import phrases
from bot.assistant import talk
from bot.assistant.asked import is_question
from bot.assistant.call import relevant
from bot.assistant.line import Line
from bot.assistant.shelf import Reader, Shelf
from bot.assistant.showing import Showing
from bot.assistant.talk import Asked
from bot.clock import Deadline
from bot.errors import StageError
from bot.facilitation.core import Core
from bot.facilitation.policy import FREE
from bot.facilitation.signs import keep_typing
from bot.guard.generator import Generator
from bot.meeting.model import LANGUAGES, Language, Route
from bot.meeting.outside import NOWHERE
from bot.meeting.text import fold, is_japanese
from bot.stage import Seen
from bot.store import chats
from bot.store.engine import Connection
from bot.supervision import log_failure

log = logging.getLogger(__name__)

KNOWN = 20  # messages of the conversation that an answer knows
GATHER_S = 5.0  # for reading history and record, of the time a person waits
POSTING_S = 1.5
SERVERS = 25  # looked at for one answer: each costs a request of the person's roles there
FINISHING_S = 2.0  # of the grace at the end of a process, for the last edit
_REMEMBERED = 1000


@dataclass
class _Talk:
    """One person who is being answered. Only the newest messages wait; the history holds the others.

    `said`: answers of this run. What waits was written before them, so that a reading of the channel up to it
    does not hold them.
    """

    line: Line
    pending: deque[Seen] = field(default_factory=lambda: deque(maxlen=KNOWN))
    said: deque[Seen] = field(default_factory=lambda: deque(maxlen=KNOWN))


class Chat:
    """`offline` makes the answers that no model may be asked for; `per_day`: answers a person has a day."""

    def __init__(self, core: Core, shelf: Shelf, offline: Generator, per_day: int) -> None:
        self._core, self._shelf, self._offline, self._per_day = core, shelf, offline, per_day
        self._talks: dict[int, _Talk] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._deadlines: set[Deadline] = set()
        self._answered: OrderedDict[int, int] = OrderedDict()  # newest message answered, by channel
        self._closing = False

    async def receive(self, line: Line, seen: Seen) -> None:
        """A message of a person; returns at once. Messages that come during an answer share the next one."""
        if self._closing or seen.message_id <= self._answered.get(line.channel_id, 0):
            return
        known = self._talks.get(line.channel_id)
        if known is not None:
            if all(seen.message_id != waiting.message_id for waiting in known.pending):
                known.pending.append(seen)
            return
        made = self._talks[line.channel_id] = _Talk(line)
        made.pending.append(seen)
        task = asyncio.get_running_loop().create_task(self._converse(made), name="ketsugi-chat")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self, grace: float = 6.0) -> None:
        """Take nothing more; what is being answered ends within `grace` seconds, with what there is by then."""
        self._closing = True
        for deadline in self._deadlines:
            deadline.shorten(max(0.0, grace - FINISHING_S))
        if self._tasks:
            _, late = await asyncio.wait(set(self._tasks), timeout=grace)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _converse(self, talking: _Talk) -> None:
        channel = talking.line.channel_id
        try:
            while talking.pending and not self._closing:
                batch = tuple(sorted(talking.pending, key=lambda seen: seen.message_id))
                talking.pending.clear()
                self._remember(channel, batch[-1].message_id)
                try:
                    await self._answer(talking, batch)
                except Exception as error:  # what was written meanwhile is answered all the same
                    log_failure("a direct message was not answered", error)
        finally:
            self._talks.pop(channel, None)

    def _remember(self, channel: int, message_id: int) -> None:
        self._answered[channel] = message_id
        self._answered.move_to_end(channel)
        if len(self._answered) > _REMEMBERED:
            self._answered.popitem(last=False)

    async def _answer(self, talking: _Talk, batch: Sequence[Seen]) -> None:
        line = talking.line
        deadline = Deadline(max(1.0, self._core.limits.deadline_s - POSTING_S))
        self._deadlines.add(deadline)
        shown = keep_typing(self._core.clock, line.typing)
        typing = asyncio.get_running_loop().create_task(shown, name="ketsugi-chat-typing")
        language = _language(batch, "en")
        showing = Showing(line, self._core.clock, language, batch[-1].message_id)

        def show(text: str) -> None:
            typing.cancel()
            showing.show(text)

        try:
            text = fixed(batch, language)
            if text is None:
                asked, reader = await self._gather(talking, batch, deadline)
                generator = self._offline if asked.free else self._core.generator
                still = partial(self._shelf.still, asked.passages, reader)
                text = await talk.make(self._core, generator, asked, deadline, show, still)
        except Exception as error:
            log_failure("a direct message was not answered as it should be", error)
            text = phrases.t("chat.unavailable", language)
        except asyncio.CancelledError:
            showing.stop()
            raise
        finally:
            self._deadlines.discard(deadline)
            typing.cancel()
        try:
            if await showing.finish(text):
                talking.said.append(self._own(showing, text))
            else:
                log.warning("a direct message could not be answered: Discord takes none")
        finally:
            showing.stop()

    def _own(self, showing: Showing, text: str) -> Seen:
        return Seen(showing.message_id or 0, 0, "", text, self._core.clock.now(), mine=True, bot=True)

    # ------------------------------------------------------------------ what an answer may know

    async def _gather(
        self, talking: _Talk, batch: Sequence[Seen], deadline: Deadline
    ) -> tuple[Asked, Reader]:
        """What is asked, with all that an answer may know, and what the person may read."""
        line = talking.line
        question = "\n".join(seen.text for seen in batch if seen.text.strip())
        history = await self._history(talking, batch, deadline)
        before = [seen for seen in history if not seen.mine]
        language = _language(batch, _language(before, "en"))
        remark = await self._refusal(line.user_id, language)
        remarks = [remark] if remark is not None else []
        if any(seen.files for seen in batch):
            remarks.append("files")
        reader = await self._reader(line, deadline)
        if reader is None:
            remarks.append("no_record")
            reader = Reader(line.user_id)
        now = self._core.clock.now()
        passages = await self._shelf.find(reader, question, language=language, now=now)
        if (
            before and is_question(question) and not relevant(passages)
        ):  # "And when?" is about what was asked before
            followed = f"{before[-1].text}\n{question}"
            passages = await self._shelf.find(reader, followed, language=language, now=now)
        free = remark is not None
        if not (free or relevant(passages)):
            passages = ()  # a greeting is about no meeting
        return Asked(line.user_id, language, question, tuple(history), passages, tuple(remarks), free), reader

    async def _history(self, talking: _Talk, batch: Sequence[Seen], deadline: Deadline) -> list[Seen]:
        """What was said before these messages; without it an answer is poorer, but there is one.

        Without what was said before the person opted in again, our answers to it included.
        """
        since = await self._core.db.unit(lambda c: chats.heard_from(c, talking.line.user_id))
        try:
            async with deadline.timeout(GATHER_S):
                found = await talking.line.recent(batch[0].message_id, KNOWN)
        except (StageError, TimeoutError) as error:
            log_failure("the history of a direct conversation was not read", error)
            found = []
        known = {seen.message_id for seen in found}
        found += [seen for seen in talking.said if seen.message_id not in known]
        heard = [seen for seen in found if since is None or seen.at > since]
        return [seen for seen in heard if seen.text.strip()][-KNOWN:]

    async def _reader(self, line: Line, deadline: Deadline) -> Reader | None:
        guilds = await self._core.db.unit(lambda c: chats.servers_of(c, line.user_id, SERVERS))
        try:
            async with deadline.timeout(GATHER_S):
                return await line.reader(guilds)
        except (StageError, TimeoutError) as error:
            log_failure("what a person may read is unknown", error)
            return None

    async def _refusal(self, user_id: int, language: Language) -> str | None:
        """Why no model is asked, as key of `chat.remark`, or None; then one of the day's answers is taken."""
        core = self._core
        now = core.clock.now()
        zone = ZoneInfo(core.policy.timezone(core.policy.settings(NOWHERE), language))
        day = now.astimezone(zone).date()

        async def work(c: Connection) -> str | None:
            if await chats.opted_out_anywhere(c, user_id):
                return "opted_out"
            if core.model_name(Route.CHAT) == FREE:
                return None
            await core.policy.count(c, NOWHERE, now)
            if core.policy.reached(NOWHERE):
                return "used_up"
            free = await chats.take(c, user_id, day, self._per_day, core.salt)
            return None if free else "cap"

        return await core.db.unit(work)


def fixed(batch: Sequence[Seen], language: Language) -> str | None:
    """The answer to what needs no thought: nothing to read, a wish for help, a command typed here."""
    texts = [seen.text.strip() for seen in batch if seen.text.strip()]
    if not texts:
        files = any(seen.files for seen in batch)
        return phrases.t("chat.only_files" if files else "chat.nothing_to_read", language)
    if len(texts) > 1:
        return None
    word = fold(texts[0]).strip("!?.。、/ ")
    if any(word in phrases.words(spoken).lists.get("chat.help", ()) for spoken in LANGUAGES):
        return phrases.t("chat.help", language)
    return phrases.t("chat.command", language) if texts[0].startswith("/") and len(word) < 80 else None


def _language(messages: Sequence[Seen], otherwise: Language) -> Language:
    """Of the newest message that has letters."""
    for seen in reversed(messages):
        if is_japanese(seen.text):
            return "ja"
        if any(char.isalpha() for char in seen.text):
            return "en"
    return otherwise

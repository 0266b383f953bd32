"""One message in a direct conversation that grows while it is written, and its end.

It is posted with the first text, edited at most once a second, and ends exactly once: as the one message with the
final text, or, where Discord lets it be changed no more, followed by one that has it.
"""

from __future__ import annotations

import asyncio
import contextvars
import hashlib

from bot.assistant.line import Line
from bot.clock import Clock
from bot.errors import StageError
from bot.meeting.model import Language, Persona
from bot.stage import Busy, Outgoing, Refused, Uncertain
from bot.supervision import log_failure

EVERY_S = 1.0  # between two edits; Discord takes five in five seconds
UNFINISHED = " …"  # at the end of every text but the last: a crash leaves nothing that looks finished
TRIES = 4
BUSY_AT_MOST_S = 10.0  # of a rate limit, waited for once the answer is complete
_LOOKED_AT = 20


class Showing:
    """`answers`: id of the newest message it answers; together with the channel it makes the nonce.

    `edits` counts requests that changed the message; `first_at` is the loop's time of the first text shown.
    """

    def __init__(self, line: Line, clock: Clock, language: Language, answers: int) -> None:
        self._line, self._clock, self._language, self._answers = line, clock, language, answers
        # Text comes from a provider's own task; what it starts belongs to the conversation's context.
        self._context = contextvars.copy_context()
        self._task: asyncio.Task[None] | None = None
        self._free_at = 0.0
        self._wanted = self._shown = ""
        self._id: int | None = None
        self._said: list[str] = []  # texts that may stand in Discord though nobody confirmed it
        self._part = 0
        self._unsure = self._frozen = self._refused = self._done = False
        self.edits = 0
        self.first_at: float | None = None

    @property
    def message_id(self) -> int | None:
        return self._id

    def show(self, text: str) -> None:
        """More of the text; returns at once. Nothing is shown any more once `finish` was called."""
        self._wanted = text + UNFINISHED
        if not self._done and (self._task is None or self._task.done()):
            loop = asyncio.get_running_loop()
            self._task = loop.create_task(self._keep_up(), name="ketsugi-direct", context=self._context)

    async def finish(self, text: str) -> bool:
        """The final text; True where a person can read it now. Raises nothing but cancellation."""
        self._done = True
        if self._task is not None:
            await asyncio.wait({self._task})
        for number in range(TRIES):
            if self._refused:
                return False
            if self._frozen or (number == TRIES - 1 and self._id is not None):
                if await self._stands(text):
                    return True
                self._begin_anew()
            if await self._send(text):
                return True
            self._free_at = max(self._free_at, _time() + EVERY_S * 2**number)
        return False

    def stop(self) -> None:
        """Send nothing more: the process ends, or the end was reached."""
        self._done = True
        if self._task is not None:
            self._task.cancel()

    async def _keep_up(self) -> None:
        while not (self._done or self._frozen or self._refused) and self._wanted != self._shown:
            await self._pause()
            if not self._done:
                await self._send(self._wanted)

    async def _pause(self) -> None:
        delay = min(self._free_at - _time(), BUSY_AT_MOST_S)
        if delay > 0:
            await self._clock.sleep(delay, "until the next edit")

    async def _send(self, text: str) -> bool:
        """One request at most, after the pause that is due; whether `text` is visible now."""
        await self._pause()
        if self._id is not None and self._shown == text:
            return True
        self._free_at = _time() + EVERY_S
        try:
            await self._put(text)
        except Busy as busy:
            self._free_at = _time() + busy.retry_after
        except Refused as refused:
            if self._id is None:
                self._refused = True  # they take no direct messages, or the channel is gone
            else:
                self._frozen = True
            log_failure("a direct message was refused", refused)
        except StageError:
            pass  # perhaps done: the next request finds out
        else:
            self._shown = text
            self.first_at = self.first_at if self.first_at is not None else _time()
            return True
        return False

    async def _put(self, text: str) -> None:
        if self._id is None and self._unsure:
            self._id = await self._find()
        post = Outgoing(text, Persona.ASSISTANT, self._language, nonce=self._nonce())
        if self._id is not None:
            await self._line.edit(self._id, post)
            self.edits += 1
            return
        self._said.append(text)
        before = self._unsure
        try:
            self._id = await self._line.say(post)
        except Uncertain:
            self._unsure = True
            raise
        if before:  # the nonce may have brought back the earlier message, with the earlier text
            await self._line.edit(self._id, post)

    async def _find(self) -> int | None:
        """A post of this answer whose confirmation was lost: ours, newer than the question, in its words."""
        for seen in reversed(await self._line.recent(None, _LOOKED_AT)):
            if seen.message_id <= self._answers:
                return None
            if seen.mine and seen.text.strip() in {said.strip() for said in self._said}:
                return seen.message_id
        return None

    async def _stands(self, text: str) -> bool:
        """Whether our message has this text already: an edit was applied and only its confirmation lost."""
        try:
            found = await self._line.recent(None, _LOOKED_AT)
        except StageError:
            return False
        return any(seen.message_id == self._id and seen.text.strip() == text.strip() for seen in found)

    def _begin_anew(self) -> None:
        """The message can be changed no more: the next request posts another one."""
        self._part += 1
        self._id, self._shown, self._said = None, "", []
        self._unsure = self._frozen = False

    def _nonce(self) -> str:
        made = f"direct:{self._line.channel_id}:{self._answers}:{self._part}"
        return hashlib.sha256(made.encode()).hexdigest()[:25]


def _time() -> float:
    return asyncio.get_running_loop().time()

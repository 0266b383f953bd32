"""The port to one direct conversation. Implementations: `cogs._direct` and the tests' own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bot.assistant.shelf import Reader
from bot.stage import Outgoing, Seen


class Line(Protocol):
    """One person's direct channel with the bot. Methods raise only StageError (`bot.stage`)."""

    @property
    def channel_id(self) -> int: ...

    @property
    def user_id(self) -> int: ...

    async def say(self, post: Outgoing) -> int:
        """Post; returns the message id."""

    async def edit(self, message_id: int, post: Outgoing) -> None:
        """Make a message of ours look like `post` (idempotent)."""

    async def typing(self) -> None:
        """One typing indicator; never raises, never keeps anyone waiting."""

    async def recent(self, before: int | None, limit: int) -> list[Seen]:
        """The newest `limit` messages with an id below `before` (None: of all), oldest first."""

    async def reader(self, guild_ids: Sequence[int]) -> Reader:
        """What this person can read at this moment of these servers; servers they are not on are left out."""

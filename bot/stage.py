"""The port through which use cases reach Discord. Implementations: `cogs._stage` and `tests.fakes`.

Posts are values with their bytes fixed beforehand (they come out of the outbox), so that a second
attempt sends exactly what the first one sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from bot.errors import StageError
from bot.meeting.model import Language, Persona

# How a mention of the bot reads in a stored message, whatever nickname it has on a server: being addressed must be
# recognisable again after a restart.
BOT_NAME = "Ketsugi"


@dataclass(frozen=True, slots=True)
class Place:
    """A channel or thread. The server id is part of every key (RELIABILITY.md, security)."""

    guild_id: int
    channel_id: int


@dataclass(frozen=True, slots=True)
class Button:
    """`action` with the meeting's id makes the persistent custom id "ketsugi:<action>:<meeting id>"."""

    action: str  # extend, end, correct, close_now, keep_going, confirm_all ...
    label: str
    style: Literal["primary", "secondary", "success", "danger"] = "secondary"
    disabled: bool = False


@dataclass(frozen=True, slots=True)
class Embed:
    title: str = ""
    description: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    footer: str = ""


@dataclass(frozen=True, slots=True)
class Attachment:
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message as it is to be seen. `text` excludes the persona's bold name line, which the stage adds."""

    text: str
    persona: Persona = Persona.SYSTEM
    language: Language = "en"
    embeds: tuple[Embed, ...] = ()
    files: tuple[Attachment, ...] = ()
    buttons: tuple[Button, ...] = ()
    meeting_id: int | None = None  # for button ids
    reply_to: int | None = None
    nonce: str | None = None
    pin: bool = False
    speaker: str = ""  # an AI participant's name: shown instead of the bot's (webhook), or as a bold prefix
    webhook_id: int | None = None  # through which `speaker` speaks; None = by prefix


@dataclass(frozen=True, slots=True)
class Seen:
    """A message found in a channel's history."""

    message_id: int
    author_id: int
    author_name: str
    text: str  # own posts: without the name line, as `Outgoing.text` had it
    at: datetime
    mine: bool
    bot: bool
    reply_to: int | None = None
    edited_at: datetime | None = None
    embed_footers: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    mentions_me: bool = False
    webhook_id: int | None = None
    reactions: tuple[tuple[str, int], ...] = ()  # emoji and how many put it, ourselves not counted


class Uncertain(StageError):
    """The request may or may not have been applied (timeout, reset, 5xx): look before sending again."""


class Refused(StageError):
    """Certainly not applied, and sending the same again will not help.

    reason: "gone" (10003, 10004, 10008), "forbidden" (50001, 50013), "locked" (160005), "too_old" (30046), "invalid",
    "no_webhook" (then `detail` says why: "forbidden", "deleted", "full", "kind").
    """

    def __init__(
        self,
        reason: Literal["gone", "forbidden", "locked", "too_old", "invalid", "no_webhook"],
        detail: str = "",
    ) -> None:
        super().__init__(f"{reason} {detail}".strip())
        self.reason, self.detail = reason, detail


class Busy(StageError):
    """Certainly not applied; try again after `retry_after` seconds (rate limit, 503)."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"retry after {retry_after:g} s")
        self.retry_after = retry_after


class Stage(Protocol):
    """Every method raises only StageError subclasses (Uncertain, Refused, Busy)."""

    async def say(self, place: Place, post: Outgoing) -> int:
        """Post; returns the message id."""

    async def webhook(self, place: Place, known: int | None) -> int:
        """The id of our webhook for a channel or thread, found or made; Refused("no_webhook") where there can be
        none, or where the one `known` from before is no more."""

    async def edit(self, place: Place, message_id: int, post: Outgoing) -> None:
        """Make a message of ours look like `post` (idempotent)."""

    async def delete(self, place: Place, message_id: int) -> None:
        """Take a message of ours away; Refused("gone") where it is gone already."""

    async def react(self, place: Place, message_id: int, emoji: str) -> None:
        """Add our reaction (idempotent)."""

    async def reactors(self, place: Place, message_id: int, emoji: str) -> list[tuple[int, str]]:
        """(user id, name) of the people who put this reaction; bots, ourselves among them, are left out."""

    async def open_thread(self, place: Place, message_id: int, name: str) -> Place:
        """The thread on a message, made or, where it exists already (160004), found."""

    async def history(self, place: Place, after: int, limit: int | None = None) -> list[Seen]:
        """Messages with id > `after`, oldest first."""

    async def direct_message(self, user_id: int, post: Outgoing) -> int:
        """A direct message to one person; Refused("forbidden") where they take none."""

    async def withdraw(self, user_id: int, message_id: int) -> None:
        """Take a direct message of ours away; Refused("gone") where it is gone already."""

    async def readable_by_all(self, place: Place, other: Place) -> bool:
        """Whether everyone who can read `place` can read `other` too; False where that is not certain."""

    async def typing(self, place: Place) -> None:
        """One typing indicator; never raises, never keeps anyone waiting."""

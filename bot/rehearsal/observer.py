"""What became visible, as lines: read from the simulated Discord, not believed from the bot.

Only what cannot be seen from outside (which route and persona a post had, generations, debts that the bot
alone knows of) is taken from the bot's own notifications, matched by message id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from simcord.backend import Backend
from simcord.backend.models import Message

from bot.rehearsal.debts import Debts

LOADING = 1 << 7  # "thinking ...": nothing to be seen yet
ORDINARY = (0, 19, 20, 23)  # message types with words of their author; the rest are notices of Discord
MINUTES_FILE = "minutes.md"

Line = dict[str, Any]


class Observer:
    """Collects the output lines of one rehearsal; `emit` is told of each as it comes, for the terminal."""

    def __init__(self, backend: Backend, emit: Callable[[Line], None]) -> None:
        self._backend, self._emit = backend, emit
        self.lines: list[Line] = []
        self._begun = 0.0
        self._people: dict[int, str] = {}
        self._posts: dict[int, Line] = {}
        self._said: dict[int, Mapping[str, Any]] = {}  # facts of "posted", by message id
        self._shown: dict[int, Any] = {}
        self.latest_post: tuple[int, int] | None = None  # channel, message
        self.minutes: set[int] = set()  # messages that carry the minutes
        self.meetings: list[int] = []
        self.debts = Debts(self.seconds, self._debt)
        backend.subscribers.insert(0, self._event)

    def begin(self) -> None:
        """This moment is 0 from now on."""
        self._begun = self._backend.clock.elapsed

    def know(self, user_id: int, name: str) -> None:
        self._people[user_id] = name

    def seconds(self) -> float:
        return round(self._backend.clock.elapsed - self._begun, 3)

    def add(self, kind: str, **facts: Any) -> Line:
        line = {"at": self.seconds(), "kind": kind, **facts}
        self.lines.append(line)
        self._emit(line)
        return line

    # -- what the simulated Discord tells

    def _event(self, event: str, payload: Mapping[str, Any]) -> None:
        mine = str(self._backend.bot_user.id)
        if event == "MESSAGE_CREATE" and (payload["author"]["id"] == mine or self._by_webhook(payload)):
            self._created(self._message(payload))
        elif event == "MESSAGE_UPDATE" and payload["author"]["id"] == mine:
            self._changed(self._message(payload))
        elif event == "MESSAGE_DELETE" and int(payload["id"]) in self._shown:
            self._shown.pop(int(payload["id"]))
            self.add("delete", message_id=payload["id"])
        elif event.startswith("MESSAGE_REACTION_") and payload.get("user_id") == mine:
            self._reacted(payload, removed=event.endswith("REMOVE"))

    def _by_webhook(self, payload: Mapping[str, Any]) -> bool:
        """Through a webhook that the bot made: an AI participant under its own name."""
        webhook = self._backend.webhooks.get(int(payload.get("webhook_id") or 0))
        return webhook is not None and webhook.creator_id == self._backend.bot_user.id

    def _message(self, payload: Mapping[str, Any]) -> Message:
        return self._backend.get_message(int(payload["channel_id"]), int(payload["id"]))

    def _created(self, message: Message) -> None:
        if message.type not in ORDINARY or message.flags & LOADING:
            return
        if message.interaction_metadata is not None:
            self._replied(message)
            return
        text = visible_text(message)
        said = self._said.get(message.id, {})
        post = self.add(
            "post",
            where=self._where(message.channel_id),
            by=said.get("persona") or ("panel" if message.webhook_id else persona_of(message.content)),
            route=said.get("route"),
            source=said.get("source"),
            text=text,
            message_id=str(message.id),
            **({"name": name} if (name := message.author_name or said.get("name")) else {}),
            **_extras(message),
        )
        self._posts[message.id] = post
        self._shown[message.id] = _look(message)
        self.latest_post = (message.channel_id, message.id)
        if post["where"] != "direct":
            if MINUTES_FILE in post.get("files", ()):
                self.minutes.add(message.id)
            if post["by"] != "panel":  # whoever waits for the bot is not answered by a panelist
                self.debts.seen_by_all()

    def _changed(self, message: Message) -> None:
        if message.flags & LOADING:
            return
        if message.id not in self._shown:
            self._created(message)
            return
        if self._shown[message.id] == _look(message):
            return
        self._shown[message.id] = _look(message)
        where = self._where(message.channel_id)
        self.add(
            "edit",
            where=where,
            text=visible_text(message),
            message_id=str(message.id),
            board=message.pinned,
            **_extras(message),
        )
        if message.is_ephemeral:
            self.debts.seen_by(self._invoker(message))
        elif message.pinned:
            self.debts.board_changed()
        elif where != "direct":
            self.debts.seen_by_all()

    def _replied(self, message: Message) -> None:
        who = self._invoker(message)
        self.add(
            "reply",
            to=who,
            ephemeral=message.is_ephemeral,
            where=self._where(message.channel_id),
            text=visible_text(message),
            message_id=str(message.id),
            **_extras(message),
        )
        self._shown[message.id] = _look(message)
        if message.is_ephemeral:
            self.debts.seen_by(who)
        else:
            self.debts.seen_by_all()

    def interaction_changed(self, token: str) -> None:
        """Ephemeral messages are announced to nobody: looked up after each answer to an interaction."""
        interaction_id = self._backend.interaction_tokens.get(token)
        if interaction_id is None:
            return
        record = self._backend.interactions[interaction_id]
        if record.modal is not None and not record.modal_consumed and interaction_id not in self._shown:
            self._shown[interaction_id] = record.modal
            who = self._people.get(record.user_id, str(record.user_id))
            self.add("reply", to=who, ephemeral=True, form=True, text=str(record.modal.get("title", "")))
            self.debts.seen_by(who)
        own = self._backend.messages.get(record.channel_id, {})
        for message_id in (record.message_id, *record.followup_ids):
            message = own.get(message_id) if message_id is not None else None
            if message is not None and message.is_ephemeral:
                self._changed(message)

    def _reacted(self, payload: Mapping[str, Any], *, removed: bool) -> None:
        message = self._backend.messages.get(int(payload["channel_id"]), {}).get(int(payload["message_id"]))
        who = self._people.get(message.author_id, message.author_name or "") if message is not None else ""
        extra = {"removed": True} if removed else {}
        self.add(
            "reaction", emoji=payload["emoji"]["name"], on=who, message_id=payload["message_id"], **extra
        )
        self.debts.seen_by(who)

    def _where(self, channel_id: int) -> str:
        channel = self._backend.get_channel(channel_id)
        if channel.guild_id is None:
            return "direct"
        if not channel.is_thread:
            return "channel"
        parent = self._backend.channels.get(channel.parent_id or 0)
        return "forum" if parent is not None and parent.type == 15 else "thread"

    def _invoker(self, message: Message) -> str:
        user_id = int((message.interaction_metadata or {}).get("user", {}).get("id", 0))
        return self._people.get(user_id, str(user_id))

    # -- what only the bot can tell

    def notified(self, kind: str, facts: Mapping[str, Any]) -> None:
        """The bot's notifications: "generation", "posted", "owed", "state"."""
        meeting_id = facts.get("meeting_id")
        if meeting_id is not None and meeting_id not in self.meetings:
            self.meetings.append(meeting_id)
        if kind == "generation":
            known = ("route", "model", "attempts", "source")
            self.add("generation", **{key: facts.get(key) for key in known})
        elif kind == "posted":
            self._posted(int(facts["message_id"]), facts)
        elif kind == "owed":
            self.debts.owe(str(facts.get("who") or "room"), str(facts["why"]))

    def _posted(self, message_id: int, facts: Mapping[str, Any]) -> None:
        self._said[message_id] = facts
        post = self._posts.get(message_id)
        if post is not None:
            post["by"] = facts.get("persona") or post["by"]
            post["route"], post["source"] = facts.get("route"), facts.get("source")
            if facts.get("name"):
                post["name"] = facts["name"]

    def _debt(self, kind: str, who: str, why: str, waited: float) -> None:
        extra = {"waited_s": round(waited, 3)} if kind == "answered" else {}
        self.add(kind, who=who, why=why, **extra)


def persona_of(content: str) -> str:
    """Who speaks, by the bold name line."""
    first = content.partition("\n")[0]
    if first.startswith("**🧭"):
        return "facilitator"
    if first.startswith("**🤖"):
        return "panel"
    return "assistant" if first.startswith("**📝") else "system"


def visible_text(message: Message) -> str:
    """A message's words, its embeds flattened below them."""
    parts = [message.content]
    for embed in message.embeds:
        parts += [embed.get("title", ""), embed.get("description", "")]
        parts += [f"{field['name']}: {field['value']}" for field in embed.get("fields", ())]
        parts.append(embed.get("footer", {}).get("text", ""))
    return "\n".join(part for part in parts if part)


def _look(message: Message) -> tuple[Any, ...]:
    """All of a message that a person can see change."""
    return visible_text(message), str(message.components), tuple(a["filename"] for a in message.attachments)


def _extras(message: Message) -> Line:
    extra: Line = {}
    if message.attachments:
        extra["files"] = [a["filename"] for a in message.attachments]
    if message.reference is not None and message.reference.get("message_id"):
        extra["reply_to"] = str(message.reference["message_id"])
    labels = [b["label"] for b in buttons(message) if b.get("label")]
    if labels:
        extra["buttons"] = labels
    return extra


def buttons(message: Message) -> list[dict[str, Any]]:
    """The buttons under a message, nested ones included."""
    from simcord.components import walk_components

    return [c for c in walk_components(message.components) if c.get("type") == 2]

"""What an operator reads: one line per event of a meeting's life, in ids and counts, in nobody's words."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

log = logging.getLogger("ketsugi")

_FAILED = (
    "timeout",
    "unreachable",
    "rate_limited",
    "server",
    "refused",
    "blocked",
    "invalid",
    "truncated",
    "error",
)


class OperatorLog:
    """Watches what the core tells (`Core.watch`). Facts are picked by name: whatever else comes stays out."""

    def __init__(self) -> None:
        self._degraded = False

    def watch(self, kind: str, facts: Mapping[str, Any]) -> None:
        tell = getattr(self, f"_{kind}", None)
        if tell is not None:
            tell(facts)

    def cap_reached(self, guild_id: int, cap: str) -> None:
        log.warning(
            "server %d: the daily cap on %s is used up, no model is asked until tomorrow", guild_id, cap
        )

    def _started(self, facts: Mapping[str, Any]) -> None:
        log.info(
            "meeting %d started: server %d channel %d, %d min, %d agenda items, %d constraints",
            *(
                facts[name]
                for name in ("meeting_id", "guild_id", "channel_id", "minutes", "agenda", "constraints")
            ),
        )

    def _state(self, facts: Mapping[str, Any]) -> None:
        log.info("meeting %d: state %s", facts["meeting_id"], facts["state"])

    def _published(self, facts: Mapping[str, Any]) -> None:
        log.info(
            "meeting %d: minutes published as message %d (%d entries, %d messages)",
            *(facts[name] for name in ("meeting_id", "message_id", "entries", "messages")),
        )

    def _generation(self, facts: Mapping[str, Any]) -> None:
        failures = [a["failure"] for a in facts["attempts"] if a["failure"] in _FAILED]
        if failures:
            log.warning(
                "meeting %d: %s got no usable answer from %s (%s)",
                facts["meeting_id"],
                facts["route"],
                facts["model"],
                ", ".join(failures),
            )

    def _degraded_now(self, facts: Mapping[str, Any]) -> None:
        if facts["degraded"] == self._degraded:
            return
        self._degraded = facts["degraded"]
        if self._degraded:
            log.warning("the model provider does not answer: the offline engine takes over")
        else:
            log.info("the model provider answers again")

    def _erased(self, facts: Mapping[str, Any]) -> None:
        log.info(
            "erased on server %d: %s, %d meetings touched",
            facts["guild_id"],
            facts["what"],
            facts["meetings"],
        )

    def _swept(self, facts: Mapping[str, Any]) -> None:
        log.info(
            "retention: %d transcripts and %d meetings forgotten", facts["transcripts"], facts["meetings"]
        )

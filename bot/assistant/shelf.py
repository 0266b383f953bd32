"""What of the record a reader may see that fits a question, and the fixed answer made of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot import phrases
from bot.facilitation.core import Core
from bot.facilitation.display import message_link
from bot.meeting import ledger as folding
from bot.meeting import seeking
from bot.meeting.citing import Passage
from bot.meeting.display import brief
from bot.meeting.model import Language
from bot.stage import Place
from bot.store import ledger, search
from bot.store.engine import Connection

MOST = 12


@dataclass(frozen=True, slots=True)
class Reader:
    """`channels`: by server, the channels this person can read at this moment (threads included)."""

    user_id: int
    channels: Mapping[int, Collection[int]] = field(default_factory=dict)


class Shelf:
    def __init__(self, core: Core) -> None:
        self._core = core

    async def find(
        self,
        reader: Reader,
        question: str,
        *,
        language: Language,
        now: datetime,
        room_place: Place | None = None,
    ) -> tuple[Passage, ...]:
        """Passages that fit, best first, the newest first among those that fit equally."""

        async def work(c: Connection) -> list[Passage]:
            found: list[Passage] = []
            for guild, channels in reader.channels.items():
                held, _ = await search.held(c, guild, channels, 200)
                for meeting in held:
                    view = folding.fold(await ledger.everything(c, meeting.id))
                    for item in view.items:
                        at = item.entry.message_id or meeting.kickoff_message_id or meeting.channel_id
                        link = message_link(guild, meeting.channel_id, at)
                        found.append(
                            Passage(
                                cite="", kind="entry", guild_id=guild, meeting_id=meeting.id,
                                title=meeting.title, at=item.entry.at, who=item.entry.author_name,
                                text=item.text, link=link, status=item.status, number=item.number,
                                entry_kind=item.kind, owner=item.owner or "", due=item.due or "",
                            )
                        )  # fmt: skip
            return found

        every = sorted(await self._core.db.unit(work), key=lambda p: p.at, reverse=True)
        ranked = seeking.rank(question, [seeking.normal(p.text) for p in every])
        best = [replace(every[i], score=score) for i, score in ranked[:MOST]]
        return tuple(replace(p, cite=str(n)) for n, p in enumerate(best, start=1))


def fallback(passages: Sequence[Passage], question: str, language: Language) -> str:
    """The fixed answer: what the record says, verbatim and cited, or that it does not say."""
    if not passages:
        return phrases.t("ask.nothing", language)
    lines = [f"- {brief(p.text, 300)} [{p.cite}]" for p in passages[:5]]
    return "\n".join([phrases.t("ask.found", language), *lines])

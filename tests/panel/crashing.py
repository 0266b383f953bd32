"""A short panel that is crashed at any commit, Discord call or model call, and what must hold of it afterwards."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from bot.app import App
from bot.meeting.model import ChannelKind, MeetingState, Message, is_panelist
from bot.panel.order import Turn
from bot.panel.roles import Plan, Role
from bot.store import panels, transcript
from tests.crash.harness import Run
from tests.crash.judging import minutes_messages
from tests.crash.script import CHANNEL, Act, start_request
from tests.crash.world import Posted

ROLES = (
    Role("企画", "遊ぶ人が最初の三分で面白さを感じることを最優先する"),
    Role("開発", "少ない人数で作り切れて、あとから直せる範囲に絞る"),
)
TURNS = 5
ACTS = (
    Act(14, "say", "佐藤", "夏の前に一度試したいと思っています"),
    Act(30, "say", "田中", "決定：体験版は8月末までに出す"),
)


@dataclass
class PanelRun(Run):
    """`tests.crash.harness.Run` with a panel in the place of the meeting."""

    acts: Any = ACTS
    turns: list[Turn] | None = None
    heard: list[Message] | None = None

    async def _begin(self, app: App) -> None:
        await app.meetings.recover()
        if self._kickoff is None and app.meetings.count == 0:
            request = replace(start_request("ja"), channel_kind=ChannelKind.THREAD, panel=Plan(ROLES, TURNS))
            await app.panels.start(replace(request, minutes=0))

    async def _end(self) -> None:
        await super()._end()
        assert self.app is not None
        assert self.out.meeting is not None
        meeting_id = self.out.meeting.id
        self.turns = await self.app.db.unit(lambda c: panels.turns(c, meeting_id))
        said = await self.app.db.unit(lambda c: transcript.everything(c, meeting_id))
        self.heard = [m for m in said if is_panelist(m.author_id)]

    @property
    def posts(self) -> list[Posted]:
        """What panelists said, as Discord has it: through the webhook or by prefix."""
        return [m for m in self.world.channels.get(CHANNEL, []) if m.post is not None and m.post.speaker]


def wrong(run: PanelRun) -> list[str]:
    """Everything that must hold of a panel, whatever happened; [] = it holds."""
    out, turns, heard = run.out, run.turns or [], run.heard or []
    found = []
    if out.meeting is None or out.meeting.state is not MeetingState.CLOSED:
        return ["the meeting was not closed"]
    said = [turn for turn in turns if turn.outcome == "said"]
    if sum(turn.outcome != "failed" for turn in turns) != TURNS:
        found.append(f"{len(turns)} turns were taken")
    if [turn.number for turn in turns] != list(range(1, len(turns) + 1)):
        found.append("a number is missing")
    if [t.role for t in turns if t.outcome != "failed"] != [n % len(ROLES) for n in range(TURNS)]:
        found.append(f"the order was {[t.role for t in turns]}")
    texts = Counter(post.post.text for post in run.posts if post.post)
    if any(count > 1 for count in texts.values()):
        found.append("a turn is seen twice")
    if len(run.posts) != len(said):
        found.append(f"{len(said)} turns said, {len(run.posts)} posts seen")
    if sorted(m.message_id for m in heard) != sorted(p.message_id for p in run.posts):
        found.append("the transcript does not hold the posts")
    if {m.text for m in heard} != set(texts):
        found.append("the transcript has other words")
    if any(e.kind.value == "confirmation" for e in out.entries):
        found.append("something was confirmed")
    if len(minutes_messages(out.world)) != 1:
        found.append(f"{len(minutes_messages(out.world))} minutes messages")
    return found + out.errors

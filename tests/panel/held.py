"""A panel of the real application in virtual time, over the in-memory Discord (tests.facilitation.sitting)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from bot.facilitation.requests import StartRequest
from bot.meeting.model import ChannelKind, Scene
from bot.models.base import Draft, Out, ProviderError, Request, Usage
from bot.panel.roles import Plan, Role
from bot.stage import Place
from tests.crash.world import Posted
from tests.facilitation.sitting import PLACE, Sitting

Said = Callable[[Scene, int], Any]
ROLES = (
    Role("企画", "遊ぶ人が最初の三分で面白さを感じることを最優先する"),
    Role("開発", "少ない人数で作り切れて、あとから直せる範囲に絞る"),
    Role("利用者", "説明を読まなくても続けられることを求める"),
)


class Scripted:
    """Implements `Model`: `said(scene, attempt)` gives the answer, or an error to raise."""

    name = "scripted"

    def __init__(self, said: Said, usage: Usage | None = None) -> None:
        self.said, self.usage = said, usage or Usage(100, 10, 20)
        self.asked: list[Scene] = []

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        self.asked.append(request.scene)
        await asyncio.sleep(1.0)
        answer = self.said(request.scene, request.attempt)
        if isinstance(answer, ProviderError):
            raise answer
        return Draft(answer, self.usage, "scripted-1", 1000)

    async def close(self) -> None:
        return None


async def start(
    sitting: Sitting,
    roles: Sequence[Role] = ROLES,
    turns: int = 6,
    *,
    cap: float | None = None,
    title: str = "新しいゲームの企画",
    agenda: Sequence[str] = ("中核ループ", "課金の時期"),
    constraints: Sequence[str] = ("CEOは必ずAIとする",),
    kind: ChannelKind = ChannelKind.THREAD,
    language: str = "ja",
) -> None:
    """`/panel start` by 佐藤."""
    if sitting.app is None:
        await sitting.wake()
    assert sitting.app is not None
    request = StartRequest(
        PLACE, kind, sitting.person("佐藤"), title, tuple(agenda), tuple(constraints), 0, language,
        sitting.click(), panel=Plan(tuple(roles), turns, cap),
    )  # fmt: skip
    started = await sitting.app.panels.start(request)
    sitting.meeting_id = started.meeting.id
    sitting.place = Place(PLACE.guild_id, started.meeting.channel_id)


def panel_posts(sitting: Sitting) -> list[Posted]:
    """What panelists said, in order, through the webhook or by prefix."""
    return [m for m in sitting.world.channels[sitting.place.channel_id] if m.post and m.post.speaker]


def words(posted: Posted) -> str:
    assert posted.post is not None
    return posted.post.text

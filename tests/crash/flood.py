"""10,000 messages in one minute in one channel, beside ordinary meetings: who waits, and for what."""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Callable
from typing import Any

from bot.meeting.model import Meeting
from bot.meeting.schedule import notices
from bot.stage import Place
from bot.store import overview
from tests.crash.injecting import EPOCH
from tests.crash.instant import run_instant
from tests.crash.script import GUILD, PEOPLE
from tests.crash.table import Table

FLOODED = Place(GUILD, 901)
MINUTES = 12
NOTICES_ON_TIME_S = 5.0
MOST_MIB = 64.0  # more than before, however many messages came


def _rss_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def _flood(t: Table, messages: int) -> float:
    """`messages` in sixty seconds, each hundredth a decision; returns the real seconds it kept us busy."""
    began = time.perf_counter()
    under_way: set[asyncio.Task[Any]] = set()
    for number in range(messages):
        text = (
            f"決定：案{number}を採用する"
            if number % 100 == 0
            else f"message {number} of very many " + "x" * 40
        )
        task = asyncio.create_task(t.say("Tom" if number % 2 else "Maya", text, FLOODED))
        under_way.add(task)
        task.add_done_callback(under_way.discard)
        await asyncio.sleep(60 / messages)
    await asyncio.gather(*under_way)
    return time.perf_counter() - began


async def _ordinary(t: Table, place: Place) -> Meeting:
    meeting = await t.start("en", MINUTES, place)
    await asyncio.sleep(10)
    for who in PEOPLE:
        await t.say(who, f"Decision: {who} looks after the launch", place, then=20)
    return meeting


async def _late(t: Table, meeting: Meeting) -> list[str]:
    """Notices of one meeting that never came, or came later than they should."""

    async def work(c: Any) -> list[Any]:
        return [p for p in await overview.posts(c, meeting.id) if p.key.startswith("notice:")]

    rows = await t.app.db.unit(work)
    left = {int(row.key.rsplit(":", 1)[1]): row for row in rows}
    owed = {n.minutes for n in notices(meeting, meeting.started_at) if n.at <= meeting.planned_end}
    found = [f"meeting {meeting.id}: no notice of {minutes} minutes" for minutes in owed - left.keys()]
    for minutes, row in left.items():
        due = (meeting.planned_end - EPOCH).total_seconds() - minutes * 60
        shown = next(m for m in t.world.channels[meeting.channel_id] if m.message_id == row.message_id)
        late = (shown.at - EPOCH).total_seconds() - due
        if late > NOTICES_ON_TIME_S:
            found.append(f"{row.key} {late:.0f} s late")
    return found


def flood(messages: int, others: int, show: Callable[[str], None] = print) -> int:
    """Prints what it measured; returns how many promises were broken."""
    wrong: list[str] = []

    async def main() -> None:
        async with Table() as t:
            flooded = await t.start("ja", MINUTES, FLOODED)
            places = [Place(GUILD, 2000 + n) for n in range(others)]
            began = asyncio.gather(*(_ordinary(t, place) for place in places))
            await asyncio.sleep(30)
            before = _rss_mib()
            busy = await _flood(t, messages)
            after = _rss_mib()
            show(
                f"{messages} messages in 60 s: {busy:.1f} s of work, {messages / busy:.0f} messages/s, "
                f"resident {before:.0f} MiB before, {after:.0f} MiB after"
            )
            if busy > 60:
                wrong.append("more than a minute of work: on a real clock the others' notices are late")
            if after - before > MOST_MIB:
                wrong.append(f"{after - before:.0f} MiB more than before the flood")
            meetings = await began
            await t.until(lambda: t.app.meetings.count == 0, 7200)
            for meeting in (flooded, *meetings):
                _, view, stored = await t.record(meeting)
                if meeting is not flooded:  # its own notice stands behind a backlog of turns
                    wrong.extend(await _late(t, meeting))
                missing = [d.number for d in view.decisions if d.text not in stored.text]
                if missing:
                    wrong.append(f"meeting {meeting.id}: decisions {missing} are not in the minutes")
            _, view, _ = await t.record(flooded)
            if len(view.decisions) != -(-messages // 100):
                wrong.append(f"{len(view.decisions)} decisions recorded in the flood")
            if len(t.minutes) != others + 1:
                wrong.append(f"{len(t.minutes)} minutes messages for {others + 1} meetings")
            wrong.extend(t.errors)
            show(
                f"{others + 1} meetings closed with minutes; resident {_rss_mib():.0f} MiB; "
                f"wrong: {wrong or 'nothing'}"
            )

    run_instant(main())
    return len(wrong)

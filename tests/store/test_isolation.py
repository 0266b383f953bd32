"""Two servers in one database never see each other's rows, whatever was stored in which order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.meeting.model import EntryKind, MeetingState, NewEntry, Origin, Persona
from bot.store import archive, generations, ledger, meetings, minutes, outbox, person, transcript
from bot.store.engine import Database

from .conftest import NOW, make_meeting, said
from .test_generations import generated

# The same channel, user, message and key numbers in both servers: only the server tells them apart.
SERVERS, CHANNELS, USERS = (101, 202), (1, 2), (11, 12)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "start",
                "say",
                "react",
                "decide",
                "post",
                "close",
                "opt_out",
                "generate",
                "erase_person",
                "erase",
            ]
        ),
        st.sampled_from(SERVERS),
        st.sampled_from(CHANNELS),
        st.sampled_from(USERS),
    ),
    max_size=40,
)


@dataclass
class Expected:
    """What one server should hold, kept beside the database."""

    meetings: list[int] = field(default_factory=list)
    open: dict[int, int] = field(default_factory=dict)
    said: Counter[int] = field(default_factory=Counter)
    entries: Counter[int] = field(default_factory=Counter)
    posts: Counter[int] = field(default_factory=Counter)
    closed: dict[int, int] = field(default_factory=dict)  # meeting -> channel
    opted_out: set[int] = field(default_factory=set)
    generations: int = 0


async def step(
    c: AsyncConnection,
    server: int,
    mine: Expected,
    what: str,
    channel: int,
    user: int,
    number: int,
    salt: Any,
) -> None:
    meeting_id = mine.open.get(channel)
    if what == "opt_out":
        await transcript.opt_out(c, server, user, NOW)
        mine.opted_out.add(user)
    elif what == "start" and meeting_id is None:
        made = await make_meeting(c, guild_id=server, channel_id=channel, title=f"of {server}")
        mine.meetings.append(made.id)
        mine.open[channel] = made.id
    elif meeting_id is None:
        return
    elif what == "say":
        text = f"of {server}"
        if await transcript.add(c, said(meeting_id, number, text, author_id=user, author_name=text), server):
            mine.said[meeting_id] += 1
    elif what == "react":
        await transcript.react(c, server, meeting_id, 1, user, f"of {server}", "👍", True, NOW)
    elif what == "decide":
        entry = NewEntry(EntryKind.DECISION, f"of {server}", f"m:{number}", Origin.MARK, 5)
        mine.entries[meeting_id] += len(await ledger.append(c, server, meeting_id, [entry], NOW, salt))
    elif what == "post":
        await outbox.put(
            c, guild_id=server, meeting_id=meeting_id, key=str(number), persona=Persona.SYSTEM, now=NOW,
            text=f"of {server}",
        )  # fmt: skip
        mine.posts[meeting_id] += 1
    elif what == "generate":
        await generations.record(c, server, meeting_id, *generated(), NOW)
        mine.generations += 1
    elif what == "close":
        await minutes.save_draft(c, server, meeting_id, "{}", f"of {server}", "d", NOW)
        await meetings.move(c, meeting_id, list(MeetingState), MeetingState.CLOSED, closed_at=NOW)
        mine.closed[meeting_id] = mine.open.pop(channel)
    elif what == "erase":
        await archive.erase_meeting(c, server, meeting_id)
        mine.meetings.remove(mine.open.pop(channel))


async def seen(c: AsyncConnection, server: int, mine: Expected, others: Expected) -> None:
    listed = await meetings.listing(c, server, 100)
    assert sorted(m.id for m in listed) == sorted(mine.meetings)
    for channel in CHANNELS:
        found = await meetings.open_in(c, server, channel)
        assert (found and found.id) == mine.open.get(channel)
        latest = await meetings.latest_in(c, server, channel)
        assert latest is None or latest.id in mine.meetings
    for user in USERS:
        assert await transcript.opted_out(c, server, user) == (user in mine.opted_out)
    assert await transcript.count_since(c, server, NOW) == sum(mine.said[m] for m in mine.meetings)
    found_ledgers = {m.id: entries for m, entries in await archive.ledgers(c, server, None)}
    assert set(found_ledgers) == set(mine.closed)
    assert all(len(entries) == mine.entries[m] for m, entries in found_ledgers.items())
    assert {r.meeting_id for r in await generations.totals(c, server)} <= set(mine.meetings)
    for number in others.meetings:
        assert await meetings.get(c, number, guild_id=server) is None
        assert await minutes.get(c, number, guild_id=server) is None
        assert not await archive.erase_meeting(c, server, number)
    for number in mine.meetings:
        texts = {m.text for m in await transcript.everything(c, number)}
        texts |= {e.text for e in await ledger.everything(c, number)}
        texts |= {p.text for p in await outbox.due(c, number)}
        texts |= {s.name for s in await transcript.speakers(c, number)}
        assert texts <= {f"of {server}"}
        assert await transcript.count(c, number) == mine.said[number]
        assert len(await outbox.due(c, number)) == mine.posts[number]
        assert await ledger.verify(c, number) is None


@settings(max_examples=60, deadline=None, print_blob=True)
@given(steps=STEPS)
async def test_two_servers_never_see_each_other(steps: list[tuple[str, int, int, int]]) -> None:
    database = Database("sqlite://")
    await database.open()
    expected = {server: Expected() for server in SERVERS}

    async def work(c: AsyncConnection) -> None:
        for number, (what, server, channel, user) in enumerate(steps):
            if what == "erase_person":
                # Nobody with this id ever spoke in the server that erases; the other one keeps everything.
                await person.erase_person(c, 303, user, NOW)
                continue
            await step(c, server, expected[server], what, channel, user, number, database.salt)
        for server, other in (SERVERS, SERVERS[::-1]):
            await seen(c, server, expected[server], expected[other])

    await database.unit(work)
    await database.close()

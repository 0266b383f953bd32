"""What somebody wrote while opted out stays unheard once they opt in again, whatever is read later and by whom."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from bot.errors import BadInput
from bot.meeting.model import EntryKind, Meeting
from bot.store import transcript
from tests.crash.instant import Folder, run_instant
from tests.crash.script import CHANNEL, GUILD, PEOPLE, PLACE, person
from tests.crash.table import Table, at_table
from tests.crash.test_gaps import decided, missed

SECRET = "Decision: my secret thing"


@pytest.fixture
def url() -> Iterator[str]:
    folder = Folder()
    yield folder.fresh()
    folder.close()


async def out_and_in(t: Table, *texts: str, live: bool = True) -> list[int]:
    """Maya opts out, writes, and opts in again."""
    await t.app.privacy.opt_out(GUILD, person("Maya"))
    await asyncio.sleep(5)
    said = [await t.say("Maya", text, then=5) if live else missed(t, "Maya", text) for text in texts]
    await asyncio.sleep(5)
    await t.app.privacy.opt_in(GUILD, person("Maya"), t.now())
    await asyncio.sleep(5)
    return said


async def words(t: Table, meeting: Meeting) -> list[str]:
    return [m.text for m in await t.app.db.unit(lambda c: transcript.everything(c, meeting.id))]


@pytest.mark.parametrize("live", [True, False])
def test_neither_a_resumed_connection_nor_a_restart_brings_it_back(url: str, live: bool) -> None:
    async def lives() -> None:
        async with Table(url=url) as first:
            meeting = await first.start("en")
            await asyncio.sleep(30)
            await first.say("Maya", "Decision: we launch on Monday", then=10)
            await out_and_in(first, SECRET, live=live)
            missed(first, "Maya", "Decision: support answers within a day")  # of this on, all is heard
            await first.app.meetings.recover()
            await asyncio.sleep(5)
            expected = ["we launch on Monday", "support answers within a day"]
            assert await decided(first, meeting) == expected
        second = Table(url=url)
        second.world = first.world
        async with second:
            await second.app.meetings.recover()
            await asyncio.sleep(30)
            assert await decided(second, meeting) == expected
            assert SECRET not in await words(second, meeting)
            await second.end(now=True)
            await second.over()
            (posted,) = second.minutes
            assert posted.post is not None
            assert all(b"my secret thing" not in f.content for f in posted.post.files)
            assert not first.errors + second.errors

    run_instant(lives())


@pytest.mark.parametrize("live", [True, False])
def test_an_edit_made_while_opted_out_is_not_heard_either(live: bool) -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start("en")
        await asyncio.sleep(30)
        said = await t.say("Maya", "Decision: we launch on Monday", then=10)
        await t.app.privacy.opt_out(GUILD, person("Maya"))
        t.world.person_edits(CHANNEL, said, SECRET)
        if live:
            await t.app.meetings.edited(PLACE, said, SECRET, t.now())
        await asyncio.sleep(5)
        await t.app.privacy.opt_in(GUILD, person("Maya"), t.now())
        await t.app.meetings.recover()
        assert await decided(t, meeting) == ["we launch on Monday"]
        assert SECRET not in await words(t, meeting)
        await asyncio.sleep(5)
        t.world.person_edits(CHANNEL, said, "Decision: we launch on Tuesday")
        await t.app.meetings.recover()
        assert await decided(t, meeting) == ["we launch on Tuesday"]

    at_table(scenario)


def test_a_reaction_that_may_have_been_put_while_opted_out_does_not_count() -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start("en")
        await asyncio.sleep(30)

        async def votes() -> list[list[str]]:
            return [[v.voter_name for v in p.votes] for p in (await t.record(meeting))[1].open_proposals]

        before = await t.say("Tom", "Proposal: we launch on Monday", then=5)
        await out_and_in(t)
        t.world.person_reacts(CHANNEL, before, PEOPLE["Maya"], "Maya", "👍")
        after = await t.say("Tom", "Proposal: support answers within a day", then=5)
        t.world.person_reacts(CHANNEL, after, PEOPLE["Maya"], "Maya", "👍")
        await t.app.meetings.recover()
        assert await votes() == [[], ["Maya"]]
        await t.app.meetings.reacted(PLACE, before, person("Maya"), "👍", True)  # seen while she puts it
        assert await votes() == [["Maya"], ["Maya"]]

    at_table(scenario)


def test_nobody_else_records_it_by_the_message_menu() -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start("en")
        await asyncio.sleep(30)
        heard = await t.say("Maya", "we launch on Monday", then=5)
        (said,) = await out_and_in(t, "my secret thing")

        async def record(message_id: int) -> None:
            seen = t.world.seen(t.world.find(CHANNEL, message_id))
            await t.app.meetings.record(PLACE, seen, EntryKind.DECISION, person("Tom"), t.interaction())

        with pytest.raises(BadInput, match=r"error\.author_opted_out"):
            await record(said)
        await record(heard)  # what was recorded before stays
        assert await decided(t, meeting) == ["we launch on Monday"]
        t.world.person_edits(CHANNEL, heard, "my secret thing")
        await t.app.privacy.opt_out(GUILD, person("Maya"))
        await asyncio.sleep(5)
        await t.app.privacy.opt_in(GUILD, person("Maya"), t.now())
        with pytest.raises(BadInput, match=r"error\.author_opted_out"):
            await record(heard)

    at_table(scenario)


def test_erasing_oneself_meanwhile_does_not_bring_it_back() -> None:
    async def scenario(t: Table) -> None:
        meeting = await t.start("en")
        await asyncio.sleep(30)
        await out_and_in(t, SECRET)
        await t.app.privacy.erase_person(GUILD, PEOPLE["Maya"], person("Maya"))
        await t.app.meetings.recover()
        assert await decided(t, meeting) == []
        await t.end(now=True)
        await t.over()
        await t.app.privacy.erase_person(GUILD, PEOPLE["Maya"], person("Maya"))
        assert await t.app.db.unit(lambda c: transcript.opted_in_at(c, GUILD, PEOPLE["Maya"])) is None

    at_table(scenario)

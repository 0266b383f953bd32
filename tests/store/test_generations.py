"""Rates and usage as `ketsugi stats` and the daily caps read them."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.guard.model import Attempt, Generated, Outcome, Remedy, Source, Strength, Verdict
from bot.meeting.model import Meeting, Route
from bot.store import generations
from bot.store.engine import Database
from bot.store.generations import ModelUsage, RuleCount, SourceCount

from .conftest import GUILD, NOW


def verdict(outcome: Outcome, rule: str = "hand_off", strength: Strength = Strength.MUST) -> Verdict:
    return Verdict(rule, outcome, "理由" if outcome is Outcome.FIRED else "", strength, Remedy.REPHRASE)


def generated(
    first: Outcome = Outcome.FIRED, final: Outcome | None = Outcome.PASS, source: Source = Source.REPHRASED
) -> tuple[Route, Generated]:
    """A turn whose first answer got `first`, was asked again, and ended with `final` (None: fixed text)."""
    attempts = (
        Attempt("要約をお願いします", (verdict(first),), None, 1600, 900, 100, 50, "gemini-3.8-flash-001"),
        Attempt(None, (), "timeout", 8700),
    )
    final_verdicts = () if final is None else (verdict(final),)
    return Route.TURN, Generated(
        text="議事録は後ほど",
        source=source,
        attempts=attempts,
        final_verdicts=final_verdicts,
        model="gemini-3.8-flash",
    )


async def test_a_generation_comes_back_as_it_was(database: Database, meeting: Meeting) -> None:
    route, made = generated()

    async def work(c: AsyncConnection) -> tuple[int, list[generations.Generation]]:
        number = await generations.record(c, GUILD, meeting.id, route, made, NOW)
        await generations.record(c, GUILD, None, Route.ASK, made, NOW)
        return number, await generations.everything(c, meeting.id)

    number, (read,) = await database.unit(work)
    assert read.id == number
    assert (read.route, read.model, read.source, read.text, read.at) == (
        route, made.model, made.source, made.text, NOW,
    )  # fmt: skip
    assert read.attempts == made.attempts
    assert read.final_verdicts == made.final_verdicts == (verdict(Outcome.PASS),)


async def test_totals_count_first_answers_before_and_chosen_texts_after(
    database: Database, meeting: Meeting
) -> None:
    async def work(c: AsyncConnection) -> list[RuleCount]:
        for first, final in (
            (Outcome.FIRED, Outcome.PASS),
            (Outcome.FIRED, Outcome.FIRED),
            (Outcome.FIRED, None),
            (Outcome.PASS, Outcome.PASS),
            (Outcome.BROKEN, Outcome.PASS),
        ):
            await generations.record(c, GUILD, meeting.id, *generated(first, final), NOW)
        await generations.record(c, GUILD, meeting.id, *generated(), NOW - timedelta(days=1))
        await generations.record(c, GUILD + 1, None, *generated(), NOW)
        return await generations.totals(c, GUILD, NOW)

    assert await database.unit(work) == [
        RuleCount("hand_off", Strength.MUST, "gemini-3.8-flash-001", meeting.id, 4, 3, 1, 1)
    ]


async def test_usage_and_sources_of_one_server_and_of_all(database: Database, meeting: Meeting) -> None:
    async def work(c: AsyncConnection) -> None:
        await generations.record(c, GUILD, meeting.id, *generated(), NOW)
        await generations.record(c, GUILD, meeting.id, *generated(source=Source.FIXED), NOW)
        await generations.record(c, GUILD + 1, None, *generated(), NOW)
        assert await generations.usage(c, GUILD) == [
            ModelUsage("", 2, 2, 0, 0, 0, 17400),
            ModelUsage("gemini-3.8-flash-001", 2, 0, 1800, 200, 100, 3200),
        ]
        assert await generations.sources(c, GUILD) == [
            SourceCount(Route.TURN, "gemini-3.8-flash", Source.FIXED, 1),
            SourceCount(Route.TURN, "gemini-3.8-flash", Source.REPHRASED, 1),
        ]
        assert sum(s.count for s in await generations.sources(c, None)) == 3
        assert await generations.count_since(c, GUILD, NOW) == 2
        assert await generations.count_since(c, GUILD, NOW + timedelta(seconds=1)) == 0

    await database.unit(work)

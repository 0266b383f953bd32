"""Whose turn it is at the database's one connection."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress

import pytest

from bot.store._queue import PASSING, Queue
from tests.virtual_time import run_virtual


async def took_turns(classes: str) -> str:
    """Waiters by class, "f" first and "r" the rest, in the order in which they come through."""
    queue, order = Queue(), []

    async def one(name: str) -> None:
        async with queue.turn(first=name == "f"):
            order.append(name)
            await asyncio.sleep(1)

    async with queue.turn():
        tasks = [asyncio.create_task(one(name)) for name in classes]
        await asyncio.sleep(1)
    await asyncio.gather(*tasks)
    return "".join(order)


def test_what_people_wrote_passes_the_rest() -> None:
    assert run_virtual(took_turns("rrff")) == "ffrr"


def test_a_flood_passes_only_so_many_at_a_time() -> None:
    order = run_virtual(took_turns("rr" + "f" * (3 * PASSING)))
    assert order == "f" * PASSING + "r" + "f" * PASSING + "r" + "f" * PASSING


@pytest.mark.parametrize("seed", range(20))
def test_one_at_a_time_whoever_is_cancelled(seed: int) -> None:
    async def main() -> None:
        chance, queue, inside, done = random.Random(seed), Queue(), 0, 0

        async def one(first: bool) -> None:
            nonlocal inside, done
            async with queue.turn(first=first):
                inside += 1
                assert inside == 1
                try:
                    await asyncio.sleep(chance.random())
                finally:
                    inside -= 1
                done += 1

        tasks = [asyncio.create_task(one(chance.random() < 0.5)) for _ in range(60)]
        for _ in range(40):
            await asyncio.sleep(chance.random() / 2)
            chance.choice(tasks).cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
        assert done >= 20
        async with asyncio.timeout(1), queue.turn():
            pass

    run_virtual(main())

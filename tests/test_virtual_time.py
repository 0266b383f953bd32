from __future__ import annotations

import asyncio
import time

import pytest

from tests.virtual_time import Stuck, run_virtual


def test_an_hour_passes_at_once_and_in_order() -> None:
    seen: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        seen.append((name, asyncio.get_running_loop().time()))

    async def main() -> None:
        await asyncio.gather(sleeper("late", 3600), sleeper("early", 60), sleeper("soon", 0.5))

    before = time.perf_counter()
    run_virtual(main())
    assert time.perf_counter() - before < 5
    assert [name for name, _ in seen] == ["soon", "early", "late"]
    assert seen[-1][1] == pytest.approx(3600)


def test_a_timeout_ends_a_sleeper_at_its_moment() -> None:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(25):
                await asyncio.sleep(3600)
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == pytest.approx(25)


def test_waiting_for_nothing_is_reported() -> None:
    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(Stuck):
        run_virtual(main())

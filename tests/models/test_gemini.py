"""Every way Gemini can answer or fail, over real HTTP and the real SDK."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.clock import Clock, Deadline
from bot.meeting.model import LedgerView, Route, Scene
from bot.models.base import Draft, Prompt, ProviderError, Request, Usage
from bot.models.gemini import GeminiModel
from bot.prompts.outputs import AnswerOut, MinutesOut, TurnOut
from tests.fakes import FakeGemini, Reply, answer
from tests.minutes.made import meeting

KEY = "AIza-secret-key-of-the-team"
SECRET = "words that only the room may see"
NOW = datetime(2026, 11, 30, 5, 0, tzinfo=UTC)
GOOD = {"response": "Who takes this on?", "phase": "DISCUSSING", "closing_complete": False, "entries": []}


def request(
    output: type[Any] = TurnOut, *, seconds: float = 5.0, attempt: int = 0, prompt: str = SECRET
) -> Request[Any]:
    scene = Scene(Route.TURN, meeting(), NOW, LedgerView())
    return Request(scene, Prompt("system", prompt, "", "", "", ""), output, Deadline(seconds), attempt)


class Setup:
    """One model whose server is scripted anew for each call."""

    def __init__(self, model: GeminiModel, fake: FakeGemini) -> None:
        self.model, self.fake = model, fake

    async def ask(self, *script: Reply, **more: Any) -> Draft[Any]:
        self.fake.script.clear()
        self.fake.script.extend(script)
        self.fake.requests.clear()
        return await self.model.generate(request(**more))

    async def fails(self, *script: Reply, **more: Any) -> ProviderError:
        with pytest.raises(ProviderError) as caught:
            await self.ask(*script, **more)
        return caught.value


@pytest.fixture
async def setup() -> AsyncIterator[Setup]:
    async with FakeGemini() as fake:
        model = GeminiModel(
            "gemini-3.8-flash", KEY, Clock(lambda: NOW), base_url=fake.url, quick_retry_s=0.01
        )
        await model.prepare()
        yield Setup(model, fake)
        await model.close()


async def test_an_answer_with_version_and_usage(setup: Setup) -> None:
    entry = {"kind": "decision", "text": "Friday", "quote": "we ship on Friday", "owner": None}
    draft = await setup.ask(answer({**GOOD, "entries": [entry]}, thought="let me think"))
    assert draft.output.response == "Who takes this on?"
    assert draft.output.entries[0].quote == "we ship on Friday"
    assert draft.version == "fake-model-001"
    assert draft.usage == Usage(tokens_in=120, tokens_cached=100, tokens_out=42)


async def test_what_is_sent(setup: Setup) -> None:
    await setup.ask(answer(GOOD))
    (asked,) = setup.fake.requests
    assert (asked.model, asked.system, asked.prompt, asked.key) == ("gemini-3.8-flash", "system", SECRET, KEY)
    assert asked.config["thinkingConfig"] == {
        "thinking_level": "LOW"
    }  # both spellings are the same on the wire
    assert asked.config["responseMimeType"] == "application/json"
    assert "temperature" not in asked.config
    schema = asked.config["responseSchema"]
    assert schema["required"] == ["response", "phase", "closing_complete", "entries", "wish_quote"]
    assert schema["properties"]["entries"]["items"]["properties"]["refers_to"] == {
        "type": "INTEGER",
        "nullable": True,
    }


@pytest.mark.parametrize("output", [TurnOut, MinutesOut, AnswerOut])
async def test_every_answer_type_goes_over_the_wire(setup: Setup, output: type[Any]) -> None:
    assert isinstance((await setup.ask(output=output)).output, output)


@pytest.mark.parametrize(
    ("name", "attempt", "sent"),
    [("gemini-3.8-flash", 1, False), ("gemini-2.5-flash", 1, True), ("gemini-2.5-flash", 0, False)],
)
async def test_temperature_only_for_a_rephrase_where_honoured(name: str, attempt: int, sent: bool) -> None:
    async with FakeGemini(answer(GOOD)) as fake:
        model = GeminiModel(name, KEY, Clock(lambda: NOW), base_url=fake.url)
        await model.generate(request(attempt=attempt))
        await model.close()
    assert ("temperature" in fake.requests[0].config) is sent
    assert ("thinkingConfig" in fake.requests[0].config) is name.startswith("gemini-3")


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"response": "kept"}\n```',
        'Here is the answer you asked for:\n\n{"response": "kept"}\n\nI hope this helps {smile}!',
        '{"response": "kept", "entries": null, "phase": null, "extra": {"a": 1}}',
    ],
)
async def test_text_around_one_object_is_cut_away(setup: Setup, text: str) -> None:
    assert (await setup.ask(Reply(text))).output.response == "kept"


async def test_fifty_thousand_characters_arrive_whole(setup: Setup) -> None:
    assert len((await setup.ask(answer({**GOOD, "response": "長" * 50_000}))).output.response) == 50_000


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(blocked="SAFETY"), "blocked"),
        (Reply("{}", finish="SAFETY"), "blocked"),
        (Reply("{}", finish="PROHIBITED_CONTENT"), "blocked"),
        (Reply("{}", finish="RECITATION"), "blocked"),
        (Reply(candidates=False), "empty"),
        (Reply(""), "empty"),
        (Reply("", thought="only thoughts"), "empty"),
        (Reply("", finish=None), "empty"),
        (Reply('{"response": "the first half of', finish="MAX_TOKENS"), "truncated"),
        (Reply('{"response": "the first half of'), "invalid"),
        (Reply("I am afraid I would rather write prose."), "invalid"),
        (Reply('{"response": ["a", "list"]}'), "invalid"),
        (answer({**GOOD, "entries": [{"kind": "gossip", "text": "x", "quote": "x"}]}), "invalid"),
        (Reply('[{"nothing": 1}]'), "invalid"),
        (Reply("{" * 50_000), "invalid"),
        (Reply(status=400), "refused"),
        (Reply(status=401), "refused"),
        (Reply(status=403), "refused"),
        (Reply(status=404), "refused"),
        (Reply(status=429), "rate_limited"),
    ],
)
async def test_failures_that_no_second_call_mends(setup: Setup, reply: Reply, kind: str) -> None:
    error = await setup.fails(reply, answer(GOOD))
    assert error.kind == kind
    assert len(setup.fake.requests) == 1


async def test_a_failed_answer_is_still_paid_for(setup: Setup) -> None:
    error = await setup.fails(Reply("{", finish="MAX_TOKENS"))
    assert (error.usage.tokens_in, error.usage.tokens_out) == (120, 42)
    assert error.version == "fake-model-001"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=500),
        Reply(status=503),
        Reply(status=504),
        Reply(drop=True),
        Reply(raw=b"<html>proxy</html>"),
    ],
)
async def test_one_quick_second_call(setup: Setup, reply: Reply) -> None:
    assert (await setup.ask(reply, answer(GOOD))).output.response == GOOD["response"]
    assert len(setup.fake.requests) == 2


@pytest.mark.parametrize(
    ("reply", "kind"),
    [(Reply(status=500), "server"), (Reply(status=503), "server"), (Reply(drop=True), "unreachable")],
)
async def test_never_a_third_call(setup: Setup, reply: Reply, kind: str) -> None:
    assert (await setup.fails(reply, reply, answer(GOOD))).kind == kind
    assert len(setup.fake.requests) == 2


async def test_the_delay_of_a_429_is_obeyed_once(setup: Setup) -> None:
    busy = Reply(status=429, retry_delay="0.05s")
    draft = await setup.ask(busy, answer(GOOD))
    assert draft.output.response == GOOD["response"]
    assert draft.latency_ms >= 50
    assert (await setup.fails(busy, busy, answer(GOOD))).kind == "rate_limited"
    assert len(setup.fake.requests) == 2


async def test_a_delay_beyond_the_deadline_is_not_waited_for(setup: Setup) -> None:
    error = await setup.fails(Reply(status=429, retry_delay="30s"), answer(GOOD))
    assert error.kind == "rate_limited"
    assert error.latency_ms < 2_000
    assert len(setup.fake.requests) == 1


async def test_no_second_call_when_no_time_is_left(setup: Setup) -> None:
    assert (await setup.fails(Reply(status=500), answer(GOOD), seconds=0.9)).kind == "server"
    assert len(setup.fake.requests) == 1


async def test_a_hang_ends_at_the_deadline(setup: Setup) -> None:
    error = await setup.fails(Reply(hang=True), seconds=0.05)
    assert error.kind == "timeout"
    assert error.latency_ms < 1_000


async def test_a_deadline_brought_nearer_ends_a_call_under_way(setup: Setup) -> None:
    setup.fake.script.append(Reply(hang=True))
    asked = request(seconds=60)
    call = asyncio.create_task(setup.model.generate(asked))
    await setup.fake.arrived.wait()
    asked.deadline.shorten(0.01)
    with pytest.raises(ProviderError, match="timeout"):
        await call


async def test_cancelling_cancels_the_request(setup: Setup) -> None:
    setup.fake.script.append(Reply(hang=True))
    call = asyncio.create_task(setup.model.generate(request(seconds=60)))
    await setup.fake.arrived.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await setup.ask(answer(GOOD))).output.response == GOOD["response"]


async def test_nobody_there() -> None:
    async with FakeGemini() as fake:
        url = fake.url
    model = GeminiModel("gemini-3.8-flash", KEY, Clock(lambda: NOW), base_url=url, quick_retry_s=0.0)
    with pytest.raises(ProviderError) as caught:
        await model.generate(request())
    await model.close()
    assert caught.value.kind == "unreachable"
    assert caught.value.latency_ms < 2_000


@pytest.mark.parametrize(
    "reply",
    [
        Reply(f"bad request: {SECRET} {KEY}", status=400),
        Reply(f"busy: {SECRET} {KEY}", status=429),
        Reply(f"{SECRET} {KEY}"),
        Reply(drop=True),
    ],
)
async def test_neither_words_nor_key_leave_in_an_error(
    setup: Setup, reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", logger="bot")
    error = await setup.fails(reply, reply)
    told = "".join(traceback.format_exception(error)) + repr(error.__context__) + repr(setup.model)
    assert SECRET not in told
    assert KEY not in told
    assert SECRET not in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply(), (True, "ok")),
        (Reply(status=400), (False, "refused")),
        (Reply(status=404), (False, "refused")),
        (Reply(status=429), (False, "rate_limited")),
        (Reply(status=500), (False, "server")),
    ],
)
async def test_check(setup: Setup, reply: Reply, expected: tuple[bool, str]) -> None:
    setup.fake.script.append(reply)
    assert await setup.model.check() == expected
    assert setup.fake.requests[-1].method == "get"


async def test_check_of_a_provider_that_breaks_off(setup: Setup) -> None:
    setup.fake.script.extend([Reply(drop=True)] * 3)  # a broken GET is repeated by aiohttp itself
    assert await setup.model.check() == (False, "unreachable")


async def test_check_of_a_provider_that_hangs(setup: Setup) -> None:
    setup.fake.script.append(Reply(hang=True))
    assert await setup.model.check(timeout_s=0.05) == (False, "timeout")


async def test_closing_twice_and_without_use() -> None:
    model = GeminiModel("gemini-3.8-flash", KEY, Clock(lambda: NOW))
    await model.close()
    await model.prepare()
    await model.close()
    await model.close()

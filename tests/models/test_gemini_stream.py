"""Streaming over real HTTP and the real SDK: the text as it comes, and every way it can end in the middle."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.clock import Clock, Deadline
from bot.meeting.model import LedgerView, Route, Scene
from bot.models.base import Draft, Prompt, ProviderError, Request, Usage
from bot.models.gemini import GeminiModel
from bot.prompts.outputs import AnswerOut
from tests.fakes import FakeGemini, Reply, answer
from tests.minutes.made import meeting

NOW = datetime(2026, 11, 30, 5, 0, tzinfo=UTC)
TEXT = '値段は "980円" です。😀 次の文もあります。\nThe third one is English.'
BEGUN = ('{"response": "最初の文です。', "次の文")


class Streamed:
    """One model whose server is scripted anew for each call; `told` is what came while it came."""

    def __init__(self, model: GeminiModel, fake: FakeGemini) -> None:
        self.model, self.fake = model, fake
        self.told: list[str] = []

    def request(self, seconds: float = 5.0) -> Request[Any]:
        scene = Scene(Route.CHAT, meeting(), NOW, LedgerView())
        prompt = Prompt("system", "prompt", "", "", "", "")
        return Request(scene, prompt, AnswerOut, Deadline(seconds), on_text=self.told.append)

    async def ask(self, *script: Reply, seconds: float = 5.0) -> Draft[Any]:
        self.fake.script.clear()
        self.fake.script.extend(script)
        self.fake.requests.clear()
        self.told.clear()
        return await self.model.generate(self.request(seconds))

    async def fails(self, *script: Reply, seconds: float = 5.0) -> ProviderError:
        with pytest.raises(ProviderError) as caught:
            await self.ask(*script, seconds=seconds)
        return caught.value


@pytest.fixture
async def stream() -> AsyncIterator[Streamed]:
    async with FakeGemini() as fake:
        model = GeminiModel(
            "gemini-3.5-flash-lite", "key", Clock(lambda: NOW), base_url=fake.url, quick_retry_s=0.01
        )
        await model.prepare()
        yield Streamed(model, fake)
        await model.close()


async def test_the_text_comes_while_it_is_written_and_the_draft_at_the_end(stream: Streamed) -> None:
    draft = await stream.ask(answer({"cites": ["1"], "response": TEXT}, thought="let me see"))
    assert (draft.output.response, draft.output.cites) == (TEXT, ["1"])
    assert draft.usage == Usage(120, 100, 42)
    assert draft.version == "fake-model-001"
    assert len(stream.told) > 2
    assert all(later.startswith(sooner) for sooner, later in zip(stream.told, stream.told[1:], strict=False))
    assert stream.told[-1] == TEXT
    (asked,) = stream.fake.requests
    assert asked.method == "streamGenerateContent"


@pytest.mark.parametrize("cut", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("ascii_only", [True, False])
async def test_cut_at_any_byte(stream: Streamed, cut: int, ascii_only: bool) -> None:
    made = json.dumps({"response": TEXT}, ensure_ascii=ascii_only)
    draft = await stream.ask(
        Reply(made, pieces=tuple(made[at : at + 5] for at in range(0, len(made), 5)), cut=cut)
    )
    assert draft.output.response == TEXT
    assert all(TEXT.startswith(so_far) for so_far in stream.told)


async def test_a_pair_of_surrogates_in_two_events(stream: Streamed) -> None:
    draft = await stream.ask(Reply(pieces=('{"response": "a\\ud83d', '\\ude00b"}')))
    assert draft.output.response == "a😀b"
    assert stream.told == ["a", "a😀b"]


async def test_without_on_text_nothing_is_streamed(stream: Streamed) -> None:
    stream.fake.script.append(answer({"response": "whole"}))
    scene = Scene(Route.CHAT, meeting(), NOW, LedgerView())
    plain = Request(scene, Prompt("s", "p", "", "", "", ""), AnswerOut, Deadline(5))
    assert (await stream.model.generate(plain)).output.response == "whole"
    assert stream.fake.requests[0].method == "generateContent"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(pieces=BEGUN, breaks="drop"), "unreachable"),
        (Reply(pieces=BEGUN, breaks="error"), "server"),
        (Reply(pieces=BEGUN, breaks="end"), "truncated"),
        (Reply(pieces=(*BEGUN, "がまだ"), finish="MAX_TOKENS"), "truncated"),
        (Reply(pieces=(*BEGUN, "がまだ"), finish="SAFETY"), "blocked"),
        (Reply(pieces=(*BEGUN, '"]}'), finish="STOP"), "invalid"),
    ],
)
async def test_a_failure_in_the_middle_is_typed_paid_for_and_never_repeated(
    stream: Streamed, reply: Reply, kind: str
) -> None:
    error = await stream.fails(reply, answer({"response": "a second call"}))
    assert error.kind == kind
    assert (error.usage.tokens_in, error.version) == (120, "fake-model-001")
    assert len(stream.fake.requests) == 1
    assert stream.told[0] == "最初の文です。"


async def test_what_comes_with_the_refusal_is_not_told(stream: Streamed) -> None:
    await stream.fails(Reply(pieces=('{"response": "begin', " and then the unsafe part"), finish="SAFETY"))
    assert stream.told == ["begin"]


@pytest.mark.parametrize("reply", [Reply(status=500), Reply(drop=True), Reply(pieces=("",), breaks="drop")])
async def test_before_the_first_text_one_quick_second_call(stream: Streamed, reply: Reply) -> None:
    assert (await stream.ask(reply, answer({"response": "here"}))).output.response == "here"
    assert len(stream.fake.requests) == 2


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(status=400), "refused"),
        (Reply(status=429), "rate_limited"),
        (Reply(blocked="SAFETY"), "blocked"),
        (Reply(candidates=False), "empty"),
        (Reply(""), "empty"),
        (Reply("prose"), "invalid"),
    ],
)
async def test_failures_without_any_text(stream: Streamed, reply: Reply, kind: str) -> None:
    assert (await stream.fails(reply, answer({"response": "no"}))).kind == kind
    assert stream.told == []


async def test_a_hang_in_the_middle_ends_at_the_deadline_and_lets_go_of_the_connection(
    stream: Streamed,
) -> None:
    error = await stream.fails(Reply(pieces=BEGUN, breaks="hang"), seconds=0.3)
    assert error.kind == "timeout"
    assert error.usage.tokens_in == 120
    assert error.latency_ms < 2_000
    async with asyncio.timeout(2):
        await stream.fake.left.wait()
    assert (await stream.ask(answer({"response": "again"}))).output.response == "again"


async def test_cancelling_lets_go_of_the_connection(stream: Streamed) -> None:
    stream.fake.script.append(Reply(pieces=BEGUN, breaks="hang"))
    began = asyncio.Event()
    scene = Scene(Route.CHAT, meeting(), NOW, LedgerView())
    prompt = Prompt("s", "p", "", "", "", "")
    asked = Request(scene, prompt, AnswerOut, Deadline(60), on_text=lambda _: began.set())
    call = asyncio.create_task(stream.model.generate(asked))
    await began.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    async with asyncio.timeout(2):
        await stream.fake.left.wait()

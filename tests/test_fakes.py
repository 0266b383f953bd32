"""The fake answers as Gemini does, in every way it can be told to: checked with a plain HTTP client."""

from __future__ import annotations

import asyncio
import json

import aiohttp
import pytest

from tests.fakes import FakeGemini, Reply, answer

ASK = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}], "generationConfig": {"temperature": 1}}


async def post(fake: FakeGemini, method: str = "generateContent") -> tuple[int, str]:
    url = f"{fake.url}/v1beta/models/some-model:{method}"
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, json=ASK, headers={"x-goog-api-key": "k"}) as response,
    ):
        return response.status, await response.text()


async def test_script_comes_first_then_the_standing_answer() -> None:
    async with FakeGemini(answer({"response": "one"}), respond=lambda asked: Reply(asked.prompt)) as fake:
        first, second = await post(fake), await post(fake)
    texts = [json.loads(body)["candidates"][0]["content"]["parts"][0]["text"] for _, body in (first, second)]
    assert texts == ['{"response": "one"}', "hello"]


async def test_requests_are_recorded() -> None:
    async with FakeGemini() as fake:
        await post(fake)
    (asked,) = fake.requests
    assert (asked.model, asked.method, asked.prompt, asked.key) == (
        "some-model",
        "generateContent",
        "hello",
        "k",
    )
    assert asked.config == {"temperature": 1}


async def test_errors_carry_status_and_delay() -> None:
    async with FakeGemini(Reply(status=429, retry_delay="2s"), Reply(status=503)) as fake:
        busy, down = await post(fake), await post(fake)
    assert busy[0] == 429
    assert json.loads(busy[1])["error"]["details"][0]["retryDelay"] == "2s"
    assert down[0] == 503
    assert json.loads(down[1])["error"]["details"] == []


@pytest.mark.parametrize(
    ("reply", "key", "value"),
    [
        (Reply(blocked="SAFETY"), "promptFeedback", {"blockReason": "SAFETY"}),
        (Reply(candidates=False), "candidates", []),
    ],
)
async def test_answers_without_text(reply: Reply, key: str, value: object) -> None:
    async with FakeGemini(reply) as fake:
        _, body = await post(fake)
    assert json.loads(body)[key] == value


async def test_finish_reason_and_thoughts() -> None:
    async with FakeGemini(Reply("half", finish="MAX_TOKENS", thought="hm")) as fake:
        _, body = await post(fake)
    candidate = json.loads(body)["candidates"][0]
    assert candidate["finishReason"] == "MAX_TOKENS"
    assert candidate["content"]["parts"] == [{"text": "hm", "thought": True}, {"text": "half"}]


async def test_a_dropped_connection_gives_no_answer() -> None:
    async with FakeGemini(Reply(drop=True)) as fake:
        with pytest.raises(aiohttp.ClientError):
            await post(fake)


async def test_a_hanging_answer_ends_with_the_server() -> None:
    async with FakeGemini(Reply(hang=True)) as fake:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await post(fake)


async def test_a_stream_adds_up_to_the_text() -> None:
    text = "a text that needs more than one part to be sent"
    async with FakeGemini(Reply(text)) as fake:
        _, body = await post(fake, "streamGenerateContent")
    parts = [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: ")]
    assert len(parts) > 1
    assert "".join(p["candidates"][0]["content"]["parts"][0]["text"] for p in parts) == text


def events(body: str) -> list[dict[str, object]]:
    return [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: ")]


async def test_a_stream_is_cut_as_told_and_tells_its_end_last() -> None:
    async with FakeGemini(Reply(pieces=("一つ", "二つ"), cut=1)) as fake:
        _, body = await post(fake, "streamGenerateContent")
    candidates = [event["candidates"][0] for event in events(body)]  # type: ignore[index]
    assert [c["content"]["parts"][0]["text"] for c in candidates] == ["一つ", "二つ"]
    assert [c.get("finishReason") for c in candidates] == [None, "STOP"]


async def test_a_stream_that_ends_with_an_error_or_without_a_word() -> None:
    script = (Reply(pieces=("one",), breaks="error"), Reply(pieces=("one",), breaks="end"))
    async with FakeGemini(*script) as fake:
        failed, ended = [events((await post(fake, "streamGenerateContent"))[1]) for _ in script]
    assert failed[-1]["error"]["code"] == 500  # type: ignore[index]
    assert len(ended) == 1
    assert "finishReason" not in ended[0]["candidates"][0]  # type: ignore[index]


async def test_a_stream_that_breaks_or_hangs() -> None:
    async with FakeGemini(
        Reply(pieces=("one",), breaks="drop"), Reply(pieces=("one",), breaks="hang")
    ) as fake:
        with pytest.raises(aiohttp.ClientError):
            await post(fake, "streamGenerateContent")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await post(fake, "streamGenerateContent")
        async with asyncio.timeout(2):
            await fake.left.wait()

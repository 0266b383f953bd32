"""The first attempt streams through the gate; what is generated in the end takes the place of what was seen."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from bot.clock import Clock, Deadline
from bot.guard.generator import Call, Generator
from bot.guard.model import Candidate, Generated, Remedy, Rule, Source, Strength
from bot.meeting.model import Route
from bot.models.base import Draft, ProviderError, Request, Usage
from bot.prompts.outputs import AnswerOut
from tests.guard.scripted import NOW, PROMPT, scene
from tests.virtual_time import run_virtual

FALLBACK = "The fixed text."
NO_BLUE = Rule("no_blue", Strength.MUST, Remedy.REPHRASE, lambda c: "no blue" if "blue" in c.text else None)


class Streaming:
    """Tells each answer of the script in pieces, then gives it; "!" at the end makes it fail there."""

    name = "streaming"

    def __init__(self, *script: tuple[str, ...]) -> None:
        self.script, self.requests = list(script), list[Request[Any]]()

    async def generate(self, request: Request[Any]) -> Draft[Any]:
        pieces = self.script[len(self.requests)]
        self.requests.append(request)
        text = ""
        for piece in pieces:
            await asyncio.sleep(0.1)
            if piece == "!":
                raise ProviderError("unreachable")
            text += piece
            if request.on_text is not None:
                request.on_text(text)
        return Draft(AnswerOut(response=text), Usage(), "streaming-1", 100)

    async def close(self) -> None:
        return None


def play(
    *script: tuple[str, ...], on_visible: Any = None, **call: Any
) -> tuple[Generated, list[str], Streaming, Any]:
    model, seen, broken = Streaming(*script), list[str](), list[tuple[str, BaseException]]()

    async def main() -> Generated:
        loop = asyncio.get_running_loop()
        generator = Generator(
            lambda _: model,
            Clock(lambda: NOW + timedelta(seconds=loop.time())),
            lambda what, error: broken.append((what, error)),
        )
        options = {"rules": (NO_BLUE,), "fallback": FALLBACK} | call
        made = Call(
            route=Route.CHAT,
            scene=scene("en", Route.CHAT),
            prompt=PROMPT,
            output=AnswerOut,
            deadline=Deadline(25.0),
            on_visible=on_visible or seen.append,
            **options,
        )
        return await generator.generate(made)

    return run_virtual(main()), seen, model, broken


def test_sentences_are_seen_while_the_text_is_written() -> None:
    generated, seen, _, _ = play(("It is red. It ", "is round. And", " more."))
    assert seen == ["It is red.", "It is red. It is round."]
    assert (generated.text, generated.source) == ("It is red. It is round. And more.", Source.FIRST)


def test_only_the_first_attempt_streams() -> None:
    generated, seen, model, _ = play(("It is red. It is blue. ", "So"), ("It is green. Really. ", "So"))
    assert seen == ["It is red."]
    assert (generated.text, generated.source) == ("It is green. Really. So", Source.REPHRASED)
    assert [request.on_text is not None for request in model.requests] == [True, False]


def test_what_fails_twice_ends_in_the_fixed_text() -> None:
    generated, seen, _, _ = play(("It is red. It is blue. ", "So"), ("It is blue.",))
    assert seen == ["It is red."]
    assert (generated.text, generated.source) == (FALLBACK, Source.FIXED)


def test_a_failure_in_the_middle_goes_up_the_same_ladder() -> None:
    generated, seen, _, _ = play(("It is red. It", "!"), ("It is green.",))
    assert seen == ["It is red."]
    assert (generated.text, generated.source) == ("It is green.", Source.REPHRASED)
    assert generated.attempts[0].failure == "unreachable"


def test_without_a_listener_nothing_is_streamed() -> None:
    async def main() -> None:
        model = Streaming(("It is red.",))
        generator = Generator(lambda _: model, Clock(lambda: NOW))
        made = Call(Route.CHAT, scene("en", Route.CHAT), PROMPT, AnswerOut, Deadline(25.0), fallback=FALLBACK)
        await generator.generate(made)
        assert model.requests[0].on_text is None

    run_virtual(main())


def test_a_listener_that_fails_is_reported_and_costs_no_answer() -> None:
    def fail(text: str) -> None:
        raise RuntimeError("no")

    generated, _, _, broken = play(("It is red. It is", " round. So", "."), on_visible=fail)
    assert generated.source is Source.FIRST
    assert [what for what, _ in broken] == ["stream"]


@pytest.mark.parametrize("text", ["[SILENCE]", "", "  "])
def test_silence_is_not_seen(text: str) -> None:
    generated, seen, _, _ = play((text,), (text,))
    assert seen == []
    assert generated.source is Source.FIXED


def test_a_rule_that_fails_itself_shows_nothing_but_judges_nothing_either() -> None:
    def broken_rule(candidate: Candidate) -> str | None:
        raise ValueError

    rule = Rule("broken", Strength.MUST, Remedy.REPHRASE, broken_rule)
    generated, seen, _, broken = play(("It is red. It is", " round."), rules=(rule,))
    assert seen == []
    assert generated.source is Source.FIRST
    assert "broken" in [what for what, _ in broken]

"""How large prompts are from message 50 to message 2,000, against sending the whole history every turn.

Characters are exact. Tokens are reckoned from them (1.2 characters a token in Japanese, 3 in English):
providers count differently, and no provider is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from rich.console import Console
from rich.table import Table

from bot.evaluation import cases
from bot.evaluation.cases import Case
from bot.evaluation.summariser import CHARACTERS_A_TOKEN
from bot.facilitation.room import Room
from bot.facilitation.thinking import HISTORY, Material, scene_of
from bot.meeting.model import Language, Message, Route, Scene
from bot.models.base import Prompt
from bot.models.offline import OfflineModel
from bot.prompts import builder

CHECKPOINTS = (50, 100, 200, 500, 1_000, 2_000)
A_TURN = 3  # messages that one turn reads, coalesced
A_DECISION = 50  # messages between two marked decisions
LENGTH = 300
SAMPLED = 10  # every tenth turn is built, and counts for ten
_PEOPLE = 4


@dataclass(frozen=True, slots=True)
class Size:
    """Prompt of the turn that reads message `at`; characters. `ledger` is part of `product`."""

    at: int
    product: int
    ledger: int
    whole: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """`product` and `whole`: characters of all prompts of the meeting's turns together."""

    language: Language
    messages: int
    turns: int
    points: tuple[Size, ...]
    product: int
    whole: int


def measure(language: Language, messages: int = CHECKPOINTS[-1], length: int = LENGTH) -> Sizes:
    """A meeting made of what people say in the shipped scenarios, over and over, a decision every 50
    messages.

    `length`: characters of a message, at least.
    """
    said = _talk(language, messages, length)
    room = _room(language)
    points: list[Size] = []
    product = whole = turns = 0
    marks = {at for at in CHECKPOINTS if at <= messages}
    for count in range(1, messages + 1):
        cases.hear(room, said[count - 1])
        is_turn = count % A_TURN == 0
        turns += is_turn
        if count not in marks and not (is_turn and turns % SAMPLED == 0):
            continue
        size = _size(room, said[:count], count)
        if count in marks:
            points.append(size)
        if is_turn and turns % SAMPLED == 0:
            product += size.product * SAMPLED
            whole += size.whole * SAMPLED
    return Sizes(language, messages, turns, tuple(points), product, whole)


def _size(room: Room, said: Sequence[Message], count: int) -> Size:
    now = said[-1].at
    unread = tuple(said[-A_TURN:])
    scene = scene_of(room, Route.TURN, Material(unread, tuple(said), ()), now)
    loaded = replace(scene, history=tuple(said[-HISTORY:]))
    prompt = builder.build(loaded, language=room.meeting.language)
    return Size(count, _characters(prompt), len(prompt.ledger), _characters(_with_everything(scene)))


def _with_everything(scene: Scene) -> Prompt:
    """The same turn with all of the history and without a ledger that would stand in for it."""
    everything = builder.build(replace(scene, request="catch_up"), language=scene.meeting.language)
    return replace(everything, ledger="")


def _characters(prompt: Prompt) -> int:
    return len(prompt.system) + len(prompt.user_text())


def _talk(language: Language, messages: int, length: int) -> list[Message]:
    lines = [line.say for case in cases.load(language) for line in case.lines if line.who]
    plain = [
        text for text in dict.fromkeys(lines) if "@" not in text and ":" not in text and "：" not in text
    ]
    mark = (
        "決定：{n}番目の項目は案{n}で進める"
        if language == "ja"
        else "Decision: item {n} goes ahead with plan {n}"
    )
    made = []
    for count in range(1, messages + 1):
        text = "\n".join(_lines(plain, count, length))
        if count % A_DECISION == 0:
            text += "\n" + mark.format(n=count // A_DECISION)
        person = count % _PEOPLE
        at = cases.START + timedelta(seconds=20 * count)
        made.append(Message(1, cases.FIRST_MESSAGE_ID + count, 101 + person, f"P{person}", text, at))
    return made


def _lines(plain: Sequence[str], start: int, length: int) -> Iterator[str]:
    """Lines from `start` on, round and round, until `length` characters are reached."""
    said = 0
    while said < length:
        yield plain[start % len(plain)]
        said += len(plain[start % len(plain)])
        start += 1


def _room(language: Language) -> Room:
    case: Case = cases.load(language)[0]
    core = cases.core_of(OfflineModel(), case.now)
    return cases.open_room(
        core,
        title=case.title,
        language=language,
        chair="P0",
        minutes=600,
        agenda=case.agenda,
        constraints=("予算は50万円以内" if language == "ja" else "The budget is at most 5,000 dollars",),
        people={f"P{n}": 101 + n for n in range(_PEOPLE)},
    )


def show(console: Console, sizes: Sizes) -> None:
    rate = CHARACTERS_A_TOKEN[sizes.language]
    table = Table(
        title=f"Prompt of a turn, {sizes.language}, in characters (no model is asked)", title_justify="left"
    )
    for heading in ("message", "product", "of this ledger", "without ledger", "whole history"):
        table.add_column(heading, justify="right")
    for size in sizes.points:
        rest = size.product - size.ledger
        table.add_row(f"{size.at:,}", f"{size.product:,}", f"{size.ledger:,}", f"{rest:,}", f"{size.whole:,}")
    console.print(table)
    console.print(
        f"{sizes.messages:,} messages in {sizes.turns:,} turns: {sizes.product:,} characters"
        f" (about {sizes.product / rate:,.0f} tokens), with the whole history every turn {sizes.whole:,}"
        f" (about {sizes.whole / rate:,.0f} tokens): {sizes.whole / sizes.product:.1f} times as many"
    )

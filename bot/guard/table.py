"""The one table of the guard: rule x routes x strength x remedy (SPEC 3), and how it becomes rules for a
call.

A use case says what the room holds (`RoomFacts`) and takes `rules_for(route, facts)`. A new rule is one
function in `guard.rules_*` and one row here; nothing in the generator changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from bot.guard import rules_citing, rules_panel, rules_record, rules_wording
from bot.guard.choose import NO_REPETITION
from bot.guard.lexicons import lexicon_of, lexicons
from bot.guard.model import Remedy, Rule, Strength
from bot.guard.rules_panel import PanelFacts
from bot.guard.rules_wording import POST_CHARACTERS
from bot.guard.wording import Lexicon
from bot.meeting.citing import Passage
from bot.meeting.figures import Figure
from bot.meeting.model import LANGUAGES, Language, Route
from bot.phrases import words


def _never() -> bool:
    return False


def _none() -> tuple[str, ...]:
    return ()


def _zero() -> int:
    return 0


_NO_PANEL = PanelFacts()


@dataclass(frozen=True, slots=True)
class RoomFacts:
    """What rules may know of the room. Callables are asked at every check, so that step 6 sees the room as
    it is.

    `record` gives every text that figures and names may come from (transcript, ledger, agenda, title, own
    fixed posts); None leaves that rule out, for routes that talk freely. `allowed`: figures the clock or
    the settings hold (minutes left, minutes planned, dates, times), beside the record. `passages`: what an
    answer may cite, None where nothing is to be cited; `asked`: the question it answers. `question`: the
    bot's own last question that waits for an answer, None where there is none. `names`: everyone the post
    may name or mention; `titles`: of agenda items, in whatever language. `panel`: what counts for a panelist's turn.
    """

    language: Language
    title: str = ""
    closing: Callable[[], bool] = _never
    near_end: Callable[[], bool] = _never
    open_questions: Callable[[], Sequence[str]] = _none
    notice_minutes: int | None = None
    question: str | None = None
    answered: Callable[[], bool] = _never
    human_since: Callable[[], int] = _zero
    alike: bool = False
    names: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    user_ids: frozenset[int] = frozenset()
    entry_numbers: frozenset[int] = frozenset()
    record: Callable[[], Sequence[str]] | None = None
    allowed: tuple[Figure | float | date, ...] = ()
    passages: tuple[Passage, ...] | None = None
    asked: str = ""
    panel: PanelFacts = _NO_PANEL


Build = Callable[[RoomFacts, Lexicon], Rule | None]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `build` is None for the rule that step 5 applies by itself."""

    name: str
    routes: frozenset[Route]
    strength: Strength
    remedy: Remedy
    build: Build | None


EVERY = frozenset(Route)
POSTS = EVERY - {Route.MINUTES, Route.PANEL}
PANEL = frozenset({Route.PANEL})
ANSWERS = frozenset({Route.ASK, Route.HAND_OFF})
FACILITATOR = frozenset({Route.OPENING, Route.TURN, Route.TIME_NOTICE, Route.CLOSING})


def _hand_off(facts: RoomFacts, lexicon: Lexicon) -> Rule:
    return rules_wording.no_hand_off_while_closing(facts.closing, lexicons(), lexicon)


def _announces(facts: RoomFacts, lexicon: Lexicon) -> Rule:
    return rules_wording.announces_start(facts.title, lexicon)


def _minutes(facts: RoomFacts, lexicon: Lexicon) -> Rule | None:
    if facts.notice_minutes is None:
        return None
    return rules_wording.holds_minutes(facts.notice_minutes, lexicon)


def _question(facts: RoomFacts, lexicon: Lexicon) -> Rule:
    return rules_record.own_question_kept(
        facts.question, facts.answered, facts.human_since, facts.alike, lexicon
    )


def _again(facts: RoomFacts, lexicon: Lexicon) -> Rule:
    return rules_record.no_question_again(facts.question, facts.answered, facts.alike, lexicon)


def _apart(facts: RoomFacts, lexicon: Lexicon) -> Rule:
    return rules_record.decided_undecided_apart(facts.near_end, facts.open_questions, lexicon)


def _language(facts: RoomFacts, lexicon: Lexicon) -> Rule:
    return rules_wording.in_language((facts.title, *facts.titles, *facts.names), lexicon)


def _length(facts: RoomFacts, lexicon: Lexicon) -> Rule:
    return rules_wording.at_most(POST_CHARACTERS, lexicon)


def _mass(facts: RoomFacts, lexicon: Lexicon) -> Rule:
    return rules_wording.no_mass_mention(lexicon)


def _foreign(facts: RoomFacts, lexicon: Lexicon) -> Rule:
    return rules_wording.no_foreign_mention(facts.user_ids, lexicon)


def _citing(name: str) -> Build:
    """One of the rules of an answer that cites: every sentence does."""

    def build(facts: RoomFacts, lexicon: Lexicon) -> Rule | None:
        if facts.passages is None:
            return None
        rules = rules_citing.citing_rules(facts.passages, facts.language, strict=True, question=facts.asked)
        return next(rule for rule in rules if rule.name == name)

    return build


def _record(facts: RoomFacts, lexicon: Lexicon) -> Rule | None:
    if facts.record is None:
        return None
    if facts.passages is not None:  # held to the passages themselves by the rules on citing
        return rules_citing.no_unknown_record(
            facts.passages, facts.asked, facts.allowed, facts.names, lexicon
        )
    return rules_record.no_unknown_record(
        facts.record, facts.allowed, facts.names, facts.entry_numbers, lexicon
    )


def _panel_length(facts: RoomFacts, lexicon: Lexicon) -> Rule:
    return replace(rules_wording.at_most(rules_panel.CHARACTERS, lexicon), name="at_most_panel")


def _new(facts: RoomFacts, lexicon: Lexicon) -> Rule:
    return rules_panel.brings_something_new(facts.panel.recent, lexicon)


def _voice(facts: RoomFacts, lexicon: Lexicon) -> Rule:
    return rules_panel.own_voice(facts.panel.voices, lexicon)


def _ends(facts: RoomFacts, lexicon: Lexicon) -> Rule:
    return rules_panel.ends_nothing([words(language) for language in LANGUAGES], lexicon)


def _decides(facts: RoomFacts, lexicon: Lexicon) -> Rule:
    return rules_panel.decides_nothing_unheld(facts.panel.held, facts.entry_numbers, lexicon)


def _official(facts: RoomFacts, lexicon: Lexicon) -> Rule:
    return rules_panel.calls_nobody_official(hand_off, lexicon)


_MUST, _SHOULD = Strength.MUST, Strength.SHOULD
TABLE: tuple[Row, ...] = (
    Row("no_hand_off_while_closing", FACILITATOR, _MUST, Remedy.REPHRASE, _hand_off),
    Row("announces_start", frozenset({Route.OPENING}), _MUST, Remedy.REPHRASE, _announces),
    Row("holds_minutes", frozenset({Route.TIME_NOTICE}), _MUST, Remedy.FIXED, _minutes),
    Row("own_question_kept", frozenset({Route.TURN}), _SHOULD, Remedy.REPHRASE, _question),
    Row("no_question_again", frozenset({Route.TURN}), _MUST, Remedy.REPHRASE, _again),
    Row(
        "decided_undecided_apart",
        FACILITATOR - {Route.OPENING} | {Route.HAND_OFF},
        _SHOULD,
        Remedy.COMPLETE,
        _apart,
    ),
    Row("in_language", EVERY, _MUST, Remedy.REPHRASE, _language),
    Row("at_most", POSTS, _MUST, Remedy.REPHRASE, _length),
    Row("no_mass_mention", EVERY, _MUST, Remedy.REPHRASE, _mass),
    Row("no_foreign_mention", EVERY, _MUST, Remedy.REPHRASE, _foreign),
    Row("no_unknown_record", EVERY - {Route.CHAT, Route.PANEL}, _MUST, Remedy.REPHRASE, _record),
    Row("at_most_panel", PANEL, _MUST, Remedy.REPHRASE, _panel_length),
    Row("brings_something_new", PANEL, _MUST, Remedy.REPHRASE, _new),
    Row("own_voice", PANEL, _MUST, Remedy.REPHRASE, _voice),
    Row("ends_nothing", PANEL, _MUST, Remedy.REPHRASE, _ends),
    Row("decides_nothing_unheld", PANEL, _MUST, Remedy.REPHRASE, _decides),
    Row("calls_nobody_official", PANEL, _MUST, Remedy.REPHRASE, _official),
    Row("cites_exist", ANSWERS, _MUST, Remedy.REPHRASE, _citing("cites_exist")),
    Row("cites_each", ANSWERS, _MUST, Remedy.REPHRASE, _citing("cites_each")),
    Row("cited_agrees", ANSWERS, _MUST, Remedy.REPHRASE, _citing("cited_agrees")),
    Row("cited_holds", ANSWERS, _MUST, Remedy.REPHRASE, _citing("cited_holds")),
    Row("cited_stands", ANSWERS, _MUST, Remedy.REPHRASE, _citing("cited_stands")),
    Row(NO_REPETITION, frozenset({Route.TURN}), _SHOULD, Remedy.DROP, None),
)


def rules_for(route: Route, facts: RoomFacts) -> tuple[Rule, ...]:
    """The check rules of a route, in the table's order. Repetition is the generator's own step 5."""
    lexicon = lexicon_of(facts.language)
    rules = (row.build(facts, lexicon) for row in TABLE if route in row.routes and row.build is not None)
    return tuple(rule for rule in rules if rule is not None)


def judges_repetition(route: Route) -> bool:
    """Whether step 5 applies to a route at all; callers switch it off where a person waits or is alone."""
    return any(row.name == NO_REPETITION and route in row.routes for row in TABLE)


def hand_off(text: str) -> bool:
    """Does the post address the assistant, in either language? The room asks this of facilitator posts."""
    return rules_wording.hand_off(text, lexicons())

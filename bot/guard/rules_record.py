"""Rules that hold a post to what the meeting's record says: own question, open questions, figures, names.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date

from bot.guard.model import Candidate, Remedy, Rule, Strength
from bot.guard.similarity import alike
from bot.guard.wording import Lexicon, plain, sentences
from bot.meeting.figures import Figure, as_figure, figures, unborne
from bot.meeting.model import Phase
from bot.meeting.names import entry_numbers, unknown_names
from bot.meeting.replies import questions_in

# Beyond this many human messages the room has moved on (SPEC 3, exit conditions).
GIVE_UP_AFTER = 6
_NAMED_QUESTIONS = 4
_SENTENCE_CHARACTERS = 320
_TERM_JA = re.compile(r"[\u4e00-\u9fff々]{2,}|[ぁ-ゔー]{4,}|[a-z0-9]{2,}")
_TERM_EN = re.compile(r"[a-z0-9]{4,}")
# Of the question's own words, this share must come back before the question counts as kept.
_KEPT_SHARE = 0.34


def own_question_kept(
    question: str | None,
    answered: Callable[[], bool],
    human_since: Callable[[], int],
    alike_posts: bool,
    lexicon: Lexicon,
) -> Rule:
    """The bot's own question is not abandoned while nobody has answered it.

    Exits: it was answered (any form, either polarity), the last two own posts are alike, more than six human
    messages have come since. The note is conditional, so that a model that sees an answer is not sent back.
    """

    def check(candidate: Candidate) -> str | None:
        if question is None or alike_posts or answered() or human_since() > GIVE_UP_AFTER:
            return None
        if keeps(question, candidate.text, lexicon):
            return None
        return lexicon.reason("own_question_kept", question=_short(question, 200))

    return Rule("own_question_kept", Strength.SHOULD, Remedy.REPHRASE, check)


def no_question_again(
    question: str | None, answered: Callable[[], bool], alike_posts: bool, lexicon: Lexicon
) -> Rule:
    """A question that was answered, or asked twice in vain, is not asked again: someone alone would loop
    for ever.
    """

    def check(candidate: Candidate) -> str | None:
        if question is None or not (alike_posts or answered()):
            return None
        if not any(alike(asked, question, lexicon.language) for asked in questions_in(candidate.text)):
            return None
        return lexicon.reason("no_question_again", question=_short(question, 200))

    return Rule("no_question_again", Strength.MUST, Remedy.REPHRASE, check)


def keeps(question: str, text: str, lexicon: Lexicon) -> bool:
    """Does the text come back to the question, in its words or by pointing at it?"""
    folded = plain(text)
    if lexicon.pattern("points_back").search(folded):
        return True
    terms = _terms(question, lexicon)
    return bool(terms) and sum(term in folded for term in terms) >= max(1, len(terms) * _KEPT_SHARE)


def decided_undecided_apart(
    near_end: Callable[[], bool], open_questions: Callable[[], Sequence[str]], lexicon: Lexicon
) -> Rule:
    """Near the end a post that sums up names what is still open; where it does not, code adds the open
    questions.
    """

    def check(candidate: Candidate) -> str | None:
        late = candidate.closing_seen or candidate.phase in (Phase.CONVERGING, Phase.CLOSING) or near_end()
        questions = open_questions() if late else ()
        if not questions or not _sums_up(candidate, lexicon):
            return None
        folded = plain(candidate.text)
        if lexicon.pattern("undecided").search(folded) or any(plain(q) in folded for q in questions):
            return None
        return lexicon.reason("decided_undecided_apart", questions=_listed(questions, lexicon))

    def complete(text: str) -> str:
        return f"{text}\n{lexicon.sentence('open_questions', questions=_listed(open_questions(), lexicon))}"

    return Rule("decided_undecided_apart", Strength.SHOULD, Remedy.COMPLETE, check, complete)


def no_unknown_record(
    record: Callable[[], Sequence[str]],
    allowed: Iterable[Figure | float | date],
    names: Sequence[str],
    numbers: Collection[int],
    lexicon: Lexicon,
) -> Rule:
    """No figure, person or entry number that transcript, ledger or clock does not hold."""
    clock = [as_figure(a) for a in allowed]

    def check(candidate: Candidate) -> str | None:
        texts = record()
        text = lexicon.pattern("no_figures").sub("…", candidate.text)
        held = clock + [f for text in texts for f in figures(text)]
        unknown = [f.written for f in unborne(text, held) if not _small_count(f)]
        unknown += [f"#{n}" for n in entry_numbers(candidate.text) if n not in numbers]
        found = unknown_names(candidate.text, names, texts)
        unknown += [name for name in found if plain(name) not in lexicon.list("not_names")]
        return (
            lexicon.reason("no_unknown_record", found=", ".join(dict.fromkeys(unknown))) if unknown else None
        )

    return Rule("no_unknown_record", Strength.MUST, Remedy.REPHRASE, check)


def _small_count(figure: Figure) -> bool:
    """ "Two options", "一つ確認": counting what lies before everyone claims nothing that the record must
    hold.
    """
    return figure.unit == "" and figure.raw in (1.0, 2.0, 3.0)


def _sums_up(candidate: Candidate, lexicon: Lexicon) -> bool:
    text = plain(candidate.text)
    if candidate.closing_seen or candidate.closing_complete or candidate.phase is Phase.CLOSING:
        return not all(_only_procedure(sentence, lexicon) for sentence in sentences(text))
    return bool(lexicon.pattern("sums_up").search(text))


def _only_procedure(sentence: str, lexicon: Lexicon) -> bool:
    """Thanks, what happens next, a question whether anything is missing: while closing everything else
    counts as summing up, whatever its words.
    """
    rest, found = lexicon.pattern("procedure").subn(" ", sentence)
    return bool(found or sentence.endswith("?")) and not (
        lexicon.pattern("sums_up").search(rest) or figures(rest)
    )


def _terms(question: str, lexicon: Lexicon) -> tuple[str, ...]:
    """The words that make the question this question: no fillers, English ones cut to their stem's length."""
    folded = plain(question)
    if lexicon.language == "en":
        found: Iterable[str] = (w[:6] for w in _TERM_EN.findall(folded) if w not in lexicon.list("filler"))
    else:
        found = (w for w in _TERM_JA.findall(lexicon.pattern("filler").sub(" ", folded)))
    return tuple(dict.fromkeys(found))


def _listed(questions: Sequence[str], lexicon: Lexicon) -> str:
    """The questions in a row, capped in number and length; what is left out is counted."""
    shown = [_short(q, _SENTENCE_CHARACTERS // _NAMED_QUESTIONS) for q in questions[:_NAMED_QUESTIONS]]
    listed = lexicon.sentence("joiner").join(lexicon.sentence("question", question=q) for q in shown)
    left = len(questions) - len(shown)
    return listed + (lexicon.sentence("more", count=left) if left else "")


def _short(text: str, limit: int) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= limit else f"{one_line[: limit - 1]}…"

"""minutes.md: the document as text (`minutes.coverage` proves that the text holds all of it).

Texts of the ledger stand literally (`meeting.display.literal`), so every one of them, without its invisible
characters, is a substring of the file. Only the prose (summary, agenda) is the model's; everything else is
rendered from the document, hence no entry can be missing. `say(key, **values)` is the phrase book in the
language of the minutes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from bot.meeting.display import display, literal, one_line, visible
from bot.meeting.model import Language

Say = Callable[..., str]
Part = Mapping[str, Any]
NAME = 200  # characters of a name in the file; longer ones lose their middle, visibly
TITLE = 2000
FOUND = ("model", "panel")  # origins that no person stands for until one confirms
ENDED = ("turns", "agreed", "cost", "stopped", "limits", "provider")
OMITTED = ("offline", "guard", "provider", "deadline", "erased")
_PROSE = re.compile(r"[<`\[\]]|^[ \t]*(?:#{1,6}(?=\s)|>|~{3}|=+[ \t]*$|-{2,}[ \t]*$)", re.MULTILINE)


def render(document: Part, language: Language, say: Say) -> str:
    """The whole of minutes.md, ending in one line end."""
    writer = _Writer(document, language, say)
    return "\n\n".join("\n".join(block) for block in writer.blocks() if block) + "\n"


def entry_head(part: Part) -> str:
    """Number and text of one entry, as they stand at the start of its part of the file."""
    text = literal(part["text"])
    return f"- **#{part['number']}**" + (f"\n{text}" if "\n" in text else f" {text}")


def prose(text: str) -> str:
    """A model's text as it stands in the file: no links, tags, headings or mentions of its own."""
    text = visible(text).strip().replace("@everyone", "＠everyone").replace("@here", "＠here")
    return _PROSE.sub(lambda found: re.sub(r"(?=[<`\[\]#>~=-])", r"\\", found.group(), count=1), text)


def vote_line(vote: Part) -> str:
    """One person's vote and words."""
    sign = "+1" if vote["value"] > 0 else "-1" if vote["value"] < 0 else "0"
    words = f" {literal(one_line(vote['words']))}" if vote["words"].strip() else ""
    return f"{display(vote['who'], NAME)} {sign}{words}"


def zone(name: str) -> tzinfo:
    """The named time zone; UTC where this machine does not know it."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return UTC


class _Writer:
    """Writes one document; each method gives the lines of a section, none where it has nothing to say."""

    def __init__(self, document: Part, language: Language, say: Say) -> None:
        self.document, self.language = document, language
        self._phrase = say
        self.zone = zone(document["meeting"]["timezone"])
        self.day = self.local(document["meeting"]["started_at"]).date()

    def say(self, key: str, **values: object) -> str:
        return self._phrase(f"minutes.{key}", **values)

    def blocks(self) -> Iterator[list[str]]:
        doc = self.document
        yield [f"# {self.say('heading', title=display(doc['meeting']['title'], TITLE))}"]
        yield self.header()
        yield self.section("summary", self.summary())
        yield self.entries("constraints", doc["constraints"], self.broken_by)
        yield self.entries("decisions", doc["decisions"], self.decision, "no_decisions")
        changed = [old for old in doc["replaced"] if old["kind"] == "decision"]
        yield self.entries("replaced", changed, self.replacement)
        yield self.entries("questions", doc["questions"], self.question, "no_questions")
        yield self.entries("actions", doc["actions"], self.action, "no_actions")
        yield self.entries("proposals", doc["proposals"], self.votes)
        yield self.entries("decided_proposals", doc["decided_proposals"], self.votes)
        yield self.entries("answered_questions", doc["answered_questions"], self.question)
        yield self.section("agenda", self.agenda())
        yield self.entries("notes", doc["notes"], self.nothing)
        reworded = [old for old in doc["replaced"] if old["kind"] != "decision"]
        yield self.entries("reworded", reworded, self.replacement)
        yield self.entries("withdrawn", doc["withdrawn"], self.kind)
        yield self.section("attendance", self.attendance() or [self.say("nobody")])
        yield self.section("made", self.made())

    def section(self, key: str, lines: Sequence[str]) -> list[str]:
        return [f"## {self.say(key)}", "", *lines] if lines else []

    def entries(
        self,
        key: str,
        parts: Sequence[Part],
        extra: Callable[[Part], Iterable[str]],
        empty: str | None = None,
    ) -> list[str]:
        lines: list[str] = []
        for part in parts:
            lines.append(entry_head(part))
            lines.append(f"  {self.source(part)}")
            lines += [f"  - {line}" for line in (*extra(part), *self.doubts(part))]
        return self.section(key, lines or ([self.say(empty)] if empty else []))

    # what stands with an entry

    def source(self, part: Part) -> str:
        said = [self.who(part), self.when(part["at"])]
        if part["link"]:
            said.append(f"[{self.say('source')}]({part['link']})")
        if part.get("origin") == "panel":
            said.append(self.say("of_panel"))
        if "confirmed" in part or part.get("origin") in FOUND:
            said.append(self.confirmed(part))
        return self.say("source_line", parts=self.say("separator").join(said))

    def who(self, part: Part) -> str:
        return display(part["who"], NAME) if part["who"] else self.say("nobody_named")

    def confirmed(self, part: Part) -> str:
        if part["confirmed_by"]:
            return self.say("confirmed_by", names=self.names(part["confirmed_by"]))
        return self.say("confirmed" if part.get("confirmed") else "unconfirmed")

    def doubts(self, part: Part) -> Iterator[str]:
        """The verbatim words behind an entry that a model worded, objections, conflicts."""
        quote = one_line(part.get("quote", ""))
        text = one_line(part["text"])
        marked = part.get("origin") == "panel" and text in quote  # a mark and the text behind it
        if part.get("origin") in FOUND and quote and quote not in text and not marked:
            yield self.say("quote", quote=literal(quote))
        for said in part.get("objections", ()):
            yield self.say("objection", text=self.reply(said), who=self.who(said))
        for said in part.get("repeated", ()):
            yield self.say(
                "repeated", number=f"#{said['number']}", who=self.who(said), at=self.when(said["at"])
            )
        if part.get("conflicts_with"):
            yield self.say("conflict", numbers=self.numbers(part["conflicts_with"]))

    def nothing(self, part: Part) -> Iterator[str]:
        yield from ()

    def broken_by(self, part: Part) -> Iterator[str]:
        broken = [d["number"] for d in self.document["decisions"] if part["number"] in d["conflicts_with"]]
        if broken:
            yield self.say("broken_by", numbers=self.numbers(broken))

    def decision(self, part: Part) -> Iterator[str]:
        if part["against"]:
            yield self.say("against")
        own = (part["number"], part["first_number"])
        older = [old["number"] for old in self.document["replaced"] if old["replaced_by"] in own]
        if older:
            yield self.say("replaces", numbers=self.numbers(older))

    def replacement(self, part: Part) -> Iterator[str]:
        if part["kind"] != "decision":
            yield from self.kind(part)
        if part["kind"] == "action":
            yield from self.action(part)
        if part["replaced_by"] is not None:
            yield self.say("replaced_by", number=f"#{part['replaced_by']}")

    def kind(self, part: Part) -> Iterator[str]:
        yield self.say(f"kind_{part['kind']}")

    def question(self, part: Part) -> Iterator[str]:
        yield from self.carried(part)
        for position in part["positions"]:
            yield self.say("position", text=literal(one_line(position)))
        for said in part["answers"]:
            yield self.say("answer", text=self.reply(said), who=self.who(said))

    def action(self, part: Part) -> Iterator[str]:
        yield from self.carried(part)
        yield self.say("owner", owner=display(part["owner"], NAME)) if part["owner"] else self.say("no_owner")
        if part["due"]:
            yield self.say("due", due=self.due(part["due"]))
        if part.get("status") == "done":  # an old wording has no standing of its own
            yield self.say("done")

    def carried(self, part: Part) -> Iterator[str]:
        if part.get("carried_from"):
            yield self.say("carried", link=part["carried_from"])

    def votes(self, part: Part) -> Iterator[str]:
        values = [vote["value"] for vote in part["votes"]]
        favour, against = sum(v > 0 for v in values), sum(v < 0 for v in values)
        yield self.say("votes", favour=favour, neutral=len(values) - favour - against, against=against)
        for vote in part["votes"]:
            yield vote_line(vote)

    # sections that are no lists of entries

    def header(self) -> list[str]:
        meeting = self.document["meeting"]
        begin = self.local(meeting["started_at"])
        end = self.when(meeting["ended_at"]) if meeting["ended_at"] else self.say("open_end")
        when = self.say(
            "span", day=self.date(self.day), begin=f"{begin:%H:%M}", end=end, zone=meeting["timezone"]
        )
        return [
            f"- {when}",
            f"- {self.say('chair', chair=display(meeting['chair'], NAME) or self.say('nobody_named'))}",
        ]

    def summary(self) -> list[str]:
        lines = [prose(self.document["summary"])] if self.document["summary"] else []
        reason = self.document["made"]["prose_omitted_reason"]
        if reason is not None:
            lines.append(self.say(f"omitted_{reason if reason in OMITTED else 'other'}"))
        return lines or [self.say("omitted_other")]

    def agenda(self) -> list[str]:
        lines: list[str] = []
        for item in self.document["agenda"]:
            lines += [*([""] if lines else []), f"### {literal(one_line(item['title']))}", ""]
            if item["text"]:
                lines += [prose(item["text"]), ""]
            if item["entries"] or item.get("replaced"):
                lines.append(self.say("recorded", numbers=self.recorded(item)))
            elif not item["text"]:
                lines.append(self.say("nothing_recorded"))
            elif lines[-1] == "":
                lines.pop()
        return lines

    def recorded(self, item: Part) -> str:
        """Numbers in their order; of one that another took the place of also that one's."""
        named = {number: f"#{number}" for number in item["entries"]}
        for old in item.get("replaced", ()):
            new = f"#{old['replaced_by']}"
            named[old["number"]] = self.say("recorded_replaced", old=f"#{old['number']}", new=new)
        return self.say("separator").join(named[number] for number in sorted(named))

    def share(self, person: Part) -> str:
        if not person["messages"]:
            return self.say("joined")
        return self.say("share", messages=person["messages"], share=f"{100 * person['share']:.0f}")

    def attendance(self) -> list[str]:
        lines: list[str] = []
        for person in self.document["attendance"]:
            lines.append(f"- {display(person['name'], NAME)}" + self.share(person))
            if person.get("standpoint"):
                lines.append(f"  - {self.say('standpoint', text=literal(one_line(person['standpoint'])))}")
        return lines

    def made(self) -> list[str]:
        made = self.document["made"]
        models = self.say("separator").join(display(model, NAME) for model in made["models"])
        counts = ("generations", "rephrased", "fixed", "silent")
        tokens = ("tokens_in", "tokens_cached", "tokens_out")
        digest = made["ledger_digest"] or "-"
        return [
            *self.panel(),
            f"- {self.say('models', models=models) if models else self.say('no_model')}",
            f"- {self.say('counts', **{name: made[name] for name in counts})}",
            f"- {self.say('tokens', **{name: made[name] for name in tokens})}",
            f"- {self.say('ledger', entries=len(self.document['ledger']), digest=digest)}",
        ]

    def panel(self) -> list[str]:
        """Who discussed, how it ended and who pays: only where AI participants took part."""
        panel = self.document.get("panel")
        if panel is None:
            return []
        ended = panel["ended"] if panel["ended"] in ENDED else "people"
        values = {name: panel[name] for name in ("turns", "turns_taken", "tokens_in", "tokens_out")}
        models = self.say("separator").join(display(model, NAME) for model in panel["models"])
        lines = [self.say("panel", ended=self.say(f"panel_{ended}"), **values)]
        bill = "panel_bill" if models else "panel_free"
        lines.append(self.say(bill, models=models, cost=f"{panel['cost_usd']:.4f}", **values))
        if panel["cost_cap_usd"] is not None:
            lines.append(self.say("panel_cap", cap=f"{panel['cost_cap_usd']:g}"))
        return [f"- {line}" for line in lines]

    # small things

    def local(self, moment: str) -> datetime:
        return datetime.fromisoformat(moment).astimezone(self.zone)

    def when(self, moment: str) -> str:
        at = self.local(moment)
        return f"{at:%H:%M}" if at.date() == self.day else f"{self.date(at.date())} {at:%H:%M}"

    def date(self, day: date) -> str:
        weekday = self.say(f"weekday_{day.weekday()}")
        return self.say("date", year=day.year, month=day.month, day=day.day, weekday=weekday)

    def due(self, due: str) -> str:
        try:
            day = date.fromisoformat(due)
        except ValueError:
            return display(due, NAME)
        return self.say("due_day", iso=due, weekday=self.say(f"weekday_{day.weekday()}"))

    def reply(self, said: Part) -> str:
        return f"#{said['number']} {literal(one_line(said['text']))}"

    def numbers(self, found: Iterable[int]) -> str:
        return self.say("separator").join(f"#{number}" for number in found)

    def names(self, found: Iterable[str]) -> str:
        return self.say("separator").join(display(name, NAME) for name in found)

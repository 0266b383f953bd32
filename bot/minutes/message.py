"""The one Discord message that the minutes are published as, and errata.

Everything stands in the attachment; the embeds show what fits, entry by entry, and count the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from bot.meeting.display import (
    brief,
    display,
    fit,
    literal,
    one_line,
    share_out,
    shorten,
    task,
    units,
    visible,
)
from bot.meeting.model import Language, Meeting, Persona
from bot.minutes.render import prose
from bot.phrases import short_day, t
from bot.stage import Attachment, Embed, Outgoing

FILE = "minutes.md"
DESCRIPTION = 4096  # Discord's limits (RELIABILITY.md), read in UTF-16 code units
TOTAL = 5800  # of 6,000 over all embeds: titles and footer are counted in, the rest is reserve
LINE = 400  # characters of one entry; a longer one is shortened visibly and stands whole in the file
ERRATUM = 3800
Say = Callable[..., str]
Part = Mapping[str, Any]


def marker(meeting_id: int) -> str:
    """What a history scan finds the minutes by: the footer of the last embed."""
    return f"ketsugi minutes {meeting_id}"


def minutes_outgoing(document: Part, text: str, meeting: Meeting, say: Say, language: Language) -> Outgoing:
    """`text` (minutes.md) as attachment, the same in short as embeds within Discord's limits."""
    content = say(
        "minutes_post.content",
        title=display(document["meeting"]["title"], 120),
        decisions=len(document["decisions"]),
        questions=len(document["questions"]),
        actions=len(document["actions"]),
    )
    return Outgoing(
        text=content,
        persona=Persona.ASSISTANT,
        language=language,
        embeds=_embeds(document, say, marker(meeting.id)),
        files=(Attachment(FILE, text.encode("utf-8")),),
        meeting_id=meeting.id,
    )


def _embeds(document: Part, say: Say, footer: str) -> tuple[Embed, ...]:
    """Links to the sources where there is room for all of them; otherwise more entries instead."""
    linked = _sections(document, say, links=True)
    if _size(linked) + units(footer) > TOTAL or any(_length(lines) > DESCRIPTION for _, lines in linked):
        linked = _sections(document, say, links=False)
    heads = sum(units(head) for head, _ in linked) + units(footer)
    wanted = [min(DESCRIPTION, _length(lines)) for _, lines in linked]
    rooms = share_out(wanted, TOTAL - heads)
    bodies = [
        "\n".join(fit(lines, room, lambda count: say("minutes_post.more", count=count, file=FILE)))
        for (_, lines), room in zip(linked, rooms, strict=True)
    ]
    last = len(linked) - 1
    return tuple(
        Embed(title=head, description=body, footer=footer if index == last else "")
        for index, ((head, _), body) in enumerate(zip(linked, bodies, strict=True))
    )


def _length(lines: Sequence[str]) -> int:
    return sum(units(line) + 1 for line in lines)


def _size(sections: Sequence[tuple[str, Sequence[str]]]) -> int:
    return sum(units(head) + _length(lines) for head, lines in sections)


def _sections(document: Part, say: Say, *, links: bool) -> list[tuple[str, list[str]]]:
    def lines(part_of: str, tail: Callable[[Part], str]) -> list[str]:
        return [_line(part, say, tail, links) for part in document[part_of]]

    none = [say("minutes_post.none")]
    sections = [
        ("summary", [] if _recites(document) else _summary(document, say)),
        ("decisions", lines("decisions", lambda part: _decision(part, say)) or none),
        ("questions", lines("questions", lambda part: "") or none),
        ("actions", lines("actions", lambda part: _action(part, say, document["meeting"])) or none),
        ("proposals", lines("proposals", lambda part: "")),
    ]
    return [(say(f"minutes.{key}"), found) for key, found in sections if found]


def _line(part: Part, say: Say, tail: Callable[[Part], str], links: bool) -> str:
    number = f"**#{part['number']}**"
    if links and part["link"]:
        number = f"[**#{part['number']}**]({part['link']})"
    if part["origin"] == "panel":
        number = f"{number} 🤖"
    whole = task(one_line(part["text"]), part.get("owner"))
    note = f" {say('minutes_post.shortened', file=FILE)}" if len(whole) > LINE else ""
    return " ".join(piece for piece in (number, brief(whole, LINE) + note, tail(part)) if piece)


def _recites(document: Part) -> bool:
    """Whether the summary only repeats the lists below it, as it does where no model wrote it."""
    models: list[str] = document["made"]["models"]
    return bool(document["summary"] and models) and all(name.startswith("offline") for name in models)


def _summary(document: Part, say: Say) -> list[str]:
    if not document["summary"]:
        return [say("minutes_post.no_summary")]
    whole = prose(document["summary"])
    if units(whole) <= 1500:
        return [whole]
    return [prose(shorten(visible(document["summary"]), 700)), say("minutes_post.shortened", file=FILE)]


def _decision(part: Part, say: Say) -> str:
    notes = ["✅" if part["confirmed"] else say("minutes_post.unconfirmed")]
    if part["against"]:
        notes.insert(0, say("minutes_post.against"))
    if part["conflicts_with"]:
        numbers = say("minutes.separator").join(f"#{number}" for number in part["conflicts_with"])
        notes.append(say("minutes_post.conflict", numbers=numbers))
    if part["objections"]:
        notes.append(say("minutes_post.objections", count=len(part["objections"])))
    return " ".join(notes)


def _action(part: Part, say: Say, meeting: Part) -> str:
    owner = display(part["owner"], 40) if part["owner"] else say("minutes_post.no_owner")
    held = datetime.fromisoformat(meeting["started_at"]).date()
    day = short_day(part["due"], meeting["language"], held) if part["due"] else ""
    due = say("minutes_post.due", due=display(day, 40)) if day else ""
    return f"— {owner}{due}"


def erratum(
    number: int, text: str, who: str, at: datetime, language: Language, *, meeting_id: int | None = None
) -> Outgoing:
    """A numbered correction after the close. A text too long for an embed stands whole in an attachment."""
    body = literal(text)
    files: tuple[Attachment, ...] = ()
    if units(body) > ERRATUM:
        name = f"erratum-{number}.md"
        files = (Attachment(name, (body + "\n").encode("utf-8")),)
        body = f"{brief(text, 1500)}\n{t('minutes_post.shortened', language, file=name)}"
    said = t("minutes_post.erratum_by", language, who=display(who), at=f"<t:{int(at.timestamp())}:f>")
    footer = f"ketsugi erratum {meeting_id} {number}" if meeting_id is not None else ""
    title = t("minutes_post.erratum", language, number=number)
    return Outgoing(
        text=said,
        persona=Persona.ASSISTANT,
        language=language,
        embeds=(Embed(title=title, description=body, footer=footer),),
        files=files,
        meeting_id=meeting_id,
    )

"""What a rehearsal shows: the conversation as it happens, the minutes, a summary; and the lines as a file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.panel import Panel
from rich.text import Text

from bot.meeting.model import Language
from bot.phrases import t
from bot.rehearsal.observer import Line

COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "bright_red", "bright_cyan", "bright_magenta")
# Of the board no news: its time bar, headings, who has spoken how much.
NO_NEWS = re.compile(r"[▰▱]|^🤖 AI|^💰|^\*\*[^*]+\*\*( \(\d+\))?$|^.+ \d+%( · .+ \d+%)*$")
STAMP = re.compile(r"<t:(\d+)(?::\w)?>")
MARGIN = 8


class Terminal:
    """Prints lines as they come. What people wrote is printed as it is, never as markup.

    `clock` tells the seconds since the start of a Unix time: Discord shows such stamps as times of day.
    """

    def __init__(
        self, language: Language, clock: Callable[[float], float], console: Console | None = None
    ) -> None:
        self._language, self._clock = language, clock
        self._console = console or Console(highlight=False)
        self._colours: dict[str, str] = {}
        self._boards: dict[str, set[str]] = {}

    def show(self, line: Line) -> None:
        match line["kind"]:
            case "human":
                self._said(line["at"], line["who"], line["text"], self._colour(line["who"]))
            case "post":
                self._posted(line)
            case "edit":
                self._edited(line)
            case "reaction" if not line.get("removed"):
                self._aside(f"{line['emoji']} → {line['on']}")
            case "reply":
                key = "rehearsal.only_sees" if line["ephemeral"] else "rehearsal.answer"
                self._aside(t(key, self._language, who=line["to"], text=line["text"]))
            case "act":
                what = t(f"rehearsal.act.{line['act']}", self._language, who=line["who"], what=line["text"])
                self._aside(what.strip())
            case "problem":
                self._aside(line["text"], "bold red")

    def finish(self, lines: Iterable[Line]) -> None:
        """The minutes and the summary line."""
        for line in lines:
            if line["kind"] == "minutes":
                title = t("rehearsal.minutes", self._language)
                self._console.print(Panel(Markdown(line["text"]), title=title, border_style="dim"))
            elif line["kind"] == "summary":
                self.summarise(line)

    def summarise(self, line: Line) -> None:
        good = line["minutes_messages"] == 1
        text = t(
            "rehearsal.summary",
            self._language,
            **{k: line[k] for k in ("minutes_messages", "posts", "generations", "fixed")},
            wait=f"{line['longest_wait_s']:.1f}",
            wall=f"{line['wall_s']:.1f}",
        )
        self._console.print(Text(text, style="bold green" if good else "bold red"), soft_wrap=True)
        for problem in line["problems"]:
            self._console.print(Text(f"! {problem}", style="red"))

    def _posted(self, line: Line) -> None:
        head, _, rest = line["text"].partition("\n")
        spoken = head.startswith("**") and head.endswith("**")
        who = line.get("name") or (head.strip("*") if spoken else "Ketsugi")
        text = rest if spoken else line["text"]
        if line["where"] != "channel":
            who = f"{who} ({t('rehearsal.where.' + line['where'], self._language)})"
        for name in line.get("files", ()):
            text += f"\n📎 {name}"
        labels = line.get("buttons", ())
        if labels:
            text += "\n" + "  ".join(f"[{label}]" for label in labels)
        self._said(
            line["at"], who, text.strip(), self._colour(who) if line["by"] == "panel" else "bold white"
        )
        self._boards[line["message_id"]] = set(line["text"].split("\n"))

    def _edited(self, line: Line) -> None:
        """Only the lines that are new."""
        before = self._boards.get(line["message_id"], set())
        now = line["text"].split("\n")
        self._boards[line["message_id"]] = set(now)
        fresh = [row for row in now if row and row not in before and not NO_NEWS.search(row)]
        for row in fresh:
            self._aside(f"│ {row}")

    def _said(self, at: float, who: str, text: str, style: str) -> None:
        said = Text(f"{_clock(at):>{MARGIN - 2}}  ", style="dim")
        said.append(f"{who}", style=style)
        said.append("  " + self._laid_out(text), style="default")
        self._console.print(said, soft_wrap=True)

    def _aside(self, text: str, style: str = "dim") -> None:
        self._console.print(Text(" " * (MARGIN + 2) + self._laid_out(text), style=style), soft_wrap=True)

    def _laid_out(self, text: str) -> str:
        text = STAMP.sub(lambda found: _clock(self._clock(int(found[1]))), text)
        return text.replace("\n", "\n" + " " * (MARGIN + 2))

    def _colour(self, who: str) -> str:
        return self._colours.setdefault(who, COLOURS[len(self._colours) % len(COLOURS)])


def write(path: Path, lines: Iterable[Line]) -> None:
    """The output lines as JSON Lines."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes:02d}:{rest:02d}"

"""What must hold of an outcome, whatever happened on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from bot import phrases
from bot.meeting import ledger as folding
from bot.meeting.model import Entry, MeetingState
from tests.crash.injecting import EPOCH
from tests.crash.outcome import Outcome
from tests.crash.script import CHANNEL, MEETING
from tests.crash.world import Posted, World

LONGEST_WAIT_S = 25.0
NOTICE_LATE_S = 5.0  # so long a notice may be on its way


def problems(out: Outcome, calm: Outcome | None, *, reachable: bool = True) -> list[str]:
    """What is wrong with an outcome, in words; nothing where all promises are kept.

    `calm`: the undisturbed run. `reachable` False: the channel was taken away, minutes go to the chair.
    """
    found: list[str] = list(_state(out))
    found += _posts(out, reachable)
    if reachable:
        found += _owed(out)
        found += _notices(out, calm) if calm is not None else []
        found += _waits(out)
        found += _window(out)
    if calm is not None and reachable:
        found += _ledger(out, calm)
    found += [f"unforeseen: {line.splitlines()[0]}" for line in out.errors]
    return found


def _state(out: Outcome) -> list[str]:
    if out.meeting is None:
        return ["there is no meeting"]
    if out.rows[0].state == "failed" and out.meeting.state is MeetingState.CLOSED:
        # It never came to be, and was known not to: nothing more is owed than word to whoever started it.
        return [
            f"without a kickoff: {r.key}" for r in out.rows[1:] if (r.key, r.state) != ("never_began", "sent")
        ]
    found = []
    if out.meeting.state is not MeetingState.CLOSED:
        found.append(f"the meeting is {out.meeting.state.value}")
    pending = [r.key for r in out.rows if r.state == "pending"]
    if pending:
        found.append(f"never sent: {pending}")
    if out.stored is None:
        found.append("no minutes are stored")
    else:
        missing = [
            e.number for e in out.entries if e.text and e.kind.value == "decision" and not _held(out, e)
        ]
        if missing:
            found.append(f"decisions {missing} are not in the minutes")
    return found


def _held(out: Outcome, entry: Entry) -> bool:
    assert out.stored is not None
    if entry.text in out.stored.text:
        return True
    view = folding.fold(out.entries)
    item = view.item(entry.number)
    return item is not None and not item.live  # a retracted one is counted, not quoted


def minutes_messages(world: World) -> list[Posted]:
    return [m for m in world.mine if m.post and any(f.name == "minutes.md" for f in m.post.files)]


def _posts(out: Outcome, reachable: bool) -> list[str]:
    found = []
    tags = Counter(m.tag for m in out.world.mine)
    keys = {r.nonce: r.key for r in out.rows}
    for tag, count in tags.items():
        if count > 1:
            found.append(f"posted {count} times: {keys.get(tag or '', tag)}")
    # A later planned end has notices of its own, in the same words.
    spoken = Counter(
        (m.text, key.split(":")[1] if key.startswith("notice:") else "")
        for m in out.world.mine
        if (key := keys.get(m.tag or "", "")).startswith(("turn:", "notice:", "opening", "goodbye"))
    )
    found += [f"said twice: {text!r}" for (text, _), count in spoken.items() if count > 1]
    published = minutes_messages(out.world)
    by_dm = [p for _, p in out.world.dms if any(f.name == "minutes.md" for f in p.files)]
    if reachable and len(published) != 1:
        found.append(f"{len(published)} minutes messages")
    if not reachable and len(published) + len(by_dm) != bool(out.stored):
        found.append(f"{len(published)} minutes messages and {len(by_dm)} by direct message")
    for post in [*(m.post for m in published if m.post), *by_dm]:
        content = next(f.content for f in post.files if f.name == "minutes.md").decode()
        if out.stored is not None and content != out.stored.text:
            found.append("the minutes posted are not the minutes stored")
    return found


def _owed(out: Outcome) -> list[str]:
    keys = [r.key for r in out.rows if r.state == "sent"]
    found = [f"missing: {key}" for key in ("kickoff", "opening", "goodbye") if key not in keys]
    if not any(key.startswith("read_back:") for key in keys):
        found.append("missing: the read-back")
    board = next((m for m in out.world.mine if m.post and m.post.pin), None)
    if board is None:
        return [*found, "missing: the board"]
    title = out.meeting.title if out.meeting else ""
    if board.text != phrases.t(
        "board.closed_headline", out.meeting.language if out.meeting else "ja", title=title
    ):
        found.append("the board does not say that the meeting is closed")
    for ref in ("ask one", "ask three"):
        if ref in out.ids and not any(m.reply_to == out.ids[ref] for m in out.world.mine):
            found.append(f"{ref} was never answered")
    marked = {e.message_id for e in out.entries if e.origin.value == "mark" and e.message_id}
    by_id = {m.message_id: m for m in out.world.channels[CHANNEL]}
    silent = [i for i in marked if i in by_id and not by_id[i].reactions]
    if silent:
        found.append(f"{len(silent)} marks were not acknowledged")
    return found


def _notices(out: Outcome, calm: Outcome) -> list[str]:
    """Every notice of the undisturbed run, but for those that something overtook while the process was away:
    a later notice, an extension, or the end."""

    def sent(of: Outcome) -> set[tuple[int, int]]:
        """(how long the meeting was to last, how many minutes were left) of each, in seconds and minutes."""
        assert of.meeting is not None
        keys = [r.key.split(":") for r in of.rows if r.key.startswith("notice:") and r.state == "sent"]
        return {(round(int(end) - of.meeting.started_at.timestamp()), int(left)) for _, end, left in keys}

    assert out.meeting is not None
    began = (out.meeting.started_at - EPOCH).total_seconds()
    wanted = {(total, left): began + total - 60 * left for total, left in sent(calm)}
    overtaking = [*wanted.values(), *(out.said.get(act, 0.0) for act in ("extend", "end"))]
    overtaken = {
        key
        for key, at in wanted.items()
        for down, up in _absences(out)
        if down - NOTICE_LATE_S <= at <= up and any(at < later <= up for later in overtaking)
    }
    missing = wanted.keys() - sent(out) - overtaken
    return [f"missing: the notice of {left} minutes of {total / 60:g}" for total, left in sorted(missing)]


def _absences(out: Outcome) -> list[tuple[float, float]]:
    """From when to when nobody was there; between some a process was up for a moment, and said nothing."""
    found: list[tuple[float, float]] = []
    for down, up in zip(out.downs, out.ups, strict=True):
        if found and down - found[-1][1] <= NOTICE_LATE_S:
            down, _ = found.pop()
        found.append((down, up))
    return found


def _waits(out: Outcome) -> list[str]:
    found = []
    for what, at, answered in _debts(out):
        answers = [moment for moment in answered if moment >= at]
        begin = max([at, *(up for up in out.ups if not answers or up <= answers[0])])
        if not answers:
            found.append(f"{what}: never answered")
        elif answers[0] - begin > LONGEST_WAIT_S:
            found.append(f"{what}: waited {answers[0] - begin:.0f} s")
    return found


def _window(out: Outcome) -> list[str]:
    """From the read-back until the goodbye people have their minute, or one of them said yes to it."""
    keys = {r.nonce: r.key for r in out.rows}
    shown = [m for m in out.world.mine if keys.get(m.tag or "", "").startswith("read_back:")]
    goodbye = [m for m in out.world.mine if keys.get(m.tag or "") == "goodbye"]
    if not shown or not goodbye:
        return []
    given = (goodbye[0].at - shown[-1].at).total_seconds()
    yes = out.ids.get(f"at {MEETING[-1].at:g}", 0)
    if given < 60 and not shown[-1].message_id < yes < goodbye[0].message_id:
        return [f"the read-back stood for {given:.0f} s only"]
    return []


def _debts(out: Outcome) -> list[tuple[str, float, list[float]]]:
    def moments(chosen: Callable[[Posted, str], bool]) -> list[float]:
        keys = {r.nonce: r.key for r in out.rows}
        return [
            (m.at - EPOCH).total_seconds() for m in out.world.mine if chosen(m, keys.get(m.tag or "", ""))
        ]

    debts = []
    for ref in ("ask one", "ask three"):
        if ref in out.said:
            debts.append((ref, out.said[ref], moments(lambda m, k, ref=ref: m.reply_to == out.ids[ref])))  # type: ignore[misc]
    if "ask two" in out.said:
        facing = ("turn:", "read_back:", "goodbye")
        debts.append(("ask two", out.said["ask two"], moments(lambda m, k: k.startswith(facing))))
    if "end" in out.said:
        debts.append(("end", out.said["end"], moments(lambda m, k: k.startswith(("read_back:", "goodbye")))))
    return debts


def _ledger(out: Outcome, calm: Outcome) -> list[str]:
    early = _found_after_the_confirmation(out)

    def judged(rows: Counter[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
        """Without whether these are confirmed."""
        kept: Counter[tuple[Any, ...]] = Counter()
        for row, count in rows.items():
            about = row[-1] if isinstance(row[-1], tuple) else ("", "")
            if row[0] != "confirmation" or about[1] not in early:
                kept[tuple("any" if part in STATUSES and row[1] in early else part for part in row)] += count
        return kept

    if judged(out.standing) != judged(calm.standing):
        more, less = out.standing - calm.standing, calm.standing - out.standing
        return [f"what holds differs: {list(more)} instead of {list(less)}"]
    if not out.unseen_change and judged(out.recorded) != judged(calm.recorded):
        more, less = out.recorded - calm.recorded, calm.recorded - out.recorded
        return [f"the ledger differs: {list(more)} instead of {list(less)}"]
    return []


STATUSES = ("confirmed", "unconfirmed")


def _found_after_the_confirmation(out: Outcome) -> set[str]:
    """Words that a model read only after somebody had put ✅ to them: that confirms nothing (docs/reliability.md)."""
    put = {out.ids[ref]: at for ref in out.ids if (at := out.said.get(f"✅ {ref}")) is not None}
    return {
        e.text
        for e in out.entries
        if e.origin.value == "model"
        and e.message_id in put
        and (e.at - EPOCH).total_seconds() > put[e.message_id]
    }

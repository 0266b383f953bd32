"""The long searches, together or one by one.

python -m tests.crash --singles --pairs --machine 30000 --sigkill 100 --flood --processes 2
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

from tests.crash.flood import flood
from tests.crash.search import Judge, pairs, search, search_machine, singles
from tests.crash.sigkill import kill_often

say = partial(print, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--singles", action="store_true", help="a fault at every point of the meeting")
    parser.add_argument("--pairs", action="store_true", help="and a second one within the next two points")
    parser.add_argument("--machine", type=int, default=0, metavar="N", help="N random lives of meetings")
    parser.add_argument("--sigkill", type=int, default=0, metavar="N", help="N real kills of a process")
    parser.add_argument("--flood", action="store_true", help="10,000 messages in a minute beside 50 meetings")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th single and pair")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="begin with single or pair N")
    parser.add_argument("--seed", type=int, default=0, help="of the machine and the kills")
    parser.add_argument("--language", choices=("ja", "en"), default="ja")
    parser.add_argument("--model", choices=("scripted", "offline"), default="scripted")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    failed = 0
    if chosen.singles or chosen.pairs:
        judge = Judge()
        points = judge.calm(chosen.language, chosen.model).points
        judge.folder.close()
        for wanted, cases in ((chosen.singles, singles), (chosen.pairs, pairs)):
            if wanted:
                some = list(cases(points, chosen.language, chosen.model))[chosen.first :: chosen.every]
                say(f"{cases.__name__}: {len(points)} points, {len(some)} runs")
                failed += search(some, chosen.processes, say)
    if chosen.machine:
        failed += search_machine(chosen.machine, chosen.seed, chosen.processes, say)
    if chosen.sigkill:
        failed += kill_often(chosen.sigkill, chosen.seed, say)
    if chosen.flood:
        failed += flood(10_000, 50, say)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

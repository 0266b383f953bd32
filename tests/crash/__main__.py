"""The long searches: `python -m tests.crash --singles --pairs --machine 30000 --sigkill 100 --processes 2`."""

from __future__ import annotations

import argparse
import sys

from tests.crash.search import Judge, pairs, search, singles


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--singles", action="store_true", help="a fault at every point of the meeting")
    parser.add_argument("--pairs", action="store_true", help="and a second one within the next two points")
    parser.add_argument("--every", type=int, default=1, help="only each n-th case")
    parser.add_argument("--language", choices=("ja", "en"), default="ja")
    parser.add_argument("--model", choices=("scripted", "offline"), default="scripted")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    judge = Judge()
    points = judge.calm(chosen.language, chosen.model).points
    judge.folder.close()
    failed = 0
    for wanted, cases in ((chosen.singles, singles), (chosen.pairs, pairs)):
        if wanted:
            every = list(cases(points, chosen.language, chosen.model))[:: chosen.every]
            print(f"{cases.__name__}: {len(points)} points, {len(every)} runs", flush=True)
            failed += search(every, chosen.processes, lambda line: print(line, flush=True))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""`./dev simulation`: many seeds on all cores, one seed with its trace, or steps on event logs."""

from __future__ import annotations

import argparse
import os
import sys

from lab.simulation.event_logs import play_all_logs
from lab.simulation.seeds import play_all, replay


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, metavar="N", help="number of seeds to play")
    parser.add_argument(
        "--seed", type=int, metavar="S", help="with --seeds: the first seed; alone: replay this seed with a trace"
    )
    parser.add_argument("--event-log", type=int, metavar="N", help="number of steps on event logs to play")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="P")
    options = parser.parse_args()
    if options.event_log is not None:
        return play_all_logs(options.seed or 0, options.event_log, options.processes)
    if options.seeds is None:
        if options.seed is None:
            parser.error("pass --seeds N, or --seed S to replay one seed")
        return replay(options.seed)
    return play_all(options.seed or 0, options.seeds, options.processes)


if __name__ == "__main__":
    sys.exit(main())

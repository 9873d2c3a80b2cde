"""`./dev bench plan|run|late|idle|bloat|history|api|imports|forecast|pages|sql|events [--quick]`."""

from __future__ import annotations

import argparse
import asyncio
import sys
from importlib import import_module
from pathlib import Path

from bench.common import RESULTS, Options, Report, command_line, machine, say, step, write_report

NAMES = ("plan", "run", "late", "idle", "bloat", "history", "api", "imports", "forecast", "pages", "sql", "events")
# Sizes of a benchmark's store that can be overridden.
SIZES = ("schedules", "runs")


def main(arguments: list[str] | None = None) -> None:
    """Run the requested benchmarks, and write the results to a folder."""
    words = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__, allow_abbrev=False)
    parser.add_argument("names", nargs="*", metavar="|".join(NAMES), help="benchmarks to run (default: all)")
    parser.add_argument("--quick", action="store_true", help="use tiny sizes, only to check that the benchmarks work")
    for name in SIZES:
        parser.add_argument(f"--{name}", type=int, metavar="N", help=f"with pages: number of stored {name}")
    parser.add_argument("--out", type=Path, help="folder for the results")
    chosen = parser.parse_args(words)
    if unknown := set(chosen.names) - set(NAMES):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}. Choose from {', '.join(NAMES)}.")
    folder = chosen.out or (RESULTS / "quick" if chosen.quick else RESULTS)
    sizes = {name: getattr(chosen, name) for name in SIZES if getattr(chosen, name) is not None}
    command = command_line(chosen.names, chosen.quick, sizes)
    options = Options(quick=chosen.quick, out=folder, command=command, **sizes)
    for name in chosen.names or NAMES:
        facts = machine()
        report = Report(name)
        try:
            with step(f"{name} measured"):
                asyncio.run(import_module(f"bench.{name}").measure(options, report))
        finally:  # also after a failure, because a benchmark may have taken minutes
            path = write_report(report, options, facts)
        print(path.read_text(), flush=True)
        say(f"results are in {path}, and as JSON next to it")


if __name__ == "__main__":
    main()

"""The startup time of Tickbird: its import, and its command line."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial

from bench.common import Options, Report, Table, interleave

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import tickbird": ["-c", "import tickbird"],
    "from tickbird import Tickbird, cron": ["-c", "from tickbird import Tickbird, cron"],
    "tickbird --help": ["-m", "tickbird", "--help"],
}
BASELINE = "python -c pass"


async def measure(options: Options, report: Report) -> None:
    """A new process each time, interleaved; compiled files exist, as after an installation."""
    variants = {name: partial(_start, arguments) for name, arguments in COMMANDS.items()}
    await interleave(1, variants)
    durations = await interleave(options.size(21, 2), variants)
    report.samples |= durations.values
    report.tables.append(
        Table(
            "Milliseconds for a whole process",
            ("variant", "best", "median", "median without Python's startup"),
            [
                [name, min(times), durations.median(name), durations.median(name) - durations.median(BASELINE)]
                for name, times in durations.values.items()
            ],
        )
    )
    if not options.quick:
        for name, bar in (
            ("import tickbird", 150),
            ("from tickbird import Tickbird, cron", 150),
            ("tickbird --help", 250),
        ):
            median = durations.median(name)
            report.hold(f"`{name}`, Python's startup included", f"≤ {bar} ms", median, median <= bar, "ms")


async def _start(arguments: list[str]) -> float:
    # Allow compiled files, otherwise every import would compile.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=environment)
    return 1e3 * (time.perf_counter() - began)

"""How long it takes until Tickbird is there: its import, and its command line."""

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
NOTHING = "python -c pass"


async def measure(options: Options, report: Report) -> None:
    """A fresh process each time, in turns; compiled files are there, as after an installation."""
    variants = {name: partial(_start, arguments) for name, arguments in COMMANDS.items()}
    await interleave(1, variants)
    taken = await interleave(options.size(21, 2), variants)
    report.samples |= taken.taken
    report.tables.append(
        Table(
            "Milliseconds for a whole process",
            ("what", "best", "median", "median without Python's own start"),
            [
                [name, min(times), taken.median(name), taken.median(name) - taken.median(NOTHING)]
                for name, times in taken.taken.items()
            ],
        )
    )
    if not options.quick:
        for name, bar in (
            ("import tickbird", 150),
            ("from tickbird import Tickbird, cron", 150),
            ("tickbird --help", 250),
        ):
            whole = taken.median(name)
            report.hold(f"`{name}`, Python's own start included", f"≤ {bar} ms", whole, whole <= bar, "ms")


async def _start(arguments: list[str]) -> float:
    # Compiled files may be written, or every import would compile.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=environment)
    return 1e3 * (time.perf_counter() - began)

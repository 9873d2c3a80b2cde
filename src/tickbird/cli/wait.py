"""Waiting for the end of a run: `trigger --wait`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tickbird.cli.commands.runs.logs import print_line, rest
from tickbird.cli.errors import FAILED
from tickbird.cli.options import GlobalOptions
from tickbird.cli.output import Cell, print_result
from tickbird.cli.params import length
from tickbird.client import Client
from tickbird.domain.runs.logs import LogLine
from tickbird.domain.runs.new_run import not_finished
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.time.durations import duration_text
from tickbird.wire.codec import encode

FOREVER = "forever"


def wait_seconds(value: str) -> int | None:
    """Parse the timeout of --wait, such as 90 or 10m; None means forever."""
    return None if value == FOREVER else length(value)


async def wait_for(client: Client, settings: GlobalOptions, run_id: int, within: int | None) -> RunRecord:
    """Wait for a run and return it. Without --json, its log is printed live."""
    if settings.as_json:
        return await client.runs.wait(run_id, timeout=within)
    try:
        async with asyncio.timeout(within):
            async for line in client.runs.follow_logs(run_id):
                print_line(settings, line)
            return await client.runs.wait(run_id)
    except TimeoutError:
        raise not_finished(await client.runs.get(run_id), within or 0) from None


async def logged(client: Client, settings: GlobalOptions, run_id: int) -> Sequence[LogLine]:
    """Return the complete log for --json; [] otherwise, because it was printed live."""
    return await rest(client, run_id, (0, 0)) if settings.as_json else []


def print_end(settings: GlobalOptions, run: RunRecord, lines: Sequence[LogLine]) -> int:
    """Print how a run ended and return the exit code."""
    good = run.status == "succeeded"
    took = "" if run.duration is None else f" after {duration_text(run.duration)}"
    why = run.error.strip().splitlines()[-1] if run.error and run.error.strip() else run.reason
    end = f": {why}" if why and not good else "."
    text = Cell(f"Run {run.id} of {run.schedule} {_ENDED[run.status]}{took}{end}", "green" if good else "red")
    print_result(
        settings,
        lambda: {"run": encode(run), "lines": [encode(line) for line in lines]},
        lambda screen: screen.line(text),
    )
    return 0 if good else FAILED


_ENDED = {"succeeded": "succeeded", "failed": "failed", "cancelled": "was cancelled"}

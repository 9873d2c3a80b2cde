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
    """How many seconds to wait: 90, 10m; None where there is no end to it."""
    return None if value == FOREVER else length(value)


async def wait_for(client: Client, settings: GlobalOptions, run_id: int, within: int | None) -> RunRecord:
    """The run once it is final; what it logs is printed as it comes, unless a program reads."""
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
    """All that it has logged, for a program; a person has seen it already."""
    return await rest(client, run_id, (0, 0)) if settings.as_json else []


def print_end(settings: GlobalOptions, run: RunRecord, lines: Sequence[LogLine]) -> int:
    """Say how a run ended; 0 if it succeeded."""
    good = run.status == "succeeded"
    took = "" if run.duration is None else f" after {duration_text(run.duration)}"
    why = run.error.strip().splitlines()[-1] if run.error and run.error.strip() else run.reason
    end = f": {why}" if why and not good else "."
    said = Cell(f"Run {run.id} of {run.schedule} {_ENDED[run.status]}{took}{end}", "green" if good else "red")
    print_result(
        settings,
        lambda: {"run": encode(run), "lines": [encode(line) for line in lines]},
        lambda screen: screen.line(said),
    )
    return 0 if good else FAILED


_ENDED = {"succeeded": "succeeded", "failed": "failed", "cancelled": "was cancelled"}

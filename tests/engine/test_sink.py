"""Log lines and reports of a run go to standard logging and to the sink."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tickbird import Run, Tickbird, at
from tickbird.testing import Harness

START = datetime(2026, 1, 1, tzinfo=UTC)


class Notes:
    """A sink that keeps everything."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, int, str]] = []
        self.values: list[Any] = []

    def line(self, run: Run, level: int, text: str, at: datetime) -> None:
        assert at.tzinfo is not None
        self.lines.append((run.attempt, level, text))

    async def flush(self) -> None: ...

    def progress(self, run: Run, value: Any) -> None:
        self.values.append(value)


async def test_lines_from_info_on_and_progress_reach_the_sink(caplog: pytest.LogCaptureFixture) -> None:
    bird, notes = Tickbird(), Notes()

    @bird.task(schedule=at(START + timedelta(seconds=5)))
    def work(run: Run) -> None:
        run.log.debug("not kept")
        run.log.info("%d of %d", 1, 2)
        run.log.warning("100%")
        run.log.error("%d", "no number")
        try:
            raise ValueError("odd")
        except ValueError as error:
            run.log.exception("it broke")
            run.log.error("it broke again", exc_info=error)
        run.heartbeat(progress=0.5)
        run.heartbeat()

    caplog.set_level(logging.WARNING)
    logging.raiseExceptions, kept = False, logging.raiseExceptions
    try:
        async with Harness(bird, START, sink=notes) as harness:
            await harness.advance(minutes=1)
            [run] = await harness.runs("work")
    finally:
        logging.raiseExceptions = kept
    assert run.status == "succeeded", run.error
    assert notes.lines[:3] == [
        (1, logging.INFO, "1 of 2"),
        (1, logging.WARNING, "100%"),
        (1, logging.ERROR, "%d ('no number',)"),
    ]
    for (_, _, text), first in zip(notes.lines[3:], ("it broke", "it broke again"), strict=True):
        assert text.startswith(f"{first}\nTraceback")
        assert text.endswith("ValueError: odd")
    assert notes.values == [0.5]
    # Standard logging gets the lines of its configured levels, with the right source location.
    [warning] = [record for record in caplog.records if record.msg == "100%"]
    assert (warning.funcName, warning.__dict__["run_id"], warning.__dict__["attempt"]) == ("work", run.id, 1)
    assert not [record for record in caplog.records if "1 of 2" in str(record.msg)]

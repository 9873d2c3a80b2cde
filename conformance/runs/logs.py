"""Logs of runs are stored in order, once."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest

from conformance.capabilities import needs
from conformance.steps import enqueue, finish, later, start
from tickbird.domain.errors import InvalidError
from tickbird.domain.runs.logs import LogLine, Progress
from tickbird.store.protocol.store import Store


def _line(run: int, number: int, text: str = "", *, attempt: int = 1, level: int = logging.INFO) -> LogLine:
    return LogLine(run, attempt, number, later(number) + timedelta(microseconds=250), level, text or f"line {number}")


class Logs:
    """Lines and progress."""

    async def test_lines_are_read_back_in_order(self, store: Store) -> None:
        one, other = await enqueue(store), await enqueue(store)
        lines = [_line(one, 1), _line(one, 2, 'äöü "quoted" \\ {a,b}\n\ttab', level=logging.ERROR), _line(one, 3)]
        again = _line(one, 1, "second try", attempt=2)
        await store.logs.write([again, *lines[:2]], [])
        await store.logs.write([_line(other, 1), lines[2]], [])
        assert list(await store.logs.read(one)) == [*lines, again]
        assert list(await store.logs.read(one, after=(1, 1), limit=2)) == lines[1:]
        assert list(await store.logs.read(one, after=(1, 3))) == [again]
        assert list(await store.logs.read(other)) == [_line(other, 1)]
        assert not await store.logs.read(987_654_321)

    @needs("dashboard")
    async def test_last_lines_are_read_back_in_order(self, store: Store) -> None:
        run = await enqueue(store)
        lines = [_line(run, 1), _line(run, 2), _line(run, 3), _line(run, 1, attempt=2)]
        await store.logs.write(lines, [])
        last = store.dashboard.last_lines
        assert list(await last(run)) == lines
        assert list(await last(run, limit=2)) == lines[2:]
        assert list(await last(run, before=(2, 1), limit=2)) == lines[1:3]
        assert list(await last(run, before=(1, 2))) == lines[:1]
        assert not await last(run, before=(1, 1))

    async def test_repeated_lines_are_stored_once(self, store: Store) -> None:
        run = await enqueue(store)
        for _ in range(2):
            await store.logs.write([_line(run, 1), _line(run, 2)], [Progress(run, 1, later(1), 0.5)])
        assert list(await store.logs.read(run)) == [_line(run, 1), _line(run, 2)]

    async def test_the_newest_progress_counts(self, store: Store) -> None:
        run = await enqueue(store)
        assert await store.logs.read_progress(run) is None
        values: list[Any] = [0.25, {"done": 3, "of": 4, "what": "ü"}, None]
        for second, value in enumerate(values):
            await store.logs.write([], [Progress(run, 1, later(second), value)])
            assert await store.logs.read_progress(run) == Progress(run, 1, later(second), value)
        await store.logs.write([], [Progress(run, 2, later(9), "again")])
        # The worker of an earlier attempt, which does not know that it was given up.
        await store.logs.write([], [Progress(run, 1, later(10), "late")])
        assert await store.logs.read_progress(run) == Progress(run, 2, later(9), "again")

    async def test_lines_of_a_run_that_does_not_exist_are_dropped(self, store: Store) -> None:
        run = await enqueue(store)
        await store.logs.write([_line(999, 1), _line(run, 1)], [Progress(999, 1, later(1), 1)])
        assert list(await store.logs.read(run)) == [_line(run, 1)]
        assert not await store.logs.read(999)
        assert await store.logs.read_progress(999) is None

    @pytest.mark.parametrize("value", [10**5_000, {"n": [10**5_000]}, object()], ids=["integer", "member", "object"])
    async def test_progress_that_cannot_be_encoded_is_refused_with_its_batch(self, store: Store, value: Any) -> None:
        run = await enqueue(store)
        with pytest.raises(InvalidError):
            await store.logs.write([_line(run, 1)], [Progress(run, 1, later(1), value)])
        assert not await store.logs.read(run)
        await store.logs.write([_line(run, 1)], [])
        assert list(await store.logs.read(run)) == [_line(run, 1)]

    async def test_a_pruned_run_takes_its_log_along(self, store: Store) -> None:
        await enqueue(store)
        run = await start(store, 1)
        await store.logs.write([_line(run.id, 1)], [Progress(run.id, 1, later(1), 1)])
        await finish(store, run, 2)
        assert await store.runs.prune(older_than=10, keep=0, now=later(100)) == 1
        assert not await store.logs.read(run.id)
        assert await store.logs.read_progress(run.id) is None

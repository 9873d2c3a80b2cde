"""Functions in the store's database: the outcome of a run is recorded in the transaction of its function."""

from __future__ import annotations

from conformance.steps import a_worker, claim, enqueue, read
from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.runs.sql_calls import SqlCall
from tickbird.domain.targets.sql import STORE, SqlSpec
from tickbird.store.protocol.store import Store


class Listener:
    """Keeps the messages of a function."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, str]] = []
        self.reports: list[float] = []

    def line(self, level: int, text: str) -> None:
        self.lines.append((level, text))

    def progress(self, value: float) -> None:
        self.reports.append(value)

    async def before_finish(self) -> None: ...


def call_of(run: ClaimedRun, function: str, *, worker: str = "w1", attempt: int | None = None) -> SqlCall:
    """A call of a function for a claimed run."""
    return SqlCall(
        run_id=run.id,
        attempt=attempt or run.attempt,
        incarnation=run.incarnation,
        worker=worker,
        function=function,
        role=None,
        argument={"run_id": run.id},
    )


async def claim_function(store: Store) -> ClaimedRun:
    """A run that a worker has claimed."""
    await enqueue(store, task=STORE, kind=SqlSpec.kind)
    [run] = (await claim(store, 0, targets=[(SqlSpec.kind, STORE)])).runs
    return run


class SqlFunctions:
    """Calls that do not depend on the functions of a database."""

    async def test_a_function_that_does_not_exist_is_refused(self, store: Store) -> None:
        run = await claim_function(store)
        report = await store.sql_functions.call(call_of(run, "no_such_function"), Listener())
        assert report.ending == "refused"
        assert "no_such_function" in report.error
        assert (await read(store, run)).status == "running", "the caller records the outcome"

    async def test_a_call_of_another_attempt_or_worker_is_not_executed(self, store: Store) -> None:
        run = await claim_function(store)
        for call in (call_of(run, "f", attempt=run.attempt + 1), call_of(run, "f", worker=a_worker("w2").id)):
            assert (await store.sql_functions.call(call, Listener())).ending == "lost"

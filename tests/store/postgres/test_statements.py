"""The statements that a verb sends."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.store.postgres.steps import T0, WORKER, claim, later
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.runs.run import NewRun, Outcome
from tickbird.domain.schedules.definition import Target
from tickbird.store.postgres import PostgresStore
from tickbird.store.postgres.database.schema_name import STATEMENTS


class TestStatements:
    """How many statements a verb sends; BEGIN and COMMIT count."""

    async def test_an_empty_claim_is_one_statement(self, store: PostgresStore, sent: list[str]) -> None:
        await store.runs.enqueue("default", [NewRun(Target("work"), {}, delay=30)], "ada", now=T0)
        sent.clear()
        claimed = await store.leases.claim(WORKER, 5, 60, queues=["default"], targets=[("task", "work")], now=T0)
        assert (list(claimed.runs), claimed.next_at, sent) == ([], later(30), ["claim_runs"])

    async def test_a_claim_at_an_exhausted_rate_limit_is_one_statement(
        self, store: PostgresStore, sent: list[str]
    ) -> None:
        await store.queues.set_rate("default", "default", RateLimit(1, 60), "ada", now=T0)
        await store.runs.enqueue("default", [NewRun(Target("work"), {})] * 2, "ada", now=T0)
        sent.clear()
        claimed = await store.leases.claim(WORKER, 5, 60, queues=["default"], targets=[("task", "work")], now=T0)
        counted = ["claim_runs", "BEGIN", "lock_rates", "claim_runs", "queues_of_runs", "save_starts"]
        assert (len(claimed.runs), sent) == (1, counted)
        sent.clear()
        claimed = await store.leases.claim(WORKER, 5, 60, queues=["default"], targets=[("task", "work")], now=later(1))
        assert (list(claimed.runs), claimed.next_at, sent) == ([], later(60), ["claim_runs"])

    async def test_finishing_runs_without_a_schedule_is_one_statement(
        self, store: PostgresStore, sent: list[str]
    ) -> None:
        await store.runs.enqueue("default", [NewRun(Target("work"), {})] * 3, "ada", now=T0)
        runs = await claim(store, now=T0)
        sent.clear()
        done = await store.leases.finish(
            [Outcome(run.id, 1, "succeeded", run.id, releases_no_run=True) for run in runs], now=later(1)
        )
        assert (done.accepted, sent) == (frozenset(run.id for run in runs), ["succeed_runs"])
        found = [await store.runs.get(run.id) for run in runs]
        assert [(run.status, run.result) for run in found if run] == [("succeeded", run.id) for run in runs]

    async def test_a_late_success_changes_nothing(self, store: PostgresStore) -> None:
        await store.runs.enqueue("default", [NewRun(Target("work"), {})] * 2, "ada", now=T0)
        one, two = await claim(store, now=T0)
        outcomes = [
            Outcome(two.id, 1, "succeeded", releases_no_run=True),
            Outcome(one.id, 2, "succeeded", releases_no_run=True),
        ]
        assert (await store.leases.finish(outcomes, now=later(1))).accepted == {two.id}
        done = await store.leases.finish([Outcome(two.id, 1, "succeeded", "again", releases_no_run=True)], now=later(2))
        assert (done.accepted, done.now) == (frozenset(), later(2))
        found = [await store.runs.get(run.id) for run in (one, two)]
        assert [(run.status, run.result) for run in found if run] == [("running", None), ("succeeded", None)]

    @pytest.fixture
    def sent(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The statements that were sent, by name."""
        sent: list[str] = []
        names = {text: name for name, text in STATEMENTS.items()}
        execute = psycopg.AsyncConnection.execute
        begin = psycopg.AsyncConnection.transaction

        def spy(self: Any, query: Any, *args: Any, **options: Any) -> Any:
            # A wake-up goes out on its own, now or a moment later.
            if query != STATEMENTS["wake"]:
                sent.append(names.get(query, str(query)))
            return execute(self, query, *args, **options)

        def spy_begin(self: Any, *args: Any, **options: Any) -> Any:
            sent.append("BEGIN")
            return begin(self, *args, **options)

        monkeypatch.setattr(psycopg.AsyncConnection, "execute", spy)
        monkeypatch.setattr(psycopg.AsyncConnection, "transaction", spy_begin)
        return sent

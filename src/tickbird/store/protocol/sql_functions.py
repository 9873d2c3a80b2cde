"""SQL functions: functions in the store's database that runs execute."""

from __future__ import annotations

from typing import Protocol

from tickbird.domain.runs.sql_calls import SqlCall, SqlListener, SqlReport


class SqlFunctionStore(Protocol):
    """The verbs of SQL functions."""

    async def call(self, call: SqlCall, listener: SqlListener) -> SqlReport:
        """Call a function in one transaction, and record the outcome of the run in the same transaction.

        A success and a reported failure are recorded; any other ending is rolled back, and the caller records it. If
        this is cancelled, the statement is cancelled at the server, and its backend is terminated after 2 s.
        """

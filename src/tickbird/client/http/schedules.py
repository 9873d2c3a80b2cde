"""Schedules over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tickbird.client.http.operations import HttpNoun
from tickbird.client.schedules import Schedules
from tickbird.domain.planning.bulk import MAX_COUNT, BulkFilter, check_count
from tickbird.wire.operations import Operation


class HttpSchedules(HttpNoun, Schedules):
    """Schedules of a server."""

    async def send(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        """Count the matching schedules if the caller does not state `expected`."""
        if operation.has("expected"):
            which = {name: arguments[name] for name in ("contains", "tag", "state")}
            BulkFilter(**which)
            expected = arguments["expected"]
            if expected is None:
                expected = len(await self.list(**which, limit=MAX_COUNT + 1))
            check_count(expected, expected)
            arguments = {**arguments, "expected": expected}
        return await super().send(operation, arguments)

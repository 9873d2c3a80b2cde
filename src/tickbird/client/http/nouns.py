"""Nouns of the HTTP client that add to the derived requests, or compute a part on this side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tickbird.client.activity import ActivityLog
from tickbird.client.calendars import Calendars
from tickbird.client.forecast import Forecasts, Outage
from tickbird.client.http.operations import HttpBase
from tickbird.client.pings import Pings
from tickbird.client.schedules import Schedules
from tickbird.client.system import System
from tickbird.client.ticks import Ticks
from tickbird.client.tokens import Tokens
from tickbird.domain.calendars.definition import no_such_calendar
from tickbird.domain.planning.bulk import MAX_COUNT, check_count
from tickbird.domain.planning.zone_impact import ZoneImpact, is_zoned, iter_zone_impacts, sort_by_instant
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.text import NAME
from tickbird.domain.time.instants import to_datetime, to_seconds
from tickbird.wire.operations import Operation

if TYPE_CHECKING:
    from tickbird.domain.forecast.forecast import ForecastComparison, WhatIf
    from tickbird.files.document import Document


# Instants are sent in whole seconds, so a response may include items outside of the range in the same second.
class HttpActivityLog(HttpBase, ActivityLog):
    async def send(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        activities = await super().send(operation, arguments)
        return [activity for activity in activities if activity.at >= arguments["since"]]


class HttpPings(HttpBase, Pings):
    async def send(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        result = await super().send(operation, arguments)
        if operation.name != "list":
            return result
        first, last = arguments["first"], arguments["last"]
        return [at for at in result if (first is None or first <= at) and (last is None or at <= last)]


class HttpTicks(HttpBase, Ticks):
    async def send(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        result = await super().send(operation, arguments)
        return replace(result, at=arguments["at"]) if operation.name == "why" else result


class HttpCalendars(HttpBase, Calendars):
    async def send(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        """Refuse a name that cannot be part of a path; the error suggests existing names, as on a store."""
        name = str(arguments.get("name"))
        if operation.name == "get" and not NAME.fullmatch(name):
            raise no_such_calendar(name, [calendar.name for calendar in await self.list()])
        return await super().send(operation, arguments)


class HttpSchedules(HttpBase, Schedules):
    async def send(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        """Count the matching schedules if the caller does not state `expected`."""
        if operation.has("expected"):
            which = {name: arguments[name] for name in ("contains", "tag", "state")}
            expected = arguments["expected"]
            if expected is None:
                expected = len(await self.list(**which, limit=MAX_COUNT + 1))
            check_count(expected, expected)
            arguments = {**arguments, "expected": expected}
        return await super().send(operation, arguments)


class HttpTokens(HttpBase, Tokens):
    async def send(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        """A new token is for the namespace of this client, unless the caller names others."""
        names_none = operation.name == "create" and arguments["namespaces"] is None and not arguments["all_namespaces"]
        if names_none and self._namespace is not None:
            arguments = {**arguments, "namespaces": [self._namespace]}
        return await super().send(operation, arguments)


class HttpSystem(HttpBase, System):
    async def send(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        if arguments.get("against") is not None:
            return await self._local_zone_impact(arguments["days"], arguments["against"])
        return await super().send(operation, arguments)

    async def _local_zone_impact(self, days: int, against: Any) -> Sequence[ZoneImpact]:
        # `against` is a folder of this machine.
        since = to_seconds(await self.now())
        schedules: list[Schedule] = []
        after = ""
        while rows := await self._noun(Schedules).list(after=after, limit=1_000):
            schedules += [row.schedule for row in rows if is_zoned(row.schedule)]
            after = rows[-1].schedule.name
        return sort_by_instant(iter_zone_impacts(schedules, against, since, since + days * 86_400))


class HttpForecasts(HttpBase, Forecasts):
    async def simulate(
        self,
        days: int | None = None,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        document: Document | Mapping[str, Any] | None = None,
        what_if: WhatIf | None = None,
        names: Sequence[str] = (),
        assumed: int | None = None,
        limit: int = 20,
        max_ticks: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> ForecastComparison:
        """Ignore `max_ticks` and `progress`: the server sets the maximum number of simulated ticks."""
        from tickbird.domain.forecast.forecast import WhatIf
        from tickbird.files.document import read_document
        from tickbird.files.writer import to_plain

        changes = WhatIf() if what_if is None else what_if
        return await self.simulate_scenario(
            days=days,
            from_=start,
            to=end,
            document=None if document is None else to_plain(read_document(document)),
            names=names,
            outages=[Outage(to_datetime(begin), to_datetime(back)) for begin, back in changes.outages],
            more=changes.more,
            slots=changes.slots,
            workers=changes.workers,
            share=changes.share,
            slower=changes.slower,
            duration=assumed,
            limit=limit,
        )

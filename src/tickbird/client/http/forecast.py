"""Forecasts over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tickbird.client.forecast import Forecasts, Outage
from tickbird.client.http.operations import HttpNoun
from tickbird.domain.time.instants import to_datetime

if TYPE_CHECKING:
    from tickbird.domain.forecast.forecast import ForecastComparison, WhatIf
    from tickbird.files.document import Document


class HttpForecasts(HttpNoun, Forecasts):
    """Forecasts of a server."""

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
        """The server sets the maximum number of simulated ticks."""
        from tickbird.domain.forecast.forecast import WhatIf
        from tickbird.files.document import read_document
        from tickbird.files.writer import to_plain

        asked = WhatIf() if what_if is None else what_if
        return await self.simulate_scenario(
            days=days,
            from_=start,
            to=end,
            document=None if document is None else to_plain(read_document(document)),
            names=names,
            outages=[Outage(to_datetime(begin), to_datetime(back)) for begin, back in asked.outages],
            more=asked.more,
            slots=asked.slots,
            workers=asked.workers,
            share=asked.share,
            slower=asked.slower,
            duration=assumed,
            limit=limit,
        )

"""Simulations over HTTP: what is to be expected of the next days."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from tickbird.client.forecast import Simulations
from tickbird.client.http.base import Remote, instant
from tickbird.client.http.transport import HttpRequest
from tickbird.domain.time.instants import iso
from tickbird.wire.decode.parts import Document as Answer

if TYPE_CHECKING:
    from tickbird.domain.forecast.forecast import ForecastComparison, WhatIf
    from tickbird.files.document import Document

# A server plays one at a time.
_TIMEOUT: Final = 250.0


class RemoteSimulations(Remote, Simulations):
    """The verb about days to come."""

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
        counted: Callable[[int, int], None] | None = None,
    ) -> ForecastComparison:
        """What the next days bring: from `start` or now, to `end` or for so many days, a week if not said.

        With `document`, as it would be with its schedules applied. With `what_if`, both as it is and as it would be.
        All schedules are played; `names` are those that are told of, else the `limit` that there is most to say of.
        How many ticks are played at most is the server's to say.
        """
        from tickbird.files.document import read_document
        from tickbird.files.writer import to_plain
        from tickbird.wire.decode.forecast import read_simulation

        body: dict[str, Any] = {
            "days": days,
            "from": instant(start),
            "to": instant(end),
            "document": None if document is None else to_plain(read_document(document)),
            "names": list(names),
            "duration": assumed,
            "limit": limit,
        }
        if what_if is not None:
            body |= {
                "outages": [{"from": iso(begin), "to": iso(back)} for begin, back in what_if.outages],
                "more": what_if.more,
                "slots": what_if.slots,
                "workers": what_if.workers,
                "share": what_if.share,
                "slower": what_if.slower,
            }
        stated = {name: value for name, value in body.items() if value is not None}

        def read(answer: Answer) -> ForecastComparison:
            return read_simulation(answer)

        question = HttpRequest("POST", "/simulate", self._query(), stated, None, _TIMEOUT, repeatable=True)
        return await self._send(read, question)

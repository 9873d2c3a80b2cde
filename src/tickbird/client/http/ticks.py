"""Ticks over HTTP."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from tickbird.client.http.operations import HttpNoun
from tickbird.client.ticks import Ticks
from tickbird.domain.explain.explanation import Explanation
from tickbird.wire.operations import operations_of

_WHY: Final = operations_of(Ticks)["why"]


class HttpTicks(HttpNoun, Ticks):
    """Ticks of a server."""

    async def why(self, name: str, at: datetime, *, tz: str | None = None) -> Explanation:
        """The instant is sent in whole seconds, and explained as it was given."""
        explanation: Explanation = await self.send(_WHY, {"name": name, "at": at, "tz": tz})
        return replace(explanation, at=at)

"""Liveness and readiness."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from fastapi import APIRouter, Request

from tickbird.api.problems import Problem
from tickbird.client import StoreClient
from tickbird.domain.errors import SchemaError, StoreError
from tickbird.single_flight_cache import SingleFlightCache, from_end

router = APIRouter()
# Seconds between two checks of the store, however many requests there are.
CHECK_INTERVAL: Final = 5.0
_REASONS: Final = {
    "store-unavailable": "The store cannot be reached.",
    "schema": "The store's schema does not match this version of Tickbird.",
    "copy": "The store is a copy, so nothing is planned in it.",
    "fallback": "The store cannot plan: workers run the ticks of their code's schedules.",
    "planning": "Schedules are due, but no worker plans them.",
}
_STATUS: Final = {
    "type": "object",
    "properties": {"status": {"type": "string", "enum": ["ok", "ready"]}},
    "required": ["status"],
}
_HEALTHY: Final[dict[int | str, dict[str, Any]]] = {200: {"content": {"application/json": {"schema": _STATUS}}}}
_CHECKS: Final = ("schema", "copy", "fallback", "planning")


class ReadinessProbe:
    """The reason why a server is not ready, in a TTL cache; concurrent requests share a check."""

    def __init__(self, client: StoreClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._reasons = SingleFlightCache[None, str | None](from_end(CHECK_INTERVAL), clock=clock)

    async def reason(self) -> str | None:
        """The code of the reason; None if it is ready."""
        return await self._reasons.get_or_compute(None, self._probe)

    async def _probe(self) -> str | None:
        try:
            findings = await self._client.system.doctor()
        except SchemaError:
            return "schema"
        except StoreError:
            return "store-unavailable"
        problems = {finding.check for finding in findings if finding.severity == "problem"}
        return next((check for check in _CHECKS if check in problems), None)


@router.get(
    "/healthz",
    summary="Check liveness",
    operation_id="healthz",
    response_model=None,
    tags=["health"],
    responses=_HEALTHY,
)
async def healthz() -> dict[str, str]:
    """Return 200 while the process responds."""
    return {"status": "ok"}


@router.get(
    "/readyz",
    summary="Check readiness",
    operation_id="readyz",
    response_model=None,
    tags=["health"],
    responses=_HEALTHY,
)
async def readyz(request: Request) -> dict[str, str]:
    """Return 503 with a reason if the store cannot be used, or if schedules are due and no worker plans them."""
    readiness: Any = request.app.state.readiness
    reason: str | None = await readiness.reason()
    if reason is not None:
        hint = "Run `tickbird doctor`."
        raise Problem(503, reason, _REASONS[reason], hint=hint, headers={"Retry-After": f"{CHECK_INTERVAL:.0f}"})
    return {"status": "ready"}


# For probes without a body; described with GET.
for _path, _endpoint in (("/healthz", healthz), ("/readyz", readyz)):
    router.add_api_route(_path, _endpoint, methods=["HEAD"], include_in_schema=False)

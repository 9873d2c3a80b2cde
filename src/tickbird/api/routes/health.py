"""Is the process alive, and is planning getting on?"""

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
# However often somebody asks, the store is looked at only so often.
CHECK_INTERVAL: Final = 5.0
_REASONS: Final = {
    "store-unavailable": "The store cannot be reached.",
    "schema": "The store's schema does not fit this version.",
    "copy": "The store is a copy, and nothing is planned in it.",
    "planning": "Schedules are due that nobody plans.",
}
_STATUS: Final = {
    "type": "object",
    "properties": {"status": {"type": "string", "enum": ["ok", "ready"]}},
    "required": ["status"],
}
_HEALTHY: Final[dict[int | str, dict[str, Any]]] = {200: {"content": {"application/json": {"schema": _STATUS}}}}
_LOOKED_AT: Final = {"schema": "schema", "copy": "copy", "planning": "planning"}


class ReadinessProbe:
    """What is in the way, by a code; looked up at most every few seconds, and once for all who ask meanwhile."""

    def __init__(self, client: StoreClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._reasons = SingleFlightCache[None, str | None](from_end(CHECK_INTERVAL), clock=clock)

    async def reason(self) -> str | None:
        """Why not; None when all is well."""
        return await self._reasons.get_or_compute(None, self._probe)

    async def _probe(self) -> str | None:
        try:
            findings = await self._client.system.doctor()
        except SchemaError:
            return "schema"
        except StoreError:
            return "store-unavailable"
        bad = {finding.check for finding in findings if finding.severity == "problem"}
        return next((reason for check, reason in _LOOKED_AT.items() if check in bad), None)


@router.get(
    "/healthz",
    summary="Is the process alive?",
    operation_id="healthz",
    response_model=None,
    tags=["health"],
    responses=_HEALTHY,
)
async def healthz() -> dict[str, str]:
    """200 as long as the process answers."""
    return {"status": "ok"}


@router.get(
    "/readyz",
    summary="Can it be relied on?",
    operation_id="readyz",
    response_model=None,
    tags=["health"],
    responses=_HEALTHY,
)
async def readyz(request: Request) -> dict[str, str]:
    """503 with a reason when the store cannot be used, or when schedules are due that nobody plans."""
    readiness: Any = request.app.state.readiness
    reason: str | None = await readiness.reason()
    if reason is not None:
        hint = "`tickbird doctor` tells more."
        raise Problem(503, reason, _REASONS[reason], hint=hint, headers={"Retry-After": f"{CHECK_INTERVAL:.0f}"})
    return {"status": "ready"}


# For probes that want no body; described with GET.
for _path, _asked in (("/healthz", healthz), ("/readyz", readyz)):
    router.add_api_route(_path, _asked, methods=["HEAD"], include_in_schema=False)

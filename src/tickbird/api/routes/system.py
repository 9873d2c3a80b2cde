"""The store as a whole over HTTP: its clock, how it is, where it is, and its zone rules."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from tickbird.api import PREFIX
from tickbird.api.auth.auth import SystemAdmin, Viewer
from tickbird.api.middleware.timeouts import extend_timeout
from tickbird.api.models.system import (
    DoctorModel,
    IdentityModel,
    NowModel,
    ZoneHistory,
    ZoneImpactPage,
    ZonesModel,
)
from tickbird.api.paging import Limit
from tickbird.domain.doctor.finding import to_json
from tickbird.domain.time.instants import utc_text
from tickbird.wire.encode.system import (
    identity_document,
    zone_data_document,
    zone_impact_document,
    zone_record_document,
)

router = APIRouter(prefix=PREFIX, tags=["system"])
# It looks at everything.
_DOCTOR = 60


@router.get("/now", summary="The store's clock", operation_id="now", response_model=NowModel)
async def now(access: Viewer) -> Any:
    """The instant that it is for the store, by which everything is planned."""
    return {"now": utc_text(await access.client.now())}


@router.get("/doctor", summary="How the store is", operation_id="doctor", response_model=DoctorModel)
async def doctor(request: Request, access: SystemAdmin) -> Any:
    """Everything that was looked at, how it is, and what to do about what is wrong; as `tickbird doctor` tells it."""
    extend_timeout(request, _DOCTOR)
    return {"items": [to_json(finding) for finding in await access.client.doctor()]}


@router.get("/system/identity", summary="Where the store is", operation_id="identity", response_model=IdentityModel)
async def identity(access: SystemAdmin) -> Any:
    """Where the store is and where it says it is; `copy_reason` tells why it is taken for a copy."""
    return identity_document(await access.client.identity())


@router.post("/system/accept-copy", summary="Accept a copy", operation_id="accept_copy", response_model=IdentityModel)
async def accept_copy(access: SystemAdmin) -> Any:
    """Let a copy of a store go on where it is, as a store of its own; 409 where it is none."""
    return identity_document(await access.client.accept_copy(actor=access.actor))


@router.get("/system/zone-data", summary="Zone rules", operation_id="zone_data", response_model=ZonesModel)
async def zone_data(access: Viewer) -> Any:
    """The zone rules of the server's process beside those that the store goes by."""
    return zone_data_document(await access.client.zone_data())


@router.get(
    "/system/zone-data/history",
    summary="Zone rules so far",
    operation_id="zone_data_history",
    response_model=ZoneHistory,
)
async def zone_data_history(access: Viewer, limit: Limit = 100) -> Any:
    """The zone rules that the store has gone by, newest first."""
    return {"items": [zone_record_document(each) for each in await access.client.zone_data_history(limit=limit)]}


@router.get(
    "/system/zone-data/impact",
    summary="Ticks that zone rules move",
    operation_id="zone_impact",
    response_model=ZoneImpactPage,
)
async def zone_impact(
    access: Viewer,
    days: Annotated[int, Query(ge=1, le=36_500, description="Within so many days.")] = 400,
) -> Any:
    """The next ticks as stored that the rules of the server's process put elsewhere, the nearest first."""
    return {"items": [zone_impact_document(each) for each in await access.client.zone_impact(days)]}


@router.post(
    "/system/zone-data/adopt", summary="Adopt zone rules", operation_id="adopt_zone_data", response_model=ZonesModel
)
async def adopt_zone_data(access: SystemAdmin) -> Any:
    """Let the store go by the zone rules of the server's process, also by older ones; 409 where it does already."""
    return zone_data_document(await access.client.adopt_zone_data(actor=access.actor))

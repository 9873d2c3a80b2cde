"""The store's identity and its zone data, as JSON."""

from __future__ import annotations

from typing import Any

from tickbird.domain.planning.zone_impact import ZoneImpact
from tickbird.domain.store_identity import StoreIdentity
from tickbird.domain.time.instants import utc_text as iso
from tickbird.domain.time.zone_data import ZoneRecord, Zones


def identity_document(place: StoreIdentity) -> dict[str, Any]:
    """Where a store is, where it says it is, and why it is taken for a copy; empty where it is none."""
    return {"here": dict(place.here), "stored": dict(place.stored), "copy_reason": place.copy_reason}


def zone_data_document(zones: Zones) -> dict[str, Any]:
    """Zone rules beside those that a store goes by."""
    return {
        "here": {"version": zones.here.version, "digest": zones.here.digest, "source": zones.here.source},
        "store": None if zones.stored is None else zone_record_document(zones.stored),
        "same": zones.same,
        "adopted": zones.adopted,
    }


def zone_record_document(record: ZoneRecord) -> dict[str, Any]:
    """Zone rules that a store goes by, or went by."""
    return {
        "generation": record.generation,
        "version": record.version,
        "digest": record.digest,
        "adopted_at": iso(record.adopted_at),
        "adopted_by": record.adopted_by,
        "recomputed_at": iso(record.recomputed_at),
    }


def zone_impact_document(moves: ZoneImpact) -> dict[str, Any]:
    """The ticks of a schedule that other zone rules move."""
    return {
        "schedule": moves.schedule,
        "zone": moves.zone,
        "removed": moves.removed,
        "added": moves.added,
        "first_removed": [iso(tick) for tick in moves.first_removed],
        "first_added": [iso(tick) for tick in moves.first_added],
        "until": iso(moves.until),
    }

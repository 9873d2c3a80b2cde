"""The store as a whole: who did what, its place, its zone rules, and how it is."""

from __future__ import annotations

from tickbird.domain.doctor.finding import Finding
from tickbird.domain.ledger.activity import AuditEntry
from tickbird.domain.planning.zone_impact import ZoneImpact
from tickbird.domain.store_identity import StoreIdentity
from tickbird.domain.time.zone_data import ZoneData, ZoneRecord, Zones
from tickbird.wire.decode.parts import Document, instant, maybe


def read_audit_record(document: Document) -> AuditEntry:
    """Who did what, when and to what."""
    return AuditEntry(
        id=document["id"],
        at=instant(document["at"]),
        actor=document["actor"],
        action=document["action"],
        schedule=document["schedule"],
        run_id=document["run_id"],
        detail=document["detail"],
    )


def read_finding(document: Document) -> Finding:
    """What was looked at, how it is, and what to do about it."""
    return Finding(
        check=document["check"],
        severity=document["severity"],
        text=document["text"],
        fix=document["fix"],
        figures=document["figures"],
    )


def read_identity(document: Document) -> StoreIdentity:
    """Where a store is, and whether it is a copy."""
    return StoreIdentity(document["here"], document["stored"], document["copy_reason"])


def read_zones(document: Document) -> Zones:
    """Zone rules beside those that a store goes by."""
    here = document["here"]
    return Zones(
        ZoneData(here["version"], here["digest"], here["source"]),
        maybe(read_zone_record, document["store"]),
        document["adopted"],
    )


def read_zone_record(document: Document) -> ZoneRecord:
    """Zone rules that a store goes by, or went by."""
    return ZoneRecord(
        generation=document["generation"],
        version=document["version"],
        digest=document["digest"],
        adopted_at=instant(document["adopted_at"]),
        adopted_by=document["adopted_by"],
        recomputed_at=maybe(instant, document["recomputed_at"]),
    )


def read_moves(document: Document) -> ZoneImpact:
    """The ticks of a schedule that other zone rules move."""
    return ZoneImpact(
        schedule=document["schedule"],
        zone=document["zone"],
        removed=document["removed"],
        added=document["added"],
        first_removed=tuple(map(instant, document["first_removed"])),
        first_added=tuple(map(instant, document["first_added"])),
        until=instant(document["until"]),
    )

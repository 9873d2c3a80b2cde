"""Decoded definitions by revision, read when needed and then remembered."""

from __future__ import annotations

from collections.abc import Iterable

from tickbird.store.plans import Known, KnownRevisions, read_definition
from tickbird.store.postgres.connection import Session
from tickbird.store.postgres.rows import numbers


async def learn(db: Session, known: KnownRevisions, revisions: Iterable[tuple[int, int]]) -> None:
    """Read and decode these revisions unless they are known; what cannot be read stays unknown."""
    missing = known.missing(revisions)
    if not missing:
        return
    rows = await db.fetch(
        "read_revisions", ids=numbers(key[0] for key in missing), revisions=numbers(key[1] for key in missing)
    )
    for schedule_id, revision, namespace, name, stored in rows:
        definition, _ = read_definition(stored)
        if definition is not None:
            known.add(schedule_id, revision, Known(namespace, name, definition))

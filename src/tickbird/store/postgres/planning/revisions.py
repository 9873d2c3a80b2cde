"""Decoded definitions by revision, read when needed and then cached."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tickbird.domain.planning.fast_path import RevisionInfo
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.rows import numbers
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.stored_definitions import read_definition

Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Learnt:
    """Revisions that were asked for: those that could be read; of the others the schedule's name and the error."""

    found: dict[Key, RevisionInfo] = field(default_factory=dict)
    errors: dict[Key, tuple[str, str]] = field(default_factory=dict)


async def learn(db: Session, known: RevisionCache, revisions: Iterable[Key]) -> Learnt:
    """Read and decode these revisions unless they are cached."""
    learnt = Learnt()
    missing: list[Key] = []
    for key in revisions:
        if (one := known.get(*key)) is None:
            missing.append(key)
        else:
            learnt.found[key] = one
    if not missing:
        return learnt
    learnt.errors.update(dict.fromkeys(missing, ("", "its schedule does not exist")))
    rows = await db.fetch(
        "read_revisions", ids=numbers(key[0] for key in missing), revisions=numbers(key[1] for key in missing)
    )
    for schedule_id, revision, namespace, name, stored in rows:
        key = schedule_id, revision
        definition, error = read_definition(stored)
        if definition is None:
            learnt.errors[key] = name, error or "it cannot be read"
        else:
            del learnt.errors[key]
            learnt.found[key] = known.add(*key, RevisionInfo(namespace, name, definition))
    return learnt

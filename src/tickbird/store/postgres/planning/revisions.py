"""Revisions on PostgreSQL: decoded definitions, read when needed and then cached."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tickbird.domain.planning.fast_path import RevisionInfo
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.rows import numbers
from tickbird.store.shared.planning.revision_cache import Key, RevisionCache
from tickbird.store.shared.stored_definitions import read_definition


@dataclass(frozen=True, slots=True)
class LoadedRevisions:
    """The readable revisions; for each other one, the schedule's name and the error."""

    by_key: dict[Key, RevisionInfo] = field(default_factory=dict)
    errors: dict[Key, tuple[str, str]] = field(default_factory=dict)


async def load_revisions(db: Session, cache: RevisionCache, keys: Iterable[Key]) -> LoadedRevisions:
    """Read and decode these revisions, unless they are cached."""
    loaded = LoadedRevisions()
    missing: list[Key] = []
    for key in keys:
        if (revision := cache.get(key)) is None:
            missing.append(key)
        else:
            loaded.by_key[key] = revision
    if not missing:
        return loaded
    loaded.errors.update(dict.fromkeys(missing, ("", "its schedule does not exist")))
    rows = await db.fetch(
        "read_revisions", ids=numbers(key[0] for key in missing), revisions=numbers(key[1] for key in missing)
    )
    for schedule_id, number, namespace, name, stored in rows:
        key = schedule_id, number
        definition, error = read_definition(stored)
        if definition is None:
            loaded.errors[key] = name, error or "it cannot be read"
        else:
            del loaded.errors[key]
            loaded.by_key[key] = cache.add(key, RevisionInfo(namespace, name, definition))
    return loaded

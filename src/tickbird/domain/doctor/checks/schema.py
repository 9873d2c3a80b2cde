"""The schema of the store."""

from __future__ import annotations

from collections.abc import Iterator

from tickbird.domain.doctor.finding import Finding, ok, problem, warning
from tickbird.domain.doctor.snapshot import StoreSnapshot


def schema(condition: StoreSnapshot) -> Iterator[Finding]:
    seen = condition.schema
    figures = {"version": seen.version, "min_compatible": seen.min_compatible, "newest_known": seen.newest}
    if seen.error:
        yield problem("schema", seen.error, seen.fix, **figures)
    elif seen.version is None:
        yield problem("schema", "There is no Tickbird schema here yet.", "tickbird migrate", **figures)
    elif seen.min_compatible > seen.newest:
        text = (
            f"The schema has version {seen.version}, but this tickbird supports only {seen.newest}: it cannot use it."
        )
        yield problem("schema", text, "Upgrade tickbird here to the version of the workers.", **figures)
    elif seen.version < seen.newest and condition.kind == "sqlite":
        text = f"The schema has version {seen.version}. The next process that opens it migrates it to {seen.newest}."
        yield ok("schema", text, **figures)
    elif seen.version < seen.newest:
        text = (
            f"The schema has version {seen.version}, and this tickbird needs {seen.newest}: its workers do not start."
        )
        yield problem("schema", text, "tickbird migrate", **figures)
    elif seen.version > seen.newest:
        text = (
            f"The schema has version {seen.version}, newer than this tickbird ({seen.newest}), but is still compatible."
        )
        yield warning("schema", text, "Upgrade tickbird here too.", **figures)
    else:
        yield ok("schema", f"Version {seen.version}, which this tickbird needs.", **figures)

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
        text = f"It is at version {seen.version}, and this tickbird knows only {seen.newest}: it cannot work here."
        yield problem("schema", text, "Upgrade tickbird here to the version that the workers have.", **figures)
    elif seen.version < seen.newest and condition.kind == "sqlite":
        text = f"It is at version {seen.version}; whatever opens it next brings it to {seen.newest}."
        yield ok("schema", text, **figures)
    elif seen.version < seen.newest:
        text = f"It is at version {seen.version} and this tickbird needs {seen.newest}: workers of it do not start."
        yield problem("schema", text, "tickbird migrate", **figures)
    elif seen.version > seen.newest:
        text = f"It is at version {seen.version}, newer than this tickbird ({seen.newest}), and still takes it."
        yield warning("schema", text, "Upgrade tickbird here as well.", **figures)
    else:
        yield ok("schema", f"Version {seen.version}, which this tickbird needs.", **figures)

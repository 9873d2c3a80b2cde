"""Time zone data of the store, of this process and of the workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tickbird.domain.doctor.finding import Finding, ok, problem, warning
from tickbird.domain.doctor.snapshot import StoreSnapshot
from tickbird.domain.messages import count


def zones(condition: StoreSnapshot) -> Iterator[Finding]:
    zones = condition.zones
    if zones is None:
        return
    figures = {"here": zones.here.version, "stored": zones.version}
    stored = f"{zones.version} ({(zones.digest or '')[:8]})"
    if zones.digest is None:
        yield ok("time zone data", f"{zones.here} here. The store adopts the data of the first worker.", **figures)
    elif zones.digest != zones.here.digest:
        text = f"{zones.here} here, {stored} in the store: a worker with this data plans only schedules in UTC."
        fix = f"pip install tzdata=={_package(zones.version or '')}   # or: tickbird zones --adopt"
        yield problem("time zone data", text, fix, **figures)
    versions = [worker.health.get("zones") for worker in condition.workers]
    others = Counter(str(version) for version in versions if version not in (None, stored))
    if zones.digest is not None and others:
        listed = ", ".join(f"{version} on {count(number, 'worker')}" for version, number in sorted(others.items()))
        text = f"The store uses {stored}, but there is {listed}. Those workers plan only schedules in UTC."
        fix = f"pip install tzdata=={_package(zones.version or '')}   # on these machines"
        yield warning("time zone data", text, fix, **figures, workers=dict(others))
    elif zones.digest == zones.here.digest:
        yield ok("time zone data", f"{zones.here}, the same as in the store.", **figures)


def _package(version: str) -> str:
    """Return the release of the tzdata package with this data: 2026f is 2026.6."""
    year, letter = version[:4], version[4:5]
    return f"{year}.{ord(letter) - ord('a') + 1}" if year.isdigit() and letter.isalpha() else "…"

"""Firings of CronJobs, from their existing Jobs: the output of `kubectl get jobs -A -o json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tickbird.importers.history.observed import Names, ObservedFirings, read_time
from tickbird.importers.kubernetes import at_path, full_name, objects_of


def read_jobs(text: str, source: str, names: Names, observed: ObservedFirings) -> None:
    """Read the start of each Job that a CronJob created."""
    for number, job in enumerate(objects_of(text), 1):
        location = f"{source}: item {number}"
        if job.get("kind", "Job") != "Job" or not isinstance(at_path(job, "metadata"), Mapping):
            observed.wrong(location, "it is not a Job", str(job)[:200])
            continue
        owner = _owner(job)
        if owner is None:
            observed.other(f"Job {at_path(job, 'metadata', 'name')}, not created by a CronJob")
            continue
        try:
            started = at_path(job, "status", "startTime") or at_path(job, "metadata", "creationTimestamp")
            at = read_time(started, "UTC")
        except ValueError as error:
            observed.wrong(location, str(error), owner)
            continue
        observed.note_instant(at)
        # Try the name with its namespace first, as the importer writes it, then the name alone.
        whole = full_name({"metadata": {"name": owner, "namespace": at_path(job, "metadata", "namespace")}})
        group = names.group(whole, owner)
        if group is None:
            observed.other(f"CronJob {whole}")
        else:
            observed.fired(group, at)


def _owner(job: Mapping[str, Any]) -> str | None:
    owners = at_path(job, "metadata", "ownerReferences")
    for owner in owners if isinstance(owners, list) else ():
        if at_path(owner, "kind") == "CronJob" and isinstance(name := at_path(owner, "name"), str):
            return name
    return None

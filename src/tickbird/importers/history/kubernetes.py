"""What CronJobs started, by the Jobs that there still are: the output of `kubectl get jobs -A -o json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tickbird.importers.history.observed import Names, ObservedFirings, read_time
from tickbird.importers.kubernetes import at_path, full_name, objects_of


def read_jobs(text: str, source: str, names: Names, heard: ObservedFirings) -> None:
    """When each Job of a CronJob was started."""
    for number, job in enumerate(objects_of(text), 1):
        place = f"{source}: item {number}"
        if job.get("kind", "Job") != "Job" or not isinstance(at_path(job, "metadata"), Mapping):
            heard.wrong(place, "it is not a Job", str(job)[:200])
            continue
        owner = _owner(job)
        if owner is None:
            heard.other(f"Job {at_path(job, 'metadata', 'name')}, not created by a CronJob")
            continue
        try:
            started = at_path(job, "status", "startTime") or at_path(job, "metadata", "creationTimestamp")
            at = read_time(started, "UTC")
        except ValueError as error:
            heard.wrong(place, str(error), owner)
            continue
        heard.note_instant(at)
        # With its namespace, as it is imported; else by the name alone.
        whole = full_name({"metadata": {"name": owner, "namespace": at_path(job, "metadata", "namespace")}})
        group = names.group(whole, owner)
        if group is None:
            heard.other(f"CronJob {whole}")
        else:
            heard.fired(group, at)


def _owner(job: Mapping[str, Any]) -> str | None:
    owners = at_path(job, "metadata", "ownerReferences")
    for each in owners if isinstance(owners, list) else ():
        if at_path(each, "kind") == "CronJob" and isinstance(name := at_path(each, "name"), str):
            return name
    return None

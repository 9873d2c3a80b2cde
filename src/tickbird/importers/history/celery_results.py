"""Firings of Celery, from the database of django-celery-results. It is only read; Django is not needed."""

from __future__ import annotations

from tickbird.domain.errors import StoreError
from tickbird.importers.databases import stream
from tickbird.importers.history.observed import Names, ObservedFirings, read_time
from tickbird.importers.history.text_files import Advance
from tickbird.store.shared.sql import load_statements


def read_results(url: str, names: Names, observed: ObservedFirings, advance: Advance = lambda _: None) -> None:
    """Read the start of each task, or its creation if the start is unknown, by periodic task or task name."""
    statements = load_statements("tickbird.importers.history", "celery_results")
    try:
        rows = stream(url, statements["results"])
        first = next(rows, None)
    except StoreError:
        # Older versions have no columns for the periodic task and the start.
        rows = stream(url, statements["older_results"])
        first = next(rows, None)
    number = 0
    while first is not None:
        number += 1
        try:
            at = read_time(first["at"], "UTC")
        except ValueError as error:
            observed.wrong(f"row {first['id']}", str(error), str(first["task"]))
        else:
            observed.note_instant(at)
            group = names.group(first["periodic_task"], first["task"])
            if group is None:
                observed.other(str(first["periodic_task"] or first["task"]))
            else:
                observed.fired(group, at)
        if number % 1_000 == 0:
            advance(1_000)
        first = next(rows, None)

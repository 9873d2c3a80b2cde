"""What Celery ran, by the database of django-celery-results, only read and without Django."""

from __future__ import annotations

from tickbird.domain.errors import StoreError
from tickbird.importers.databases import stream
from tickbird.importers.history.observed import Names, ObservedFirings, read_time
from tickbird.importers.history.text_files import Advance
from tickbird.store.shared.sql import load_statements


def read_results(url: str, names: Names, heard: ObservedFirings, advance: Advance = lambda _: None) -> None:
    """When each task was started, or else first heard of; by its periodic task where that is known."""
    statements = load_statements("tickbird.importers.history", "celery_results")
    try:
        rows = stream(url, statements["results"])
        first = next(rows, None)
    except StoreError:
        # Older versions know neither periodic tasks nor when a task was started.
        rows = stream(url, statements["older_results"])
        first = next(rows, None)
    number = 0
    while first is not None:
        number += 1
        try:
            at = read_time(first["at"], "UTC")
        except ValueError as error:
            heard.wrong(f"row {first['id']}", str(error), str(first["task"]))
        else:
            heard.note_instant(at)
            group = names.group(first["periodic_task"], first["task"])
            if group is None:
                heard.other(str(first["periodic_task"] or first["task"]))
            else:
                heard.fired(group, at)
        if number % 1_000 == 0:
            advance(1_000)
        first = next(rows, None)

"""Settings and payload schemas of tasks, applied to the schedules of a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tickbird.domain.errors import InvalidError, PayloadError
from tickbird.domain.schedules.definition import TASK_SETTINGS, Definition
from tickbird.domain.schedules.payload_schema import check_by_schema
from tickbird.domain.schedules.task_settings import find_published, inherit
from tickbird.domain.targets.target import TASK
from tickbird.domain.workers import Worker
from tickbird.files.diagnostics import Diagnostic
from tickbird.files.document import Document


def inherit_settings(
    document: Document, settings: Mapping[str, Mapping[str, Any]], declared: Mapping[str, Definition]
) -> tuple[Document, list[Diagnostic]]:
    """Fill in settings by task; for an unknown task, those of the `declared` definition with the same target."""
    schedules: dict[str, Definition] = {}
    diagnostics: list[Diagnostic] = []
    for name, definition in document.schedules.items():
        own = settings.get(definition.target.name, {}) if definition.target.kind == TASK else {}
        if name in declared and declared[name].target == definition.target:
            own = {setting: getattr(declared[name], setting) for setting in TASK_SETTINGS}
        try:
            schedules[name] = inherit(definition, own)
        except InvalidError as error:
            # The concurrency key of the task may need fields that the payload lacks.
            schedules[name] = definition
            location = document.location("schedules", name)
            diagnostics.append(Diagnostic(location, f"schedule {name}: {error} The value comes from its task."))
    return replace(document, schedules=schedules), diagnostics


def check_payloads(
    document: Document, names: Iterable[str], workers: Sequence[Worker]
) -> tuple[list[Diagnostic], list[str]]:
    """Diagnostics of payloads that the schemas of live workers refuse, and tasks that no live worker has."""
    diagnostics, unserved = [], set()
    for name in names:
        definition = document.schedules[name]
        task = definition.target.name
        if definition.target.kind != TASK:
            continue
        if (published := find_published(workers, task)) is None:
            unserved.add(task)
            continue
        try:
            check_by_schema(task, definition.payload, published, unknown_task_ok=True)
        except PayloadError as error:
            location = document.location("schedules", name, "payload")
            diagnostics.append(Diagnostic(location, f"schedule {name}: {error}"))
    return diagnostics, sorted(unserved)

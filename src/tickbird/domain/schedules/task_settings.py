"""Task settings: policies that a task declares as defaults for its schedules and runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from enum import Enum
from typing import Any, Final, Protocol

from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.codec import decode_field, encode_field
from tickbird.domain.schedules.definition import CRASH_LIMITS, TASK_SETTINGS, Definition
from tickbird.domain.schedules.fields import POLICIES, Policies
from tickbird.domain.targets.target import TASK, TargetKey
from tickbird.domain.time.instants import EPOCH


class FromTask(Enum):
    """The default of an option for which None is a valid value."""

    FROM_TASK = "the task's"


FROM_TASK: Final = FromTask.FROM_TASK


class Publisher(Protocol):
    def published(self, target: TargetKey) -> Mapping[str, Any] | None: ...
    @property
    def started_at(self) -> datetime | None: ...


def publish_settings(policies: Policies) -> dict[str, Any]:
    return {name: encode_field(name, getattr(policies, name)) for name in TASK_SETTINGS}


def find_published(workers: Iterable[Publisher], task: str) -> Mapping[str, Any] | None:
    """Return the description of a task from the newest worker, which has the newest code; None: no worker has it."""
    candidates = [worker for worker in workers if worker.published((TASK, task)) is not None]
    newest = max(candidates, key=lambda worker: worker.started_at or EPOCH, default=None)
    return None if newest is None else newest.published((TASK, task))


def read_settings(published: Mapping[str, Any]) -> dict[str, Any]:
    """Return the valid settings in a published description."""
    return {name: value for name in TASK_SETTINGS if name in published for value in _read(name, published[name])}


def _read(name: str, value: Any) -> list[Any]:
    try:
        setting = decode_field(name, value)
        POLICIES[name].check(setting)
    except (InvalidError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        return []
    return [setting]


def inherit(definition: Definition, settings: Mapping[str, Any]) -> Definition:
    """Return the definition with the settings of its task that it does not state."""
    unstated = {name: value for name, value in settings.items() if name not in definition.stated}
    return replace(definition, **unstated) if unstated else definition


def crash_limit(settings: Mapping[str, Any]) -> int:
    """Return the crash limit of a run whose task has these settings."""
    return CRASH_LIMITS[settings.get("on_crash", "retry")]

"""Fields of schedule files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.targets.registry import target_kinds
from tickbird.domain.triggers.trigger import ANY_OF, FORMS

TRIGGERS = {
    **{form.name: form.about for form in FORMS.values()},
    ANY_OF: "Several triggers, combined: a list of objects.",
}
BESIDE = {
    "tz": "Time zone of the trigger, such as Europe/Rome (default: UTC).",
    **{option.name: option.about for form in FORMS.values() for option in form.options},
}


def target_names() -> tuple[str, ...]:
    """Return the target kinds. A schedule has exactly one of them."""
    return tuple(target_kinds())


def schedule_names() -> tuple[str, ...]:
    """Return all fields of a schedule."""
    return (*TRIGGERS, *BESIDE, *target_names(), *POLICIES)


# Fields of `depends_on`, of `backoff` and of a trigger in `any_of`.
DEPENDENCY = ("after", "within", "wait")
BACKOFF = ("base", "max")
MEMBER = (*TRIGGERS, *BESIDE)
# Fields of the document.
PARTS: Mapping[str, str] = {
    "app": "App that owns these schedules. Schedules of other owners are never changed (default: files).",
    "namespace": "Namespace of the schedules (default: default).",
    "schedules": "Schedules by name.",
    "event_schedules": "Schedules of events, as a list of rows with an interval and an event.",
    "calendars": "Calendars of closed days by name.",
    "limits": "Maximum number of concurrent runs, by concurrency key.",
    "queues": "Rate limit, such as 100/min, by queue.",
    "state": "Owning app, pause and overrides of schedules by name, as `tickbird export --all` writes them.",
}
# Editors add these for themselves.
IGNORED = ("$schema",)
Plain = dict[str, Any]

"""Notes on changes that files make."""

from __future__ import annotations

from collections.abc import Iterable

from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.schedules.definition import TASK_SETTINGS, Definition
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.schedules.schedule import Schedule


def change_notes(after: Schedule, before: Schedule | None) -> Iterable[str]:
    """Yield notes for the person who reviews the change."""
    if before is None and after.definition is not None and (inherited := _inherited(after.definition)):
        yield f"from its task: {inherited}"
    if before is None and after.state == "ended":
        yield "it has no future tick: its last tick is recorded as missed, and the schedule ends"
    if before is not None and before.state == "ended" and after.state == "active":
        yield "it had ended, and resumes"
    if before is not None and before.state == "parked":
        yield f"it was parked ({before.error}), and resumes"
    if before is not None and before.app is None:
        yield f"it was created by a person, and now belongs to app {after.app}"


def _inherited(definition: Definition) -> str:
    """Return the settings that the schedule inherits from its task, as text."""
    encoded = encode_definition(definition)
    names = [name for name in TASK_SETTINGS if name in encoded and name not in definition.stated]
    return ", ".join(f"{name} {POLICIES[name].text(encoded[name])}" for name in names)

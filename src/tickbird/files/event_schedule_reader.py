"""Reader of event schedules: rows with an interval and an event."""

from __future__ import annotations

from functools import partial
from typing import Any

from tickbird.domain.schedules.event_schedule import (
    FIELDS,
    READ_ONLY,
    REQUIRED,
    EventSchedule,
    missing,
    read_field,
    translate,
)
from tickbird.files.parse.nodes import Node
from tickbird.files.value_reader import WRONG, Values


class EventSchedules(Values):
    """Reads each field of a row alone, so that all errors are reported with their locations."""

    def event_schedule(self, node: Node) -> tuple[str | None, EventSchedule | None]:
        """Return the name, if there is one, and the schedule, unless an error was reported."""
        if not isinstance(node.value, dict):
            self.expected(node, "an object with schedule_name, frequency_unit and more", "event schedule")
            return None, None
        before = len(self.diagnostics)
        fields: dict[str, Node] = node.value
        read: dict[str, Any] = {}
        for name, part in fields.items():
            if name in FIELDS:
                read[name] = self.checked(part, partial(read_field, name, part.plain))
            elif name not in READ_ONLY:
                self.unknown(name, part, FIELDS, "an event schedule")
        for name in REQUIRED:
            if name not in fields:
                self.wrong(node.at, str(missing(name)))
        title = read.get("schedule_name")
        found = title if isinstance(title, str) else None
        if len(self.diagnostics) > before:
            return found, None
        schedule = self.checked(fields["frequency_time"], partial(translate, read))
        return found, None if schedule is WRONG else schedule

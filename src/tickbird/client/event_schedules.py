"""Event schedules: schedules from rows with an interval and an event."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Annotated, Any, Final

from tickbird.client.base import ClientBase
from tickbird.client.schedules import Schedules
from tickbird.domain.access.tokens import Role
from tickbird.domain.errors import NotFoundError
from tickbird.domain.schedules.codec import encode_stated
from tickbird.domain.schedules.definition_input import read_definition
from tickbird.domain.schedules.event_schedule import FIELDS, INACTIVE, read_event_schedule, read_field
from tickbird.domain.schedules.schedule import PauseState, PutResult
from tickbird.wire.operations import editor
from tickbird.wire.parameters import Meta

# The domain validates the fields, with better errors than their schemas.
_META: Final = {
    name: Meta(schema=schema, check=partial(read_field, name), round_up=name == "start_ts")
    for name, schema in FIELDS.items()
}


class EventSchedules(ClientBase):
    """Schedules from rows with an interval and an event."""

    @editor.post(
        "put_event_schedule",
        "/event-schedules",
        "Create or replace a schedule of events",
        audit="update",
        etag=lambda result: result.schedule.revision,
        created=lambda result: result.created,
        responses={201: "The schedule was created."},
    )
    async def put(
        self,
        schedule_name: Annotated[str, _META["schedule_name"]],
        frequency_unit: Annotated[str, _META["frequency_unit"]],
        frequency_time: Annotated[int, _META["frequency_time"]],
        start_ts: Annotated[datetime | str, _META["start_ts"]],
        event_topic: Annotated[str, _META["event_topic"]],
        event_type: Annotated[str, _META["event_type"]],
        event_data: Annotated[Any, _META["event_data"]] = None,
        host_id: Annotated[str | None, _META["host_id"]] = None,
        active: Annotated[bool | None, _META["active"]] = None,
        *,
        actor: str,
        revision: int | None = None,
        granted: Role | None = None,
    ) -> PutResult:
        """Create a schedule that publishes events, or replace its definition.

        `active` false pauses it, true resumes it; without it, a paused schedule stays paused.
        """
        row = read_event_schedule(
            {
                "schedule_name": schedule_name,
                "frequency_unit": frequency_unit,
                "frequency_time": frequency_time,
                "start_ts": start_ts,
                "event_topic": event_topic,
                "event_type": event_type,
                "event_data": event_data,
                "host_id": host_id,
                "active": active,
            }
        )
        schedules = self._noun(Schedules)
        fields, left_out = read_definition(encode_stated(row.definition))
        await self._check_role(row.name, fields["target"], granted)
        if row.is_active is False and revision != 0:
            # First, so that no tick of the new definition is planned.
            revision = await self._pause(row.name, actor, revision)
        pause = PauseState(actor, INACTIVE) if row.is_active is False else None
        result = await schedules._put(row.name, fields, left_out, actor, revision, pause)
        if row.is_active and result.schedule.pause is not None:
            resumed = await schedules.resume(
                row.name, actor=actor, revision=result.schedule.revision, note="active is true"
            )
            return PutResult(resumed, created=False)
        return result

    async def _pause(self, name: str, actor: str, revision: int | None) -> int | None:
        """Pause the schedule if it exists and is not paused; returns the revision to replace."""
        try:
            schedule = await self._get(name)
        except NotFoundError:
            return revision
        if schedule.pause is not None or schedule.state == "ended":
            return revision
        paused = await self._noun(Schedules).pause(name, actor=actor, note=INACTIVE, revision=revision)
        return revision if revision is None else paused.revision

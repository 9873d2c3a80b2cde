"""Parameters that many operations have."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final

from tickbird.domain.errors import NotFoundError
from tickbird.domain.schedules.definition import check_payload
from tickbird.domain.text import check_new_name, check_text
from tickbird.domain.time.zones import zone
from tickbird.wire.parameters import TEXT, Meta

MAX_ID: Final = 2**63 - 1


def nullable(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def check_routable(name: object) -> None:
    if not check_text(name, "schedule") or "/" in str(name):
        raise NotFoundError(f"there is no schedule {str(name)[:200]!r}.", hint="`tickbird ls` lists the schedules.")


def no_such_run(run_id: int) -> NotFoundError:
    return NotFoundError(f"there is no run {run_id}.", hint="`tickbird runs` lists the newest.")


def check_run_id(run_id: int) -> None:
    if not 0 < run_id <= MAX_ID:
        raise no_such_run(run_id)


def check_new_routable(name: str) -> None:
    """Raise DefinitionError for a name that cannot be a part of a path, because no schedule can be created by it."""
    if not check_text(name, "schedule") or "/" in name:
        check_new_name(name, "schedule")


ScheduleName = Annotated[str, Meta(check=check_routable)]
NewScheduleName = Annotated[str, Meta(check=check_new_routable)]
OfSchedule = Annotated[str | None, Meta(max_length=200, description="Only of this schedule.")]
RunId = Annotated[int, Meta(ge=1, le=MAX_ID, check=check_run_id)]
Note = Annotated[str, Meta(max_length=2_000, schema={"pattern": TEXT}, description="Why, for the audit log.")]
Payload = Annotated[Mapping[str, Any] | None, Meta(check=check_payload)]
Zone = Annotated[str | None, Meta(parse=zone, max_length=100, description="The time zone in which texts show times.")]
# Sent in whole seconds, rounded up.
From = Annotated[datetime, Meta(round_up=True)]
CancelRuns = Annotated[bool, Meta(description="Also cancel its runs that have not started.")]

"""What every change of a schedule has in common: the answer to it, and what only admins may ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tickbird.api.auth.auth import Access
from tickbird.api.etags import etag
from tickbird.api.problems import Problem
from tickbird.domain.errors import NotFoundError
from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.schedules.definition import Target
from tickbird.domain.schedules.schedule import Schedule
from tickbird.wire.encode.schedules import schedule_document


async def changed_schedule(access: Access, schedule: Schedule, response: Any) -> dict[str, Any]:
    """The schedule as it is now, its revision as a tag, and what keeps its runs from being executed."""
    response.headers["ETag"] = etag(schedule.revision)
    return {"schedule": schedule_document(schedule), "warnings": await _warnings(access, schedule)}


async def check_command(access: Access, name: str, fields: Mapping[str, Any]) -> None:
    """What workers start on their machines is for admins to say; others may send back what is there."""
    target: Target | None = fields.get("target")
    if target is None or target.kind != "command" or access.caller.role == "admin":
        return
    try:
        known = (await access.client.get(name)).definition
    except NotFoundError:
        known = None
    if known is None or known.target != target:
        raise Problem(
            403,
            "forbidden",
            f"A command needs the role admin, and the token {access.caller.name!r} has {access.caller.role};",
            field="target",
            hint="use another token, or define it in code or in a file.",
        )


async def _warnings(access: Access, schedule: Schedule) -> Sequence[str]:
    definition = schedule.definition
    if definition is None or schedule.state not in ("active", "paused"):
        return []
    unserved = unserved_reason(definition.queue, definition.target.name, await access.client.workers())
    return [f"{unserved}: its runs stay queued until one does"] if unserved else []

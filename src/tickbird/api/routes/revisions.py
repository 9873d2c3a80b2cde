"""The revisions of a schedule over HTTP, and the way back to one."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Response

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Access, Editor, Viewer
from tickbird.api.etags import IfMatch, parse_if_match
from tickbird.api.models.revisions import RevisionPage, RollBackBody
from tickbird.api.models.schedules import ChangedSchedule
from tickbird.api.paging import AfterNumber, Limit, page, read_number
from tickbird.api.schedule_response import changed_schedule, check_command
from tickbird.domain.errors import InvalidError
from tickbird.domain.planning.commands.define import override_notice
from tickbird.domain.schedules.codec import decode_field
from tickbird.wire.encode.schedules import history_document

router = APIRouter(prefix=f"{PREFIX}/schedules", tags=["revisions"])


@router.get("/{name}/revisions", summary="The revisions", operation_id="list_revisions", response_model=RevisionPage)
async def list_revisions(access: Viewer, name: str, limit: Limit = 100, after: AfterNumber = None) -> Any:
    """Every revision, newest first: what it was, what it changed, who made it, when, and where it came from."""
    found = await access.client.history(name, before=read_number(after), limit=limit + 1)
    return await page(found, limit, lambda each: each.revision.revision, history_document)


@router.post(
    "/{name}/roll-back", summary="Go back to a revision", operation_id="roll_back", response_model=ChangedSchedule
)
async def roll_back(access: Editor, name: str, body: RollBackBody, response: Response, if_match: IfMatch = None) -> Any:
    """A new revision with the definition of an earlier one; 409 where it is so already.

    On a schedule from code, what differs from the code is set over it and stays so through deploys.
    """
    await _check_command(access, name, body.to)
    schedule = await access.client.roll_back(
        name, body.to, actor=access.actor, note=body.note, revision=parse_if_match(if_match)
    )
    answer = await changed_schedule(access, schedule, response)
    kept = override_notice(schedule)
    return {**answer, "warnings": [*answer["warnings"], *([kept] if kept else [])]}


async def _check_command(access: Access, name: str, to: int) -> None:
    """A revision with a command is one that only an admin may go back to."""
    for found in await access.client.revisions(name, before=to + 1, limit=1):
        target = found.definition.get("target")
        # What cannot be read is refused with its reason when it is asked for.
        with suppress(InvalidError):
            await check_command(access, name, {"target": decode_field("target", target)})

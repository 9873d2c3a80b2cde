"""Previews over HTTP: what a schedule would do, before there is one."""

from __future__ import annotations

import asyncio
from typing import Any

# Here, so that no request has to wait until it is loaded.
import cron_descriptor  # type: ignore[import-untyped]  # noqa: F401
from fastapi import APIRouter

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Viewer
from tickbird.api.definition_body import read_draft
from tickbird.api.models.previews import PreviewBody, PreviewModel
from tickbird.api.query_types import read_instant
from tickbird.wire.encode.ticks import preview_document

router = APIRouter(prefix=f"{PREFIX}/preview", tags=["previews"])


@router.post("", summary="What a schedule would do", operation_id="preview", response_model=PreviewModel)
async def preview(access: Viewer, body: PreviewBody) -> Any:
    """The next ticks of a definition, in words, with warnings, and the ticks of other schedules around them.

    Nothing is stored. At most 500 active schedules are looked at, by name, around the first ten ticks that would run.
    """
    fields = read_draft(body.definition)
    found = await access.client.preview(
        fields.pop("trigger"),
        count=body.count,
        after=None if body.after is None else read_instant(body.after, "after"),
        name=body.name,
        **fields,
    )
    return await asyncio.to_thread(preview_document, found)

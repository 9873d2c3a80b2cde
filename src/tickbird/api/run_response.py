"""What everybody is told who asks for a run: the run, and what keeps it from being executed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

from fastapi import Header, Request

from tickbird.api.auth.auth import Access
from tickbird.api.middleware.timeouts import extend_timeout
from tickbird.client import Client
from tickbird.domain.access.tokens import TOKEN_ID_LENGTH
from tickbird.domain.errors import ConflictError, NotFinishedError
from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.runs.run import RunRecord
from tickbird.wire.encode.runs import run_document

# What is in front of a key of a caller takes some of the room that a key has.
_MAX_KEY_LENGTH: Final = 200 - TOKEN_ID_LENGTH - 1

RunKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=_MAX_KEY_LENGTH,
        description="The same key again gives the same run.",
    ),
]


@contextmanager
def scoped_key(access: Access, key: str | None) -> Iterator[str | None]:
    """A key of one caller, which nobody else's is the same as; what is wrong with it is told of the caller's."""
    own = None if key is None else f"{access.caller.token_id}:{key}"
    try:
        yield own
    except ConflictError as error:
        error.message = error.message.replace(repr(own), repr(key))
        raise


async def run_response(request: Request, client: Client, run: RunRecord, wait: int | None) -> dict[str, Any]:
    """The run as it is once it has come to its end, or after so many seconds; and what it waits for, if it does."""
    if wait is not None:
        run = await waited_for(request, client, run.id, wait)
    return {"run": run_document(run), "warnings": await _warnings(client, run)}


async def waited_for(request: Request, client: Client, run_id: int, wait: int) -> RunRecord:
    """A run as it is once it has come to its end, or after so many seconds."""
    extend_timeout(request, wait)
    try:
        return await client.wait(run_id, timeout=wait)
    except NotFinishedError:
        return await client.run(run_id)


async def _warnings(client: Client, run: RunRecord) -> list[str]:
    if run.status == "waiting":
        if run.schedule is not None:
            return [f"run {run.id} waits until the active run of {run.schedule} is final"]
        return [f"run {run.id} waits for a slot of concurrency key {run.concurrency_key!r}"]
    if run.status == "queued" and (unserved := unserved_reason(run.queue, run.target.name, await client.workers())):
        return [f"{unserved}: run {run.id} stays queued until one does"]
    return []

"""Backfills: list, progress and cancellation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response

from tickbird.domain.dashboard_rows import RunFilter
from tickbird.domain.errors import InvalidError, NotFoundError
from tickbird.domain.planning.backfills import BackfillRecord
from tickbird.domain.runs.run import RunRecord, Status
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.pages.run import command
from tickbird.web.pages.runs import Row, read_number, row_of

_PAGE: Final = 50
# Newest backfill runs that are searched for failures.
_MAX_RUNS: Final = 1_000
_MAX_SHOWN: Final = 50
_ORDER: Final[tuple[Status, ...]] = ("succeeded", "failed", "cancelled", "running", "queued", "waiting")


async def backfills(visit: PageRequest) -> Response:
    schedule = visit.query.get("schedule") or None
    before = read_number(visit.query.get("before"))

    async def read() -> Sequence[BackfillRecord]:
        return await visit.client.backfills.list(schedule=schedule, before=before, limit=_PAGE + 1)

    records = await visit.readings.share((visit.namespace, "backfills", schedule, before), read)
    shown = records[:_PAGE]
    return visit.render(
        "backfills.html",
        records=shown,
        states={record.id: state_of(record) for record in shown},
        schedule=schedule,
        older=visit.here(before=shown[-1].id) if len(records) > _PAGE else None,
        newest=visit.here(before=None) if before is not None else None,
    )


def state_of(record: BackfillRecord) -> tuple[str, str]:
    """Return the status icon and the text of a backfill."""
    if record.active:
        return ("running", "running") if record.cancelled_at is None else ("cancelled", "cancelled, ending")
    if record.cancelled_at is not None:
        return "cancelled", "cancelled"
    return ("failed", "done, with failures") if record.count("failed", "cancelled") else ("succeeded", "done")


@dataclass(frozen=True, slots=True)
class BackfillsPageData:
    """A backfill with its newest failed runs and its active runs."""

    record: BackfillRecord
    failed: Sequence[RunRecord]
    active: Sequence[RunRecord]


async def backfill(visit: PageRequest) -> Response:
    backfill_id = _number(visit)
    page = await visit.readings.share((visit.namespace, "backfill", backfill_id), lambda: _read(visit, backfill_id))
    record = page.record

    def rows(runs: Sequence[RunRecord]) -> list[Row]:
        return [row_of(visit, run) for run in runs]

    return visit.render(
        "backfill.html",
        record=record,
        state=state_of(record),
        counts=[(status, record.count(status)) for status in _ORDER if record.count(status)],
        pruned=record.total - sum(record.counts.values()),
        failed=rows(page.failed),
        active=rows(page.active),
    )


async def _read(visit: PageRequest, backfill_id: int) -> BackfillsPageData:
    record = await visit.client.backfills.get(backfill_id)

    async def some(*statuses: Status) -> Sequence[RunRecord]:
        if not record.count(*statuses):
            return ()
        wanted = RunFilter(schedule=record.schedule, origin="backfill", statuses=statuses)
        page = await visit.board.runs(wanted, limit=_MAX_RUNS)
        return [run for run in page.rows if run.backfill_id == backfill_id][:_MAX_SHOWN]

    return BackfillsPageData(record, await some("failed"), await some("running", "queued"))


async def cancel(visit: PageRequest) -> Response:
    """Confirm, then cancel the queued runs, and optionally stop running ones."""
    record = await visit.client.backfills.get(_number(visit))
    note, stop = visit.form.text("note"), visit.form.text("stop") == "yes"
    wrong = ""
    if visit.is_sent:
        try:
            await visit.client.backfills.cancel(record.id, actor=visit.actor, note=note, stop_running=stop)
        except InvalidError as error:
            wrong = str(error)
        else:
            message = f"Backfill {record.id} is cancelled{', and running runs were asked to stop' if stop else ''}."
            return visit.done(visit.url(f"/backfills/{record.id}"), message)
    context: dict[str, Any] = {"record": record, "note": note, "stop": stop, "wrong": wrong}
    options = [*(("--note", note) if note else ()), *(("--stop-running",) if stop else ())]
    line = command(visit, "backfill --cancel", record.id, *options)
    return visit.render("backfill_cancel.html", status=422 if wrong else 200, command=line, **context)


def _number(visit: PageRequest) -> int:
    backfill_id = visit.number("id")
    if backfill_id is None:
        raise NotFoundError(f"Backfill {visit.param('id')[:60]!r} does not exist.", hint="Use the id of a backfill.")
    return backfill_id


ROUTES: Final = (
    PageRoute("/backfills", backfills),
    PageRoute("/backfills/{id}/cancel", cancel, "operator", ("GET", "POST")),
    PageRoute("/backfills/{id}", backfill),
)

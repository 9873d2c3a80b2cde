"""The page of a run, and the forms to cancel, resolve and retry it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response

from tickbird.client.optional import if_supported
from tickbird.domain.dashboard_rows import RunFilter
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError
from tickbird.domain.explain.explanation import Step
from tickbird.domain.messages import brief
from tickbird.domain.runs.logs import Progress
from tickbird.domain.runs.lost_runs import LostRun
from tickbird.domain.runs.run import ACTIVE, FINAL, AttemptRecord, RunRecord, Status
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.event import EVENT
from tickbird.domain.targets.registry import read_target, target_line
from tickbird.domain.targets.target import TASK, Target
from tickbird.web.charts import AttemptLine, Chart, run_line
from tickbird.web.forms.idempotency import form_token, key_of
from tickbird.web.forms.payload_form import PayloadForm, draw_in_thread, published_schema, read_in_thread
from tickbird.web.forms.payload_schema import as_json
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.pages.run_log import LEVELS, last_page, sought, without_colours
from tickbird.web.pages.runs import duration, lateness, why_url
from tickbird.web.result_report import read_report

# Retries of the same target that are searched for retries of this run.
_MAX_RETRIES: Final = 50
_OUTCOMES: Final[Mapping[str, tuple[Status, str]]] = {
    "drained": ("cancelled", "requeued by a drain"),
    "lost": ("failed", "worker lost"),
    "retried": ("failed", "failed, retried"),
    "cancelled": ("cancelled", "cancelled"),
}


@dataclass(frozen=True, slots=True)
class RunPageData:
    run: RunRecord
    schedule: Schedule | None
    attempts: Sequence[AttemptRecord]
    progress: Progress | None
    waiting_for: Sequence[Step]
    retries: Sequence[RunRecord]
    # The target as the revision of the run defines it.
    target: Target
    # The last loss of its worker, if it was asked about.
    loss: LostRun | None = None

    @property
    def target_line(self) -> str:
        return target_line(self.target)

    @property
    def zone(self) -> str | None:
        definition = None if self.schedule is None else self.schedule.definition
        return None if definition is None else definition.trigger.tz

    @property
    def attempts_allowed(self) -> int | None:
        """The maximum number of attempts; None if the run has another revision or no schedule."""
        schedule = self.schedule
        if schedule is None or schedule.definition is None or schedule.revision != self.run.revision:
            return None
        return 1 + schedule.definition.retries


async def run(visit: PageRequest) -> Response:
    run_id = run_number(visit)
    zone = visit.clock.zone() if visit.clock.choice != "schedule" else None
    key = (visit.namespace, "run", run_id, zone)
    data = await visit.readings.share(key, lambda: _read(visit, run_id, zone))
    record, now = data.run, visit.clock.now
    stream = None if record.status in FINAL else _stream(visit, run_id, data.zone)
    return visit.render(
        "run.html",
        run=record,
        data=data,
        zone=data.zone,
        late=lateness(record, now),
        took=duration(record, now),
        why=why_url(visit, record),
        picture=_chart(visit, data),
        outcomes=_OUTCOMES,
        bar=share_of(data.progress),
        error=without_colours(record.error or ""),
        log=await last_page(visit, run_id, data.zone),
        sought=sought(visit),
        levels=LEVELS,
        stream=stream,
        earlier_page=visit.query.get("before", ""),
        is_final=record.status in FINAL,
        report=read_report(record.result),
        event_id=_event_of(visit, record),
    )


async def _read(visit: PageRequest, run_id: int, zone: str | None) -> RunPageData:
    client = visit.client
    record, schedule = await client.runs.get(run_id), None
    if record.schedule is not None:
        with suppress(NotFoundError):
            schedule = await client.schedules.get(record.schedule)
    waiting_for = await client.runs.waiting_for(run_id, tz=zone) if record.status in ("waiting", "queued") else ()
    retries: Sequence[RunRecord] = ()
    if record.status in FINAL:
        wanted = RunFilter(
            schedule=record.schedule, target=record.target.name, target_kind=record.target.kind, origin="retry"
        )
        page = await visit.board.runs(wanted, after=run_id, limit=_MAX_RETRIES)
        retries = [retry for retry in page.rows if retry.retry_of == run_id]
    return RunPageData(
        record,
        schedule,
        await client.runs.list_attempts(run_id),
        await client.runs.progress(run_id),
        waiting_for,
        retries,
        await _target(visit, record, schedule),
        await if_supported(client.runs.loss(run_id), None) if record.crashes else None,
    )


async def _target(visit: PageRequest, run: RunRecord, schedule: Schedule | None) -> Target:
    """Return the target with its spec, which only the revision of the run has."""
    if schedule is None or run.revision is None or run.target.kind == TASK:
        return run.target
    defined = None if schedule.definition is None else schedule.definition.target
    if run.revision != schedule.revision:
        records = await visit.client.revisions.list(schedule.name, before=run.revision + 1, limit=1)
        written = next((record.definition for record in records if record.revision == run.revision), {})
        with suppress(InvalidError):
            defined = read_target(written.get("target"))
    return defined if defined is not None and defined.key == run.target.key else run.target


def _stream(visit: PageRequest, run_id: int, zone: str | None) -> str:
    query = {name: visit.query.get(name) for name in ("q", "level")}
    return visit.url(f"/runs/{run_id}/lines", **query, zone=zone)


def _event_of(visit: PageRequest, record: RunRecord) -> str | None:
    """The id of the event that a run has published; None if it has none."""
    result = record.result
    if record.target.kind != EVENT or not isinstance(result, Mapping) or not visit.has("events"):
        return None
    return str(result["event_id"])[:60] if "event_id" in result else None


def run_number(visit: PageRequest) -> int:
    """Return the run id from the path; a NotFoundError if it is not a number."""
    run_id = visit.number("id")
    if run_id is None:
        raise NotFoundError(f"Run {visit.param('id')[:60]!r} does not exist.", hint="Use the id of a run.")
    return run_id


def share_of(progress: Progress | None) -> float | None:
    """Return the progress from 0 to 1 for values such as 0.4, 40 or {"done": 4, "of": 10}; otherwise None."""
    value = None if progress is None else progress.value
    if isinstance(value, Mapping):
        whole = value.get("of", value.get("total"))
        value = value.get("done") if whole is None else _quotient(value.get("done"), whole)
    # NaN fails the comparison too.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        return None
    return float(value / 100 if value > 1 else value)


def _quotient(done: Any, whole: Any) -> float | None:
    numbers = [value for value in (done, whole) if isinstance(value, int | float) and not isinstance(value, bool)]
    return done / whole if len(numbers) == 2 and 0 <= done <= whole and whole > 0 else None


def _chart(visit: PageRequest, data: RunPageData) -> Chart:
    """Draw the failed attempts and the current or last one."""
    record = data.run
    lines = [
        AttemptLine(
            number=attempt.attempt,
            status=_OUTCOMES.get(attempt.outcome, ("failed", ""))[0],
            started_at=attempt.started_at,
            finished_at=attempt.ended_at,
            worker=attempt.worker or "",
            note=brief(attempt.error),
            href=f"#attempt-{attempt.attempt}",
        )
        for attempt in data.attempts
    ]
    if record.attempt and record.attempt not in {line.number for line in lines} and record.started_at is not None:
        progress = data.progress
        beats = [progress.at] if progress is not None and progress.attempt == record.attempt else []
        lines.append(
            AttemptLine(
                number=record.attempt,
                status=record.status if record.status not in ("waiting", "queued") else "failed",
                started_at=record.started_at,
                finished_at=record.finished_at,
                heartbeats=beats,
                worker=record.worker or "",
            )
        )
    return run_line(record.due_at, lines, visit.clock.now, visit.clock.zone(data.zone))


async def cancel(visit: PageRequest) -> Response:
    """Ask for a reason, then cancel a queued run or request a running one to stop."""
    run_id = run_number(visit)
    record = await visit.client.runs.get(run_id)
    if visit.is_sent:
        reason = visit.form.text("reason")
        try:
            ended = await visit.client.runs.cancel(run_id, actor=visit.actor, reason=reason)
        except InvalidError as error:
            return _cancel_form(visit, record, reason, str(error))
        what = "is cancelled" if ended.status == "cancelled" else "was asked to stop; this page shows when it ends"
        return visit.done(visit.url(f"/runs/{run_id}"), f"Run {run_id} {what}.")
    return _cancel_form(visit, record, visit.form.text("reason"))


def _cancel_form(visit: PageRequest, record: RunRecord, reason: str = "", wrong: str = "") -> Response:
    return visit.render(
        "run_cancel.html",
        status=422 if wrong else 200,
        run=record,
        reason=reason,
        wrong=wrong,
        can=record.status in ACTIVE,
        command=command(visit, "cancel", record.id, *(("--reason", reason) if reason else ())),
    )


async def resolve(visit: PageRequest) -> Response:
    """Ask a person whether the lost attempt of a run had its effect."""
    run_id = run_number(visit)
    record = await visit.client.runs.get(run_id)
    effect, note = visit.form.text("effect"), visit.form.text("note")
    wrong = ""
    if visit.is_sent:
        try:
            resolved = await visit.client.runs.resolve(run_id, effect, actor=visit.actor, note=note)  # type: ignore[arg-type]
        except InvalidError as error:
            wrong = str(error)
        else:
            what = "has succeeded" if resolved.status == "succeeded" else f"is {resolved.status}"
            return visit.done(visit.url(f"/runs/{run_id}"), f"Run {run_id} {what}.")
    return visit.render(
        "run_resolve.html",
        status=422 if wrong else 200,
        run=record,
        effect=effect,
        note=note,
        wrong=wrong,
        loss=await if_supported(visit.client.runs.loss(run_id), None),
        command=command(visit, "resolve", run_id, effect or "yes", *(("--note", note) if note else ())),
    )


async def retry(visit: PageRequest) -> Response:
    """Confirm, then retry a run unchanged."""
    record = await visit.client.runs.get(run_number(visit))
    if visit.is_sent:
        new_run = await visit.client.runs.retry(record.id, actor=visit.actor, idempotency_key=key_of(visit))
        return _retried(visit, record, new_run)
    return visit.render(
        "run_retry.html", run=record, once=form_token(visit), command=command(visit, "retry", record.id)
    )


async def change(visit: PageRequest) -> Response:
    """Show the payload as a form, then retry the run with the changed payload."""
    record = await visit.client.runs.get(run_number(visit))
    schema = await published_schema(visit.client, record.target)
    if visit.request.method != "POST":
        form = await draw_in_thread(schema, record.payload, as_text=visit.query.get("as") == "json")
        return _change_form(visit, record, form, schema, record.payload)
    sent = await read_in_thread(visit.form, schema)
    if not visit.is_sent:
        return _change_form(visit, record, sent.form, schema, sent.payload)
    if sent.wrong:
        return _change_form(visit, record, sent.form, schema, sent.payload, "Nothing was sent. Fix the errors below.")
    try:
        # Another payload creates another run.
        key = key_of(visit, json.dumps(dict(sent.payload), sort_keys=True))
        new_run = await visit.client.runs.retry(record.id, actor=visit.actor, payload=sent.payload, idempotency_key=key)
    except (InvalidError, ConflictError) as error:
        return _change_form(visit, record, sent.form, schema, sent.payload, str(error))
    return _retried(visit, record, new_run)


def _change_form(
    visit: PageRequest,
    record: RunRecord,
    form: PayloadForm,
    schema: Mapping[str, Any] | None,
    payload: Mapping[str, Any],
    wrong: str = "",
) -> Response:
    text = as_json(dict(payload))
    return visit.render(
        "run_change.html",
        status=422 if wrong else 200,
        run=record,
        form=form,
        known=schema is not None,
        once=form_token(visit),
        wrong=wrong,
        command=command(visit, "retry", record.id, "--payload", text),
    )


def _retried(visit: PageRequest, record: RunRecord, new_run: RunRecord) -> Response:
    return visit.done(visit.url(f"/runs/{new_run.id}"), f"Run {new_run.id} retries run {record.id}.")


def command(visit: PageRequest, verb: str, about: object, *words: object) -> str:
    """Build the equivalent command line. A name that starts with a dash comes after `--`."""
    where = ("-n", visit.namespace) if visit.namespace != "default" else ()
    name, options = str(about), [*(str(word) for word in words), *where]
    arguments = [*options, "--", name] if name.startswith("-") else [name, *options]
    return shlex.join(["tickbird", *verb.split(), *arguments])


ROUTES: Final = (
    PageRoute("/runs/{id}/cancel", cancel, "operator", ("GET", "POST")),
    PageRoute("/runs/{id}/resolve", resolve, "operator", ("GET", "POST")),
    PageRoute("/runs/{id}/retry", retry, "operator", ("GET", "POST")),
    PageRoute("/runs/{id}/change", change, "operator", ("GET", "POST")),
    PageRoute("/runs/{id}", run),
)

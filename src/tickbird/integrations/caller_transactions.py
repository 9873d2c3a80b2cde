"""Enqueue and finish runs, and publish events, in a transaction of the caller's connection to the store's database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tickbird.domain.errors import LeaseLostError
from tickbird.domain.events.deliveries import DeliveryOutcome
from tickbird.domain.events.event import NewEvent, check_source, event_rows
from tickbird.domain.runs.leases import LeaseRef
from tickbird.domain.runs.new_run import new_run
from tickbird.domain.schedules.payload_schema import check_by_schema
from tickbird.domain.schedules.task_settings import read_settings
from tickbird.domain.text import check_name, check_text
from tickbird.engine.result_encoding import encode_value
from tickbird.store.caller_connections import do_on
from tickbird.store.caller_connections import transaction_of as transaction_of
from tickbird.store.shared.statement_scripts import StatementScript
from tickbird.stores import enqueue_steps
from tickbird.targets.protocol import Run


class EnqueueApp(Protocol):
    """The part of an app that is needed here."""

    url: str
    app: str
    namespace: str

    @property
    def tasks(self) -> Mapping[str, Any]: ...


def enqueue_in(
    bird: EnqueueApp,
    connection: Any,
    task: str,
    payload: Mapping[str, Any],
    options: Mapping[str, Any],
    *,
    unknown_task_ok: bool,
) -> Any:
    chosen = {"actor": bird.app, **options}
    actor = chosen.pop("actor")

    def work(dialect: str) -> tuple[StatementScript[int], Mapping[str, str]]:
        joining = enqueue_steps(bird.url, dialect)

        def steps() -> StatementScript[int]:
            yield from joining.placing(bird.url)
            registered = bird.tasks.get(check_name(task, "task"))
            if registered is not None:
                checked: Mapping[str, Any] = registered.validate(payload)
                settings: Mapping[str, Any] = registered.settings
            else:
                published = yield from joining.publishing(bird.namespace, task)
                checked = check_by_schema(task, payload, published, unknown_task_ok=unknown_task_ok)
                settings = read_settings(published or {})
            check_text(actor, "actor", minimum=1, maximum=200)
            run = new_run(task, checked, settings=settings, **chosen)
            run_id: int = yield from joining.enqueueing(bird.namespace, run, actor)
            return run_id

        return steps(), joining.statements(bird.url)

    return do_on(connection, work)


def publish_in(
    bird: EnqueueApp, connection: Any, events: Sequence[NewEvent], *, source: str | None, actor: str | None
) -> Any:
    """Publish events together; returns their ids, on an async connection an awaitable of them."""
    rows = event_rows(events)
    publisher = check_text(bird.app if actor is None else actor, "actor", minimum=1, maximum=200)

    def work(dialect: str) -> tuple[StatementScript[list[str]], Mapping[str, str]]:
        joining = enqueue_steps(bird.url, dialect)

        def steps() -> StatementScript[list[str]]:
            yield from joining.placing(bird.url)
            ids: list[str] = yield from joining.publishing_events(
                bird.namespace, rows, check_source(source, bird.namespace), publisher
            )
            return ids

        return steps(), joining.statements(bird.url)

    return do_on(connection, work)


def commit_in(bird: EnqueueApp, connection: Any, outcome: DeliveryOutcome) -> Any:
    """Record what a consumer has handled; raises LeaseLostError if its lease or the position has changed."""

    def work(dialect: str) -> tuple[StatementScript[None], Mapping[str, str]]:
        joining = enqueue_steps(bird.url, dialect)

        def steps() -> StatementScript[None]:
            yield from joining.placing(bird.url)
            if not (yield from joining.committing_delivery(outcome)):
                raise LeaseLostError(
                    f"group {outcome.lease.group}, partition {outcome.lease.partition}: these events are delivered by "
                    "another worker, or were handled already.",
                    hint="Roll back this transaction.",
                )

        return steps(), joining.statements(bird.url)

    return do_on(connection, work)


def finish_in(bird: EnqueueApp, connection: Any, run: Run, result: Any) -> Any:
    """Record the success of a run; raises LeaseLostError if its attempt is no longer current."""
    encoded = None if result is None else encode_value(result)
    lease, worker = LeaseRef(run.id, run.attempt, run.incarnation), run.worker or ""

    def work(dialect: str) -> tuple[StatementScript[None], Mapping[str, str]]:
        joining = enqueue_steps(bird.url, dialect)

        def steps() -> StatementScript[None]:
            yield from joining.placing(bird.url)
            if not (yield from joining.committing_run(lease, worker, encoded)):
                raise LeaseLostError(
                    f"run {run.id}: attempt {run.attempt} is no longer the current one, or has recorded its success.",
                    hint="Roll back: nothing of this transaction must remain.",
                )

        return steps(), joining.statements(bird.url)

    return do_on(connection, work, in_transaction=True)

"""Live workers, queues and concurrency keys, and the form to drain a worker."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from starlette.responses import Response

from tickbird.api.problems import Problem
from tickbird.domain.explain.unserved_runs import unplanned_reason
from tickbird.domain.leadership import end_text, no_leader
from tickbird.domain.messages import capital
from tickbird.domain.runs.unreadable_runs import published
from tickbird.domain.workers import Worker, no_such_worker
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.pages.run import command

# Running runs that are read to count the busy slots per worker.
_RUNNING: Final = 1_000
_TERMS: Final = 20


async def workers(visit: PageRequest) -> Response:
    context = await visit.readings.share((visit.namespace, "workers"), lambda: _read(visit))
    return visit.render("workers.html", **context)


async def _read(visit: PageRequest) -> dict[str, Any]:
    client = visit.client
    running = await client.runs.list(status="running", limit=_RUNNING)
    workers = sorted(await client.workers.list(), key=lambda worker: (worker.app, worker.host, worker.id))
    return {
        "workers": workers,
        # Why due ticks wait although workers are live; empty if one of them plans.
        "unplanned": workers and capital(unplanned_reason(workers, await client.store.workers.count_planners())),
        "unreadable": {worker.id: [str(runs) for runs in published(worker.health)] for worker in workers},
        "end_text": end_text,
        "busy": Counter(run.worker for run in running),
        "capped": len(running) == _RUNNING,
        "queues": await client.queues.list() if visit.has("queues") else None,
        "leader": await client.leadership.get(limit=_TERMS) if visit.has("leadership") else None,
        "limits": await client.limits.list(limit=100) if visit.has("limits") else None,
    }


async def drain(visit: PageRequest) -> Response:
    """Ask for a reason, then drain the worker."""
    worker_id = visit.param("worker")
    note = visit.form.text("note")
    if visit.is_sent:
        await visit.client.workers.drain(worker_id, actor=visit.actor, note=note)
        return visit.done(visit.url("/workers"), f"Worker {worker_id} will drain.")
    worker = await _find(visit, worker_id)
    line = command(visit, "drain", worker_id, *(("--note", note) if note else ()))
    return visit.render("drain.html", worker=worker, note=note, command=line)


async def resign(visit: PageRequest) -> Response:
    """Ask for a reason, then end the term of the leader."""
    if not visit.keeps_store:
        raise Problem(
            403,
            "forbidden",
            "The leader plans the complete store. Your token has access to a part of it.",
            hint="Log in with an admin token for all namespaces.",
        )
    note = visit.form.text("note")
    leader = await visit.client.leadership.get(limit=1)
    if leader.lease is None:
        raise no_leader()
    term = leader.lease.term
    if visit.is_sent:
        shown = visit.form.text("term")
        expected = int(shown) if shown.isascii() and shown.isdigit() else term
        ended = await visit.client.leadership.resign(actor=visit.actor, term=expected, note=note)
        return visit.done(visit.url("/workers"), f"Term {ended.term} has ended. Another worker takes over.")
    line = command(visit, "leader", "--resign", *(("--note", note) if note else ()))
    return visit.render("resign.html", leader=leader, term=term, note=note, command=line)


async def _find(visit: PageRequest, worker_id: str) -> Worker:
    worker = next((worker for worker in await visit.client.workers.list() if worker.id == worker_id), None)
    if worker is None:
        raise no_such_worker(worker_id)
    return worker


ROUTES: Final = (
    PageRoute("/workers", workers),
    PageRoute("/leader/resign", resign, "admin", ("GET", "POST")),
    PageRoute("/workers/{worker:path}/drain", drain, "admin", ("GET", "POST")),
)

"""Checks of leader mode: is there a leader, and do all planning workers have one mode?"""

from __future__ import annotations

from collections.abc import Iterator

from tickbird.domain.doctor.checks.phrases import name_list
from tickbird.domain.doctor.finding import Finding, ok, problem, warning
from tickbird.domain.doctor.snapshot import StoreSnapshot, plans
from tickbird.domain.leadership import LEADER
from tickbird.domain.messages import count
from tickbird.domain.time.durations import duration_text


def leader(condition: StoreSnapshot) -> Iterator[Finding]:
    planning = [worker for worker in condition.workers if plans(worker)]
    candidates = [worker for worker in planning if worker.coordination == LEADER]
    shared = [worker for worker in planning if worker.coordination != LEADER]
    lease = condition.lease
    live = lease is not None and lease.is_live(condition.now)
    if not candidates and not live:
        return
    figures = {"candidates": len(candidates), "shared": len(shared), "term": lease.term if live and lease else None}
    if not live:
        text = f"There is no leader, although {count(len(candidates), 'worker')} in leader mode should elect one"
        if lease is not None:
            silent = duration_text(max(0.0, (condition.now - lease.heartbeat_at).total_seconds()))
            text += f". The last heartbeat of term {lease.term} ({lease.worker}) was {silent} ago"
        fix = "Check the logs of the workers for lines that begin with `leader:`."
        yield problem("leader", f"{text}.", fix, **figures)
    if live and shared:
        text = (
            f"{count(len(shared), 'worker')} without leader mode also plan{'s' if len(shared) == 1 else ''}: "
            f"{name_list([worker.id for worker in shared])}. Every tick is still decided once, but without a term."
        )
        yield warning("leader", text, "Start all workers with the same --coordination.", **figures)
    elif live and lease is not None:
        others = sum(worker.id != lease.worker for worker in candidates)
        text = f"{lease.worker} leads in term {lease.term}; {count(others, 'other worker')} can take over."
        yield ok("leader", text, **figures)

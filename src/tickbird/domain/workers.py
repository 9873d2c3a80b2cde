"""Workers: the processes that plan and execute, and the data that they publish."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal, get_args

from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError
from tickbird.domain.leadership import SHARED, Coordination
from tickbird.domain.targets.target import TASK, TargetKey
from tickbird.domain.text import NAME, check_name

# A part of `Worker.standby_reason`. Other processes detect the alarm by it.
CLOCK_JUMPED: Final = "the store's clock has jumped"
# A part of `Worker.standby_reason`: the worker runs ticks itself, because the store cannot plan.
FALLBACK: Final = "fallback"
_CLOSE: Final = timedelta(minutes=1)
# What a worker does; the default is the first. Its row has the kind.
WorkerRole = Literal["plan-and-execute", "plan-only", "execute-only"]
DEFAULT_ROLE: Final[WorkerRole] = "plan-and-execute"
_KINDS: Final[Mapping[str, str]] = {"plan-and-execute": "worker", "plan-only": "planner", "execute-only": "executor"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A process that plans and executes; `id` is new for each process and never a host name."""

    id: str
    namespace: str
    app: str
    host: str
    pid: int
    version: str
    # "worker" plans and executes, "planner" only plans, "executor" only executes; "sync" is a deploy step.
    kind: str = "worker"
    # In leader mode ("leader"), it plans only while it is the leader.
    coordination: Coordination = SHARED
    queues: tuple[str, ...] = ()
    slots: int = 0
    # Published targets (see `publish_targets`), and schedule name → fingerprint.
    tasks: Mapping[str, Any] = field(default_factory=dict)
    declared: Mapping[str, str] = field(default_factory=dict)
    draining: bool = False
    # Why the worker does not plan or execute at present; empty if nothing holds it back.
    standby_reason: str = ""
    # Clock offset to the store in seconds, time zone data, and slots that stuck threads occupy.
    health: Mapping[str, Any] = field(default_factory=dict)
    started_at: datetime | None = None
    last_heartbeat_at: datetime | None = None
    # The worker counts as live until this instant.
    live_until: datetime | None = None
    # When and by whom a drain was requested.
    drain_requested_at: datetime | None = None
    drain_requested_by: str | None = None

    def published(self, target: TargetKey) -> Mapping[str, Any] | None:
        """Return the published description of a target; None if the worker does not execute it."""
        kind, name = target
        for key in (name, f"{kind}:{name}"):
            if key in self.tasks and _published_key(key, self.tasks[key]) == target:
                description = self.tasks[key]
                return description if isinstance(description, Mapping) else {}
        return None

    def serves(self, target: TargetKey) -> bool:
        return self.published(target) is not None

    @property
    def targets(self) -> frozenset[TargetKey]:
        return frozenset(_published_key(key, description) for key, description in self.tasks.items())


def publish_targets(described: Mapping[TargetKey, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the published form of a worker's targets, by key.

    The key of a task is its name. Another target also has its name as the key if no task can have that name,
    because workers of earlier versions publish commands like this. All other targets have `kind:name`.
    """
    published: dict[str, Any] = {}
    for (kind, name), description in sorted(described.items(), key=lambda item: (item[0][0] != TASK, item[0])):
        if kind == TASK:
            published[name] = description
        elif NAME.fullmatch(name) or name in published:
            published[f"{kind}:{name}"] = {**description, "kind": kind, "name": name}
        else:
            published[name] = {**description, "kind": kind}
    return published


def _published_key(key: str, description: Any) -> TargetKey:
    if not isinstance(description, Mapping):
        return TASK, key
    return str(description.get("kind", TASK)), str(description.get("name", key))


def kind_of(role: str) -> str:
    """Return the kind of a worker with this role; raise InvalidError if there is no such role."""
    if role not in _KINDS:
        raise InvalidError(
            f"role: {str(role)[:40]!r} is not a role of workers.",
            field="role",
            hint=f"Choose {', '.join(get_args(WorkerRole)[:-1])} or {get_args(WorkerRole)[-1]}.",
        )
    return _KINDS[role]


def read_queues(queues: str | Iterable[str]) -> tuple[str, ...]:
    """Read the names of queues, in a text separated by commas; raise InvalidError if there is none."""
    names = queues.split(",") if isinstance(queues, str) else queues
    checked = tuple(
        dict.fromkeys(check_name(name.strip() if isinstance(name, str) else name, "queue") for name in names)
    )
    if not checked:
        raise InvalidError("queues: no queue is named.", field="queues", hint="Name one, or omit the setting.")
    return checked


def is_planner(worker: Worker) -> bool:
    return worker.kind in ("worker", "planner")


def executes(worker: Worker) -> bool:
    return worker.kind in ("worker", "executor") and worker.slots > 0


def find_clock_alarm(workers: Iterable[Worker], now: datetime) -> Worker | None:
    """Return a worker that reports a jump of the store's clock; None if there is none."""
    alarmed = (worker for worker in workers if CLOCK_JUMPED in worker.standby_reason)
    # A worker whose last heartbeat is in the future was lost while the clock was ahead.
    return next(
        (
            worker
            for worker in alarmed
            if worker.last_heartbeat_at is not None and worker.last_heartbeat_at <= now + _CLOSE
        ),
        None,
    )


def no_such_worker(worker_id: str) -> NotFoundError:
    return NotFoundError(
        f"there is no live worker {worker_id[:200]!r}.", hint="`tickbird workers` lists the live workers."
    )


def check_drainable(worker: Worker) -> None:
    """Raise ConflictError for a deploy step, which has no work to finish."""
    if worker.kind == "sync":
        raise ConflictError(
            f"{worker.id} is a deploy step, not a worker.", hint="It ends by itself once it has declared its schedules."
        )


@dataclass(frozen=True, slots=True)
class HeartbeatResult:
    """The response to a heartbeat: the store's clock, and the ids of the other live workers of the app."""

    now: datetime
    peers: frozenset[str] = frozenset()
    # The generation of the time zone data in the store.
    zones: int = 0
    # Why the store is treated as a copy; empty if it is not.
    copy_reason: str = ""
    # Why this code may no longer use the store, because its schema was migrated; empty if it may.
    outdated_reason: str = ""
    # The actor who requested a drain; empty if there was no request.
    drain_requested_by: str = ""
    # The number of live workers of all namespaces that plan and do not drain.
    planners: int = 1


@dataclass(frozen=True, slots=True)
class HandOff:
    """The runs that a planning worker can lease to itself: up to `room`, of its queues and targets, under a lease."""

    worker: Worker
    room: int
    lease: float
    queues: Collection[str]
    targets: Collection[TargetKey]

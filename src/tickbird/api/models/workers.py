"""Workers."""

from __future__ import annotations

from pydantic import BaseModel, Field

from tickbird.api.models.parts import Instant, Json


class WorkerModel(BaseModel):
    """A live worker: what it serves and declares; `standby_reason` says what it does not do now, and why."""

    id: str
    namespace: str
    app: str
    kind: str = Field(
        description="`worker` plans and executes, `planner` and `executor` do one of it; `sync` declares."
    )
    host: str
    pid: int
    version: str
    queues: list[str]
    slots: int
    tasks: Json = Field(description="What it publishes of its tasks, by name: queue and JSON schema.")
    declared: dict[str, str] = Field(description="Fingerprints of the schedules that its code declares, by name.")
    draining: bool
    drain_requested_at: Instant | None
    drain_requested_by: str | None
    standby_reason: str
    health: Json
    started_at: Instant | None
    last_heartbeat_at: Instant | None
    live_until: Instant | None


class WorkerPage(BaseModel):
    """A page of live workers, by id."""

    items: list[WorkerModel]
    next: str | None

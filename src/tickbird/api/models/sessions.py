"""Sessions."""

from __future__ import annotations

from pydantic import BaseModel

from tickbird.api.models.parts import Instant
from tickbird.domain.access.sessions import SessionState
from tickbird.domain.access.tokens import Role


class SessionModel(BaseModel):
    """A session, without its secret; `name`, `role` and `namespaces` are those of its token."""

    id: str
    token_id: str
    name: str
    role: Role
    namespaces: list[str] | None
    state: SessionState
    user_agent: str
    opened_at: Instant
    expires_at: Instant
    closed_at: Instant | None
    closed_by: str | None
    last_used_at: Instant | None


class SessionPage(BaseModel):
    """A page of sessions, by id."""

    items: list[SessionModel]
    next: str | None


class ClosedSessions(BaseModel):
    """How many sessions were closed."""

    closed: int

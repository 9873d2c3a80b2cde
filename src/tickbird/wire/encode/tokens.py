"""Tokens and sessions, as JSON."""

from __future__ import annotations

from typing import Any

from tickbird.domain.access.sessions import SessionRecord
from tickbird.domain.access.tokens import TokenRecord
from tickbird.domain.time.instants import utc_text as iso


def token_document(token: TokenRecord) -> dict[str, Any]:
    """A token, without what it is checked by; `namespaces` is null where it opens all."""
    return {
        "id": token.id,
        "name": token.name,
        "role": token.role,
        "namespaces": None if token.namespaces is None else list(token.namespaces),
        "state": token.state,
        "created_at": iso(token.created_at),
        "created_by": token.created_by,
        "expires_at": iso(token.expires_at),
        "revoked_at": iso(token.revoked_at),
        "revoked_by": token.revoked_by,
        "last_used_at": iso(token.last_used_at),
        "sessions": token.sessions,
    }


def session_document(session: SessionRecord) -> dict[str, Any]:
    """A session, without what it is checked by, and with what its token may do."""
    return {
        "id": session.id,
        "token_id": session.token_id,
        "name": session.name,
        "role": session.role,
        "namespaces": None if session.namespaces is None else list(session.namespaces),
        "state": session.state,
        "user_agent": session.user_agent,
        "opened_at": iso(session.opened_at),
        "expires_at": iso(session.expires_at),
        "closed_at": iso(session.closed_at),
        "closed_by": session.closed_by,
        "last_used_at": iso(session.last_used_at),
    }

"""Tokens, and the sessions that are opened with them."""

from __future__ import annotations

from tickbird.domain.access.sessions import SessionRecord
from tickbird.domain.access.tokens import TokenRecord
from tickbird.wire.decode.parts import Document, instant, maybe


def read_token(document: Document) -> TokenRecord:
    """A token; what it is checked by never leaves the store, so that this one matches nothing."""
    return TokenRecord(
        id=document["id"],
        digest="",
        name=document["name"],
        role=document["role"],
        namespaces=maybe(tuple, document["namespaces"]),
        created_at=instant(document["created_at"]),
        created_by=document["created_by"],
        expires_at=maybe(instant, document["expires_at"]),
        revoked_at=maybe(instant, document["revoked_at"]),
        revoked_by=document["revoked_by"],
        last_used_at=maybe(instant, document["last_used_at"]),
        state=document["state"],
        # An older server has none.
        sessions=document.get("sessions", 0),
    )


def read_session(document: Document) -> SessionRecord:
    """A session; what it is checked by never leaves the store, so that this one matches nothing."""
    return SessionRecord(
        id=document["id"],
        digest="",
        token_id=document["token_id"],
        name=document["name"],
        role=document["role"],
        namespaces=maybe(tuple, document["namespaces"]),
        user_agent=document["user_agent"],
        opened_at=instant(document["opened_at"]),
        expires_at=instant(document["expires_at"]),
        closed_at=maybe(instant, document["closed_at"]),
        closed_by=document["closed_by"],
        last_used_at=maybe(instant, document["last_used_at"]),
        state=document["state"],
    )

"""Tokens."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, WithJsonSchema

from tickbird.api.models.parts import TEXT, Body, Instant
from tickbird.api.query_types import InstantText
from tickbird.domain.access.tokens import MAX_NAMESPACES, Role, TokenState
from tickbird.domain.schedules.json_schema import NAME


class TokenModel(BaseModel):
    """A token, without its secret; `namespaces` is null where it opens all."""

    id: str
    name: str
    role: Role
    namespaces: list[str] | None
    state: TokenState
    created_at: Instant
    created_by: str
    expires_at: Instant | None
    revoked_at: Instant | None
    revoked_by: str | None
    last_used_at: Instant | None
    # Open ones.
    sessions: int


class NewToken(TokenModel):
    """A token that was just made, and its text: this once."""

    token: str


class TokenPage(BaseModel):
    """A page of tokens, by id."""

    items: list[TokenModel]
    next: str | None


class NewTokenBody(Body):
    """A token to be made: what it may do, where and until when."""

    name: Annotated[str, Field(min_length=1, max_length=100, json_schema_extra={"pattern": TEXT})]
    role: Role
    namespaces: list[Annotated[str, WithJsonSchema(NAME)]] | None = Field(
        default=None,
        description="Those that it opens; else those of the caller's.",
        json_schema_extra={"minItems": 1, "maxItems": MAX_NAMESPACES},
    )
    all_namespaces: bool = Field(default=False, description="It opens every namespace, also those to come.")
    expires_at: InstantText | None = None

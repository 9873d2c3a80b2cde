"""Tokens over HTTP."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from tickbird.client.http.operations import HttpNoun
from tickbird.client.tokens import Tokens
from tickbird.domain.access.tokens import Role, TokenRecord
from tickbird.wire.operations import operations_of

_OPERATIONS = operations_of(Tokens)


class HttpTokens(HttpNoun, Tokens):
    """Tokens that have no namespace beyond those of this client's token."""

    async def create(
        self,
        name: str,
        role: Role,
        *,
        actor: str,
        namespaces: Collection[str] | None = None,
        all_namespaces: bool = False,
        expires_at: datetime | None = None,
        within: Collection[str] | None = (),
    ) -> tuple[TokenRecord, str]:
        """For the namespace of this client, unless others are named."""
        if namespaces is None and not all_namespaces and self._asked is not None:
            namespaces = [self._asked]
        given = {"name": name, "role": role, "namespaces": namespaces, "all_namespaces": all_namespaces}
        created: tuple[TokenRecord, str] = await self.send(_OPERATIONS["create"], {**given, "expires_at": expires_at})
        return created

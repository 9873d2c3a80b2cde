"""Tokens: who may use the API."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Annotated

from tickbird.client.base import ClientBase
from tickbird.client.parameters import nullable
from tickbird.domain.access.tokens import (
    MAX_NAMESPACES,
    NOISE,
    NewToken,
    Role,
    TokenRecord,
    check_namespaces,
    covers,
    digest,
    is_token_id,
    make_token,
    no_such_token,
    requested_namespaces,
)
from tickbird.domain.errors import ClosedNamespaceError, InvalidError
from tickbird.domain.schedules.json_schema import NAME
from tickbird.domain.time.instants import to_seconds
from tickbird.wire.operations import token_admin
from tickbird.wire.parameters import TEXT, Meta


def check_token_id(token_id: object) -> None:
    if not is_token_id(token_id):
        raise no_such_token(str(token_id))


TokenId = Annotated[str, Meta(parse=check_token_id)]
Live = Annotated[bool, Meta(description="Only those that are neither expired nor revoked.")]
_NAMESPACES = {"items": NAME, "minItems": 1, "maxItems": MAX_NAMESPACES}


class Tokens(ClientBase):
    """Tokens of the API; `within` selects those that are limited to these namespaces."""

    @token_admin.get("list_tokens", "/tokens", "List tokens", page=lambda token: token.id)
    async def list(
        self, *, within: Collection[str] | None = None, live: Live = False, after: str = "", limit: int = 100
    ) -> Sequence[TokenRecord]:
        """List the tokens whose namespaces the caller can all access, by id, without their secrets."""
        return await self._store.tokens.list(within=within, live=live, after=after, limit=limit)

    @token_admin.post("create_token", "/tokens", "Create a token", status=201, audit="create_token", stored=False)
    async def create(
        self,
        # Name and id together are the actor in the audit log.
        name: Annotated[str, Meta(min_length=1, max_length=100, schema={"pattern": TEXT})],
        role: Role,
        *,
        actor: str,
        namespaces: Annotated[
            Collection[str] | None,
            Meta(
                schema=nullable({"type": "array", **_NAMESPACES}),
                description="The namespaces of the token (default: those of the caller's token).",
            ),
        ] = None,
        all_namespaces: Annotated[bool, Meta(description="Allow every namespace, including future ones.")] = False,
        expires_at: datetime | None = None,
        within: Collection[str] | None = (),
    ) -> tuple[TokenRecord, str]:
        """Create a token; the response has its secret, which is shown only once."""
        import secrets

        if expires_at is not None and to_seconds(expires_at) <= to_seconds(await self._store.now()):
            raise InvalidError("expires_at is in the past.", field="expires_at", hint="Choose a later instant.")
        mine = (self._namespace,) if within == () else check_namespaces(within)
        opened = requested_namespaces(mine, namespaces, everything=all_namespaces)
        if within != () and not covers(mine, opened):
            raise ClosedNamespaceError(
                "namespaces: a token can only have namespaces of the token that creates it.",
                field="namespaces",
                hint=f"Choose from {', '.join((mine or ())[:20])}.",
            )
        token_id, secret, text = make_token(secrets.token_bytes(NOISE))
        new = NewToken(token_id, digest(secret), name, role, opened, expires_at)
        return await self._store.tokens.create(self._namespace, new, actor), text

    @token_admin.get("get_token", "/tokens/{token_id}", "Get a token")
    async def get(self, token_id: TokenId, *, within: Collection[str] | None = None) -> TokenRecord:
        """Get a token by its id, without its secret."""
        token = await self._store.tokens.find(token_id)
        if token is None or not covers(check_namespaces(within), token.namespaces):
            raise no_such_token(token_id)
        return token

    @token_admin.delete(
        "revoke_token", "/tokens/{token_id}", "Revoke a token", audit="revoke_token", revokes="token_id"
    )
    async def revoke(self, token_id: TokenId, *, actor: str, within: Collection[str] | None = None) -> TokenRecord:
        """Revoke a token and its sessions; this server refuses them at once, others within a second."""
        await self.get(token_id, within=within)
        return await self._store.tokens.revoke(self._namespace, token_id, actor)

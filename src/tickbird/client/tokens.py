"""Tokens: who may use the API."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from tickbird.client.base import ClientBase, page_size
from tickbird.domain.access.tokens import (
    NOISE,
    NewToken,
    Role,
    TokenRecord,
    check_namespaces,
    check_role,
    digest,
    is_token_id,
    make_token,
    no_such_token,
)
from tickbird.domain.errors import InvalidError
from tickbird.domain.text import check_text
from tickbird.domain.time.instants import to_seconds


class Tokens(ClientBase):
    """The verbs about tokens."""

    async def create_token(
        self,
        name: str,
        role: Role,
        *,
        actor: str,
        namespaces: Collection[str] | None = (),
        expires_at: datetime | None = None,
    ) -> tuple[TokenRecord, str]:
        """A new token and its text, which cannot be shown again; for this namespace, these ones, or all with None."""
        import secrets

        check_text(actor, "actor", minimum=1, maximum=200)
        # With its id it is the actor of what is done with it.
        check_text(name, "name", minimum=1, maximum=100)
        if expires_at is not None and to_seconds(expires_at) <= to_seconds(await self._store.now()):
            raise InvalidError("expires_at: lies in the past;", field="expires_at", hint="give a later instant.")
        opened = check_namespaces((self._namespace,) if namespaces is not None and not namespaces else namespaces)
        token_id, secret, text = make_token(secrets.token_bytes(NOISE))
        new = NewToken(token_id, digest(secret), name, check_role(role), opened, expires_at)
        return await self._store.tokens.create(self._namespace, new, actor), text

    async def find_token(self, token_id: str) -> TokenRecord | None:
        """A token by its id; None where there is none."""
        return await self._store.tokens.find(token_id) if is_token_id(token_id) else None

    async def tokens(
        self, *, within: Collection[str] | None = None, live: bool = False, after: str = "", limit: int = 100
    ) -> Sequence[TokenRecord]:
        """Tokens by id, a page at a time: `after` is the last id of the page before; `live` ones can be used."""
        check_text(after, "after")
        return await self._store.tokens.list(within=within, live=live, after=after, limit=page_size(limit))

    async def revoke_token(self, token_id: str, *, actor: str) -> TokenRecord:
        """End a token: from then on it opens nothing. Harmless where that was done before."""
        check_text(actor, "actor", minimum=1, maximum=200)
        if not is_token_id(token_id):
            raise no_such_token(str(token_id))
        return await self._store.tokens.revoke(self._namespace, token_id, actor)

    async def touch_token(self, token_id: str) -> None:
        """Write that a token was used, at most once a minute."""
        await self._store.tokens.touch(token_id)

"""Tokens over HTTP."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from urllib.parse import quote

from tickbird.client.base import page_size
from tickbird.client.http.base import Remote, instant
from tickbird.client.tokens import Tokens
from tickbird.domain.access.tokens import Role, TokenRecord, check_role, covers, is_token_id, no_such_token
from tickbird.domain.errors import NotFoundError
from tickbird.domain.text import check_text
from tickbird.wire.decode.parts import Document
from tickbird.wire.decode.tokens import read_token
from tickbird.wire.page_tokens import write_key

_PAGE = 1_000


class RemoteTokens(Remote, Tokens):
    """The verbs about tokens: of those that open nothing but what this client's own opens."""

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
        opened: list[str] | None = None if namespaces is None else sorted(namespaces)
        if opened == []:
            opened = None if self._asked is None else [self._asked]
        body = {
            "name": name,
            "role": check_role(role),
            "namespaces": opened,
            "all_namespaces": namespaces is None,
            "expires_at": instant(expires_at),
        }
        # No server keeps an answer with a secret in it.
        return await self._post("/tokens", lambda made: (read_token(made), str(made["token"])), body, keyed=False)

    async def find_token(self, token_id: str) -> TokenRecord | None:
        """A token by its id; None where there is none."""
        if not is_token_id(token_id):
            return None
        try:
            return await self._get(f"/tokens/{token_id}", read_token)
        except NotFoundError:
            return None

    async def tokens(
        self, *, within: Collection[str] | None = None, live: bool = False, after: str = "", limit: int = 100
    ) -> Sequence[TokenRecord]:
        """Tokens by id, a page at a time: `after` is the last id of the page before; `live` ones can be used."""
        check_text(after, "after")
        page_size(limit)
        found: list[TokenRecord] = []
        asked = None if within is None else tuple(within)
        key = write_key(after) if after else None
        while len(found) < limit:
            items, key = await self._get("/tokens", _page, {"live": live, "limit": min(_PAGE, limit), "after": key})
            # A server gives those within what this client's token opens, which may be more than is asked for.
            found += [each for each in items if covers(asked, each.namespaces)]
            if key is None:
                break
        return found[:limit]

    async def revoke_token(self, token_id: str, *, actor: str) -> TokenRecord:
        """End a token: from then on it opens nothing. Harmless where that was done before."""
        if not is_token_id(token_id):
            raise no_such_token(str(token_id))
        return await self._other("DELETE", f"/tokens/{quote(token_id)}", read_token)


def _page(document: Document) -> tuple[list[TokenRecord], str | None]:
    return [*map(read_token, document["items"])], document["next"]

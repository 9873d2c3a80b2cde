"""Idempotent forms: each has a token that the store remembers for a day, so that sending it twice has one effect."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import Any, Final

from tickbird.domain.access.http_responses import StoredResponse
from tickbird.web.page_request import PageRequest

# The field with the token.
FIELD: Final = "once"
_MAX_LENGTH: Final = 100
_DONE: Final = 200


def form_token(visit: PageRequest) -> str:
    """Return the token of the submitted form, so that it survives errors, or a new token."""
    return _sent(visit) or f"web-{secrets.token_hex(8)}"


def key_of(visit: PageRequest, *about: str) -> str | None:
    """Return the idempotency key of the form and `about`; None if the form has no token."""
    sent = _sent(visit)
    if sent is None:
        return None
    text = "\0".join((sent, *about)).encode(errors="surrogatepass")
    return f"web:{visit.caller.token_id}:{hashlib.blake2b(text, digest_size=16).hexdigest()}"


def _sent(visit: PageRequest) -> str | None:
    return visit.form.text(FIELD)[:_MAX_LENGTH] or None


@dataclass(frozen=True, slots=True)
class IdempotentForm:
    """An action of a form that must not be executed twice; a form without a token is always executed."""

    visit: PageRequest
    what: str

    async def begin(self) -> StoredResponse | None:
        """Return None to execute the action now, or the earlier result, without a status while it is being executed."""
        key = key_of(self.visit, self.what)
        return None if key is None else await self._responses.begin(self._namespace, key, self.what)

    async def done(self, result: str) -> None:
        """Store the result, which must not contain secrets."""
        if (key := key_of(self.visit, self.what)) is not None:
            response = StoredResponse(self.what, _DONE, {}, result)
            await self._responses.finish(self._namespace, key, self.what, response)

    async def refused(self) -> None:
        """Forget the attempt, so that the same form can be sent again."""
        if (key := key_of(self.visit, self.what)) is not None:
            await self._responses.finish(self._namespace, key, self.what, None)

    @property
    def _responses(self) -> Any:
        return self.visit.client.store.http_responses

    @property
    def _namespace(self) -> str:
        return self.visit.namespace

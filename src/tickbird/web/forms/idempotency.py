"""A form that is sent twice does its work once: it carries a mark of its own, which the store remembers for a day."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import Any, Final

from tickbird.domain.access.http_responses import StoredResponse
from tickbird.web.page_request import PageRequest

# The field of a form that has it.
FIELD: Final = "once"
_MAX_LENGTH: Final = 100
_DONE: Final = 200


def form_token(visit: PageRequest) -> str:
    """The mark for a form: the one that it was sent with, so that it stays through a refusal, else a new one."""
    return _sent(visit) or f"web-{secrets.token_hex(8)}"


def key_of(visit: PageRequest, *about: str) -> str | None:
    """What a form asks for once, about this, as the key of a run; None where it has no mark."""
    sent = _sent(visit)
    if sent is None:
        return None
    text = "\0".join((sent, *about)).encode(errors="surrogatepass")
    return f"web:{visit.caller.token_id}:{hashlib.blake2b(text, digest_size=16).hexdigest()}"


def _sent(visit: PageRequest) -> str | None:
    return visit.form.text(FIELD)[:_MAX_LENGTH] or None


@dataclass(frozen=True, slots=True)
class IdempotentForm:
    """What a form does that must not be done twice; without a mark it is done whenever it is asked for."""

    visit: PageRequest
    what: str

    async def begin(self) -> StoredResponse | None:
        """None where it is to be done now; else what is known of it, without a status while somebody is at it."""
        key = key_of(self.visit, self.what)
        return None if key is None else await self._responses.begin(self._namespace, key, self.what)

    async def done(self, made: str) -> None:
        """It was done, and this came of it: nothing that must be kept from anybody."""
        if (key := key_of(self.visit, self.what)) is not None:
            response = StoredResponse(self.what, _DONE, {}, made)
            await self._responses.finish(self._namespace, key, self.what, response)

    async def refused(self) -> None:
        """Nothing was done: the same form may be sent again."""
        if (key := key_of(self.visit, self.what)) is not None:
            await self._responses.finish(self._namespace, key, self.what, None)

    @property
    def _responses(self) -> Any:
        return self.visit.client.store.http_responses

    @property
    def _namespace(self) -> str:
        return self.visit.namespace

"""What every noun of the client over HTTP stands on: the server, the namespace, and how things are asked for."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote

from tickbird.client.base import ClientBase, Settings, Validate, page_size
from tickbird.client.http.transport import HttpRequest, Transport
from tickbird.domain.errors import NotFoundError
from tickbird.domain.schedules.definition import Target, check_payload
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.text import check_name, check_text
from tickbird.domain.time.instants import to_datetime, to_seconds, to_seconds_ceil, utc_text
from tickbird.wire.decode.parts import Document
from tickbird.wire.decode.schedules import read_schedule
from tickbird.wire.page_tokens import write_key

T = TypeVar("T")
Query = Mapping[str, str | int | bool | None]
# So many things a server gives at once.
_PAGE = 1_000


class Remote(ClientBase):
    """The server and the namespace of a client; without one, the only one that the token opens."""

    def __init__(
        self,
        transport: Transport,
        namespace: str | None = None,
        validators: Mapping[str, Validate] | None = None,
        settings: Mapping[str, Settings] | None = None,
    ) -> None:
        self._transport = transport
        self._asked = None if namespace is None else check_name(namespace, "namespace")
        # Payload validators and settings of the tasks that this process has itself; the server looks for others.
        self._validators = validators or {}
        self._settings = settings or {}

    async def _fetch(
        self, path: str, read: Callable[[Document], T], query: Query | None = None, *, patience: float = 0.0
    ) -> T:
        return await self._send(read, HttpRequest("GET", path, self._query(query), patience=patience, repeatable=True))

    async def _post(
        self,
        path: str,
        read: Callable[[Document], T],
        body: Mapping[str, Any] | None = None,
        *,
        revision: int | None = None,
        key: str | None = None,
        keyed: bool = True,
        patience: float = 0.0,
    ) -> T:
        """Have something done; with a key that servers keep, what is asked twice is done once."""
        headers = {**self._key(key), **_match(revision)}
        stated = {name: value for name, value in (body or {}).items() if value is not None}
        return await self._send(read, HttpRequest("POST", path, self._query(), stated, headers, patience, keyed))

    def _key(self, given: str | None = None) -> dict[str, str]:
        """The header that tells a request from every other; the same again where the same is asked again."""
        return {"Idempotency-Key": given or secrets.token_urlsafe(18)}

    async def _have_done(self, name: str, verb: str, body: Mapping[str, Any], revision: int | None = None) -> Schedule:
        """Have something done to a schedule."""
        return await self._post(f"{schedule_path(name)}/{verb}", read_changed, body, revision=revision)

    async def _other(
        self,
        method: str,
        path: str,
        read: Callable[[Document], T],
        body: Mapping[str, Any] | None = None,
        *,
        query: Query | None = None,
        revision: int | None = None,
    ) -> T:
        return await self._send(read, HttpRequest(method, path, self._query(query), body, _match(revision)))

    async def _pages(
        self, path: str, read: Callable[[Document], T], limit: int, place: str | int | None, query: Query | None = None
    ) -> list[T]:
        """So many things behind a place, in as many requests as that takes."""
        page_size(limit)
        found: list[T] = []
        after = None if place is None or place == "" else write_key(place)
        while len(found) < limit:
            asked = {**(query or {}), "limit": min(_PAGE, limit - len(found)), "after": after}
            items, after = await self._fetch(path, lambda page: ([*map(read, page["items"])], page["next"]), asked)
            found += items
            if after is None:
                break
        return found

    async def _send(self, read: Callable[[Document], T], question: HttpRequest) -> T:
        return self._transport.understood(read, await self._transport.request(question))

    def _query(self, given: Query | None = None) -> dict[str, str]:
        whole = {"namespace": self._asked, **(given or {})}
        return {name: _text(value) for name, value in whole.items() if value is not None}

    def _payload(self, target: Target, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """The payload, as the task itself has it where that is here; else the server looks at it."""
        mine = self._validators.get(target.name) if target.kind == "task" else None
        return sent(payload) if mine is None else mine(payload)


def sent(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A payload as it is sent, once it is known to be one."""
    check_payload(payload)
    return dict(payload)


def read_changed(document: Document) -> Schedule:
    """The schedule after a change."""
    return read_schedule(document["schedule"])


def schedule_path(name: str) -> str:
    """Where a schedule is."""
    return f"/schedules/{segment(name, 'schedule')}"


def segment(name: str, what: str) -> str:
    """A name as a part of a path."""
    check_text(name, what)
    if not name or "/" in name:
        # No path leads there.
        raise NotFoundError(f"there is no {what} {name[:200]!r};", hint="`tickbird ls` shows those that exist.")
    # Dots alone would lead elsewhere.
    return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")


def instant(at: datetime | None) -> str | None:
    """An instant as it is sent: in whole seconds, parts of one dropped."""
    return None if at is None else utc_text(to_datetime(to_seconds(at)))


def instant_ceil(at: datetime | None) -> str | None:
    """An instant as it is sent: in whole seconds, parts of one rounded up."""
    return None if at is None else utc_text(to_datetime(to_seconds_ceil(at)))


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _match(revision: int | None) -> dict[str, str]:
    """The header that a change is made under: only at a revision, or with 0 only where there is nothing yet."""
    if revision is None:
        return {}
    return {"If-None-Match": "*"} if revision == 0 else {"If-Match": f'"{revision}"'}

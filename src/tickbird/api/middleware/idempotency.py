"""`Idempotency-Key`: a repeated request is executed once, and gets the same response."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import parse_qsl

from fastapi.routing import APIRoute

from tickbird.api.auth.auth import Caller, is_namespaced, role_of
from tickbird.api.auth.namespaces import choose
from tickbird.api.middleware.guard import App, Message, Receive, Scope, Send, path_of
from tickbird.api.middleware.timeouts import run_if_large
from tickbird.api.problems import Problem
from tickbird.client import StoreClient
from tickbird.domain.access.http_responses import StoredResponse
from tickbird.domain.access.tokens import TOKEN_ID_LENGTH, allows
from tickbird.domain.errors import InvalidError, TickbirdError
from tickbird.wire.operations import Operation

log = logging.getLogger("tickbird.api")
HEADER: Final = "Idempotency-Key"
# A stored key has the id of the token as a prefix.
MAX_KEY_LENGTH: Final = 200 - TOKEN_ID_LENGTH - 1
KEY_SCHEMA: Final = {"type": "string", "minLength": 1, "maxLength": MAX_KEY_LENGTH}
DESCRIBED: Final = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "description": "The same key again, within a day, gives the same response, and nothing is done twice.",
    "schema": KEY_SCHEMA,
}
_KEPT_HEADERS: Final = (b"content-type", b"etag", b"location")
_MAX_SIZE: Final = 1_000_000


def repeatable(routes: Iterable[Any]) -> Iterator[APIRoute]:
    """The routes whose responses are stored. Routes that create a run store the key with the run."""
    for route in routes:
        if isinstance(route, APIRoute) and "POST" in (route.methods or ()):
            role = role_of(route)
            operation: Operation | None = getattr(route, "operation", None)
            if role is not None and allows(role, "operator") and operation is not None and operation.stored:
                yield route


class IdempotencyMiddleware:
    """Stores responses by key, and replays them."""

    def __init__(self, app: App, client: StoreClient, routes: Iterable[Any]) -> None:
        self._app = app
        self._client = client
        # Routes are added to the app after this middleware.
        self._routes = routes
        self._known: list[APIRoute] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        keys = [value for name, value in scope.get("headers", ()) if name == b"idempotency-key"]
        location = self._scope(scope) if keys and scope["type"] == "http" and scope["method"] == "POST" else None
        if location is None:
            await self._app(scope, receive, send)
            return
        key = f"{location[1].token_id}:{_key(b', '.join(keys))}"
        message = await receive()
        body = message.get("body", b"")
        request = await run_if_large(len(body), _digest, scope, body)
        stored = await self._client.store.http_responses.begin(location[0], key, request)
        if stored is not None:
            await _send_again(stored, request, send)
            return
        await self._respond(location[0], key, request, scope, _replay(message, receive), send)

    async def _respond(
        self, namespace: str, key: str, request: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Execute the first request with a key. A failed one can be sent again.

        After a timeout the outcome is unknown, so the key stays in progress until it expires.
        """
        buffer = _ResponseBuffer()
        try:
            await self._app(scope, receive, buffer)
        except Exception:
            await self._end(namespace, key, request, None)
            raise
        await self._end(namespace, key, request, buffer.response(request))
        for message in buffer.messages:
            await send(message)

    async def _end(self, namespace: str, key: str, request: str, response: StoredResponse | None) -> None:
        try:
            await self._client.store.http_responses.finish(namespace, key, request, response)
        except TickbirdError as error:
            # The request was executed, so its response is sent anyway.
            log.warning("response not stored: %s", error)

    def _scope(self, scope: Scope) -> tuple[str, Caller] | None:
        """The namespace and the caller; None if the response is not stored, or the request will be refused."""
        caller: Caller | None = scope.get("state", {}).get("caller")
        if self._known is None:
            self._known = list(repeatable(self._routes))
        path = path_of(scope)
        route = next((route for route in self._known if route.path_regex.match(path)), None)
        if caller is None or route is None or not allows(caller.role, role_of(route) or "admin"):
            return None
        if not is_namespaced(route):
            return "", caller
        namespace = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("namespace")
        try:
            return choose(caller.namespaces, namespace), caller
        except (Problem, TickbirdError):
            return None


class _ResponseBuffer:
    """Holds a response until it is stored."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def __call__(self, message: Message) -> None:
        self.messages.append(message)

    def response(self, request: str) -> StoredResponse | None:
        """The response to store; None for an error or a large body."""
        [start, *parts] = self.messages
        body = b"".join(part.get("body", b"") for part in parts)
        if not 200 <= start["status"] < 300 or len(body) > _MAX_SIZE:
            return None
        headers = {name.decode(): value.decode("latin-1") for name, value in start["headers"] if name in _KEPT_HEADERS}
        return StoredResponse(request, start["status"], headers, body.decode())


async def _send_again(stored: StoredResponse, request: str, send: Send) -> None:
    if stored.request_digest != request:
        raise Problem(
            409,
            "conflict",
            f"{HEADER}: another request already used this key.",
            field=HEADER,
            hint="Use a different key for each request.",
        )
    if stored.status is None:
        raise Problem(
            409,
            "in-progress",
            f"{HEADER}: the request with this key is in progress.",
            field=HEADER,
            hint="Try again in a moment, with the same key.",
            headers={"Retry-After": "2"},
        )
    body = stored.body.encode()
    headers = [(name.encode(), value.encode("latin-1")) for name, value in stored.headers.items()]
    headers += [(b"content-length", str(len(body)).encode())] if body else []
    headers += [(b"idempotency-replayed", b"true")]
    await send({"type": "http.response.start", "status": stored.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _key(value: bytes) -> str:
    text = value.decode("latin-1")
    if not 1 <= len(text) <= MAX_KEY_LENGTH or not text.isprintable():
        raise InvalidError(
            f"{HEADER} must have 1 to {MAX_KEY_LENGTH} printable characters.",
            field=HEADER,
            hint="Use, for example, a UUID.",
        )
    return text


def _digest(scope: Scope, body: bytes) -> str:
    """Return the same digest for equal requests, regardless of their formatting."""
    try:
        sent = json.dumps(json.loads(body), sort_keys=True) if body else ""
    except (ValueError, RecursionError):
        # The route will refuse it.
        sent = body.hex()
    query = sorted(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
    match = [value.decode("latin-1") for name, value in scope["headers"] if name == b"if-match"]
    return hashlib.sha256(json.dumps([path_of(scope), query, match, sent]).encode()).hexdigest()


def _replay(message: Message, receive: Receive) -> Receive:
    """A receive function that starts with a message that was already read."""
    left = [message]

    async def read() -> Message:
        return left.pop() if left else await receive()

    return read

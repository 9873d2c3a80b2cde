"""Requests with an `Idempotency-Key`: what is asked twice is done once, and answered the same."""

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
from tickbird.client.idempotency import ResponseStore
from tickbird.domain.access.http_responses import StoredResponse
from tickbird.domain.access.tokens import TOKEN_ID_LENGTH, allows
from tickbird.domain.errors import InvalidError, TickbirdError
from tickbird.wire.operations import Operation

log = logging.getLogger("tickbird.api")
HEADER: Final = "Idempotency-Key"
# What is in front of a key of a caller takes some of the room that a key has.
MAX_KEY_LENGTH: Final = 200 - TOKEN_ID_LENGTH - 1
DESCRIBED: Final = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "description": "The same key again, within a day, gives the same answer, and nothing is done twice.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_LENGTH},
}
_KEPT_HEADERS: Final = (b"content-type", b"etag", b"location")
_MAX_SIZE: Final = 1_000_000


def repeatable(routes: Iterable[Any]) -> Iterator[APIRoute]:
    """The routes that do something, other than to make a run: that has a key of its own."""
    for route in routes:
        if isinstance(route, APIRoute) and "POST" in (route.methods or ()):
            role = role_of(route)
            operation: Operation | None = getattr(route, "operation", None)
            if role is not None and allows(role, "operator") and operation is not None and operation.stored:
                yield route


class IdempotencyMiddleware:
    """Stands before the routes: answers a request whose key was answered before, and keeps the answers to others."""

    def __init__(self, app: App, answers: ResponseStore, routes: Iterable[Any]) -> None:
        self._app = app
        self._answers = answers
        # The routes of the app, which come in after this does.
        self._routes = routes
        self._known: list[APIRoute] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; one without a key, or that only makes a run, is none of our business."""
        found = [value for name, value in scope.get("headers", ()) if name == b"idempotency-key"]
        place = self._scope(scope) if found and scope["type"] == "http" and scope["method"] == "POST" else None
        if place is None:
            await self._app(scope, receive, send)
            return
        key = f"{place[1].token_id}:{_key(b', '.join(found))}"
        message = await receive()
        body = message.get("body", b"")
        request = await run_if_large(len(body), _digest, scope, body)
        known = await self._answers.begin(place[0], key, request)
        if known is not None:
            await _again(known, request, send)
            return
        await self._respond(place[0], key, request, scope, _replay(message, receive), send)

    async def _respond(
        self, namespace: str, key: str, request: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer for the first time; what failed may be asked anew.

        Where it took too long, nobody knows what was done: then the key stays taken until everybody has given up.
        """
        held = _Held()
        try:
            await self._app(scope, receive, held)
        except Exception:
            await self._end(namespace, key, request, None)
            raise
        await self._end(namespace, key, request, held.response(request))
        for message in held.messages:
            await send(message)

    async def _end(self, namespace: str, key: str, request: str, answer: StoredResponse | None) -> None:
        try:
            if answer is None:
                await self._answers.forget(namespace, key, request)
            else:
                await self._answers.keep(namespace, key, answer)
        except TickbirdError as error:
            # It was done, or refused: that is told all the same.
            log.warning("an answer could not be kept: %s", error)

    def _scope(self, scope: Scope) -> tuple[str, Caller] | None:
        """The namespace of the key, and whose it is; None where the request is not for us, or will be refused."""
        caller: Caller | None = scope.get("state", {}).get("caller")
        if self._known is None:
            self._known = list(repeatable(self._routes))
        path = path_of(scope)
        route = next((each for each in self._known if each.path_regex.match(path)), None)
        if caller is None or route is None or not allows(caller.role, role_of(route) or "admin"):
            return None
        if not is_namespaced(route):
            return "", caller
        asked = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("namespace")
        try:
            return choose(caller.namespaces, asked), caller
        except (Problem, TickbirdError):
            return None


class _Held:
    """Takes an answer in, to be sent once it is kept."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def __call__(self, message: Message) -> None:
        self.messages.append(message)

    def response(self, request: str) -> StoredResponse | None:
        """What is to be kept: nothing of a failure, nor of what is too large."""
        [start, *parts] = self.messages
        body = b"".join(part.get("body", b"") for part in parts)
        if not 200 <= start["status"] < 300 or len(body) > _MAX_SIZE:
            return None
        headers = {name.decode(): value.decode("latin-1") for name, value in start["headers"] if name in _KEPT_HEADERS}
        return StoredResponse(request, start["status"], headers, body.decode())


async def _again(known: StoredResponse, request: str, send: Send) -> None:
    """The answer that was given before."""
    if known.request_digest != request:
        raise Problem(
            409,
            "conflict",
            f"{HEADER}: this key stands for another request;",
            field=HEADER,
            hint="give each request a key of its own.",
        )
    if known.status is None:
        raise Problem(
            409,
            "in-progress",
            f"{HEADER}: the request with this key is still being answered;",
            field=HEADER,
            hint="ask again in a moment, with the same key.",
            headers={"Retry-After": "2"},
        )
    body = known.body.encode()
    headers = [(name.encode(), value.encode("latin-1")) for name, value in known.headers.items()]
    headers += [(b"content-length", str(len(body)).encode())] if body else []
    headers += [(b"idempotency-replayed", b"true")]
    await send({"type": "http.response.start", "status": known.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _key(value: bytes) -> str:
    text = value.decode("latin-1")
    if not 1 <= len(text) <= MAX_KEY_LENGTH or not text.isprintable():
        raise InvalidError(f"{HEADER}: must have 1 to {MAX_KEY_LENGTH} printable characters.", field=HEADER)
    return text


def _digest(scope: Scope, body: bytes) -> str:
    """The same for the same request, however it is written."""
    try:
        sent = json.dumps(json.loads(body), sort_keys=True) if body else ""
    except (ValueError, RecursionError):
        # It will be refused.
        sent = body.hex()
    query = sorted(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
    match = [value.decode("latin-1") for name, value in scope["headers"] if name == b"if-match"]
    return hashlib.sha256(json.dumps([path_of(scope), query, match, sent]).encode()).hexdigest()


def _replay(message: Message, receive: Receive) -> Receive:
    """The request once more, of which one message was read."""
    left = [message]

    async def read() -> Message:
        return left.pop() if left else await receive()

    return read

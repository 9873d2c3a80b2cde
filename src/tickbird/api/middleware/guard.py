"""Authenticates every request, and limits its rate, size, depth and duration."""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Authority, Caller, as_bearer, unauthorized
from tickbird.api.middleware.rate_limiter import RateLimiter
from tickbird.api.middleware.timeouts import run_if_large
from tickbird.api.problems import Problem, busy, problem_of, unexpected
from tickbird.domain.access.tokens import allows
from tickbird.domain.errors import TickbirdError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

log = logging.getLogger("tickbird.api")
# The only paths that need no token; neither shows stored data.
OPEN: Final = frozenset({"/healthz", "/readyz"})
# Paths that also accept a token as the password of HTTP Basic authentication, because calendar programs send it so.
BASIC: Final = frozenset({"/calendar.ics"})
# Their bodies are whole files.
FILES: Final = frozenset({f"{PREFIX}/apply", f"{PREFIX}/diff", f"{PREFIX}/simulate"})
# An unterminated string extends to the end, so that no byte is scanned twice.
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_OTHERS: Final = bytes(set(range(256)) - set(b"[]{},"))
_HEADERS: Final = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    # No response is a page for a browser.
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
]


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of requests; durations in seconds."""

    body: int = 2_000_000
    depth: int = 64
    # Values in lists and objects together; parsing them blocks other requests.
    values: int = 100_000
    # For bodies that are files of schedules, from callers who may apply them; `files_within` replaces `body_within`.
    files_body: int = 32_000_000
    files_values: int = 2_000_000
    files_within: float = 60.0
    # The time for a body to arrive, and for the response to begin.
    body_within: float = 10.0
    answer_within: float = 10.0
    # Rates and bursts: requests of one token, and token look-ups from one address.
    per_second: float = 100.0
    burst: int = 300
    lookups_per_second: float = 20.0
    lookups_burst: int = 200
    # Open event streams, in total and per token, and the interval of their heartbeat.
    streams: int = 1_000
    streams_each: int = 300
    heartbeat: float = 15.0
    # How often the tokens of open streams are checked.
    tokens_every: float = 1.0


class ClientDisconnected(Exception):
    """The client has closed the connection."""


class RequestGuard:
    """ASGI middleware; every refusal and every failure is a problem document."""

    def __init__(self, app: App, authority: Authority, limits: RequestLimits) -> None:
        self._app = app
        self._authority = authority
        self._limits = limits
        self._files = replace(
            limits, body=limits.files_body, values=limits.files_values, body_within=limits.files_within
        )
        self._paces = RateLimiter(limits.per_second, limits.burst)
        self._lookups = RateLimiter(limits.lookups_per_second, limits.lookups_burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        response = _Response(send)
        try:
            await self._serve(scope, receive, response)
        except ClientDisconnected:
            return
        except Exception as error:
            if response.started:
                raise
            await self._refusal(error)(scope, receive, response)

    async def _serve(self, scope: Scope, receive: Receive, response: _Response) -> None:
        try:
            async with asyncio.timeout(self._limits.body_within + self._limits.answer_within) as timeout:
                # The timeout ends when the response starts: streams may take as long as they need.
                response.timeout = timeout
                self._authority.check(scope)
                if path_of(scope) not in OPEN:
                    caller = await self._admit(scope)
                    scope.setdefault("state", {})
                    scope["state"].update(caller=caller, timeout=timeout)
                    limits = self._limits
                    if path_of(scope) in FILES and allows(caller.role, "editor"):
                        limits = self._files
                        timeout.reschedule(_in(limits.body_within + limits.answer_within))
                    receive = await _bounded(scope, receive, limits)
                    timeout.reschedule(_in(limits.answer_within))
                await self._app(scope, receive, response)
        except TimeoutError:
            if response.started:
                raise
            raise busy() from None
        finally:
            response.timeout = None

    async def _admit(self, scope: Scope) -> Caller:
        authorization = _header(scope, b"authorization")
        basic = path_of(scope) in BASIC
        if basic:
            authorization = as_bearer(authorization)
        if not self._authority.remembers(authorization):
            _wait(self._lookups.take((scope.get("client") or [""])[0]), "too many tokens from this address")
        try:
            caller = await self._authority.caller(authorization)
        except Problem as problem:
            raise unauthorized(basic=basic) if problem.status == 401 else problem from None
        _wait(self._paces.take(caller.token_id), "too many requests with this token")
        return caller

    def _refusal(self, error: Exception) -> App:
        if isinstance(error, Problem):
            problem = error
        elif isinstance(error, TickbirdError):
            problem = problem_of(error)
        else:
            log.error("request failed", exc_info=error)
            problem = unexpected()
        response: App = problem.response()
        return response


class _Response:
    """Adds the headers, and ends the timeout when the response starts."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False
        self.timeout: asyncio.Timeout | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if self.timeout is not None:
                if self.timeout.expired():
                    # A cancelled operation may still respond, such as with an interrupted query.
                    raise TimeoutError
                self.timeout.reschedule(None)
            self.started = True
            message = {**message, "headers": [*message.get("headers", []), *_HEADERS]}
        await self._send(message)


async def _bounded(scope: Scope, receive: Receive, limits: RequestLimits) -> Receive:
    """Read and check the body; returns a receive function that replays it."""
    body = await _read(scope, receive, limits)
    if body:
        _check_type(scope)
        await run_if_large(len(body), _check_json, body, limits)
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def _read(scope: Scope, receive: Receive, limits: RequestLimits) -> bytes:
    maximum = limits.body
    if _header(scope, b"transfer-encoding") is not None and any(
        key == b"content-length" for key, _ in scope["headers"]
    ):
        # Proxies differ in the one that they use (request smuggling).
        why, headers = "The request has both Content-Length and Transfer-Encoding.", {"Connection": "close"}
        raise Problem(400, "malformed", why, hint="Send one of them.", headers=headers)
    length = _header(scope, b"content-length") or "0"
    if not (length.isascii() and length.isdigit()) or int(length[:20]) > maximum:
        raise _too_large(maximum)
    if scope["method"] in ("GET", "HEAD", "OPTIONS") and length == "0":
        return b""
    parts, size = [], 0
    try:
        async with asyncio.timeout(limits.body_within):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnected
                part = message.get("body", b"")
                size += len(part)
                if size > maximum:
                    raise _too_large(maximum)
                parts.append(part)
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        seconds = f"{limits.body_within:g}"
        headers = {"Connection": "close"}
        raise Problem(408, "slow", f"The body did not arrive within {seconds} seconds.", headers=headers) from None


def _in(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


def path_of(scope: Scope) -> str:
    """The path within this app, which may be mounted in another."""
    return str(scope["path"]).removeprefix(scope.get("root_path", ""))


def _header(scope: Scope, name: bytes) -> str | None:
    values = [value for key, value in scope["headers"] if key == name]
    return values[0].decode("latin-1") if len(values) == 1 else None


def _wait(seconds: float, why: str) -> None:
    if seconds > 0:
        after = str(math.ceil(seconds))
        raise Problem(
            429,
            "too-many",
            f"There are {why}.",
            hint=f"Wait {after} s, and send fewer requests.",
            headers={"Retry-After": after},
        )


def _too_large(maximum: int) -> Problem:
    return Problem(413, "too-large", f"The body is larger than {maximum:,} bytes.", headers={"Connection": "close"})


def _check_type(scope: Scope) -> None:
    kind, _, options = (_header(scope, b"content-type") or "").lower().partition(";")
    charset = options.partition("charset=")[2].strip(' "')
    encoded = _header(scope, b"content-encoding") or "identity"
    json = kind.strip() in ("application/json", "application/merge-patch+json")
    if not json or charset not in ("", "utf-8", "utf8") or encoded.lower() != "identity":
        raise Problem(
            415,
            "not-json",
            "The body is not plain JSON in UTF-8.",
            hint="Send it with `Content-Type: application/json`.",
        )


def _check_json(body: bytes, limits: RequestLimits) -> None:
    try:
        body.decode()
    except UnicodeDecodeError:
        raise Problem(400, "malformed", "The body is not JSON in UTF-8.", hint="Send one JSON object.") from None
    if b"\0" in body:
        raise Problem(
            400, "malformed", "The body contains a NUL byte, which JSON does not allow.", hint="Send it as UTF-8."
        )
    opened, maximum = body.count(b"[") + body.count(b"{"), limits.values
    if opened <= limits.depth and body.count(b",") <= maximum:
        return
    # A value has at most a name and a text, so more quotes mean more values, or texts with many quotes.
    bare = None if body.count(b'"') > 8 * maximum else _STRING.sub(b"", body).translate(None, _OTHERS)
    if bare is None or bare.count(b",") > maximum or bare.count(b"[") + bare.count(b"{") > maximum:
        raise Problem(
            413, "too-large", f"The body has more than {maximum:,} values.", hint="Send fewer values at a time."
        )
    if opened > limits.depth and _is_deeper(bare.translate(None, b","), limits.depth):
        raise Problem(
            400, "too-deep", f"The body is nested more than {limits.depth} levels deep.", hint="Use fewer levels."
        )


def _is_deeper(brackets: bytes, maximum: int) -> bool:
    """Are brackets nested deeper than `maximum`? Each pass removes the innermost pairs."""
    brackets = brackets.replace(b"{", b"[").replace(b"}", b"]")
    for _ in range(maximum):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)

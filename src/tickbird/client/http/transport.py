"""One server over HTTP: connections, timeouts, and retries that cannot do anything twice."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from tickbird.client.http.problems import NoNamespaceError, error_of
from tickbird.domain.access.tokens import check_token
from tickbird.domain.errors import (
    ClosedNamespaceError,
    InvalidError,
    StoreError,
    StoreUnavailableError,
    TickbirdError,
    UnsupportedError,
)
from tickbird.domain.urls import API_PATH, check_server_url, sends_plain_text
from tickbird.version import VERSION

T = TypeVar("T")
log = logging.getLogger("tickbird.client.http")
# Seconds to connect, and to wait for a response; a server responds within ten.
_CONNECT: Final = 5.0
_RESPONSE_TIMEOUT: Final = 30.0
# A connection that was idle for longer is not reused, because the server is about to close it.
_IDLE: Final = 3.0
# Seconds before each retry. A longer Retry-After of the server is respected up to the maximum.
_RETRY_DELAYS: Final = (0.1, 0.5)
_MAX_RETRY_AFTER: Final = 5.0
_PROBLEM: Final = "application/problem+json"
_EVENTS: Final = "text/event-stream"
# A stream without any data for this many seconds, not even a heartbeat, is lost.
_SILENCE: Final = 60.0
# Reasons of OpenSSL when a server responds in plain text.
_NO_TLS: Final = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG")
# Without a problem document, these are responses of a proxy that does not reach the server.
_PROXY_ERRORS: Final = (502, 503, 504)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    method: str
    path: str
    query: Mapping[str, str]
    body: Any = None
    headers: Mapping[str, str] | None = None
    # Seconds that the response may take beyond the usual.
    timeout: float = 0.0
    # The request can be sent again after a lost response, because a second one changes nothing.
    repeatable: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """A server-sent event; the name of most events is empty."""

    name: str
    data: Any


class Transport:
    """Sends requests to one server, with one token.

    `otherwise` is the namespace of requests that name none, if the token allows several. `wire` is a transport of
    httpx, for a server without a network.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        otherwise: str | None = None,
        trust_env: bool = False,
        wire: Any = None,
    ) -> None:
        self.url = check_server_url(url)
        if sends_plain_text(self.url):
            log.warning("the token is sent to %s in plain text: use https", urlsplit(self.url).netloc)
        self._token = check_token(token)
        self._otherwise = otherwise
        # True once the server has refused a request without a namespace.
        self._names_namespace = False
        self._trust_env = trust_env
        self._wire = wire
        self._http: Any = None

    def __repr__(self) -> str:
        return f"Transport({self.url!r})"

    async def request(self, request: HttpRequest) -> Any:
        """Send a request, with retries; returns the document of the response, or raises the error of the domain."""
        request = self._in_namespace(request)
        try:
            return await self._request(request)
        except UnsupportedError as error:
            if error.field != "http_responses":
                raise
            # Nothing was done. Without a key, the request is not repeated if its response is lost.
            unkeyed = {name: value for name, value in (request.headers or {}).items() if name != "Idempotency-Key"}
            return await self._request(replace(request, headers=unkeyed, repeatable=False))
        except NoNamespaceError as error:
            if not self._add_namespace():
                raise
            try:
                return await self._request(self._in_namespace(request))
            except ClosedNamespaceError:
                raise error from None

    async def _request(self, request: HttpRequest) -> Any:
        for delay in _RETRY_DELAYS:
            try:
                response = await self._send(request)
                retry_after = _retry_after(response, request)
                if retry_after is None:
                    return self._document(response, request)
            except _Lost as lost:
                # A person has waited long enough for a read; for a change, the outcome is worth another wait.
                timed_out = lost.timed_out and request.method == "GET"
                if timed_out or not (lost.unsent or request.repeatable):
                    raise self._unreachable(lost, request) from lost.__cause__
                retry_after = 0.0
            await asyncio.sleep(max(delay * random.uniform(0.5, 1.0), retry_after))  # noqa: S311 - only to spread tries
        try:
            return self._document(await self._send(request), request)
        except _Lost as lost:
            raise self._unreachable(lost, request) from lost.__cause__

    async def listen(self, request: HttpRequest) -> AsyncIterator[Event]:
        """Yield server-sent events until the server ends the stream; a lost stream is not opened again."""
        request = self._in_namespace(request)
        try:
            async for event in self._listen(request):
                yield event
        except NoNamespaceError as error:
            if not self._add_namespace():
                raise
            try:
                async for event in self._listen(self._in_namespace(request)):
                    yield event
            except ClosedNamespaceError:
                raise error from None

    async def _listen(self, request: HttpRequest) -> AsyncIterator[Event]:
        http = self._client()
        import httpx

        timeout = httpx.Timeout(_SILENCE, connect=_CONNECT, pool=_RESPONSE_TIMEOUT)
        try:
            async with http.stream(
                request.method,
                f"{self.url}{API_PATH}{request.path}",
                params=dict(request.query),
                headers={"Accept": _EVENTS},
                timeout=timeout,
            ) as response:
                if _media_type(response) != _EVENTS:
                    await response.aread()
                    self._document(response, request)
                    return
                async for event in _events(response.aiter_lines()):
                    yield event
        except httpx.HTTPError as error:
            raise self._unreachable(self._lost(error), request) from error

    def _add_namespace(self) -> bool:
        """Name the default namespace from now on; False if that is not possible or was tried."""
        tried, self._names_namespace = self._names_namespace, self._otherwise is not None
        return self._names_namespace and not tried

    def _in_namespace(self, request: HttpRequest) -> HttpRequest:
        if self._otherwise is None or not self._names_namespace or "namespace" in request.query:
            return request
        return replace(request, query={**request.query, "namespace": self._otherwise})

    def decode(self, read: Callable[[Any], T], document: Any) -> T:
        """Read a document; StoreError if this version cannot."""
        try:
            return read(document)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StoreError(
                f"{self.url}: version {VERSION} cannot read the response ({type(error).__name__}: {error}).",
                hint="Use the same version of Tickbird on both sides.",
            ) from error

    async def close(self) -> None:
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    async def _send(self, request: HttpRequest) -> Any:
        http = self._client()
        import httpx

        timeout = httpx.Timeout(_RESPONSE_TIMEOUT + request.timeout, connect=_CONNECT, pool=_RESPONSE_TIMEOUT)
        try:
            return await http.request(
                request.method,
                f"{self.url}{API_PATH}{request.path}",
                params=dict(request.query),
                json=request.body,
                headers=dict(request.headers or {}),
                timeout=timeout,
            )
        except httpx.HTTPError as error:
            raise self._lost(error) from error
        except httpx.InvalidURL as error:
            hint = "Write it like http://127.0.0.1:8420."
            raise InvalidError(f"server: {self.url!r} is not a URL ({error}).", field="server", hint=hint) from error

    def _lost(self, error: Exception) -> _Lost:
        import httpx

        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
            if (refusal := self._tls_error(error)) is not None:
                raise refusal from error
            return _Lost("cannot be reached", str(error) or "timeout", unsent=True)
        if isinstance(error, httpx.TimeoutException):
            return _Lost("did not respond in time", "", timed_out=True)
        return _Lost("closed the connection", str(error))

    def _tls_error(self, error: BaseException | None) -> StoreError | None:
        """The error of a server whose certificate is not trusted, or that does not use TLS; None for other errors."""
        while error is not None and not isinstance(error, ssl.SSLError):
            error = error.__cause__ or error.__context__
        if error is None:
            return None
        if isinstance(error, ssl.SSLCertVerificationError):
            return StoreError(
                f"{self.url}: its certificate is not trusted ({error.verify_message or error}).",
                hint="Check the URL, or set SSL_CERT_FILE to the file of its certificate authority.",
            )
        reason = error.reason or str(error)
        if reason in _NO_TLS:
            plain = self.url.replace("https:", "http:", 1)
            return StoreError(
                f"{self.url}: the server does not use TLS ({reason}).",
                hint=f"Use {plain}, or the URL of its proxy.",
            )
        return StoreError(f"{self.url}: no secure connection ({reason}).", hint="Check the URL.")

    def _client(self) -> Any:
        if self._http is None:
            try:
                import httpx
            except ImportError:
                raise StoreError(
                    "requests to a server need httpx, which is not installed.",
                    hint="Install it with `pip install 'tickbird[client]'`.",
                ) from None

            headers = {"User-Agent": f"tickbird/{VERSION}", "X-Tickbird": "1", "Accept": "application/json"}
            if self._token is not None:
                headers["Authorization"] = f"Bearer {self._token}"
            self._http = httpx.AsyncClient(
                headers=headers,
                limits=httpx.Limits(max_connections=20, max_keepalive_connections=10, keepalive_expiry=_IDLE),
                # The certificate authorities of the machine. The context is slow to create, so only for https.
                verify=ssl.create_default_context() if self.url.startswith("https:") else False,
                trust_env=self._trust_env,
                transport=self._wire,
                follow_redirects=False,
            )
        return self._http

    def _document(self, response: Any, request: HttpRequest) -> Any:
        if response.is_redirect:
            raise StoreError(
                f"{self.url} redirects to {response.headers.get('location', '')[:200]}.", hint="Use that URL."
            )
        kind = _media_type(response)
        if kind == _PROBLEM:
            raise self._refusal(response)
        if response.status_code == 204:
            return None
        if response.is_success and kind == "application/json":
            try:
                return response.json()
            except ValueError:
                kind = "malformed JSON"
        if response.status_code in _PROXY_ERRORS:
            lost = _Lost("cannot be reached through its proxy", f"{response.status_code} {response.reason_phrase}")
            raise self._unreachable(lost, request)
        raise StoreError(
            f"{self.url} is not a Tickbird server: it responded {response.status_code} with {kind or 'no content'}.",
            hint="Use the URL that `tickbird server` prints when it starts.",
        )

    def _refusal(self, response: Any) -> TickbirdError:
        try:
            document = response.json()
        except ValueError:
            document = None
        return self.decode(lambda problem: error_of(problem, has_token=self._token is not None), document)

    def _unreachable(self, lost: _Lost, request: HttpRequest) -> StoreUnavailableError:
        reason = f" ({lost.reason[:200]})" if lost.reason else ""
        hint = "Check the URL and that `tickbird server` runs, then try again."
        if request.method != "GET" and not lost.unsent:
            hint = "The change may have been made: check before you try again."
        return StoreUnavailableError(f"server {self.url} {lost.what}{reason}.", hint=hint)


class _Lost(Exception):
    """No response came; `unsent`: the server has not received the request."""

    def __init__(self, what: str, reason: str, *, unsent: bool = False, timed_out: bool = False) -> None:
        super().__init__(what)
        self.what = what
        self.reason = reason
        self.unsent = unsent
        self.timed_out = timed_out


async def _events(lines: AsyncIterator[str]) -> AsyncIterator[Event]:
    """Parse server-sent events of one data line, as Tickbird writes them."""
    name, data = "", ""
    async for line in lines:
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            data = value
        elif not line:
            if data:
                yield Event(name, json.loads(data))
            name, data = "", ""


def _media_type(response: Any) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip()


def _retry_after(response: Any, request: HttpRequest) -> float | None:
    """Seconds before the request is sent again; None: this is the final response."""
    text = response.headers.get("retry-after", "")
    # 429 is sent before anything is done. 409 with Retry-After: the first request with this key is in progress.
    again = response.status_code in _PROXY_ERRORS or (response.status_code == 409 and text)
    if response.status_code != 429 and not (again and request.repeatable):
        return None
    seconds = float(text) if text.isascii() and text.isdigit() else 0.0
    return seconds if seconds <= _MAX_RETRY_AFTER else None

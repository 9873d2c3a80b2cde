"""One server over HTTP: connections that are kept, time-outs, and tries that can do no harm."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import random
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from tickbird.client.http.problems import NoNamespaceError, error_of
from tickbird.domain.access.tokens import parse_token
from tickbird.domain.errors import (
    ClosedNamespaceError,
    InvalidError,
    StoreError,
    StoreUnavailableError,
    TickbirdError,
    UnsupportedError,
)
from tickbird.domain.urls import describe_url, is_server
from tickbird.version import VERSION

T = TypeVar("T")
log = logging.getLogger("tickbird.client.http")
PREFIX: Final = "/api/v1"
# Seconds to connect, and to wait for an answer; a server gives one within ten.
_CONNECT: Final = 5.0
_RESPONSE_TIMEOUT: Final = 30.0
# A connection that was idle for longer is not used again: the server is about to close it.
_IDLE: Final = 3.0
# So many seconds apart the same is tried again; a server that says when to come back is believed up to a limit.
_RETRY_DELAYS: Final = (0.1, 0.5)
_MAX_REST: Final = 5.0
_PROBLEM: Final = "application/problem+json"
_EVENTS: Final = "text/event-stream"
# A stream on which nothing comes for so many seconds, not even a sign of life, is lost.
_SILENCE: Final = 60.0
# What a server that answers in plain text is taken for.
_NO_TLS: Final = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG")
# Without a problem it is a proxy that tells of the server behind it.
_PROXY_ERRORS: Final = (502, 503, 504)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request; a repeatable one may be asked again though the answer was lost."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Any = None
    headers: Mapping[str, str] | None = None
    # How much longer than usual the answer may take.
    patience: float = 0.0
    # Asking twice does what asking once does.
    repeatable: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a server tells of as it happens; the usual kind has no name."""

    name: str
    data: Any


class Transport:
    """Asks one server, with one token; `wire` is what httpx calls a transport, for a server without a network.

    `otherwise` is the namespace for what names none, where the token opens that one among others.
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
        self.url = check_url(url)
        self._token = check_token(token)
        self._otherwise = otherwise
        # Known once the server has told that the token opens more than one.
        self._several = False
        self._trust_env = trust_env
        self._wire = wire
        self._http: Any = None

    def __repr__(self) -> str:
        return f"Transport({self.url!r})"

    async def request(self, question: HttpRequest) -> Any:
        """The document that answers a question; a domain error where it is refused or does not come."""
        question = self._placed(question)
        try:
            return await self._request(question)
        except UnsupportedError as error:
            if error.field != "http_responses":
                raise
            # Refused before anything was done. Without a key, it is not repeated if the answer is lost.
            unkeyed = {name: value for name, value in (question.headers or {}).items() if name != "Idempotency-Key"}
            return await self._request(replace(question, headers=unkeyed, repeatable=False))
        except NoNamespaceError as unchosen:
            if not self._may_choose():
                raise
            try:
                return await self._request(self._placed(question))
            except ClosedNamespaceError:
                raise unchosen from None

    async def _request(self, question: HttpRequest) -> Any:
        for apart in _RETRY_DELAYS:
            try:
                answer = await self._send(question)
                rest = _rest(answer, question)
                if rest is None:
                    return self._document(answer, question)
            except _Lost as lost:
                # A person waits in front of one who was silent for so long; of a change they want to know what became.
                silent = lost.silent and question.method == "GET"
                if silent or not (lost.unsent or question.repeatable):
                    raise self._unreachable(lost, question) from lost.__cause__
                rest = 0.0
            await asyncio.sleep(max(apart * random.uniform(0.5, 1.0), rest))  # noqa: S311 - only to spread tries
        try:
            return self._document(await self._send(question), question)
        except _Lost as lost:
            raise self._unreachable(lost, question) from lost.__cause__

    async def listen(self, question: HttpRequest) -> AsyncIterator[Event]:
        """The events that answer a question, until the server ends them; nothing is tried again here."""
        question = self._placed(question)
        try:
            async for event in self._listen(question):
                yield event
        except NoNamespaceError as unchosen:
            if not self._may_choose():
                raise
            try:
                async for event in self._listen(self._placed(question)):
                    yield event
            except ClosedNamespaceError:
                raise unchosen from None

    async def _listen(self, question: HttpRequest) -> AsyncIterator[Event]:
        http = self._opened()
        import httpx

        timeout = httpx.Timeout(_SILENCE, connect=_CONNECT, pool=_RESPONSE_TIMEOUT)
        try:
            async with http.stream(
                question.method,
                f"{self.url}{PREFIX}{question.path}",
                params=dict(question.query),
                headers={"Accept": _EVENTS},
                timeout=timeout,
            ) as answer:
                if answer.headers.get("content-type", "").partition(";")[0].strip() != _EVENTS:
                    await answer.aread()
                    self._document(answer, question)
                    return
                async for event in _events(answer.aiter_lines()):
                    yield event
        except httpx.HTTPError as error:
            raise self._unreachable(self._lost(error), question) from error

    def _may_choose(self) -> bool:
        """Whether to ask again in the namespace that is meant where none is named."""
        first, self._several = not self._several, self._otherwise is not None
        return first and self._several

    def _placed(self, question: HttpRequest) -> HttpRequest:
        """The question as it is sent: with that namespace, once it is known that one must be named."""
        if self._otherwise is None or not self._several or "namespace" in question.query:
            return question
        return replace(question, query={**question.query, "namespace": self._otherwise})

    def understood(self, read: Callable[[Any], T], document: Any) -> T:
        """What is read of a document; an error where it is not what this version knows."""
        try:
            return read(document)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StoreError(
                f"the answer of {self.url} cannot be read by version {VERSION} ({type(error).__name__}: {error});",
                hint="use the same version of Tickbird on both sides.",
            ) from error

    async def close(self) -> None:
        """Let go of every connection; harmless when there is none."""
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    async def _send(self, question: HttpRequest) -> Any:
        http = self._opened()
        import httpx

        timeout = httpx.Timeout(_RESPONSE_TIMEOUT + question.patience, connect=_CONNECT, pool=_RESPONSE_TIMEOUT)
        try:
            return await http.request(
                question.method,
                f"{self.url}{PREFIX}{question.path}",
                params=dict(question.query),
                json=question.body,
                headers=dict(question.headers or {}),
                timeout=timeout,
            )
        except httpx.HTTPError as error:
            raise self._lost(error) from error
        except httpx.InvalidURL as error:
            raise InvalidError(f"server: {self.url!r} is no address ({error}).", field="server") from error

    def _lost(self, error: Exception) -> _Lost:
        """What an error of the network means."""
        import httpx

        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
            if (refusal := self._insecure(error)) is not None:
                raise refusal from error
            return _Lost("cannot be reached", str(error) or "no answer in time", unsent=True)
        if isinstance(error, httpx.TimeoutException):
            return _Lost("did not answer in time", "", silent=True)
        return _Lost("broke the connection off", str(error))

    def _insecure(self, error: Exception) -> StoreError | None:
        """The refusal of a server whose certificate is not trusted, or that does not speak TLS."""
        found = _of_tls(error)
        if isinstance(found, ssl.SSLCertVerificationError):
            return StoreError(
                f"the certificate of {self.url} is not trusted ({found.verify_message or found});",
                hint="check the address, or name the file of its authority in SSL_CERT_FILE.",
            )
        if found is None:
            return None
        reason = found.reason or str(found)
        if reason in _NO_TLS:
            plain = self.url.replace("https:", "http:", 1)
            return StoreError(
                f"what answers at {self.url} does not speak TLS ({reason});",
                hint=f"give its address with http://, as {plain}, or that of its proxy.",
            )
        return StoreError(f"no secure connection to {self.url} can be made ({reason});", hint="check the address.")

    def _opened(self) -> Any:
        if self._http is None:
            try:
                import httpx
            except ImportError:
                raise StoreError(
                    "a server is asked with httpx, which is not installed;",
                    hint="install it with `pip install 'tickbird[client]'`.",
                ) from None

            headers = {"User-Agent": f"tickbird/{VERSION}", "X-Tickbird": "1", "Accept": "application/json"}
            if self._token is not None:
                headers["Authorization"] = f"Bearer {self._token}"
            self._http = httpx.AsyncClient(
                headers=headers,
                limits=httpx.Limits(max_connections=20, max_keepalive_connections=10, keepalive_expiry=_IDLE),
                # The machine's own authorities, as every program with OpenSSL; making the context takes its time.
                verify=ssl.create_default_context() if self.url.startswith("https:") else False,
                trust_env=self._trust_env,
                transport=self._wire,
                follow_redirects=False,
            )
        return self._http

    def _document(self, answer: Any, question: HttpRequest) -> Any:
        if answer.is_redirect:
            raise StoreError(
                f"{self.url} sends its callers elsewhere ({answer.headers.get('location', '')[:200]});",
                hint="give that address.",
            )
        kind = answer.headers.get("content-type", "").partition(";")[0].strip()
        if kind == _PROBLEM:
            raise self._refusal(answer)
        if answer.status_code == 204:
            return None
        if answer.is_success and kind == "application/json":
            try:
                return answer.json()
            except ValueError:
                kind = "no JSON"
        if answer.status_code in _PROXY_ERRORS:
            lost = _Lost("cannot be reached through its proxy", f"{answer.status_code} {answer.reason_phrase}")
            raise self._unreachable(lost, question)
        raise StoreError(
            f"{self.url} is no Tickbird server: it answers {answer.status_code} with {kind or 'nothing'};",
            hint="give the address that `tickbird server` prints when it starts.",
        )

    def _refusal(self, answer: Any) -> TickbirdError:
        try:
            problem = answer.json()
        except ValueError:
            problem = None
        return self.understood(lambda each: error_of(each, has_token=self._token is not None), problem)

    def _unreachable(self, lost: _Lost, question: HttpRequest) -> StoreUnavailableError:
        told = f" ({lost.reason[:200]})" if lost.reason else ""
        done = question.method != "GET" and not lost.unsent
        hint = (
            "what was asked for may have been done all the same, so look first."
            if done
            else "check the address and that `tickbird server` runs, then try again."
        )
        return StoreUnavailableError(f"the server {self.url} {lost.what}{told};", hint=hint)


class _Lost(Exception):
    """No answer came; `unsent`: the server cannot have seen the question; `silent`: it was waited for to the end."""

    def __init__(self, what: str, reason: str, *, unsent: bool = False, silent: bool = False) -> None:
        super().__init__(what)
        self.what = what
        self.reason = reason
        self.unsent = unsent
        self.silent = silent


async def _events(lines: AsyncIterator[str]) -> AsyncIterator[Event]:
    """Server-sent events, as far as servers of ours write them."""
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


def _rest(answer: Any, question: HttpRequest) -> float | None:
    """How long to wait before the same is asked again; None where this is the answer."""
    said = answer.headers.get("retry-after", "")
    # One that comes too often is refused before anything is done; one whose key is still being answered will be.
    again = answer.status_code in _PROXY_ERRORS or (answer.status_code == 409 and said)
    if answer.status_code != 429 and not (again and question.repeatable):
        return None
    seconds = float(said) if said.isascii() and said.isdigit() else 0.0
    return seconds if seconds <= _MAX_REST else None


def _of_tls(error: BaseException | None) -> ssl.SSLError | None:
    """What went wrong while a connection was made secure, if that is it."""
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__ or error.__context__
    return error


def check_url(url: str) -> str:
    """The address of a server, without what is added to it; or an InvalidError."""
    hint = "write it like https://tickbird.example.com."
    try:
        parts = urlsplit(url if is_server(url) else "")
        port = parts.port
    except ValueError:
        raise InvalidError(f"server: {describe_url(url)!r} is no address;", field="server", hint=hint) from None
    if parts.username is not None or parts.password is not None:
        raise InvalidError("server: an address has no user;", field="server", hint="give the token as TICKBIRD_TOKEN.")
    if not parts.hostname or parts.query or parts.fragment or not url.isprintable() or " " in url:
        raise InvalidError(f"server: {describe_url(url)!r} is not the address of a server;", field="server", hint=hint)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if parts.scheme.lower() == "http" and not _is_loopback(parts.hostname):
        log.warning("the token travels to %s in plain text: use https", host)
    path = parts.path.rstrip("/").removesuffix(PREFIX)
    return f"{parts.scheme.lower()}://{host}{'' if port is None else f':{port}'}{path}"


def check_token(token: str | None) -> str | None:
    """The token, if there is one; an InvalidError that does not show what it refuses."""
    if token is None or token == "":
        return None
    if not isinstance(token, str) or parse_token(token.strip()) is None:
        raise InvalidError(
            "token: what was given is no token of Tickbird;",
            field="token",
            hint="it begins with tbk_, and `tickbird token create` makes one.",
        )
    return token.strip()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

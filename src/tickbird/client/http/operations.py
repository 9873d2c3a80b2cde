"""Methods of the HTTP client, derived from the declarations of operations."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

from tickbird.client.base import Settings, Validate, page_size
from tickbird.client.http.transport import HttpRequest, Transport
from tickbird.domain.access.tokens import covers
from tickbird.domain.errors import NotFoundError
from tickbird.domain.text import check_text
from tickbird.wire.codec import Document, decode
from tickbird.wire.operations import Operation, Parameter, operations_of
from tickbird.wire.page_tokens import write_key
from tickbird.wire.parameters import write_value

N = TypeVar("N", bound=type)
# Items that a server returns at once.
MAX_PAGE = 1_000


def over_http(noun: N) -> N:
    """Give a class that names its server every operation of its noun, except those that it has itself."""
    for name, operation in operations_of(noun).items():
        if name not in vars(noun):
            setattr(noun, name, _method(operation))
    return noun


class HttpNoun:
    """The server of a noun, and the namespace; None: the only one that the token opens."""

    def __init__(
        self,
        transport: Transport,
        namespace: str | None,
        validators: Mapping[str, Validate],
        settings: Mapping[str, Settings],
    ) -> None:
        self._transport = transport
        self._asked = namespace
        # Of the tasks that this process has itself; the server looks for others.
        self._validators = validators
        self._settings = settings

    async def send(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        """The result of an operation."""
        if operation.page is not None:
            return await self._list(operation, arguments)
        return await self._request(operation, arguments, lambda document: read_result(operation, document))

    async def _list(self, operation: Operation, arguments: Mapping[str, Any]) -> list[Any]:
        """Items after a key, in as many requests as that takes."""
        limit = arguments.get("limit")
        key = arguments.get(operation.cursor) if operation.cursor else None
        after = write_key(key) if key not in (None, "") else None
        if limit is not None:
            page_size(limit)
        # A server returns what the token opens, which may be more than is asked for.
        within = arguments.get("within")
        items: list[Any] = []
        while limit is None or len(items) < limit:
            size = MAX_PAGE if limit is None else min(MAX_PAGE, limit - (len(items) if within is None else 0))
            page, after = await self._request(
                operation,
                arguments,
                lambda document: ([decode(operation.result, item) for item in document["items"]], document["next"]),
                {"limit": str(size), **({} if after is None else {"after": after})},
            )
            items += page if within is None else [item for item in page if covers(tuple(within), item.namespaces)]
            if after is None:
                break
        return items[:limit]

    async def _request(
        self,
        operation: Operation,
        arguments: Mapping[str, Any],
        read: Callable[[Document], Any],
        query: Mapping[str, str] | None = None,
    ) -> Any:
        path, asked, body = operation.path.replace(":path", ""), {**(query or {})}, {}
        if self._asked is not None:
            asked["namespace"] = self._asked
        for parameter in operation.parameters:
            value = arguments[parameter.name]
            if parameter.place == "path":
                path = path.replace(f"{{{parameter.key}}}", _segment(operation, parameter, value))
            elif value is None or (parameter.place == "query" and value == parameter.default):
                continue
            elif parameter.place == "query":
                asked[parameter.key] = _text(write_value(parameter.hint, value))
            else:
                body[parameter.key] = write_value(parameter.hint, value)
        sends_body = operation.method in ("POST", "PUT", "PATCH")
        keyed = operation.method == "POST" and operation.stored
        headers = _headers(operation, arguments)
        request = HttpRequest(
            operation.method,
            path,
            asked,
            body if sends_body else None,
            headers,
            patience=operation.timeout,
            repeatable=operation.method == "GET" or keyed,
        )
        return self._transport.understood(read, await self._transport.request(request))


def read_result(operation: Operation, document: Any) -> Any:
    """The value that a response holds."""
    if operation.is_list:
        return [decode(operation.result, item) for item in document["items"]]
    if operation.result is type(None):
        return None
    value = document if operation.envelope is None else document[operation.envelope]
    return None if value is None else decode(operation.result, value)


def _method(operation: Operation) -> Any:
    async def call(self: HttpNoun, *args: Any, **kwargs: Any) -> Any:
        bound = operation.signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        return await self.send(operation, bound.arguments)

    call.__name__, call.__qualname__ = operation.name, operation.name
    call.__doc__ = operation.description
    call.operation = operation  # type: ignore[attr-defined]
    return call


def _headers(operation: Operation, arguments: Mapping[str, Any]) -> dict[str, str]:
    headers = {}
    if operation.method == "POST":
        # The same key again gives the same response, so that a request whose response was lost can be sent again.
        headers["Idempotency-Key"] = arguments.get("idempotency_key") or secrets.token_urlsafe(18)
    revision = arguments.get("revision")
    if revision is not None:
        headers |= {"If-None-Match": "*"} if revision == 0 else {"If-Match": f'"{revision}"'}
    return headers


def _segment(operation: Operation, parameter: Parameter, value: Any) -> str:
    key, text = parameter.key, _text(write_value(parameter.hint, value))
    check_text(text, key)
    if not text or ("/" in text and f"{{{key}:path}}" not in operation.path):
        raise NotFoundError(f"there is no {operation.tag.removesuffix('s')} {text[:200]!r};")
    # Dots alone would lead elsewhere.
    return quote(text, safe="") if text.strip(".") else text.replace(".", "%2E")


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

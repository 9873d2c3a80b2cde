"""Methods of the HTTP client, derived from the declarations of operations."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote

from tickbird.client.base import ClientBase, Settings, Validate
from tickbird.client.http.transport import HttpRequest, Transport
from tickbird.client.runs import Runs
from tickbird.domain.access.tokens import covers
from tickbird.domain.errors import InvalidError, NotFoundError
from tickbird.domain.events.positions import EventPosition, as_position
from tickbird.domain.runs.new_run import not_finished
from tickbird.domain.runs.run import FINAL, RunRecord
from tickbird.domain.schedules.task_settings import FromTask
from tickbird.domain.text import check_name, check_text
from tickbird.domain.time.durations import Duration, seconds
from tickbird.domain.time.instants import to_micros
from tickbird.wire.codec import Document, decode
from tickbird.wire.operations import Operation, Parameter, operations_of
from tickbird.wire.page_tokens import write_key
from tickbird.wire.parameters import write_value

K = TypeVar("K", bound=ClientBase)
# The maximum number of items in one response.
MAX_PAGE = 1_000
# Seconds that a server waits for a run in one request.
_MAX_WAIT = 60
GET_RUN = operations_of(Runs)["get"]


# The HTTP class of each noun.
_CLASSES: dict[type, type] = {}


class HttpBase:
    """The server and the namespace of a client. A subclass gets the operations of its noun that it does not define."""

    # None: the only namespace of the token.
    _namespace: Any

    def __init_subclass__(cls) -> None:
        noun = cls.__bases__[1]
        _CLASSES[noun] = cls
        for name, operation in operations_of(noun).items():
            setattr(cls, name, operation.checked(vars(cls).get(name) or _method(operation)))

    def __init__(
        self,
        transport: Transport,
        namespace: str | None = None,
        validators: Mapping[str, Validate] | None = None,
        settings: Mapping[str, Settings] | None = None,
    ) -> None:
        self._transport = transport
        self._namespace = None if namespace is None else check_name(namespace, "namespace")
        # Of the tasks that this process has; the server finds those of workers.
        self._validators = validators or {}
        self._settings = settings or {}

    def _noun(self, kind: type[K]) -> K:
        http: Any = _CLASSES.get(kind) or type(f"Http{kind.__name__}", (HttpBase, kind), {})
        noun: K = http(self._transport, self._namespace, self._validators, self._settings)
        return noun

    def _namespace_query(self) -> dict[str, str]:
        return {} if self._namespace is None else {"namespace": self._namespace}

    async def send(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        wait = arguments.get("wait")
        if operation.page is not None:
            return await self._list(operation, arguments)
        value = await self._request(operation, arguments, lambda document: read_result(operation, document))
        return value if wait is None else await self.wait_for_run(value.id, timeout=wait)

    async def wait_for_run(self, run_id: int, *, timeout: Duration | None = None) -> RunRecord:
        """Wait until a run is final, at most a minute per request; NotFinishedError after `timeout`."""
        longest = None if timeout is None else float(seconds(timeout, "timeout"))
        started, wait = time.monotonic(), 0
        while True:
            # The first request does not wait, because most runs are final by then.
            query = {"wait": str(wait)} if wait else {}
            run: RunRecord = await self._request(
                GET_RUN, {"run_id": run_id}, lambda document: read_result(GET_RUN, document), query, timeout=wait
            )
            if run.status in FINAL:
                return run
            left = _MAX_WAIT if longest is None else started + longest - time.monotonic()
            if left <= 0:
                raise not_finished(run, longest or 0)
            wait = max(1, min(_MAX_WAIT, int(left)))

    async def _list(self, operation: Operation, arguments: Mapping[str, Any]) -> list[Any]:
        """Read the items after a key, in as many requests as needed."""
        limit = arguments.get("limit")
        key = arguments.get(operation.cursor) if operation.cursor else None
        if isinstance(key, datetime):
            key = to_micros(key)
        if operation.cursor and "EventPosition" in str(operation.hints[operation.cursor]):
            key = as_position(0 if key is None else key, str(operation.cursor))
        after = write_key(key) if key not in (None, "", 0, EventPosition(0)) else None
        # A server returns all that the token may see, which may be more than `within`.
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
        *,
        timeout: float = 0.0,
    ) -> Any:
        path, params = operation.path.replace(":path", ""), {**self._namespace_query(), **(query or {})}
        body: dict[str, Any] = {}
        for parameter in operation.parameters:
            value = arguments[parameter.name]
            if parameter.place == "path":
                path = path.replace(f"{{{parameter.key}}}", _segment(operation, parameter, value))
            elif isinstance(value, FromTask) or (value is None and not parameter.required):
                continue
            elif parameter.place == "body":
                group, _, key = parameter.key.rpartition(".")
                members = body.setdefault(group, {}) if group else body
                members[key] = write_value(parameter.hint, value)
            elif value != parameter.default:
                params[parameter.key] = _text(write_value(parameter.hint, value))
        if none := [name for name in operation.settings if arguments[name] is None]:
            body["none"] = none
        keyed = operation.method == "POST" and (operation.stored or operation.has("idempotency_key"))
        request = HttpRequest(
            operation.method,
            path,
            params,
            body if operation.method in ("POST", "PUT", "PATCH") else None,
            _headers(operation, arguments),
            timeout=operation.timeout + timeout,
            repeatable=operation.method == "GET" or keyed,
        )
        return self._transport.decode(read, await self._transport.request(request))


def read_result(operation: Operation, document: Any) -> Any:
    if operation.is_list:
        return [decode(operation.result, item) for item in document["items"]]
    if operation.result is type(None):
        return None
    value = document if operation.envelope is None else document[operation.envelope]
    result = None if value is None else decode(operation.result, value)
    return result if operation.response is None else operation.response.pick(result)


def _method(operation: Operation) -> Any:
    async def call(self: HttpBase, *args: Any, **kwargs: Any) -> Any:
        bound = operation.signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        return await self.send(operation, bound.arguments)

    call.__name__, call.__qualname__ = operation.name, operation.name
    call.__doc__ = operation.description
    call.__signature__ = operation.signature  # type: ignore[attr-defined]
    return call


def _headers(operation: Operation, arguments: Mapping[str, Any]) -> dict[str, str]:
    headers = {}
    if operation.method == "POST":
        # With the same key, the request can be sent again after a lost response.
        headers["Idempotency-Key"] = _header_text(arguments.get("idempotency_key") or secrets.token_urlsafe(18))
    revision = arguments.get("revision")
    if revision is not None:
        headers |= {"If-None-Match": "*"} if revision == 0 else {"If-Match": f'"{revision}"'}
    return headers


def _header_text(key: str) -> str:
    if not (isinstance(key, str) and key.isascii() and key.isprintable()):
        raise InvalidError(
            f"idempotency_key: {str(key)[:60]!r} cannot be sent in a header.",
            field="idempotency_key",
            hint="Use printable ASCII characters.",
        )
    return key


def _segment(operation: Operation, parameter: Parameter, value: Any) -> str:
    key, text = parameter.key, _text(write_value(parameter.hint, value))
    check_text(text, key)
    if not text or ("/" in text and f"{{{key}:path}}" not in operation.path):
        raise NotFoundError(f"there is no {key} {text[:200]!r}.", hint="Check the name.")
    # `.` and `..` would be another path.
    return quote(text, safe="") if text.strip(".") else text.replace(".", "%2E")


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

"""Operations: a method of the client with its HTTP form next to it.

From one declaration follow the REST route (`api/operation_routes.py`), its OpenAPI description (`api/openapi.py`), the
method of the HTTP client (`client/http/operations.py`) and the reference in the docs. Special parameters:

- `actor`, `within`: who calls and which namespaces they may see; the server fills them in.
- `revision`: the header If-Match; 0 is If-None-Match.
- `idempotency_key`: the header Idempotency-Key.
- `after` or `before`, and `limit`, of an operation with `page`: the page of a list.
- `wait`: seconds to wait until the created run is final; the response has the run as it is by then.
- `granted`: the role of the caller, for targets that only some roles may define; the server fills it in.
- a parameter whose default is `FROM_TASK`: None is sent as its name in `none`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, wraps
from typing import Annotated, Any, Final, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from tickbird.domain.access.tokens import Role
from tickbird.domain.schedules.task_settings import FromTask
from tickbird.wire.arguments import Check, argument_check
from tickbird.wire.parameters import Meta

F = TypeVar("F", bound=Callable[..., Any])
Scope = Literal["namespace", "store", "caller"]
Location = Literal["path", "query", "header", "body"]
# Computes an additional key of the response from the client, the value and the arguments.
Extra = Callable[[Any, Any, Mapping[str, Any]], Awaitable[Any]]

SPECIAL: Final = frozenset(
    {"self", "actor", "within", "revision", "idempotency_key", "wait", "granted", "request", "access"}
)
# The limits of special parameters, which are the same for all operations.
_LIMITS: Final = {
    "actor": Meta(min_length=1, max_length=200),
    "revision": Meta(ge=1, le=999_999_999),
    "idempotency_key": Meta(min_length=1, max_length=200),
}
# The limits of the key of the last item before a page, by its type.
_CURSOR_LIMITS: Final = {str: Meta(max_length=300), int: Meta(ge=0, le=2**63 - 1), int | None: Meta(ge=1, le=2**63 - 1)}
_PATH_KEY: Final = re.compile(r"\{([a-z_]+)(?::path)?\}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a request: its name in Python, and its key and location in the request."""

    name: str
    key: str
    place: Location
    hint: Any
    default: Any

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class ResponseValue:
    """A response with more than the result of the method: `load` reads it by the result, `pick` is the inverse."""

    hint: Any
    load: Callable[[Any, Any], Awaitable[Any]]
    pick: Callable[[Any], Any]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One verb; the fields with defaults are the options of a declaration."""

    id: str
    method: str
    path: str
    summary: str
    role: Role
    scope: Scope
    function: Callable[..., Any]
    # The status of a success.
    status: int = 200
    # The action in the audit log; only of operations that change something.
    audit: str | None = None
    # The key of the value in the response, and other keys of the response, such as warnings.
    envelope: str | None = None
    extras: Mapping[str, Extra] = field(default_factory=dict)
    # The key of an item by which a list is paged.
    page: Callable[[Any], str | int] | None = None
    # Names in the request that differ from those in Python; `filter.tag` is `tag` in an object `filter`.
    keys: Mapping[str, str] = field(default_factory=dict)
    # The revision of the value, and whether it was created by this call (201).
    etag: Callable[[Any], int] | None = None
    created: Callable[[Any], bool] | None = None
    # Seconds beyond the usual timeout.
    timeout: int = 0
    # False: the response to an Idempotency-Key is not stored, because it has a secret or the run stores the key.
    stored: bool = True
    # The argument with the id of a token or session that the server removes from its cache.
    revokes: str | None = None
    # False: the method shares the route of another one.
    routed: bool = True
    # Parameters that are not sent.
    local: tuple[str, ...] = ()
    # The content of the response, if it differs from the result of the method.
    response: ResponseValue | None = None
    # Can the response wait until the run is final?
    waits: bool = False
    # Defaults of the API that differ from the method's, and parameters that have none in the API.
    defaults: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    # The server executes one such request at a time.
    exclusive: bool = False
    # Names in annotations that are imported only when they are used.
    types: Callable[[], Mapping[str, Any]] | None = None
    # Descriptions of statuses.
    responses: Mapping[int, str] = field(default_factory=dict)
    # Of routes that write their own responses: parameters that are headers, and the schema of each media type.
    headers: tuple[str, ...] = ()
    content: Mapping[str, Mapping[str, Any]] | None = None

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def description(self) -> str:
        return inspect.getdoc(self.function) or ""

    @cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    @cached_property
    def hints(self) -> Mapping[str, Any]:
        names = None if self.types is None else dict(self.types())
        return get_type_hints(self.function, localns=names, include_extras=True)

    @cached_property
    def result(self) -> Any:
        """The type of the result; for a list, the type of its items."""
        hint = self.hints["return"] if self.response is None else self.response.hint
        return get_args(hint)[0] if self.is_list else hint

    @cached_property
    def is_list(self) -> bool:
        origin = get_origin(self.hints["return"])
        return self.envelope is None and isinstance(origin, type) and origin.__name__ in ("Sequence", "list")

    @cached_property
    def cursor(self) -> str | None:
        """The parameter with the key of the last item before the page; None: the method returns all items."""
        return next((name for name in ("after", "before") if name in self.signature.parameters), None)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        in_path = set(_PATH_KEY.findall(self.path))
        other: Location = "query" if self.method in ("GET", "DELETE") else "body"
        sent = []
        for name, parameter in self.signature.parameters.items():
            if name in SPECIAL or name in self.local or (self.page is not None and name in (self.cursor, "limit")):
                continue
            key = self.keys.get(name, name)
            place: Location = "path" if key in in_path else other
            if name in self.headers:
                key, place = name.replace("_", "-"), "header"
            default = self.defaults.get(name, parameter.default)
            default = inspect.Parameter.empty if name in self.required else default
            sent.append(Parameter(name, key, place, self.hints[name], default))
        return tuple(sent)

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """Parameters that default to the setting of the task, so that None must be sent explicitly."""
        return tuple(parameter.name for parameter in self.parameters if isinstance(parameter.default, FromTask))

    def has(self, name: str) -> bool:
        return name in self.signature.parameters

    @cached_property
    def _checks(self) -> Mapping[str, Check]:
        hints = {name: hint for name, hint in self.hints.items() if name not in ("return", "request", "access")}
        limits = {name: limit for name, limit in _LIMITS.items() if name in hints}
        if self.created is not None:
            # Revision 0: only if there is none.
            limits["revision"] = replace(_LIMITS["revision"], ge=0)
        if self.page is not None and self.cursor is not None and hints[self.cursor] in _CURSOR_LIMITS:
            limits[self.cursor] = _CURSOR_LIMITS[hints[self.cursor]]
        if self.page is not None and "limit" in hints:
            limits["limit"] = Meta(ge=1, le=10_000)
        hints |= {name: Annotated[hints[name], limit] for name, limit in limits.items()}
        return {name: check for name, hint in hints.items() if (check := argument_check(hint)) is not None}

    @cached_property
    def _positional(self) -> tuple[str, ...]:
        return tuple(self.signature.parameters)[1:]

    def check_arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Raise InvalidError for an argument of a wrong type or outside of its limits."""
        checks = self._checks
        for name, value in zip(self._positional, args, strict=False):
            if (check := checks.get(name)) is not None:
                check(value, name)
        for name, value in kwargs.items():
            if (check := checks.get(name)) is not None:
                check(value, name)

    def checked(self, function: F) -> F:

        @wraps(function)
        async def call(client: Any, *args: Any, **kwargs: Any) -> Any:
            self.check_arguments(args, kwargs)
            return await function(client, *args, **kwargs)

        call.operation = self  # type: ignore[attr-defined]
        return cast(F, call)


class RoleOperations:
    """Declares operations for a role: `@editor.put("set_limit", "/limits/{key:path}", "Set a limit")`."""

    def __init__(self, role: Role, scope: Scope = "namespace") -> None:
        self._role = role
        self._scope = scope
        self.get = partial(self._declare, "GET")
        self.post = partial(self._declare, "POST")
        self.put = partial(self._declare, "PUT")
        self.patch = partial(self._declare, "PATCH")
        self.delete = partial(self._declare, "DELETE")

    def _declare(self, method: str, operation_id: str, path: str, summary: str, **options: Any) -> Callable[[F], F]:
        declare = partial(
            Operation,
            id=operation_id,
            method=method,
            path=path,
            summary=summary,
            role=self._role,
            scope=self._scope,
            **options,
        )
        return lambda function: declare(function=function).checked(function)


viewer, operator, editor, admin = (RoleOperations(role) for role in ("viewer", "operator", "editor", "admin"))
# Operations on the whole store, and on the tokens and sessions that a caller may see in any namespace.
store_admin = RoleOperations("admin", "store")
token_admin = RoleOperations("admin", "caller")


def operations_of(noun: type) -> dict[str, Operation]:
    public = ((name, getattr(getattr(noun, name), "operation", None)) for name in dir(noun) if not name.startswith("_"))
    return {name: declared for name, declared in public if isinstance(declared, Operation)}

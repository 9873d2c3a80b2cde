"""SQL: a function in the store's database, or a statement that the app's code registers on a named connection."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any, ClassVar, Final, NoReturn, Self

from tickbird.domain.errors import DefinitionError
from tickbird.domain.targets.spec import DefiningRole, FormField, Schema, TargetSpec
from tickbird.domain.text import check_name

# The name of every function: any worker with a connection to the store can execute it.
STORE: Final = "store"
# As in PostgreSQL, a quoted name keeps its case.
_IDENTIFIER: Final = r'([A-Za-z_][A-Za-z0-9_]{0,62}|"([^"\x00-\x1f]|""){1,63}")'
_FUNCTION: Final = re.compile(rf"({_IDENTIFIER}\.)?{_IDENTIFIER}", re.ASCII)
_ROLE: Final = re.compile(r"[^\x00-\x1f]{1,55}")
_NAME: Final = "[A-Za-z0-9_-]{1,100}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlSpec(TargetSpec):
    """A function with an optional role, or a statement with its connection."""

    kind: ClassVar[str] = "sql"
    about: ClassVar[str] = "A SQL function in the store's database, or a registered statement; for admins."
    executor: ClassVar[str] = "tickbird.targets.sql:registered"
    # The definition decides which function is executed, and as which role.
    role: ClassVar[DefiningRole] = "admin"
    form_title: ClassVar[str] = "a SQL function"
    form: ClassVar[tuple[FormField, ...]] = (
        FormField(
            "",
            "SQL as JSON",
            'Such as {"function": "public.cleanup"}, or {"statement": "vacuum_orders", "connection": "warehouse"}.',
            kind="json",
        ),
    )
    expects: ClassVar[str] = 'a name such as "public.daily_cleanup", or an object'

    function: str | None = None
    # The database role that executes the function, `role` in JSON; None: the owner of the store.
    run_as: str | None = None
    statement: str | None = None
    connection: str | None = None

    def __post_init__(self) -> None:
        if (self.function is None) == (self.statement is None):
            _refuse("function", "must be set, or statement with its connection, and not both")
        if self.function is not None:
            if not isinstance(self.function, str) or not _FUNCTION.fullmatch(self.function):
                _refuse(
                    "function",
                    f"{str(self.function)[:60]!r} is not the name of a function",
                    hint="Write schema.name, without arguments.",
                )
            if self.run_as is not None and (not isinstance(self.run_as, str) or not _ROLE.fullmatch(self.run_as)):
                _refuse("role", f"{str(self.run_as)[:60]!r} is not the name of a role")
            if self.connection is not None:
                _refuse("connection", "is only for statements; a function is in the store's database")
            return
        if self.run_as is not None:
            _refuse("role", "is only for functions; a connection has its own role")
        for field in ("statement", "connection"):
            value = getattr(self, field)
            if not isinstance(value, str) or not re.fullmatch(_NAME, value):
                _refuse(field, f"{str(value)[:60]!r} is not the name of a registered {field}")

    @property
    def name(self) -> str:
        return STORE if self.statement is None else f"{self.connection}.{self.statement}"

    @property
    def line(self) -> str:
        if self.statement is not None:
            return f"{self.statement} on {self.connection}"
        return f"{self.function}()" + (f" as {self.run_as}" if self.run_as else "")

    @property
    def details(self) -> Mapping[str, Any]:
        return {}

    def to_json(self) -> dict[str, str]:
        return {name: value for name, field in FIELDS.items() if (value := getattr(self, field)) is not None}

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Read an object, or the name of a function."""
        if isinstance(value, str):
            value = {"function": value}
        if not isinstance(value, Mapping):
            _refuse("function", "is missing", hint='Write {"sql": {"function": "public.daily_cleanup"}}.')
        for name in value:
            if name not in FIELDS:
                _refuse(str(name)[:60], "is not a field of a SQL target", hint=f"Fields: {', '.join(FIELDS)}.")
        return cls(**{FIELDS[name]: part for name, part in value.items()})

    @classmethod
    def json_schema(cls) -> Schema:
        return {
            "type": "object",
            "description": "A function in the store's database, or a registered statement.",
            "properties": {
                "function": {"type": "string", "pattern": f"^({_IDENTIFIER}\\.)?{_IDENTIFIER}$"},
                "role": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 55,
                    "description": "Default: the store's owner.",
                },
                "statement": {"type": "string", "pattern": f"^{_NAME}$"},
                "connection": {"type": "string", "pattern": f"^{_NAME}$"},
            },
            "oneOf": [{"required": ["function"]}, {"required": ["statement", "connection"]}],
            "additionalProperties": False,
        }

    @classmethod
    def file_schema(cls) -> Schema:
        """Also allow the name of a function."""
        properties = {name: {"type": "string"} for name in FIELDS}
        return {
            "anyOf": [
                {"type": "string"},
                {"type": "object", "additionalProperties": False, "properties": properties},
            ]
        }

    @classmethod
    def describe(cls, name: str) -> str:
        return "SQL functions" if name == STORE else f"SQL statement {name!r}"

    @classmethod
    def worker_command(cls, queue: str, name: str) -> str:
        if name == STORE:
            return f"tickbird worker --queues {quote(queue)}   # on PostgreSQL"
        return f"tickbird worker MODULE:APP --queues {quote(queue)}   # the app that registers statement {name!r}"


# The keys in JSON, and the attributes: `role` is the role of tokens for every kind.
FIELDS: Final = {"function": "function", "role": "run_as", "statement": "statement", "connection": "connection"}


def check_part(name: str, field: str) -> str:
    """Check the name of a connection or statement; raises DefinitionError."""
    check_name(name, field)
    if not re.fullmatch(_NAME, name):
        _refuse(field, f"{name[:60]!r} must have letters, digits, - and _ only")
    return name


def sql(
    function: str | None = None,
    /,
    *,
    role: str | None = None,
    statement: str | None = None,
    connection: str | None = None,
) -> SqlSpec:
    """Create a SQL target: a function in the store's database, or `statement=` with its `connection=`."""
    return SqlSpec(function=function, run_as=role, statement=statement, connection=connection)


def _refuse(field: str, reason: str, *, hint: str = "") -> NoReturn:
    raise DefinitionError(f"sql: {field}: {reason}.", field="sql", hint=hint)

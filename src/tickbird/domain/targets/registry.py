"""Registry of target kinds: built-in ones and those of plug-ins.

A package registers kinds in the entry point group `tickbird.targets`: the name is the kind, the value its TargetSpec.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, reduce
from operator import getitem
from shlex import quote
from typing import Any, Final, TypeVar, cast, get_args

from tickbird.domain.errors import DefinitionError, InvalidError
from tickbird.domain.plug_ins import PLUG_IN_ERRORS, InvalidPlugInError, error_text, load_plug_ins
from tickbird.domain.targets.command import CommandSpec
from tickbird.domain.targets.event import EventSpec
from tickbird.domain.targets.spec import MAX_NAME_LENGTH, DefiningRole, FormField, Schema, TargetSpec, WrittenPart
from tickbird.domain.targets.sql import SqlSpec
from tickbird.domain.targets.target import TASK, Target
from tickbird.domain.targets.task import TaskSpec
from tickbird.domain.text import clean_text, type_name

T = TypeVar("T")

log = logging.getLogger("tickbird.targets")

GROUP: Final = "tickbird.targets"
INSTALL: Final = "Install its package on the machines of the workers and the server."
# One line per built-in kind.
BUILT_IN: Final[tuple[type[TargetSpec], ...]] = (
    TaskSpec,
    CommandSpec,
    SqlSpec,
    EventSpec,
)
_KIND = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
_FORMATS_PER_KIND: Final = 256
_MAX_KIND_NUMBER: Final = 2**21
_EXECUTOR = re.compile(r"[\w.]+:\w+")
_reserved: set[str] = set()
# Methods of kinds whose failure is logged already.
_failed: set[tuple[str, str]] = set()


def reserve_names(names: Iterable[str]) -> None:
    """Refuse these names as kinds, because a definition or a file has them for something else."""
    _reserved.update(names)
    target_kinds.cache_clear()


@cache
def target_kinds() -> Mapping[str, type[TargetSpec]]:
    """Return all kinds of this process by name; plug-ins are loaded once."""
    return {**_built_in(), **_plug_ins()}


def find_kind(kind: str) -> type[TargetSpec] | None:
    """Return the kind of this name; None if this process does not know it."""
    # Loading plug-ins takes time, and most processes need none.
    return _built_in().get(kind) or target_kinds().get(kind)


@cache
def _built_in() -> Mapping[str, type[TargetSpec]]:
    return {spec.kind: spec for spec in BUILT_IN}


def _plug_ins() -> dict[str, type[TargetSpec]]:
    return load_plug_ins(GROUP, "target kind", _check_kind, log)


def _check_kind(name: str, spec: Any) -> type[TargetSpec]:
    """Return the kind; raise InvalidPlugInError unless all its declarations are valid."""
    if not isinstance(spec, type) or not issubclass(spec, TargetSpec):
        raise InvalidPlugInError("it is not a subclass of tickbird.targets.TargetSpec")
    if name in _built_in():
        raise InvalidPlugInError("a built-in kind has this name")
    if missing := sorted(getattr(spec, "__abstractmethods__", ())):
        raise InvalidPlugInError(f"it does not implement {', '.join(missing)}")
    if getattr(spec, "kind", None) != name or not _KIND.fullmatch(name):
        raise InvalidPlugInError(
            "its kind must equal the name of the entry point and have only lower-case letters, digits and _"
        )
    if name in _reserved:
        raise InvalidPlugInError(f"{name!r} is a field of a schedule; give the kind another name")
    for attribute in ("about", "executor", "form_title", "expects"):
        if not isinstance(getattr(spec, attribute, None), str):
            raise InvalidPlugInError(f"its {attribute} must be a text")
    if not _EXECUTOR.fullmatch(spec.executor):
        raise InvalidPlugInError("its executor must be module:function")
    if spec.role not in get_args(DefiningRole):
        raise InvalidPlugInError(f"its role must be {' or '.join(get_args(DefiningRole))}")
    if spec.format is not None:
        raise InvalidPlugInError("its format must be None, because only built-in kinds have a fixed one")
    if not hasattr(spec, "name") and "name" not in getattr(spec, "__dataclass_fields__", ()):
        raise InvalidPlugInError("it does not have a name")
    _check_form(spec.form)
    for schema in (kind_schema, kind_file_schema):
        schema(spec)
    return spec


def _check_form(form: object) -> None:
    if not isinstance(form, tuple) or not all(isinstance(field, FormField) for field in form):
        raise InvalidPlugInError("its form must be a tuple of FormField values")
    for field in form:
        if not all(isinstance(text, str) for text in (field.name, field.label, field.hint)):
            raise InvalidPlugInError("name, label and hint of a FormField must be texts")
        if field.kind not in ("text", "json"):
            raise InvalidPlugInError("the kind of a FormField must be text or json")
    if len({field.name for field in form}) < len(form):
        raise InvalidPlugInError("the fields of its form must have different names")


@cache
def kind_schema(spec: type[TargetSpec]) -> Schema:
    """Return the JSON Schema of a kind's stored JSON. The result is shared, so do not change it."""
    return _checked_schema(spec, "json_schema")


@cache
def kind_file_schema(spec: type[TargetSpec]) -> Schema:
    """Return the JSON Schema of a kind's value in files. The result is shared, so do not change it."""
    return _checked_schema(spec, "file_schema")


def _checked_schema(spec: type[TargetSpec], method: str) -> Schema:
    try:
        schema = getattr(spec, method)()
    except PLUG_IN_ERRORS as error:
        raise InvalidPlugInError(f"{method}() raised {error_text(error)}") from error
    if spec in BUILT_IN:
        return cast("Schema", schema)
    # jsonschema takes time to import, and most processes have no plug-ins.
    from jsonschema import Draft202012Validator, SchemaError

    try:
        schema = json.loads(json.dumps(schema, allow_nan=False))
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise InvalidPlugInError(f"{method}() is not a JSON Schema ({error.message[:200]})") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidPlugInError(f"{method}() is not JSON ({error_text(error)})") from error
    if not isinstance(schema, dict):
        raise InvalidPlugInError(f"{method}() must return a dict")
    return schema


def read_target(value: Any) -> Target:
    """Read a target from JSON: an object with a kind and its spec."""
    if not isinstance(value, Mapping) or len(value) != 1:
        raise DefinitionError(
            'target must be an object with a kind and its value, such as {"task": "digest"}.', field="target"
        )
    [(kind, spec)] = value.items()
    return read_spec(str(kind), spec)


def read_spec(kind: str, value: Any) -> Target:
    """Build a target from its kind and its JSON or TargetSpec."""
    spec_type = find_kind(kind)
    if spec_type is None:
        reason = f"kind {kind[:40]!r} is not available here"
        raise DefinitionError(f"target: {reason}.", field="target", reason=reason, hint=INSTALL)
    try:
        spec = value if isinstance(value, spec_type) else spec_type.from_json(value)
        if not isinstance(spec, spec_type):
            raise TypeError(f"from_json returned {type_name(spec)}")
        name = spec.name
    except InvalidError:
        raise
    except PLUG_IN_ERRORS as error:
        reason = error_text(error)
        raise DefinitionError(
            f"{kind} cannot be read ({reason}).",
            field=kind,
            reason=reason,
            hint="Correct the value, or the package of this target kind.",
        ) from error
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME_LENGTH:
        raise DefinitionError(f"{kind}: its name must be a text of 1 to {MAX_NAME_LENGTH:,} characters.", field=kind)
    return Target(name, kind, None if kind == TASK else spec)


def as_target(value: str | TargetSpec | Target) -> Target:
    """Build a target from the name of a task or a spec."""
    if isinstance(value, Target):
        return value
    return read_spec(value.kind, value) if isinstance(value, TargetSpec) else Target(value)


def write_target(target: Target) -> dict[str, Any]:
    """Return the target as JSON; raise DefinitionError if its kind returns something else."""
    if target.spec is None:
        return {target.kind: target.name}
    try:
        encoded = target.spec.to_json()
        if type(target.spec) not in BUILT_IN:
            encoded = _as_json(encoded)
    except PLUG_IN_ERRORS as error:
        reason = error_text(error)
        raise DefinitionError(
            f"{target.kind} cannot be stored ({reason}).",
            field=target.kind,
            reason=reason,
            hint="Correct the package of this target kind.",
        ) from error
    return {target.kind: encoded}


def written_parts(spec: type[TargetSpec], value: Any) -> Iterable[WrittenPart]:
    """Return the parts of a value in a file that are validated separately; empty if the kind fails."""

    def read() -> list[WrittenPart]:
        parts = [(tuple(path), part) for path, part in spec.written_parts(value)]
        for path, _ in parts:
            # Raises an error for a path that the value does not have.
            path[0], reduce(getitem, path, value)
        return parts

    return _contained(spec.kind, "written_parts", read, [])


def runs_in_store(target: Target) -> bool:
    """Return whether workers that plan carry the target out in the store, so that none has to register it."""
    spec = find_kind(target.kind)
    return spec is not None and spec.runs_in_store


def describe_target(target: Target) -> str:
    """Describe a target, even if this process does not know its kind."""
    default = f"{target.kind} {target.name!r}"
    spec = find_kind(target.kind)
    return default if spec is None else _text(target.kind, "describe", lambda: spec.describe(target.name), default)


def target_requirement(target: Target) -> str:
    """Complete the sentence "no live worker …"."""
    default = f"executes {describe_target(target)}"
    spec = find_kind(target.kind)
    return (
        default if spec is None else _text(target.kind, "requirement", lambda: spec.requirement(target.name), default)
    )


def target_worker_command(queue: str, target: Target) -> str:
    """Return the command line of a worker that would claim runs of this queue and target."""
    command = f"tickbird worker MODULE:APP --queues {quote(queue)}"
    spec = find_kind(target.kind)
    if spec is None:
        return f"{command}   # with the package of target kind {target.kind!r}"
    default = f"{command}   # on a machine that can execute {describe_target(target)}"
    return _text(target.kind, "worker_command", lambda: spec.worker_command(queue, target.name), default)


def target_line(target: Target) -> str:
    """Return one line that describes the target; its name if it has no spec."""
    spec = target.spec
    return target.name if spec is None else _text(target.kind, "line", lambda: spec.line, target.name)


def target_details(target: Target) -> Mapping[str, Any]:
    """Return the fields that `target_line` does not show, as JSON values."""
    spec = target.spec
    return {} if spec is None else _contained(target.kind, "details", lambda: dict(_as_json(dict(spec.details))), {})


def _text(kind: str, method: str, call: Callable[[], object], default: str) -> str:
    def read() -> str:
        text = call()
        if not isinstance(text, str):
            raise TypeError(f"it returned {type_name(text)}")
        return clean_text(text)

    return _contained(kind, method, read, default)


def _contained(kind: str, method: str, call: Callable[[], T], default: T) -> T:
    """Return the result of a kind's method, or the default if it fails: lists must still show the other schedules."""
    try:
        return call()
    except PLUG_IN_ERRORS as error:
        if (kind, method) not in _failed:
            _failed.add((kind, method))
            log.warning("target kind %s: %s failed, and a default is used: %s", kind, method, error_text(error))
        return default


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


def first_kind_format(kind: str) -> int:
    """Return the first format of a kind: the declared one, or a hash of its name with at most nine digits."""
    spec_type = find_kind(kind)
    if spec_type is not None and spec_type.format is not None:
        return spec_type.format
    digest = hashlib.blake2b(kind.encode(), digest_size=8).digest()
    return (1 + int.from_bytes(digest, "big") % (_MAX_KIND_NUMBER - 1)) * _FORMATS_PER_KIND

"""Registry of target kinds: built-in ones and those of plug-ins.

A package registers kinds in the entry point group `tickbird.targets`: the name is the kind, the value its TargetSpec.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from tickbird.domain.errors import DefinitionError, InvalidError
from tickbird.domain.targets.command import CommandSpec
from tickbird.domain.targets.spec import MAX_NAME_LENGTH, TargetSpec
from tickbird.domain.targets.target import Target, target_of
from tickbird.domain.targets.task import TaskSpec

log = logging.getLogger("tickbird.targets")

GROUP: Final = "tickbird.targets"
INSTALL: Final = "Install its package on the machines of the workers and the server."
# One line per built-in kind.
BUILT_IN: Final[tuple[type[TargetSpec], ...]] = (
    TaskSpec,
    CommandSpec,
)
_KIND = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
_FORMATS_PER_KIND: Final = 256
_MAX_KIND_NUMBER: Final = 2**21
_reserved: set[str] = set()


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
    kinds: dict[str, type[TargetSpec]] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        try:
            spec = _load(entry)
        except Exception as error:  # noqa: BLE001 - a broken plug-in must not stop anything else
            log.warning("target kind %s is not available: plug-in %s: %s", entry.name, entry.value, error)
            continue
        if entry.name in kinds or entry.name in _built_in():
            log.warning(
                "target kind %s: plug-in %s is ignored because the kind already exists", entry.name, entry.value
            )
        else:
            kinds[entry.name] = spec
    return kinds


def _load(entry: EntryPoint) -> type[TargetSpec]:
    spec = entry.load()
    if not isinstance(spec, type) or not issubclass(spec, TargetSpec):
        raise TypeError("it is not a subclass of tickbird.targets.TargetSpec")
    if missing := sorted(getattr(spec, "__abstractmethods__", ())):
        raise TypeError(f"it does not implement {', '.join(missing)}")
    if getattr(spec, "kind", None) != entry.name or not _KIND.fullmatch(entry.name):
        raise ValueError(
            "its kind must equal the name of the entry point and have only lower-case letters, digits and _"
        )
    if entry.name in _reserved:
        raise ValueError(f"{entry.name!r} is a field of a schedule; give the kind another name")
    return spec


def read_target(value: Any) -> Target:
    """Read a target from JSON: an object with a kind and its spec."""
    if not isinstance(value, Mapping) or len(value) != 1:
        raise DefinitionError(
            'target: must be an object with a kind and its value, such as {"task": "digest"}.', field="target"
        )
    [(kind, spec)] = value.items()
    return read_spec(str(kind), spec)


def read_spec(kind: str, value: Any) -> Target:
    """Build a target from its kind and its JSON or TargetSpec."""
    spec_type = find_kind(kind)
    if spec_type is None:
        reason = f"kind {kind[:40]!r} is not known here"
        raise DefinitionError(f"target: {reason}.", field="target", reason=reason, hint=INSTALL)
    try:
        spec = value if isinstance(value, spec_type) else spec_type.from_json(value)
    except InvalidError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {str(error)[:200]}"
        raise DefinitionError(f"{kind}: cannot be read ({reason}).", field=kind, reason=reason) from error
    if not isinstance(spec.name, str) or not 0 < len(spec.name) <= MAX_NAME_LENGTH:
        raise DefinitionError(f"{kind}: its name must be a text of 1 to {MAX_NAME_LENGTH:,} characters.", field=kind)
    return target_of(spec)


def as_target(value: str | TargetSpec | Target) -> Target:
    """Build a target from the name of a task or a spec."""
    if isinstance(value, Target):
        return value
    return read_spec(value.kind, value) if isinstance(value, TargetSpec) else Target(value)


def write_target(target: Target) -> dict[str, Any]:
    return {target.kind: target.name if target.spec is None else target.spec.to_json()}


def describe_target(target: Target) -> str:
    """Describe a target, even if this process does not know its kind."""
    spec_type = find_kind(target.kind)
    return f"{target.kind} {target.name!r}" if spec_type is None else spec_type.describe(target.name)


def first_kind_format(kind: str) -> int:
    """Return the first format of a kind: the declared one, or a hash of its name with at most nine digits."""
    spec_type = find_kind(kind)
    if spec_type is not None and spec_type.format is not None:
        return spec_type.format
    digest = hashlib.blake2b(kind.encode(), digest_size=8).digest()
    return (1 + int.from_bytes(digest, "big") % (_MAX_KIND_NUMBER - 1)) * _FORMATS_PER_KIND

"""The executables of a worker, for every target kind that this process knows."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from tickbird.domain.errors import TickbirdError
from tickbird.domain.plug_ins import PLUG_IN_ERRORS
from tickbird.domain.targets.registry import BUILT_IN, target_kinds
from tickbird.domain.targets.spec import TargetSpec
from tickbird.domain.targets.target import TargetKey
from tickbird.targets.protocol import Executable

log = logging.getLogger("tickbird.targets")

# Called with the worker's app.
Provider = Callable[[Any], Iterable[Executable]]


def find_executables(app: Any) -> dict[TargetKey, Executable]:
    """The executables of an app's workers, by kind and name."""
    return {key: executable for spec in target_kinds().values() for key, executable in _provided(spec, app).items()}


def _provided(spec: type[TargetSpec], app: Any) -> dict[TargetKey, Executable]:
    module, _, function = spec.executor.partition(":")
    try:
        provide: Provider = getattr(import_module(module), function)
        executables = [executable for executable in provide(app) if executable.kind == spec.kind]
        if spec not in BUILT_IN:
            for executable in executables:
                _check(executable)
        return {(spec.kind, executable.name): executable for executable in executables}
    except PLUG_IN_ERRORS as error:
        if spec in BUILT_IN and isinstance(error, TickbirdError):
            raise
        # Its runs stay queued and are flagged; runs of other kinds are executed.
        log.exception("targets of kind %s are not executed here: %s failed", spec.kind, spec.executor)
        return {}


def _check(executable: Executable) -> None:
    """Raise TypeError or ValueError unless a worker can publish the executable."""
    if not isinstance(executable.name, str):
        raise TypeError(f"the name of an executable must be a text, not {type(executable.name).__name__}")
    json.dumps(dict(executable.describe()), allow_nan=False)

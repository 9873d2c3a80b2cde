"""The executables of a worker, for every target kind that this process knows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from tickbird.domain.errors import TickbirdError
from tickbird.domain.targets.registry import target_kinds
from tickbird.domain.targets.spec import TargetSpec
from tickbird.domain.targets.target import TargetKey
from tickbird.targets.protocol import Executable

log = logging.getLogger("tickbird.targets")

# Called with the worker's app.
Provider = Callable[[Any], Iterable[Executable]]


def find_executables(app: Any) -> dict[TargetKey, Executable]:
    """The executables of an app's workers, by kind and name."""
    return {
        (executable.kind, executable.name): executable
        for spec in target_kinds().values()
        for executable in _provided(spec, app)
    }


def _provided(spec: type[TargetSpec], app: Any) -> list[Executable]:
    module, _, function = spec.executor.partition(":")
    try:
        provide: Provider = getattr(import_module(module), function)
        return [executable for executable in provide(app) if executable.kind == spec.kind]
    except TickbirdError:
        raise
    except Exception:
        # Its runs stay queued and are flagged; runs of other kinds are executed.
        log.exception("targets of kind %s are not executed here: %s failed", spec.kind, spec.executor)
        return []

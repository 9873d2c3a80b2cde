"""Plug-ins: objects that other packages register by entry points. A broken one affects only itself."""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, Final, TypeVar

from tickbird.domain.text import describe, type_name

T = TypeVar("T")
# Errors of plug-in code that do not end the process. A KeyboardInterrupt is Ctrl-C, so it still does.
PLUG_IN_ERRORS: Final = (Exception, SystemExit)


class InvalidPlugInError(Exception):
    """A loaded object that does not fulfil its contract."""


def load_plug_ins(group: str, noun: str, check: Callable[[str, Any], T], log: logging.Logger) -> dict[str, T]:
    """Load the entry points of a group by name; log a warning for each that fails or is a duplicate.

    `check` receives the name and the loaded object, and raises InvalidPlugInError.
    """
    loaded: dict[str, T] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value)):
        try:
            plug_in = check(entry.name, entry.load())
            if entry.name in loaded:
                raise InvalidPlugInError("another plug-in has this name")
        except PLUG_IN_ERRORS as error:
            reason = str(error) if isinstance(error, InvalidPlugInError) else error_text(error)
            log.warning("%s %s is not available: plug-in %s: %s", noun, entry.name, entry.value, reason)
        else:
            loaded[entry.name] = plug_in
    return loaded


def error_text(error: BaseException) -> str:
    """Return the class and the message of an error of a plug-in; never raises."""
    return f"{type_name(error)}: {describe(error)[:200]}".removesuffix(": ")

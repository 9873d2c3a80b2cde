"""Capabilities: nouns that a store may lack. A store has a capability if it sets the attribute."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from tickbird.domain.calendars.calendar import BUILT_IN
from tickbird.domain.errors import UnsupportedError

# By name, in the order of their declaration in `Store`.
CAPABILITIES: Final[dict[str, Capability]] = {}


class Capability:
    """Raises UnsupportedError if it is read from a store that has not set the attribute.

    `feature` completes the sentence "this store has no …". `loss` states the consequence for users. `fields` are the
    fields of definitions that need it.
    """

    name: str

    def __init__(self, feature: str, loss: str, fields: Collection[str] = ()) -> None:
        self.feature = feature
        self.loss = loss
        self.fields = fields

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        CAPABILITIES[name] = self

    def __get__(self, store: object, owner: type | None = None) -> Capability:
        if store is None:
            return self
        raise self.error()

    def error(self, field: str = "") -> UnsupportedError:
        """The error for the whole noun, or for one field of a definition."""
        return UnsupportedError(
            f"{field or self.name}: this store has no {self.feature}.",
            field=field or self.name,
            hint="Use another store; `tickbird doctor` lists the missing capabilities.",
        )


def capability(feature: str, loss: str, fields: Collection[str] = ()) -> Any:
    """Declare an attribute of `Store` that a driver may omit; its type is that of the attribute."""
    return Capability(feature, loss, fields)


def check_fields(capabilities: Collection[str], fields: Mapping[str, Any]) -> None:
    """Raise UnsupportedError for a field of a definition or a run that needs a missing capability."""
    for name, declared in CAPABILITIES.items():
        if name not in capabilities:
            for field in declared.fields:
                if _is_used(field, fields.get(field)):
                    raise declared.error(field)


def _is_used(field: str, value: Any) -> bool:
    if field == "on_crash":
        return bool(value == "ask")
    # Built-in calendars are in code, so they need no store.
    return any(name not in BUILT_IN for name in value or ()) if field == "calendars" else value is not None


def missing_capabilities(capabilities: Collection[str]) -> Mapping[str, str]:
    """The consequence for users, by the name of each missing capability."""
    return {name: declared.loss for name, declared in CAPABILITIES.items() if name not in capabilities}

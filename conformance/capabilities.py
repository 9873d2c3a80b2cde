"""Tests that need more than the core, or use more of it if the store has it."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import pytest

from tickbird.store.protocol.capabilities import CAPABILITIES
from tickbird.store.protocol.store import Store

Test = TypeVar("Test", bound=Callable[..., Awaitable[None]])


def needs(*names: str) -> Callable[[Test], Test]:
    """Skip a test if the store lacks one of these capabilities."""

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        async def checked(self: object, store: Store, **fixtures: Any) -> None:
            if missing := sorted(set(names) - store.capabilities):
                pytest.skip(f"the store has no {', '.join(missing)}")
            await test(self, store=store, **fixtures)

        return checked  # type: ignore[return-value]

    return decorate


def supported(store: Store, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a definition that the store supports."""
    missing = {field for name in CAPABILITIES.keys() - store.capabilities for field in CAPABILITIES[name].fields}
    # Of its values, only one needs a capability.
    return {name: value for name, value in fields.items() if name not in missing or value in ("retry", "fail")}

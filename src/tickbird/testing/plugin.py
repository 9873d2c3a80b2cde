"""Tickbird's pytest plugin."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tickbird.testing.harness import Harness


@pytest.fixture
def tickbird_harness() -> Callable[..., Harness]:
    """Creates a harness for an app: `async with tickbird_harness(bird) as harness: await harness.advance(weeks=3)`."""

    def create(bird: Any, *args: Any, **kwargs: Any) -> Harness:
        # Imported on use, because the plugin loads in every pytest run of an environment with Tickbird.
        from tickbird.testing.harness import Harness

        return Harness(bird, *args, **kwargs)

    return create

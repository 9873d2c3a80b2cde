"""The pytest plugin that comes with Tickbird."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tickbird.testing.harness import Harness


@pytest.fixture
def tickbird_harness() -> Callable[..., Harness]:
    """Makes a harness for an app: `async with tickbird_harness(bird) as harness: await harness.advance(weeks=3)`."""

    def make(bird: Any, *args: Any, **kwargs: Any) -> Harness:
        # Imported when used: the plugin loads in every pytest run of a machine that has Tickbird installed.
        from tickbird.testing.harness import Harness

        return Harness(bird, *args, **kwargs)

    return make

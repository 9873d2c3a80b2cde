"""Every store passes the whole conformance suite, and one without capabilities its core."""

from __future__ import annotations

from typing import ClassVar

from conformance import CoreConformance, StoreConformance


class TestConformance(StoreConformance):
    """Collected once per store, see `conftest.py`."""


class TestCore(CoreConformance):
    """A store that declares nothing."""

    drivers: ClassVar = ["core"]

"""Every store of ours passes the whole conformance suite."""

from __future__ import annotations

from conformance import StoreConformance


class TestConformance(StoreConformance):
    """Collected once per store, see `conftest.py`."""

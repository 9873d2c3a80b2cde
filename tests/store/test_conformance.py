"""Every store of ours passes the whole exercise."""

from __future__ import annotations

from conformance import Exercise


class TestConformance(Exercise):
    """Collected once per store, see `conftest.py`."""

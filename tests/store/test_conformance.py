"""Every store passes the whole conformance suite, and one without capabilities its core."""

from __future__ import annotations

from typing import ClassVar

from conformance import CoreConformance, SqlFunctions, StoreConformance


class TestConformance(StoreConformance):
    """Collected once per store, see `conftest.py`."""

    drivers: ClassVar = ["memory", "sqlite"]


class TestPostgres(StoreConformance, SqlFunctions):
    """PostgreSQL has functions too."""

    drivers: ClassVar = ["postgres"]


class TestPooledPostgres(StoreConformance, SqlFunctions):
    """PostgreSQL behind PgBouncer in transaction mode."""

    drivers: ClassVar = ["pgbouncer"]


class TestCore(CoreConformance):
    """A store that declares nothing."""

    drivers: ClassVar = ["core"]

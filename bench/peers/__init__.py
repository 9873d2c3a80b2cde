"""Other schedulers on PostgreSQL; importable only if they are installed."""

from __future__ import annotations

from importlib.util import find_spec

PGQUEUER = find_spec("pgqueuer") is not None and find_spec("asyncpg") is not None
PROCRASTINATE = find_spec("procrastinate") is not None

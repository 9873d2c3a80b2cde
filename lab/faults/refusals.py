"""A database that refuses writes for a while: triggers that raise while a row requests it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from contextlib import closing
from typing import Final

# The kinds of writes that are refused.
INSERTS, FINISHES = "refused inserts", "refused finishes"
_MESSAGE: Final = "fault lab: this write is refused"
_RETRY: Final = 0.2

_POSTGRES: Final = f"""
CREATE TABLE public.lab_refusals (kind text PRIMARY KEY);
CREATE FUNCTION public.lab_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM public.lab_refusals WHERE kind = TG_ARGV[0]) THEN
        RAISE EXCEPTION '{_MESSAGE}';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER lab_refuses_inserts BEFORE INSERT ON tickbird.runs
    FOR EACH ROW EXECUTE FUNCTION public.lab_refuse('{INSERTS}');
CREATE TRIGGER lab_refuses_finishes BEFORE UPDATE ON tickbird.runs
    FOR EACH ROW WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL)
    EXECUTE FUNCTION public.lab_refuse('{FINISHES}');
"""
_SQLITE: Final = f"""
CREATE TABLE lab_refusals (kind TEXT PRIMARY KEY);
CREATE TRIGGER lab_refuses_inserts BEFORE INSERT ON runs
    WHEN EXISTS (SELECT 1 FROM lab_refusals WHERE kind = '{INSERTS}')
    BEGIN SELECT raise(ABORT, '{_MESSAGE}'); END;
CREATE TRIGGER lab_refuses_finishes BEFORE UPDATE ON runs
    WHEN OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL
        AND EXISTS (SELECT 1 FROM lab_refusals WHERE kind = '{FINISHES}')
    BEGIN SELECT raise(ABORT, '{_MESSAGE}'); END;
"""


class Refusals:
    """The database triggers, which are created once, so that a refusal does not have to wait for a table lock."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._path = url.removeprefix("sqlite:///") if url.startswith("sqlite") else None
        self._active: Counter[str] = Counter()

    async def install(self) -> None:
        """Create the triggers in a migrated store."""
        await asyncio.to_thread(self._execute, _POSTGRES if self._path is None else _SQLITE)

    async def refuse(self, kind: str, seconds: float) -> None:
        """Refuse these writes for some time; refusals of the same kind may overlap."""
        self._active[kind] += 1
        await self._write(f"INSERT INTO lab_refusals VALUES ('{kind}') ON CONFLICT DO NOTHING")
        await asyncio.sleep(seconds)
        self._active[kind] -= 1
        if not self._active[kind]:
            await self._write(f"DELETE FROM lab_refusals WHERE kind = '{kind}'")

    async def _write(self, statement: str) -> None:
        """Retry until it succeeds, because another fault may block the connection."""
        while True:
            try:
                await asyncio.to_thread(self._execute, statement)
            except (OSError, sqlite3.OperationalError):
                await asyncio.sleep(_RETRY)
            else:
                return

    def _execute(self, script: str) -> None:
        if self._path is not None:
            with closing(sqlite3.connect(self._path, timeout=10.0)) as connection:
                connection.executescript(script)
            return
        import psycopg

        try:
            with psycopg.connect(self._url, autocommit=True) as connection:
                connection.execute(script.encode())
        except psycopg.OperationalError as error:
            raise OSError(str(error)) from error

"""Messages of the simple query protocol: several statements at once, none of them prepared, with values as literals.

Cursors would take several times as long; calls of SQL functions are many and short.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import psycopg
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.generators import execute
from psycopg.pq import Escaping, ExecStatus

_VALUE: Final = re.compile(rb"%\(([a-z_]+)\)s")
# Seconds between two checks for Ctrl-C, which no loop of a worker needs.
_INTERVAL: Final = 60.0


async def send(
    connection: psycopg.AsyncConnection[Any], statement: bytes, values: Mapping[str, int | str | None] | None = None
) -> tuple[Any, ...]:
    """Send statements as one message; returns the first row of the last one, or an empty tuple."""
    if connection.closed:
        raise psycopg.OperationalError("the connection is closed")
    connection.pgconn.send_query(statement if values is None else _compose(connection, statement, values))
    result = (await connection.wait(execute(connection.pgconn), _INTERVAL))[-1]
    if result.status == ExecStatus.FATAL_ERROR:
        raise error_from_result(result, connection.info.encoding)
    if not result.ntuples:
        return ()
    transformer = Transformer(connection)
    transformer.set_pgresult(result)
    return transformer.load_row(0, tuple) or ()


def _compose(
    connection: psycopg.AsyncConnection[Any], statement: bytes, values: Mapping[str, int | str | None]
) -> bytes:
    escape, encoding = Escaping(connection.pgconn).escape_literal, connection.info.encoding
    if encoding == "ascii":
        # SQL_ASCII stores any bytes.
        encoding = "utf-8"
    literals = {
        name: escape(value.encode(encoding)) if isinstance(value, str) else b"NULL" if value is None else b"%d" % value
        for name, value in values.items()
    }
    texts, names = _split(statement)
    return b"".join([text + literals[name] for text, name in zip(texts, names, strict=False)]) + texts[-1]


@lru_cache(maxsize=64)
def _split(statement: bytes) -> tuple[list[bytes], list[str]]:
    parts = _VALUE.split(statement)
    return parts[::2], [name.decode() for name in parts[1::2]]

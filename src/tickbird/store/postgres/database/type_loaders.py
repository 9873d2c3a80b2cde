"""Convert PostgreSQL values to Python. No stored value may raise, because that would hide all other rows."""

from __future__ import annotations

from datetime import datetime, timedelta
from struct import Struct
from typing import Any, Final

import psycopg
from psycopg.adapt import Buffer, Loader
from psycopg.pq import Format
from psycopg.types.datetime import TimestamptzLoader
from psycopg.types.json import set_json_loads

from tickbird.domain.time.instants import EARLIEST, LATEST
from tickbird.store.shared.json_columns import decode

# Timestamps are microseconds since this instant; the largest and the smallest number mean infinity.
_EPOCH: Final = datetime.fromisoformat("2000-01-01T00:00:00+00:00")
_unpack = Struct("!q").unpack


class _InstantBinaryLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> datetime:
        [micros] = _unpack(data)
        try:
            return _EPOCH + timedelta(microseconds=micros)
        except OverflowError:
            return LATEST if micros > 0 else EARLIEST


class _InstantLoader(TimestamptzLoader):
    def load(self, data: Buffer) -> datetime:
        try:
            return super().load(data)
        except psycopg.DataError:
            # "-infinity", and years before 1: "0044-03-15 00:00:00+00 BC".
            text = bytes(data)
            return EARLIEST if text.startswith(b"-") or text.endswith(b"BC") else LATEST


def register(connection: psycopg.AsyncConnection[Any]) -> None:
    """Read values that Python cannot represent as the nearest possible ones."""
    set_json_loads(decode, connection)
    connection.adapters.register_loader("timestamptz", _InstantBinaryLoader)
    connection.adapters.register_loader("timestamptz", _InstantLoader)

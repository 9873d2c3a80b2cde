"""JSON responses: values are encoded to bytes once, and large ones in a thread."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any, Final

import orjson
from starlette.responses import Response

# Bytes. More than this is written in a thread, so that other requests are served meanwhile.
_LARGE: Final = 200_000
# Bytes of a page. Without a limit, a page could hold a thousand payloads of a megabyte.
MAX_PAGE: Final = 4_000_000


def dump(value: Any) -> bytes:
    """Encode a value as JSON in UTF-8; numbers may have any size."""
    try:
        return orjson.dumps(value)
    except TypeError:
        # orjson has no integers of more than 64 bits, which payloads may hold.
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def json_response(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(dump(value), status, headers, "application/json")


async def dump_items(rows: Sequence[Any], write: Callable[[Any], bytes], *, maximum: int | None = None) -> list[bytes]:
    """Encode each row as JSON. With `maximum`, stop after that many bytes, but encode at least one row."""
    parts, size = _dump_some(rows, write, 0, min(_LARGE, maximum or _LARGE))
    if len(parts) < len(rows) and (maximum is None or size <= maximum):
        rest, _ = await asyncio.to_thread(_dump_some, rows[len(parts) :], write, size, maximum)
        parts += rest
    return parts


def _dump_some(
    rows: Sequence[Any], write: Callable[[Any], bytes], size: int, maximum: int | None
) -> tuple[list[bytes], int]:
    parts: list[bytes] = []
    for row in rows:
        parts.append(write(row))
        size += len(parts[-1])
        if maximum is not None and size > maximum:
            break
    return parts, size


def join_items(parts: Sequence[bytes], extras: dict[str, Any] | None = None) -> bytes:
    """Join encoded rows to a JSON object with `items` and the keys of `extras`."""
    more = dump(extras)[1:] if extras else b"}"
    return b"".join((b'{"items":[', b",".join(parts), b"]," if extras else b"]", more))

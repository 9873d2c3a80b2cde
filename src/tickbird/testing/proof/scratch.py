"""What a proof that was killed together with its keeper has left behind."""

from __future__ import annotations

from tickbird.domain.errors import SchemaError
from tickbird.stores import find_temp_stores, open_store


async def clean(url: str) -> tuple[list[str], list[str]]:
    """Drop the scratch stores beside a store; the names of those, and of those in which workers are still alive."""
    scratches = find_temp_stores(url)
    dropped: list[str] = []
    kept: list[str] = []
    for address in await scratches.left():
        if await _is_alive(address):
            kept.append(scratches.name(address))
        else:
            await scratches.drop(address)
            dropped.append(scratches.name(address))
    return dropped, kept


async def _is_alive(url: str) -> bool:
    store = open_store(url)
    try:
        await store.open()
        return bool(await store.list_workers("default"))
    except SchemaError:
        # Of another version, or half made.
        return False
    finally:
        await store.close()

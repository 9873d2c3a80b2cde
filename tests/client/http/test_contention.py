"""Many clients that change one schedule at a time: what each of them wrote is there in the end."""

from __future__ import annotations

import asyncio

import httpx

from tests.client.http.conftest import URL, Both
from tickbird.api.app import create_api
from tickbird.api.middleware.guard import RequestLimits
from tickbird.client import StoreClient
from tickbird.client.http import HttpClient, Transport
from tickbird.domain.errors import StaleError

CLIENTS = 50


async def test_no_update_is_lost(both: Both) -> None:
    many = RequestLimits(per_second=1e6, burst=10**6, lookups_per_second=1e6, lookups_burst=10**6)
    api = create_api(lambda namespace: StoreClient(both.store, namespace), limits=many)
    wire = httpx.ASGITransport(api)
    await both.create("report")
    refused = 0

    async def add(number: int, token: str) -> None:
        nonlocal refused
        client = HttpClient(Transport(URL, token, wire=wire), "default")
        while True:
            seen = await client.schedules.get("report")
            assert seen.definition is not None
            # While one thinks, the others read.
            await asyncio.sleep(0)
            written = {**seen.definition.payload, f"client {number}": number}
            try:
                await client.schedules.update("report", actor="x", revision=seen.revision, payload=written)
            except StaleError:
                refused += 1
            else:
                return

    tokens = [await both.token() for _ in range(CLIENTS)]
    await asyncio.gather(*(add(number, token) for number, token in enumerate(tokens)))
    after = await both.local.schedules.get("report")
    assert after.definition is not None
    assert after.definition.payload == {f"client {number}": number for number in range(CLIENTS)}
    assert after.revision == CLIENTS + 1
    # They did get into each other's way.
    assert refused > 0
    await api.state.authority.settle()

"""Stored responses of requests with an idempotency key: created once, stored for a day."""

from __future__ import annotations

import asyncio

from conformance.steps import NAMESPACE, later
from tickbird.domain.access.http_responses import ABANDONED_AFTER, RESPONSE_TTL, StoredResponse
from tickbird.store.protocol.store import Store

KEY, ASKED = "aaaaaaaa:one", "d1ge57"
GIVEN = StoredResponse(ASKED, 201, {"etag": '"1"', "content-type": "application/json"}, '{"name": "Zoë\\u0000"}')


async def begin(
    store: Store, at: float = 0, key: str = KEY, request: str = ASKED, namespace: str = NAMESPACE
) -> object:
    """The stored response of a key."""
    return await store.http_responses.begin(namespace, key, request, now=later(at))


class HttpResponses:
    """A repeated request gets the same response, and only one is processed."""

    async def test_stored_response_is_returned_unchanged(self, store: Store, other: Store) -> None:
        assert await begin(store) is None
        assert await begin(other, 1) == StoredResponse(ASKED)
        await store.http_responses.finish(NAMESPACE, KEY, ASKED, GIVEN, now=later(2))
        assert await begin(other, 3) == GIVEN
        # Another request with the same key gets it too, and is refused. It is not finished twice.
        assert await begin(other, 4, request="other") == GIVEN
        await store.http_responses.finish(NAMESPACE, KEY, ASKED, StoredResponse(ASKED, 500), now=later(5))
        await store.http_responses.finish(NAMESPACE, KEY, ASKED, None, now=later(5))
        assert await begin(other, RESPONSE_TTL - 1) == GIVEN
        assert await begin(other, RESPONSE_TTL) is None

    async def test_keys_are_separate_per_caller(self, store: Store) -> None:
        assert await begin(store) is None
        assert await begin(store, key="bbbbbbbb:one") is None
        assert await begin(store, namespace="elsewhere") is None

    async def test_failed_request_can_be_repeated(self, store: Store) -> None:
        assert await begin(store) is None
        await store.http_responses.finish(NAMESPACE, KEY, "other", None, now=later(1))
        assert await begin(store, 1) == StoredResponse(ASKED)
        await store.http_responses.finish(NAMESPACE, KEY, ASKED, None, now=later(1))
        assert await begin(store, 1, request="other") is None

    async def test_abandoned_request_is_processed_again(self, store: Store) -> None:
        assert await begin(store) is None
        assert await begin(store, ABANDONED_AFTER - 1) == StoredResponse(ASKED)
        assert await begin(store, ABANDONED_AFTER, request="other") is None
        # A late finish changes nothing.
        await store.http_responses.finish(NAMESPACE, KEY, ASKED, GIVEN, now=later(ABANDONED_AFTER + 1))
        assert await begin(store, ABANDONED_AFTER + 2) == StoredResponse("other")

    async def test_concurrent_requests_are_processed_once(self, store: Store, other: Store) -> None:
        found = await asyncio.gather(*(begin(each, 0) for each in (store, other) * 5))
        assert sorted(map(str, found)) == sorted(map(str, [None, *[StoredResponse(ASKED)] * 9]))

    async def test_answers_are_pruned_after_a_day(self, store: Store) -> None:
        for number in range(3):
            assert await begin(store, number * 60, key=f"aaaaaaaa:{number}") is None
            await store.http_responses.finish(NAMESPACE, f"aaaaaaaa:{number}", ASKED, GIVEN, now=later(number))
        for _ in range(2):
            await store.runs.prune(older_than=10**9, keep=1_000, limit=1, now=later(RESPONSE_TTL + 90))
        # As seen at a time when all of them would be kept.
        found = [await begin(store, 200, key=f"aaaaaaaa:{number}") for number in range(3)]
        assert found == [None, None, GIVEN]

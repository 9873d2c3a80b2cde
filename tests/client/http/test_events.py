"""Events over HTTP: pages, and positions with an incarnation."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

from conformance.events import steps
from tests.client.http.conftest import URL, Both
from tickbird.domain.errors import ConflictError, InvalidError


async def get_events(both: Both, **query: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {await both.token('viewer', 'default')}"}
    async with httpx.AsyncClient(transport=both.wire, base_url=URL, headers=headers) as http:
        return await http.get("/api/v1/events", params=query)


async def test_a_page_token_is_a_position_with_its_incarnation(both: Both) -> None:
    await steps.publish(both.store, *"abc")
    incarnation = await both.store.identity.incarnation()
    first = (await get_events(both, limit=2)).json()
    assert first["next"] == first["items"][-1]["resume_token"] == f"{incarnation}:2"
    assert {event["incarnation"] for event in first["items"]} == {incarnation}
    second = (await get_events(both, after=first["next"])).json()
    assert ([event["position"] for event in second["items"]], second["next"]) == ([3], None)
    assert (await get_events(both, after="2")).json() == second
    assert (await get_events(both, after="i.2")).json()["type"] == "urn:tickbird:problem:bad-page"


async def test_a_page_token_of_another_incarnation_is_refused(both: Both) -> None:
    await steps.publish(both.store, *"abc")
    token = (await get_events(both, limit=2)).json()["next"]
    await both.store.identity.accept_copy("default", "ada")
    refused = await get_events(both, after=token)
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:tickbird:problem:conflict")
    assert "Start again from a time or from the beginning" in refused.text
    assert (await get_events(both, after=4)).status_code == 409


async def test_both_clients_continue_at_a_position(both: Both) -> None:
    await steps.publish(both.store, *"abc")
    events = await both.local.events.list()
    token = events[1].resume_token
    assert token is not None
    for client in (both.local, both.remote):
        assert await client.events.list() == events
        assert await client.events.list(after=0, limit=1) == events[:1]
        for after in (2, "2", str(token), token):
            assert await client.events.list(after=after) == events[2:]
        assert events[0].stamped_at is not None
        assert await client.events.list(since=events[0].stamped_at - timedelta(hours=1)) == events
        assert await client.events.list(since=events[0].stamped_at + timedelta(hours=1)) == []
        for wrong in (-1, "x"):
            with pytest.raises(InvalidError, match=r"after: .* is not a position"):
                await client.events.list(after=wrong)
        with pytest.raises(ConflictError, match="belongs to incarnation 1 "):
            await client.events.list(after="1:2")
        with pytest.raises(ConflictError, match="the log ends at position 3"):
            await client.events.list(after=4)


async def test_both_clients_move_a_group_to_a_position(both: Both) -> None:
    await steps.declare(both.store)
    await steps.publish(both.store, *"abc")
    token = (await both.local.events.list())[1].resume_token
    assert token is not None
    for client in (both.local, both.remote):
        for position in (2, "2", str(token), token):
            assert (await client.consumers.seek(steps.GROUP, position, actor="ana")).lag == 1
        with pytest.raises(ConflictError, match="belongs to incarnation 1 "):
            await client.consumers.seek(steps.GROUP, "1:2", actor="ana")
        with pytest.raises(InvalidError, match=r"position: .* is not a position"):
            await client.consumers.seek(steps.GROUP, "x", actor="ana")

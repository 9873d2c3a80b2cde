"""A token of one namespace sees nothing of another: every route answers as if nothing were there."""

from __future__ import annotations

import re
from typing import Any

import pytest

from conformance.steps import a_worker
from tests.api.conftest import Api
from tests.api.test_routes import walk
from tickbird.client.sessions import open_session

# Streams have tests of their own; they do not end.
STREAMS = ("/api/v1/activity/stream",)
# Of the store as a whole, with sizes and ages in it: only looked through.
WHOLE = ("/api/v1/doctor", "/metrics")
SECRET = "zebra"


async def fill(api: Api) -> dict[str, str]:
    """Something of everything in another namespace; what stands in the places of paths to name it."""
    client = api.client("stable")
    await api.create(SECRET, "stable", tags=[SECRET], queue=SECRET, description=SECRET)
    await client.schedules.pause(SECRET, actor=SECRET, note=SECRET)
    run = await client.schedules.trigger(SECRET, actor=SECRET, payload={SECRET: SECRET})
    await client.schedules.trigger(SECRET, actor=SECRET)
    await client.runs.cancel(run.id, actor=SECRET, reason=SECRET)
    await client.calendars.put(SECRET, {"weekdays": ["sat"], "description": SECRET}, actor=SECRET)
    await client.limits.set(SECRET, 3, actor=SECRET)
    await client.queues.set_rate(SECRET, "5/min", actor=SECRET)
    token, _ = await client.tokens.create(SECRET, "admin", actor=SECRET)
    session, _ = await open_session(client.store, token.id, user_agent=SECRET)
    await api.store.workers.heartbeat(a_worker(SECRET, namespace="stable", queues=(SECRET,)), 600)
    return {"id": str(run.id), "token_id": token.id, "session_id": session.id, "tick": "2026-01-01T00:00:00Z"}


async def state(api: Api) -> list[Any]:
    """What there is in the other namespace."""
    client = api.client("stable")
    found: list[Any] = [
        await client.schedules.get(SECRET),
        await client.runs.list(),
        await client.audit.list(),
        await client.workers.list(),
    ]
    return [
        *found,
        await client.calendars.list(),
        await client.limits.list(),
        await client.queues.list(),
        await client.sessions.list(),
    ]


def told(answer: Any) -> tuple[int, str]:
    """An answer without what differs from one moment to the next."""
    return answer.status_code, re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "<instant>", answer.text)


async def ask_all(api: Api, places: dict[str, str]) -> dict[tuple[str, str], tuple[int, str]]:
    """What every route says to an admin of another namespace who names things of the secret one."""
    found = {}
    for route in walk(api.app.routes):
        if route.path in STREAMS:
            continue
        path = re.sub(r"\{([^}:]*)[^}]*\}", lambda match: places.get(match[1], SECRET), route.path)
        for method in sorted(route.methods - {"HEAD"}):
            body: dict[str, Any] = {} if method == "GET" else {"json": {}}
            query = {"at": "2026-01-01T00:00:00Z"} if path.endswith("/why") else {}
            answer = await api.ask(method, path, "admin", params=query, **body)
            found[method, route.path] = told(answer)
    return found


async def test_every_route_answers_as_if_nothing_were_there(api: Api) -> None:
    # Ids that the secret things will have, or might.
    await api.create("ours")
    empty = await ask_all(
        api, {"id": "1", "token_id": "aaaaaaaa", "session_id": "a" * 16, "tick": "2026-01-01T00:00:00Z"}
    )
    places = await fill(api)
    before = await state(api)
    full = await ask_all(api, places)
    assert len(full) > 40
    for asked, (status, text) in full.items():
        path = asked[1]
        assert status < 500, (asked, text)
        if path in WHOLE:
            assert SECRET not in text
            continue
        assert status == empty[asked][0], (asked, text)
        # In the same words, apart from the id that was asked for.
        words = text.replace(places["token_id"], "aaaaaaaa").replace(f" {places['id']}", " 1")
        words = words.replace(places["session_id"], "a" * 16)
        assert words == empty[asked][1], asked
    assert await state(api) == before


@pytest.mark.parametrize("query", [{"contains": SECRET}, {"tag": SECRET}, {"state": "paused"}, {"after": "n.z"}])
async def test_no_search_finds_it(api: Api, query: dict[str, str]) -> None:
    await fill(api)
    assert await api.get("/schedules", "viewer", params=query) == {"items": [], "next": None}

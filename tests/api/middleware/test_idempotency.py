"""Requests with an Idempotency-Key: done once, answered the same, and only to who asked."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.api.conftest import Api, refused
from tickbird.api.middleware.idempotency import HEADER, MAX_KEY_LENGTH, repeatable
from tickbird.domain.errors import StoreUnavailableError

PATH = "/api/v1/schedules"
NEW = {"name": "digest", "definition": {"trigger": {"cron": "0 9 * * *"}, "target": {"task": "report"}}}


async def post(api: Api, path: str, body: Any = None, key: str = "one", *args: Any, **request: Any) -> Any:
    """The answer to a request with a key."""
    headers = {HEADER: key, **request.pop("headers", {})}
    return await api.ask("POST", f"/api/v1{path}", *(args or ("editor",)), json=body, headers=headers, **request)


async def test_what_is_asked_twice_is_done_once_and_answered_the_same(api: Api) -> None:
    first = await post(api, "/schedules", NEW)
    assert first.status_code == 201, first.text
    again = await post(api, "/schedules", NEW)
    assert (again.status_code, again.content, again.headers["etag"]) == (201, first.content, '"1"')
    assert (again.headers["content-type"], again.headers["idempotency-replayed"]) == ("application/json", "true")
    assert "idempotency-replayed" not in first.headers
    # However it is written.
    written = f'{{ "definition": {str(NEW["definition"]).replace(chr(39), chr(34))},\n"name": "digest" }}'
    headers = {HEADER: "one", "Content-Type": "application/json"}
    same = await api.ask("POST", PATH, "editor", content=written, headers=headers)
    assert same.content == first.content
    for verb, body in (("pause", {"note": "x"}), ("resume", None), ("skip", {"count": 2})):
        answers = [await post(api, f"/schedules/digest/{verb}", body, verb) for _ in range(3)]
        assert {each.content for each in answers} == {answers[0].content}
        assert answers[0].status_code == 200, answers[0].text
    assert (await api.get("/schedules/digest"))["revision"] == 4
    assert len([each for each in (await api.get("/audit"))["items"] if each["schedule"] == "digest"]) == 4


async def test_the_same_key_for_something_else_is_refused(api: Api) -> None:
    await post(api, "/schedules", NEW)
    others: list[tuple[str, Any, dict[str, str]]] = [
        ("/schedules", {**NEW, "name": "other"}, {}),
        ("/schedules/digest/pause", NEW, {}),
        ("/schedules?namespace=default", NEW, {}),
        ("/schedules", NEW, {"If-Match": '"1"'}),
    ]
    for path, body, headers in others:
        answer = await post(api, path, body, headers=headers)
        assert "another request already used this key" in refused(answer, 409, "conflict")
        assert answer.json()["field"] == HEADER
    assert [row.schedule.name for row in await api.client().schedules.list()] == ["digest"]


async def test_keys_of_other_callers_and_namespaces_are_others(api: Api) -> None:
    both = ("editor", "default", "elsewhere")
    await post(api, "/schedules", NEW, "one", *both, params={"namespace": "default"})
    there = await post(api, "/schedules", NEW, "one", *both, params={"namespace": "elsewhere"})
    assert (there.status_code, there.json()["schedule"]["namespace"]) == (201, "elsewhere")
    # Another token does not see the answer, but what there is.
    refused(await post(api, "/schedules", NEW), 409, "conflict")


async def test_a_refusal_is_not_kept(api: Api) -> None:
    await api.create("digest")
    refused(await post(api, "/schedules", NEW), 409, "conflict")
    refused(await post(api, "/schedules/digest/resume", None, "two"), 409, "conflict")
    await api.client().schedules.delete("digest", actor="ana")
    assert (await post(api, "/schedules", NEW)).status_code == 201
    await api.client().schedules.pause("digest", actor="ana")
    assert (await post(api, "/schedules/digest/resume", None, "two")).status_code == 200
    refused(await post(api, "/schedules", {"name": "x"}, "three"), 422, "invalid")
    refused(await post(api, "/schedules/digest/pause", None, "four", "viewer"), 403, "forbidden")


async def test_one_of_many_who_ask_at_once_is_answered_and_the_others_wait(
    memory: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = type(memory.store.schedules).change
    reached, go = asyncio.Event(), asyncio.Event()

    async def slowly(*args: Any, **more: Any) -> Any:
        reached.set()
        await go.wait()
        return await change(*args, **more)

    monkeypatch.setattr(type(memory.store.schedules), "change", slowly)
    await memory.token("editor")
    first = asyncio.ensure_future(post(memory, "/schedules", NEW))
    await reached.wait()
    waits = await post(memory, "/schedules", NEW)
    assert "is in progress" in refused(waits, 409, "in-progress")
    assert waits.headers["retry-after"] == "2"
    go.set()
    made = await first
    assert made.status_code == 201
    assert (await post(memory, "/schedules", NEW)).content == made.content


async def test_what_failed_in_the_server_may_be_asked_again(memory: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    change = type(memory.store.schedules).change
    errors: list[Exception] = [RuntimeError("a mistake"), StoreUnavailableError("away;")]

    async def unlucky(*args: Any, **more: Any) -> Any:
        if errors:
            raise errors.pop()
        return await change(*args, **more)

    monkeypatch.setattr(type(memory.store.schedules), "change", unlucky)
    refused(await post(memory, "/schedules", NEW), 503, "store-unavailable")
    refused(await post(memory, "/schedules", NEW), 500, "unexpected")
    assert (await post(memory, "/schedules", NEW)).status_code == 201


async def test_an_answer_that_cannot_be_kept_is_given_all_the_same(
    memory: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def away(*_: Any, **__: Any) -> Any:
        raise StoreUnavailableError("the store is away;")

    monkeypatch.setattr(type(memory.store.http_responses), "finish", away)
    assert (await post(memory, "/schedules", NEW)).status_code == 201
    assert "response not stored" in caplog.text
    refused(await post(memory, "/schedules", NEW), 409, "in-progress")


@pytest.mark.parametrize("key", ["", "x" * (MAX_KEY_LENGTH + 1), "a\tb"])
async def test_what_is_no_key(memory: Api, key: str) -> None:
    answer = await post(memory, "/schedules", NEW, key)
    refused(answer, 422, "invalid")
    assert answer.json()["field"] == HEADER
    assert await memory.client().schedules.list() == []
    assert (await post(memory, "/schedules", NEW, "x" * MAX_KEY_LENGTH)).status_code == 201


async def test_which_routes_take_one(memory: Api) -> None:
    paths = {route.path.removeprefix("/api/v1") for route in repeatable(memory.app.routes)}
    assert {"/schedules", "/schedules/{name}/pause", "/schedules/{name}/roll-back", "/bulk/pause"} <= paths
    # A run has a key of its own; what a token is made with is kept nowhere; and a look changes nothing.
    assert not paths & {"/schedules/{name}/trigger", "/runs", "/tokens", "/preview", "/calendars/{name}/preview"}
    document = await memory.get("/openapi.json", "viewer")
    for path in paths:
        parameters = document["paths"][f"/api/v1{path}"]["post"]["parameters"]
        [described] = [each for each in parameters if each["name"] == HEADER]
        assert described["in"] == "header"
    two = [await post(memory, "/tokens", {"name": "ci", "role": "viewer"}, "one", "admin") for _ in range(2)]
    assert two[0].json()["token"] != two[1].json()["token"]


async def test_without_a_key_nothing_is_kept(memory: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("somebody asked for an answer")

    for verb in ("begin", "finish"):
        monkeypatch.setattr(type(memory.store.http_responses), verb, never)
    assert (await memory.ask("POST", PATH, "editor", json=NEW)).status_code == 201
    assert (await memory.ask("GET", PATH, "editor", headers={HEADER: "one"})).status_code == 200
    assert (await post(memory, "/schedules/digest/trigger", None, "run", "operator")).status_code == 201

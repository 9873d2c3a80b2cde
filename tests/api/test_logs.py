"""What runs log, over HTTP: page by page, and followed by many at the cost of one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from conformance.steps import a_worker
from tests.api.conftest import Api, keys, refused
from tickbird.api.middleware.guard import RequestLimits
from tickbird.api.streams import log_feed
from tickbird.domain.errors import StoreUnavailableError
from tickbird.domain.runs.logs import LogLine
from tickbird.domain.runs.run import ClaimedRun, Outcome, Status

Events = list[tuple[str, str, Any]]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look again sooner than a server does."""
    monkeypatch.setattr(log_feed, "_MIN_PAUSE", 0.01)
    monkeypatch.setattr(log_feed, "_MAX_PAUSE", 0.02)


async def start(api: Api, namespace: str = "default") -> ClaimedRun:
    """A run that is being executed."""
    await api.client(namespace).runs.enqueue("report", actor="ana", unknown_task_ok=True)
    worker = a_worker(namespace=namespace)
    return (await api.store.leases.claim(worker, 1, 60, queues=["default"], targets=[("task", "report")])).runs[0]


async def say(api: Api, run: ClaimedRun, first: int, last: int) -> None:
    """So many lines, as a worker writes them."""
    now = await api.client().system.now()
    lines = [
        LogLine(run.id, run.attempt, number, now, 20, f"line {number}\nof “it”") for number in range(first, last + 1)
    ]
    await api.store.logs.write(lines, [])


async def end(api: Api, run: ClaimedRun, status: Status = "succeeded") -> None:
    """The run comes to its end."""
    await api.store.leases.finish([Outcome(run.id, run.attempt, status)])


def numbers(events: Events) -> Iterator[str]:
    """The places that events have."""
    return (place for name, place, _ in events if not name)


async def test_lines_come_in_pages(api: Api) -> None:
    run = await start(api)
    await say(api, run, 1, 5)
    first = await api.get(f"/runs/{run.id}/logs?limit=3", "viewer")
    assert (set(first), set(first["items"][0])) == ({"run_id", "status", "items", "next"}, keys(LogLine))
    assert (first["run_id"], first["status"], first["next"]) == (run.id, "running", "1.3")
    assert first["items"][0] | {"at": ""} == {
        "attempt": 1,
        "number": 1,
        "at": "",
        "level": "info",
        "level_number": 20,
        "text": "line 1\nof “it”",
    }
    rest = await api.get(f"/runs/{run.id}/logs?limit=3&after=1.3", "viewer")
    assert ([each["number"] for each in rest["items"]], rest["next"]) == ([4, 5], None)
    assert (await api.get(f"/runs/{run.id}/logs?after=1.5"))["items"] == []


async def test_a_run_is_followed_to_its_end(api: Api) -> None:
    run = await start(api)
    await say(api, run, 1, 2)
    async with api.listen(f"/runs/{run.id}/logs", "viewer") as listener:
        head = await listener.begins()
        headers = dict(head["headers"])
        assert headers[b"content-type"].startswith(b"text/event-stream")
        assert (headers[b"cache-control"], headers[b"x-accel-buffering"]) == (b"no-store", b"no")
        assert [await listener.event() for _ in range(2)] == [
            ("", f"1.{number}", line)
            for number, line in enumerate((await api.get(f"/runs/{run.id}/logs"))["items"], start=1)
        ]
        await say(api, run, 3, 3)
        assert (await listener.event() or ("", ""))[1] == "1.3"
        await say(api, run, 4, 4)
        await end(api, run, "failed")
        assert (await listener.event() or ("", ""))[1] == "1.4"
        assert await listener.event() == ("end", "", {"run_id": run.id, "status": "failed"})
        assert await listener.event() is None
    assert (api.app.state.streams.count, api.app.state.log_feeds._feeds) == (0, {})
    # Whoever comes again is told what he has not heard, also of a run that has ended; by the parameter, too.
    answer = await api.ask("GET", f"/api/v1/runs/{run.id}/logs?follow=true", headers={"Last-Event-ID": "1.3"})
    assert answer.text.count("data:") == 2
    assert "id: 1.4\n" in answer.text
    assert "event: end\n" in answer.text


async def test_many_who_listen_cost_one_reader(memory: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    readers, read = set[asyncio.Task[Any] | None](), type(memory.store.logs).read

    async def counted(*args: Any, **options: Any) -> Any:
        readers.add(asyncio.current_task())
        return await read(*args, **options)

    monkeypatch.setattr(type(memory.store.logs), "read", counted)
    run = await start(memory)
    await say(memory, run, 1, 3)
    async with AsyncExitStack() as stack:
        many = [await stack.enter_async_context(memory.listen(f"/runs/{run.id}/logs", "viewer")) for _ in range(200)]
        heard = [[await each.event() for _ in range(3)] for each in many]
        assert (memory.app.state.streams.count, len(memory.app.state.log_feeds._feeds)) == (200, 1)
        await say(memory, run, 4, 6)
        await end(memory, run)
        for told, each in zip(heard, many, strict=True):
            told += [await each.event() for _ in range(4)]
        assert all(told == heard[0] for told in heard)
        assert list(numbers([told for told in heard[0] if told])) == [f"1.{number}" for number in range(1, 7)]
        # However often it looks meanwhile.
        assert len(readers) == 1


async def test_who_is_behind_reads_for_himself(memory: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_feed, "_BUFFER", 10)
    monkeypatch.setattr(log_feed, "_PAGE", 4)
    run = await start(memory)
    await say(memory, run, 1, 50)
    async with memory.listen(f"/runs/{run.id}/logs", last_event_id="1.45") as first:
        assert (await first.event() or ("", ""))[1] == "1.46"
        async with memory.listen(f"/runs/{run.id}/logs") as second:
            heard = [await second.event() or ("", "", None) for _ in range(50)]
            await say(memory, run, 51, 90)
            heard += [await second.event() or ("", "", None) for _ in range(40)]
            assert list(numbers(heard)) == [f"1.{number}" for number in range(1, 91)]
            # He has taken nothing meanwhile.
            late = [await first.event() or ("", "", None) for _ in range(44)]
            assert list(numbers(late)) == [f"1.{number}" for number in range(47, 91)]


async def test_a_quiet_stream_shows_that_it_lives_and_ends_with_its_token(memory: Api) -> None:
    api = Api(memory.store, RequestLimits(heartbeat=0.01, tokens_every=0.01))
    run = await start(api)
    made, text = await api.client().tokens.create("gone", "viewer", actor="ada")
    async with api.listen(f"/runs/{run.id}/logs", token=text) as listener:
        assert (await listener.block() or "").startswith("retry: ")
        assert [await listener.block() for _ in range(3)] == [": still here"] * 3
        await api.client().tokens.revoke(made.id, actor="ada")
        assert await listener.event() is None
    assert api.app.state.streams.count == 0
    await api.app.state.authority.settle()


async def test_a_server_that_ends_does_not_wait_for_listeners(memory: Api) -> None:
    run = await start(memory)
    async with memory.listen(f"/runs/{run.id}/logs") as listener:
        await listener.block()
        memory.app.state.streams.close()
        assert await listener.event() is None
        await listener.task


async def test_only_so_many_may_listen(memory: Api) -> None:
    api = Api(memory.store, RequestLimits(streams=3, streams_each=2))
    run = await start(api)
    path = f"/runs/{run.id}/logs"
    async with api.listen(path, "viewer") as one, api.listen(path, "viewer") as two:
        await one.block()
        await two.block()
        answer = await api.ask("GET", f"/api/v1{path}?follow=true", "viewer")
        assert "too many open streams" in refused(answer, 429, "too-many")
        assert answer.headers["retry-after"] == "10"
        async with api.listen(path, "editor") as three:
            await three.block()
            refused(await api.ask("GET", f"/api/v1{path}?follow=true", "admin"), 503, "too-many-streams")
    assert api.app.state.streams.count == 0
    await api.app.state.authority.settle()


async def test_a_store_that_is_away_for_a_while_is_waited_for(memory: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    run = await start(memory)
    async with memory.listen(f"/runs/{run.id}/logs") as listener:
        await listener.block()
        away, read = asyncio.Event(), type(memory.store.logs).read

        async def lost(*args: Any, **options: Any) -> Any:
            away.set()
            raise StoreUnavailableError("it is away;")

        monkeypatch.setattr(type(memory.store.logs), "read", lost)
        await away.wait()
        monkeypatch.setattr(type(memory.store.logs), "read", read)
        await say(memory, run, 1, 1)
        assert (await listener.event() or ("", ""))[1] == "1.1"


async def test_logs_of_another_namespace_are_not_there(api: Api) -> None:
    run = await start(api, "elsewhere")
    for number in (run.id, 10**15):
        for query in ("", "?follow=true"):
            answer = await api.ask("GET", f"/api/v1/runs/{number}/logs{query}", "viewer")
            assert refused(answer, 404, "not-found").startswith(f"there is no run {number}. ")
    assert api.app.state.streams.count == 0


@pytest.mark.parametrize("place", ["x", "1.", ".1", "-1.2", "1.2.3", "1.x", "²." + "1", "9999999999.1", " 1.2"])
async def test_what_is_no_place_in_a_log(memory: Api, place: str) -> None:
    run = await start(memory)
    answer = await memory.ask("GET", f"/api/v1/runs/{run.id}/logs", params={"after": place})
    assert "is not a position in a log" in refused(answer, 400, "bad-page")
    if place.isascii():
        headers = {"Last-Event-ID": place.strip(), "Accept": "text/event-stream"}
        if place == place.strip():
            refused(await memory.ask("GET", f"/api/v1/runs/{run.id}/logs", headers=headers), 400, "bad-page")

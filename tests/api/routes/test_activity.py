"""Following what happens: who is told what, once, and when a stream ends."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from conformance.steps import a_worker
from tests.api.conftest import Api, keys, refused
from tests.api.streams import Listener
from tickbird.api.middleware.guard import RequestLimits
from tickbird.api.streams.activity_feed import FeedOptions
from tickbird.domain.errors import StoreUnavailableError
from tickbird.domain.ledger.activity import Activity
from tickbird.domain.runs.run import NewRun, Outcome
from tickbird.domain.schedules.definition import Target
from tickbird.store.postgres.database.connection import Session
from tickbird.store.protocol.store import Store


def streaming(store: Store, limits: RequestLimits | None = None, **pauses: Any) -> Api:
    """The API with streams that look often."""
    return Api(store, limits or RequestLimits(tokens_every=0.02), FeedOptions(**{"poll": 0.02, "rest": 0.01, **pauses}))


@pytest.fixture
async def api(store: Store) -> AsyncIterator[Api]:
    made = streaming(store)
    yield made
    await made.app.state.authority.settle()


async def work(store: Store, namespace: str = "default", count: int = 1) -> list[int]:
    """Runs that are made, started and finished."""
    made = await store.runs.enqueue(namespace, [NewRun(Target("work"), {"large": "x"}) for _ in range(count)], "ada")
    worker = a_worker(namespace=namespace)
    claimed = await store.leases.claim(worker, count, 60, queues=["default"], targets=[("task", "work")])
    await store.leases.finish([Outcome(run.id, run.attempt, "succeeded", result=1) for run in claimed.runs])
    return list(made)


def runs_of(listener: Listener, kind: str = "ended") -> list[int]:
    return [data["run"]["id"] for each, data in listener.events if each == kind]


async def test_everything_that_changes_is_told(api: Api) -> None:
    async with Listener(api, await api.token("viewer")) as listener:
        assert listener.headers["content-type"].startswith("text/event-stream")
        assert listener.headers["cache-control"] == "no-store"
        await api.create("digest")
        await api.ask("POST", "/api/v1/schedules/digest/pause", "operator", json={"note": "rain"})
        [run] = await work(api.store)
        events = await listener.hears("changed", "changed", "planned", "started", "ended")
        for kind, data in events:
            assert set(data) == keys(Activity)
            assert kind == data["kind"]
        done = [data["audit"] for kind, data in events if kind == "changed" and data["schedule"] == "digest"]
        assert [each["action"] for each in done] == ["create", "pause"]
        assert done[1]["actor"].startswith("operator (token ")
        ended = next(data["run"] for kind, data in events if kind == "ended")
        assert (ended["id"], ended["status"]) == (run, "succeeded")
        assert {"payload", "result"}.isdisjoint(ended)


async def test_who_comes_back_with_an_id_hears_of_the_rest_once(api: Api) -> None:
    token = await api.token("viewer")
    async with Listener(api, token) as first:
        await work(api.store)
        await first.hears("ended")
        last = first.id
    missed = await work(api.store, count=3)
    # Another server process, which remembers nothing.
    restarted = streaming(api.store)
    async with Listener(restarted, token, last) as second:
        new = await work(api.store)
        await second.hears(*["ended"] * 4)
        assert runs_of(second) == [*missed, *new]
        assert runs_of(second, "planned") == [*missed, *new]
        last = second.id
    async with Listener(restarted, token, after=last) as third:
        await work(api.store)
        await third.hears("ended")
        assert len(runs_of(third)) == 1
    # From each id of the first on, what came after it.
    ids = [block["id"] for block in second.blocks() if "event" in block]
    async with Listener(restarted, token, ids[2]) as fourth:
        await fourth.hears("ended", "ended", "ended", "ended", "ended")
        # A run that was read before it ended has another status than afterwards.
        read, again = (
            [(kind, (data["run"] or data["audit"])["id"]) for kind, data in each.events] for each in (second, fourth)
        )
        assert again[: len(read) - 3] == read[3:]


async def test_nothing_of_another_namespace_is_told(api: Api) -> None:
    async with (
        Listener(api, await api.token("viewer", "a")) as a,
        Listener(api, await api.token("viewer", "b")) as b,
        Listener(api, await api.token("admin", "*"), namespace="b") as admin,
    ):
        start = a.id
        for namespace in ("a", "b", "c"):
            await api.create(f"of-{namespace}", namespace)
            await work(api.store, namespace)
        for listener, namespace in ((a, "a"), (b, "b"), (admin, "b")):
            await listener.hears("changed", "planned", "started", "ended")
            assert {data["schedule"] for _, data in listener.events} <= {None, f"of-{namespace}"}
            assert {data["run"]["namespace"] for _, data in listener.events if data["run"]} == {namespace}
    # Nor by an id of another one.
    async with Listener(api, await api.token("viewer", "b"), start) as again:
        await again.hears("changed", "planned", "started", "ended")
        assert "of-a" not in again.text
        assert '"namespace":"a"' not in again.text


async def test_filters(api: Api) -> None:
    token = await api.token("viewer")
    async with (
        Listener(api, token, kind=["ended", "skipped"]) as ends,
        Listener(api, token, schedule="digest") as digest,
    ):
        await api.create("digest")
        await api.create("other")
        await work(api.store)
        await ends.hears("ended")
        assert ends.kinds == ["ended"]
        await digest.hears("changed")
        assert [data["schedule"] for _, data in digest.events] == ["digest"]


@pytest.mark.parametrize(
    "bad", ["x", "1.2.3", "-1.0.0.0", "1.1.1.9999999999999999999", "01.1.1.1", "1.1.1.1\n", "1.0.0.0~1", "1" * 2_500]
)
async def test_a_bad_id_is_refused(memory: Api, bad: str) -> None:
    answer = await memory.ask("GET", "/api/v1/activity/stream", headers={"Last-Event-ID": bad})
    refused(answer, 422, "invalid")
    refused(await memory.ask("GET", "/api/v1/activity/stream", params={"kind": "planed"}), 422, "invalid")


async def test_an_id_from_too_long_ago_or_ahead_tells_to_look_anew(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    token = await api.token("viewer")
    async with Listener(api, token, f"{10**17}.5.1.1") as ahead:
        await ahead.hears("reset")
        await work(api.store)
        await ahead.hears("reset", "ended")
        last = ahead.id
    await work(api.store, count=5)
    real = type(api.store.activity).read
    monkeypatch.setattr(type(api.store.activity), "read", lambda *args: real(*args, limit=4))
    async with Listener(api, token, last) as listener:
        await listener.hears("reset")
        assert listener.kinds == ["reset"]


async def test_a_slow_client_is_told_to_come_back(api: Api) -> None:
    api = streaming(api.store, waiting=5)
    token = await api.token("viewer")
    async with Listener(api, token) as slow, Listener(api, token, kind="ended") as quick:
        await work(api.store)
        await slow.hears("ended")
        slow.open.clear()
        # The first of them is on its way when it stops; the others pile up.
        await work(api.store)
        await quick.hears("ended", "ended")
        for _ in range(2):
            await work(api.store)
        await quick.hears(*["ended"] * 4)
        slow.open.set()
        await slow.until(lambda: slow.ended)
        assert slow.events[-1] == ("end", {"reason": "slow"})
        last = slow.id
        heard = len(runs_of(slow))
        assert heard < 4
    async with Listener(streaming(api.store), token, last) as again:
        await again.hears(*["ended"] * (4 - heard))
        assert runs_of(again) == runs_of(quick)[heard:]


async def test_a_client_that_takes_nothing_is_left(api: Api) -> None:
    api = streaming(api.store, RequestLimits(answer_within=0.3))
    async with Listener(api, await api.token("viewer")) as stuck:
        stuck.open.clear()
        await work(api.store)
        assert stuck._task is not None
        await asyncio.wait_for(asyncio.shield(stuck._task), 60)
    assert not api.app.state.feed._followers


async def test_a_revoked_or_expired_token_ends_its_streams(api: Api) -> None:
    token, other = await api.token("viewer", name="leaver"), await api.token("viewer", name="stayer")
    async with Listener(api, token) as listener, Listener(api, other) as stays:
        await api.client().tokens.revoke(token.split("_")[1], actor="ada")
        await listener.until(lambda: listener.ended)
        await work(api.store)
        await stays.hears("ended")


async def test_a_stream_shows_that_it_lives_and_moves_on(api: Api) -> None:
    api = streaming(api.store, quiet=0.05)
    async with Listener(api, await api.token("viewer", "a"), kind="ended") as listener:
        first = listener.id
        await work(api.store, "b")
        await listener.until(lambda: listener.id != first)
        assert ": still here" in listener.text
        assert listener.events == []


async def test_only_so_many_may_follow(api: Api) -> None:
    api = streaming(api.store, RequestLimits(streams=3, streams_each=2))
    async with AsyncExitStack() as stack:
        for role in ("viewer", "viewer", "operator"):
            await stack.enter_async_context(Listener(api, await api.token(role)))
        refused(await api.ask("GET", "/api/v1/activity/stream", "viewer"), 429, "too-many")
        answer = await api.ask("GET", "/api/v1/activity/stream", "editor")
        refused(answer, 503, "too-many-streams")
        assert answer.headers["retry-after"]
    async with Listener(api, await api.token("viewer")) as listener:
        assert listener.status == 200


async def test_shutting_down_ends_all_streams_at_once(api: Api) -> None:
    async with Listener(api, await api.token("viewer")) as listener:
        api.app.state.streams.close()
        await listener.until(lambda: listener.ended)
    refused(await api.ask("GET", "/api/v1/activity/stream", "viewer"), 503, "too-many-streams")


async def test_nothing_is_read_for_nobody(api: Api) -> None:
    feed = api.app.state.feed
    async with Listener(api, await api.token("viewer")):
        tasks = list(feed._tasks)
        assert len(tasks) == 2
    await asyncio.gather(*tasks, return_exceptions=True)
    assert all(task.cancelled() for task in tasks)
    assert feed._tasks == []


async def test_a_store_that_is_lost_for_a_while_loses_nothing(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = asyncio.Event()
    real = type(api.store.activity).watermark

    async def fail(*_: Any, **__: Any) -> Any:
        failed.set()
        raise StoreUnavailableError("gone")

    async with Listener(api, await api.token("viewer")) as listener:
        monkeypatch.setattr(type(api.store.activity), "watermark", fail)
        await asyncio.wait_for(failed.wait(), 60)
        await work(api.store)
        monkeypatch.setattr(type(api.store.activity), "watermark", real)
        await listener.hears("planned", "started", "ended")
    monkeypatch.setattr(type(api.store.activity), "watermark", fail)
    refused(await api.ask("GET", "/api/v1/activity/stream", "viewer"), 503, "store-unavailable")


async def test_two_hundred_clients_cost_one_query_stream(
    postgres_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = streaming(postgres_store, RequestLimits(tokens_every=0.1))
    sent: Counter[str] = Counter()

    def counted(real: Any) -> Any:
        def count(self: Session, name: str, /, *args: Any, **values: Any) -> Any:
            sent[name] += 1
            return real(self, name, *args, **values)

        return count

    for method in ("fetch", "fetch_named", "execute"):
        monkeypatch.setattr(Session, method, counted(getattr(Session, method)))
    async with AsyncExitStack() as stack:
        tokens = [await api.token("viewer", namespace) for namespace in ("default", "a")]
        listeners = [
            await stack.enter_async_context(Listener(api, tokens[number % 2], kind="ended")) for number in range(200)
        ]
        sent.clear()
        for _ in range(10):
            await work(postgres_store)
            await work(postgres_store, "a")
        for listener in listeners:
            await listener.hears(*["ended"] * 10)
        looks = sent["open_transactions"]
        reading = {name: sent[name] for name in ("read_activity", "activity_runs", "activity_skips", "activity_audit")}
        assert looks >= 1
        assert max(reading.values()) <= looks + 1, sent
        # What is asked about tokens is one question for all of them.
        assert sent["filter_live_tokens"] + sent["find_token"] <= looks + 20, sent

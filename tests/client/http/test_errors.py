"""What is refused over HTTP is refused as on the store: the same error, in the same words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.client.http.conftest import URL, Both
from tickbird.client import Client
from tickbird.client.http import HttpClient, Transport
from tickbird.domain.errors import (
    AccessError,
    InvalidError,
    NotFinishedError,
    NotFoundError,
    SchemaError,
    StoreError,
    StoreUnavailableError,
    TickbirdError,
)
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.workers import Worker

NAIVE = datetime(2026, 1, 1)
THEN = datetime(2026, 1, 1, tzinfo=UTC)
WHO: Any = {"actor": "x"}
SCHEMA = {"type": "object", "properties": {"limit": {"type": "integer"}}, "additionalProperties": False}

REFUSED: dict[str, Callable[[Client], Awaitable[Any]]] = {
    "no such schedule": lambda client: client.schedules.get("reprot"),
    "a name with a slash": lambda client: client.schedules.get("a/b?c#d"),
    "only dots": lambda client: client.schedules.get(".."),
    "a name that holds everything": lambda client: client.schedules.get("ü '\"%2F \\"),
    "changing what is not there": lambda client: client.schedules.pause("nothing", **WHO),
    "a name that cannot be": lambda client: client.schedules.create("a b", cron("@daily"), "report", **WHO),
    "a duplicate": lambda client: client.schedules.create(
        "report", cron("@daily"), "report", unknown_task_ok=True, **WHO
    ),
    "a task that nobody knows": lambda client: client.schedules.create("new", cron("@daily"), "unheard", **WHO),
    "an unknown option": lambda client: client.schedules.create("new", cron("@daily"), "report", retires=3, **WHO),
    "an unknown field": lambda client: client.schedules.update("report", retires=3, **WHO),
    "set and unset": lambda client: client.schedules.update("report", retries=3, unset=["retries"], **WHO),
    "out of range": lambda client: client.schedules.update("report", priority=10_000, **WHO),
    "a payload that does not fit": lambda client: client.schedules.trigger("report", payload={"limit": "many"}, **WHO),
    "a payload that is no JSON": lambda client: client.schedules.update("report", payload={"a": object()}, **WHO),
    "an unknown queue name": lambda client: client.runs.enqueue("report", queue="a b", **WHO),
    "a task without a worker": lambda client: client.runs.enqueue("unheard", **WHO),
    "at and delay": lambda client: client.runs.enqueue("report", at=THEN, delay=5, **WHO),
    "a stale revision": lambda client: client.schedules.pause("report", revision=77, **WHO),
    "not paused": lambda client: client.schedules.resume("report", **WHO),
    "a time without a zone": lambda client: client.schedules.pause("report", until=NAIVE, **WHO),
    "a move to the past": lambda client: client.schedules.reschedule("report", THEN, **WHO),
    "count and until": lambda client: client.schedules.skip("report", 2, until=THEN, **WHO),
    "no ticks": lambda client: client.schedules.skip("report", 0, **WHO),
    "an unknown state": lambda client: client.schedules.list(state="asleep"),  # type: ignore[arg-type]
    "too large a page": lambda client: client.schedules.list(limit=10_001),
    "data that is null": lambda client: client.dead_letters.repair(5, None, **WHO),
    "no such revision": lambda client: client.revisions.roll_back("report", 5, **WHO),
    "nothing of a revision": lambda client: client.revisions.roll_back("report", 0, **WHO),
    "so already": lambda client: client.revisions.roll_back("report", 1, **WHO),
    "no run": lambda client: client.runs.get(99),
    "no run at all": lambda client: client.runs.get(-1),
    "no logs of it": lambda client: client.runs.logs(99),
    "a final one": lambda client: client.runs.cancel(99, **WHO),
    "nothing to retry": lambda client: client.runs.retry(99, **WHO),
    "runs of nothing": lambda client: client.runs.list(schedule="reprot"),
    "a zone that is none": lambda client: client.ticks.why("report", THEN, tz="Mars/Olympus"),
    "why without a zone": lambda client: client.ticks.why("report", NAIVE),
    "an audit backwards": lambda client: client.ticks.verify("report", datetime(2026, 2, 1, tzinfo=UTC), THEN),
    "a backfill backwards": lambda client: client.backfills.create(
        "report", datetime(2026, 2, 1, tzinfo=UTC), THEN, **WHO
    ),
    "no backfill": lambda client: client.backfills.get(7),
    "no backfill at all": lambda client: client.backfills.get(2**70),
    "no calendar": lambda client: client.calendars.get("fest"),
    "nothing of a calendar": lambda client: client.calendars.get("a/b"),
    "a calendar's name": lambda client: client.calendars.put("a b", {}, **WHO),
    "a calendar that is none": lambda client: client.calendars.put("fest", {"weekday": ["sat"]}, **WHO),
    "a calendar of long ago": lambda client: client.calendars.put("fest", {"weekdays": ["sat"]}, revision=3, **WHO),
    "no calendar to delete": lambda client: client.calendars.delete("fest", **WHO),
    "too far a horizon": lambda client: client.calendars.preview("fest", {"weekdays": ["sat"]}, horizon="9999d"),
    "no worker": lambda client: client.workers.drain("w9", **WHO),
    "nothing of a worker": lambda client: client.workers.drain("a/b", **WHO),
    "a tick of the past": lambda client: client.overrides.put("report", THEN, skip=True, **WHO),
    "no whole second": lambda client: client.overrides.put("report", THEN.replace(microsecond=5), skip=True, **WHO),
    "nothing decided": lambda client: client.overrides.put("report", datetime(2100, 1, 1, tzinfo=UTC), **WHO),
    "nothing to undo": lambda client: client.overrides.undo("report", datetime(2100, 1, 1, tzinfo=UTC), **WHO),
    "nothing held": lambda client: client.held.release("report", **WHO),
    "none of nothing": lambda client: client.held.drop("report", count=0, **WHO),
    "held of nothing": lambda client: client.held.list("reprot"),
    "a limit of none": lambda client: client.limits.set("a", 0, **WHO),
    "a key of two lines": lambda client: client.limits.set("a\nb", 1, **WHO),
    "no limit": lambda client: client.limits.remove("a", **WHO),
    "no key": lambda client: client.limits.remove("", **WHO),
    "a rate that is none": lambda client: client.queues.set_rate("mail", "often", **WHO),
    "a queue that is none": lambda client: client.queues.set_rate("a b", "1/s", **WHO),
    "no rate": lambda client: client.queues.remove_rate("mail", **WHO),
    "a role that is none": lambda client: client.tokens.create("x", "king", **WHO),  # type: ignore[arg-type]
    "a token of the past": lambda client: client.tokens.create("x", "viewer", expires_at=THEN, **WHO),
    "no token": lambda client: client.tokens.revoke("aaaaaaaa", **WHO),
    "nothing of a token": lambda client: client.tokens.revoke("a/b", **WHO),
    "no copy": lambda client: client.system.accept_copy(**WHO),
    "nothing to adopt": lambda client: client.system.adopt_zone_data(**WHO),
    "too many days": lambda client: client.system.zone_impact(0),
    "too many ticks": lambda client: client.ticks.next("report", 0),
}


@pytest.fixture
async def shop(both: Both) -> Both:
    """A schedule whose task a live worker publishes."""
    await both.create("report")
    tasks = {"report": {"queue": "default", "schema": SCHEMA}}
    worker = Worker(id="w", namespace="default", app="shop", host="h", pid=1, version="0", slots=1, tasks=tasks)
    await both.store.workers.heartbeat(worker, 600)
    # The first read adopts the time zone data.
    await both.local.system.zone_data()
    return both


async def told(asked: Awaitable[Any]) -> TickbirdError:
    """The error that must come of it."""
    with pytest.raises(TickbirdError) as caught:
        await asked
    return caught.value


@pytest.mark.parametrize("what", REFUSED)
async def test_it_is_refused_in_the_same_words(shop: Both, what: str) -> None:
    here, there = await told(REFUSED[what](shop.local)), await told(REFUSED[what](shop.remote))
    assert type(there) is type(here)
    assert str(there) == str(here)
    assert (there.message, there.hint) == (here.message, here.hint)
    assert getattr(there, "field", None) == getattr(here, "field", None)


async def test_waiting_ends(shop: Both) -> None:
    run = await shop.remote.schedules.trigger("report", actor="x")
    error = await told(shop.remote.runs.wait(run.id, timeout=1))
    assert isinstance(error, NotFinishedError)
    assert str(error).startswith(f"run {run.id} is still queued after 1 s of waiting.")
    assert isinstance(await told(shop.remote.schedules.trigger("report", actor="x", wait=1)), NotFinishedError)


async def test_a_token_that_opens_nothing(shop: Both) -> None:
    token = await shop.token()
    unknown = HttpClient(Transport(URL, token[:-4] + "aaaa", wire=shop.wire))
    error = await told(unknown.schedules.list())
    assert isinstance(error, AccessError)
    assert str(error).startswith("the token is unknown, expired or revoked. Create one with")
    assert token not in str(error)
    none = HttpClient(Transport(URL, wire=shop.wire))
    assert str(await told(none.schedules.list())).startswith("the server requires a token. Create one with")


async def test_a_role_or_namespace_that_does_not_suffice(shop: Both) -> None:
    viewer = await shop.client("viewer", "default")
    assert (await viewer.schedules.get("report")).name == "report"
    error = await told(viewer.schedules.pause("report", actor="x"))
    assert isinstance(error, AccessError)
    assert str(error) == (
        "This request needs the role operator, but the token 'viewer' has the role viewer. "
        "Use a token with the role operator. An admin creates one with `tickbird token create`."
    )
    elsewhere = await shop.client("admin", "shop", namespace="default")
    assert isinstance(await told(elsewhere.schedules.get("report")), AccessError)
    whole = await shop.client("admin", "default")
    error = await told(whole.system.doctor())
    assert "needs all namespaces" in str(error)
    assert "--all-namespaces" in str(error)


async def test_which_namespace(shop: Both) -> None:
    for opened in (("default",), ("default", "shop")):
        assert (await (await shop.client("viewer", *opened)).schedules.get("report")).namespace == "default"
    error = await told((await shop.client("viewer", "depot", "shop")).schedules.get("report"))
    assert isinstance(error, InvalidError)
    assert error.field == "namespace"
    assert "depot, shop. Name one: namespace=… in code, --namespace in a command." in str(error)
    with pytest.raises(InvalidError, match="valid name"):
        HttpClient(Transport(URL), "a b")
    assert isinstance(await told((await shop.client(namespace="shop")).schedules.get("report")), NotFoundError)


async def test_a_store_that_is_away(shop: Both) -> None:
    await shop.remote.schedules.list()
    await shop.store.close()
    error = await told(shop.remote.schedules.list())
    assert isinstance(error, StoreError)
    assert not isinstance(error, SchemaError | AccessError)
    assert isinstance(error, StoreUnavailableError)
    assert "log of the server" in str(error)
    await shop.store.open()

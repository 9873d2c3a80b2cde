"""Every verb of the client is there over HTTP, and gives and does the same."""

from __future__ import annotations

import inspect
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from conformance.events import steps
from conformance.steps import a_worker
from tests.client.http.conftest import URL, Both
from tickbird.client import Client
from tickbird.client.http import HttpClient
from tickbird.client.sessions import open_session
from tickbird.domain.errors import AccessError, ConflictError, CountChangedError, InvalidError, NotFoundError
from tickbird.domain.events.event import NewEvent
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.runs.logs import LogLine
from tickbird.domain.runs.run import Outcome
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker
from tickbird.files.diagnostics import DocumentError

WORKER = Worker(id="w1", namespace="default", app="shop", host="h", pid=1, version="0", queues=("default",), slots=1)
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def verbs(kind: Any) -> set[str]:
    """What everybody may call."""
    return {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}


def test_every_verb_is_there() -> None:
    own = {
        name for each in HttpClient.__mro__ if each.__module__.startswith("tickbird.client.http") for name in vars(each)
    }
    assert verbs(Client) - own == set()
    for name in verbs(Client):
        local, remote = (inspect.signature(getattr(kind, name)) for kind in (Client, HttpClient))
        assert local.parameters == remote.parameters, name


async def test_many_are_changed_at_once(both: Both) -> None:
    for name in ("a", "b"):
        await both.local.schedules.create(
            name, cron("0 9 * * *"), "report", actor="ana", unknown_task_ok=True, tags=["post"]
        )
    paused = await both.remote.schedules.pause_all(actor="nobody", tag="post", expected=2, note="upgrade")
    assert (paused.changed, paused.not_changed) == (["a", "b"], [])
    again = await both.remote.schedules.pause_all(actor="nobody", note="again")
    assert (again.matched, again.changed) == (2, [])
    assert again == await both.local.schedules.pause_all(actor="ana")
    with pytest.raises(CountChangedError):
        await both.remote.schedules.resume_all(actor="nobody", contains="a", expected=2)
    assert (await both.remote.schedules.resume_all(actor="nobody", contains="a")).changed == ["a"]
    runs = (await both.remote.schedules.trigger_all(actor="nobody", state="active")).runs
    assert {run.schedule: run.id for run in await both.local.runs.list()} == runs
    assert runs.keys() == {"a"}


async def test_schedules_are_the_same(both: Both) -> None:
    made = await both.remote.schedules.create(
        "report",
        cron("0 9 * * 1-5", tz="Europe/Rome"),
        "report",
        actor="nobody",
        payload={"limit": 5, "ü": [1.5, None]},
        unknown_task_ok=True,
        tags=["mail"],
        timeout="10m",
        exclude=["sat"],
        start_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    assert made == await both.local.schedules.get("report") == await both.remote.schedules.get("report")
    assert await both.remote.schedules.list() == await both.local.schedules.list()
    assert await both.remote.schedules.list(state="paused") == []
    changed = await both.remote.schedules.update("report", actor="x", retries=3, unset=["tags"], payload={"limit": 6})
    assert changed == await both.local.schedules.get("report")
    assert changed.definition is not None
    assert (changed.definition.retries, changed.definition.tags, changed.definition.timeout) == (3, (), 600)
    none = await both.remote.schedules.update("report", actor="x", timeout=None, task="other")
    assert none.definition is not None
    assert (none.definition.timeout, none.definition.target) == (None, Target("other"))
    paused = await both.remote.schedules.pause("report", actor="x", note="quiet", until=await soon(both, days=1))
    assert paused == await both.local.schedules.get("report")
    assert paused.pause is not None
    assert paused.pause.note == "quiet"
    assert paused.pause.by.startswith("admin (token ")
    assert await both.remote.schedules.resume("report", actor="x") == await both.local.schedules.get("report")
    moved = await both.remote.schedules.reschedule("report", await soon(both, minutes=30), actor="x", note="later")
    assert moved == await both.local.schedules.get("report")
    assert len(moved.cursor.tick_overrides) == 1
    skipped = await both.remote.schedules.skip("report", 3, actor="x", note="not these")
    assert skipped == await both.local.schedules.get("report")
    assert skipped.cursor.skip_until is not None
    assert await both.remote.ticks.next("report", 5) == await both.local.ticks.next("report", 5)
    assert await both.remote.revisions.list("report") == await both.local.revisions.list("report")
    assert len(await both.remote.revisions.list("report", limit=2)) == 2
    assert await both.remote.revisions.list("report", before=2) == await both.local.revisions.list("report", before=2)
    assert await both.remote.revisions.history("report", limit=3) == await both.local.revisions.history(
        "report", limit=3
    )
    back = await both.remote.revisions.roll_back("report", 1, actor="x", note="as it was", revision=skipped.revision)
    assert back == await both.local.schedules.get("report")
    assert back.definition is not None
    assert (back.definition.tags, back.definition.timeout) == (("mail",), 600)
    gone = await both.remote.schedules.delete("report", actor="x")
    assert gone.state == "deleted"
    assert await both.remote.schedules.list(state="deleted") == await both.local.schedules.list(state="deleted")
    assert {each.actor for each in await both.local.audit.list()} == {moved.cursor.tick_overrides[0].actor, "ada"}


async def soon(both: Both, **length: int) -> datetime:
    """An instant so far ahead."""
    return await both.local.system.now() + timedelta(**length)


async def test_lists_come_in_pages(both: Both) -> None:
    for number in range(25):
        await both.create(f"s{number:02}", tags=["even"] if number % 2 == 0 else [])
    found = [row.schedule.name for row in await both.remote.schedules.list(limit=10)]
    assert found == [f"s{number:02}" for number in range(10)]
    assert [row.schedule.name for row in await both.remote.schedules.list(after="s22")] == ["s23", "s24"]
    assert len(await both.remote.schedules.list(tag="even", contains="s1")) == 5
    assert await both.remote.audit.list(limit=7) == await both.local.audit.list(limit=7)
    after = (await both.local.audit.list(limit=7))[-1].id
    assert await both.remote.audit.list(before=after, limit=5) == await both.local.audit.list(before=after, limit=5)
    assert await both.remote.audit.list(schedule="s03") == await both.local.audit.list(schedule="s03")


async def test_more_than_a_page_takes_several(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickbird.client.http.operations.MAX_PAGE", 3)
    for number in range(8):
        await both.create(f"s{number}")
    assert await both.remote.schedules.list(limit=7) == await both.local.schedules.list(limit=7)
    assert await both.remote.schedules.list() == await both.local.schedules.list()


async def ran(both: Both, *statuses: str) -> list[int]:
    """Runs that ended so; and their ids."""
    await both.store.workers.heartbeat(WORKER, 60)
    claimed = await both.store.leases.claim(WORKER, 10, 60, queues=["default"], targets=[("task", "report")])
    ended = [
        Outcome(run.id, run.attempt, status, error="it broke" if status == "failed" else None)  # type: ignore[arg-type]
        for run, status in zip(claimed.runs, statuses, strict=True)
    ]
    await both.store.leases.finish(ended)
    return [run.id for run in claimed.runs]


async def test_runs_are_the_same(both: Both) -> None:
    await both.create("report", overlap="allow")
    run = await both.remote.schedules.trigger("report", actor="x", payload={"limit": 1}, idempotency_key="a")
    assert run == await both.local.runs.get(run.id)
    assert await both.remote.schedules.trigger("report", actor="x", payload={"limit": 1}, idempotency_key="a") == run
    other = await both.remote.schedules.trigger("report", actor="x")
    assert other.id != run.id
    assert await both.remote.runs.list_active("report") == await both.local.runs.list_active("report")
    adhoc = await both.remote.runs.enqueue(
        "report", {"limit": 2}, actor="x", delay="1h", priority=5, unknown_task_ok=True
    )
    assert await both.remote.runs.get(adhoc) == await both.local.runs.get(adhoc)
    assert [each.id for each in await both.remote.runs.list(limit=2)] == [adhoc, other.id]
    assert await both.remote.runs.list(before=adhoc) == await both.local.runs.list(before=adhoc)
    assert await both.remote.runs.list(schedule="report", status="queued") == [other, run]
    assert await both.remote.runs.queue_position(run.id) == await both.local.runs.queue_position(run.id)
    assert [*await ran(both, "succeeded", "failed")] == [run.id, other.id]
    assert (await both.remote.runs.wait(other.id, timeout=1)).error == "it broke"
    assert await both.remote.runs.list_attempts(other.id) == await both.local.runs.list_attempts(other.id)
    assert await both.remote.runs.progress(other.id) is None
    assert await both.remote.runs.logs(other.id) == []
    again = await both.remote.runs.retry(other.id, actor="x", payload={"limit": 9})
    assert (again.retry_of, again.payload) == (other.id, {"limit": 9})
    cancelled = await both.remote.runs.cancel(again.id, actor="x", reason="not now")
    assert cancelled == await both.local.runs.get(again.id)
    assert (cancelled.status, cancelled.reason) == ("cancelled", "not now")
    since = NOW - timedelta(days=10_000)
    assert await both.remote.activity.list(since) == await both.local.activity.list(since)
    assert await both.remote.activity.list(await both.local.system.now() + timedelta(hours=1)) == []


async def test_a_log_is_followed_to_its_end(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickbird.client.http.runs._PAUSE", 0.0)
    await both.create("report")
    run = await both.remote.schedules.trigger("report", actor="x")
    await both.store.workers.heartbeat(WORKER, 60)
    [claimed] = (await both.store.leases.claim(WORKER, 1, 60, queues=["default"], targets=[("task", "report")])).runs
    lines = [LogLine(run.id, claimed.attempt, number, NOW, 25, f"line {number}\n“it”") for number in range(1, 5)]
    await both.store.logs.write(lines, [])
    await both.store.leases.finish([Outcome(run.id, claimed.attempt, "succeeded")])
    for client in (both.local, both.remote):
        assert [line async for line in client.runs.follow_logs(run.id)] == lines
        assert [line async for line in client.runs.follow_logs(run.id, after=(claimed.attempt, 3))] == lines[3:]
        with pytest.raises(NotFoundError, match="there is no run 99"):
            await anext(client.runs.follow_logs(99))
    assert (await both.remote.runs.read_logs(run.id, limit=2)).lines == lines[:2]


async def test_files_are_the_same(both: Both) -> None:
    document: dict[str, Any] = {
        "app": "shop",
        "schedules": {
            "digest": {"cron": "0 9 * * 1-5", "tz": "Europe/Rome", "task": "report", "payload": {"limit": 5}},
            "cleanup": {"every": "1h", "task": "cleanup", "tags": ["night"], "calendars": ["fest"]},
        },
        "calendars": {"fest": {"weekdays": ["sat"]}},
        "limits": {"warehouse": 3},
        "queues": {"mail": "5/s"},
    }
    would = await both.remote.files.apply(document, actor="x", dry_run=True)
    plain = replace(would, schedules=[replace(each, command=None) for each in would.schedules])
    same = await both.local.files.apply(document, actor="x", dry_run=True)
    assert would == plain
    assert [(each.name, each.kind, each.fields, each.ticks) for each in would.schedules] == [
        (each.name, each.kind, each.fields, each.ticks) for each in same.schedules
    ]
    assert (would.settings, would.unserved) == (same.settings, same.unserved)
    assert await both.local.schedules.list() == []
    done = await both.remote.files.apply(document, actor="x")
    assert {each.name for each in done.schedules} == {"digest", "cleanup"}
    assert (await both.remote.files.apply(document, actor="x")).is_empty
    assert (
        await both.remote.files.export()
        == await both.local.files.export()
        == await both.remote.files.export(app="shop")
    )
    await both.remote.schedules.pause("digest", actor="x", note="quiet")
    stored = await both.remote.files.export()
    assert await both.remote.files.operator_notes(stored) == await both.local.files.operator_notes(stored)
    fewer = {**document, "schedules": {"digest": document["schedules"]["digest"]}}
    pruned = await both.remote.files.apply(fewer, actor="x", prune=True)
    assert [(each.name, each.kind) for each in pruned.schedules] == [("cleanup", "delete")]
    # What a worker publishes refuses a payload, where it stands.
    await both.store.workers.heartbeat(replace(WORKER, tasks={"report": {"schema": {"maxProperties": 0}}}), 60)
    worse = {**fewer, "schedules": {"digest": {**document["schedules"]["digest"], "retries": 2}}}
    told = []
    for client in (both.local, both.remote):
        with pytest.raises(DocumentError) as caught:
            await client.files.apply(worse, actor="x")
        told.append([each.text for each in caught.value.diagnostics])
    assert told[0] == told[1] != []


async def test_another_namespace(both: Both) -> None:
    await both.local.in_namespace("shop").schedules.create(
        "theirs", every(hours=1), "report", actor="x", unknown_task_ok=True
    )
    assert (await both.remote.in_namespace("shop").schedules.get("theirs")).namespace == "shop"
    assert await both.remote.schedules.list() == []


async def test_ticks_are_the_same(both: Both) -> None:
    definition = Definition(trigger=every(hours=1), target=Target("report"), overlap="allow")
    begun = await both.local.system.now() - timedelta(days=1)
    await both.store.schedules.change(
        "default", "old", Create(actor="ana", namespace="default", definition=definition), now=begun
    )
    await both.store.planning.plan_due()
    now = await both.local.system.now()
    decided = await both.local.ticks.decisions("old", begun, now)
    assert decided.runs
    assert decided.skips
    assert await both.remote.ticks.decisions("old", begun, now) == decided
    assert len((await both.remote.ticks.decisions("old", begun, now, limit=1)).runs) == 1
    tick = decided.runs[0].scheduled_for
    assert tick is not None
    # What begins behind a tick does not touch it, be it by half a second.
    assert decided.runs[0].covers is not None
    behind = decided.runs[0].covers.last + timedelta(seconds=0.5)
    assert await both.remote.ticks.decisions("old", behind, now) == await both.local.ticks.decisions("old", behind, now)
    assert decided.runs[0] not in (await both.remote.ticks.decisions("old", behind, now)).runs
    for at in (tick, decided.skips[0].first, now + timedelta(days=3), now):
        there, here = [await client.ticks.why("old", at, tz="Asia/Tokyo") for client in (both.remote, both.local)]
        # How long something waits is another with each look.
        assert replace(there, steps=()) == replace(here, steps=())
        assert [(each.ok, each.name, each.at) for each in there.steps] == [
            (each.ok, each.name, each.at) for each in here.steps
        ]
    assert await both.remote.ticks.verify("old", begun, now) == await both.local.ticks.verify("old", begun, now)
    first = begun - timedelta(days=2)
    planned = await both.remote.backfills.create("old", begun, now, actor="x", dry_run=True)
    assert planned == await both.local.backfills.create("old", begun, now, actor="x", dry_run=True)
    made = await both.remote.backfills.create(
        "old", first, now, actor="x", order="newest", note="again", payload={"a": 1}
    )
    assert made.backfill_id is not None
    assert await both.remote.backfills.get(made.backfill_id) == await both.local.backfills.get(made.backfill_id)
    assert await both.remote.backfills.list(schedule="old") == await both.local.backfills.list(schedule="old")
    ended = await both.remote.backfills.cancel(made.backfill_id, actor="x", note="no")
    assert ended == await both.local.backfills.get(made.backfill_id)
    assert ended.cancelled_at is not None


async def test_a_preview_is_the_same(both: Both) -> None:
    await both.create("other")
    after = datetime(2027, 3, 27, tzinfo=UTC)
    trigger = cron("30 2 * * *", tz="Europe/Rome")
    found = await both.remote.forecasts.preview(trigger, count=3, after=after, spread="5m", name="x")
    assert len(found.ticks) == 3
    assert found.load is not None
    assert found == await both.local.forecasts.preview(trigger, count=3, after=after, spread=300, name="x")


async def test_single_ticks_are_the_same(both: Both) -> None:
    await both.create("report")
    first, second, third = [tick.scheduled_for for tick in await both.local.ticks.next("report", 3)]
    made = await both.remote.overrides.put("report", first, actor="x", skip=True, note="holiday", revision=1)
    moved = await both.remote.overrides.put(
        "report", third, actor="x", move_to=third + timedelta(minutes=5), payload={"limit": 1}
    )
    assert [made, moved] == await both.local.overrides.list("report") == await both.remote.overrides.list("report")
    assert (made.skip, moved.moved, moved.payload) == (True, True, {"limit": 1})
    assert second not in (made.scheduled_for, moved.scheduled_for)
    undone = await both.remote.overrides.undo("report", first, actor="x", note="no holiday")
    assert undone == await both.local.schedules.get("report")
    assert await both.remote.overrides.list("report") == [moved]


async def test_held_runs_are_the_same(both: Both) -> None:
    definition = Definition(trigger=every(hours=1), target=Target("report"), catch_up="all", hold_above=2)
    command = Create(actor="ana", namespace="default", definition=definition)
    await both.store.schedules.change("default", "late", command, now=await soon(both, days=-1))
    await both.store.planning.plan_due()
    [held] = await both.local.held.list()
    assert [held] == await both.remote.held.list() == await both.remote.held.list("late")
    assert held.count > 10
    assert await both.remote.held.list_runs("late") == await both.local.held.list_runs("late")
    page = await both.remote.held.list_runs("late", limit=2)
    after = page[-1].id
    assert await both.remote.held.list_runs("late", after=after, limit=3) == await both.local.held.list_runs(
        "late", after=after, limit=3
    )
    assert await both.remote.held.release("late", actor="x", count=2, per_minute=60, note="slowly") == 2
    assert await both.remote.held.drop("late", actor="x") == held.count - 2
    assert await both.remote.held.list() == []


async def test_lost_runs_are_the_same(both: Both) -> None:
    [first, second] = [
        await both.local.runs.enqueue("report", crash_limit=-3, actor="ana", unknown_task_ok=True) for _ in range(2)
    ]
    await both.store.leases.claim(a_worker(), 2, 0.01, queues=["default"], targets=[("task", "report")])
    await both.store.leases.rescue(now=await soon(both, days=1))
    undecided = await both.remote.runs.list_undecided()
    assert [lost.run_id for lost in undecided] == [second, first]
    assert undecided == await both.local.runs.list_undecided()
    assert await both.remote.runs.list_undecided(before=second) == undecided[1:]
    assert await both.remote.runs.loss(first) == undecided[1]
    resolved = await both.remote.runs.resolve(first, "yes", actor="x", note="seen")
    assert (resolved.status, resolved) == ("succeeded", await both.local.runs.get(first))
    assert (await both.remote.runs.resolve(second, "no", actor="x")).status == "queued"
    loss = await both.remote.runs.loss(first)
    assert loss is not None
    assert (loss.effect, loss.note) == ("yes", "seen")
    with pytest.raises(ConflictError, match="waits for no answer"):
        await both.remote.runs.resolve(first, "yes", actor="x")


async def test_limits_are_the_same(both: Both) -> None:
    odd = "ware/house: ü?#%"
    for key in (odd, "..", "b"):
        limit = await both.remote.limits.set(key, 3, actor="x")
        assert (limit.key, limit.max_running, limit.is_explicit) == (key, 3, True)
    assert await both.remote.limits.list() == await both.local.limits.list()
    assert [each.key for each in await both.remote.limits.list(after="..", limit=1)] == ["b"]
    assert (await both.remote.limits.remove(odd, actor="x")).is_explicit is False
    queue = await both.remote.queues.set_rate("mail", "100/min", actor="x")
    assert [queue] == await both.local.queues.list() == await both.remote.queues.list()
    assert (await both.remote.queues.remove_rate("mail", actor="x")).rate is None


async def test_calendars_are_the_same(both: Both) -> None:
    definition = {"weekdays": ["sat"], "dates": ["12-25", "2027-01-06"], "include": ["2027-02-06"]}
    assert await both.remote.calendars.list() == []
    told = await both.remote.calendars.put("fest", definition, actor="x", revision=0)
    assert told.calendar == await both.local.calendars.get("fest") == await both.remote.calendars.get("fest")
    await both.create("report", calendars=["fest"], trigger=cron("0 9 * * *"), roll="next")
    other = {"weekdays": ["sun"]}
    would = await both.remote.calendars.preview("fest", other, horizon="30d")
    assert would == await both.local.calendars.preview("fest", other, horizon="30d")
    assert would.effects
    put = await both.remote.calendars.put("fest", other, actor="x", revision=1)
    assert put.calendar == await both.local.calendars.get("fest")
    await both.remote.calendars.put("feast", other, actor="x")
    assert await both.remote.calendars.list() == await both.local.calendars.list()
    assert [each.name for each in await both.remote.calendars.list(after="feast", limit=1)] == ["fest"]
    await both.remote.calendars.delete("feast", actor="x", revision=1)
    assert [each.name for each in await both.local.calendars.list()] == ["fest"]


async def test_tokens_are_the_same(both: Both) -> None:
    made, text = await both.remote.tokens.create(
        "bot", "viewer", actor="x", expires_at=datetime(2200, 1, 1, tzinfo=UTC)
    )
    assert text.startswith(f"tbk_{made.id}_")
    assert (made.namespaces, made.digest) == (("default",), "")
    stored = await both.local.store.tokens.find(made.id)
    assert stored is not None
    assert stored.digest
    assert (stored.name, stored.role, stored.expires_at) == ("bot", "viewer", made.expires_at)
    assert await both.remote.tokens.get(made.id) == made
    for nothing in ("aaaaaaaa", "nonsense!"):
        with pytest.raises(NotFoundError, match="there is no token"):
            await both.remote.tokens.get(nothing)
    everything, _ = await both.remote.tokens.create("all", "viewer", actor="x", all_namespaces=True)
    assert everything.namespaces is None
    ids = [each.id for each in await both.local.tokens.list(live=True)]
    assert [each.id for each in await both.remote.tokens.list(live=True)] == ids
    assert [each.id for each in await both.remote.tokens.list(after=ids[0], limit=1)] == ids[1:2]
    assert [each.id for each in await both.remote.tokens.list(within=["default"])] == [made.id]
    revoked = await both.remote.tokens.revoke(made.id, actor="x")
    assert revoked.state == "revoked"
    assert revoked.revoked_by is not None


async def test_sessions_are_the_same(both: Both) -> None:
    token, _ = await both.local.tokens.create("ana", "viewer", actor="x")
    other, _ = await both.local.tokens.create("root", "viewer", actor="x", all_namespaces=True)
    made = [(await open_session(both.local.store, each.id, user_agent="Firefox"))[0] for each in (token, token, other)]
    stored = {each.id: replace(each, digest="") for each in made}
    ids = sorted(stored)
    assert [stored[each] for each in ids] == await both.remote.sessions.list()
    assert [each.id for each in await both.remote.sessions.list(after=ids[0], limit=1)] == ids[1:2]
    mine = sorted(each.id for each in made[:2])
    assert [each.id for each in await both.remote.sessions.list_for_token(token.id)] == mine
    assert [each.id for each in await both.remote.sessions.list(within=["default"])] == mine
    assert await both.remote.sessions.get(made[0].id) == stored[made[0].id]
    for nothing in ("a" * 16, "nonsense!"):
        for client in (both.local, both.remote):
            with pytest.raises(NotFoundError, match="there is no session"):
                await client.sessions.get(nothing)
            with pytest.raises(NotFoundError, match="there is no session"):
                await client.sessions.close(nothing, actor="x")
            with pytest.raises(NotFoundError, match="there is no token"):
                await client.sessions.list_for_token(nothing)
    assert (await both.remote.tokens.get(token.id)).sessions == 2
    closed = await both.remote.sessions.close(made[0].id, actor="x")
    assert closed == replace(await both.local.sessions.close(made[0].id, actor="x"), digest="")
    assert (await both.remote.sessions.close_for_token(token.id, actor="x"), closed.state) == (1, "closed")
    assert [each.id for each in await both.remote.sessions.list(live=True)] == [made[2].id]


async def test_the_store_as_a_whole_is_the_same(both: Both) -> None:
    await both.create("report", trigger=cron("0 9 * * *", tz="Europe/Rome"))
    before = await both.local.system.now()
    assert before <= await both.remote.system.now() <= await both.local.system.now()
    for number in range(3):
        await both.store.workers.heartbeat(replace(WORKER, id=f"w{number}", tasks={"report": {"schema": {}}}), 60)
    assert await both.remote.workers.list() == await both.local.workers.list()
    drained = await both.remote.workers.drain("w1", actor="x", note="old")
    assert drained.drain_requested_by is not None
    assert drained in await both.local.workers.list()
    assert [each.check for each in await both.remote.system.doctor()] == [
        each.check for each in await both.local.system.doctor()
    ]
    assert await both.remote.system.identity() == await both.local.system.identity()
    assert await both.remote.system.zone_data() == await both.local.system.zone_data()
    assert await both.remote.system.zone_data_history() == await both.local.system.zone_data_history()
    assert await both.remote.system.zone_impact() == await both.local.system.zone_impact() == []


async def test_pings_are_told_and_read(both: Both) -> None:
    await both.create("backup", shadow=True)
    first = await both.remote.pings.create("backup", NOW)
    assert first == NOW == await both.local.pings.create("backup", NOW)
    for second in range(1, 4):
        await both.local.pings.create("backup", NOW + timedelta(seconds=second, microseconds=500_000))
    bounds = (NOW, NOW + timedelta(seconds=3))
    assert await both.remote.pings.list("backup", *bounds) == await both.local.pings.list("backup", *bounds)
    found = await both.remote.pings.list("backup", *bounds, after=NOW, limit=1)
    assert found == [NOW + timedelta(seconds=1.5)]
    with pytest.raises(InvalidError, match="is in the future"):
        await both.remote.pings.create("backup", datetime.now(UTC) + timedelta(days=1))
    with pytest.raises(NotFoundError):
        await both.remote.pings.create("nobody")
    # To look is not to tell.
    viewer = await both.client("viewer", namespace="default")
    assert len(await viewer.pings.list("backup", *bounds)) == 3
    with pytest.raises(AccessError):
        await viewer.pings.create("backup")


async def test_several_events_are_published_together(both: Both) -> None:
    event_id = uuid4()
    new = [
        NewEvent(topic="orders.paid", type="Paid", key="a", data=None, headers={"trace": "x"}, tenant="shop"),
        NewEvent(topic="orders.paid", type="Paid", key="a", data=[1], id=event_id, expected_version=1),
        NewEvent(topic="stock", type="Moved"),
    ]
    published = await both.remote.events.publish_many(new, source="/shop", actor="x")
    assert published == await both.local.events.list()
    sent = [(event.topic, event.data, event.headers, event.tenant, event.version) for event in published]
    assert sent == [
        ("orders.paid", None, {"trace": "x"}, "shop", 1),
        ("orders.paid", [1], {}, None, 2),
        ("stock", {}, {}, None, None),
    ]
    assert published[1].id == event_id
    assert [(event.ordinal, event.count, event.source) for event in published] == [(n, 3, "/shop") for n in (1, 2, 3)]
    assert len({event.transaction_id for event in published} - {None}) == 1
    # The second one is refused, so the first one is not published either.
    conflict = [NewEvent(topic="stock", type="Moved"), NewEvent(topic="a", type="A", key="a", expected_version=5)]
    for client in (both.local, both.remote):
        with pytest.raises(ConflictError, match="has version 2, not 5"):
            await client.events.publish_many(conflict, actor="x")
        with pytest.raises(InvalidError, match="events must have 1 to 1,000 members"):
            await client.events.publish_many([], actor="x")
    assert len(await both.local.events.list()) == 3
    with pytest.raises(AccessError):
        await (await both.client("viewer", namespace="default")).events.publish_many(new, actor="x")


@pytest.mark.parametrize(
    "change, field",
    [
        ({"topic": 5}, "events.1.topic"),
        ({"type": ""}, "events.1.type"),
        ({"id": "no uuid"}, "events.1.id"),
        ({"id": 7}, "events.1.id"),
        ({"key": "k", "expected_version": "1"}, "events.1.expected_version"),
        ({"key": "k", "expected_version": 2**63}, "events.1.expected_version"),
        ({"expected_version": 1}, "events.1.expected_version"),
        ({"headers": None}, "events.1.headers"),
        ({"ordinal": 1}, "events.1.ordinal"),
    ],
)
async def test_an_invalid_event_is_named(both: Both, change: dict[str, Any], field: str) -> None:
    good = {"topic": "a", "type": "A"}
    headers = {"Authorization": f"Bearer {await both.token('operator', 'default')}"}
    async with httpx.AsyncClient(transport=both.wire, base_url=URL, headers=headers) as http:
        response = await http.post("/api/v1/events/batch", json={"events": [good, {**good, **change}]})
    assert response.status_code == 422, response.text
    assert field in response.text
    assert await both.local.events.list() == []


async def test_consumers_and_dead_letters_are_the_same(both: Both) -> None:
    store = both.store
    await steps.declare(store)
    await steps.publish(store, steps.A, steps.B, steps.A)
    await steps.consume(store, fails=lambda event: event.position == 1)
    assert await both.remote.consumers.list() == await both.local.consumers.list()
    failed, deferred = await both.remote.dead_letters.list(steps.GROUP)
    assert [failed, deferred] == await both.local.dead_letters.list()
    assert await both.remote.dead_letters.list(after=failed.id, limit=1) == [deferred]
    assert await both.remote.dead_letters.get(failed.id) == failed
    event_id = str(deferred.event.id)
    assert await both.remote.events.why(event_id, tz="Europe/Rome") == await both.local.events.why(
        event_id, tz="Europe/Rome"
    )
    assert await both.remote.dead_letters.set_approval(True, actor="x") is True
    assert await both.remote.dead_letters.requires_approval() is True
    proposed = await both.remote.dead_letters.repair(failed.id, {"total": 1}, actor="x", note="no total")
    assert (proposed.letters, proposed.is_proposed) == ([failed.id], True)
    assert (await both.local.dead_letters.approve(failed.id, actor="bo")).letters == [failed.id]
    assert (await both.remote.dead_letters.replay(failed.id, actor="x")).letters == [failed.id]
    assert (await both.remote.dead_letters.skip(failed.id, actor="x", note="cancelled")).letters == [failed.id]
    assert (await both.remote.dead_letters.replay_group(steps.GROUP, actor="x")).letters == []
    scratch = await both.remote.consumers.copy(steps.GROUP, "test", 1, actor="x")
    assert scratch == await both.local.consumers.get("test") == await both.remote.consumers.get("test")
    first = (await both.local.events.list(limit=1))[0].stamped_at
    assert first is not None
    assert (await both.remote.consumers.seek("test", at=first, actor="x")).lag == 3
    assert (await both.remote.consumers.stop("test", reason="why not", actor="x")).reason == "why not"
    assert (await both.remote.consumers.resume("test", actor="x")).state == "active"
    await both.remote.consumers.delete("test", actor="x")
    assert [group.name for group in await both.local.consumers.list()] == [steps.GROUP]


async def test_each_role_decides_about_what_it_may(both: Both) -> None:
    store = both.store
    await steps.declare(store)
    await steps.publish(store, steps.A, steps.B)
    await steps.consume(store, fails=lambda event: True)
    first, second = (letter.id for letter in await both.local.dead_letters.list())
    viewer = await both.client("viewer", namespace="default")
    assert len(await viewer.dead_letters.list()) == 2
    operator = await both.client("operator", namespace="default")
    await operator.dead_letters.replay(first, actor="x")
    editor = await both.client("editor", namespace="default")
    await editor.dead_letters.repair(second, {}, actor="x")
    for refused in (
        viewer.dead_letters.replay(second, actor="x"),
        viewer.dead_letters.skip(second, actor="x"),
        viewer.consumers.seek(steps.GROUP, 0, actor="x"),
        operator.dead_letters.repair(second, {}, actor="x"),
        operator.dead_letters.approve(second, actor="x"),
        operator.consumers.copy(steps.GROUP, "test", 0, actor="x"),
        operator.consumers.delete(steps.GROUP, actor="x"),
        editor.dead_letters.set_approval(False, actor="x"),
    ):
        with pytest.raises(AccessError):
            await refused

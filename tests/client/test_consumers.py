"""Consumer groups and dead letters through the client: what it checks, and where an event is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from conformance.events import steps
from conformance.events.steps import GROUP, A, B, C
from conformance.steps import T0
from tickbird.client import StoreClient
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError
from tickbird.domain.events.event import Event
from tickbird.domain.events.groups import NewGroup
from tickbird.domain.targets.event import event
from tickbird.domain.triggers.cron.cron import cron
from tickbird.stores import open_store


@pytest.fixture
async def client() -> AsyncIterator[StoreClient]:
    """A group that reads orders, and events of three keys, of which the first one of A has failed."""
    store = open_store("sqlite://:memory:")
    await store.open()
    client = StoreClient(store)
    await steps.declare(store)
    await steps.publish(store, A, B, A, C)
    await consume(client, failing=1)
    yield client
    await store.close()


async def consume(client: StoreClient, failing: int | None = None) -> list[int]:
    """Deliver what can be delivered now; the positions that were handled."""
    return [event.position or 0 for event in await handle(client, failing)]


async def handle(client: StoreClient, failing: int | None = None) -> list[Event]:
    # The client uses the clock of the store, not that of the steps.
    at = (await client.system.now() - T0).total_seconds() + 1
    return await steps.consume(client.store, at, fails=lambda event: event.position == failing)


async def published(client: StoreClient, position: int) -> Event:
    [found] = await client.events.list(after=position - 1, limit=1)
    return found


async def test_groups_have_lag_and_letters(client: StoreClient) -> None:
    [group] = await client.consumers.list()
    assert (group.name, group.state, group.lag, group.oldest_at) == (GROUP, "active", 0, None)
    assert {state: number for state, number in group.dead_letters.items() if number} == {"failed": 1, "deferred": 1}
    await steps.publish(client.store, C, C)
    behind = await client.consumers.get(GROUP)
    assert behind.lag == 2
    assert behind.oldest_at == (await published(client, 5)).stamped_at


async def test_a_group_moves_to_a_position_or_a_time(client: StoreClient) -> None:
    await client.consumers.seek(GROUP, 0, actor="ana", note="again")
    assert sorted(await consume(client)) == [1, 2, 3, 4]
    first = await published(client, 1)
    assert first.stamped_at is not None
    await client.consumers.seek(GROUP, at=first.stamped_at - timedelta(seconds=1), actor="ana")
    assert sorted(await consume(client)) == [1, 2, 3, 4]
    moved = await client.consumers.seek(GROUP, at=await client.system.now() + timedelta(hours=1), actor="ana")
    assert moved.lag == 0
    for given in ({}, {"position": 1, "at": first.stamped_at}):
        with pytest.raises(InvalidError, match="give exactly one"):
            await client.consumers.seek(GROUP, **given, actor="ana")  # type: ignore[arg-type]


async def test_an_unknown_group_is_refused_with_similar_names(client: StoreClient) -> None:
    calls = (
        client.consumers.get("biling"),
        client.consumers.seek("biling", 0, actor="ana"),
        client.consumers.copy("biling", "test", 0, actor="ana"),
        client.consumers.stop("biling", actor="ana"),
        client.consumers.resume("biling", actor="ana"),
        client.consumers.delete("biling", actor="ana"),
        client.dead_letters.replay_group("biling", actor="ana"),
    )
    for call in calls:
        with pytest.raises(NotFoundError, match=r"no consumer group 'biling'. Did you mean billing\?"):
            await call


async def test_a_scratch_group_reads_again(client: StoreClient) -> None:
    scratch = await client.consumers.copy(GROUP, "billing-test", 2, actor="ana")
    assert (scratch.scratch_of, scratch.lag) == (GROUP, 2)
    assert await consume(client) == [3, 4]
    with pytest.raises(ConflictError):
        await client.consumers.copy(GROUP, "billing-test", 0, actor="ana")
    await client.consumers.delete("billing-test", actor="ana")
    assert [group.name for group in await client.consumers.list()] == [GROUP]


async def test_a_stopped_group_gets_nothing(client: StoreClient) -> None:
    stopped = await client.consumers.stop(GROUP, reason="wrong invoices", actor="ana")
    assert (stopped.state, stopped.reason) == ("stopped", "wrong invoices")
    await steps.publish(client.store, C)
    assert await consume(client) == []
    [explained] = (await client.events.why(str((await published(client, 5)).id))).groups
    assert (explained.verdict, explained.fix) == ("stopped", f"tickbird consumers resume {GROUP}")
    assert "wrong invoices" in explained.text
    await client.consumers.resume(GROUP, actor="ana")
    assert await consume(client) == [5]


async def test_letters_are_listed_by_group_state_and_key(client: StoreClient) -> None:
    first, second = await client.dead_letters.list()
    assert [(letter.state, letter.event.position) for letter in (first, second)] == [("failed", 1), ("deferred", 3)]
    assert await client.dead_letters.list(state="failed") == [first]
    assert await client.dead_letters.list(key=A, after=first.id) == [second]
    assert await client.dead_letters.list(GROUP, limit=1) == [first]
    for nothing in (client.dead_letters.list("other"), client.dead_letters.list(key=B)):
        assert await nothing == []
    assert await client.dead_letters.get(first.id) == first
    for missing in (0, 10**6):
        with pytest.raises(NotFoundError, match=f"there is no dead letter {missing}"):
            await client.dead_letters.get(missing)
    await client.dead_letters.replay(first.id, actor="ana")
    assert await consume(client) == [1, 3]
    assert await client.dead_letters.list() == []
    assert [letter.state for letter in await client.dead_letters.list(state="all")] == ["delivered", "delivered"]


async def test_a_letter_is_skipped_and_its_key_continues(client: StoreClient) -> None:
    [failed] = await client.dead_letters.list(state="failed")
    assert (await client.dead_letters.skip(failed.id, note="cancelled", actor="ana")).letters == [failed.id]
    assert await consume(client) == [3]
    with pytest.raises(ConflictError):
        await client.dead_letters.skip(failed.id, actor="ana")
    explanation = await client.events.why(str(failed.event.id))
    assert explanation.groups[0].verdict == "skipped"
    assert "by ana" in explanation.groups[0].text
    assert "(cancelled)" in explanation.groups[0].text


async def test_a_repair_can_need_a_second_person(client: StoreClient) -> None:
    [failed] = await client.dead_letters.list(state="failed")
    assert await client.dead_letters.requires_approval() is False
    assert await client.dead_letters.set_approval(True, actor="root") is True
    assert (await client.dead_letters.repair(failed.id, {"total": 1}, actor="ana")).is_proposed
    assert await consume(client) == []
    [group] = (await client.events.why(str(failed.event.id))).groups
    assert group.fix == f"tickbird dead-letters approve {failed.id}"
    with pytest.raises(ConflictError):
        await client.dead_letters.approve(failed.id, actor="ana")
    await client.dead_letters.approve(failed.id, actor="bo")
    handled = await handle(client)
    assert [event.data for event in handled] == [{"total": 1}, {}]
    assert (await client.dead_letters.get(failed.id)).event.data == {}
    with pytest.raises(InvalidError):
        await client.dead_letters.repair(failed.id, float("nan"), actor="ana")


async def test_why_names_the_letter_that_holds_an_event_back(client: StoreClient) -> None:
    failed, deferred = await client.dead_letters.list()
    [group] = (await client.events.why(str(deferred.event.id))).groups
    assert (group.verdict, group.letter_id, group.blocked_by) == ("deferred", deferred.id, failed.id)
    await steps.publish(client.store, A)
    [waiting] = (await client.events.why(str((await published(client, 5)).id))).groups
    assert (waiting.verdict, waiting.blocked_by) == ("waits", failed.id)
    [handled] = (await client.events.why(str((await published(client, 2)).id))).groups
    assert (handled.verdict, handled.blocked_by) == ("handled", None)


async def test_why_names_the_run_and_its_schedule(client: StoreClient) -> None:
    await client.schedules.create("nightly", cron("0 2 * * *"), event("orders.nightly", "Due"), actor="ana")
    now = await client.system.now()
    await client.store.planning.plan_due(now=now + timedelta(days=1, seconds=1))
    await client.store.consumers.declare("default", [NewGroup(name="stock", topics=("stock.#",))], app="shop")
    [due] = await client.events.list("orders.nightly")
    explanation = await client.events.why(str(due.id))
    assert explanation.steps[0].run_id == due.run_id
    assert "of schedule nightly" in explanation.steps[0].text
    assert [(group.group, group.verdict) for group in explanation.groups] == [
        (GROUP, "waits"),
        ("stock", "not subscribed"),
    ]


async def test_changes_are_in_the_audit_log(client: StoreClient) -> None:
    failed, _ = await client.dead_letters.list()
    await client.dead_letters.replay_group(GROUP, actor="ana")
    await client.dead_letters.repair(failed.id, {}, actor="ana")
    await client.consumers.stop(GROUP, actor="ana")
    await client.consumers.resume(GROUP, actor="ana")
    await client.consumers.copy(GROUP, "test", 0, actor="ana")
    await client.consumers.seek(GROUP, 0, actor="ana")
    await client.consumers.delete("test", actor="ana")
    await client.dead_letters.set_approval(True, actor="ana")
    actions = [entry.action for entry in reversed(await client.audit.list()) if entry.actor == "ana"]
    assert actions == [
        "replay_group",
        "repair_dead_letter",
        "stop_consumer",
        "resume_consumer",
        "copy_consumer",
        "seek_consumer",
        "delete_consumer",
        "set_approval",
    ]


async def test_doctor_reports_groups_and_letters(client: StoreClient) -> None:
    findings = {finding.check: finding for finding in await client.system.doctor()}
    assert findings["consumers"].ok
    assert findings["dead letters"].figures == {"group": GROUP, "failed": 1}
    await client.consumers.stop(GROUP, reason="wrong invoices", actor="ana")
    findings = {finding.check: finding for finding in await client.system.doctor()}
    assert findings["consumers"].text == f"Group {GROUP} is stopped: wrong invoices."

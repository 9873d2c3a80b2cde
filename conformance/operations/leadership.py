"""Leader mode: terms that only grow, and planning that is conditional on them."""

from __future__ import annotations

import asyncio

import pytest

from conformance.steps import (
    NAMESPACE,
    a_worker,
    claim,
    create,
    later,
    plan,
    runs_of,
    skips_of,
)
from tickbird.domain.errors import ConflictError, NotFoundError, TermEndedError
from tickbird.domain.leadership import Election
from tickbird.domain.planning.plan_result import PlanResult
from tickbird.store.protocol.store import Store


async def elect(store: Store, name: str, at: float, timeout: float = 60) -> Election:
    """One attempt of a worker to become the leader."""
    return await store.leadership.elect(a_worker(name), timeout, now=later(at))


async def plan_in(store: Store, term: int, at: float) -> PlanResult:
    """One planning step of the leader of a term."""
    return await store.planning.plan_due(500, term=term, now=later(at))


class Leadership:
    """Elect, renew and resign, each scoped to one term."""

    async def test_the_store_issues_the_terms(self, store: Store, other: Store) -> None:
        elected = await elect(store, "a", 0)
        assert (elected.elected, elected.lease.term, elected.lease.worker) == (True, 1, "a")
        assert (elected.now, elected.lease.heartbeat_at, elected.lease.timeout) == (later(0), later(0), 60)
        refused = await elect(other, "b", 59)
        assert (refused.elected, refused.lease.term, refused.lease.worker) == (False, 1, "a")
        assert refused.lease.expires_in(refused.now) == 1

    async def test_another_worker_takes_over_after_the_timeout(self, store: Store, other: Store) -> None:
        await elect(store, "a", 0)
        assert (await store.leadership.renew(1, "a", runs=5, skips=2, now=later(20))) is not None
        assert not (await elect(other, "b", 79)).elected
        assert (await elect(other, "b", 80)).lease.term == 2
        assert await store.leadership.renew(1, "a", runs=9, now=later(81)) is None
        leader = await store.leadership.get(now=later(82))
        assert leader.is_live
        assert [(term.term, term.worker, term.end_reason, term.runs, term.skips) for term in leader.terms] == [
            (2, "b", None, 0, 0),
            (1, "a", "expired", 5, 2),
        ]
        assert leader.terms[1].ended_at == later(80)

    async def test_a_resignation_ends_the_term_at_once(self, store: Store, other: Store) -> None:
        await elect(store, "a", 0)
        ended = await store.leadership.resign(1, "a", note="drain", runs=3, skips=1, now=later(5))
        assert ended is not None
        assert (ended.ended_at, ended.end_reason, ended.note, ended.runs) == (later(5), "resigned", "drain", 3)
        assert (await store.leadership.get(now=later(5))).lease is None
        assert await store.leadership.resign(1, "a", now=later(6)) is None
        assert (await elect(other, "b", 5)).lease.term == 2

    async def test_renewal_and_resignation_are_scoped_to_the_exact_term(self, store: Store) -> None:
        await elect(store, "a", 0)
        for term, worker in ((1, "b"), (2, "a"), (0, "a")):
            assert await store.leadership.renew(term, worker, now=later(10)) is None
            assert await store.leadership.resign(term, worker, now=later(10)) is None
        lease = (await store.leadership.get(now=later(10))).lease
        assert lease is not None
        assert (lease.term, lease.heartbeat_at) == (1, later(0))

    async def test_equal_host_names_and_apps_do_not_matter(self, store: Store, other: Store) -> None:
        await elect(store, "host-1-aa", 0)
        assert not (await elect(other, "host-1-bb", 1)).elected

    async def test_an_election_whose_response_was_lost_is_repeated_with_a_new_term(self, store: Store) -> None:
        await elect(store, "a", 0)
        assert (await elect(store, "a", 1)).lease.term == 2
        terms = (await store.leadership.get(now=later(1))).terms
        assert [(term.term, term.end_reason, term.note) for term in terms] == [
            (2, None, ""),
            (1, "resigned", "elected again"),
        ]

    async def test_of_many_candidates_one_is_elected(self, store: Store, other: Store) -> None:
        attempts = await asyncio.gather(
            *(elect(candidate, f"w{number}", 0) for number in range(6) for candidate in (store, other))
        )
        assert len({election.lease.term for election in attempts if election.elected}) >= 1
        lease = (await store.leadership.get(now=later(0))).lease
        assert lease is not None
        # Both stores may have elected the same worker again; no other one.
        assert {election.lease.worker for election in attempts if election.elected} == {lease.worker}

    async def test_a_heartbeat_before_the_clock_was_set_back_expires(self, store: Store, other: Store) -> None:
        await elect(store, "a", 86_400)
        assert (await elect(other, "b", 0)).lease.term == 2

    async def test_an_operator_ends_a_term(self, store: Store, other: Store) -> None:
        with pytest.raises(NotFoundError):
            await store.leadership.end(NAMESPACE, "ada", now=later(0))
        await elect(store, "a", 0)
        with pytest.raises(ConflictError):
            await other.leadership.end(NAMESPACE, "ada", term=7, now=later(1))
        ended = await other.leadership.end(NAMESPACE, "ada", term=1, note="upgrade", now=later(1))
        assert (ended.end_reason, ended.note) == ("resigned", "requested by ada: upgrade")
        assert await store.leadership.renew(1, "a", now=later(2)) is None
        [entry] = await store.ledger.list_audit(NAMESPACE)
        assert (entry.actor, entry.action, entry.detail["term"]) == ("ada", "resign_leader", 1)

    async def test_planning_is_conditional_on_the_term(self, store: Store, other: Store) -> None:
        await create(store)
        await elect(store, "a", 0)
        assert (await plan_in(store, 1, 60)).runs == 1
        assert (await elect(other, "b", 61)).lease.term == 2
        with pytest.raises(TermEndedError):
            await plan_in(store, 1, 120)
        assert (await plan_in(other, 2, 120)).runs + len(await skips_of(other)) == 1

    async def test_runs_and_skips_have_the_term_that_planned_them(self, store: Store) -> None:
        await create(store)
        await create(store, "late", catch_up="all", overlap="allow")
        await elect(store, "a", 0)
        await plan_in(store, 1, 60)
        await claim(store, 61)
        # The first run is not final, so this tick is skipped; the other schedule catches up.
        await plan_in(store, 1, 240)
        assert {run.term for run in await runs_of(store)} == {1}
        assert {run.term for run in await runs_of(store, "late")} == {1}
        assert {skip.term for skip in await skips_of(store)} == {1}
        # Without leader mode, there is no term.
        await plan(store, 300)
        assert {run.term for run in await runs_of(store, "late")} == {1, None}
        # A skip of another term is not extended.
        assert [skip.term for skip in await skips_of(store)] == [1, None]

    async def test_a_command_plans_without_a_term(self, store: Store) -> None:
        await elect(store, "a", 0)
        await create(store, "daily", at=1)
        await plan(store, 60)
        assert [run.term for run in await runs_of(store, "daily")] == [None]

    async def test_two_leaders_by_force_give_each_tick_once(self, store: Store, other: Store) -> None:
        """I1 holds without leader mode: the term is not what makes ticks unique."""
        for number in range(20):
            await create(store, f"s{number}", overlap="allow")
        await elect(store, "a", 0)
        for minute in range(1, 6):
            await asyncio.gather(
                plan_in(store, 1, 60 * minute), plan(other, 60 * minute), plan_in(store, 1, 60 * minute)
            )
        for number in range(20):
            runs = await runs_of(store, f"s{number}")
            assert len(runs) == len({run.scheduled_for for run in runs}) == 5

    async def test_the_history_keeps_the_newest_terms(self, store: Store) -> None:
        for number in range(5):
            await elect(store, f"w{number}", 100 * number)
        assert [term.term for term in (await store.leadership.get(limit=3, now=later(0))).terms] == [5, 4, 3]

    async def test_a_worker_publishes_its_coordination(self, store: Store) -> None:
        await store.workers.heartbeat(a_worker("a", coordination="leader"), 60, now=later(0))
        await store.workers.heartbeat(a_worker("b"), 60, now=later(0))
        live = {worker.id: worker.coordination for worker in await store.workers.list(NAMESPACE, now=later(1))}
        assert live == {"a": "leader", "b": "shared"}

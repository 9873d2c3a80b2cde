"""Deliberate bugs in the product, one per test, that the simulation must detect."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from tickbird.domain.limits.concurrency import pick_releasable
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.planning import code_sync, due_decisions, edits, next_pass
from tickbird.domain.planning.backfills import BackfillSelection
from tickbird.domain.planning.commands import pause
from tickbird.domain.planning.commands.base import Change
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.planning.pending_ticks import prune_overrides
from tickbird.domain.planning.plan import Facts, RetriedRun
from tickbird.domain.runs.held import Release
from tickbird.domain.runs.leases import LeaseRef
from tickbird.domain.runs.run import TICK_ORIGINS, Outcome
from tickbird.domain.schedules.dependencies import DependencyCheck
from tickbird.domain.schedules.grid import TickGrid, TickRange
from tickbird.domain.schedules.schedule import Cursor
from tickbird.domain.workers import Worker
from tickbird.engine import clock
from tickbird.engine.clock import ClockGuard
from tickbird.engine.dispatcher import Dispatcher
from tickbird.store.shared.planning.backoff import PlanBackoff
from tickbird.store.sqlite import leases, runs
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.leases import SqliteLeases
from tickbird.store.sqlite.planning import backfills, planner, waiting_runs, write
from tickbird.store.sqlite.planning.waiting_runs import release

Patch = pytest.MonkeyPatch


def change_sql(patch: Patch, name: str, old: str, new: str) -> None:
    """Change a statement; a text that is not in it any more would be no mistake."""
    assert old in SQL[name], f"{name}: {old!r} is not in the statement"
    patch.setitem(SQL, name, SQL[name].replace(old, new))


def last_tick_of_a_window_is_lost(patch: Patch) -> None:
    """A tick just at `end_at` does not count."""
    following = TickGrid.next

    def shorter(self: TickGrid, after: int) -> int | None:
        tick = following(self, after)
        return None if tick is not None and tick == self._last else tick

    patch.setattr(TickGrid, "next", shorter)


def coalesced_into_the_wrong_label(patch: Patch) -> None:
    """`one` uses the newest late tick, and `latest` the oldest."""
    run_only = due_decisions.DuePass._run_only

    def wrong(self: Any, label: int, segment: TickRange) -> None:
        other = self.late[-1].last if self.policy.catch_up == "one" else self.late[0].first
        run_only(self, other, segment)

    patch.setattr(due_decisions.DuePass, "_run_only", wrong)


def overlap_counts_manual_runs(patch: Patch) -> None:
    """A manual run causes a skip."""
    patch.setattr(due_decisions, "TICK_ORIGINS", TICK_ORIGINS | {"manual", "retry"})


def finish_takes_any_attempt(patch: Patch) -> None:
    """A worker that lost its run ends it all the same."""
    finish = SqliteLeases.finish

    async def unfenced(self: SqliteLeases, outcomes: Sequence[Outcome], **options: Any) -> Any:
        attempts = dict(await self._db.read(lambda db: db.execute("SELECT id, attempt FROM runs").fetchall()))
        taken = [replace(outcome, attempt=attempts.get(outcome.run_id, 0)) for outcome in outcomes]
        return await finish(self, taken, **{**options, "worker": None})

    patch.setattr(SqliteLeases, "finish", unfenced)


def cursor_moves_without_runs(patch: Patch) -> None:
    """Every seventh batch forgets its runs."""
    write_rows, batches = write._write_rows, iter(range(10**9))

    def forgetful(db: sqlite3.Connection, rows: Any, now: datetime) -> None:
        if next(batches) % 7 == 6:
            rows.runs = []
        write_rows(db, rows, now)

    patch.setattr(write, "_write_rows", forgetful)


def release_is_forgotten(patch: Patch) -> None:
    """Waiting runs are not released when a run ends."""
    for module in (leases, runs):
        patch.setattr(module, "release", lambda *_, **_named: [])


def a_key_has_a_place_too_many(patch: Patch) -> None:
    """One run more than allowed is active."""
    change_sql(patch, "busy_key", ":default)", ":default) + 1")


def places_of_a_key_are_forgotten(patch: Patch) -> None:
    """Runs that wait for a key are not released when a run of another schedule ends."""
    for module in (leases, runs):
        patch.setattr(module, "release", lambda db, known, ids, now, **_: release(db, known, ids, now))


def the_newest_gets_the_place(patch: Patch) -> None:
    """The newest run that waits for a key is released first."""

    def reverse(found: Any, *counts: Any) -> list[int]:
        return [-chosen for chosen in pick_releasable([replace(one, id=-one.id) for one in found], *counts)]

    patch.setattr(waiting_runs, "pick_releasable", reverse)


def a_backfill_goes_past_what_is_decided(patch: Patch) -> None:
    """Future ticks of a range are run, too."""

    def further(schedule: Any, name: str, new: Any, pruned_until: int | None) -> Any:
        wanted = BackfillSelection(schedule, name, new, pruned_until)
        wanted.last = new.last
        return wanted

    patch.setattr(backfills, "BackfillSelection", further)


def a_backfill_runs_pruned_ticks_again(patch: Patch) -> None:
    """A run that retention has deleted counts as none."""
    patch.setattr(backfills, "BackfillSelection", lambda schedule, name, new, _: BackfillSelection(schedule, name, new))


def a_backfill_takes_all_places(patch: Patch) -> None:
    """A backfill uses all free slots."""
    change_sql(patch, "waiters_of_backfills", "b.concurrency,", "99 AS concurrency,")


def rates_are_forgotten(patch: Patch) -> None:
    """Runs of a queue start without a rate limit."""
    patch.setattr(RateLimit, "left", lambda self, starts, now: self.count)


def a_planner_hands_off_runs_that_have_a_rate(patch: Patch) -> None:
    """Starts of handed-off runs are not counted."""
    patch.setattr(write, "_limited", lambda *_: ())


def a_rate_is_slower_than_it_says(patch: Patch) -> None:
    """The last of the runs that may begin has to wait."""
    left = RateLimit.left
    patch.setattr(RateLimit, "left", lambda self, starts, now: left(self, starts, now) - 1)


def a_long_outage_is_like_a_short_one(patch: Patch) -> None:
    """Runs that should be held start at once."""
    patch.setattr(due_decisions.DuePass, "_must_hold", lambda self: False)


def held_runs_are_let_go_by_themselves(patch: Patch) -> None:
    """The end of a run releases a held one."""
    change_sql(patch, "with_waiters", "lane < 2", "lane < 3")
    change_sql(patch, "waiters_of_schedule", "lane = 0", "lane IN (0, 2)")


def all_held_runs_are_let_go_at_once(patch: Patch) -> None:
    """Released runs start without their interval."""
    patch.setattr(Release, "interval", 0.0)


def an_old_success_will_do(patch: Patch) -> None:
    """A tick runs even if its dependency succeeded too long ago."""
    patch.setattr(DependencyCheck, "unmet", lambda self, due_at: "")
    patch.setattr(DependencyCheck, "awaits", lambda self, due_at: ())


def a_success_is_not_noted(patch: Patch) -> None:
    """A success does not release dependents."""
    patch.setattr(leases, "record_successes", lambda *_: set())


def the_wait_for_a_success_ends_too_soon(patch: Patch) -> None:
    """A run that waits for another schedule is cancelled too early."""
    change_sql(patch, "cancel_unmet", "deadline_at < :now ORDER", "deadline_at < :now + 10000000000 ORDER")


def renew_asks_for_no_owner(patch: Patch) -> None:
    """A lease is extended for any worker that names the run."""
    renew, running = SqliteLeases.renew, "SELECT id, attempt, worker FROM runs WHERE status = 'running'"

    async def anyone(self: SqliteLeases, worker: Worker, held: Sequence[LeaseRef], lease: float, **options: Any) -> Any:
        rows = await self._db.read(lambda db: db.execute(running).fetchall())
        owners = {run_id: (LeaseRef(run_id, attempt), replace(worker, id=owner)) for run_id, attempt, owner in rows}
        named = [owners[ref.run_id] for ref in held if ref.run_id in owners]
        renewed = [await renew(self, owner, [ref], lease, **options) for ref, owner in named]
        kept = frozenset(run_id for result in renewed for run_id in result.held)
        cancelled = frozenset(run_id for result in renewed for run_id in result.cancelled)
        return replace(await renew(self, worker, [], lease, **options), held=kept, cancelled=cancelled)

    patch.setattr(SqliteLeases, "renew", anyone)


def rescue_takes_good_leases(patch: Patch) -> None:
    """A run is rescued just before its lease expires."""
    change_sql(patch, "expired_runs", "lease_until < :now", "lease_until < :now + 9000000")


def worker_goes_on_past_its_lease(patch: Patch) -> None:
    """A worker that cannot renew its lease continues the work."""
    stop = Dispatcher.stop

    def ignore(self: Dispatcher, attempt: Any, reason: Any) -> None:
        if reason != "lease":
            stop(self, attempt, reason)

    patch.setattr(Dispatcher, "stop", ignore)


def old_workers_revert_a_deploy(patch: Patch) -> None:
    """The last deploy always writes its own definition."""
    patch.setattr(code_sync, "_wins", lambda declared, stored, seen, live: declared != stored)


def resume_catches_up(patch: Patch) -> None:
    """Ticks during a pause run at resume."""
    patch.setattr(pause, "skip_all", lambda schedule, *_, **__: next_pass.settle(schedule, schedule.cursor))


def jumps_are_believed(patch: Patch) -> None:
    """A worker trusts any time of the store's clock."""
    patch.setattr(ClockGuard, "expected", lambda self: None)


def jumps_are_believed_too_late(patch: Patch) -> None:
    """A clock that was set is suspect for an hour."""
    patch.setattr(clock, "ACCEPT_AFTER", 3_600.0)


def the_store_ignores_what_is_expected(patch: Patch) -> None:
    """Planning and rescue continue at any time of the clock."""
    for module in (leases, planner):
        patch.setattr(module, "has_jumped", lambda at, expected: False)


def overrides_are_forgotten_together(patch: Patch) -> None:
    """Deciding an overridden tick drops the overrides of later ticks."""
    drop = prune_overrides

    def all_of_them(before: Cursor, after: Cursor, now: int) -> Cursor:
        left = drop(before, after, now)
        return left if len(left.tick_overrides) == len(before.tick_overrides) else replace(left, tick_overrides=())

    patch.setattr(next_pass, "prune_overrides", all_of_them)


def an_edit_takes_overrides_away(patch: Patch) -> None:
    """An edit of the grid drops all overrides."""
    patch.setattr(
        edits, "migrate_overrides", lambda before, after, cursor, same_grid: (replace(cursor, tick_overrides=()), ())
    )


def ticks_that_ran_ahead_of_their_time_are_forgotten(patch: Patch) -> None:
    """After an edit, a tick that was moved earlier and has run is a future tick again."""
    patch.setattr(edits, "restart_grid", lambda schedule, now: Cursor(now))


def a_new_grid_begins_behind_what_ran_ahead(patch: Patch) -> None:
    """After an edit nothing is decided up to a tick that ran ahead of its time."""
    patch.setattr(edits, "restart_grid", lambda schedule, now: Cursor(max(now, schedule.cursor.planned_until or 0)))


def a_shadow_is_caught_up(patch: Patch) -> None:
    """A tick of a shadow that is late runs."""
    decide = due_decisions.DuePass._decide

    def late(self: Any, due: Any) -> None:
        if due.fate == "late" and self.policy.shadow:
            self.policy = replace(self.policy, shadow=False)
        decide(self, due)

    patch.setattr(due_decisions.DuePass, "_decide", late)


def a_shadow_waits_for_others(patch: Patch) -> None:
    """A shadow waits for its dependencies."""
    look = due_decisions.DuePass.__init__

    def needing(self: Any, schedule: Any, facts: Any, now: float) -> None:
        look(self, schedule, facts, now)
        if schedule.definition.shadow and schedule.definition.depends_on:
            self.policy = replace(self.policy, shadow=False)

    patch.setattr(due_decisions.DuePass, "__init__", needing)


def a_retry_runs_the_schedule_as_it_is_now(patch: Patch) -> None:
    """A retry uses the target and policies of the newest revision."""
    repeat = Trigger._repeat

    def newest(self: Trigger, schedule: Any, facts: Facts, now: float) -> Change:
        assert facts.retried_run is not None
        current = replace(facts.retried_run.run, revision=schedule.revision)
        return repeat(self, schedule, replace(facts, retried_run=RetriedRun(current, schedule.definition)), now)

    patch.setattr(Trigger, "_repeat", newest)


def a_refused_schedule_is_never_tried_again(patch: Patch) -> None:
    """Planning leaves it out for ever."""
    patch.setattr(PlanBackoff, "due", lambda *_: [])
    patch.setattr(PlanBackoff, "next_at", lambda _, other: other)


def a_refused_schedule_is_parked(patch: Patch) -> None:
    """A trigger that raises counts as an error of the row."""
    patch.setattr(planner, "_ROW_ERRORS", (Exception,))


def planning_ignores_its_term(patch: Patch) -> None:
    """A former leader plans on."""
    patch.setitem(SQL, "has_term", "SELECT 1 WHERE :term IS NOT NULL")


def terms_begin_again(patch: Patch) -> None:
    """After a resignation, the number of the term is issued again."""
    change_sql(
        patch,
        "issue_term",
        "max(value + 1, excluded.value)",
        "(SELECT count(*) FROM leader_terms WHERE ended_at IS NULL) + 1",
    )
    change_sql(patch, "begin_term", "INSERT INTO", "INSERT OR REPLACE INTO")


PLANNER = (
    last_tick_of_a_window_is_lost,
    coalesced_into_the_wrong_label,
    overlap_counts_manual_runs,
    resume_catches_up,
)
OVERRIDES = (
    overrides_are_forgotten_together,
    an_edit_takes_overrides_away,
    ticks_that_ran_ahead_of_their_time_are_forgotten,
    a_new_grid_begins_behind_what_ran_ahead,
)
STORE = (finish_takes_any_attempt, cursor_moves_without_runs, release_is_forgotten)
RETRIES = (a_retry_runs_the_schedule_as_it_is_now,)
LIMITS = (a_key_has_a_place_too_many, places_of_a_key_are_forgotten, the_newest_gets_the_place)
BACKFILLS = (
    a_backfill_goes_past_what_is_decided,
    a_backfill_runs_pruned_ticks_again,
    a_backfill_takes_all_places,
)
RATES = (rates_are_forgotten, a_planner_hands_off_runs_that_have_a_rate, a_rate_is_slower_than_it_says)
HELD = (a_long_outage_is_like_a_short_one, held_runs_are_let_go_by_themselves, all_held_runs_are_let_go_at_once)
DEPENDENCIES = (an_old_success_will_do, a_success_is_not_noted, the_wait_for_a_success_ends_too_soon)
SHADOWS = (a_shadow_is_caught_up, a_shadow_waits_for_others)
LEASE = (renew_asks_for_no_owner, rescue_takes_good_leases, worker_goes_on_past_its_lease)
CLOCK = (jumps_are_believed, jumps_are_believed_too_late, the_store_ignores_what_is_expected)
LEADER = (planning_ignores_its_term, terms_begin_again)
DEPLOYS = (old_workers_revert_a_deploy,)
REFUSALS = (a_refused_schedule_is_never_tried_again, a_refused_schedule_is_parked)
MUTATIONS = (
    PLANNER
    + OVERRIDES
    + STORE
    + RETRIES
    + LIMITS
    + BACKFILLS
    + RATES
    + HELD
    + DEPENDENCIES
    + SHADOWS
    + LEASE
    + CLOCK
    + DEPLOYS
    + REFUSALS
    + LEADER
)
# These show only in scenarios with the affected feature.
FEATURES = {
    **dict.fromkeys(LIMITS, "keys"),
    **dict.fromkeys(BACKFILLS, "backfills"),
    **dict.fromkeys(RATES, "queues"),
    **dict.fromkeys(HELD, "holds"),
    **dict.fromkeys(DEPENDENCIES, "dependencies"),
    **dict.fromkeys(SHADOWS, "shadows"),
    **dict.fromkeys(REFUSALS, "refusals"),
    **dict.fromkeys(LEADER, "leader_timeout"),
}
# The seed that last detected each, which is tried first; if the simulation has changed since, all seeds are tried.
SEEN: dict[Callable[[Patch], None], int] = {
    last_tick_of_a_window_is_lost: 20,
    overlap_counts_manual_runs: 13,
    overrides_are_forgotten_together: 44,
    ticks_that_ran_ahead_of_their_time_are_forgotten: 18,
    finish_takes_any_attempt: 156,
    a_backfill_goes_past_what_is_decided: 36,
    rates_are_forgotten: 16,
    a_rate_is_slower_than_it_says: 12,
    held_runs_are_let_go_by_themselves: 19,
    the_wait_for_a_success_ends_too_soon: 87,
    jumps_are_believed: 19,
    coalesced_into_the_wrong_label: 20,
    resume_catches_up: 48,
    an_edit_takes_overrides_away: 5,
    a_new_grid_begins_behind_what_ran_ahead: 2,
    a_backfill_takes_all_places: 13,
    a_planner_hands_off_runs_that_have_a_rate: 16,
    a_long_outage_is_like_a_short_one: 19,
    all_held_runs_are_let_go_at_once: 19,
    renew_asks_for_no_owner: 61,
    worker_goes_on_past_its_lease: 112,
    jumps_are_believed_too_late: 2,
    a_retry_runs_the_schedule_as_it_is_now: 44,
    a_backfill_runs_pruned_ticks_again: 455,
    a_shadow_waits_for_others: 195,
    rescue_takes_good_leases: 6,
    a_refused_schedule_is_never_tried_again: 44,
    a_refused_schedule_is_parked: 44,
}

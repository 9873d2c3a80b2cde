"""Ticks: those to come, what was decided for those that came, and why."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime

from tickbird.client.base import ClientBase, page_size
from tickbird.cpu_threads import compute, compute_now
from tickbird.domain.errors import InvalidError
from tickbird.domain.explain.context import ExplainContext
from tickbird.domain.explain.explanation import Explanation
from tickbird.domain.explain.why import explain
from tickbird.domain.ledger.activity import Activity
from tickbird.domain.ledger.decisions import TickDecisions
from tickbird.domain.ledger.entries import LedgerEntry
from tickbird.domain.ledger.report import LedgerReport
from tickbird.domain.ledger.verification import LedgerVerifier
from tickbird.domain.planning.upcoming import UpcomingTick, upcoming_ticks
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import EPOCH, FIRST_SECOND, LAST_SECOND, to_datetime, to_seconds
from tickbird.domain.time.zones import zone

# So many successes of a schedule are looked through for the one that another one needed.
_SUCCESSES = 200
_FEW = 100
# Revisions on either side of an instant that explain it.
_AROUND = 500


class Ticks(ClientBase):
    """The verbs about ticks."""

    async def next_ticks(self, name: str, count: int = 10) -> Sequence[UpcomingTick]:
        """The ticks to come, as the schedule stands now."""
        schedule, now = await self._get(name), await self._store.now()
        # A page that shows a few does not wait for a caller that asked for thousands.
        return await (compute if count > _FEW else compute_now)(upcoming_ticks, schedule, now, count)

    async def why(self, name: str, at: datetime, *, tz: str | None = None) -> Explanation:
        """The whole chain of what was, or will be, decided for an instant, on the schedule's clock or another."""
        evidence = await self._context(await self._find(name), at)
        return await compute_now(explain, evidence if tz is None else replace(evidence, tz=zone(tz).name))

    async def _context(self, schedule: Schedule, at: datetime) -> ExplainContext:
        """The rows that concern one instant of a schedule, and those that they name."""
        store, namespace, name = self._store, self._namespace, schedule.name
        tick = to_datetime(to_seconds(at))
        decided = await store.ledger.tick_decisions(schedule.id, tick, tick)
        named = {run.revision for run in decided.runs} | {skip.revision for skip in decided.skips}
        evidence = ExplainContext(
            schedule=schedule,
            at=at,
            now=await store.now(),
            copy_reason=(await store.identity.read()).copy_reason,
            revisions=await self._revisions_around(schedule, tick, named),
            runs=decided.runs,
            skips=decided.skips,
            active=await store.runs.list_active(schedule.id),
            workers=await store.workers.list(namespace),
        )
        run, skip = evidence.run, evidence.skip
        evidence = await self._with_needed(evidence, run.revision if run else skip.revision if skip else None)
        others: list[RunRecord] = []
        if run is None:
            behind = await store.runs.get(skip.run_id) if skip is not None and skip.run_id is not None else None
            return evidence if behind is None else replace(evidence, others=[behind])
        if run.available_at > run.created_at:
            # It may have waited for one of these.
            others += await store.runs.list(namespace, schedule=name, before=run.id, limit=50)
        if run.status == "cancelled" and run.finished_at is not None:
            # One of these may have replaced it.
            others += (await store.ledger.tick_decisions(schedule.id, tick, run.finished_at, limit=50)).runs
        if run.status in ("failed", "cancelled"):
            newest = await store.runs.list(namespace, schedule=name, limit=100)
            others += [other for other in newest if other.retry_of == run.id]
        if run.status == "waiting" and run.concurrency_key is not None:
            key = run.concurrency_key
            limit = next(iter(await store.limits.list(namespace, key=key)), None)
            evidence = replace(evidence, limit=limit, holders=await store.limits.list_runs(namespace, key))
        if run.status == "queued":
            evidence = replace(evidence, turn=await store.queues.find_position(run.id))
        return replace(
            evidence,
            attempts=await store.runs.list_attempts(run.id) if run.attempt else (),
            others=others,
            running=await store.runs.list(namespace, status="running", limit=1_000) if run.status == "queued" else (),
        )

    async def _revisions_around(
        self, schedule: Schedule, tick: datetime, named: set[int | None]
    ) -> Sequence[RevisionRecord]:
        """Revisions, newest first: the newest ones, those around an instant, and those with these numbers.

        A bounded number, because a schedule may have tens of thousands.
        """
        list_revisions = self._store.schedules.list_revisions
        found = {each.revision: each for each in await list_revisions(schedule.id)}
        if found and min(found) > 1 and found[min(found)].at >= tick:
            then = await list_revisions(schedule.id, made_before=tick, limit=1)
            before = (then[0].revision if then else 0) + _AROUND
            found |= {
                each.revision: each for each in await list_revisions(schedule.id, before=before, limit=2 * _AROUND)
            }
        for number in sorted(number for number in named if number is not None and number not in found):
            one = await list_revisions(schedule.id, before=number + 1, limit=1)
            found |= {each.revision: each for each in one if each.revision == number}
        return [found[number] for number in sorted(found, reverse=True)]

    async def _with_needed(self, evidence: ExplainContext, revision: int | None) -> ExplainContext:
        """With what is known of the schedules that this one depends on, or did by a revision."""
        asked = (evidence.schedule.definition, evidence.definition(revision))
        names = {each.schedule for definition in asked if definition is not None for each in definition.depends_on}
        if not names:
            return evidence
        successes = await self._store.schedules.last_successes(self._namespace, names)
        needed: list[RunRecord] = []
        # What has never succeeded may have failed a million times.
        for name in sorted(name for name, last in successes.items() if last.at is not None):
            needed += await self._store.runs.list(self._namespace, schedule=name, status="succeeded", limit=_SUCCESSES)
        return replace(evidence, successes=successes, needed=needed, shadows=await self._shadows(successes))

    async def tick_decisions(self, name: str, first: datetime, last: datetime, *, limit: int = 1_000) -> TickDecisions:
        """The runs and skips whose ticks touch a range."""
        return await self._store.ledger.tick_decisions((await self._find(name)).id, first, last, limit)

    async def verify_ledger(
        self, name: str, first: datetime | None = None, last: datetime | None = None, *, page: int = 10_000
    ) -> LedgerReport:
        """Do the ticks that were to be expected in a range have one decision each, and no decision lacks its tick?"""
        start = FIRST_SECOND if first is None else to_seconds(first)
        end = LAST_SECOND if last is None else to_seconds(last)
        if end < start:
            raise InvalidError("last: lies before first.", field="last", hint="Swap them.")
        while True:
            # In this order: what is decided up to the cursor that was read is in the rows that are read later.
            schedule = await self._find(name)
            revisions, known_from = await self._revisions_without_gap(schedule)
            now, pruned = (await self._store.now()).timestamp(), await self._pruned_until(schedule)
            complete = max((each for each in (pruned, known_from) if each is not None), default=None)
            auditor = await compute_now(LedgerVerifier, schedule, revisions, start, end, now, complete)
            async for decisions in self._ledger(schedule, auditor, start, page):
                await compute_now(auditor.take, decisions)
            # What was pruned meanwhile would look missing.
            if await self._pruned_until(schedule) == pruned:
                return await compute_now(auditor.finish)

    async def _revisions_without_gap(self, schedule: Schedule) -> tuple[Sequence[RevisionRecord], int | None]:
        """The newest revisions without a gap, and since when they tell what was in force; None: since the first."""
        found: list[RevisionRecord] = []
        async for revision in self._all_revisions(schedule):
            if found and revision.revision != found[-1].revision - 1:
                break
            found.append(revision)
        return found, to_seconds(found[-1].at) if found and found[-1].revision > 1 else None

    async def _pruned_until(self, schedule: Schedule) -> int | None:
        return (await self._store.ledger.page(schedule.id, EPOCH, EPOCH, EPOCH, 1)).pruned_until

    async def _ledger(
        self, schedule: Schedule, auditor: LedgerVerifier, start: int, limit: int
    ) -> AsyncIterator[Sequence[LedgerEntry]]:
        """The decisions from an instant on, as far as they must be read, in order, a page at a time."""
        reach, runs_from, skips_from = auditor.reach, start, start
        while reach >= min(runs_from, skips_from):
            found = await self._store.ledger.page(
                schedule.id, to_datetime(runs_from), to_datetime(skips_from), to_datetime(reach), limit
            )
            full = [rows[-1].first for rows in (found.runs, found.skips) if len(rows) == limit]
            # Up to here both pages are whole; what lies beyond comes with the next.
            horizon = min(full, default=reach)
            taken = sorted(
                (each for each in (*found.runs, *found.skips) if each.first <= horizon), key=lambda each: each.first
            )
            yield taken
            if not full:
                return
            runs_from = max([runs_from, *(each.last + 1 for each in taken if each.run_id is not None)])
            skips_from = max([skips_from, *(each.last + 1 for each in taken if each.skip_id is not None)])

    async def activity(
        self, since: datetime, *, schedule: str | None = None, limit: int = 10_000
    ) -> Sequence[Activity]:
        """The ticks decided and the runs ended since an instant, oldest first; of each kind the newest `limit`."""
        to_seconds(since)
        if schedule is not None:
            await self._find(schedule)
        found: list[Activity] = []
        before: int | None = None
        while len(found) < limit:
            page = await self._store.runs.list(
                self._namespace, schedule=schedule, before=before, limit=min(200, page_size(limit))
            )
            made = [run for run in page if run.created_at >= since]
            found += [Activity(run.created_at, "planned", run.schedule, run) for run in made]
            # Ids are given out before their runs are written, so that one page may hold some of either side.
            if not made:
                break
            before = page[-1].id
        recent = await self._store.ledger.recent_outcomes(self._namespace, since, limit)
        found += [Activity(run.finished_at or since, "ended", run.schedule, run) for run in recent.ended]
        found += [Activity(skip.decided_at, "skipped", name, skip=skip) for name, skip in recent.skips]
        mine = [each for each in found if schedule in (None, each.schedule)]
        return sorted(mine, key=lambda each: (each.at, each.kind != "planned"))

"""Ticks: upcoming ones, past decisions, explanations and verification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, Any

from tickbird.client.base import ClientBase
from tickbird.client.parameters import From, ScheduleName, Zone
from tickbird.cpu_threads import compute, compute_now
from tickbird.domain.errors import InvalidError
from tickbird.domain.explain.context import ExplainContext
from tickbird.domain.explain.explanation import Explanation
from tickbird.domain.explain.why import explain
from tickbird.domain.ledger.decisions import DecisionPage, TickDecisions, page_of_decisions
from tickbird.domain.ledger.page_cursor import LedgerCursor
from tickbird.domain.ledger.report import LedgerReport
from tickbird.domain.ledger.verification import LedgerVerifier
from tickbird.domain.planning.upcoming import UpcomingTick, upcoming_ticks, with_notes
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import EPOCH, FIRST_SECOND, LAST_SECOND, to_datetime, to_seconds
from tickbird.domain.time.zones import zone
from tickbird.wire.operations import viewer
from tickbird.wire.page_tokens import NUMBER_KEY, read_number_key
from tickbird.wire.parameters import Meta

# How many successes of a schedule are searched for the one that a dependent tick needed.
_SUCCESSES = 200
_FEW = 100
# How far back the ledger is read by default.
_LATELY = timedelta(days=7)
# Revisions on either side of an instant that explain it.
_AROUND = 500


async def _clock(client: Any, _: Sequence[UpcomingTick], __: Mapping[str, Any]) -> datetime:
    now: datetime = await client.system.now()
    return now


class Ticks(ClientBase):
    """Ticks: upcoming, decided, explained, verified."""

    @viewer.get("next_ticks", "/schedules/{name}/next", "List upcoming ticks", extras={"now": _clock})
    async def next(
        self,
        name: ScheduleName,
        count: Annotated[int, Meta(ge=1, le=10_000, description="How many ticks.")] = 10,
    ) -> Sequence[UpcomingTick]:
        """List the next ticks of a schedule as it is now, with notes on clock changes."""
        schedule, now = await self._get(name), await self._store.now()
        # A page that shows a few ticks does not wait for a caller that requested thousands.
        return await (compute if count > _FEW else compute_now)(_noted_ticks, schedule, now, count)

    @viewer.get("why", "/schedules/{name}/why", "Explain a tick")
    async def why(
        self,
        name: ScheduleName,
        at: Annotated[datetime, Meta(description="The instant to explain.")],
        *,
        tz: Zone = None,
    ) -> Explanation:
        """Explain step by step why a schedule ran, did not run, or will run at an instant."""
        evidence = await self._context(await self._find(name), at)
        return await compute_now(explain, evidence if tz is None else replace(evidence, tz=zone(tz).name))

    async def _context(self, schedule: Schedule, at: datetime) -> ExplainContext:
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
            lost=await store.workers.list_lost(namespace),
            planners=await store.workers.count_planners(),
        )
        run, skip = evidence.run, evidence.skip
        evidence = await self._with_needed(evidence, run.revision if run else skip.revision if skip else None)
        others: list[RunRecord] = []
        if run is None:
            blocker = await store.runs.get(skip.run_id) if skip is not None and skip.run_id is not None else None
            return evidence if blocker is None else replace(evidence, others=[blocker])
        if run.status == "running":
            evidence = replace(evidence, progress=await store.logs.read_progress(run.id))
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
            evidence = replace(evidence, turn=await self._find_position(run.id))
        return replace(
            evidence,
            attempts=await store.runs.list_attempts(run.id) if run.attempt else (),
            others=others,
            running=await store.runs.list(namespace, status="running", limit=1_000) if run.status == "queued" else (),
        )

    async def _revisions_around(
        self, schedule: Schedule, tick: datetime, named: set[int | None]
    ) -> Sequence[RevisionRecord]:
        """The newest revisions, those around an instant, and the named ones, newest first; a bounded number."""
        list_revisions = self._store.schedules.list_revisions
        records = {record.revision: record for record in await list_revisions(schedule.id)}
        if records and min(records) > 1 and records[min(records)].at >= tick:
            earlier = await list_revisions(schedule.id, made_before=tick, limit=1)
            before = (earlier[0].revision if earlier else 0) + _AROUND
            page = await list_revisions(schedule.id, before=before, limit=2 * _AROUND)
            records |= {record.revision: record for record in page}
        for number in sorted(number for number in named if number is not None and number not in records):
            page = await list_revisions(schedule.id, before=number + 1, limit=1)
            records |= {record.revision: record for record in page if record.revision == number}
        return [records[number] for number in sorted(records, reverse=True)]

    async def _with_needed(self, evidence: ExplainContext, revision: int | None) -> ExplainContext:
        """Add the schedules that this one depends on, also by an earlier revision."""
        definitions = (evidence.schedule.definition, evidence.definition(revision))
        names = {need.schedule for definition in definitions if definition for need in definition.depends_on}
        if not names:
            return evidence
        successes = await self._store.schedules.last_successes(self._namespace, names)
        needed: list[RunRecord] = []
        # A schedule that has never succeeded may have a million failures.
        for name in sorted(name for name, last in successes.items() if last.at is not None):
            needed += await self._store.runs.list(self._namespace, schedule=name, status="succeeded", limit=_SUCCESSES)
        return replace(evidence, successes=successes, needed=needed, shadows=await self._shadows(successes))

    @viewer.get("list_decisions", "/schedules/{name}/decisions", "List the runs and skips of a range")
    async def decisions(
        self,
        name: ScheduleName,
        first: Annotated[From, Meta(description="The first tick of the range.")],
        last: Annotated[datetime, Meta(description="The last tick of the range.")],
        *,
        limit: Annotated[int, Meta(ge=1, le=10_000, description="The maximum of each kind.")] = 1_000,
    ) -> TickDecisions:
        """List the runs and the skips of the ticks of a range, oldest first; `list` has both in one order, in pages."""
        return await self._store.ledger.tick_decisions((await self._find(name)).id, first, last, limit)

    @viewer.get("list_ticks", "/schedules/{name}/ticks", "List the ledger")
    async def list(
        self,
        name: ScheduleName,
        first: Annotated[
            datetime | None, Meta(description="The first tick of the range (default: seven days ago).")
        ] = None,
        last: Annotated[datetime | None, Meta(description="The last tick of the range (default: now).")] = None,
        *,
        limit: Annotated[int, Meta(ge=1, le=1_000, description="The maximum number.")] = 100,
        after: Annotated[
            str | None,
            Meta(max_length=2_000, schema={"pattern": NUMBER_KEY}, description="The `next` of the previous page."),
        ] = None,
    ) -> DecisionPage:
        """List the decisions for ticks, oldest first: a run, or a skip of one or many ticks.

        A run and a skip of the same tick are never on different pages, so a page may have one decision more.
        """
        end = await self._store.now() if last is None else last
        place = None if after is None else read_number_key(after)
        start = (end - _LATELY if first is None else first) if place is None else to_datetime(min(place, LAST_SECOND))
        if start > end:
            return DecisionPage()
        return page_of_decisions(
            await self.decisions(name, start, end, limit=limit + 1), start if place is not None else None, limit
        )

    @viewer.get("verify_ledger", "/schedules/{name}/verify", "Verify the ledger", timeout=300, local=("page",))
    async def verify(
        self,
        name: ScheduleName,
        first: Annotated[
            datetime | None, Meta(description="The start of the range (default: when it was created).")
        ] = None,
        last: Annotated[datetime | None, Meta(description="The end of the range (default: now).")] = None,
        *,
        page: Annotated[int, Meta(ge=1, le=100_000)] = 10_000,
    ) -> LedgerReport:
        """Check that every expected tick of a schedule has one decision, and every decision has a tick."""
        start = FIRST_SECOND if first is None else to_seconds(first)
        end = LAST_SECOND if last is None else to_seconds(last)
        if end < start:
            raise InvalidError("last is before first.", field="last", hint="Swap them.")
        while True:
            # The cursor is read before the rows, so that the rows contain all decisions up to it.
            schedule = await self._find(name)
            revisions, known_from = await self._revisions_without_gap(schedule)
            now, pruned = (await self._store.now()).timestamp(), await self._pruned_until(schedule)
            complete = max((second for second in (pruned, known_from) if second is not None), default=None)
            verifier = await compute_now(LedgerVerifier, schedule, revisions, start, end, now, complete)
            cursor = LedgerCursor(start, verifier.reach, page)
            while not cursor.done:
                runs_from, skips_from = to_datetime(cursor.runs_from), to_datetime(cursor.skips_from)
                reach = to_datetime(cursor.reach)
                entries = cursor.take(await self._store.ledger.page(schedule.id, runs_from, skips_from, reach, page))
                await compute_now(verifier.take, entries)
            # Rows that were pruned in the meantime would look missing.
            if await self._pruned_until(schedule) == pruned:
                return await compute_now(verifier.finish)

    async def _revisions_without_gap(self, schedule: Schedule) -> tuple[Sequence[RevisionRecord], int | None]:
        """The newest revisions without a gap, and the second from which they are complete; None: from the first."""
        records: list[RevisionRecord] = []
        async for record in self._all_revisions(schedule):
            if records and record.revision != records[-1].revision - 1:
                break
            records.append(record)
        return records, to_seconds(records[-1].at) if records and records[-1].revision > 1 else None

    async def _pruned_until(self, schedule: Schedule) -> int | None:
        return (await self._store.ledger.page(schedule.id, EPOCH, EPOCH, EPOCH, 1)).pruned_until


def _noted_ticks(schedule: Schedule, now: datetime, count: int) -> Sequence[UpcomingTick]:
    ticks = with_notes(schedule, upcoming_ticks(schedule, now, count), now)
    return [replace(tick, notes=list(notes)) for tick, notes in ticks]

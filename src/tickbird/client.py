"""The one façade that CLI, API, dashboard and users call."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args

from tickbird.domain.ahead import Ahead
from tickbird.domain.audit import Audit, Auditor, Decision
from tickbird.domain.backfills import BackfillPlan, BackfillRecord, NewBackfill, Order, no_such_backfill
from tickbird.domain.calendar_definition import CalendarRecord
from tickbird.domain.clock_changes import notes
from tickbird.domain.codec import encode_field
from tickbird.domain.commands import (
    Command,
    Create,
    Delete,
    Override,
    PauseCommand,
    Reschedule,
    Resume,
    Skip,
    Trigger,
    UndoOverride,
    Update,
)
from tickbird.domain.definition import Definition, Target, check_name, check_payload, check_text
from tickbird.domain.durations import Duration, in_words, seconds
from tickbird.domain.errors import ConflictError, InvalidError, NotFinishedError, NotFoundError, PayloadError
from tickbird.domain.evidence import Evidence
from tickbird.domain.explanation import Explanation
from tickbird.domain.findings import diagnose
from tickbird.domain.happenings import Happening
from tickbird.domain.held import Drop, HeldSchedule, Release
from tickbird.domain.instants import EPOCH, FIRST_SECOND, LAST_SECOND, iso, to_datetime, to_seconds, to_seconds_ceil
from tickbird.domain.keys import check_key
from tickbird.domain.limits import LARGEST_LIMIT, LONGEST_KEY, Limit, check_concurrency_key, key_for
from tickbird.domain.logs import LogLine, Progress
from tickbird.domain.overrides import OverrideRecord
from tickbird.domain.policies import check_fields, policies
from tickbird.domain.progress import executes
from tickbird.domain.rates import Queue, Rate, Turn, read_rate
from tickbird.domain.runs import FINAL, AttemptRecord, NewRun, RunRecord, Status
from tickbird.domain.schedule import Schedule, State
from tickbird.domain.tokens import (
    NOISE,
    NewToken,
    Role,
    TokenRecord,
    check_namespaces,
    check_role,
    digest,
    is_token_id,
    make_token,
    no_such_token,
)
from tickbird.domain.triggers import Trigger as TriggerValue
from tickbird.domain.triggers import at as once
from tickbird.domain.verdicts import Finding
from tickbird.domain.why import explain
from tickbird.domain.zone_moves import TickMoves, all_moves, by_instant, is_zoned, next_moves
from tickbird.domain.zones import zone
from tickbird.store.alarms import who_distrusts
from tickbird.store.protocol import (
    AuditRecord,
    Changed,
    Decisions,
    Place,
    RevisionRecord,
    ScheduleRow,
    Store,
    Worker,
    ZoneRecord,
    Zones,
)
from tickbird.stored_calendars import HORIZON, CalendarReport, StoredCalendars

# How soon a run that is waited for is looked at again, and how rarely in the end.
_FIRST_LOOK = 0.005
_LONGEST_PAUSE = 0.5

Validate = Callable[[Mapping[str, Any]], Mapping[str, Any]]
# So many names are looked through for those that a wrong one is like.
_NAMES = 1_000
# So many successes of a schedule are looked through for the one that another one needed.
_SUCCESSES = 200


@dataclass(frozen=True, slots=True)
class ComingTick:
    """A tick to come: its instant on the grid, when it is due, and why it will not run, if so.

    `done`: it was decided already, ahead of its time.
    """

    scheduled_for: datetime
    due_at: datetime
    skipped: str | None = None
    # What was decided for it alone, by whom and why.
    override: OverrideRecord | None = None


# Ticks, each with what changes of the clock do to it.
Noted = Sequence[tuple[ComingTick, Sequence[str]]]


class Client:
    """Reads and changes schedules and runs of one namespace. Every change takes `actor` and is audited."""

    def __init__(
        self, store: Store, namespace: str = "default", validators: Mapping[str, Validate] | None = None
    ) -> None:
        self._store = store
        self._namespace = check_name(namespace, "namespace")
        self._calendars = StoredCalendars(store, self._namespace)
        # Payload validators of the tasks that this process has itself.
        self._validators = validators or {}

    # Schedules

    async def create(
        self,
        name: str,
        trigger: TriggerValue,
        task: str,
        *,
        actor: str,
        payload: Mapping[str, Any] | None = None,
        first: Literal["now"] | None = None,
        unknown_task_ok: bool = False,
        **options: Any,
    ) -> Schedule:
        """A new schedule of a task; `options` are the policies of a definition."""
        check_name(name, "schedule")
        checked = await self._checked_payload(task, payload or {}, unknown_task_ok=unknown_task_ok)
        definition = Definition(trigger=trigger, target=Target(task), payload=checked, **policies(options))
        command = Create(actor=actor, namespace=self._namespace, definition=definition, first=first)
        return (await self._change(name, command)).schedule

    async def get(self, name: str) -> Schedule:
        """A schedule by name."""
        schedule = await self._find(name)
        if schedule.state == "deleted":
            raise await self._no_such_schedule(name)
        return schedule

    async def list(
        self,
        *,
        contains: str = "",
        state: State | None = None,
        tag: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> Sequence[ScheduleRow]:
        """Schedules by name, a page at a time: `after` is the last name of the page before."""
        if state is not None:
            _one_of(state, "state", get_args(State))
        for name, text in (("contains", contains), ("tag", tag or ""), ("after", after)):
            check_text(text, name)
        return await self._store.list_schedules(
            self._namespace, contains=contains, state=state, tag=tag, after=after, limit=_page(limit)
        )

    async def update(
        self, name: str, *, actor: str, revision: int | None = None, unset: Collection[str] = (), **fields: Any
    ) -> Schedule:
        """Set some fields of the definition and leave the others as they are; `unset` ones go back to code or default.

        A field that code declares goes back to what it declares.
        """
        unset = {"target" if field == "task" else field for field in unset}
        check_fields(unset)
        if twice := set(unset) & {*fields, *(["target"] if "task" in fields else [])}:
            raise InvalidError(f"{min(twice)}: set it or unset it, not both.", field=min(twice))
        declared: Mapping[str, Any] = {}
        if unset and (schedule := await self.get(name)).app is not None:
            # What was read of it must still hold when it is written.
            declared, revision = await self._declared(schedule), revision or schedule.revision
        if "task" in fields:
            fields["target"] = Target(fields.pop("task"))
        if fields.get("payload") is not None:
            schedule = await self.get(name)
            target = fields.get("target") or (schedule.definition.target if schedule.definition else None)
            if target is not None:
                fields["payload"] = await self._checked_payload(target.name, fields["payload"], unknown_task_ok=True)
        patch = {field: encode_field(field, value) for field, value in policies(fields).items()}
        command = Update(actor=actor, revision=revision, fields=patch, unset=frozenset(unset), declared=declared)
        return (await self._change(name, command)).schedule

    async def delete(
        self, name: str, *, actor: str, revision: int | None = None, cancel_runs: bool = False
    ) -> Schedule:
        """Delete a schedule; its name later goes on behind what was decided."""
        command = Delete(actor=actor, revision=revision, cancel_runs=cancel_runs)
        return (await self._change(name, command)).schedule

    async def pause(
        self,
        name: str,
        *,
        actor: str,
        note: str = "",
        until: datetime | None = None,
        revision: int | None = None,
        cancel_runs: bool = False,
    ) -> Schedule:
        """Stop planning, until resumed or until an instant; queued runs go on unless asked otherwise."""
        end = None if until is None else to_seconds(until)
        command = PauseCommand(actor=actor, revision=revision, note=note, until=end, cancel_runs=cancel_runs)
        return (await self._change(name, command)).schedule

    async def resume(self, name: str, *, actor: str, note: str = "", revision: int | None = None) -> Schedule:
        """Go on; what was missed meanwhile is one skip `paused`."""
        command = Resume(actor=actor, revision=revision, note=note)
        return (await self._change(name, command)).schedule

    async def reschedule(
        self, name: str, to: datetime, *, actor: str, note: str = "", revision: int | None = None
    ) -> Schedule:
        """Make the next tick due at another instant."""
        command = Reschedule(actor=actor, revision=revision, to=to_seconds(to), note=note)
        return (await self._change(name, command)).schedule

    async def skip(
        self,
        name: str,
        count: int | None = None,
        *,
        actor: str,
        until: datetime | None = None,
        note: str = "",
        revision: int | None = None,
    ) -> Schedule:
        """Do not run the next ticks: one, so many, or all before an instant."""
        if count is not None and until is not None:
            raise InvalidError("count and until: give one of them, not both.", field="until")
        end = None if until is None else to_seconds(until)
        command = Skip(actor=actor, revision=revision, count=1 if count is None else count, until=end, note=note)
        return (await self._change(name, command)).schedule

    async def override(
        self,
        name: str,
        tick: datetime,
        *,
        actor: str,
        skip: bool = False,
        move_to: datetime | None = None,
        payload: Mapping[str, Any] | None = None,
        note: str = "",
        revision: int | None = None,
    ) -> OverrideRecord:
        """Decide for one coming tick: skip it, or make it due at another instant, give it another payload, or both.

        What was decided for that tick before is replaced.
        """
        if payload is not None:
            payload = await self._payload_for(name, payload)
        at, to = _whole_second(tick, "tick"), None if move_to is None else to_seconds(move_to)
        command = Override(actor=actor, revision=revision, tick=at, skip=skip, move_to=to, payload=payload, note=note)
        schedule = await self._change_tick(name, at, command)
        ahead = Ahead(schedule)
        made = ahead.override(at)
        assert made is not None
        return ahead.record(made)

    async def undo_override(
        self, name: str, tick: datetime, *, actor: str, note: str = "", revision: int | None = None
    ) -> Schedule:
        """Let a coming tick be as if nothing had been decided for it, by an override or by a reschedule."""
        at = _whole_second(tick, "tick")
        return await self._change_tick(name, at, UndoOverride(actor=actor, revision=revision, tick=at, note=note))

    async def overrides(self, name: str) -> Sequence[OverrideRecord]:
        """The coming ticks for which something was decided one by one, in order."""
        return overrides_of(await self.get(name))

    async def _change_tick(self, name: str, tick: int, command: Command) -> Schedule:
        try:
            return (await self._change(name, command)).schedule
        except (ConflictError, InvalidError) as error:
            # A tick of the past was decided, and whoever asks for it wants to know how.
            if (told := await self._what_became(name, tick)) is not None:
                raise told from error
            raise

    async def _what_became(self, name: str, tick: int) -> ConflictError | None:
        found = await self.decisions(name, to_datetime(tick), to_datetime(tick))
        hint = f"only ticks to come can be overridden; `tickbird why {name} {iso(tick)}` tells more."
        for run in found.runs:
            if run.scheduled_for == to_datetime(tick):
                return ConflictError(
                    f"the tick of {iso(tick)} is decided already: run {run.id} of it {_stands(run.status)};", hint=hint
                )
        for each in found.skips:
            schedule = await self.get(name)
            if each.first <= to_datetime(tick) <= each.last and schedule.definition is not None:
                if not schedule.grid.contains(tick):
                    continue
                by = f" by {each.actor}" if each.actor else ""
                noted = f" ({each.note})" if each.note else ""
                return ConflictError(
                    f"the tick of {iso(tick)} is decided already: it was skipped{by} for {each.reason}{noted};",
                    hint=hint,
                )
        return None

    async def trigger(
        self,
        name: str,
        *,
        actor: str,
        payload: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        wait: Duration | None = None,
    ) -> RunRecord:
        """One manual run now; the schedule's own ticks are not touched. The same key again gives the same run.

        With `wait`, the run once it has come to its end, if it does within so long.
        """
        if wait is not None:
            seconds(wait, "wait")
        if payload is not None:
            payload = await self._payload_for(name, payload)
        key = None if idempotency_key is None else check_key(idempotency_key)
        command = Trigger(actor=actor, payload=payload, idempotency_key=key)
        run = _made(await self._change(name, command))
        return run if wait is None else await self.wait(run.id, timeout=wait)

    async def next_ticks(self, name: str, count: int = 10) -> Sequence[ComingTick]:
        """The ticks to come, as the schedule stands now."""
        return coming_ticks(await self.get(name), await self._store.now(), count)

    async def why(self, name: str, at: datetime, *, tz: str | None = None) -> Explanation:
        """The whole chain of what was, or will be, decided for an instant, on the schedule's clock or another."""
        evidence = await self._evidence(await self._find(name), at)
        return explain(evidence if tz is None else replace(evidence, tz=zone(tz).name))

    async def _evidence(self, schedule: Schedule, at: datetime) -> Evidence:
        """The rows that concern one instant of a schedule, and those that they name."""
        store, namespace, name = self._store, self._namespace, schedule.name
        tick = to_datetime(to_seconds(at))
        decided = await store.decisions(schedule.id, tick, tick)
        revisions = await store.list_revisions(schedule.id)
        if revisions and revisions[-1].revision > 1 and revisions[-1].at >= tick:
            revisions = await store.list_revisions(schedule.id, limit=schedule.revision)
        evidence = Evidence(
            schedule=schedule,
            at=at,
            now=await store.now(),
            revisions=revisions,
            runs=decided.runs,
            skips=decided.skips,
            active=await store.active_runs(schedule.id),
            workers=await store.list_workers(namespace),
        )
        run, skip = evidence.run, evidence.skip
        evidence = await self._with_needed(evidence, run.revision if run else skip.revision if skip else None)
        others: list[RunRecord] = []
        if run is None:
            behind = await store.get_run(skip.run_id) if skip is not None and skip.run_id is not None else None
            return evidence if behind is None else replace(evidence, others=[behind])
        if run.available_at > run.created_at:
            # It may have waited for one of these.
            others += await store.list_runs(namespace, schedule=name, before=run.id, limit=50)
        if run.status == "cancelled" and run.finished_at is not None:
            # One of these may have replaced it.
            others += (await store.decisions(schedule.id, tick, run.finished_at, limit=50)).runs
        if run.status in ("failed", "cancelled"):
            newest = await store.list_runs(namespace, schedule=name, limit=100)
            others += [other for other in newest if other.retry_of == run.id]
        if run.status == "waiting" and run.concurrency_key is not None:
            key = run.concurrency_key
            limit = next(iter(await store.list_limits(namespace, key=key)), None)
            evidence = replace(evidence, limit=limit, holders=await store.runs_of_key(namespace, key))
        if run.status == "queued":
            evidence = replace(evidence, turn=await store.turn_of(run.id))
        return replace(
            evidence,
            attempts=await store.list_attempts(run.id) if run.attempt else (),
            others=others,
            running=await store.list_runs(namespace, status="running", limit=1_000) if run.status == "queued" else (),
        )

    async def _with_needed(self, evidence: Evidence, revision: int | None) -> Evidence:
        """With what is known of the schedules that this one depends on, or did by a revision."""
        asked = (evidence.schedule.definition, evidence.definition(revision))
        names = {each.schedule for definition in asked if definition is not None for each in definition.depends_on}
        if not names:
            return evidence
        successes = await self._store.last_successes(self._namespace, names)
        needed: list[RunRecord] = []
        # What has never succeeded may have failed a million times.
        for name in sorted(name for name, last in successes.items() if last.at is not None):
            needed += await self._store.list_runs(self._namespace, schedule=name, status="succeeded", limit=_SUCCESSES)
        return replace(evidence, successes=successes, needed=needed)

    async def decisions(self, name: str, first: datetime, last: datetime, *, limit: int = 1_000) -> Decisions:
        """The runs and skips whose ticks touch a range."""
        return await self._store.decisions((await self._find(name)).id, first, last, limit)

    async def audit_ticks(
        self, name: str, first: datetime | None = None, last: datetime | None = None, *, page: int = 10_000
    ) -> Audit:
        """Do the ticks that were to be expected in a range have one decision each, and no decision lacks its tick?"""
        start = FIRST_SECOND if first is None else to_seconds(first)
        end = LAST_SECOND if last is None else to_seconds(last)
        if end < start:
            raise InvalidError("last: lies before first.", field="last", hint="Swap them.")
        while True:
            # In this order: what is decided up to the cursor that was read is in the rows that are read later.
            schedule = await self._find(name)
            revisions = await self._store.list_revisions(schedule.id, limit=schedule.revision)
            now, pruned = (await self._store.now()).timestamp(), await self._pruned_until(schedule)
            auditor = Auditor(schedule, revisions, start, end, now, pruned)
            async for decisions in self._ledger(schedule, auditor, start, page):
                auditor.take(decisions)
            # What was pruned meanwhile would look missing.
            if await self._pruned_until(schedule) == pruned:
                return auditor.finish()

    async def _pruned_until(self, schedule: Schedule) -> int | None:
        return (await self._store.ledger(schedule.id, EPOCH, EPOCH, EPOCH, 1)).pruned_until

    async def _ledger(
        self, schedule: Schedule, auditor: Auditor, start: int, limit: int
    ) -> AsyncIterator[Sequence[Decision]]:
        """The decisions from an instant on, as far as they must be read, in order, a page at a time."""
        reach, runs_from, skips_from = auditor.reach, start, start
        while reach >= min(runs_from, skips_from):
            found = await self._store.ledger(
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

    async def happenings(
        self, since: datetime, *, schedule: str | None = None, limit: int = 10_000
    ) -> Sequence[Happening]:
        """The ticks decided and the runs ended since an instant, oldest first; of each kind the newest `limit`."""
        to_seconds(since)
        if schedule is not None:
            await self._find(schedule)
        found: list[Happening] = []
        before: int | None = None
        while len(found) < limit:
            page = await self._store.list_runs(
                self._namespace, schedule=schedule, before=before, limit=min(200, _page(limit))
            )
            made = [run for run in page if run.created_at >= since]
            found += [Happening(run.created_at, "planned", run.schedule, run) for run in made]
            # Ids are given out before their runs are written, so that one page may hold some of either side.
            if not made:
                break
            before = page[-1].id
        recent = await self._store.recent(self._namespace, since, limit)
        found += [Happening(run.finished_at or since, "ended", run.schedule, run) for run in recent.ended]
        found += [Happening(skip.decided_at, "skipped", name, skip=skip) for name, skip in recent.skips]
        mine = [each for each in found if schedule in (None, each.schedule)]
        return sorted(mine, key=lambda each: (each.at, each.kind != "planned"))

    async def revisions(self, name: str, *, before: int | None = None, limit: int = 100) -> Sequence[RevisionRecord]:
        """The revisions of a schedule, newest first, a page at a time: `before` is the last of the page before."""
        return await self._store.list_revisions((await self.get(name)).id, before=before, limit=limit)

    async def active_runs(self, name: str) -> Sequence[RunRecord]:
        """The runs of a schedule that are not final, oldest first."""
        return await self._store.active_runs((await self._find(name)).id)

    # Runs

    async def enqueue(
        self,
        task: str,
        payload: Mapping[str, Any] | None = None,
        *,
        actor: str,
        at: datetime | None = None,
        delay: Duration = 0,
        queue: str = "default",
        priority: int = 0,
        start_within: Duration | None = None,
        crash_limit: int = 3,
        idempotency_key: str | None = None,
        concurrency_key: str | None = None,
        unknown_task_ok: bool = False,
    ) -> int:
        """A run without a schedule, now or later; returns its id. The same key again gives the id of the same run."""
        check_text(actor, "actor", least=1, most=200)
        checked = await self._checked_payload(task, payload or {}, unknown_task_ok=unknown_task_ok)
        run = new_run(
            task,
            checked,
            at=at,
            delay=delay,
            queue=queue,
            priority=priority,
            start_within=start_within,
            crash_limit=crash_limit,
            idempotency_key=idempotency_key,
            concurrency_key=concurrency_key,
        )
        return (await self._store.enqueue(self._namespace, [run], actor))[0]

    async def runs(
        self,
        *,
        schedule: str | None = None,
        status: Status | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> Sequence[RunRecord]:
        """Runs, newest first, a page at a time: `before` is the last id of the page before."""
        if schedule is not None:
            await self._find(schedule)
        if status is not None:
            _one_of(status, "status", get_args(Status))
        return await self._store.list_runs(
            self._namespace, schedule=schedule, status=status, before=before, limit=_page(limit)
        )

    async def run(self, run_id: int) -> RunRecord:
        """A run by id."""
        run = await self._store.get_run(run_id) if 0 < run_id < 2**63 else None
        if run is None or run.namespace != self._namespace:
            raise NotFoundError(f"there is no run {run_id};", hint="`tickbird runs` shows the newest.")
        return run

    async def wait(self, run_id: int, *, timeout: Duration | None = None) -> RunRecord:
        """A run once it has come to its end; NotFinishedError if it has not within so long. The run goes on."""
        import asyncio

        patience = None if timeout is None else float(seconds(timeout, "timeout"))
        began, pause = time.monotonic(), _FIRST_LOOK
        # A look is one row by its key. To be told would cost every run that ends a message, waited for or not.
        while (run := await self.run(run_id)).status not in FINAL:
            left = pause if patience is None else began + patience - time.monotonic()
            if left <= 0:
                raise NotFinishedError(
                    f"run {run_id} is {run.status} after {in_words(patience or 0)} of waiting, and goes on;",
                    hint=f"wait again, or look at it with `tickbird runs {run_id}`.",
                )
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 1.5, _LONGEST_PAUSE)
        return run

    async def attempts(self, run_id: int) -> Sequence[AttemptRecord]:
        """The attempts of a run that did not end it well."""
        return await self._store.list_attempts((await self.run(run_id)).id)

    async def logs(self, run_id: int, *, after: tuple[int, int] = (0, 0), limit: int = 1_000) -> Sequence[LogLine]:
        """What a run has said so far, in order, behind this attempt and number; also while it runs."""
        await self.run(run_id)
        return await self._store.read_logs(run_id, after=after, limit=_page(limit))

    async def progress(self, run_id: int) -> Progress | None:
        """How far a run said that it was, last; None when it has said nothing."""
        await self.run(run_id)
        return await self._store.read_progress(run_id)

    async def cancel(self, run_id: int, *, actor: str, reason: str = "") -> RunRecord:
        """Cancel a run that has not started, or ask a running one to stop."""
        await self.run(run_id)
        check_text(actor, "actor", least=1, most=200)
        return await self._store.cancel_run(run_id, actor, reason=check_text(reason, "reason"))

    async def retry(self, run_id: int, *, actor: str, payload: Mapping[str, Any] | None = None) -> RunRecord:
        """A new run of what a final run did, with its payload unless another is given."""
        run = await self.run(run_id)
        if run.status not in FINAL:
            raise ConflictError(f"run {run_id} is {run.status}; only a final run can be retried.")
        task = run.target.name
        sent = run.payload if payload is None else await self._checked_payload(task, payload, unknown_task_ok=True)
        if run.schedule is not None and run.schedule_id is not None:
            command = Trigger(actor=actor, payload=sent, retry_of=run_id)
            return _made(await self._change(run.schedule, command))
        key = run.concurrency_key
        new = NewRun(run.target, sent, run.queue, run.priority, retry_of=run_id, concurrency_key=key)
        return await self.run((await self._store.enqueue(self._namespace, [new], actor))[0])

    # Backfills

    async def backfill(
        self,
        name: str,
        first: datetime,
        last: datetime,
        *,
        actor: str,
        concurrency: int = 1,
        order: Order = "oldest",
        payload: Mapping[str, Any] | None = None,
        note: str = "",
        dry_run: bool = False,
    ) -> BackfillPlan:
        """Run the ticks from `first` to `last`, both included, that have no run; a dry run only tells which."""
        if payload is not None:
            definition = (await self.get(name)).definition
            if definition is not None:
                payload = await self._checked_payload(definition.target.name, payload, unknown_task_ok=True)
        new = NewBackfill(
            actor=actor,
            first=to_seconds_ceil(first),
            last=to_seconds(last),
            concurrency=concurrency,
            order=order,
            payload=payload,
            note=note,
        )
        return await self._store.backfill(self._namespace, check_text(name, "schedule"), new, dry_run=dry_run)

    async def get_backfill(self, backfill_id: int) -> BackfillRecord:
        """A backfill by id, and how far it is."""
        if not 0 < backfill_id < 2**63:
            raise no_such_backfill(backfill_id)
        return await self._store.get_backfill(self._namespace, backfill_id)

    async def list_backfills(
        self, *, schedule: str | None = None, before: int | None = None, limit: int = 20
    ) -> Sequence[BackfillRecord]:
        """Backfills, newest first, a page at a time: `before` is the last id of the page before."""
        if schedule is not None:
            await self._find(schedule)
        return await self._store.list_backfills(self._namespace, schedule=schedule, before=before, limit=_page(limit))

    async def cancel_backfill(
        self, backfill_id: int, *, actor: str, note: str = "", stop_running: bool = False
    ) -> BackfillRecord:
        """Cancel the runs of a backfill that have not started; ask those that run to stop if `stop_running`."""
        await self.get_backfill(backfill_id)
        check_text(actor, "actor", least=1, most=200)
        return await self._store.cancel_backfill(
            self._namespace, backfill_id, actor, note=check_text(note, "note"), stop_running=stop_running
        )

    # Held runs

    async def held(self, name: str | None = None) -> Sequence[HeldSchedule]:
        """The schedules of which runs are held after an outage, or one of them: how many, and of which ticks."""
        if name is not None:
            await self._find(name)
        return await self._store.held_schedules(self._namespace, schedule=name)

    async def list_held(self, name: str, *, after: int = 0, limit: int = 100) -> Sequence[RunRecord]:
        """The held runs of a schedule, oldest first, a page at a time: `after` is the last id of the page before."""
        await self._find(name)
        return await self._store.list_held(self._namespace, name, after=after, limit=_page(limit))

    async def release_held(
        self, name: str, *, actor: str, count: int | None = None, per_minute: int | None = None, note: str = ""
    ) -> int:
        """Let the oldest held runs of a schedule run, or all of them, at most so many a minute; how many that were."""
        decision = Release(actor=actor, count=count, per_minute=per_minute, note=note)
        return await self._store.decide_held(self._namespace, check_text(name, "schedule"), decision)

    async def drop_held(self, name: str, *, actor: str, count: int | None = None, note: str = "") -> int:
        """Cancel the oldest held runs of a schedule, or all of them; how many that were."""
        decision = Drop(actor=actor, count=count, note=note)
        return await self._store.decide_held(self._namespace, check_text(name, "schedule"), decision)

    # Limits

    async def set_limit(self, key: str, most: int, *, actor: str) -> Limit:
        """Let so many runs of a concurrency key go on at once; a higher limit lets waiting ones go at once."""
        check_text(actor, "actor", least=1, most=200)
        if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= LARGEST_LIMIT:
            raise InvalidError(
                f"most: {str(most)[:60]!r} is not a whole number from 1 to {LARGEST_LIMIT};",
                field="most",
                hint="to hold runs back altogether, pause their schedules.",
            )
        return await self._store.set_limit(
            self._namespace, check_text(key, "key", least=1, most=LONGEST_KEY), most, actor
        )

    async def remove_limit(self, key: str, *, actor: str) -> Limit:
        """Go back to one run of this concurrency key at a time."""
        check_text(actor, "actor", least=1, most=200)
        check_text(key, "key", least=1, most=LONGEST_KEY)
        if not any(limit.is_set for limit in await self._store.list_limits(self._namespace, key=key)):
            raise NotFoundError(f"there is no limit for {key!r};", hint="`tickbird limits` shows those that exist.")
        return await self._store.set_limit(self._namespace, key, None, actor)

    async def limits(self) -> Sequence[Limit]:
        """The concurrency keys that have a limit or active runs, by name."""
        return await self._store.list_limits(self._namespace)

    # Queues

    async def limit_queue(self, queue: str, rate: Rate | str | None, *, actor: str) -> Queue:
        """Let at most so many runs of a queue begin within so long, such as "100/min"; with None, as they come."""
        check_text(actor, "actor", least=1, most=200)
        check_name(queue, "queue")
        if rate is not None and not isinstance(rate, Rate):
            rate = read_rate(rate)
        before = await self._store.list_queues(self._namespace, queue=queue)
        if rate is None and not any(each.rate for each in before):
            raise NotFoundError(f"queue {queue!r} has no rate;", hint="`tickbird queues` shows those that have one.")
        limited = await self._store.limit_queue(self._namespace, queue, rate, actor)
        return _served([limited], await self.workers())[0]

    async def queues(self) -> Sequence[Queue]:
        """The queues that have a rate, active runs or a live worker, by name."""
        workers = await self.workers()
        found = {each.name: each for each in await self._store.list_queues(self._namespace)}
        for name in {name for worker in workers if executes(worker) for name in worker.queues} - found.keys():
            found[name] = Queue(name, None, None, 0, 0, 0)
        return _served([found[name] for name in sorted(found)], workers)

    async def turn(self, run_id: int) -> Turn | None:
        """What keeps a queued run back in its queue: a rate, or others that may pass it; None where nothing does."""
        return await self._store.turn_of((await self.run(run_id)).id)

    # Calendars

    async def put_calendar(
        self, name: str, definition: object, *, actor: str, horizon: Duration = HORIZON
    ) -> CalendarReport:
        """Store a calendar and bring every schedule that names it up to it; tells what changes for their ticks."""
        return await self._calendars.put(name, definition, actor=actor, horizon=horizon)

    async def preview_calendar(self, name: str, definition: object, *, horizon: Duration = HORIZON) -> CalendarReport:
        """What `put_calendar` would change, and changes nothing."""
        return await self._calendars.preview(name, definition, horizon=horizon)

    async def get_calendar(self, name: str) -> CalendarRecord:
        """A stored calendar by name."""
        return await self._calendars.get(name)

    async def list_calendars(self) -> Sequence[CalendarRecord]:
        """The stored calendars, by name."""
        return await self._store.list_calendars(self._namespace)

    async def delete_calendar(self, name: str, *, actor: str) -> None:
        """Delete a calendar that no schedule names."""
        await self._calendars.delete(name, actor=actor)

    # Tokens

    async def create_token(
        self,
        name: str,
        role: Role,
        *,
        actor: str,
        namespaces: Collection[str] | None = (),
        expires_at: datetime | None = None,
    ) -> tuple[TokenRecord, str]:
        """A new token and its text, which cannot be shown again; for this namespace, these ones, or all with None."""
        import secrets

        check_text(actor, "actor", least=1, most=200)
        # With its id it is the actor of what is done with it.
        check_text(name, "name", least=1, most=100)
        if expires_at is not None and to_seconds(expires_at) <= to_seconds(await self._store.now()):
            raise InvalidError("expires_at: lies in the past;", field="expires_at", hint="give a later instant.")
        opened = check_namespaces((self._namespace,) if namespaces is not None and not namespaces else namespaces)
        token_id, secret, text = make_token(secrets.token_bytes(NOISE))
        new = NewToken(token_id, digest(secret), name, check_role(role), opened, expires_at)
        return await self._store.create_token(self._namespace, new, actor), text

    async def find_token(self, token_id: str) -> TokenRecord | None:
        """A token by its id; None where there is none."""
        return await self._store.find_token(token_id) if is_token_id(token_id) else None

    async def tokens(
        self, *, within: Collection[str] | None = None, live: bool = False, after: str = "", limit: int = 100
    ) -> Sequence[TokenRecord]:
        """Tokens by id, a page at a time: `after` is the last id of the page before; `live` ones can be used."""
        check_text(after, "after")
        return await self._store.list_tokens(within=within, live=live, after=after, limit=_page(limit))

    async def revoke_token(self, token_id: str, *, actor: str) -> TokenRecord:
        """End a token: from then on it opens nothing. Harmless where that was done before."""
        check_text(actor, "actor", least=1, most=200)
        if not is_token_id(token_id):
            raise no_such_token(str(token_id))
        return await self._store.revoke_token(self._namespace, token_id, actor)

    async def note_token_use(self, token_id: str) -> None:
        """Write that a token was used, at most once a minute."""
        await self._store.note_token_use(token_id)

    # Around them

    async def workers(self) -> Sequence[Worker]:
        """The live workers."""
        return await self._store.list_workers(self._namespace)

    # The store as a whole

    async def doctor(self) -> Sequence[Finding]:
        """Everything that was looked at in the store: how it is, and what to do about it."""
        return diagnose(await self._store.examine(self._namespace))

    async def place(self) -> Place:
        """Where the store is, and whether it is a copy."""
        return await self._store.check_place()

    async def accept_copy(self, *, actor: str) -> Place:
        """Let a copy of a store go on where it is: from now on it plans and executes as a store of its own."""
        check_text(actor, "actor", least=1, most=200)
        if not (await self._store.check_place()).copied:
            raise ConflictError("this store is no copy;", hint="there is nothing to accept.")
        return await self._store.accept_copy(self._namespace, actor)

    async def zones(self) -> Zones:
        """The zone rules of this process beside those that the store goes by."""
        return await self._store.check_zones()

    async def zone_history(self, *, limit: int = 100) -> Sequence[ZoneRecord]:
        """The zone rules that the store has gone by, newest first."""
        return await self._store.list_zones(limit=_page(limit))

    async def adopt_zones(self, *, actor: str) -> Zones:
        """Let the store go by the zone rules of this process, also by older ones; workers then follow."""
        check_text(actor, "actor", least=1, most=200)
        zones = await self._store.check_zones(adopt=True, actor=actor)
        if not zones.adopted:
            raise ConflictError("the store goes by these zone rules already;", hint="there is nothing to adopt.")
        return zones

    async def zone_moves(self, days: int = 400, against: str | Path | None = None) -> Sequence[TickMoves]:
        """The ticks that a change of zone rules moves, from the stored next ones to those of today.

        With `against`, a folder of zone files: every tick within so many days that its rules move.
        """
        if not 1 <= days <= 36_500:
            raise InvalidError("days: must be from 1 to 36500.", field="days")
        since = to_seconds(await self._store.now())
        schedules, after = [], ""
        while rows := await self._store.list_schedules(self._namespace, after=after, limit=1_000):
            schedules += [row.schedule for row in rows if is_zoned(row.schedule)]
            after = rows[-1].schedule.name
        if against is None:
            return by_instant(map(next_moves, schedules))
        return by_instant(all_moves(schedules, against, since, since + days * 86_400))

    async def audit(
        self, *, schedule: str | None = None, before: int | None = None, limit: int = 100
    ) -> Sequence[AuditRecord]:
        """Who did what, newest first."""
        return await self._store.list_audit(self._namespace, schedule=schedule, before=before, limit=limit)

    async def now(self) -> datetime:
        """The store's clock."""
        return await self._store.now()

    async def _find(self, name: str) -> Schedule:
        """A schedule by name, also a deleted one."""
        # A name that only plain SQL can have given is still a name to ask for.
        schedule = await self._store.get_schedule(self._namespace, check_text(name, "schedule"))
        if schedule is None:
            raise await self._no_such_schedule(name)
        return schedule

    async def _change(self, name: str, command: Command) -> Changed:
        if not isinstance(command, Trigger):
            await self._check_clock()
        try:
            return await self._store.change_schedule(self._namespace, check_text(name, "schedule"), command)
        except NotFoundError:
            # If it is not there, this tells which names are like it.
            await self.get(name)
            raise

    async def _check_clock(self) -> None:
        """Refuse to decide ticks by a clock that a worker has seen jump: that cannot be taken back."""
        workers = await self._store.list_workers(self._namespace)
        if not any(worker.held for worker in workers):
            return
        if (worker := who_distrusts(workers, await self._store.now())) is not None:
            raise ConflictError(
                f"nothing is changed now, since worker {worker.id} {worker.held};",
                hint="set that clock right, or wait five minutes until workers believe it.",
            )

    async def _no_such_schedule(self, name: str) -> NotFoundError:
        """The error for a name that no schedule has, with the names that are like it."""
        known = await self._store.list_schedules(self._namespace, limit=_NAMES)
        close = get_close_matches(name, [row.schedule.name for row in known], 3)
        hint = f"did you mean {' or '.join(close)}?" if close else "`tickbird ls` shows those that exist."
        where = "" if self._namespace == "default" else f" in namespace {self._namespace!r}"
        return NotFoundError(f"there is no schedule {name[:200]!r}{where};", hint=hint)

    async def _declared(self, schedule: Schedule) -> Mapping[str, Any]:
        """What the code of a schedule's app declared last, whatever an operator set over it."""
        for revision in await self._store.list_revisions(schedule.id, limit=schedule.revision):
            if revision.action in ("create", "sync"):
                declared = revision.detail.get("declared", revision.definition)
                assert isinstance(declared, Mapping)
                return declared
        return {}

    async def _payload_for(self, name: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """A payload for a run of a schedule, by what its task says of it."""
        schedule = await self.get(name)
        if schedule.definition is None:
            return payload
        return await self._checked_payload(schedule.definition.target.name, payload, unknown_task_ok=True)

    async def _checked_payload(
        self, task: str, payload: Mapping[str, Any], *, unknown_task_ok: bool
    ) -> Mapping[str, Any]:
        """The payload as it will be stored: validated by the task itself, or by what a live worker publishes of it."""
        check_name(task, "task")
        if task in self._validators:
            return self._validators[task](payload)
        workers = await self._store.list_workers(self._namespace)
        published = next((worker.tasks[task] for worker in workers if task in worker.tasks), None)
        return check_by_schema(task, payload, published, unknown_task_ok=unknown_task_ok)


def new_run(
    task: str,
    payload: Mapping[str, Any],
    *,
    at: datetime | None = None,
    delay: Duration = 0,
    queue: str = "default",
    priority: int = 0,
    start_within: Duration | None = None,
    crash_limit: int = 3,
    idempotency_key: str | None = None,
    concurrency_key: str | None = None,
) -> NewRun:
    """A run to enqueue, once all that is said of it has been looked at; its payload was before."""
    # The same ranges as those of a schedule.
    Definition(trigger=once(EPOCH), target=Target(task), queue=queue, priority=priority)
    if at is not None:
        to_seconds(at)
        if delay:
            raise InvalidError("at and delay: give one of them, not both.", field="at")
    if concurrency_key is not None and (at is not None or delay):
        raise InvalidError(
            "concurrency_key: a run that is to begin later would keep others from a place until then;",
            field="concurrency_key",
            hint="create a schedule with at(...) instead, which makes the run when its time has come.",
        )
    return NewRun(
        Target(task),
        payload,
        queue,
        priority,
        at,
        seconds(delay, "delay"),
        None if start_within is None else seconds(start_within, "start_within"),
        crash_limit,
        idempotency_key=None if idempotency_key is None else check_key(idempotency_key),
        concurrency_key=None if concurrency_key is None else key_for(check_concurrency_key(concurrency_key), payload),
    )


def check_by_schema(
    task: str, payload: Mapping[str, Any], published: Mapping[str, Any] | None, *, unknown_task_ok: bool
) -> Mapping[str, Any]:
    """The payload of a task whose code is not here, by what a live worker publishes of it; None: none knows it."""
    check_payload(payload)
    if published is not None:
        _validate_by_schema(task, payload, published.get("schema", {}))
    elif not unknown_task_ok:
        raise NotFoundError(
            f"no live worker knows a task {task!r};",
            hint="check its name, start the worker that has it, or allow it with unknown_task_ok=True.",
        )
    return payload


def _served(found: Sequence[Queue], workers: Sequence[Worker]) -> list[Queue]:
    """Queues, each with the number of workers that serve it."""
    served = Counter(name for worker in workers if executes(worker) for name in set(worker.queues))
    return [replace(each, workers=served[each.name]) for each in found]


def _whole_second(at: datetime, field: str) -> int:
    """The instant of a tick, which has no parts of a second."""
    second = to_seconds(at)
    if to_datetime(second) != at:
        raise InvalidError(f"{field}: {at.isoformat()} is not a whole second, as ticks are.", field=field)
    return second


def _stands(status: Status) -> str:
    return status if status in ("succeeded", "failed") else f"{'was' if status == 'cancelled' else 'is'} {status}"


def _made(changed: Changed) -> RunRecord:
    assert changed.run is not None
    return changed.run


def _one_of(value: object, field: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise InvalidError(f"{field}: {str(value)[:60]!r} is not one of {', '.join(choices)}.", field=field)


def _page(limit: int) -> int:
    if not 1 <= limit <= 10_000:
        raise InvalidError("limit: must be from 1 to 10000.", field="limit")
    return limit


def _validate_by_schema(task: str, payload: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    from jsonschema import Draft202012Validator

    error = next(iter(Draft202012Validator(schema).iter_errors(dict(payload))), None)
    if error is not None:
        where = ".".join(str(part) for part in error.absolute_path)
        text = f"{where}: {error.message}" if where else error.message
        raise PayloadError(f"payload of task {task!r}: {text[:300]}.", field="payload")


def overrides_of(schedule: Schedule) -> Sequence[OverrideRecord]:
    """The coming ticks of a schedule for which something was decided one by one, in order."""
    if schedule.definition is None or schedule.cursor.planned_until is None:
        return []
    ahead = Ahead(schedule)
    return [ahead.record(each) for each in ahead.overrides]


def coming_ticks(schedule: Schedule, now: datetime, count: int) -> Sequence[ComingTick]:
    """The next ticks of a schedule, with what will keep them from running, as it stands now."""
    if not 1 <= count <= 10_000:
        raise InvalidError("count: must be from 1 to 10000.", field="count")
    definition, cursor = schedule.definition, schedule.cursor
    if definition is None or schedule.state in ("parked", "ended", "deleted"):
        return []
    after = to_seconds(now) if cursor.planned_until is None else cursor.planned_until
    if schedule.state == "paused":
        after = max(after, to_seconds(now))
    left = None if definition.max_runs is None else definition.max_runs - cursor.runs_planned
    ahead = None if cursor.planned_until is None else Ahead(schedule)
    until = schedule.pause.until if schedule.pause else None
    ticks: list[ComingTick] = []
    while len(ticks) < count and (tick := schedule.grid.next(after)) is not None and left != 0:
        after = tick
        override = None if ahead is None else ahead.override(tick)
        skipped: str | None = None
        if ahead is not None and ahead.is_done(tick):
            skipped = "done"
        elif schedule.state == "paused" and (until is None or schedule.due_at(tick) < until):
            skipped = "paused"
        elif ahead is not None and ahead.passed_over_by(tick) is not None:
            skipped = "rescheduled"
        elif ahead is not None and ahead.is_skipped(tick):
            skipped = "operator"
        elif (override is None or override.due_at is None) and schedule.grid.excludes(tick):
            skipped = "calendar"
        elif left is not None:
            left -= 1
        shown = None if ahead is None or override is None else ahead.record(override)
        ticks.append(ComingTick(to_datetime(tick), to_datetime(schedule.due_at(tick)), skipped, shown))
    return ticks


def with_notes(schedule: Schedule, ticks: Sequence[ComingTick], now: datetime) -> Noted:
    """Ticks with what changes of the clock do to them."""
    return [] if schedule.definition is None else noted(schedule.definition.trigger, ticks, to_seconds(now))


def noted(trigger: TriggerValue, ticks: Sequence[ComingTick], after: int) -> Noted:
    """Ticks after an instant with what changes of the clock do to them."""
    found: list[tuple[ComingTick, Sequence[str]]] = []
    for tick in ticks:
        at = to_seconds(tick.scheduled_for)
        found.append((tick, notes(trigger, min(after, at), at)))
        after = at
    return found

"""Why an instant has no decision: it is not a tick, it is not planned yet, or it is in the future."""

from __future__ import annotations

from tickbird.domain.explain.context import readable
from tickbird.domain.explain.dependencies import DependencyExplainer
from tickbird.domain.explain.explainer import Explainer, closed_day, noted
from tickbird.domain.explain.explanation import Explanation, Step
from tickbird.domain.explain.queue_steps import lost_since
from tickbird.domain.explain.run_steps import active_run_text
from tickbird.domain.explain.unserved_runs import unplanned_reason, unserved_reason
from tickbird.domain.messages import capital, count, reason
from tickbird.domain.planning.pending_ticks import PendingTicks
from tickbird.domain.planning.plan import ActiveRun, Facts, apply_plan
from tickbird.domain.planning.planner import plan
from tickbird.domain.planning.skip_ranges import end_pause
from tickbird.domain.runs.run import TICK_ORIGINS
from tickbird.domain.schedules.codec import ignored_reason
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.rolled_grid import RolledGrid
from tickbird.domain.time.durations import duration_text
from tickbird.domain.time.instants import to_datetime, to_seconds
from tickbird.domain.workers import is_planner

# Limit of calendar segments that are counted to decide whether max_runs is reached.
MAX_SEGMENTS = 5_000


class UndecidedTickExplainer(Explainer):
    """Explains an instant that has neither a run nor a skip."""

    def explain(self) -> Explanation:
        """Explain the instant, and predict its decision from the current state."""
        schedule, tick = self.schedule, self.tick
        reached = schedule.cursor.planned_until
        open_ = reached is None or tick > reached
        then = self.context.in_force()
        if then is None and (self.context.revisions or not open_):
            return self._before_its_time()
        if then is not None and self.context.is_forgotten(then):
            return self._forgotten(then)
        if (deletion := self.context.deletion()) is not None:
            return self._deleted(deletion)
        # A tick that is not decided yet will be decided by the stored definition.
        if open_ or then is None:
            self._go_by(schedule.definition)
            self._existed(schedule.revision, "is")
        else:
            self._go_by(readable(then))
            self._existed(then.revision)
        if self.definition is None:
            return self._unreadable(open_)
        if not self.definition.grid.contains(tick):
            return self._not_a_tick(self.definition)
        self._on_grid(self.definition)
        if any(override.decided_early and override.tick == tick for override in schedule.cursor.tick_overrides):
            return self._done()
        if not self.definition.durable and schedule.state == "active":
            return self._in_memory(self.definition)
        return self._open(self.definition) if open_ else self._no_record(self.definition)

    def _in_memory(self, definition: Definition) -> Explanation:
        """Explain a tick without a run of a schedule in memory."""
        due_at = self.schedule.due_at(self.tick)
        how = "each worker computes its ticks in memory (durable=false)"
        if to_datetime(due_at) <= self.context.now:
            text = f"{how}, and records no skips: no worker was looking, or earlier runs were active"
            self._step(None, "in memory", f"{capital(text)}.")
            return self._explanation("no record", f"Not run, and the reason is not recorded: {text}.")
        self._step(True, "in memory", f"{capital(how)}.")
        return self._to_come(definition, due_at)

    def _done(self) -> Explanation:
        text = "It was decided early, before the grid changed, and is not decided again"
        self._step(None, "record", f"{text}.")
        return self._explanation("no record", f"{text}. Its decision was pruned.")

    def _before_its_time(self) -> Explanation:
        self._go_by(self.schedule.definition)
        first = self.context.revisions[-1] if self.context.revisions else None
        if first is not None and first.revision > 1:
            self._step(None, "schedule", f"Its revisions before {first.revision} were not read.")
            return self._explanation("no record", "The definition that was in force then was not read.")
        by = f" by {first.actor} at {self.times(first.at)}" if first is not None else ""
        text = f"The schedule was created{by}, after this instant."
        self._step(False, "schedule", text)
        return self._explanation("no such schedule then", text)

    def _forgotten(self, revision: RevisionRecord) -> Explanation:
        self._go_by(self.schedule.definition)
        text = f"The revisions that followed revision {revision.revision} are no longer stored."
        self._step(None, "schedule", text)
        return self._explanation("no record", "The definition that was in force then is no longer stored.")

    def _deleted(self, revision: RevisionRecord) -> Explanation:
        self._go_by(readable(revision))
        text = f"The schedule was deleted by {revision.actor} at {self.times(revision.at)}."
        self.steps.append(Step(False, "schedule", text, None, revision.at))
        self.decided_by = revision.revision
        return self._explanation("no such schedule then", text)

    def _unreadable(self, open_: bool) -> Explanation:
        if open_ and (text := ignored_reason(self.schedule.definition_json)):
            self._step(None, "state", f"{capital(text)}.")
            return self._explanation("undecided", f"The schedule is ignored: {text}.")
        if open_:
            return self._parked()
        self._step(None, "state", "The definition of that time cannot be read.")
        return self._explanation("no record", "The definition of that time cannot be read, and no decision is stored.")

    def _not_a_tick(self, definition: Definition) -> Explanation:
        grid, times, tick = definition.grid, self.times, self.tick
        before, after = grid.previous(tick), grid.next(tick)
        around = [f"the tick before is {times(before)}"] if before is not None else ["there is no tick before"]
        around.append(f"the next one is {times(after)}" if after is not None else "there is none after")
        where = "; ".join(around)
        offset = self.context.offset(definition)
        moved = self.context.moved_to(tick)
        known = definition.trigger.contains(tick)
        landings = grid.landings_of(tick) if known and isinstance(grid, RolledGrid) else []
        if landings and landings != [tick]:
            closed = closed_day(definition, times.local(to_datetime(tick)).date())
            text = f"Rolled to {' and '.join(map(times, landings))}: {closed}, and roll={definition.roll}"
            self._step(True, "grid", f"On the trigger's grid: {definition.trigger.describe()}.", at=tick)
            self._step(False, "calendar", f"{text}; {where}.", at=landings[0])
        elif known:
            text = f"Outside the schedule's window ({self._window(definition)})"
            self._step(True, "grid", f"On the grid: {definition.trigger.describe()}.", at=tick)
            self._step(False, "window", f"{text}: {where}.")
        else:
            text = f"Not on the grid ({definition.trigger.describe()})"
            self._step(False, "grid", f"{text}: {where}.", at=before)
        if moved is not None:
            origin = times(int(moved.detail["tick"]))
            text += f", but {moved.actor} moved the tick of {origin} to this instant"
            self.steps.append(
                Step(None, "reschedule", f"{moved.actor} moved the tick of {origin} here.", None, moved.at)
            )
        elif offset and grid.contains(tick - offset):
            text += f", but the tick of {times(tick - offset)} is due then"
            self._step(None, "spread", f"The tick of {times(tick - offset)} is due then.", at=tick - offset)
        return self._explanation("not a tick", f"{text}: {where}.")

    def _no_record(self, definition: Definition) -> Explanation:
        due_at, offset = self._due_at(definition), self.context.offset(definition)
        past = self.context.moved_past(offset)
        decided_at = due_at if past is None else max(due_at, int(past.detail["to"]))
        paused = self.context.paused_then(decided_at)
        if paused is not None and paused.holds(self.tick + offset):
            text = self._pause(paused, "paused")
            self._step(False, "state", f"{capital(text)}.")
            return self._explanation("no record", f"No decision is stored, but the schedule was {text}.")
        if (edit := self.context.changed_before(decided_at)) is not None:
            self._move(self.context.moved(self.tick), due_at)
            text = f"{edit.action} by {edit.actor} at {self.times(edit.at)} came before it was decided"
            self.steps.append(Step(False, "schedule", f"Revision {edit.revision}, {text}.", None, edit.at))
            return self._explanation("no record", f"Dropped: {text}, at {self.times(decided_at)}.")
        reached = self.times(self.schedule.cursor.planned_until or 0)
        text = f"All ticks up to {reached} are decided, but no decision for this tick is stored"
        ended = f", or the schedule had ended (max_runs={definition.max_runs})" if definition.max_runs else ""
        self._step(None, "record", f"{text}.")
        return self._explanation(
            "no record",
            f"{text}: the decision was pruned, or the tick was before the schedule was first planned{ended}.",
        )

    def _open(self, definition: Definition) -> Explanation:
        schedule, now, tick = self.schedule, self.context.now, self.tick
        cursor = schedule.cursor
        if schedule.state == "parked":
            return self._parked()
        if schedule.state == "ended":
            return self._ended(definition)
        due_at = schedule.due_at(tick)
        overdue = to_datetime(due_at) <= now
        paused = self.context.paused_now() if schedule.state == "paused" else None
        held = paused is not None and paused.holds(due_at)
        if paused is not None and held and (paused.until is None or to_datetime(paused.until) > now):
            text = self._pause(paused, "paused")
            self._step(False, "state", f"{capital(text)}.")
            if overdue:
                return self._explanation(
                    "undecided", f"Not run. It will be recorded as skipped when the schedule is resumed: {text}."
                )
            return self._explanation(
                "will be skipped", f"Will be skipped unless the schedule is resumed first: {text}."
            )
        if paused is None:
            self._step(True, "state", "The schedule is active.")
        else:
            # The pause ends before the tick is due, or it has ended and the planner has not run yet.
            self._step(None if held else True, "state", f"{self._pause(paused, 'Paused')}.")
        # Ticks that a reschedule passes over are decided together with the moved tick.
        looks_later = cursor.next_run_at is not None and to_datetime(cursor.next_run_at) > now
        new = cursor.planned_until is None and to_datetime(tick) <= now
        if new or (overdue and not looks_later):
            return self._overdue(definition, due_at)
        if paused is not None and paused.until is not None:
            # Moves and skips before the end of the pause are void then.
            ended = end_pause(schedule, paused.until)
            self.schedule = apply_plan(schedule, ended)
        return self._to_come(definition, due_at)

    def _parked(self) -> Explanation:
        error = reason(self.schedule.error) or "its definition cannot be read"
        self._step(False, "state", f"Parked: {error}.")
        if to_datetime(self.tick) > self.context.now:
            return self._explanation("will be skipped", f"Will not run unless the schedule is repaired first: {error}.")
        return self._explanation("undecided", f"Not run: the schedule is parked until it is repaired: {error}.")

    def _ended(self, definition: Definition) -> Explanation:
        runs = self.schedule.cursor.runs_planned
        if definition.max_runs is not None and runs >= definition.max_runs:
            text = f"the schedule ended after {count(runs, 'run')} (max_runs={definition.max_runs})"
        else:
            text = "the schedule has ended"
        self._step(False, "window", f"{capital(text)}.")
        return self._explanation("ended", f"Not run: {text}.")

    def _overdue(self, definition: Definition, due_at: int) -> Explanation:
        """Explain a due tick that no worker has planned."""
        self._change_steps(due_at)
        late = duration_text((self.context.now - to_datetime(due_at)).total_seconds())
        planners = self.context.planners
        if unplanned := unplanned_reason(self.context.workers, planners):
            why = f"it was due {late} ago, and {unplanned}{self._planner_lost()}"
        else:
            seen = f"{planners} live " + ("worker has" if planners == 1 else "workers have")
            why = f"it was due {late} ago, and {seen} not planned it yet"
        if self.schedule.error:
            why = f"it was due {late} ago, and it cannot be planned: {reason(self.schedule.error)}"
        elif not self.context.copy_reason:
            # In a copy, the standby reason of every worker is copy_reason, which explain() adds.
            held = next((worker for worker in self.context.workers if worker.standby_reason), None)
            why += "" if held is None else f"; worker {held.id} {held.standby_reason}"
        self._step(False, "late", f"{capital(why)}.", at=due_at)
        name, fate = self._projected(definition)
        self._step(None, name, f"{capital(fate)}.")
        return self._explanation("undecided", f"Not decided: {why}; {fate}.")

    def _planner_lost(self) -> str:
        return lost_since(next(filter(is_planner, self.context.lost), None), self.times)

    def _projected(self, definition: Definition) -> tuple[str, str]:
        """Return the step and text of the decision that the planner would make now."""
        if self.schedule.cursor.planned_until is None:
            return "state", "a new schedule does not run ticks from before its first planning"
        active = tuple(
            ActiveRun(run.id, run.status, run.origin, awaits=run.waiting_for_dependency) for run in self.context.active
        )
        facts = Facts(active, successes=self.context.successes)
        planned = plan(self.schedule, facts, self.context.now.timestamp())
        for run in planned.runs:
            if run.scheduled_for == self.tick:
                how = f"as a catch-up run (catch_up={definition.catch_up})" if run.origin == "catch_up" else "at once"
                return "catch_up", f"planned now, it would run {how}" + (
                    ", after a wait" if run.status == "waiting" else ""
                )
        for skip in planned.skips:
            if skip.first <= self.tick <= skip.last:
                cause = (
                    f" because of run {skip.blocked_by}" if skip.blocked_by else f": {skip.note}" if skip.note else ""
                )
                return "catch_up", f"planned now, it would be skipped ({skip.reason}){cause}"
        if planned.state == "ended":
            return "window", f"planned now, it would not run, because max_runs={definition.max_runs} is reached first"
        return "catch_up", "earlier ticks are planned first"

    def _to_come(self, definition: Definition, due_at: int) -> Explanation:
        cursor, tick, times = self.schedule.cursor, self.tick, self.times
        ahead = None if cursor.planned_until is None else PendingTicks(self.schedule)
        override = None if ahead is None else ahead.override(tick)
        passing = None if ahead is None else ahead.skipped_by(tick)
        # Ticks that are passed over are decided together with the moved tick.
        if ended := self._used_up_before(definition, tick if passing is None else passing.tick):
            self._step(False, "window", f"{capital(ended)}.")
            return self._explanation("ended", f"Will not run: {ended}.")
        if passing is not None and passing.due_at is not None:
            text = self._past_this(passing.tick, passing.due_at, self.context.moved(passing.tick))
            self._step(False, "reschedule", f"{capital(text)}.", at=passing.due_at)
            return self._explanation("will be skipped", f"Will be skipped: {text}.")
        if ahead is not None and ahead.is_skipped(tick):
            by, note = (cursor.skip_by, cursor.skip_note) if override is None else (override.actor, override.note)
            text = f"{by} skipped this tick{noted(note)}"
            self._step(False, "skip", f"{capital(text)}.")
            return self._explanation("will be skipped", f"Will be skipped: {text}.")
        if override is None or override.due_at is None:
            if day := self._excluded_day(definition):
                self._step(False, "calendar", f"{day}.")
                return self._explanation("will be skipped", f"Will be skipped: {day}.")
            self._calendar_allows(definition)
        moved_by = self._change_steps(due_at)
        if definition.shadow:
            text = "it is a shadow (shadow=true), which only records its ticks"
            self._step(False, "shadow", f"{capital(text)}.")
            return self._explanation("will be skipped", f"Will be skipped: {text}.")
        unless = self._in_the_way(definition, due_at)
        needs, provided = DependencyExplainer(definition, due_at, self.context, times).to_come()
        self.steps += needs
        but = ""
        obstacle = unserved_reason(definition.queue, definition.target, self.context.workers)
        if not obstacle and (unplanned := unplanned_reason(self.context.workers, self.context.planners)):
            obstacle = unplanned + self._planner_lost()
        if obstacle:
            self._step(False, "worker", f"At present, {obstacle}.")
            but = f", but at present {obstacle}"
        return self._explanation("will run", f"Will run at {times(due_at)}{moved_by}{provided}{unless}{but}.")

    def _change_steps(self, due_at: int) -> str:
        """Add the steps about a move, the spread or a changed payload; return a clause about them."""
        overrides = (override for override in self.schedule.cursor.tick_overrides if override.tick == self.tick)
        override = next(overrides, None)
        moved = override is not None and override.due_at is not None
        text = self._move(self.context.moved(self.tick) if moved else None, due_at)
        if override is not None and override.payload is not None:
            text += self._payload(override.actor, override.note, to_datetime(override.created_at))
        return text

    def _used_up_before(self, definition: Definition, tick: int) -> str:
        """Return why max_runs is reached before a tick if every earlier tick runs; empty if it is not."""
        cursor = self.schedule.cursor
        if definition.max_runs is None or definition.shadow:
            return ""
        left = definition.max_runs - cursor.runs_planned
        after = cursor.planned_until or to_seconds(self.context.now)
        segments = 0
        for override in [*cursor.tick_overrides, None]:
            # Count the ticks up to the override, then the tick of the override itself.
            end = tick if override is None else min(tick, override.tick)
            for segment in definition.grid.segments(max(after, cursor.skip_until or 0), end - 1):
                left -= 0 if segment.excluded else segment.count
                segments += 1
                if left <= 0 or segments >= MAX_SEGMENTS:
                    break
            after = max(after, end - 1)
            if override is None or override.tick >= tick or segments >= MAX_SEGMENTS:
                break
            if override.tick > after:
                closed = override.due_at is None and definition.grid.excludes(override.tick)
                left -= 0 if override.skip or override.decided_early or closed else 1
                after = max(override.tick, (override.due_at or 0) - self.schedule.offset)
        if left <= 0:
            return f"max_runs={definition.max_runs} will be reached first, after {cursor.runs_planned:,} runs"
        self._step(True, "window", f"{left:,} of max_runs={definition.max_runs} runs will be left.")
        return ""

    def _in_the_way(self, definition: Definition, due_at: int) -> str:
        """Add the step about active runs; return a clause if this is the next tick."""
        active = self.context.active
        if definition.overlap == "allow" or len(active) < definition.max_concurrent:
            self._step(True, "overlap", "No active run blocks it.")
            return ""
        ticking = [run for run in active if run.origin in TICK_ORIGINS]
        full = len(ticking) >= definition.max_concurrent
        waiter = next((run for run in ticking if run.status == "waiting"), None)
        first = ticking[0] if full else active[0]
        blocker = active_run_text(first, self.times)
        if full and definition.overlap == "skip":
            effect, unless = "this tick is skipped", f", unless {blocker}, is not final by then (overlap=skip)"
        elif full and definition.overlap == "queue" and waiter is not None:
            effect, unless = (
                "this tick is skipped",
                f", unless run {waiter.id} is still waiting by then (overlap=queue)",
            )
        elif full and definition.overlap == "replace":
            effect, unless = "it is cancelled, and this run follows", ""
        else:
            effect, unless = "this run waits for it", f", or after {blocker}"
        text = f"{capital(blocker)}. If it is still active at {self.times(due_at)}, {effect}"
        text += f" (overlap={definition.overlap})."
        self._step(None, "overlap", text, first.id)
        return unless if self.context.schedule.cursor.next_run_at == due_at else ""

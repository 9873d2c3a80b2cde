"""Why a decided tick ran or was skipped, from its run or its skip."""

from __future__ import annotations

from tickbird.domain.explain.context import readable
from tickbird.domain.explain.dependencies import DependencyExplainer
from tickbird.domain.explain.explainer import Explainer, noted, status_phrase
from tickbird.domain.explain.explanation import Explanation, Step, Verdict
from tickbird.domain.explain.run_history import RunHistory
from tickbird.domain.explain.run_steps import planned_in_term
from tickbird.domain.messages import brief, capital, folded
from tickbird.domain.planning.worker_ticks import FALLBACK_ACTOR, IN_MEMORY_ACTOR
from tickbird.domain.runs.run import TICK_ORIGINS, RunRecord, SkipRecord, Status
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.time.durations import duration_text
from tickbird.domain.time.instants import to_datetime, to_seconds

_VERDICTS: dict[Status, Verdict] = {
    "waiting": "waiting",
    "queued": "queued",
    "running": "running",
    "succeeded": "ran",
    "failed": "failed",
    "cancelled": "cancelled",
}


class RunExplainer(Explainer):
    """Explains a tick that has a run."""

    def explain(self, run: RunRecord, skip: SkipRecord | None) -> Explanation:
        """Explain a run from its planning to its status; `skip` is the earlier skip of a backfilled tick."""
        self._go_by(self._definition_of(run.revision))
        self._existed(run.revision)
        definition = self.definition
        if definition is not None:
            if definition.grid.contains(self.tick):
                self._on_grid(definition)
            else:
                self._step(None, "grid", "The tick was on the grid when it was planned.", at=self.tick)
            if not self._excluded_day(definition):
                self._calendar_allows(definition)
        if run.origin in TICK_ORIGINS:
            self._step(True, "state", "The schedule was active.")
        if skip is not None and run.origin == "backfill":
            text = f"Skipped at first ({skip.reason}), then backfilled."
            self.steps.append(Step(None, "backfill", text, run.id, skip.decided_at))
        if definition is not None:
            self._move(self.context.moved(self.tick), to_seconds(run.due_at))
        override = run.applied_override
        if override is not None and override.payload:
            self._payload(override.actor, override.note, to_datetime(override.created_at))
        self._planned_by(run)
        self._caught_up(run)
        progress = RunHistory(run, definition, self.context, self.times)
        self.steps += progress.steps()
        sentence = self._run_sentence(run, progress) + self._override_text(run) + self._retried(run)
        return self._explanation(_VERDICTS[run.status], sentence, run.id)

    def _override_text(self, run: RunRecord) -> str:
        """Describe the override of the tick."""
        if run.applied_override is None:
            return ""
        changes = ["moved it"] if run.applied_override.moved else []
        changes += ["changed its payload"] if run.applied_override.payload else []
        return f" {run.applied_override.actor} {' and '.join(changes)}{noted(run.applied_override.note)}."

    def _planned_by(self, run: RunRecord) -> None:
        """Tell who decided the tick, if it was not the planner of the store."""
        if run.origin in TICK_ORIGINS and run.actor in (IN_MEMORY_ACTOR, FALLBACK_ACTOR):
            text = "A worker computed this tick in memory (durable=false)"
            if run.actor == FALLBACK_ACTOR:
                text = (
                    "A worker ran this tick in fallback, from the rows that it had last read: the store could not plan"
                )
            self.steps.append(Step(None, run.actor, f"{text}.", run.id, run.created_at))

    def _caught_up(self, run: RunRecord) -> None:
        if run.origin != "catch_up":
            return
        policy = f" (catch_up={self.definition.catch_up})" if self.definition else ""
        text = f"Caught up after its due time{policy}"
        if run.covers is not None:
            text += (
                f": it covers {run.covers.count:,} ticks from {self.times(run.covers.first)} "
                f"to {self.times(run.covers.last)}"
            )
        self.steps.append(Step(None, "catch_up", f"{text}.", run.id, run.created_at))

    def _retried(self, run: RunRecord) -> str:
        retries = [other for other in self.context.others if other.retry_of == run.id]
        if not retries:
            return ""
        newest = max(retries, key=lambda other: other.id)
        by = f" by {newest.actor}" if newest.actor else ""
        text = f"Retried{by} as run {newest.id}, which {status_phrase(newest.status)}."
        self.steps.append(Step(None, "retry", text, newest.id, newest.created_at))
        return f" {text}"

    def _run_sentence(self, run: RunRecord, progress: RunHistory) -> str:
        times = self.times
        cause = progress.cause()
        late = f", {duration_text(progress.late)} late because {cause}" if cause else ""
        begun = progress.first_start
        if run.status == "waiting":
            names = ("held",) if run.held else ("dependency",) if run.waiting_for_dependency else ("overlap", "limit")
            names = ("undecided",) if run.undecided else names
            waiting = next(step.text for step in progress.steps() if step.name in names)
            return f"Run {run.id} {'is ' if run.held else ''}{waiting[:1].lower()}{waiting[1:]}"
        if run.status == "queued" and run.available_at > self.context.now and not run.attempt:
            by = f" {run.released_by} released it for then." if run.released_by else ""
            return f"Run {run.id} may start at {times(run.available_at)}.{by}"
        if run.status == "queued" and run.available_at > self.context.now and run.error and run.error == run.reason:
            return f"Run {run.id} may start again at {times(run.available_at)}: {brief(run.error)}."
        if run.status == "queued" and run.available_at > self.context.now:
            tried = f"{brief(run.error)}; " if run.error else ""
            return f"Run {run.id} will be retried at {times(run.available_at)}: {tried}attempt {run.attempt} failed."
        if run.status == "queued":
            since, queue = times(max(run.available_at, run.created_at)), progress.queue
            blocked = queue.unserved_reason() or queue.rate_limit_reason() or queue.line()
            return f"Run {run.id} has been queued since {since}: {blocked or 'a worker should claim it at any moment'}."
        if run.status == "running":
            lost = next((step for step in progress.steps() if step.name == "worker" and step.ok is False), None)
            if lost is not None:
                return f"Run {run.id} is running, but {lost.text[:1].lower()}{lost.text[1:]}"
            stopping = " and is being cancelled" if run.cancel_requested_at else ""
            tries = f" (attempt {run.attempt})" if run.attempt > 1 else ""
            started = times(run.started_at or run.created_at)
            waits = f" It {text}." if (text := progress.queue.reported_wait()) else ""
            return (
                f"Run {run.id} has been running on worker {run.worker} since {started}{tries}{stopping}{late}.{waits}"
            )
        if run.status == "succeeded":
            tries = f" It took {run.attempt} attempts." if run.attempt > 1 else ""
            return f"Ran as run {run.id} at {times(begun or run.created_at)}{late}.{tries}"
        if run.status == "failed":
            return f"Run {run.id} failed: {progress.tries.failure()}."
        return f"Run {run.id} was cancelled: {progress.tries.cancelled()}."


class SkipExplainer(Explainer):
    """Explains a tick that has a skip."""

    def _skipped_under(self, skip: SkipRecord) -> Definition | None:
        """Return the definition whose grid has the skipped tick; None if the instant is not a tick of the skip."""
        then = self.context.in_force()
        if skip.reason == "paused" and then is not None:
            # The change that ended the pause wrote this skip and may have brought a new grid.
            definition = readable(then)
            if skip.decided_at < skip.first:
                definition = self._definition_of(skip.revision)
        else:
            definition = self._definition_of(skip.revision)
        return definition if definition is not None and definition.grid.contains(self.tick) else None

    def explain(self, skip: SkipRecord) -> Explanation | None:
        """Explain the skip; None if the instant is not a tick of the skip."""
        definition = self._skipped_under(skip)
        if definition is None:
            return None
        self._go_by(definition)
        self._existed(skip.revision)
        self._on_grid(definition)
        if skip.reason not in ("calendar", "paused", "operator", "invalid") and not self._excluded_day(definition):
            self._calendar_allows(definition)
        if skip.reason not in ("paused", "invalid"):
            self._step(True, "state", "The schedule was active.")
        if skip.reason == "rescheduled":
            name, why = "reschedule", self._passed_over(skip)
        else:
            self._move(self.context.moved(self.tick), self._due_at(definition))
            override = self.context.overridden(self.tick)
            if override is not None and override.detail.get("payload") is not None:
                self._payload(override.actor, str(override.detail.get("note") or ""), override.at)
            name, why = self._reason(skip, definition)
        if skip.count > 1:
            why += f"; the skip covers {skip.count:,} ticks, from {self.times(skip.first)} to {self.times(skip.last)}"
        self.steps.append(Step(False, name, f"{capital(why)}.", skip.run_id, skip.decided_at))
        if skip.term is not None:
            self.steps.append(planned_in_term(skip.term, skip.decided_at))
        return self._explanation("skipped", f"Skipped ({skip.reason}): {why}.", skip.run_id)

    def _reason(self, skip: SkipRecord, definition: Definition) -> tuple[str, str]:
        """Return the name of the step and the reason."""
        times, by, note = self.times, skip.actor, skip.note
        if skip.reason == "overlap":
            return "overlap", self._overlapped(skip, definition)
        if skip.reason == "coalesced":
            return "catch_up", self._coalesced(skip, definition)
        if skip.reason == "paused":
            paused = self.context.paused_then(self._due_at(definition))
            if paused is None:
                return "state", folded(note) or f"it was paused by {by or 'an unknown actor'}"
            ended = self.context.revision(skip.revision + 1)
            resumed = ended is not None and ended.action == "resume" and ended.at == skip.decided_at
            text = self._pause(paused, "it was paused")
            return "state", text + (f", resumed by {ended.actor} at {times(ended.at)}" if ended and resumed else "")
        if skip.reason == "calendar":
            return "calendar", self._excluded_day(definition) or "the calendar excluded its day"
        if skip.reason == "shadow":
            return "shadow", "it was a shadow (shadow=true), which only records its ticks"
        if skip.reason == "misfire":
            return "late", self._misfired(skip, definition)
        if skip.reason == "dependency":
            words = DependencyExplainer(definition, self._due_at(definition), self.context, times)
            return "dependency", words.skipped(note, skip.decided_at)
        if skip.reason == "limit":
            maximum = definition.catch_up_limit
            return "catch_up", f"catch_up=all runs at most the newest {maximum:,} ticks of an outage (catch_up_limit)"
        if skip.reason == "operator":
            return "skip", f"{by or 'an operator'} skipped this tick{noted(note)}"
        if skip.reason == "invalid":
            repaired = self.context.revision(skip.revision)
            text = "it was parked because its definition could not be planned"
            if repaired is not None:
                text += f", repaired by {repaired.actor} at {times(repaired.at)}"
            return "state", text
        if skip.reason in ("edited", "deleted"):
            change = self.context.changed_before(self._due_at(definition))
            who = f" by {change.actor} at {times(change.at)}" if change is not None else ""
            return (
                "schedule",
                f"the schedule was {skip.reason}{who} before it was due at {times(self._due_at(definition))}",
            )
        return skip.reason, folded(note) or skip.reason

    def _overlapped(self, skip: SkipRecord, definition: Definition) -> str:
        policy = f"overlap={definition.overlap}"
        blocker = self.context.other(skip.run_id)
        if blocker is None:
            return f"{policy}: run {skip.run_id} was not final (it is no longer stored)"
        tick = to_seconds(blocker.scheduled_for) if blocker.scheduled_for is not None else None
        if definition.overlap == "replace" and tick is not None and tick > self.tick:
            return f"{policy}: run {blocker.id} of the newer tick {self.times(tick)} replaced it"
        came = to_datetime(self.tick + self.context.offset(definition))
        if definition.overlap == "queue":
            text = f"run {blocker.id} was already waiting since {self.times(blocker.created_at)}"
        elif blocker.started_at is not None and blocker.started_at <= max(came, blocker.created_at):
            text = f"run {blocker.id} was still running since {self.times(blocker.started_at)}"
        else:
            text = f"run {blocker.id} was planned at {self.times(blocker.created_at)} and not final"
        ended = f" at {self.times(blocker.finished_at)}" if blocker.finished_at is not None else ""
        return f"{policy}: {text}; it {status_phrase(blocker.status)}{ended}"

    def _coalesced(self, skip: SkipRecord, definition: Definition) -> str:
        policy = f"catch_up={definition.catch_up}"
        run = self.context.other(skip.run_id)
        if run is None:
            return f"{policy}: run {skip.run_id} caught it up with others (it is no longer stored)"
        label = f" of tick {self.times(run.scheduled_for)}" if run.scheduled_for is not None else ""
        covers = f", which covers {run.covers.count:,} ticks" if run.covers is not None else ""
        late = duration_text((run.created_at - to_datetime(self._due_at(definition))).total_seconds())
        text = f"{policy}: it was {late} late when planned, and run {run.id}{label} caught it up{covers}"
        return f"{text}; that run {status_phrase(run.status)}"

    def _misfired(self, skip: SkipRecord, definition: Definition) -> str:
        if skip.note:
            return skip.note
        late = (skip.decided_at - to_datetime(self._due_at(definition))).total_seconds()
        limit = definition.start_limit
        rule = "catch_up=skip" if definition.start_within is None else "start_within"
        allowed = "" if limit is None else f", more than the {duration_text(limit)} that {rule} allows"
        # A longer outage extends the skip, so the lateness is exact only for its last tick.
        qualifier = "" if to_datetime(self.tick) == skip.last else "at most "
        return f"no worker planned it until it was {qualifier}{duration_text(late)} late{allowed}"

    def _passed_over(self, skip: SkipRecord) -> str:
        run = self.context.other(skip.run_id)
        if run is None or run.scheduled_for is None:
            return "a reschedule of an earlier tick passed over it"
        tick = to_seconds(run.scheduled_for)
        text = self._past_this(tick, to_seconds(run.due_at), self.context.moved(tick))
        return f"{text}; run {run.id} {status_phrase(run.status)}"

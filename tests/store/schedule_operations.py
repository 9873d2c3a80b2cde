"""The operations of a history that change schedules."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import Any

from lab.definitions import WEEKDAYS, to_definition, to_trigger
from lab.oracle.schedule import CommandRefused, TickDecision, TickOverride
from lab.oracle.spec import NAMESPACE, Spec
from tests.store.model import Model, ModelSchedule
from tests.store.operations import T0, Call, Operation, State, instant
from tickbird.domain.errors import TickbirdError
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.define import Create, Delete, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.planning.commands.ticks import ClearOverride, Override, Reschedule, Skip


def to_json(name: str, value: Any) -> tuple[str, Any]:
    """A field of a spec as an update sends it."""
    if name == "form":
        return "trigger", to_trigger(value).to_json()
    if name == "exclude":
        return name, [WEEKDAYS[day] for day in value.weekdays]
    if name in ("start_at", "end_at") and value is not None:
        return name, instant(value).isoformat()
    return name, value


@dataclass(frozen=True)
class Change(Operation):
    """A command to the schedule with this name."""

    name: str

    def command(self, state: State) -> Command:
        """The real command."""
        raise NotImplementedError

    def change(self, schedule: ModelSchedule, state: State) -> list[TickDecision]:
        """The same by the oracle."""
        raise NotImplementedError

    def mirror(self, model: Model, state: State, answer: Any) -> None:
        """The same in the model."""
        cancel_runs = getattr(self, "cancel_runs", False)
        model.change(self.name, state.now, lambda schedule: self.change(schedule, state), cancel_runs=cancel_runs)

    def call(self, state: State) -> Call:
        """Send the command at the present instant."""
        command, now = self.command(state), state.now
        return Call(
            lambda store: store.schedules.change(NAMESPACE, self.name, command, now=instant(now)),
            lambda model, answer: self.mirror(model, state, answer),
        )


@dataclass(frozen=True)
class Created(Change):
    """A new schedule, by a person or by code."""

    spec: Spec
    by_code: bool = False

    def command(self, state: State) -> Command:
        app = "app" if self.by_code else None
        return Create(actor="ada", namespace=NAMESPACE, definition=to_definition(self.spec), app=app)

    def mirror(self, model: Model, state: State, answer: Any) -> None:
        model.create(self.name, self.spec, state.now, by_code=self.by_code)


@dataclass(frozen=True)
class Updated(Change):
    """Set one field; with `stale`, from an older revision."""

    key: str
    value: Any
    stale: bool = False

    def command(self, state: State) -> Command:
        schedule = state.model.schedules.get(self.name)
        revision = schedule.revision - 1 if self.stale and schedule else None
        return Update(actor="ada", revision=revision, fields=dict([to_json(self.key, self.value)]))

    def change(self, schedule: ModelSchedule, state: State) -> list[TickDecision]:
        if self.stale:
            raise CommandRefused
        return schedule.update({self.key: self.value}, state.now)


@dataclass(frozen=True)
class Deleted(Change):
    """Leaves a tombstone."""

    cancel_runs: bool = False

    def command(self, state: State) -> Command:
        return Delete(actor="ada", cancel_runs=self.cancel_runs)

    def change(self, schedule: ModelSchedule, state: State) -> list[TickDecision]:
        return schedule.delete(state.now)


@dataclass(frozen=True)
class Paused(Change):
    """Until a resume, or for this many seconds."""

    seconds: int | None = None
    cancel_runs: bool = False

    def _until(self, state: State) -> int | None:
        return None if self.seconds is None else int(state.now) + self.seconds

    def command(self, state: State) -> Command:
        return Pause(actor="ada", until=self._until(state), cancel_runs=self.cancel_runs)

    def change(self, schedule: ModelSchedule, state: State) -> list[TickDecision]:
        return schedule.pause(self._until(state), state.now)


@dataclass(frozen=True)
class Resumed(Change):
    """Continue after the passed ticks."""

    def command(self, state: State) -> Command:
        return Resume(actor="ada")

    def change(self, schedule: ModelSchedule, state: State) -> list[TickDecision]:
        return schedule.resume(state.now)


@dataclass(frozen=True)
class Moved(Change):
    """The next tick is due this many seconds from now."""

    seconds: int

    def command(self, state: State) -> Command:
        return Reschedule(actor="ada", to=int(state.now) + self.seconds)

    def change(self, schedule: ModelSchedule, state: State) -> list[TickDecision]:
        return schedule.reschedule(int(state.now) + self.seconds, state.now)


@dataclass(frozen=True)
class Skipped(Change):
    """The next ticks are not to run."""

    count: int

    def command(self, state: State) -> Command:
        return Skip(actor="ada", count=self.count)

    def change(self, schedule: ModelSchedule, state: State) -> list[TickDecision]:
        return schedule.skip(self.count)


@dataclass(frozen=True)
class Overrode(Change):
    """Override a future tick, counted from the next; `by` moves it by this many seconds."""

    which: int
    skip: bool = False
    by: int | None = None
    payload: bool = False

    def _tick(self, state: State) -> int:
        schedule = state.model.schedules.get(self.name)
        tick = None if schedule is None else schedule.spec.next(int(state.now))
        for _ in range(self.which):
            tick = tick if schedule is None or tick is None else schedule.spec.next(tick)
        return tick or T0

    def _due(self, state: State) -> int | None:
        return None if self.by is None else self._tick(state) + self.by

    def command(self, state: State) -> Command:
        payload = {"own": 1} if self.payload else None
        return Override(actor="ada", tick=self._tick(state), skip=self.skip, move_to=self._due(state), payload=payload)

    def change(self, schedule: ModelSchedule, state: State) -> list[TickDecision]:
        override = TickOverride(floor(state.now), self.skip, self._due(state), self.payload)
        return schedule.override(self._tick(state), override, state.now)


@dataclass(frozen=True)
class Undone(Change):
    """Remove the override of a tick."""

    which: int

    def _tick(self, state: State) -> int:
        schedule = state.model.schedules.get(self.name)
        ticks = [] if schedule is None else list(schedule.tick_overrides)
        return ticks[self.which % len(ticks)] if ticks else T0

    def command(self, state: State) -> Command:
        return ClearOverride(actor="ada", tick=self._tick(state))

    def change(self, schedule: ModelSchedule, state: State) -> list[TickDecision]:
        return schedule.clear_override(self._tick(state))


@dataclass(frozen=True)
class Triggered(Change):
    """A manual run."""

    def command(self, state: State) -> Command:
        return Trigger(actor="ada")

    def mirror(self, model: Model, state: State, answer: Any) -> None:
        run = model.trigger(self.name, state.now)
        if not isinstance(answer, TickbirdError):
            [run.id] = answer.run_ids

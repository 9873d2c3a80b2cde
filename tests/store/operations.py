"""The operations of a history: each is sent to a store, and applied to the model with the store's response."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from lab.oracle.schedule import CommandRefused
from lab.oracle.spec import NAMESPACE
from tests.store.model import Model, ModelRun
from tickbird.domain.errors import TickbirdError
from tickbird.domain.runs.leases import LeaseRef
from tickbird.domain.runs.run import Outcome
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store

# A Thursday.
T0 = 1_767_225_600
LEASE = 60.0
NAMES = ("one", "two")
WORKERS = ("ann", "bob")


def instant(seconds: float) -> datetime:
    """The datetime of seconds since the epoch."""
    return datetime.fromtimestamp(seconds, UTC)


@dataclass
class Call:
    """One verb: how to send it, and its effect on the model, given the response or the refusal."""

    send: Callable[[Store], Awaitable[Any]]
    mirror: Callable[[Model, Any], None]
    # The weaker checks while another call is in progress, if they differ.
    racing: Callable[[Model, Any], None] | None = None
    done: Callable[[Any], None] = lambda _: None

    async def ask(self, store: Store) -> Any:
        """The store's response; a refusal is one too."""
        try:
            return await self.send(store)
        except TickbirdError as refusal:
            return refusal

    def after(self, model: Model, answer: Any, *, racing: bool = False) -> Model:
        """The model after this call; the same if it was refused."""
        changed = model.copy()
        try:
            (self.racing if racing and self.racing else self.mirror)(changed, answer)
        except CommandRefused:
            assert isinstance(answer, TickbirdError), f"should have been refused, but gave {answer}"
            return model
        assert not isinstance(answer, TickbirdError), f"should not have been refused: {answer}"
        return changed


@dataclass
class State:
    """State of operations outside of the model: the clock, and the leases of workers."""

    model: Model
    now: float = float(T0)
    # By worker: run ids and attempts.
    held: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: {name: [] for name in WORKERS})
    # Attempts that their worker has forgotten, or that were ended already.
    stale: list[tuple[int, int]] = field(default_factory=list)

    def known(self, run_id: int) -> ModelRun | None:
        """A run by id."""
        return next((run for run in self.model.runs if run.id == run_id), None)


def worker(name: str) -> Worker:
    return Worker(id=name, namespace=NAMESPACE, app="app", host="host", pid=1, version="0")


class Operation:
    """A step of a history; its numbers choose among the objects that exist at its turn."""

    def call(self, state: State) -> Call | None:
        """The call to send; None if there is nothing to do."""
        raise NotImplementedError


@dataclass(frozen=True)
class Nothing(Operation):
    """The operation that others shrink to."""

    def call(self, state: State) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Advance(Operation):
    """Move the clock, perhaps back."""

    seconds: float

    def call(self, state: State) -> None:
        """Moves it at once."""
        state.now += self.seconds


@dataclass(frozen=True)
class AdvanceTo(Operation):
    """Move the clock to this many seconds after the next whole minute."""

    past: float = 0.0

    def call(self, state: State) -> None:
        """Seconds around ticks, and around the limit of lateness."""
        state.now = state.now // 60 * 60 + 60 + self.past


@dataclass(frozen=True)
class Plan(Operation):
    """Plan until nothing is due, with this limit."""

    limit: int = 500

    def call(self, state: State) -> Call:
        """Schedules are independent, so the order of planning under a small limit does not matter."""
        now = state.now

        async def send(store: Store) -> None:
            for _ in range(500):
                planned = await store.planning.plan_due(self.limit, now=instant(now))
                assert not planned.parked
                if not planned.more:
                    return
            raise AssertionError("planning does not come to an end")

        return Call(send, lambda model, _: model.plan_due(now))


@dataclass(frozen=True)
class Claimed(Operation):
    """A worker claims runs."""

    worker: str
    limit: int = 100

    def call(self, state: State) -> Call:
        """Exactly the first runs in order."""
        now = state.now

        def mirror(model: Model, answer: Any) -> None:
            available = {run.id: run for run in model.available(now)}
            taken = [claimed.id for claimed in answer.runs]
            assert set(taken) <= set(available), "took what was not available"
            assert taken == sorted(taken, key=list(available).index), "took runs in the wrong order"
            for claimed in answer.runs:
                run = available[claimed.id]
                assert run.due_at <= now, "began before it was due"
                model.claim(run, self.worker, LEASE, now)
                assert claimed.attempt == run.attempt

        def whole(model: Model, answer: Any) -> None:
            wanted = [run.id for run in model.available(now)][: self.limit]
            assert [claimed.id for claimed in answer.runs] == wanted
            mirror(model, answer)

        async def send(store: Store) -> Any:
            return await store.leases.claim(
                worker(self.worker), self.limit, LEASE, queues=["default"], targets=[("task", "work")], now=instant(now)
            )

        def done(answer: Any) -> None:
            state.held[self.worker] += [(claimed.id, claimed.attempt) for claimed in answer.runs]

        return Call(send, whole, mirror, done)


@dataclass(frozen=True)
class Finished(Operation):
    """A worker ends one of its attempts; the policy of the run decides about a retry."""

    worker: str
    which: int = 0
    how: str = "succeed"
    delay: float = 0.0

    def call(self, state: State) -> Call | None:
        """Refused if the run was rescued meanwhile."""
        held = state.held[self.worker]
        if not held:
            return None
        run_id, attempt = held.pop(self.which % len(held))
        state.stale.append((run_id, attempt))
        return finish(state, run_id, attempt, self.how, self.delay)


@dataclass(frozen=True)
class FinishedAll(Operation):
    """All running attempts succeed, in one call."""

    def call(self, state: State) -> Call:
        """Outcomes of rescued runs do not count."""
        now = state.now
        held = [one for name in WORKERS for one in state.held[name]]
        state.held = {name: [] for name in WORKERS}
        outcomes = [Outcome(run_id, attempt, "succeeded") for run_id, attempt in held]

        def mirror(model: Model, answer: Any) -> None:
            current = [run for run in model.runs if run.status == "running" and (run.id, run.attempt) in held]
            assert answer.accepted == {run.id for run in current}
            for run in current:
                run.status, run.finished_at, run.lease_until = "succeeded", now, None
            model.release({run.schedule for run in current}, now)

        return Call(lambda store: store.leases.finish(outcomes, now=instant(now)), mirror)


@dataclass(frozen=True)
class FinishedLate(Operation):
    """Send the end of an attempt that is over, or never existed."""

    which: int = 0
    how: str = "succeed"
    ahead: int = 0

    def call(self, state: State) -> Call | None:
        """Counts only if the attempt is current."""
        if not state.stale:
            return None
        run_id, attempt = state.stale[self.which % len(state.stale)]
        return finish(state, run_id, attempt + self.ahead, self.how, 0.0)


def finish(state: State, run_id: int, attempt: int, how: str, delay: float) -> Call:
    now = state.now
    known = state.known(run_id)
    if how == "fail" and known is not None and known.failures < known.spec.retries:
        how = "retry"
    if how == "drain" and known is not None and known.spec.on_crash == "fail":
        how = "fail"
    status = {"retry": "queued", "drain": "queued", "fail": "failed", "cancel": "cancelled"}.get(how, "succeeded")
    failures = int(how in ("retry", "fail"))
    outcome = Outcome(run_id, attempt, status, delay=delay, failures=failures)  # type: ignore[arg-type]

    def mirror(model: Model, answer: Any) -> None:
        run = next((run for run in model.runs if run.id == run_id), None)
        if run is None or run.status != "running" or run.attempt != attempt:
            assert not answer.accepted, "an attempt that is not current was ended"
            return
        assert answer.accepted == {run_id}, "the end of the current attempt was refused"
        model.finish(run, how, now, delay)

    return Call(lambda store: store.leases.finish([outcome], now=instant(now)), mirror)


@dataclass(frozen=True)
class Died(Operation):
    """A worker forgets all it holds."""

    worker: str

    def call(self, state: State) -> None:
        """A worker ends without a message."""
        state.stale += state.held[self.worker]
        state.held[self.worker] = []


@dataclass(frozen=True)
class Renewed(Operation):
    """A worker renews all that it believes it holds, and something that it does not."""

    worker: str

    def call(self, state: State) -> Call:
        """Only its current leases count."""
        now = state.now
        wanted = [*state.held[self.worker], *state.stale[-2:]]

        def mirror(model: Model, answer: Any) -> None:
            own = [
                run
                for run in model.runs
                if run.status == "running" and run.worker == self.worker and (run.id, run.attempt) in wanted
            ]
            assert answer.held == {run.id for run in own}
            assert answer.cancelled == {run.id for run in own if run.asked_to_stop}
            for run in own:
                run.lease_until = now + LEASE

        held = [LeaseRef(*one) for one in wanted]
        return Call(lambda store: store.leases.renew(worker(self.worker), held, LEASE, now=instant(now)), mirror)


@dataclass(frozen=True)
class Rescued(Operation):
    """Upkeep."""

    def call(self, state: State) -> Call:
        """For all that has expired."""
        now = state.now
        return Call(lambda store: store.leases.rescue(now=instant(now)), lambda model, _: model.rescue(now))


@dataclass(frozen=True)
class Cancelled(Operation):
    """A person cancels a run."""

    which: int = 0

    def call(self, state: State) -> Call | None:
        """Any run of the model, including final ones."""
        now = state.now
        if not state.model.runs:
            return None
        run_id = state.model.runs[self.which % len(state.model.runs)].id

        def mirror(model: Model, answer: Any) -> None:
            model.cancel(next(run for run in model.runs if run.id == run_id), now)

        return Call(lambda store: store.runs.cancel(run_id, "ada", now=instant(now)), mirror)


@dataclass(frozen=True)
class Pruned(Operation):
    """Delete the past."""

    older_than: float = 0.0
    keep: int = 0

    def call(self, state: State) -> Call:
        """Final runs only."""
        now = state.now

        def mirror(model: Model, answer: Any) -> None:
            assert model.prune(self.older_than, self.keep, now) == answer

        return Call(
            lambda store: store.runs.prune(older_than=self.older_than, keep=self.keep, limit=100_000, now=instant(now)),
            mirror,
        )


@dataclass(frozen=True)
class Race(Operation):
    """Two calls at the same time, on two instances of the store if there are two."""

    one: Operation
    other: Operation

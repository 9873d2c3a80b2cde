"""What `doctor` finds: the condition of a store, judged; each thing with figures and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from shlex import quote
from typing import Any, Final

from tickbird.domain.doctor import postgres_checks, sqlite_checks
from tickbird.domain.doctor.finding import Finding, ok, problem, unseen, warning
from tickbird.domain.doctor.snapshot import MAX_COUNT, StoreSnapshot, Workload
from tickbird.domain.explain.unserved_runs import is_program, named, unserved_reason
from tickbird.domain.messages import brief, count, reason
from tickbird.domain.runs.unreadable_runs import published, published_count
from tickbird.domain.time.durations import duration_text
from tickbird.domain.workers import Worker

# Seconds: by how much clocks may differ before it is said, and how late planning and execution may be.
MAX_CLOCK_DIFFERENCE: Final = 5.0
LATE: Final = 15.0
VERY_LATE: Final = 60.0
# What a rate holds back may wait longer: that is what it is for.
RATED: Final = 600.0
# Things of a kind that are named, and how long a text of theirs may be.
_NAMED: Final = 10
_MAX_LENGTH: Final = 300

Judge = Callable[[StoreSnapshot], Iterator[Finding]]


def run_checks(condition: StoreSnapshot) -> list[Finding]:
    """Everything that was looked at, in a fixed order of checks."""
    found: list[Finding] = []
    for check, judge in _CHECKS.items():
        if check in _OF_SCHEMA and condition.work is None:
            continue
        if check in condition.unseen:
            found.append(unseen(check, condition.unseen[check]))
        else:
            found += judge(condition)
    return found


def unusable(error: str, hint: str) -> Finding:
    """The store could not even be reached."""
    return problem("store", error, hint)


def _schema(condition: StoreSnapshot) -> Iterator[Finding]:
    seen = condition.schema
    figures = {"version": seen.version, "min_compatible": seen.min_compatible, "newest_known": seen.newest}
    if seen.error:
        yield problem("schema", seen.error, "tickbird migrate", **figures)
    elif seen.version is None:
        yield problem("schema", "There is no Tickbird schema here yet.", "tickbird migrate", **figures)
    elif seen.min_compatible > seen.newest:
        text = f"It is at version {seen.version}, and this tickbird knows only {seen.newest}: it cannot work here."
        yield problem("schema", text, "Upgrade tickbird here to the version that the workers have.", **figures)
    elif seen.version < seen.newest and condition.kind == "sqlite":
        text = f"It is at version {seen.version}; whatever opens it next brings it to {seen.newest}."
        yield ok("schema", text, **figures)
    elif seen.version < seen.newest:
        text = f"It is at version {seen.version} and this tickbird needs {seen.newest}: workers of it do not start."
        yield problem("schema", text, "tickbird migrate", **figures)
    elif seen.version > seen.newest:
        text = f"It is at version {seen.version}, newer than this tickbird ({seen.newest}), and still takes it."
        yield warning("schema", text, "Upgrade tickbird here as well.", **figures)
    else:
        yield ok("schema", f"Version {seen.version}, which this tickbird needs.", **figures)


def _versions(condition: StoreSnapshot) -> Iterator[Finding]:
    versions = Counter(worker.version for worker in condition.workers if worker.kind != "sync")
    figures = {"here": condition.version, "workers": dict(versions)}
    told = ", ".join(f"{version} ({number})" for version, number in sorted(versions.items()))
    if len(versions) > 1:
        text = f"Live workers have different versions of tickbird: {told}. That is meant for a deploy, not for long."
        yield warning("versions", text, "Finish the deploy, or end the workers of the old version.", **figures)
    elif versions and condition.version not in versions:
        text = f"This tickbird is {condition.version}, and the live workers have {told}."
        yield warning("versions", text, f"pip install tickbird=={next(iter(versions))}", **figures)
    else:
        yield ok("versions", f"tickbird {condition.version} here" + (", as in all workers." if versions else "."))


def _clock(condition: StoreSnapshot) -> Iterator[Finding]:
    if condition.asked_at is not None and condition.answered_at is not None:
        yield _own_clock(condition, condition.asked_at, condition.answered_at)
    for worker in condition.workers:
        apart = worker.health.get("clock")
        if not isinstance(apart, int | float) or abs(apart) <= MAX_CLOCK_DIFFERENCE:
            continue
        text = (
            f"The clock of worker {worker.id} is {duration_text(abs(apart))} {'ahead of' if apart > 0 else 'behind'} "
            "the store's. Decisions are right all the same; what its tasks read from the clock is not."
        )
        yield warning("clock", text, "Let that machine follow a time server (timedatectl set-ntp true).", apart=apart)


def _own_clock(condition: StoreSnapshot, asked_at: datetime, answered_at: datetime) -> Finding:
    behind, ahead = (asked_at - condition.now).total_seconds(), (condition.now - answered_at).total_seconds()
    # The store's clock was read at some moment between the question and the answer.
    apart = behind if behind > 0 else -ahead if ahead > 0 else 0.0
    if abs(apart) <= MAX_CLOCK_DIFFERENCE:
        told = (
            f"{duration_text(abs(apart))} apart from this machine's"
            if abs(apart) >= 1
            else "The same as this machine's"
        )
        return ok("clock", f"{told}; all decisions use the store's.", apart=apart)
    text = (
        f"The store's clock is {duration_text(abs(apart))} {'behind' if apart > 0 else 'ahead of'} this machine's. All "
        "decisions use the store's, so if that one is wrong, every tick is."
    )
    return problem("clock", text, "Let both machines follow a time server (timedatectl set-ntp true).", apart=apart)


def _copy(condition: StoreSnapshot) -> Iterator[Finding]:
    if condition.copy_reason:
        reason = _sentence(condition.copy_reason.partition("; if it is to go on")[0])
        text = f"{reason} Nothing is planned or executed here."
        yield problem("copy", text, "tickbird doctor --accept-copy   # only if it is to go on here")
    else:
        yield ok("copy", "The store is where it belongs.")


def _zones(condition: StoreSnapshot) -> Iterator[Finding]:
    zones = condition.zones
    if zones is None:
        return
    figures = {"here": zones.here.version, "stored": zones.version}
    stored = f"{zones.version} ({(zones.digest or '')[:8]})"
    if zones.digest is None:
        yield ok("zone data", f"{zones.here} here; the store goes by those of the first worker.", **figures)
    elif zones.digest != zones.here.digest:
        text = f"{zones.here} here, {stored} in the store: a worker with these would plan only schedules in UTC."
        fix = f"pip install tzdata=={_package(zones.version or '')}   # or: tickbird zones --adopt"
        yield problem("zone data", text, fix, **figures)
    others = Counter(
        str(told) for worker in condition.workers if (told := worker.health.get("zones")) not in (None, stored)
    )
    if zones.digest is not None and others:
        told = ", ".join(f"{version} on {count(number, 'worker')}" for version, number in sorted(others.items()))
        text = f"The store goes by {stored}; there is {told}, where only schedules in UTC are planned."
        fix = f"pip install tzdata=={_package(zones.version or '')}   # on those machines"
        yield warning("zone data", text, fix, **figures, workers=dict(others))
    elif zones.digest == zones.here.digest:
        yield ok("zone data", f"{zones.here}, which the store goes by.", **figures)


def _package(version: str) -> str:
    """The release of the package tzdata that has these rules: 2026f is 2026.6."""
    year, letter = version[:4], version[4:5]
    return f"{year}.{ord(letter) - ord('a') + 1}" if year.isdigit() and letter.isalpha() else "…"


def _workers(condition: StoreSnapshot) -> Iterator[Finding]:
    live = [worker for worker in condition.workers if worker.kind != "sync"]
    work = condition.work
    if not live:
        if work is not None and (work.scheduled or work.waiting):
            number = sum(each.count for each in work.scheduled)
            text = f"No worker is alive, and {count(number, 'active schedule')} and what waits in queues need one."
            yield problem("workers", text, "tickbird worker MODULE:APP", live=0, schedules=number)
        else:
            yield ok("workers", "None is alive, and none is needed yet.", live=0)
        return
    held = [worker for worker in live if worker.standby_reason]
    for worker in held:
        text = f"{worker.id} is held back: it {worker.standby_reason}."
        # Meant so, where others plan.
        meant = worker.standby_reason.endswith("TICKBIRD_PLANNING is off") and condition.planners
        yield (warning if meant else problem)(
            "workers", text, "Do what it says; it goes on by itself then.", worker=worker.id
        )
    stuck = 0
    for worker in live:
        kept = worker.health.get("stuck")
        number = kept if isinstance(kept, int) else 0
        if number > 0:
            stuck += number
            text = (
                f"{worker.id}: {count(number, 'function')} in threads did not stop when asked, past a time-out or a "
                f"cancellation, and keep {number} of its {count(worker.slots, 'slot')}."
            )
            fix = 'Give the task isolation="process", where it can be killed; start this worker anew to free the slots.'
            yield warning("workers", text, fix, worker=worker.id, stuck=number, slots=worker.slots)
    unreadable = [worker for worker in live if published(worker.health)]
    for worker in unreadable:
        yield _unreadable(worker, live)
    draining = sum(worker.draining for worker in live)
    if not held and not stuck and not unreadable:
        drains = f", {draining} of them draining" if draining else ""
        yield ok("workers", f"{count(len(live), 'worker')} alive{drains}; none is held back.", live=len(live))


def _unreadable(worker: Worker, live: Sequence[Worker]) -> Finding:
    number, named = published_count(worker.health), published(worker.health)
    # Without the errors, which each worker words for itself.
    elsewhere = [{str(replace(runs, error="")) for runs in published(other.health)} for other in live]
    nobody = any(all(str(replace(runs, error="")) in other for other in elsewhere) for runs in named)
    text = (
        f"{worker.id} cannot read {_names([str(runs) for runs in named])}, and leaves what is queued of it to others"
        + ("; no live worker can read it." if nobody else ".")
    )
    fix = "pip install --upgrade tickbird tzdata   # on that machine; or repair the stored row"
    return (problem if nobody else warning)("workers", text, fix, worker=worker.id, unreadable=number)


def _planning(condition: StoreSnapshot) -> Iterator[Finding]:
    assert condition.work is not None
    due, late = condition.work.due, _age(condition, condition.work.due.since)
    figures = {"due": due.count, "late_seconds": round(late, 1), "new": due.new, "planners": condition.planners}
    if not condition.planners and (late > LATE or due.new):
        what = f"{_count(due.count + due.new, 'schedule')} to be planned"
        since = f", the oldest for {duration_text(late)}" if due.count else ""
        text = (
            f"Nobody plans: no live worker does, and there {'are' if due.count + due.new != 1 else 'is'} {what}{since}."
        )
        yield problem(
            "planning", text, "tickbird worker MODULE:APP   # and look that TICKBIRD_PLANNING is not off", **figures
        )
    elif late > LATE:
        text = f"{_count(due.count, 'schedule')} due and not planned yet, the oldest for {duration_text(late)}."
        fix = "Look at the logs of the workers and at what is said here of locks and zone data; start more workers."
        yield (problem if late > VERY_LATE else warning)("planning", _sentence(text), fix, **figures)
    else:
        number = count(condition.planners, "worker")
        who = f"{number} plan{'s' if condition.planners == 1 else ''}" if condition.planners else "nobody plans"
        yield ok("planning", f"Nothing is overdue; {who}.", **figures)


def _leases(condition: StoreSnapshot) -> Iterator[Finding]:
    assert condition.work is not None
    expired, late = condition.work.expired, _age(condition, condition.work.expired.since)
    figures = {"expired": expired.count, "late_seconds": round(late, 1)}
    if late > VERY_LATE:
        runs = _count(expired.count, "run")
        text = f"{runs} of lost workers that nobody takes over, the oldest for {duration_text(late)}."
        yield problem(
            "leases", _sentence(text), "tickbird worker MODULE:APP   # workers that plan also rescue", **figures
        )
    else:
        yield ok("leases", "No run is left behind by a lost worker.", **figures)


def _queues(condition: StoreSnapshot) -> Iterator[Finding]:
    work = condition.work
    assert work is not None
    oldest = max((_age(condition, each.since) for each in work.waiting if each.queue not in work.rates), default=0.0)
    alive = any(worker.kind != "sync" for worker in condition.workers)
    if not alive and oldest <= LATE:
        # That there is none, the check of the workers tells.
        yield ok("queues", "Nothing has waited for long.", oldest_seconds=round(oldest, 1))
        return
    told: set[tuple[str, str]] = set()
    for each in work.waiting:
        if why := unserved_reason(each.queue, each.task, condition.workers):
            told.add((each.queue, each.task))
            yield _unserved(condition, each.queue, each.task, each.count, _age(condition, each.since), why)
    if alive:
        yield from _unserved_schedules(condition, work, told)
    for queue, rate in work.rates.items():
        waited = max((_age(condition, each.since) for each in work.waiting if each.queue == queue), default=0.0)
        if waited > RATED and not any(queue == one for one, _ in told):
            told.add((queue, ""))
            text = f"The oldest run in queue {queue!r} has waited for {duration_text(waited)}: its rate is {rate}."
            fix = f"tickbird queue {quote(queue)} --rate …   # a higher one, if what is behind it can take that"
            yield warning("queues", text, fix, queue=queue, rate=str(rate), oldest_seconds=round(waited, 1))
    if oldest > VERY_LATE and not told:
        text = (
            f"The oldest run that could start has waited for {duration_text(oldest)}: "
            "the workers that serve it are busy."
        )
        yield warning("queues", text, "Start more workers, or give them more --slots.", oldest_seconds=round(oldest, 1))
    elif not told:
        text = f"The oldest run in line has waited for {duration_text(oldest)}." if work.waiting else "Nothing waits."
        yield ok("queues", text, oldest_seconds=round(oldest, 1))


def _unserved(condition: StoreSnapshot, queue: str, task: str, number: int, waited: float, why: str) -> Finding:
    runs = f"{_count(number, 'run')} of {named(task)} in queue {queue!r}"
    text = f"{runs} wait{'s' if number == 1 else ''} for nobody: {why}; the oldest for {duration_text(waited)}."
    fix = _server(queue, task)
    figures = {"queue": queue, "task": task, "runs": number, "oldest_seconds": round(waited, 1)}
    return (problem if waited > VERY_LATE else warning)("queues", _sentence(text), fix, **figures)


def _server(queue: str, target: str) -> str:
    """The worker that would take runs of this queue and target."""
    if is_program(target):
        return (
            f"tickbird worker MODULE:APP --queues {quote(queue)} --allow-command {quote(target)}   # where it is to run"
        )
    return f"tickbird worker MODULE:APP --queues {quote(queue)}   # of the app that has the task {target!r}"


def _unserved_schedules(condition: StoreSnapshot, work: Workload, told: set[tuple[str, str]]) -> Iterator[Finding]:
    """Schedules that will find nobody when their time comes, which may be at night."""
    for each in work.scheduled:
        why = "" if (each.queue, each.task) in told else unserved_reason(each.queue, each.task, condition.workers)
        if not why or why.startswith("every worker that could take it is draining"):
            continue
        told.add((each.queue, each.task))
        soon = f"; the next is due in {duration_text(max(1.0, -_age(condition, each.next_at)))}" if each.next_at else ""
        schedules = count(each.count, "schedule")
        text = f"{schedules} of {named(each.task)} in queue {each.queue!r} would wait for nobody: {why}{soon}."
        fix = _server(each.queue, each.task)
        yield warning("queues", text, fix, queue=each.queue, task=each.task, schedules=each.count)


def _parked(condition: StoreSnapshot) -> Iterator[Finding]:
    assert condition.work is not None
    parked = condition.work.parked
    for each in parked[:_NAMED]:
        text = f"{each.name} is parked and does not run: {_cut(reason(each.error))}."
        name = quote(each.name)
        fix = f"tickbird set {name} …   # or repair its row; tickbird resume {name} if it can be planned again"
        yield problem("parked", text, fix, schedule=each.name)
    if len(parked) > _NAMED:
        more = len(parked) - _NAMED
        text = f"{_count(more, 'other')} are parked as well."
        yield problem("parked", _sentence(text), "tickbird ls --state parked", more=more)
    yield from _refused(condition.work)
    if not parked and not condition.work.refused:
        yield ok("parked", "No schedule is parked.")


def _refused(work: Workload) -> Iterator[Finding]:
    """Active schedules that cannot be planned for a cause outside of their rows."""
    for schedule in work.refused[:_NAMED]:
        if schedule.error:
            text = f"{schedule.name} cannot be planned, and is tried again: {_cut(reason(schedule.error))}."
            fix = "Remove the cause, such as a trigger, a constraint or missing rights."
            yield problem("parked", text, fix, schedule=schedule.name)
        else:
            text = f"{schedule.name} is in a newer format than this version of tickbird reads, and is left alone."
            yield warning("parked", text, "pip install --upgrade tickbird", schedule=schedule.name)
    if (more := len(work.refused) - _NAMED) > 0:
        text = _sentence(f"{_count(more, 'other')} are not planned either.")
        yield problem("parked", text, "tickbird ls", more=more)


def _calendars(condition: StoreSnapshot) -> Iterator[Finding]:
    assert condition.work is not None
    behind: dict[str, list[str]] = {}
    for schedule, calendar in condition.work.old_calendars:
        behind.setdefault(calendar, []).append(schedule)
    for calendar, schedules in behind.items():
        text = (
            f"{_count(len(schedules), 'schedule')} still {'have' if len(schedules) != 1 else 'has'} what calendar "
            f"{calendar!r} said before ({_names(schedules)}): putting it was interrupted."
        )
        fix = f"tickbird calendar put {quote(calendar)} …   # with the same definition again"
        yield problem("calendars", _sentence(text), fix, calendar=calendar, schedules=schedules[:_NAMED])
    if not behind:
        yield ok("calendars", "Every schedule has what its calendars say.")


def _dependencies(condition: StoreSnapshot) -> Iterator[Finding]:
    assert condition.work is not None
    waiting: dict[tuple[str, str | None], list[str]] = {}
    for schedule, needed, stands in condition.work.stuck:
        waiting.setdefault((needed, stands), []).append(schedule)
    for (needed, state), schedules in waiting.items():
        verb = "depends" if len(schedules) == 1 else "depend"
        text = f"{_names(schedules)} {verb} on {needed}, which {f'is {state}' if state else 'does not exist'}"
        text = text.replace("is ended", "has ended")
        fixes = {"paused": f"tickbird resume {quote(needed)}", "a shadow": f"tickbird set {quote(needed)} shadow=false"}
        fix = fixes.get(state or "", f"tickbird set {quote(schedules[0])} depends_on=…")
        yield warning("dependencies", f"{text}.", fix, needed=needed, state=state, schedules=schedules[:_NAMED])
    if not waiting:
        yield ok("dependencies", "No schedule depends on one that does not tick.")


def _failing(condition: StoreSnapshot) -> Iterator[Finding]:
    assert condition.work is not None
    failing = condition.work.failing
    for each in failing[:_NAMED]:
        text = f"{each.name} failed {each.runs} times in a row: {_cut(brief(each.error))}."
        yield problem(
            "failing", text, f"tickbird runs --schedule {quote(each.name)} --status failed", schedule=each.name
        )
    if len(failing) > _NAMED:
        more = len(failing) - _NAMED
        yield problem("failing", _sentence(f"{_count(more, 'other')} fail as well."), "tickbird ls", more=more)
    if not failing:
        yield ok("failing", "No schedule fails again and again.")


def _held(condition: StoreSnapshot) -> Iterator[Finding]:
    assert condition.work is not None
    work = condition.work
    figures = {"runs": work.held_runs, "schedules": work.held_schedules}
    if work.held_runs:
        text = (
            f"{_count(work.held_runs, 'late run')} of {count(work.held_schedules, 'schedule')} "
            f"{'are' if work.held_runs != 1 else 'is'} held until a person releases or drops them."
        )
        yield warning(
            "held", _sentence(text), "tickbird held   # then tickbird release NAME, or tickbird drop NAME", **figures
        )
    else:
        yield ok("held", "No run is held.", **figures)


_CHECKS: Final[dict[str, Judge]] = {
    "schema": _schema,
    "rights": postgres_checks.rights,
    "server": postgres_checks.server,
    "versions": _versions,
    "clock": _clock,
    "time-outs": postgres_checks.time_outs,
    "durability": lambda condition: (sqlite_checks if condition.file else postgres_checks).durability(condition),
    "disk": sqlite_checks.disk,
    "pooler": postgres_checks.pooler,
    "replication": postgres_checks.replication,
    "connections": postgres_checks.connections,
    "snapshots": postgres_checks.snapshots,
    "vacuum": postgres_checks.vacuum,
    "indexes": postgres_checks.indexes,
    "copy": _copy,
    "zone data": _zones,
    "workers": _workers,
    "planning": _planning,
    "leases": _leases,
    "queues": _queues,
    "parked": _parked,
    "calendars": _calendars,
    "dependencies": _dependencies,
    "failing": _failing,
    "held": _held,
}
CHECKS: Final = tuple(_CHECKS)
# Where there is no schema, there is nothing to say of these.
_OF_SCHEMA: Final = frozenset(CHECKS[CHECKS.index("copy") :])


def _age(condition: StoreSnapshot, since: datetime | None) -> float:
    return 0.0 if since is None else (condition.now - since).total_seconds()


def _count(number: int, thing: str) -> str:
    return ("at least " if number >= MAX_COUNT else "") + count(number, thing)


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _cut(text: str) -> str:
    text = " ".join(text.split()).rstrip(".")
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else text + "."


def to_json(finding: Finding) -> dict[str, Any]:
    """A finding as plain JSON values."""
    return {
        "check": finding.check,
        "severity": finding.severity,
        "ok": finding.ok,
        "text": finding.text,
        "fix": finding.fix,
        "figures": dict(finding.figures),
    }

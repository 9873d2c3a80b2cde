"""Schedules that do not run as planned."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from tickbird.domain.doctor.checks.phrases import MAX_NAMES, capped_count, name_list, sentence, shorten
from tickbird.domain.doctor.finding import Finding, ok, problem, warning
from tickbird.domain.doctor.snapshot import StoreSnapshot
from tickbird.domain.messages import brief, count, reason


def parked(condition: StoreSnapshot) -> Iterator[Finding]:
    assert condition.work is not None
    parked = condition.work.parked
    for schedule in parked[:MAX_NAMES]:
        text = f"{schedule.name} is parked and does not run: {shorten(reason(schedule.error))}."
        name = quote(schedule.name)
        fix = f"tickbird set {name} …   # or repair its row, then: tickbird resume {name}"
        yield problem("parked", text, fix, schedule=schedule.name)
    if len(parked) > MAX_NAMES:
        more = len(parked) - MAX_NAMES
        text = f"{capped_count(more, 'other')} are parked too."
        yield problem("parked", sentence(text), "tickbird ls --state parked", more=more)
    refused = [schedule for schedule in condition.work.refused if not schedule.ignored]
    # The cause is outside of their rows.
    for schedule in refused[:MAX_NAMES]:
        text = f"{schedule.name} cannot be planned, and is retried: {shorten(reason(schedule.error))}."
        fix = "Remove the cause, such as a trigger, a constraint or missing rights."
        yield problem("parked", text, fix, schedule=schedule.name)
    if (more := len(refused) - MAX_NAMES) > 0:
        text = sentence(f"{capped_count(more, 'other')} are not planned either.")
        yield problem("parked", text, "tickbird ls", more=more)
    if not parked and not refused:
        yield ok("parked", "No schedule is parked.")


def ignored(condition: StoreSnapshot) -> Iterator[Finding]:
    """Yield active schedules that only other processes can read."""
    assert condition.work is not None
    ignored = [schedule for schedule in condition.work.refused if schedule.ignored]
    for schedule in ignored[:MAX_NAMES]:
        fix = "pip install --upgrade tickbird"
        if schedule.missing_plug_in:
            fix = f"pip install …   # the package with {schedule.missing_plug_in}, which is missing or broken here"
        yield warning("ignored", f"{schedule.name} is ignored: {schedule.ignored}.", fix, schedule=schedule.name)
    if (more := len(ignored) - MAX_NAMES) > 0:
        yield warning("ignored", sentence(f"{capped_count(more, 'other')} are ignored too."), "tickbird ls", more=more)
    if not ignored:
        yield ok("ignored", "This process can read every schedule.")


def cursors(condition: StoreSnapshot) -> Iterator[Finding]:
    """Yield rows that no planner can use, because plain SQL wrote a cursor without a schedule or deleted one."""
    assert condition.work is not None
    orphans, cursorless = condition.work.orphans, condition.work.cursorless
    if not orphans and not cursorless:
        yield ok("cursors", "Every cursor belongs to a schedule.")
        return
    prefix = f"{condition.server.schema}." if condition.server else ""
    if cursorless:
        verb = "has" if len(cursorless) == 1 else "have"
        text = (
            f"{capped_count(len(cursorless), 'schedule')} {verb} no cursor, so no worker plans and no list shows "
            f"{'it' if len(cursorless) == 1 else 'them'}: {name_list(cursorless)}."
        )
        # A cursor without next_run_at gets one and does not fire, as that of a new schedule.
        form = "tickbird.definition_format(definition)" if prefix else "coalesce(json_extract(definition, '$.v'), 0)"
        fix = (
            f"INSERT INTO {prefix}cursors (schedule_id, revision, format) SELECT id, revision, {form} "  # noqa: S608 - for a person to paste
            f"FROM {prefix}schedules WHERE id NOT IN (SELECT schedule_id FROM {prefix}cursors);"
        )
        yield problem("cursors", sentence(text), fix, schedules=list(cursorless[:MAX_NAMES]))
    if not orphans:
        return
    ids = name_list([str(schedule_id) for schedule_id in orphans])
    text = f"{capped_count(len(orphans), 'cursor')} without a schedule, which no worker can plan; schedule_id: {ids}."
    fix = f"DELETE FROM {prefix}cursors WHERE schedule_id NOT IN (SELECT id FROM {prefix}schedules);"  # noqa: S608 - for a person to paste
    yield warning("cursors", sentence(text), fix, schedule_ids=list(orphans))


def calendars(condition: StoreSnapshot) -> Iterator[Finding]:
    assert condition.work is not None
    outdated: dict[str, list[str]] = {}
    for schedule, calendar in condition.work.old_calendars:
        outdated.setdefault(calendar, []).append(schedule)
    for calendar, schedules in outdated.items():
        text = (
            f"{capped_count(len(schedules), 'schedule')} still {'use' if len(schedules) != 1 else 'uses'} an earlier "
            f"version of calendar {calendar!r} ({name_list(schedules)}), because its update was interrupted."
        )
        fix = f"tickbird calendar put {quote(calendar)} …   # with the same definition"
        yield problem("calendars", sentence(text), fix, calendar=calendar, schedules=schedules[:MAX_NAMES])
    if not outdated:
        yield ok("calendars", "Every schedule uses the current version of its calendars.")


def dependencies(condition: StoreSnapshot) -> Iterator[Finding]:
    assert condition.work is not None
    waiting: dict[tuple[str, str | None], list[str]] = {}
    for schedule, needed, needed_state in condition.work.stuck:
        waiting.setdefault((needed, needed_state), []).append(schedule)
    for (needed, state), schedules in waiting.items():
        verb = "depends" if len(schedules) == 1 else "depend"
        text = f"{name_list(schedules)} {verb} on {needed}, which {f'is {state}' if state else 'does not exist'}"
        text = text.replace("is ended", "has ended")
        fixes = {"paused": f"tickbird resume {quote(needed)}", "a shadow": f"tickbird set {quote(needed)} shadow=false"}
        fix = fixes.get(state or "", f"tickbird set {quote(schedules[0])} depends_on=…")
        yield warning("dependencies", f"{text}.", fix, needed=needed, state=state, schedules=schedules[:MAX_NAMES])
    if not waiting:
        yield ok("dependencies", "Every schedule depends only on active schedules.")


def failing(condition: StoreSnapshot) -> Iterator[Finding]:
    assert condition.work is not None
    failing = condition.work.failing
    for schedule in failing[:MAX_NAMES]:
        text = f"{schedule.name} failed {schedule.runs} times in a row: {shorten(brief(schedule.error))}."
        yield problem(
            "failing", text, f"tickbird runs --schedule {quote(schedule.name)} --status failed", schedule=schedule.name
        )
    if len(failing) > MAX_NAMES:
        more = len(failing) - MAX_NAMES
        yield problem("failing", sentence(f"{capped_count(more, 'other')} fail too."), "tickbird ls", more=more)
    if not failing:
        yield ok("failing", "No schedule fails repeatedly.")


def held(condition: StoreSnapshot) -> Iterator[Finding]:
    assert condition.work is not None
    work = condition.work
    figures = {"runs": work.held_runs, "schedules": work.held_schedules}
    if work.held_runs:
        text = (
            f"{capped_count(work.held_runs, 'late run')} of {count(work.held_schedules, 'schedule')} "
            f"{'are' if work.held_runs != 1 else 'is'} held until you release or drop them."
        )
        yield warning(
            "held", sentence(text), "tickbird held   # then tickbird release NAME, or tickbird drop NAME", **figures
        )
    else:
        yield ok("held", "No run is held.", **figures)


def undecided(condition: StoreSnapshot) -> Iterator[Finding]:
    assert condition.work is not None
    runs = condition.work.undecided_runs
    if runs:
        verb, whose = ("waits", "it had its") if runs == 1 else ("wait", "they had their")
        text = f"{capped_count(runs, 'lost run')} {verb} for the answer whether {whose} effect."
        yield warning("undecided", sentence(text), "tickbird undecided   # then tickbird resolve RUN yes|no", runs=runs)
    else:
        yield ok("undecided", "No lost run waits for an answer.", runs=runs)

"""Events that wait for a position, consumer groups that do not read, and dead letters."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from tickbird.domain.doctor.checks.lateness import VERY_LATE, age
from tickbird.domain.doctor.checks.phrases import MAX_NAMES, capped_count, sentence, shorten
from tickbird.domain.doctor.finding import Finding, ok, problem, warning
from tickbird.domain.doctor.snapshot import EventHealth, GroupHealth, StoreSnapshot
from tickbird.domain.messages import brief, count, folded
from tickbird.domain.time.durations import duration_text
from tickbird.domain.workers import executes

_UNDECLARED = 1_800.0


def _events(condition: StoreSnapshot) -> EventHealth:
    assert condition.work is not None
    return condition.work.events


def event_log(condition: StoreSnapshot) -> Iterator[Finding]:
    waited = max(0.0, age(condition, _events(condition).unstamped_since))
    figures = {"oldest_seconds": round(waited, 1)}
    if waited > VERY_LATE:
        text = (
            f"An event has had no position for {duration_text(waited)}: no live worker stamps events, so none is read."
        )
        yield problem("event log", text, "tickbird worker MODULE:APP   # workers that plan stamp events", **figures)
    else:
        yield ok("event log", "Events get their positions.", **figures)


def consumers(condition: StoreSnapshot) -> Iterator[Finding]:
    health = _events(condition)
    kept = age(condition, health.kept_since)
    findings = [finding for group in health.groups for finding in _group(condition, group, kept)]
    yield from findings[:MAX_NAMES]
    if len(findings) > MAX_NAMES:
        more = len(findings) - MAX_NAMES
        text = f"{count(more, 'more problem')} of consumer groups."
        yield problem("consumers", text, "tickbird consumers ls", more=more)
    if not findings:
        text = (
            f"No problem in {count(len(health.groups), 'consumer group')}."
            if health.groups
            else "No consumer group exists."
        )
        yield ok("consumers", text, groups=len(health.groups))


def _group(condition: StoreSnapshot, group: GroupHealth, kept: float) -> Iterator[Finding]:
    name = quote(group.name)
    if group.state == "stopped":
        why = f": {shorten(folded(group.reason))}" if group.reason else ""
        fix = f"tickbird consumers resume {name}   # or, if it names removed events: tickbird consumers seek {name} …"
        yield problem("consumers", sentence(f"Group {group.name} is stopped{why}"), fix, group=group.name)
        return
    behind = age(condition, group.oldest_at)
    # Retention is a setting of workers. Its effect is visible: the age of the oldest event that it has kept.
    if group.oldest_at is not None and _is_at_risk(behind, kept):
        text = (
            f"Group {group.name} has not read an event that is {duration_text(behind)} old. Retention removes events "
            f"after about {duration_text(kept)}, and then stops the group."
        )
        fix = f"tickbird consumers show {name}   # then start a worker that declares it, or repair its error"
        yield warning("consumers", text, fix, group=group.name, behind_seconds=round(behind, 1))
    if behind > VERY_LATE and (reason := _unserved_reason(condition, group)):
        text = f"Group {group.name} has not read an event that is {duration_text(behind)} old: {reason}."
        fix = f"tickbird worker MODULE:APP   # or, if no code needs it: tickbird consumers rm {name}"
        yield problem("consumers", text, fix, group=group.name, behind_seconds=round(behind, 1))
    if group.paused:
        partitions = (
            f"{count(group.paused, 'partition')} of group {group.name} {'is' if group.paused == 1 else 'are'} paused"
        )
        text = f"{partitions} after an error: {shorten(brief(group.error)) or 'unknown'}."
        fix = "Repair what the error names. The group then continues by itself."
        yield warning("consumers", text, fix, group=group.name, partitions=group.paused)


def _unserved_reason(condition: StoreSnapshot, group: GroupHealth) -> str:
    """Why its events are not delivered; empty if a worker delivers them."""
    if not any(worker.app == group.app and executes(worker) for worker in condition.workers):
        return f"no live worker of app {group.app} delivers events"
    declared = age(condition, group.declared_at)
    # Live workers declare their groups every ten minutes.
    if declared > _UNDECLARED:
        return f"no worker has declared it for {duration_text(declared)}"
    return ""


def _is_at_risk(behind: float, kept: float) -> bool:
    return behind > VERY_LATE and kept > 0 and behind > kept / 2


def dead_letters(condition: StoreSnapshot) -> Iterator[Finding]:
    failed = [group for group in _events(condition).groups if group.failed]
    for group in failed[:MAX_NAMES]:
        wait = "it waits" if group.failed == 1 else "they wait"
        text = (
            f"{capped_count(group.failed, 'dead letter')} of group {group.name} failed: {wait} for a person, and later "
            "events of the same keys wait too."
        )
        fix = f"tickbird dead-letters ls --group {quote(group.name)}   # then replay, repair or skip"
        yield problem("dead letters", sentence(text), fix, group=group.name, failed=group.failed)
    if len(failed) > MAX_NAMES:
        more = len(failed) - MAX_NAMES
        text = sentence(f"{capped_count(more, 'other group')} have failed dead letters too.")
        yield problem("dead letters", text, "tickbird consumers ls", more=more)
    if not failed:
        yield ok("dead letters", "No event waits for a person.")

"""The checker detects every broken promise: the records of a small fleet are damaged in one position at a time."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any

import pytest

from tests.proof.past import CLOCK, FIRST_RUN, Past
from tests.proof.past import past as past
from tickbird.proof.checker import Checker, Verdict
from tickbird.proof.executions import read_executions
from tickbird.proof.journal import Entry, read_journals
from tickbird.proof.records import read_records
from tickbird.stores import open_store


async def judge(past: Past, calm: tuple[float, float] | None = None) -> Verdict:
    """The proof's verdict."""
    store = open_store(past.url)
    await store.open()
    records = await read_records(store)
    await store.close()
    return Checker(records, read_journals(past.folder), past.since, past.until, calm=calm).check()


async def violations(past: Past) -> set[str]:
    """The violations, as `promise: text`."""
    return {f"{violation.promise}: {violation.text}" for violation in (await judge(past)).violations}


def has(texts: set[str], promise: str, part: str) -> bool:
    """Is a violation of this promise about this?"""
    return any(text.startswith(f"{promise}: ") and part in text for text in texts)


async def test_an_unspoiled_past_is_clean(past: Past) -> None:
    verdict = await judge(past, calm=(past.since, past.until))
    assert verdict.violations == []
    assert verdict.unsupported == []
    # Six runs before "stopped" was resumed, and at least one run of "stopped".
    assert verdict.run >= 7
    assert verdict.skipped["paused"] >= 1
    assert verdict.skipped["overlap"] >= 1
    assert verdict.expected == verdict.run + sum(verdict.skipped.values())


# Change → promise, part of the text, statements.
STATEMENTS: dict[str, tuple[str, ...]] = {
    "a run is gone": ("I3", "has no decision", f"DELETE FROM runs WHERE id = {FIRST_RUN}"),
    "a skip is gone": ("I3", "has no decision", "DELETE FROM skips WHERE reason = 'paused'"),
    "a skip counts wrong": ("I3", "counts", "UPDATE skips SET count = count + 1 WHERE reason = 'paused'"),
    "a cursor before a run": (
        "I4",
        "is after the cursor",
        f"UPDATE cursors SET planned_until = planned_until - 3000000 WHERE {CLOCK}",
    ),
    "a cursor before a skip": (
        "I4",
        "a skip is after the cursor",
        (
            "UPDATE cursors SET planned_until = planned_until - 60000000"
            " WHERE schedule_id = (SELECT schedule_id FROM skips WHERE reason = 'overlap')"
        ),
    ),
    "between two ticks": (
        "I2",
        "is not on the grid of its revision",
        f"UPDATE runs SET scheduled_for = scheduled_for + 500000 WHERE id = {FIRST_RUN}",
    ),
    "before its revision": (
        "I2",
        "is on no grid that was in force",
        f"UPDATE revisions SET created_at = created_at + 3600000000 WHERE {CLOCK}",
    ),
    "too early": ("I2", "started before it was due", f"UPDATE runs SET started_at = due_at - 1 WHERE id = {FIRST_RUN}"),
    "not final": (
        "I6",
        "is still queued",
        f"UPDATE runs SET status = 'queued', finished_at = NULL WHERE id = {FIRST_RUN}",
    ),
    "the wrong process": ("I7", "the result is of process 1", f"UPDATE runs SET result = '1' WHERE id = {FIRST_RUN}"),
    "another attempt": (
        "I7",
        "succeeded, but its attempt 2",
        f"UPDATE runs SET attempt = 2 WHERE id = {FIRST_RUN}",
    ),
    "an unknown attempt": (
        "I7",
        "by an attempt that the store does not have",
        f"UPDATE runs SET attempt = 0 WHERE id = {FIRST_RUN}",
    ),
    "too many failures": ("I9", "retries are 0", f"UPDATE runs SET failures = 2 WHERE id = {FIRST_RUN}"),
    "too many crashes": ("I9", "the limit is 3", f"UPDATE runs SET crashes = 5 WHERE id = {FIRST_RUN}"),
    "skipped without an overlap": (
        "I10",
        "for a run that was not active",
        f"UPDATE skips SET run_id = {FIRST_RUN} WHERE reason = 'overlap'",
        f"UPDATE runs SET finished_at = finished_at - 60000000 WHERE id = {FIRST_RUN}",
    ),
    "late, but not caught up": (
        "I11",
        "as if it were on time",
        f"UPDATE runs SET created_at = due_at + 7200000000 WHERE id = {FIRST_RUN}",
    ),
    "caught up on time": (
        "I11",
        "s after it was due",
        f"UPDATE runs SET origin = 'catch_up' WHERE id = {FIRST_RUN}",
    ),
    "caught up against the policy": (
        "I11",
        "but catch-up is skip",
        "UPDATE revisions SET definition = json_set(definition, '$.catch_up', 'skip')",
        f"UPDATE runs SET origin = 'catch_up' WHERE id = {FIRST_RUN}",
    ),
    "coalesced into another run": (
        "I11",
        "does not cover all ticks",
        f"UPDATE skips SET reason = 'coalesced', run_id = {FIRST_RUN} WHERE reason = 'overlap'",
    ),
    "coalesced against the policy": (
        "I11",
        "but catch-up is all",
        "UPDATE revisions SET definition = json_set(definition, '$.catch_up', 'all')",
        (
            "UPDATE runs SET covers_first = scheduled_for, covers_last = scheduled_for, covers_count = 1"
            f" WHERE id = {FIRST_RUN}"
        ),
    ),
    "started after its start": (
        "I14",
        "began before its started_at",
        f"UPDATE runs SET started_at = started_at + 5000000 WHERE id = {FIRST_RUN}",
    ),
    "ended before its end": (
        "I14",
        "ended after its finished_at",
        f"UPDATE runs SET finished_at = started_at - 1000000 WHERE id = {FIRST_RUN}",
    ),
}


@pytest.mark.parametrize("change", STATEMENTS)
async def test_a_spoiled_store(past: Past, tmp_path: Path, change: str) -> None:
    promise, part, *statements = STATEMENTS[change]
    spoiled = past.copy(tmp_path / "spoiled")
    spoiled.execute(*statements)
    texts = await violations(spoiled)
    assert has(texts, promise, part), texts


async def test_two_runs_of_a_tick(past: Past, tmp_path: Path) -> None:
    spoiled = past.copy(tmp_path / "spoiled")
    second = f"(SELECT id FROM runs WHERE {CLOCK} ORDER BY id LIMIT 1 OFFSET 1)"
    spoiled.execute(
        "DROP INDEX runs_tick_key",
        f"UPDATE runs SET scheduled_for = (SELECT scheduled_for FROM runs WHERE id = {FIRST_RUN}) WHERE id = {second}",
    )
    verdict = await judge(spoiled)
    assert verdict.doubled == 1
    assert any(violation.promise == "I1" and "of the same tick" in violation.text for violation in verdict.violations)


# Change → promise, part of the text, the event of the entry, and its new values.
ENTRIES: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "no end of a run that succeeded": ("I7", "succeeded, but its attempt 1", "done", {"drop": True}),
    "executed twice": ("I8", "was executed twice", "began", {"twice": True}),
    "a run that the store does not have": ("I1", "the store has no such run", "began", {"run": 999_999}),
    "before it was due": ("I2", "began before it was due", "began", {"at": 0.0}),
}


@pytest.mark.parametrize("change", ENTRIES)
async def test_a_spoiled_journal(past: Past, tmp_path: Path, change: str) -> None:
    promise, part, event, values = ENTRIES[change]
    spoiled = past.copy(tmp_path / "spoiled")
    spoiled.rewrite(event, **values)
    texts = await violations(spoiled)
    assert has(texts, promise, part), texts


async def test_two_executions_at_a_time(past: Past, tmp_path: Path) -> None:
    [first, second] = [entry for entry in read_journals(past.folder) if entry.schedule == "slow"][::2][:2]
    assert (first.event, second.event) == ("began", "began")
    overlapping = past.copy(tmp_path / "overlapping")
    overlapping.write("began", pid=7, at=first.at + 0.1, run=second.run, attempt=9, schedule="slow")
    assert has(await violations(overlapping), "I10", "were executing")
    taken_over = past.copy(tmp_path / "taken over")
    taken_over.write("began", pid=7, at=first.at + 0.1, run=first.run, attempt=9, schedule="slow")
    assert has(await violations(taken_over), "I8", "s after attempt 9 began in 7")


async def test_two_runs_executed_for_a_tick(past: Past, tmp_path: Path) -> None:
    [first, second] = [entry for entry in read_journals(past.folder) if entry.schedule == "slow"][::2][:2]
    doubled = past.copy(tmp_path / "doubled")
    doubled.write("began", pid=7, run=second.run, attempt=9, schedule="slow", tick=first.tick)
    assert has(await violations(doubled), "I1", f"was executed as runs [{first.run}, {second.run}]")


async def test_a_second_start_that_the_policy_forbids(past: Past, tmp_path: Path) -> None:
    repeated = past.copy(tmp_path / "repeated")
    repeated.execute("UPDATE revisions SET definition = json_set(definition, '$.on_crash', 'fail')")
    assert await violations(repeated) == set()
    repeated.write("began", pid=7, run=repeated.first_run(), attempt=2, schedule="clock")
    assert has(await violations(repeated), "I9", "must not start twice")


async def test_a_late_tick_without_faults(past: Past, tmp_path: Path) -> None:
    late = past.copy(tmp_path / "late")
    late.execute(f"UPDATE runs SET created_at = due_at + 6000000 WHERE id = {FIRST_RUN}")
    assert await violations(late) == set()
    verdict = await judge(late, calm=(late.since, late.until))
    assert "on time" in {violation.promise for violation in verdict.violations}


async def test_an_active_schedule_that_is_not_planned(past: Past, tmp_path: Path) -> None:
    stopped = past.copy(tmp_path / "stopped")
    stopped.execute(f"UPDATE cursors SET state = 'active' WHERE {CLOCK}")
    stopped.until += 60
    verdict = await judge(stopped)
    assert verdict.lost > 40
    assert "I3" in {violation.promise for violation in verdict.violations}


async def test_a_definition_that_the_checker_cannot_read(past: Past, tmp_path: Path) -> None:
    unsupported = past.copy(tmp_path / "unsupported")
    unsupported.execute("UPDATE revisions SET definition = replace(definition, 'seconds', 'minutes')")
    assert "clock" in (await judge(unsupported)).unsupported


@pytest.mark.parametrize("signals, ended", [(1, inf), (2, 5.0)])
def test_a_worker_that_is_drained_twice_has_ended(signals: int, ended: float) -> None:
    began = Entry("began", 7, 1.0, 1.0, run=1, attempt=1)
    drains = [Entry("draining", 7, 3.0 + 2 * number, 0.0) for number in range(signals)]
    [execution] = read_executions([began, *drains]).all
    assert execution.ended == ended


def _frozen_from_3_to_9(*entries: Entry) -> list[Entry]:
    freeze = [Entry("frozen", 7, 3.0, 0.0), Entry("thawed", 7, 9.0, 0.0)]
    return sorted([*freeze, *entries], key=lambda entry: entry.at)


@pytest.mark.parametrize(
    "checked, ended, excused, late",
    [
        # The freeze was between the lease check and the function: it is unavoidable.
        (2.9, 9.2, True, True),
        # It checked its lease after the freeze: it should not have begun.
        (9.001, 9.2, False, False),
        # It was not stopped in time.
        (2.9, 11.0, False, True),
        # The time of the lease check is unknown.
        (None, 9.2, False, False),
    ],
)
def test_a_start_after_a_freeze_is_excused_only_by_an_earlier_lease_check(
    checked: float | None, ended: float, excused: bool, late: bool
) -> None:
    detail = {} if checked is None else {"lease_checked_at": checked}
    began = Entry("began", 7, 9.002, 0.0, run=1, attempt=1, detail=detail)
    executions = read_executions(_frozen_from_3_to_9(began, Entry("done", 7, ended, 0.0, run=1, attempt=1)))
    [execution] = executions.all
    assert (executions.is_excused(execution), executions.started_late(execution)) == (excused, late)

"""The checker finds what it is there for: evidence of a small fleet is spoiled in one place at a time."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import time
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any

import pytest

from tests.faults.fleet import all_skips
from tickbird import every
from tickbird.client import Client
from tickbird.domain.runs.run import FINAL
from tickbird.stores import open_store
from tickbird.testing.faults import Fleet, Note, judge, until
from tickbird.testing.faults.executions import read_executions


class Past:
    """A store and ledgers of a fleet that has come to rest."""

    def __init__(self, folder: Path, since: float, until: float) -> None:
        self.folder, self.since, self.until = folder, since, until

    def copy(self, folder: Path) -> Past:
        """To be spoiled."""
        shutil.copytree(self.folder, folder)
        return Past(folder, self.since, self.until)

    def change(self, *statements: str) -> None:
        """Rewrite what the store says."""
        connection = sqlite3.connect(self.folder / "tickbird.db")
        with connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()

    def rewrite(self, event: str, **values: Any) -> None:
        """Change the first note of a kind about `clock`; `drop=True` takes it out, `twice=True` has it once more."""
        for path in sorted(self.folder.glob("[0-9]*.ledger")):
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            for place, line in enumerate(lines):
                if (line["event"], line["schedule"]) == (event, "clock"):
                    if values.pop("drop", False):
                        lines.pop(place)
                    elif values.pop("twice", False):
                        lines.append(line)
                    line.update(values)
                    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
                    return

    def note(self, event: str, **values: Any) -> None:
        """One more note."""
        line = {"event": event, "pid": 1, "at": time.monotonic() - 3_600, "wall": 0.0, **values}
        with (self.folder / "lab.ledger").open("a") as file:
            file.write(json.dumps(line) + "\n")

    async def broken(self) -> set[str]:
        """The promises that the checker finds broken."""
        url = f"sqlite:///{self.folder}/tickbird.db"
        verdict = await judge(url, self.folder, self.since, self.until)
        return {violation.promise for violation in verdict.violations}


async def _live(folder: Path) -> Past:
    url = f"sqlite:///{folder}/tickbird.db"
    store = open_store(url)
    await store.migrate()
    await store.open()
    client = Client(store)
    since = (await store.now()).timestamp()
    told: dict[str, Any] = {"actor": "ada", "unknown_task_ok": True}
    for name in ("clock", "stopped"):
        # However slowly the worker comes up, no tick is late.
        policies: dict[str, Any] = {"overlap": "allow", "grace": "1h"}
        await client.create(name, every(seconds=1), "brief", payload={"edition": 7}, **policies, **told)
    await client.create("slow", every(seconds=1), "steady", payload={"seconds": 1.2}, **told)
    await client.pause("stopped", actor="ada")
    with Fleet(url, folder) as fleet:
        fleet.start()
        await fleet.ran_more(6)
        await client.resume("stopped", actor="ada")
        await until(lambda: {"clock", "stopped", "slow"} <= {note.schedule for note in fleet.notes("done")})

        async def has_overlapped() -> bool:
            return any(skip.reason == "overlap" for skip in await all_skips(store, "slow"))

        await until(has_overlapped)
        for name in ("clock", "stopped", "slow"):
            await client.pause(name, actor="ada")

        async def at_rest() -> bool:
            return all(run.status in FINAL for run in await client.runs(limit=1_000))

        await until(at_rest)
    await store.close()
    return Past(folder, since, time.time())


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Past]:
    """One past for all."""
    folder = tmp_path_factory.mktemp("past")
    loop = asyncio.new_event_loop()
    yield loop.run_until_complete(_live(folder))
    loop.close()


async def test_an_unspoiled_past_is_clean(past: Past) -> None:
    verdict = await judge(f"sqlite:///{past.folder}/tickbird.db", past.folder, past.since, past.until)
    assert verdict.clean
    # Six runs before "stopped" was resumed, and at least one run of "stopped".
    assert verdict.run >= 7
    assert verdict.skipped["paused"] >= 1
    assert verdict.skipped["overlap"] >= 1
    assert verdict.expected == verdict.run + sum(verdict.skipped.values())


CLOCK = "schedule_id = (SELECT id FROM schedules WHERE name = 'clock')"
ONE = f"(SELECT min(id) FROM runs WHERE {CLOCK})"
STATEMENTS: dict[str, tuple[str, ...]] = {
    "a run is gone": ("I3", f"DELETE FROM runs WHERE id = {ONE}"),
    "a skip is gone": ("I3", "DELETE FROM skips WHERE reason = 'paused'"),
    "a skip counts wrong": ("I3", "UPDATE skips SET count = count + 1 WHERE reason = 'paused'"),
    "the cursor went back": ("I4", f"UPDATE cursors SET planned_until = planned_until - 3000000 WHERE {CLOCK}"),
    "between two ticks": ("I2", f"UPDATE runs SET scheduled_for = scheduled_for + 500000 WHERE id = {ONE}"),
    "too early": ("I2", f"UPDATE runs SET started_at = due_at - 1000000 WHERE id = {ONE}"),
    "not final": ("I6", f"UPDATE runs SET status = 'queued', finished_at = NULL WHERE id = {ONE}"),
    "the wrong process": ("I7", f"UPDATE runs SET result = '1' WHERE id = {ONE}"),
    "another attempt": ("I7", f"UPDATE runs SET attempt = 2 WHERE id = {ONE}"),
    "too many failures": ("I9", f"UPDATE runs SET failures = 2 WHERE id = {ONE}"),
    "too many crashes": ("I9", f"UPDATE runs SET crashes = 5 WHERE id = {ONE}"),
    "skipped for nothing": (
        "I10",
        f"UPDATE skips SET run_id = {ONE} WHERE reason = 'overlap'",
        f"UPDATE runs SET finished_at = finished_at - 60000000 WHERE id = {ONE}",
    ),
    "late, but not caught up": ("I11", f"UPDATE runs SET created_at = due_at + 7200000000 WHERE id = {ONE}"),
    "caught up on time": ("I11", f"UPDATE runs SET origin = 'catch_up' WHERE id = {ONE}"),
    "ended before its end": ("I14", f"UPDATE runs SET finished_at = started_at - 1000000 WHERE id = {ONE}"),
    "an old payload": ("I17", "UPDATE revisions SET definition = replace(definition, 'edition\":7', 'edition\":8')"),
}


@pytest.mark.parametrize("what", STATEMENTS)
async def test_a_spoiled_store(past: Past, tmp_path: Path, what: str) -> None:
    promise, *statements = STATEMENTS[what]
    spoiled = past.copy(tmp_path / "spoiled")
    spoiled.change(*statements)
    assert promise in await spoiled.broken()


async def test_two_runs_of_a_tick(past: Past, tmp_path: Path) -> None:
    spoiled = past.copy(tmp_path / "spoiled")
    two = f"(SELECT id FROM runs WHERE {CLOCK} ORDER BY id LIMIT 1 OFFSET 1)"
    spoiled.change(
        "DROP INDEX runs_tick",
        f"UPDATE runs SET scheduled_for = (SELECT scheduled_for FROM runs WHERE id = {ONE}) WHERE id = {two}",
    )
    assert {"I1", "I3"} <= await spoiled.broken()


async def test_spoiled_ledgers(past: Past, tmp_path: Path) -> None:
    cases: dict[str, tuple[str, str, dict[str, Any]]] = {
        "no end of what succeeded": ("I7", "done", {"drop": True}),
        "executed twice": ("I8", "began", {"twice": True}),
        "nobody knows this run": ("I1", "began", {"run": 999_999}),
        "before it was due": ("I2", "began", {"at": 0.0}),
        "with another payload": ("I17", "began", {"detail": {"edition": 8}}),
    }
    for place, (promise, event, values) in enumerate(cases.values()):
        spoiled = past.copy(tmp_path / f"spoiled-{place}")
        spoiled.rewrite(event, **values)
        assert promise in await spoiled.broken(), event
    edited = past.copy(tmp_path / "edited")
    edited.note("acknowledged", schedule="clock", detail={"revision": 2})
    assert "I15" in await edited.broken()
    changed = past.copy(tmp_path / "changed")
    run = int(_first_run(changed.folder))
    changed.note("seen final", detail={"run_id": run, "end": ["failed", 1, 0, 0, 0.0]})
    assert "I6" in await changed.broken()


def _first_run(folder: Path) -> int:
    connection = sqlite3.connect(folder / "tickbird.db")
    [(run,)] = connection.execute(f"SELECT {ONE}").fetchall()
    connection.close()
    return int(run)


@pytest.mark.parametrize("signals, ended", [(1, inf), (2, 5.0)])
def test_a_worker_that_is_told_twice_to_drain_is_gone(signals: int, ended: float) -> None:
    began = Note("began", 7, 1.0, 1.0, run=1, attempt=1)
    told = [Note("told to drain", 7, 3.0 + 2 * number, 0.0) for number in range(signals)]
    [execution] = read_executions([began, *told]).all
    assert execution.ended == ended


def _frozen_from_3_to_9(*notes: Note) -> list[Note]:
    return sorted([Note("frozen", 7, 3.0, 0.0), Note("thawed", 7, 9.0, 0.0), *notes], key=lambda note: note.at)


@pytest.mark.parametrize(
    "checked, ended, still, late",
    [
        # The freeze came between the look at the lease and the function: nobody could prevent that.
        (2.9, 9.2, True, True),
        # It looked after it woke: it should not have begun.
        (9.001, 9.2, False, False),
        # It was not stopped in time.
        (2.9, 11.0, False, True),
        # It does not say when it looked.
        (None, 9.2, False, False),
    ],
)
def test_a_start_after_a_freeze_is_excused_only_by_an_earlier_look(
    checked: float | None, ended: float, still: bool, late: bool
) -> None:
    detail = {} if checked is None else {"lease_checked_at": checked}
    began = Note("began", 7, 9.002, 0.0, run=1, attempt=1, detail=detail)
    executions = read_executions(_frozen_from_3_to_9(began, Note("done", 7, ended, 0.0, run=1, attempt=1)))
    [one] = executions.all
    assert (executions.stood_still(one), executions.started_late(one)) == (still, late)

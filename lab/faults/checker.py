"""The checker of the lab: that of the proof, with the lab's grids, and checks of edits and of observed final runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

from lab.faults.definitions import read_spec
from tickbird.domain.runs.run import RunRecord
from tickbird.proof.checker import CLOCK_TOLERANCE, UNIQUE, Checker, Verdict, Violation
from tickbird.proof.journal import read_journals
from tickbird.proof.records import ScheduleRecords, read_records
from tickbird.stores import open_store


def check(url: str, folder: Path, since: float, until: float) -> list[Violation]:
    """Every broken promise among the ticks of (since, until], from a store at rest and the journals of a folder."""
    return asyncio.run(judge(url, folder, since, until)).violations


async def judge(
    url: str, folder: Path, since: float, until: float, *, calm: tuple[float, float] | None = None
) -> Verdict:
    """Like `check`, with counts; for `calm` see `tickbird.proof.checker`."""
    store = open_store(url)
    await store.open()
    try:
        records = await read_records(store, read_spec)
    finally:
        await store.close()
    return FaultChecker(records, read_journals(folder), since, until, calm=calm).check()


class FaultChecker(Checker):
    """Also checks responses to clients: acknowledged edits, and runs that were final."""

    def _check_schedule(self, schedule: ScheduleRecords) -> None:
        super()._check_schedule(schedule)
        self._check_edits(schedule)
        self._check_payloads(schedule)

    def _check_edits(self, schedule: ScheduleRecords) -> None:
        """Nothing is planned by a revision after a later one was acknowledged, and no stale edit is accepted."""
        for entry in self._entries:
            if entry.detail.get("schedule") != schedule.name:
                continue
            if entry.event == "acknowledged" and self._same_clock:
                revision, at = entry.detail["revision"], entry.at + self._wall_offset + CLOCK_TOLERANCE
                for run in schedule.runs:
                    if run.origin in UNIQUE and (run.revision or 0) < revision and run.created_at.timestamp() > at:
                        self._report(
                            "I15",
                            f"{schedule.name}: run {run.id} uses revision {run.revision} after {revision} was "
                            "acknowledged",
                        )
            if entry.event == "stale edit accepted":
                self._report("I15", f"{schedule.name}: an edit of revision {entry.detail['revision']} was accepted")

    def _check_payloads(self, schedule: ScheduleRecords) -> None:
        """No run is executed with the payload of another revision."""
        revisions = {revision.revision: revision for revision in schedule.revisions}
        for run in schedule.runs:
            revision = revisions.get(run.revision or 0)
            edition = (revision.definition.get("payload") or {}).get("edition") if revision is not None else None
            for call in self._executions_of.get(run.id, ()):
                if edition is not None and run.origin in UNIQUE and call.detail.get("edition") != edition:
                    self._report(
                        "I17",
                        f"{schedule.name}: run {run.id} ran with edition {call.detail.get('edition')}, not {edition}",
                    )

    def _check_journals(self) -> None:
        super()._check_journals()
        for entry in self._entries:
            run = self._records.runs.get(entry.detail.get("run_id") or 0)
            if entry.event == "final" and run is not None and entry.detail["state"] != final_state(run):
                self._report("I6", f"run {run.id} was final as {entry.detail['state']} and is {final_state(run)}")


def final_state(run: RunRecord) -> list[object]:
    """The fields that must not change after a run is final."""
    return [
        run.status,
        run.attempt,
        run.failures,
        run.crashes,
        None if not run.finished_at else run.finished_at.timestamp(),
    ]

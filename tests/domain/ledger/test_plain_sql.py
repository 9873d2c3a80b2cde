"""The ledger of a schedule that plain SQL edits: until the next planner pass, the old grid is in force."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from tests.domain.planning.plans import BASE, later, schedule
from tickbird.domain.ledger.entries import LedgerEntry
from tickbird.domain.ledger.report import LedgerReport
from tickbird.domain.ledger.verification import LedgerVerifier
from tickbird.domain.planning.plan import NO_FACTS
from tickbird.domain.planning.planner import plan
from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule, SqlEdit
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import Trigger

HOUR = 3_600
# (seconds, period): after these seconds, plain SQL sets the period, or None: a planner pass.
STEPS = st.lists(
    st.tuples(st.integers(1, 2_000), st.sampled_from([None, None, 60, 90, 420, HOUR])), min_size=1, max_size=12
)


class EditedSchedule:
    """A schedule with its revisions and its ledger; seconds count from T0, when it is created."""

    def __init__(self, trigger: Trigger, *, by_sql: bool = True) -> None:
        made = schedule(trigger, until=None if by_sql else 0, overlap="allow", catch_up="all")
        self.schedule = replace(made, revision=1)
        self.ledger: list[LedgerEntry] = []
        self.revisions = [_revision(self.schedule, "create", 0, {} if by_sql else {"definition": {}})]
        self._edit: tuple[Schedule, int] | None = None

    def redefine(self, at: int, trigger: Trigger) -> None:
        assert self.schedule.definition is not None
        before = self._edit[0] if self._edit else self.schedule
        definition = replace(self.schedule.definition, trigger=trigger)
        self.schedule = replace(self.schedule, revision=self.schedule.revision + 1, definition=definition)
        self._edit = before, BASE + at
        self.revisions.append(_revision(self.schedule, "update", at, {}))

    def look(self, at: int) -> None:
        """Plan until nothing is due."""
        due = self.schedule.cursor.next_run_at
        while self._edit or due is None or due <= BASE + at:
            edited = SqlEdit(*self._edit) if self._edit else None
            made = plan(self.schedule, NO_FACTS, BASE + at, edited)
            for run in made.runs:
                assert run.scheduled_for is not None
                entry = LedgerEntry.run(run.scheduled_for, made.revision, run.origin, BASE + at, len(self.ledger) + 1)
                self.ledger.append(entry)
            for skip in made.skips:
                revision = made.revision if skip.revision is None else skip.revision
                self.ledger.append(
                    LedgerEntry.skip(
                        skip.first, skip.last, skip.count, revision, skip.reason, BASE + at, len(self.ledger) + 1
                    )
                )
            self.schedule, self._edit = replace(self.schedule, cursor=made.cursor), None
            due = made.cursor.next_run_at
            assert due is not None

    def verify(self, now: int) -> LedgerReport:
        verifier = LedgerVerifier(self.schedule, self.revisions, BASE, BASE + now, BASE + now)
        verifier.take(sorted(self.ledger, key=lambda entry: entry.first))
        return verifier.finish()


def _revision(made: Schedule, action: str, at: int, detail: dict[str, object]) -> RevisionRecord:
    assert made.definition is not None
    definition = encode_definition(made.definition)
    return RevisionRecord(made.revision, action, "postgres", later(at), definition, None, detail)


@given(STEPS, st.booleans())
@example([(100, None), (130, 90), (600, HOUR), (600, None)], False)
@example([(100, 90), (600, 420), (600, HOUR), (100, None)], True)
def test_edits_leave_a_complete_ledger(steps: list[tuple[int, int | None]], by_sql: bool) -> None:
    made, now = EditedSchedule(every(seconds=60), by_sql=by_sql), 0
    for seconds, period in steps:
        now += seconds
        if period is None:
            made.look(now)
        else:
            made.redefine(now, every(seconds=period))
    made.look(now + 1)
    report = made.verify(now + 1)
    assert report.findings == ()
    assert report.expected == report.runs + report.skipped == sum(entry.count for entry in made.ledger)


def test_missing_decision_after_the_last_edit_is_reported() -> None:
    made = EditedSchedule(every(seconds=60), by_sql=False)
    made.redefine(90, every(seconds=70))
    made.redefine(600, every(hours=1))
    made.look(3 * HOUR)
    del made.ledger[-2]
    [finding] = made.verify(3 * HOUR).findings
    assert (finding.kind, finding.first, finding.count) == ("missing", BASE + 2 * HOUR, 1)


def test_decisions_of_an_earlier_row_are_not_invented() -> None:
    made = EditedSchedule(every(seconds=60))
    made.look(30)
    made.look(60)
    for decided_at, kinds in ((-30, []), (30, ["invented"])):
        made.ledger.append(LedgerEntry.run(BASE - 60, 1, "schedule", BASE + decided_at, 99))
        made.ledger.append(LedgerEntry.run(BASE - 50, 7, "backfill", BASE + decided_at, 98))
        verifier = LedgerVerifier(made.schedule, made.revisions, BASE - HOUR, BASE + 60, BASE + 60)
        verifier.take(sorted(made.ledger, key=lambda entry: entry.first))
        assert {finding.kind for finding in verifier.finish().findings} == set(kinds)

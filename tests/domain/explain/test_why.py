"""The pure part of `why`: zones, unserved runs, missing rows, and agreement with the planner."""

from __future__ import annotations

import json
import traceback
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.errors import ConflictError, InvalidError, TriggerError
from tickbird.domain.explain.context import ExplainContext
from tickbird.domain.explain.explanation import Explanation, TimeFormatter
from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.explain.why import explain
from tickbird.domain.messages import brief
from tickbird.domain.planning.pending_ticks import PendingTicks
from tickbird.domain.planning.plan import NO_FACTS, apply_plan
from tickbird.domain.planning.planner import plan
from tickbird.domain.runs.run import AttemptRecord, RunRecord, SkipRecord
from tickbird.domain.runs.unreadable_runs import Unreadable, publish
from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.schedules.definition import Definition, Target, spread_offset
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Cursor, PauseState, Schedule
from tickbird.domain.schedules.tick_overrides import TickOverride
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker, is_planner

T0 = 1_767_225_600  # 2026-01-01T00:00:00Z, a Thursday


def later(seconds: float) -> datetime:
    return datetime.fromtimestamp(T0, UTC) + timedelta(seconds=seconds)


def define(**policies: Any) -> Definition:
    return Definition(**{"trigger": every(seconds=60), "target": Target("work"), **policies})


def a_schedule(definition: Definition | None = None, *, reached: int | None = 0, **fields: Any) -> Schedule:
    definition = definition or define()
    cursor = Cursor(planned_until=None if reached is None else T0 + reached)
    fields = {
        "revision": 1,
        "state": "active",
        "cursor": cursor,
        "definition_json": encode_definition(definition),
        **fields,
    }
    return Schedule(**{"id": 1, "namespace": "default", "name": "clock", "definition": definition, **fields})


def a_revision(number: int = 1, at: float = 0, action: str = "create", **fields: Any) -> RevisionRecord:
    definition = fields.pop("definition", None) or define()
    return RevisionRecord(number, action, "ada", later(at), encode_definition(definition), None, fields)


def a_run(run_id: int = 5, tick: int = 60, **fields: Any) -> RunRecord:
    values: dict[str, Any] = dict.fromkeys(RunRecord.__dataclass_fields__)
    values |= {"id": run_id, "namespace": "default", "schedule_id": 1, "schedule": "clock", "revision": 1}
    values |= {"target": Target("work"), "queue": "default", "origin": "schedule", "status": "queued", "payload": {}}
    values |= {"scheduled_for": later(tick), "due_at": later(tick), "available_at": later(tick), "attempt": 0}
    values |= {"created_at": later(tick), "failures": 0, "crashes": 0, "priority": 0}
    return RunRecord(**{**values, **fields})


def a_skip(reason: Any, first: int, last: int, count: int, **fields: Any) -> SkipRecord:
    values: dict[str, Any] = {"run_id": None, "actor": None, "note": "", "decided_at": later(last), "revision": 1}
    return SkipRecord(
        **{"id": 9, "schedule_id": 1, "reason": reason, "first": later(first), "last": later(last), "count": count}
        | values
        | fields
    )


def a_worker(name: str = "w1", **fields: Any) -> Worker:
    own = {"queues": ("default",), "slots": 2, "tasks": {"work": {}}, **fields}
    return Worker(id=name, namespace="default", app="app", host="host", pid=1, version="0", **own)


def why(tick: float, *, now: float, schedule: Schedule | None = None, **rows: Any) -> Explanation:
    rows.setdefault("revisions", [a_revision()])
    rows.setdefault("planners", sum(map(is_planner, rows.get("workers", ()))))
    return explain(ExplainContext(schedule=schedule or a_schedule(), at=later(tick), now=later(now), **rows))


def texts(answer: Explanation, name: str) -> list[str]:
    return [step.text for step in answer.steps if step.name == name]


class TestTimes:
    @pytest.mark.parametrize(
        "tz, instant, words",
        [
            ("UTC", datetime(2026, 3, 29, 1, tzinfo=UTC), "2026-03-29 01:00:00 UTC"),
            ("Europe/Rome", datetime(2026, 3, 29, 1, tzinfo=UTC), "2026-03-29 01:00:00 UTC (03:00:00 CEST)"),
            ("Europe/Rome", datetime(2026, 3, 29, 0, 59, 59, tzinfo=UTC), "2026-03-29 00:59:59 UTC (01:59:59 CET)"),
            ("America/New_York", datetime(2026, 1, 1, 2, tzinfo=UTC), "2026-01-01 02:00:00 UTC (31 Dec 21:00:00 EST)"),
            ("America/Sao_Paulo", datetime(2026, 1, 1, 12, tzinfo=UTC), "2026-01-01 12:00:00 UTC (09:00:00 -03)"),
            ("Europe/London", datetime(2026, 1, 1, 2, tzinfo=UTC), "2026-01-01 02:00:00 UTC"),
            ("Asia/Tokyo", datetime(9999, 12, 31, 23, tzinfo=UTC), "9999-12-31 23:00:00 UTC"),
            ("UTC", datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), "2026-01-01 00:00:00 UTC"),
        ],
    )
    def test_carry_utc_and_the_schedules_zone(self, tz: str, instant: datetime, words: str) -> None:
        assert TimeFormatter(tz)(instant) == words

    def test_sentence_uses_the_zone_of_the_schedule(self) -> None:
        rome = define(trigger=cron("0 3 * * *", tz="Europe/Rome"))
        answer = why(26 * 3600, now=10, schedule=a_schedule(rome), workers=[a_worker()])
        assert answer.sentence == "Will run at 2026-01-02 02:00:00 UTC (03:00:00 CET)."

    def test_explanation_is_in_utc(self) -> None:
        asked = later(60).astimezone(timezone(timedelta(hours=5)))
        answer = explain(ExplainContext(schedule=a_schedule(), at=asked, now=later(0), revisions=[a_revision()]))
        assert answer.at.tzinfo is UTC
        assert answer.at == asked

    def test_naive_and_impossible_instants_are_refused(self) -> None:
        with pytest.raises(TriggerError, match="no time zone"):
            explain(ExplainContext(schedule=a_schedule(), at=datetime(2026, 1, 1), now=later(0)))
        before = datetime.min.replace(tzinfo=timezone(timedelta(hours=5)))
        with pytest.raises(InvalidError, match="years 1 to 9999"):
            explain(ExplainContext(schedule=a_schedule(), at=before, now=later(0)))


class TestUnservedReason:
    @pytest.mark.parametrize(
        "workers, words",
        [
            ([], "no live worker executes runs"),
            ([a_worker(kind="sync")], "no live worker executes runs"),
            ([a_worker(queues=(), slots=0, tasks={})], "no live worker executes runs"),
            ([a_worker(queues=("b", "a"))], "no live worker serves queue 'default' (served: a, b)"),
            ([a_worker(tasks={"other": {}})], "no live worker knows task 'work'"),
            (
                [a_worker(tasks={}), a_worker("w2", queues=("gpu",))],
                "no live worker that serves queue 'default' knows task 'work'",
            ),
            (
                [a_worker(draining=True), a_worker("w2", draining=True)],
                "every worker that could claim it is draining (w1, w2)",
            ),
            ([a_worker(draining=True), a_worker("w2")], ""),
            ([a_worker(slots=3)], "all slots of the workers that could claim it are busy (3 slots on 1)"),
            ([a_worker(slots=4)], ""),
            ([a_worker(slots=4, kind="executor")], ""),
        ],
    )
    def test_in_words(self, workers: list[Worker], words: str) -> None:
        busy: Counter[str | None] = Counter({"w1": 3})
        assert unserved_reason("default", Target("work"), workers, busy) == words

    def test_a_run_that_no_worker_can_read(self) -> None:
        run = a_run(status="queued")
        told = publish([Unreadable("v: format 99 is not known.", run.schedule, run.revision)])
        elsewhere = publish([Unreadable("v: format 99 is not known.", run.schedule, 99)])
        unable = [a_worker(health=told), a_worker("w2", health=told)]
        reason = unserved_reason("default", Target("work"), unable, Counter(), run)
        assert reason.startswith("no live worker can read it: w1 reports revision 1 of")
        assert "v: format 99 is not known" in reason
        assert (
            unserved_reason("default", Target("work"), [*unable, a_worker("w3", health=elsewhere)], Counter(), run)
            == ""
        )


class TestARun:
    def test_attempts_are_capped(self) -> None:
        tried = [AttemptRecord(n, "w1", later(60 + n), later(61 + n), "retried", f"E{n}") for n in range(1, 31)]
        run = a_run(status="failed", attempt=30, started_at=later(90), finished_at=later(95), error="E30")
        shown = texts(why(60, now=200, runs=[run], attempts=tried), "attempts")
        assert len(shown) == 21
        assert len(texts(why(60, now=200, runs=[run], attempts=tried[:20]), "attempts")) == 20
        assert shown[0].startswith("10 earlier attempts ended without success, the first at 2026-01-01 00:01:02 UTC")
        assert shown[-1].endswith("E30.")

    def test_error_is_shown_by_its_last_line(self) -> None:
        assert brief("Traceback:\n  File x\nKeyError: 'a'\n\n") == "KeyError: 'a'"
        assert len(brief("x" * 5_000)) == 200
        assert brief(None) == ""

    def test_exception_group_is_shown_by_its_last_exception(self) -> None:
        inner = ExceptionGroup("two of them", [KeyError("a"), ValueError("one\nPair")])
        text = "".join(traceback.format_exception(ExceptionGroup("all", [OSError("x"), inner])))
        assert text.endswith("-\n")
        assert brief(text).startswith("ValueError: one")
        assert brief("+----\n") == "+----"

    @pytest.mark.parametrize(
        "kind, words",
        [
            ("raised", "Run 5 failed: after 1 attempt: boom."),
            ("timeout", "Run 5 failed: timed out, after 1 attempt: boom."),
            ("reported", "Run 5 failed: reported a failure, after 1 attempt: boom."),
            ("lost", "Run 5 failed: its worker was lost after 1 attempt, and it is not retried."),
        ],
    )
    def test_each_kind_of_failure(self, kind: str, words: str) -> None:
        run = a_run(status="failed", attempt=1, failure_kind=kind, error="boom", finished_at=later(70))
        assert why(60, now=100, runs=[run]).sentence == words

    def test_backfill_of_a_skipped_tick_is_not_late(self) -> None:
        created: dict[str, Any] = {"created_at": later(900), "available_at": later(900)}
        run = a_run(origin="backfill", status="succeeded", actor="ana", attempt=1, **created)
        run = replace(run, started_at=later(901), finished_at=later(902))
        answer = why(60, now=1_000, runs=[run], skips=[a_skip("paused", 60, 60, 1)])
        assert answer.verdict == "ran"
        assert "late" not in answer.sentence
        assert texts(answer, "backfill") == ["Skipped at first (paused), then backfilled."]
        assert texts(answer, "late") == ["Backfilled by ana at 2026-01-01 00:15:00 UTC."]

    def test_backfill_run_waits_for_its_turn(self) -> None:
        ahead = a_run(4, tick=0, origin="backfill", status="running", worker="w1", started_at=later(901))
        tick = a_run(9, tick=900, status="waiting")
        run = a_run(5, origin="backfill", status="waiting", created_at=later(900), backfill_id=3)
        answer = why(60, now=1_000, runs=[run], active=[ahead, tick])
        assert answer.sentence == (
            "Run 5 waits for its turn in backfill 3 and for run 4, running since 2026-01-01 00:15:01 UTC on worker w1, "
            "after 1 other waiting run (overlap=skip, max_concurrent=1)."
        )

    def test_held_run_shows_how_to_release_it(self) -> None:
        definition = define(catch_up="all", hold_above=5)
        run = a_run(origin="catch_up", status="waiting", created_at=later(900), held=True)
        revisions = [a_revision(definition=definition)]
        answer = why(60, now=1_000, schedule=a_schedule(definition), runs=[run], revisions=revisions)
        assert answer.verdict == "waiting"
        assert answer.sentence == (
            "Run 5 is held since 2026-01-01 00:15:00 UTC, because the last outage left too many late ticks "
            "(hold_above=5). `tickbird release clock` releases it, `tickbird drop clock` cancels it."
        )

    def test_released_run_shows_the_actor(self) -> None:
        released: dict[str, Any] = {"released_at": later(1_000), "released_by": "ana", "available_at": later(1_030)}
        run = a_run(origin="catch_up", created_at=later(900), **released)
        answer = why(60, now=1_010, runs=[run])
        assert answer.sentence == "Run 5 may start at 2026-01-01 00:17:10 UTC. ana released it for then."
        assert texts(answer, "held") == ["Held until ana released it at 2026-01-01 00:16:40 UTC."]
        run = replace(run, status="succeeded", attempt=1, started_at=later(1_031), finished_at=later(1_032))
        cause = "late because it was held until ana released it at 2026-01-01 00:16:40 UTC."
        assert why(60, now=1_100, runs=[run]).sentence.endswith(cause)

    def test_unknown_revision_uses_the_one_in_force_then(self) -> None:
        answer = why(60, now=70, runs=[a_run(revision=7)])
        assert (answer.revision, texts(answer, "grid")) == (7, ["On the grid: Every 60 seconds."])

    def test_run_off_the_current_grid_was_on_the_grid_when_planned(self) -> None:
        answer = why(61, now=70, runs=[a_run(tick=61)])
        assert (answer.verdict, texts(answer, "grid")) == ("queued", ["The tick was on the grid when it was planned."])

    def test_waiting_run_without_blocker_is_released_soon(self) -> None:
        run = a_run(status="waiting")
        answer = why(60, now=70, runs=[run], active=[run])
        assert answer.sentence.endswith("no other run is active. The next maintenance step releases it.")

    def test_waiting_run_lists_some_blockers(self) -> None:
        run = a_run(20, status="waiting")
        active = [a_run(n, status="running", started_at=later(n), worker="w1", tick=n) for n in range(1, 6)]
        answer = why(60, now=70, runs=[run], active=[*active, run])
        assert "run 1, running since 2026-01-01 00:00:01 UTC on worker w1 and run 2" in answer.sentence
        assert "and 2 more" in answer.sentence

    def test_covering_the_tick_is_not_its_run(self) -> None:
        answer = why(120, now=130, runs=[a_run(tick=60)], schedule=a_schedule(reached=120))
        assert answer.verdict == "no record"


class TestMissingRows:
    def test_without_any_revision(self) -> None:
        assert why(60, now=10, revisions=[]).verdict == "will run"
        assert why(-60, now=10, revisions=[]).verdict == "no such schedule then"

    def test_with_only_newer_revisions(self) -> None:
        answer = why(60, now=200, revisions=[a_revision(8, 150, "update")], schedule=a_schedule(reached=100))
        assert (answer.verdict, answer.sentence) == (
            "no record",
            "The definition that was in force then was not read.",
        )

    def test_the_definition_of_that_time_cannot_be_read(self) -> None:
        broken = replace(a_revision(), definition={"v": 1})
        answer = why(60, now=200, revisions=[broken], schedule=a_schedule(reached=100))
        assert answer.sentence == "The definition of that time cannot be read, and no decision is stored."

    def test_newer_format_is_ignored(self) -> None:
        newer = replace(a_schedule(reached=None), definition=None, definition_json={"v": 99})
        answer = why(60, now=10, schedule=newer)
        assert (answer.verdict, "format 99, newer than" in answer.sentence) == ("undecided", True)

    def test_a_definition_that_cannot_be_read_is_parked(self) -> None:
        broken = replace(
            a_schedule(), definition=None, definition_json={"v": 1}, state="parked", error="trigger is missing."
        )
        past, coming = why(60, now=100, schedule=broken), why(60, now=10, schedule=broken)
        assert (past.verdict, coming.verdict) == ("undecided", "will be skipped")
        assert why(60, now=60, schedule=broken).verdict == "undecided"
        assert texts(past, "state") == ["Parked: trigger is missing."]
        assert past.sentence == "Not run: the schedule is parked until it is repaired: trigger is missing."

    def test_a_schedule_never_planned_does_not_run_the_past(self) -> None:
        answer = why(60, now=100, schedule=a_schedule(reached=None))
        assert answer.verdict == "undecided"
        assert "a new schedule does not run ticks from before its first planning" in answer.sentence
        assert why(120, now=100, schedule=a_schedule(reached=None)).verdict == "will run"

    @pytest.mark.parametrize("action", ["update", "sync", "delete"])
    def test_dropped_by_a_change_before_it_was_due(self, action: str) -> None:
        moved = a_revision(2, 30, "reschedule", tick=T0 + 60, to=T0 + 300, note="")
        changed = a_revision(3, 200, action)
        rows: dict[str, Any] = {
            "revisions": [changed, moved, a_revision()],
            "schedule": a_schedule(reached=200, revision=3),
        }
        for tick in (60, 120):
            answer = why(tick, now=400, **rows)
            assert answer.verdict == "no record"
            assert answer.sentence == (
                f"Dropped: {action} by ada at 2026-01-01 00:03:20 UTC came before it was decided, "
                "at 2026-01-01 00:05:00 UTC."
            )


class TestAPause:
    def test_expired_pause_is_not_the_start_of_the_next(self) -> None:
        lapsed = a_revision(2, 10, "pause", note="", until=T0 + 20)
        again = a_revision(3, 100, "pause", note="b", until=None)
        paused = a_schedule(reached=90, revision=3, state="paused", pause=PauseState("ada", "b"))
        answer = why(120, now=130, schedule=paused, revisions=[again, lapsed, a_revision()])
        assert "paused by ada since 2026-01-01 00:01:40 UTC: “b”" in answer.sentence

    def test_each_pause_is_explained_by_its_own_revision(self) -> None:
        first = a_revision(2, 10, "pause", note="a", until=None)
        more = [a_revision(number, number * 10, "pause", note="b", until=None) for number in (7, 8, 9)]
        paused = a_schedule(reached=9, revision=9, state="paused", pause=PauseState("ada", "b"))
        revisions = [*reversed(more), first, a_revision()]
        answer = why(60, now=100, schedule=paused, revisions=[first, a_revision()])
        assert "paused before" not in answer.sentence
        answer = why(120, now=130, schedule=paused, revisions=revisions)
        assert "since 2026-01-01 00:01:30 UTC: “b”, paused before by ada since 2026-01-01 00:00:10 UTC: “a”" in (
            answer.sentence
        )

    def test_all_of_a_note_is_shown_on_one_line(self) -> None:
        note = "db upgrade,\n\n  ask ben\tfirst."
        pause = a_revision(2, 10, "pause", note=note, until=None)
        paused = a_schedule(reached=9, revision=2, state="paused", pause=PauseState("ada", note))
        answer = why(60, now=100, schedule=paused, revisions=[pause, a_revision()])
        assert ": “db upgrade, ask ben first”" in answer.sentence

    def test_pause_at_the_instant_of_a_tick_comes_after_it(self) -> None:
        revisions = [a_revision(2, 60, "pause", note="", until=None), a_revision()]
        answer = why(60, now=100, revisions=revisions, schedule=a_schedule(reached=60, state="paused"))
        assert (answer.verdict, texts(answer, "state")) == ("no record", [])


def test_json_has_all_fields() -> None:
    run = a_run()
    answer = why(60.25, now=70, runs=[run], workers=[a_worker()])
    document = json.loads(json.dumps(answer.to_json()))
    assert document["at"] == "2026-01-01T00:01:00.250000Z"
    assert {key: document[key] for key in ("schedule", "verdict", "sentence", "run_id", "revision")} == {
        "schedule": "clock",
        "verdict": "queued",
        "sentence": answer.sentence,
        "run_id": 5,
        "revision": 1,
    }
    assert document["steps"][1] == {
        "ok": True,
        "name": "grid",
        "text": "On the grid: Every 60 seconds.",
        "run_id": None,
        "at": "2026-01-01T00:01:00Z",
    }
    assert len(document["steps"]) == len(answer.steps)


@given(
    spread=st.sampled_from([0, 45, 200]),
    max_runs=st.sampled_from([None, 3]),
    days=st.sampled_from([(), ("fri",), ("thu",)]),
    skip_until=st.sampled_from([None, 120, 240]),
    moved_by=st.sampled_from([None, 1, 30, 120, 340]),
    paused_until=st.sampled_from([None, 100, 333]),
    told=st.dictionaries(st.integers(1, 9), st.sampled_from(["skip", "payload", -70, -10, 0, 30, 130]), max_size=3),
)
def test_prediction_matches_the_planner(
    spread: int,
    max_runs: int | None,
    days: tuple[str, ...],
    skip_until: int | None,
    moved_by: int | None,
    paused_until: int | None,
    told: dict[int, str | int],
) -> None:
    definition = define(spread=spread, max_runs=max_runs, exclude=exclude(*days), overlap="allow")
    cursor = Cursor(planned_until=T0, skip_until=None if skip_until is None else T0 + skip_until, skip_by="ana")
    if moved_by is not None:
        # Only the next runnable tick can be moved.
        tick = T0 + (skip_until or 0) + 60
        told = {**told, (tick - T0) // 60: moved_by}
    offset = spread_offset("default", "clock", spread)
    overrides = [_override(T0 + 60 * number, offset, what) for number, what in sorted(told.items())]
    cursor = replace(cursor, tick_overrides=tuple(overrides))
    pause = None if paused_until is None else PauseState("ana", until=T0 + paused_until)
    schedule = a_schedule(definition, cursor=cursor, state="paused" if pause else "active", pause=pause)
    # Contradictions are refused before they are stored, and so are moves into the past.
    assume(_is_possible(schedule))
    # One planner pass leaves the cursor as a store would.
    schedule = apply_plan(schedule, plan(schedule, NO_FACTS, T0))
    decided: dict[int, str] = {}
    seen = schedule
    while seen.cursor.next_run_at is not None and seen.cursor.next_run_at <= T0 + 900:
        looked = plan(seen, NO_FACTS, seen.cursor.next_run_at)
        decided |= {run.scheduled_for: "will run" for run in looked.runs if run.scheduled_for is not None}
        for skip in looked.skips:
            decided |= dict.fromkeys(range(skip.first, skip.last + 1, 60), "will be skipped")
        seen = apply_plan(seen, looked)
    for tick in range(60, 601, 60):
        expected = decided.get(T0 + tick, "ended")
        assert why(tick, now=1, schedule=schedule).verdict == expected, tick


def _is_possible(schedule: Schedule) -> bool:
    try:
        PendingTicks(schedule).check()
    except (ConflictError, InvalidError):
        return False
    return all(each.due_at is None or each.due_at > T0 + 1 for each in schedule.cursor.tick_overrides)


def _override(tick: int, offset: int, what: str | int) -> TickOverride:
    due_at = tick + offset + what if isinstance(what, int) else None
    payload = {"limit": 5} if what == "payload" else None
    return TickOverride(tick, "ana", T0, what == "skip", due_at, payload)


class TestTerms:
    def test_the_term_of_a_run_is_named(self) -> None:
        answer = why(60, now=61, runs=[a_run(term=7)])
        assert texts(answer, "leader") == ["The leader of term 7 planned it."]

    def test_the_term_of_a_skip_is_named(self) -> None:
        answer = why(60, now=200, skips=[a_skip("misfire", 60, 120, 2, term=7)])
        assert texts(answer, "leader") == ["The leader of term 7 planned it."]

    def test_without_leader_mode_there_is_no_term(self) -> None:
        assert texts(why(60, now=61, runs=[a_run()]), "leader") == []

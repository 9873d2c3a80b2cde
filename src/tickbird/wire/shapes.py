"""Types whose JSON differs from their fields: renamed, omitted and added keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Annotated, Any, Final, get_args
from uuid import UUID

from tickbird.domain.access.sessions import SessionRecord
from tickbird.domain.access.tokens import TokenRecord
from tickbird.domain.calendars.calendar import Calendar, calendar_to_json, content_from_json
from tickbird.domain.dashboard_rows import ScheduleSummary
from tickbird.domain.doctor.finding import Finding
from tickbird.domain.errors import InvalidError
from tickbird.domain.events.dead_letters import DeadLetter, LetterChange
from tickbird.domain.events.event import Event
from tickbird.domain.events.groups import ConsumerGroup
from tickbird.domain.events.positions import POSITION_PATTERN, EventPosition, as_position
from tickbird.domain.forecast.forecast import Forecast, ForecastComparison, HourStats, QueueForecast
from tickbird.domain.forecast.preview import Preview, PreviewedTick
from tickbird.domain.forecast.suggestions import Suggestion
from tickbird.domain.forecast.tick_load import LoadPoint
from tickbird.domain.ledger.activity import Activity
from tickbird.domain.ledger.decisions import DecisionPage
from tickbird.domain.ledger.report import LedgerError, LedgerReport
from tickbird.domain.limits.concurrency import ConcurrencyLimit
from tickbird.domain.limits.rate_limits import QueueStatus, RateLimit, read_rate
from tickbird.domain.planning.backfills import BackfillPlan, BackfillRecord
from tickbird.domain.planning.calendar_impact import CalendarImpact, CalendarReport, ResolvedCalendar
from tickbird.domain.planning.upcoming import overrides_of
from tickbird.domain.runs.logs import LogLine, Progress, level_name
from tickbird.domain.runs.run import RunRecord, Status
from tickbird.domain.schedules.codec import decode_definition, encode_definition
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.diff import FieldDiff
from tickbird.domain.schedules.revision import HistoryEntry, RevisionRecord
from tickbird.domain.schedules.schedule import Cursor, PauseState, PutResult, Schedule, ServerReading
from tickbird.domain.schedules.tick_overrides import AppliedOverride, OverrideRecord, TickOverride
from tickbird.domain.time.instants import to_datetime, to_seconds, utc_text
from tickbird.domain.time.zone_data import Zones, zone_info
from tickbird.files.diagnostics import Diagnostic
from tickbird.files.document import Document as FileDocument
from tickbird.files.document import read_document
from tickbird.files.parse.nodes import SourceLocation
from tickbird.files.plan import FilePlan, Kind, ScheduleChange
from tickbird.files.tick_diff import TickChanges
from tickbird.files.writer import to_plain
from tickbird.wire.codec import EpochSecond, Object, Objects, Ping, adapt, decode, encode, shape
from tickbird.wire.page_tokens import read_number_key, write_key

Members = dict[str, Any]
Json = Mapping[str, Any]
_MOVES: Final = Objects((("from", datetime), ("to", datetime)), tuple)


def object_schema(properties: dict[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _names(kind: Any) -> list[str]:
    return [field.name for field in fields(kind)]


# Events.
adapt(UUID, str, UUID, {"type": "string", "format": "uuid"})
adapt(EventPosition, str, as_position, {"type": "string", "pattern": POSITION_PATTERN})
shape(
    Event,
    computed={"resume_token": (EventPosition | None, lambda event: event.resume_token)},
    about={
        "position": "Gapless in the namespace; null until it is stamped.",
        "incarnation": "Of the store that assigned the position. A restored store assigns later positions again.",
        "resume_token": "Both, to continue after this event.",
        "stamped_at": "When it got its position.",
        "version": "Counts the events of the key.",
        "transaction_id": "Of events that were published together.",
    },
)
shape(
    ConsumerGroup,
    *("name", "app", "topics", "state", "reason", "lag", "oldest_at", "dead_letters", "partitions", "scratch_of"),
    *("created_at", "declared_at"),
    about={
        "reason": "Why it is stopped.",
        "lag": "Events of any topic that it has not read.",
        "oldest_at": "When the oldest of them got its position; null without a lag.",
        "dead_letters": "Their number by state.",
        "scratch_of": "The group whose consumer also reads this one.",
        "declared_at": "When a worker declared it last.",
    },
)
shape(
    DeadLetter,
    about={
        "retry_at": "Of the next attempt, while it is retrying.",
        "repair": "Replaces the data of the event for this group.",
    },
)
shape(LetterChange, about={"is_proposed": "The repair takes effect when a second person approves it."})

# Limits and queues.
adapt(RateLimit, str, read_rate, {"type": "string"})
shape(ConcurrencyLimit, about={"is_explicit": "Set by an operator; otherwise it is the default."})
shape(QueueStatus, "queue=name", "rate", "next_at", "waiting", "queued", "running", "workers")

# Tokens and sessions, without the digests of their secrets.
_ACCESS = {"digest": ""}
shape(TokenRecord, hidden=_ACCESS, about={"namespaces": "null: all of them."})
shape(SessionRecord, hidden=_ACCESS)


def _new_token_schema(schema: Any) -> dict[str, Any]:
    token = {"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]}
    return {"allOf": [schema(TokenRecord), token]}


adapt(
    tuple[TokenRecord, str],
    lambda created: {**encode(created[0]), "token": created[1]},
    lambda document: (decode(TokenRecord, document), str(document["token"])),
    _new_token_schema,
)

# Calendars.
adapt(Calendar, calendar_to_json, content_from_json, {"type": "array", "items": {"type": "string"}})
shape(CalendarImpact, "schedule", "moved", "appear", "vanish", "more", hints={"moved": _MOVES})


def _report(members: Members) -> CalendarReport:
    parts = {name: members.pop(name) for name in ("definition", "closed", "source")}
    members.pop("stored")
    record = members.pop("record")
    return CalendarReport(calendar=record or ResolvedCalendar(**parts), **members)


shape(
    CalendarReport,
    *("name", "stored", "calendar=record", "definition", "closed", "source", "horizon", "schedules", "effects"),
    *("complete", "failed"),
    hints={"failed": Objects((("schedule", str), ("error", str)))},
    build=_report,
    about={
        "horizon": "Seconds ahead that were compared.",
        "schedules": "How many schedules name it.",
        "complete": "False if there were too many ticks to compare.",
        "failed": "Schedules that could not be updated.",
    },
)

# Runs. The spec of a target is in the revision of the run's schedule.
adapt(
    Target,
    lambda target: {target.kind: target.name},
    lambda document: next(Target(name, kind) for kind, name in document.items()),
    {"type": "object", "additionalProperties": {"type": "string"}},
)
shape(
    RunRecord,
    *("*", "trigger", "metadata"),
    about={"first_started_at": "Start of the first attempt, from which lateness and duration count."},
)
shape(AppliedOverride, hints={"created_at": EpochSecond})
_RUN: Final = {"run_id": 0}
shape(
    LogLine,
    *("attempt", "number", "at", "level_number=level", "text"),
    computed={"level": (str, lambda line: level_name(line.level))},
    hidden=_RUN,
)
shape(Progress, hidden=_RUN)

# Schedules. The stored definition is sent; `definition` is None if this version cannot read it.
shape(PauseState, hints={"until": EpochSecond | None})
shape(OverrideRecord, "tick=scheduled_for", *(name for name in _names(OverrideRecord) if name != "scheduled_for"))


def _skip(schedule: Schedule) -> tuple[int, str | None, str] | None:
    cursor = schedule.cursor
    return None if cursor.skip_until is None else (cursor.skip_until, cursor.skip_by, cursor.skip_note)


def _schedule(members: Members) -> Schedule:
    cursor = {name.partition(".")[2]: members.pop(name) for name in list(members) if name.startswith("cursor.")}
    until, by, note = members["pending_skip"] or (None, None, "")
    early = [TickOverride(to_seconds(tick), decided_early=True) for tick in members["early_ticks"]]
    overrides = [*map(_tick_override, members["tick_overrides"]), *early]
    stored = {name: members[name] for name in _SCHEDULE_FIELDS if name in members}
    described = members["trigger_description"]
    definition = None if described is None else _definition(stored["definition_json"])
    reading = None
    if described is not None and definition is None:
        reading = ServerReading(described, members["zone"], members["kind"], members["burst_allowed"])
    return Schedule(
        **stored,
        definition=definition,
        reading=reading,
        cursor=Cursor(
            **cursor,
            skip_until=until,
            skip_by=by,
            skip_note=note,
            tick_overrides=tuple(sorted(overrides, key=lambda override: override.tick)),
        ),
    )


def _definition(encoded: Json) -> Definition | None:
    try:
        return decode_definition(encoded)
    except InvalidError:
        return None


def _tick_override(record: OverrideRecord) -> TickOverride:
    return TickOverride(
        tick=to_seconds(record.scheduled_for),
        actor=record.actor,
        created_at=to_seconds(record.created_at),
        skip=record.skip,
        due_at=to_seconds(record.due_at) if record.moved else None,
        payload=record.payload,
        note=record.note,
    )


_SCHEDULE_FIELDS: Final = (
    *("id", "namespace", "name", "state", "revision", "fingerprint", "app", "pause", "error", "created_at"),
    *("changed_at", "definition_json", "field_overrides"),
)
_SCHEDULE: Final = (
    *("id", "namespace", "name", "state", "trigger_description", "zone", "definition=definition_json"),
    *("field_overrides", "revision", "fingerprint", "app", "paused=pause", "error"),
    *("next_run_at=cursor.next_run_at", "planned_until=cursor.planned_until", "runs_planned=cursor.runs_planned"),
    *("created_at", "changed_at", "enabled", "kind", "cron_spec", "burst_allowed"),
)
_SCHEDULE_HINTS: Final = {"next_run_at": EpochSecond | None, "planned_until": EpochSecond | None}
_PENDING_SKIP: Final = Object((("until", EpochSecond), ("by", str | None), ("note", str)), optional=True)
_COMPUTED: Final[dict[str, tuple[Any, Any]]] = {
    "tick_overrides": (Sequence[OverrideRecord], overrides_of),
    "early_ticks": (
        Sequence[datetime],
        lambda schedule: [to_datetime(row.tick) for row in schedule.cursor.tick_overrides if row.decided_early],
    ),
    "pending_skip": (_PENDING_SKIP, _skip),
}
_ABOUT: Final = {
    "trigger_description": "null if the definition cannot be read.",
    "field_overrides": "Fields whose value in code an operator has overridden.",
    "early_ticks": "Upcoming ticks that were decided before the trigger changed.",
    "fingerprint": "Hash of the definition that code declares.",
}
shape(Schedule, *_SCHEDULE, hints=_SCHEDULE_HINTS, computed=_COMPUTED, build=_schedule, about=_ABOUT)


def _summary(members: Members) -> ScheduleSummary:
    own = ("last_run", "failure_streak", "held", "last_run_at", "problems")
    stated = {name: members.pop(name) for name in own if name in members}
    schedule = {name.removeprefix("schedule."): value for name, value in members.items()}
    return ScheduleSummary(schedule=_schedule(schedule), **stated)


def _of_schedule(compute: Any) -> Any:
    return lambda row: compute(row.schedule)


shape(
    ScheduleSummary,
    *(f"{key.partition('=')[0]}=schedule.{key.rpartition('=')[2]}" for key in _SCHEDULE),
    *("last_run", "failure_streak", "held", "problems", "last_run_id", "last_run_at", "last_enqueued_at"),
    hints=_SCHEDULE_HINTS,
    computed={key: (hint, _of_schedule(compute)) for key, (hint, compute) in _COMPUTED.items()},
    build=_summary,
    about=_ABOUT,
)

# Revisions.
_REVISION: Final = ("revision", "action", "actor", "at", "definition", "fingerprint", "detail")
shape(FieldDiff, "field", "*")


def _history(members: Members) -> HistoryEntry:
    own = {name: members.pop(name) for name in ("origin", "changes")}
    return HistoryEntry(RevisionRecord(**{name.partition(".")[2]: value for name, value in members.items()}), **own)


shape(HistoryEntry, *(f"{name}=revision.{name}" for name in _REVISION), "origin", "changes", build=_history)

# Ticks, the ledger and activity.
shape(Activity, hidden={"namespace": ""})
_RANGE: Final = {"first": EpochSecond, "last": EpochSecond}
shape(LedgerError, hints=_RANGE)
shape(
    LedgerReport,
    *("*", "ok"),
    hints=dict.fromkeys(("first", "last", "complete_from"), EpochSecond | None),
    about={"findings": "The first of `finding_count`."},
)
shape(
    DecisionPage,
    "items",
    computed={"next": (str | None, lambda page: None if page.next_second is None else write_key(page.next_second))},
    build=lambda members: DecisionPage(
        members["items"], None if members["next"] is None else read_number_key(members["next"])
    ),
)
shape(Finding, "*", "ok")
shape(
    Zones,
    "here",
    "store=stored",
    "same",
    "adopted",
    about={"adopted": "True if this request made the store adopt them."},
)

adapt(
    Ping,
    lambda at: {"at": utc_text(at)},
    lambda document: datetime.fromisoformat(document["at"]),
    lambda schema: object_schema({"at": schema(datetime)}, ("at",)),
)

# Backfills.
shape(BackfillPlan, "id=backfill_id", *(name for name in _names(BackfillPlan) if name != "backfill_id"))
shape(
    BackfillRecord,
    *(name for name in _names(BackfillRecord) if name != "counts"),
    "done",
    computed={
        "counts": (dict[Status, int], lambda row: {status: row.counts.get(status, 0) for status in get_args(Status)})
    },
    build=lambda members: BackfillRecord(
        **{name: value for name, value in members.items() if name not in ("done", "counts")},
        counts={status: count for status, count in members["counts"].items() if count},
    ),
)

# Previews and forecasts.
adapt(Definition, encode_definition, decode_definition, {"type": "object"})
LocalTime = Annotated[datetime, "local time"]
adapt(
    LocalTime,
    datetime.isoformat,
    datetime.fromisoformat,
    {"type": "string", "format": "date-time", "description": "On the clock of the zone."},
)
shape(PreviewedTick, hints={"local": LocalTime})
shape(LoadPoint, "at", "before=hour_before", "minute=in_minute", "after=hour_after")


def _preview(members: Members) -> Preview:
    definition = members["definition"]
    local = zone_info(definition.trigger.tz)
    ticks = [replace(tick, local=tick.local.astimezone(local)) for tick in members["ticks"]]
    stated = {name: members[name] for name in ("definition", "after", "warnings", "load")}
    return Preview(**stated, ticks=ticks)


shape(Preview, "trigger_description", "zone", "*", build=_preview)
shape(HourStats, hints={"at": EpochSecond})
shape(QueueForecast, hints={"peak_at": EpochSecond})
shape(
    Suggestion,
    *("schedule", "cron=before", "to_cron=after", "minute", "to_minute", "others=crowd", "others_then=left"),
)
_LATENESS: Final = Object(
    (("p50", float), ("p99", float), ("max", float), ("schedule", str | None), ("at", EpochSecond | None))
)


def _forecast(members: Members) -> Forecast:
    p50, p99, highest, schedule, at = members.pop("lateness")
    peak, max_queued = members.pop("peak"), members.pop("max_queued")
    return Forecast(
        **members,
        peak=peak[0],
        peak_at=peak[1],
        max_queued=max_queued[0],
        max_queued_at=max_queued[1],
        lateness={"p50": p50, "p99": p99, "max": highest},
        latest=None if schedule is None else (schedule, at),
    )


shape(
    Forecast,
    *("from=start", "to=end", "schedules", "without_history", "assumed", "paused", "workers", "slots", "ticks", "runs"),
    *("unserved", "skips", "cancelled", "overlaps", "lost", "held", "left_over", "busiest_minutes=busiest", "queues"),
    *("by_schedule=rows", "suggestions", "hours", "ignored"),
    hints={
        "from": EpochSecond,
        "to": EpochSecond,
        "busiest_minutes": Objects((("at", EpochSecond), ("ticks", int))),
    },
    computed={
        "peak": (Object((("busy", int), ("at", EpochSecond))), lambda forecast: (forecast.peak, forecast.peak_at)),
        "max_queued": (Object((("runs", int), ("at", EpochSecond))), lambda one: (one.max_queued, one.max_queued_at)),
        "lateness": (
            _LATENESS,
            lambda one: (*(one.lateness[name] for name in ("p50", "p99", "max")), *(one.latest or (None, None))),
        ),
    },
    build=_forecast,
)
shape(ForecastComparison, "baseline", "what_if=changed")

# Documents of schedules, and the plans to apply them, without their commands.
adapt(FileDocument, to_plain, read_document, {"type": "object"})
shape(TickChanges, hints={"moving": _MOVES})
shape(
    Diagnostic,
    *("file=location.file", "line=location.line", "column=location.column", "text"),
    build=lambda members: Diagnostic(
        SourceLocation(*(members[f"location.{name}"] for name in ("file", "line", "column"))), members["text"]
    ),
)
shape(ScheduleChange, hidden={"command": None, "restores": ()})
shape(
    FilePlan,
    computed={
        "changes": (dict[str, int], lambda plan: {kind: plan.count(kind) for kind in get_args(Kind)}),
    },
    about={"changes": "How many schedules are changed in each way."},
)

# Results of put.
shape(PutResult, "schedule", hidden={"created": False})

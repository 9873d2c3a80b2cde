"""Values whose JSON differs from their fields: every rename, omission and addition of the wire format."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tickbird.domain.access.sessions import SessionRecord
from tickbird.domain.access.tokens import TokenRecord
from tickbird.domain.calendars.calendar import Calendar, calendar_to_json, content_from_json
from tickbird.domain.limits.concurrency import ConcurrencyLimit
from tickbird.domain.limits.rate_limits import QueueStatus, RateLimit, read_rate
from tickbird.domain.planning.calendar_impact import CalendarImpact, CalendarReport, ResolvedCalendar
from tickbird.wire.codec import Objects, adapt, decode, encode, shape

# Limits and queues.
adapt(RateLimit, str, read_rate, {"type": "string"})
shape(ConcurrencyLimit, about={"is_explicit": "Set by an operator; otherwise it is the default."})
shape(QueueStatus, "queue=name", "rate", "next_at", "waiting", "queued", "running", "workers")

# Tokens and sessions. What they are checked by never leaves the store.
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
_MOVES = Objects((("from", datetime), ("to", datetime)), tuple)
shape(CalendarImpact, "schedule", "moved", "appear", "vanish", "more", hints={"moved": _MOVES})


def _report(members: dict[str, Any]) -> CalendarReport:
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
        "schedules": "How many name it.",
        "complete": "False if there were too many ticks to compare.",
        "failed": "Schedules that were not, or could not be, updated.",
    },
)

"""Result of `why`: a verdict, one sentence, and the steps that lead to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from tickbird.domain.time.instants import to_datetime
from tickbird.domain.time.zone_data import zone_info

Verdict = Literal[
    "ran",
    "failed",
    "cancelled",
    "running",
    "queued",
    "waiting",
    "skipped",
    "will run",
    "will be skipped",
    "undecided",
    "ended",
    "not a tick",
    "no such schedule then",
    "no record",
]


@dataclass(frozen=True, slots=True)
class Step:
    """One step; `ok` is False if it prevented or delayed the run, None if it did neither."""

    ok: bool | None
    name: str
    text: str
    run_id: int | None = None
    at: datetime | None = None

    def to_json(self) -> dict[str, Any]:
        return {"ok": self.ok, "name": self.name, "text": self.text, "run_id": self.run_id, "at": _iso(self.at)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The past or expected result of one instant of a schedule, with every decision that led to it."""

    schedule: str
    at: datetime
    verdict: Verdict
    sentence: str
    steps: tuple[Step, ...]
    # The run of the tick, or the run that blocked it; and the revision that decided.
    run_id: int | None = None
    revision: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "schedule": self.schedule,
            "at": _iso(self.at),
            "verdict": self.verdict,
            "sentence": self.sentence,
            "run_id": self.run_id,
            "revision": self.revision,
            "steps": [step.to_json() for step in self.steps],
        }


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")


class TimeFormatter:
    """Formats instants to the second: in UTC, and in the schedule's time zone if that differs."""

    def __init__(self, tz: str) -> None:
        self._zone = zone_info(tz)

    def __call__(self, instant: datetime | int) -> str:
        utc = to_datetime(instant) if isinstance(instant, int) else instant.astimezone(UTC)
        text = f"{utc:%Y-%m-%d %H:%M:%S} UTC"
        local = self.local(utc)
        if local.utcoffset() == utc.utcoffset():
            return text
        return f"{text} ({local:%H:%M:%S %Z})" if local.date() == utc.date() else f"{text} ({local:%d %b %H:%M:%S %Z})"

    def local(self, utc: datetime) -> datetime:
        """Return the wall-clock time of an instant, or UTC if it is outside the supported years."""
        try:
            return utc.astimezone(self._zone)
        except OverflowError:
            return utc

"""The charts of one schedule: timeline, tick strip, outcomes, lateness and durations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from tickbird.domain import dashboard_rows as views
from tickbird.domain.dashboard_rows import Marked, RunTiming
from tickbird.domain.planning.upcoming import UpcomingTick
from tickbird.web.charts import (
    Chart,
    DurationPoint,
    Outcome,
    RunSymbol,
    SkipSymbol,
    StripTick,
    TimelineRow,
    UpcomingSymbol,
    durations,
    lateness,
    measure,
    outcomes,
    tick_strip,
    timeline,
)

_WIDE: Final = 1_160
_HALF: Final = 540
_MIN_SPAN: Final = timedelta(minutes=1)
_MAX_SPAN: Final = timedelta(days=400)
# Time zone rules are not known for all future times.
_FARTHEST: Final = timedelta(days=36_500)
_MAX_PAST: Final = 40


def outcome_of(mark: Marked, href: str | None = None) -> Outcome:
    if not isinstance(mark, views.RunPoint):
        return Outcome(at=mark.at, kind="skipped", href=href)
    ran = mark.started_at is not None and mark.finished_at is not None
    seconds = (mark.finished_at - mark.started_at).total_seconds() if ran else None  # type: ignore[operator]
    return Outcome(at=mark.at, kind=mark.status, seconds=seconds, href=href)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The data of the charts: decisions, timings and future ticks, with functions for their links."""

    name: str
    marks: Sequence[Marked]
    timings: Sequence[RunTiming]
    coming: Sequence[UpcomingTick]
    now: datetime
    tz: str
    why: Callable[[datetime], str]
    run: Callable[[int], str]
    timeout: int | None = None

    def timeline(self) -> Chart:
        """Draw past decisions and future ticks in a window that shows some of both."""
        since, until = self._window()
        runs = [self._run_symbol(mark) for mark in self.marks if isinstance(mark, views.RunPoint)]
        skips = [self._skip_symbol(mark) for mark in self.marks if isinstance(mark, views.SkipPoint)]
        row = TimelineRow(
            name=self.name, runs=runs, skips=skips, coming=[self._upcoming_symbol(tick) for tick in self.coming]
        )
        return timeline([row], since, until, self.now, self.tz, width=_WIDE, title="Timeline")

    def _window(self) -> tuple[datetime, datetime]:
        coming = sorted(tick.due_at - self.now for tick in self.coming)
        # Always shows the next tick. Others are shown for about a year.
        ahead = max(coming[0], min(coming[-1], _MAX_SPAN)) if coming else _MIN_SPAN
        ahead = min(max(ahead * 1.05, _MIN_SPAN), _FARTHEST)
        past = [mark.at for mark in self.marks if mark.at <= self.now][-_MAX_PAST:]
        behind = min(self.now - past[0], _MAX_SPAN) * 1.05 if past else ahead
        # Neither past nor future gets more than four times the width of the other.
        behind = max(min(behind, ahead * 4), ahead / (2 if past else 8)) if self.coming else max(behind, _MIN_SPAN)
        return self.now - behind, self.now + (ahead if self.coming else min(ahead, behind / 4))

    def _run_symbol(self, mark: views.RunPoint) -> RunSymbol:
        href = self.run(mark.id) if mark.scheduled_for is None else self.why(mark.scheduled_for)
        note = "" if mark.origin == "schedule" else mark.origin.replace("_", " ")
        return RunSymbol(
            due_at=mark.due_at,
            status=mark.status,
            started_at=mark.started_at,
            finished_at=mark.finished_at,
            note=note,
            href=href,
        )

    def _skip_symbol(self, mark: views.SkipPoint) -> SkipSymbol:
        return SkipSymbol(
            first_at=mark.first, last_at=mark.last, count=mark.count, reason=mark.reason, href=self.why(mark.last)
        )

    def _upcoming_symbol(self, tick: UpcomingTick) -> UpcomingSymbol:
        moved = tick.scheduled_for if tick.override is not None and tick.override.moved else None
        return UpcomingSymbol(
            due_at=tick.due_at, skipped=tick.skipped, moved_from=moved, href=self.why(tick.scheduled_for)
        )

    def strip(self) -> Chart:
        """Draw each tick as an equal step."""
        past: list[StripTick] = []
        for mark in self.marks:
            if isinstance(mark, views.SkipPoint):
                note = mark.reason if mark.count == 1 else f"{mark.reason}, {mark.count:,} ticks"
                past.append(StripTick(at=mark.last, kind="skipped", note=note, href=self.why(mark.last)))
            elif mark.scheduled_for is not None:
                past.append(StripTick(at=mark.scheduled_for, kind=mark.status, href=self.why(mark.scheduled_for)))
        coming = [self._strip_tick(tick) for tick in self.coming if tick.skipped != "done"]
        return tick_strip([*past, *coming], self.now, self.tz, width=_WIDE)

    def _strip_tick(self, tick: UpcomingTick) -> StripTick:
        moved = tick.override is not None and tick.override.moved
        kind = "will_skip" if tick.skipped else "moved" if moved else "coming"
        href = self.why(tick.scheduled_for)
        return StripTick(at=tick.scheduled_for, kind=kind, note=tick.skipped or "", href=href)  # type: ignore[arg-type]

    def outcomes(self) -> Chart:
        """Draw the last outcomes, each with a link to its run or its explanation."""
        return outcomes([outcome_of(mark, self._where(mark)) for mark in self.marks], self.tz)

    def _where(self, mark: Marked) -> str:
        return self.run(mark.id) if isinstance(mark, views.RunPoint) else self.why(mark.last)

    def lateness(self) -> Chart:
        return lateness(
            measure((timing.started_at - timing.due_at).total_seconds() for timing in self.timings), width=_HALF
        )

    def durations(self) -> Chart:
        points = [
            DurationPoint(
                at=timing.started_at,
                seconds=(timing.finished_at - timing.started_at).total_seconds(),
                kind=timing.status,
                href=self.run(timing.id),
            )
            for timing in self.timings
            if timing.finished_at is not None
        ]
        return durations(points, self.tz, timeout=self.timeout, width=_HALF)

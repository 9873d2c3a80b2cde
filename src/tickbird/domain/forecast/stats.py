"""Statistics of a simulation; instants in microseconds, unless they are called seconds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

MICROS: Final = 1_000_000
_HOUR: Final = 3_600 * MICROS


class ForecastStats:
    """Ticks, runs, skips, lateness and busy slots, by schedule, hour, minute and queue."""

    def __init__(self, start: int, end: int, schedules: int) -> None:
        self.start, self.end = start, end
        # Hours and minutes are aligned to the clock, from this hour.
        self.first = start // 3_600 * 3_600
        hours = -(-(end - self.first) // 3_600)
        self.ticks_by_minute = [0] * (60 * hours)
        self.runs_by_hour = [0] * hours
        self.busy_by_hour = [0] * hours
        self.tick_count = 0
        self.overlaps = 0
        self.held = 0
        self.lost = 0
        self.left_over = 0
        self.skips: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self.cancelled: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self.runs = [0] * schedules
        self.worst = [0] * schedules
        # Number of late runs by lateness, rounded so that the number of entries stays small.
        self.lateness: Counter[int] = Counter()
        # The worst: lateness, schedule, and instant.
        self.latest: tuple[int, int, int] | None = None
        self.busy = 0
        self.peak, self.peak_at = 0, start * MICROS
        self.max_queued, self.max_queued_at = 0, start * MICROS
        self._hour = 0
        # The end of this hour, shifted like the simulator's end entries.
        self.shift = 0
        self.hour_ends = 0
        self.queues([])

    def queues(self, names: list[str]) -> None:
        """Set the names of the queues; their index is the queue number."""
        self.queue_names = names
        self.queue_busy = [0] * len(names)
        self.queue_peak = [0] * len(names)
        self.queue_peak_at = [self.start * MICROS] * len(names)
        self.queue_runs = [0] * len(names)
        self.queue_worst = [0] * len(names)

    def ticks(self, due: int, count: int) -> None:
        """Record `count` ticks that became due at this second."""
        if self.start <= due < self.end:
            self.ticks_by_minute[(due - self.first) // 60] += count
            self.tick_count += count

    def skip(self, index: int, reason: str, count: int) -> None:
        """Record `count` skipped ticks of a schedule."""
        if count:
            self.skips[reason][index] += count

    def cancel(self, index: int, reason: str) -> None:
        """Record a run that was cancelled or lost."""
        self.cancelled[reason][index] += 1

    def started(self, index: int, queue: int, now: int, due: int, *, restarted: bool) -> None:
        """Record the start of a run that was due at this second; `restarted`: it has started before."""
        hour = self.reach(now)
        if not restarted:
            self.runs_by_hour[hour] += 1
            self.runs[index] += 1
            self.queue_runs[queue] += 1
            late = now - due * MICROS
            if late > 0:
                self._late(index, queue, late, now)
        busy = self.busy = self.busy + 1
        if busy > self.busy_by_hour[hour]:
            self.busy_by_hour[hour] = busy
            if busy > self.peak:
                self.peak, self.peak_at = busy, now
        busy = self.queue_busy[queue] = self.queue_busy[queue] + 1
        if busy > self.queue_peak[queue]:
            self.queue_peak[queue], self.queue_peak_at[queue] = busy, now

    def _late(self, index: int, queue: int, late: int, now: int) -> None:
        self.lateness[_rounded(late)] += 1
        if late > self.worst[index]:
            self.worst[index] = late
        if late > self.queue_worst[queue]:
            self.queue_worst[queue] = late
        if self.latest is None or late > self.latest[0]:
            self.latest = late, index, now

    def began(self, indexes: Sequence[int], queues: Sequence[int], now: int) -> None:
        """Record runs of these schedules that start on time."""
        hour, runs, count = self.reach(now), self.runs, len(indexes)
        self.runs_by_hour[hour] += count
        for index in indexes:
            runs[index] += 1
        busy = self.busy = self.busy + count
        if busy > self.busy_by_hour[hour]:
            self.busy_by_hour[hour] = busy
            if busy > self.peak:
                self.peak, self.peak_at = busy, now
        for queue, number in (
            [(0, count)] if len(self.queue_names) == 1 else Counter(queues[p] for p in indexes).items()
        ):
            self.queue_runs[queue] += number
            busy = self.queue_busy[queue] = self.queue_busy[queue] + number
            if busy > self.queue_peak[queue]:
                self.queue_peak[queue], self.queue_peak_at[queue] = busy, now

    def took_over(self, queue: int) -> None:
        """Record a run that started before the simulation."""
        self.busy += 1
        self.queue_busy[queue] += 1
        self.busy_by_hour[0] = self.peak = max(self.peak, self.busy)
        self.queue_peak[queue] = max(self.queue_peak[queue], self.queue_busy[queue])

    def ended(self, queue: int, now: int) -> None:
        """Record the end of a run."""
        self.reach(now)
        self.busy -= 1
        self.queue_busy[queue] -= 1

    def reach(self, now: int) -> int:
        """Advance to the hour of this instant; each hour starts with the busy slots of the previous one."""
        hour = min((now - self.first * MICROS) // _HOUR, len(self.busy_by_hour) - 1)
        if hour > self._hour:
            for following in range(self._hour + 1, hour + 1):
                self.busy_by_hour[following] = self.busy
            self._hour = hour
            self.hour_ends = self.first * MICROS + (hour + 1) * _HOUR << self.shift
        return hour

    def close(self) -> None:
        self.reach(self.end * MICROS)

    def line(self, length: int, now: int) -> None:
        """Record that `length` runs wait for a slot."""
        if length > self.max_queued:
            self.max_queued, self.max_queued_at = length, now

    def percentile(self, share: float) -> int:
        """Return the lateness that this share of all runs does not exceed."""
        total = sum(self.runs)
        late = sum(self.lateness.values())
        rank = share * total
        passed = total - late
        if rank <= passed or not late:
            return 0
        for value in sorted(self.lateness):
            passed += self.lateness[value]
            if passed >= rank:
                return value
        return max(self.lateness)


def _rounded(late: int) -> int:
    """Round to five digits, which is exact for the seconds of a day."""
    step: int = 10 ** max(0, len(str(late)) - 5)
    return late - late % step

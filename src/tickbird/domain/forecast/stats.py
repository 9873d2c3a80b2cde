"""What is counted while a stretch of time is played; instants in microseconds, unless they are called seconds."""

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
        # Hours and minutes are those of the clock, from this one on.
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
        # How many runs began so late; in steps that grow with it, so that there are never many.
        self.lateness: Counter[int] = Counter()
        # The worst: by how much, of which schedule, and when.
        self.latest: tuple[int, int, int] | None = None
        self.busy = 0
        self.peak, self.peak_at = 0, start * MICROS
        self.max_queued, self.max_queued_at = 0, start * MICROS
        self._hour = 0
        # When this hour ends, as the player writes ends: with so many bits behind it.
        self.shift = 0
        self.hour_ends = 0
        self.queues([])

    def queues(self, names: list[str]) -> None:
        """The queues there are, by number."""
        self.queue_names = names
        self.queue_busy = [0] * len(names)
        self.queue_peak = [0] * len(names)
        self.queue_peak_at = [self.start * MICROS] * len(names)
        self.queue_runs = [0] * len(names)
        self.queue_worst = [0] * len(names)

    def ticks(self, due: int, count: int) -> None:
        """So many ticks came due at this second."""
        if self.start <= due < self.end:
            self.ticks_by_minute[(due - self.first) // 60] += count
            self.tick_count += count

    def skip(self, place: int, reason: str, count: int) -> None:
        """So many ticks of a schedule are skipped."""
        if count:
            self.skips[reason][place] += count

    def cancel(self, place: int, reason: str) -> None:
        """A run that was made does not come to its end."""
        self.cancelled[reason][place] += 1

    def started(self, place: int, queue: int, now: int, due: int, *, anew: bool) -> None:
        """A run began that was due at this second; `anew`: not for the first time."""
        hour = self.reach(now)
        if not anew:
            self.runs_by_hour[hour] += 1
            self.runs[place] += 1
            self.queue_runs[queue] += 1
            late = now - due * MICROS
            if late > 0:
                self._late(place, queue, late, now)
        busy = self.busy = self.busy + 1
        if busy > self.busy_by_hour[hour]:
            self.busy_by_hour[hour] = busy
            if busy > self.peak:
                self.peak, self.peak_at = busy, now
        busy = self.queue_busy[queue] = self.queue_busy[queue] + 1
        if busy > self.queue_peak[queue]:
            self.queue_peak[queue], self.queue_peak_at[queue] = busy, now

    def _late(self, place: int, queue: int, late: int, now: int) -> None:
        self.lateness[_rounded(late)] += 1
        if late > self.worst[place]:
            self.worst[place] = late
        if late > self.queue_worst[queue]:
            self.queue_worst[queue] = late
        if self.latest is None or late > self.latest[0]:
            self.latest = late, place, now

    def began(self, places: Sequence[int], queues: Sequence[int], now: int) -> None:
        """Runs of these schedules began when they were due."""
        hour, runs, count = self.reach(now), self.runs, len(places)
        self.runs_by_hour[hour] += count
        for place in places:
            runs[place] += 1
        busy = self.busy = self.busy + count
        if busy > self.busy_by_hour[hour]:
            self.busy_by_hour[hour] = busy
            if busy > self.peak:
                self.peak, self.peak_at = busy, now
        for queue, number in [(0, count)] if len(self.queue_names) == 1 else Counter(queues[p] for p in places).items():
            self.queue_runs[queue] += number
            busy = self.queue_busy[queue] = self.queue_busy[queue] + number
            if busy > self.queue_peak[queue]:
                self.queue_peak[queue], self.queue_peak_at[queue] = busy, now

    def took_over(self, queue: int) -> None:
        """A run goes on that began before the stretch."""
        self.busy += 1
        self.queue_busy[queue] += 1
        self.busy_by_hour[0] = self.peak = max(self.peak, self.busy)
        self.queue_peak[queue] = max(self.queue_peak[queue], self.queue_busy[queue])

    def ended(self, queue: int, now: int) -> None:
        """A slot is free again."""
        self.reach(now)
        self.busy -= 1
        self.queue_busy[queue] -= 1

    def reach(self, now: int) -> int:
        """The hour of this instant; each begins with what went on at the end of the one before."""
        hour = min((now - self.first * MICROS) // _HOUR, len(self.busy_by_hour) - 1)
        if hour > self._hour:
            for each in range(self._hour + 1, hour + 1):
                self.busy_by_hour[each] = self.busy
            self._hour = hour
            self.hour_ends = self.first * MICROS + (hour + 1) * _HOUR << self.shift
        return hour

    def close(self) -> None:
        """Nothing happens any more."""
        self.reach(self.end * MICROS)

    def line(self, length: int, now: int) -> None:
        """Record that `length` runs wait for a slot."""
        if length > self.max_queued:
            self.max_queued, self.max_queued_at = length, now

    def percentile(self, share: float) -> int:
        """The lateness that this share of all runs does not go beyond."""
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
    """To five digits, which whole seconds of a day keep."""
    step: int = 10 ** max(0, len(str(late)) - 5)
    return late - late % step

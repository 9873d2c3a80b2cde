"""Cron expressions: ticks of a crontab line as under Debian's cron, including DST changes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from tickbird.domain.time.instants import DAY, FIRST_SECOND, LAST_SECOND
from tickbird.domain.time.zones import MAX_SHIFT, Span, zone
from tickbird.domain.triggers.base import BaseTrigger, DateWarning
from tickbird.domain.triggers.cron.days import Days
from tickbird.domain.triggers.cron.description import describe
from tickbird.domain.triggers.cron.missing_dates import missing_dates
from tickbird.domain.triggers.cron.parser import MAX_LENGTH, DayRule, Fields, normal_text, parse, refusal
from tickbird.domain.triggers.every import Every, every
from tickbird.domain.triggers.form import TriggerForm

_CACHE_LIMIT = 10_000

_crons: dict[tuple[str, str], Cron | Every] = {}
_days: dict[tuple[DayRule, int], Days] = {}
_tables: dict[tuple[int, int], tuple[tuple[int, ...], tuple[int, ...]]] = {}


def cron(expr: str, tz: str = "UTC") -> Cron | Every:
    """Create a trigger from five cron fields, six with seconds first, or a macro; `@every 1h30m` is an interval."""
    try:
        return _crons[expr, tz]
    except (KeyError, TypeError):
        pass
    text = normal_text(expr)
    in_zone = zone(tz)
    trigger = _interval(text, tz) if text.lower().startswith("@every") else Cron(text, in_zone.name)
    if len(_crons) >= _CACHE_LIMIT:
        _crons.clear()
    _crons[expr, tz] = trigger
    return trigger


class Cron(BaseTrigger):
    """The grid of one cron expression in one zone; created by `cron()`."""

    __slots__ = (
        "_days",
        "_every_day",
        "_fields",
        "_first_in_hour",
        "_first_of_day",
        "_fixed",
        "_hours",
        "_last_in_hour",
        "_last_of_day",
        "_minutes",
        "_per_day",
        "_phase",
        "_seconds",
        "_step",
        "_zone",
        "expr",
        "tz",
    )

    def __init__(self, expr: str, tz: str = "UTC") -> None:
        self.expr = normal_text(expr)
        self._zone = zone(tz)
        self.tz = tz
        self._fields = fields = parse(self.expr)
        self._fixed = not fields.wildcard
        self._seconds = _table(fields.seconds, 60)
        self._minutes = _table(fields.minutes, 60)
        self._hours = _table(fields.hours, 24)
        self._first_in_hour = self._minutes[0][0] * 60 + self._seconds[0][0]
        self._last_in_hour = self._minutes[1][60] * 60 + self._seconds[1][60]
        self._first_of_day = self._hours[0][0] * 3600 + self._first_in_hour
        self._last_of_day = self._hours[1][24] * 3600 + self._last_in_hour
        self._per_day = fields.seconds.bit_count() * fields.minutes.bit_count() * fields.hours.bit_count()
        self._days = _days_of(fields)
        self._every_day = self._days.all
        # Most schedules tick at equal steps on the wall clock, which needs no calendar.
        self._step = _even_step(fields) if self._every_day else 0
        self._phase = self._first_of_day
        if self._days.none:
            raise refusal(
                self.expr,
                "day of month",
                "none of its months has such a day, so it would never run",
                "Check day and month.",
            )

    def next_tick(self, after: int) -> int | None:
        if after >= LAST_SECOND:
            return None
        at = after + 1 if after >= FIRST_SECOND else FIRST_SECOND
        zone = self._zone
        while True:
            span = zone.last
            if not span[0] <= at < span[1]:
                span = zone.span(at)
            start, end, offset, fresh, lost = span
            wall = at + offset
            if self._fixed and wall < fresh:
                wall = fresh
            local = self._next_wall(max(wall, FIRST_SECOND))
            if self._fixed and lost < start + offset:
                repair = self._repair(span)
                if repair is not None and repair >= at and (local is None or repair <= local - offset):
                    return repair
            if local is None:
                return None
            tick = local - offset
            if tick < end:
                return tick if tick <= LAST_SECOND and local <= LAST_SECOND else None
            at = end
            # Leap to just before the candidate, unless a jump back at the end of this span may repeat earlier times.
            if end + offset - wall >= MAX_SHIFT and local - MAX_SHIFT > end:
                at = local - MAX_SHIFT

    def previous_tick(self, before: int) -> int | None:
        at = before - 1 if before <= LAST_SECOND else LAST_SECOND
        while at >= FIRST_SECOND:
            span = self._zone.span(at)
            start, _, offset, fresh, lost = span
            wall = at + offset
            local = self._previous_wall(min(wall, LAST_SECOND))
            fits = local is not None and local >= (fresh if self._fixed else start + offset)
            if self._fixed and lost < start + offset:
                repair = self._repair(span)
                if repair is not None and repair <= at and (not fits or local is None or repair >= local - offset):
                    return repair
            if local is None:
                return None
            if fits:
                tick = local - offset
                return tick if tick >= FIRST_SECOND and local >= FIRST_SECOND else None
            at = start - 1
            if wall - start - offset >= MAX_SHIFT and local + MAX_SHIFT < at:
                at = local + MAX_SHIFT
        return None

    def count(self, after: int, until: int) -> int:
        low, high = max(after + 1, FIRST_SECOND), min(until, LAST_SECOND) + 1
        total = 0
        for span in self._zone.spans(low, high):
            start, end, offset, fresh, lost = span
            first, stop = max(low, start) + offset, min(high, end) + offset
            if self._fixed:
                first = max(first, fresh)
                if lost < start + offset:
                    repair = self._repair(span)
                    if repair is not None and low <= repair < high and not self._on_grid(repair + offset):
                        total += 1
            if first < stop:
                total += self._walls_before(stop) - self._walls_before(first)
        return total

    @property
    def period(self) -> int | None:
        """A step or a day, if it ticks every day in UTC; otherwise None."""
        return (self._step or DAY) if self._every_day and self.tz == "UTC" else None

    def bits(self, low: int, high: int) -> int:
        begin, high = max(low, FIRST_SECOND), min(high, LAST_SECOND + 1)
        bitmap = 0
        for span in self._zone.spans(begin, high):
            start, end, offset, fresh, lost = span
            wall, stop = max(begin, start) + offset, min(high, end) + offset
            if self._fixed:
                wall = max(wall, fresh)
                if lost < start + offset:
                    repair = self._repair(span)
                    if repair is not None and begin <= repair < high:
                        bitmap |= 1 << repair - low
            wall, stop = max(wall, FIRST_SECOND), min(stop, LAST_SECOND + 1)
            while wall < stop:
                day, second = divmod(wall, DAY)
                size = min(stop - wall, DAY - second)
                if self._every_day or self._days.next(day) == day:
                    bitmap |= (_times(self._fields) >> second & (1 << size) - 1) << wall - offset - low
                wall += size
        return bitmap

    def walls(self, tick: int) -> list[int]:
        """Return the wall-clock seconds of a tick, including those lost in a gap."""
        span = self._zone.span(tick)
        wall = tick + span.offset
        if not self._fixed or span.lost >= span.start + span.offset or tick != self._repair(span):
            return [wall]
        walls, local = [], self._next_wall(span.lost)
        while local is not None and local < span.start + span.offset:
            walls.append(local)
            local = self._next_wall(local + 1)
        return [*walls, wall] if self._on_grid(wall) else walls

    @property
    def max_per_day(self) -> int:
        return self._per_day

    def on_wall_clock(self) -> Cron:
        return self if self.tz == "UTC" else Cron(self.expr)

    def date_warnings(self) -> Iterator[DateWarning]:
        return missing_dates(self.expr)

    def describe(self) -> str:
        text = describe(self.expr)
        return text if self.tz == "UTC" else f"{text} ({self.tz})"

    def to_json(self) -> dict[str, object]:
        return {"cron": self.expr} if self.tz == "UTC" else {"cron": self.expr, "tz": self.tz}

    def __repr__(self) -> str:
        return f"cron({self.expr!r})" if self.tz == "UTC" else f"cron({self.expr!r}, tz={self.tz!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cron) and self.expr == other.expr and self.tz == other.tz

    def __hash__(self) -> int:
        return hash((Cron, self.expr, self.tz))

    def __reduce__(self) -> tuple[type[Cron], tuple[str, str]]:
        return Cron, (self.expr, self.tz)

    def _repair(self, span: Span) -> int | None:
        """Return the tick that replaces all fixed times lost in the gap before this span, at its first minute."""
        begin = span.start + span.offset
        local = self._next_wall(span.lost)
        if local is None or local >= begin:
            return None
        return -(-begin // 60) * 60 - span.offset

    def _next_wall(self, wall: int) -> int | None:
        """Return the first matching wall-clock second at or after `wall`, ignoring DST."""
        if self._step:
            return wall + (self._phase - wall) % self._step
        day, second = divmod(wall, DAY)
        if second > self._last_of_day:
            day += 1
            second = 0
        if not self._every_day:
            next_day = self._days.next(day)
            if next_day != day:
                return None if next_day is None else next_day * DAY + self._first_of_day
        if second <= self._first_of_day:
            return day * DAY + self._first_of_day
        hours = self._hours[0]
        hour, rest = divmod(second, 3600)
        if rest > self._last_in_hour:
            hour += 1
            rest = 0
        if hours[hour] != hour:
            return day * DAY + hours[hour] * 3600 + self._first_in_hour
        minutes, seconds = self._minutes[0], self._seconds[0]
        minute, rest = divmod(rest, 60)
        if seconds[rest] < 0:
            minute += 1
            rest = 0
        if minutes[minute] != minute:
            minute = minutes[minute]
            rest = 0
        return day * DAY + hour * 3600 + minute * 60 + seconds[rest]

    def _previous_wall(self, wall: int) -> int | None:
        """Return the last matching wall-clock second at or before `wall`, ignoring DST."""
        if self._step:
            return wall - (wall - self._phase) % self._step
        day, second = divmod(wall, DAY)
        if second < self._first_of_day:
            day -= 1
            second = DAY - 1
        if not self._every_day:
            previous_day = self._days.previous(day)
            if previous_day != day:
                return None if previous_day is None else previous_day * DAY + self._last_of_day
        if second >= self._last_of_day:
            return day * DAY + self._last_of_day
        hours = self._hours[1]
        hour, rest = divmod(second, 3600)
        if rest < self._first_in_hour:
            hour -= 1
            rest = 3599
        if hours[hour + 1] != hour:
            return day * DAY + hours[hour + 1] * 3600 + self._last_in_hour
        minutes, seconds = self._minutes[1], self._seconds[1]
        minute, rest = divmod(rest, 60)
        if seconds[rest + 1] < 0:
            minute -= 1
            rest = 59
        if minutes[minute + 1] != minute:
            minute = minutes[minute + 1]
            rest = 59
        return day * DAY + hour * 3600 + minute * 60 + seconds[rest + 1]

    def _on_grid(self, wall: int) -> bool:
        return self._next_wall(wall) == wall

    def _walls_before(self, wall: int) -> int:
        """Count the matching wall-clock seconds from year 1 to before `wall`."""
        day, second = divmod(min(max(wall, FIRST_SECOND), LAST_SECOND + 1), DAY)
        total = self._days.before(day) * self._per_day
        if second and (self._every_day or self._days.next(day) == day):
            total += self._times_before(second)
        return total

    def _times_before(self, second: int) -> int:
        fields = self._fields
        hour, rest = divmod(second, 3600)
        minute, rest = divmod(rest, 60)
        seconds, minutes = fields.seconds.bit_count(), fields.minutes.bit_count()
        total = (fields.hours & (1 << hour) - 1).bit_count() * minutes * seconds
        if fields.hours >> hour & 1:
            total += (fields.minutes & (1 << minute) - 1).bit_count() * seconds
            if fields.minutes >> minute & 1:
                total += (fields.seconds & (1 << rest) - 1).bit_count()
        return total


@lru_cache(maxsize=256)
def _times(fields: Fields) -> int:
    """Return the matching seconds of a day as a bitmap."""
    hour = sum(fields.seconds << 60 * minute for minute in range(60) if fields.minutes >> minute & 1)
    return sum(hour << 3600 * number for number in range(24) if fields.hours >> number & 1)


def _days_of(fields: Fields) -> Days:
    key = fields.days, fields.months
    days = _days.get(key)
    if days is None:
        if len(_days) >= _CACHE_LIMIT:
            _days.clear()
        days = _days[key] = Days(*key)
    return days


def _even_step(fields: Fields) -> int:
    """Return the step in seconds if all times are evenly spaced, otherwise 0."""
    second, minute, hour = _spacing(fields.seconds, 60), _spacing(fields.minutes, 60), _spacing(fields.hours, 24)
    if minute == hour == 1:
        return second
    if second == 60 and hour == 1:
        return 60 * minute
    return 3600 * hour if second == minute == 60 else 0


def _spacing(mask: int, size: int) -> int:
    step, rest = divmod(size, mask.bit_count())
    first = (mask & -mask).bit_length() - 1
    return step if not rest and mask == sum(1 << i for i in range(first, size, step)) else 0


def _table(mask: int, size: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return, for each i, the first set bit >= i and the last set bit < i; -1 for none."""
    table = _tables.get((mask, size))
    if table is None:
        if len(_tables) >= _CACHE_LIMIT:
            _tables.clear()
        following, preceding = [-1] * (size + 1), [-1] * (size + 1)
        for i in range(size - 1, -1, -1):
            following[i] = i if mask >> i & 1 else following[i + 1]
        for i in range(size):
            preceding[i + 1] = i if mask >> i & 1 else preceding[i]
        table = _tables[mask, size] = tuple(following), tuple(preceding)
    return table


_DURATION = re.compile(r"(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?", re.ASCII)


def _interval(text: str, tz: str) -> Every:
    """Parse `@every 1h30m` to an interval of elapsed time."""
    _, _, duration = text.lower().partition(" ")
    match = _DURATION.fullmatch(duration)
    if text[:7].lower() not in ("@every", "@every ") or not duration or match is None:
        raise refusal(
            text,
            "expression",
            "@every needs hours, minutes or seconds",
            "Write it like @every 1h30m, or use every() for longer intervals.",
        )
    parts = dict(zip(("hours", "minutes", "seconds"), match.groups(), strict=True))
    amounts = {unit: int(amount) for unit, amount in parts.items() if amount and int(amount)}
    if not amounts:
        raise refusal(text, "expression", "an interval must be at least 1 s", "Write it like @every 30s.")
    return every(**amounts, tz=tz)  # type: ignore[arg-type]


FORM = TriggerForm(
    name="cron",
    noun="cron expression",
    metavar="EXPR",
    summary="Cron: five fields, or six with seconds first.",
    about="A cron expression, five fields or six with seconds first, such as 0 3 * * *.",
    example="0 9 * * mon-fri",
    kind="text",
    schema={
        "type": "string",
        "format": "cron",
        "examples": ["0 9 * * 1-5", "*/15 * * * *", "@daily"],
        "minLength": 1,
        "maxLength": MAX_LENGTH,
    },
    read=lambda document, tz: cron(document["cron"], tz),
    parse_text=lambda text, _: {"cron": text},
    write_text=lambda document: document["cron"] if isinstance(document["cron"], str) else None,
    caches=(_crons,),
)

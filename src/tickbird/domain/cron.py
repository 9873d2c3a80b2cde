"""Cron expressions: when a crontab line would run under Debian's cron, zone changes included."""

from __future__ import annotations

import re
from datetime import MAXYEAR, date

from tickbird.domain.cron_parser import MACROS, Fields, normal_text, parse, refusal
from tickbird.domain.every import Every, every
from tickbird.domain.grid import Grid
from tickbird.domain.instants import DAY, FIRST_SECOND, LAST_SECOND
from tickbird.domain.zones import MAX_SHIFT, Span, zone

_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_LAST_ORDINAL = date.max.toordinal()
_LENGTHS = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_CACHE_LIMIT = 10_000

_crons: dict[tuple[str, str], Cron | Every] = {}
_tables: dict[tuple[int, int], tuple[tuple[int, ...], tuple[int, ...]]] = {}


def cron(expr: str, tz: str = "UTC") -> Cron | Every:
    """A trigger from five cron fields, six with seconds first, or a macro; `@every 1h30m` is an interval."""
    try:
        return _crons[expr, tz]
    except (KeyError, TypeError):
        pass
    text = normal_text(expr)
    in_zone = zone(tz)
    made = _interval(text, tz) if text.lower().startswith("@every") else Cron(text, in_zone.name)
    if len(_crons) >= _CACHE_LIMIT:
        _crons.clear()
    _crons[expr, tz] = made
    return made


class Cron(Grid):
    """The grid of one cron expression in one zone; made by `cron()`."""

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
        "_months",
        "_per_day",
        "_seconds",
        "_years",
        "_zone",
        "expr",
        "tz",
    )

    _years: tuple[int, ...]  # made by the first count

    def __init__(self, expr: str, tz: str = "UTC") -> None:
        self.expr = normal_text(expr)
        self._zone = zone(tz)
        self.tz = tz
        self._fields = fields = parse(self.expr)
        self._fixed = not fields.wildcard
        self._seconds = _table(fields.seconds, 60)
        self._minutes = _table(fields.minutes, 60)
        self._hours = _table(fields.hours, 24)
        self._months = _table(fields.months, 13)
        self._first_in_hour = self._minutes[0][0] * 60 + self._seconds[0][0]
        self._last_in_hour = self._minutes[1][60] * 60 + self._seconds[1][60]
        self._first_of_day = self._hours[0][0] * 3600 + self._first_in_hour
        self._last_of_day = self._hours[1][24] * 3600 + self._last_in_hour
        self._per_day = fields.seconds.bit_count() * fields.minutes.bit_count() * fields.hours.bit_count()
        # A month is its length and the weekday of its 1st, so 28 masks answer for all of time.
        self._days = tuple(fields.days.matching(length, first) for length in range(28, 32) for first in range(7))
        self._every_day = fields.months == 0b1111111111110 and all(
            mask == (2 << 28 + i // 7) - 2 for i, mask in enumerate(self._days)
        )
        if not self._every_day and not any(self._days[i] for i in _shapes(fields)):
            raise refusal(
                self.expr, "day of month", "no such day ever comes in the months given, so it would never run"
            )

    def next_tick(self, after: int) -> int | None:
        """The first tick strictly after an epoch second."""
        at = after + 1 if after >= FIRST_SECOND else FIRST_SECOND
        while True:
            span = self._zone.span(at)
            start, end, offset, fresh, lost = span
            wall = at + offset
            if self._fixed:
                if wall < fresh:
                    wall = fresh
                local = self._next_wall(wall)
                if lost < start + offset:
                    repair = self._repair(span)
                    if repair is not None and repair >= at and (local is None or repair <= local - offset):
                        return repair
            else:
                local = self._next_wall(wall)
            if local is None:
                return None
            tick = local - offset
            if tick < end:
                return tick if tick <= LAST_SECOND else None
            at = end
            # Leap to just before the candidate, unless a jump back at the end of this span may repeat what is behind.
            if end + offset - wall >= MAX_SHIFT and local - MAX_SHIFT > end:
                at = local - MAX_SHIFT

    def previous_tick(self, before: int) -> int | None:
        """The last tick strictly before an epoch second."""
        at = before - 1 if before <= LAST_SECOND else LAST_SECOND
        while at >= FIRST_SECOND:
            span = self._zone.span(at)
            start, _, offset, fresh, lost = span
            wall = at + offset
            local = self._previous_wall(wall)
            fits = local is not None and local >= (fresh if self._fixed else start + offset)
            if self._fixed and lost < start + offset:
                repair = self._repair(span)
                if repair is not None and repair <= at and (not fits or local is None or repair >= local - offset):
                    return repair
            if local is None:
                return None
            if fits:
                tick = local - offset
                return tick if tick >= FIRST_SECOND else None
            at = start - 1
            if wall - start - offset >= MAX_SHIFT and local + MAX_SHIFT < at:
                at = local + MAX_SHIFT
        return None

    def count(self, after: int, until: int) -> int:
        """How many ticks lie in (after, until], without walking them."""
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

    def describe(self) -> str:
        """The expression in words."""
        from cron_descriptor import CasingTypeEnum, ExpressionDescriptor, Options  # type: ignore[import-untyped]

        options = Options()
        options.use_24hour_time_format = True
        options.casing_type = CasingTypeEnum.Sentence
        try:
            words = str(ExpressionDescriptor(MACROS.get(self.expr.lower(), self.expr.upper()), options))
        except Exception:  # noqa: BLE001 - words are a courtesy: an expression beyond the library is shown as it is
            words = self.expr
        return words if self.tz == "UTC" else f"{words} ({self.tz})"

    def to_json(self) -> dict[str, object]:
        """The definition as plain JSON values."""
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
        """The tick that stands for all fixed times lost when this span's clock jumped ahead, at its first minute."""
        begin = span.start + span.offset
        local = self._next_wall(span.lost)
        if local is None or local >= begin:
            return None
        return -(-begin // 60) * 60 - span.offset

    def _next_wall(self, wall: int) -> int | None:
        """The first wall-clock second at or after `wall` that matches, were there no zones."""
        day, second = divmod(wall, DAY)
        if self._every_day or self._matches(day):
            found = self._next_time(second)
            if found >= 0:
                return day * DAY + found
        next_day = self._next_day(day + 1)
        return None if next_day is None else next_day * DAY + self._first_of_day

    def _previous_wall(self, wall: int) -> int | None:
        day, second = divmod(wall, DAY)
        if self._every_day or self._matches(day):
            found = self._previous_time(second)
            if found >= 0:
                return day * DAY + found
        previous_day = self._previous_day(day - 1)
        return None if previous_day is None else previous_day * DAY + self._last_of_day

    def _next_time(self, second: int) -> int:
        hour, rest = divmod(second, 3600)
        hours = self._hours[0]
        if hours[hour] == hour:
            minute = rest // 60
            within = self._seconds[0][rest % 60]
            minutes = self._minutes[0]
            if within >= 0 and minutes[minute] == minute:
                return second - rest % 60 + within
            minute = minutes[minute + 1]
            if minute >= 0:
                return hour * 3600 + minute * 60 + self._seconds[0][0]
        elif hours[hour] < 0:
            return -1
        hour = hours[hour + 1]
        return -1 if hour < 0 else hour * 3600 + self._first_in_hour

    def _previous_time(self, second: int) -> int:
        hour, rest = divmod(second, 3600)
        hours = self._hours[1]
        if hours[hour + 1] == hour:
            minute = rest // 60
            within = self._seconds[1][rest % 60 + 1]
            minutes = self._minutes[1]
            if within >= 0 and minutes[minute + 1] == minute:
                return second - rest % 60 + within
            minute = minutes[minute]
            if minute >= 0:
                return hour * 3600 + minute * 60 + self._seconds[1][60]
        hour = hours[hour]
        return -1 if hour < 0 else hour * 3600 + self._last_in_hour

    def _matches(self, day: int) -> bool:
        ordinal = day + _EPOCH_ORDINAL
        if not 1 <= ordinal <= _LAST_ORDINAL:
            return False
        found = date.fromordinal(ordinal)
        return self._month_mask(found.year, found.month, ordinal - found.day + 1) >> found.day & 1 == 1

    def _month_mask(self, year: int, month: int, first: int) -> int:
        """The matching days of a month whose 1st has this ordinal."""
        if not self._fields.months >> month & 1:
            return 0
        length = 29 if month == 2 and _is_leap(year) else _LENGTHS[month]
        return self._days[(length - 28) * 7 + first % 7]

    def _next_day(self, day: int) -> int | None:
        ordinal = max(day + _EPOCH_ORDINAL, 1)
        if ordinal > _LAST_ORDINAL:
            return None
        if self._every_day:
            return ordinal - _EPOCH_ORDINAL
        found = date.fromordinal(ordinal)
        year, month = found.year, found.month
        first = ordinal - found.day + 1
        mask = self._month_mask(year, month, first) >> found.day << found.day
        months = self._months[0]
        while not mask:
            month = months[month + 1]
            if month < 0:
                month = months[0]
                year += 1
                if year > MAXYEAR:
                    return None
            first = date(year, month, 1).toordinal()
            mask = self._month_mask(year, month, first)
        return first + (mask & -mask).bit_length() - 2 - _EPOCH_ORDINAL

    def _previous_day(self, day: int) -> int | None:
        ordinal = min(day + _EPOCH_ORDINAL, _LAST_ORDINAL)
        if ordinal < 1:
            return None
        if self._every_day:
            return ordinal - _EPOCH_ORDINAL
        found = date.fromordinal(ordinal)
        year, month = found.year, found.month
        first = ordinal - found.day + 1
        mask = self._month_mask(year, month, first) & (2 << found.day) - 1
        months = self._months[1]
        while not mask:
            month = months[month]
            if month < 0:
                month = months[13]
                year -= 1
                if year < 1:
                    return None
            first = date(year, month, 1).toordinal()
            mask = self._month_mask(year, month, first)
        return first + mask.bit_length() - 2 - _EPOCH_ORDINAL

    def _on_grid(self, wall: int) -> bool:
        return self._next_wall(wall) == wall

    def _walls_before(self, wall: int) -> int:
        """How many matching wall-clock seconds lie from the year 1 to before `wall`."""
        day, second = divmod(min(max(wall, FIRST_SECOND), LAST_SECOND + 1), DAY)
        if self._every_day:
            return (day + _EPOCH_ORDINAL - 1) * self._per_day + self._times_before(second)
        days = self._days_before(day + _EPOCH_ORDINAL)
        return days * self._per_day + (self._times_before(second) if second and self._matches(day) else 0)

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

    def _days_before(self, ordinal: int) -> int:
        if ordinal > _LAST_ORDINAL:
            year, month, day = MAXYEAR + 1, 1, 1
        else:
            found = date.fromordinal(ordinal)
            year, month, day = found.year, found.month, found.day
        try:
            years = self._years
        except AttributeError:
            years = self._years = self._count_years()
        cycles, within = divmod(year - 1, 400)
        total = cycles * years[400] + years[within]
        if month > 1 or day > 1:
            for earlier in range(1, month):
                total += self._month_mask(year, earlier, date(year, earlier, 1).toordinal()).bit_count()
            mask = self._month_mask(year, month, ordinal - day + 1)
            total += (mask & (1 << day) - 1).bit_count()
        return total

    def _count_years(self) -> tuple[int, ...]:
        """The matching days before each year of the 400 after which the calendar repeats."""
        kinds: dict[tuple[int, bool], int] = {}
        totals = [0]
        for year in range(1, 401):
            first = date(year, 1, 1).toordinal()
            kind = first % 7, _is_leap(year)
            if kind not in kinds:
                masks = (self._month_mask(year, month, date(year, month, 1).toordinal()) for month in range(1, 13))
                kinds[kind] = sum(mask.bit_count() for mask in masks)
            totals.append(totals[-1] + kinds[kind])
        return tuple(totals)


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _shapes(fields: Fields) -> set[int]:
    """The kinds of month that the month field allows, as indexes into a cron's day masks."""
    lengths = {_LENGTHS[month] for month in range(1, 13) if fields.months >> month & 1}
    if fields.months & 0b100:
        lengths.add(29)
    return {(length - 28) * 7 + first for length in lengths for first in range(7)}


def _table(mask: int, size: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """For each i the first set bit >= i, and for each i the last set bit < i; -1 for none."""
    found = _tables.get((mask, size))
    if found is None:
        if len(_tables) >= _CACHE_LIMIT:
            _tables.clear()
        following, preceding = [-1] * (size + 1), [-1] * (size + 1)
        for i in range(size - 1, -1, -1):
            following[i] = i if mask >> i & 1 else following[i + 1]
        for i in range(size):
            preceding[i + 1] = i if mask >> i & 1 else preceding[i]
        found = _tables[mask, size] = tuple(following), tuple(preceding)
    return found


_DURATION = re.compile(r"(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?", re.ASCII)


def _interval(text: str, tz: str) -> Every:
    """`@every 1h30m` as an interval of elapsed time on its fixed grid."""
    _, _, duration = text.lower().partition(" ")
    match = _DURATION.fullmatch(duration)
    if text[:7].lower() not in ("@every", "@every ") or not duration or match is None:
        raise refusal(
            text, "expression", "@every needs hours, minutes or seconds", "Write it like @every 1h30m; longer: every()."
        )
    parts = dict(zip(("hours", "minutes", "seconds"), match.groups(), strict=True))
    amounts = {unit: int(amount) for unit, amount in parts.items() if amount and int(amount)}
    if not amounts:
        raise refusal(text, "expression", "an interval of 0 never moves on")
    return every(**amounts, tz=tz)  # type: ignore[arg-type]

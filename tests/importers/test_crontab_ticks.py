"""Whole crontabs tick as cron does: every line over two years, beside a daemon that is stepped minute by minute."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.domain.test_cron_daemon import Daemon, changes, offset_at
from tests.importers.conftest import AFTER, UNTIL, check, made_of
from tests.importers.test_crontab import CRONTAB
from tickbird.importers.crontab import read_crontab
from tickbird.importers.result import text_of

MACHINE = Path(__file__).with_name("etc_crontab").read_text()
DAY = 86_400
MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}
MONTHS = dict(
    zip(["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], range(1, 13), strict=True)
)
WEEKDAYS = dict(zip(["sun", "mon", "tue", "wed", "thu", "fri", "sat"], range(7), strict=True))


def lines_of(text: str, tz: str) -> dict[int, tuple[str, str]]:
    """Expression and zone of every line that a daemon would take for an entry, by its number; read apart from ours."""
    found: dict[int, tuple[str, str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if setting := re.fullmatch(r"\s*(\w+)\s*=\s*(.*)", line):
            tz = setting[2].strip('"') if setting[1] == "CRON_TZ" else tz
        elif words and words[0] in MACROS:
            found[number] = MACROS[words[0]], tz
        elif len(words) > 5 and words[0][0] in "*-0123456789":
            month, weekday = (_numbers(word, names) for word, names in ((words[3], MONTHS), (words[4], WEEKDAYS)))
            found[number] = " ".join([words[0].lstrip("-"), *words[1:3], month, weekday]), tz
    return found


def _numbers(field: str, names: dict[str, int]) -> str:
    return re.sub(r"[A-Za-z]+", lambda name: str(names[name[0].lower()]), field)


def daemon_ticks(expression: str, tz: str) -> list[int]:
    """When cron runs a line: near changes of the clock minute by minute, elsewhere as the fields of each day say."""
    daemon, start, end = Daemon(expression, tz), AFTER + 1, UNTIL + 1
    points = [start, *changes(tz, start, end, 5 * DAY)]
    ticks: list[int] = []
    for index, point in enumerate(points):
        offset, stop = offset_at(tz, point), points[index + 1] if index + 1 < len(points) else end
        first = point
        if index:
            # What a change brings about is over after three hours.
            around = [(point - DAY, offset_at(tz, point - 1)), (point, offset)]
            first = point + DAY
            stepped = Daemon(expression, tz).run(point - DAY, first, around)
            ticks = [tick for tick in ticks if tick < point - DAY] + stepped
        ticks += _plain(daemon, first, stop, offset)
    return [tick for tick in ticks if start <= tick < end]


def _plain(daemon: Daemon, start: int, end: int, offset: int) -> list[int]:
    found = []
    for day in range((start + offset) // DAY, (end + offset) // DAY + 1):
        # One look a day: a moment of it at which the hours and minutes match tells about the day.
        moment = day * DAY + min(daemon.hours) * 3_600 + min(daemon.minutes) * 60
        if daemon.matches(moment):
            walls = (day * DAY + hour * 3_600 + minute * 60 for hour in daemon.hours for minute in daemon.minutes)
            found += [wall - offset for wall in sorted(walls) if start <= wall - offset < end]
    return found


@pytest.mark.parametrize("text,source,tz", [(MACHINE, "/etc/crontab", "Europe/Rome"), (CRONTAB, "mine", "Europe/Rome")])
def test_every_line_ticks_as_cron_has_it(text: str, source: str, tz: str) -> None:
    made = made_of(read_crontab(text, source, tz=tz))
    schedules = {entry.line: entry.name for entry in made.imported.entries if entry.name in made.document.schedules}
    assert len(text.splitlines()) >= 40
    lines = lines_of(text, tz)
    # Entry by entry: each is a schedule or is left out, with the line that it stands in.
    left = {each.line for each in made.not_imported}
    assert {*lines} <= {*schedules} | left
    assert not {*schedules} & left
    assert len(schedules) == len(made.document.schedules) >= 25
    check(made, {name: daemon_ticks(*lines[number]) for number, name in schedules.items() if number is not None})


def test_the_oracle_is_the_daemon() -> None:
    """The quick way to step through two years gives what stepping through all of it gives."""
    for expression, tz in (("30 2 * * *", "Europe/Rome"), ("0 */2 13 * 5", "Australia/Lord_Howe")):
        points = [AFTER + 1, *changes(tz, AFTER + 1, UNTIL, 5 * DAY)]
        offsets = [(point, offset_at(tz, point)) for point in points]
        assert daemon_ticks(expression, tz) == Daemon(expression, tz).run(AFTER + 1, UNTIL + 1, offsets)


def test_not_imported_lines_have_a_reason_in_the_file() -> None:
    text = text_of(made_of(read_crontab(MACHINE, "/etc/crontab", tz="Europe/Rome")), "toml")
    head = text.partition("app =")[0]
    for words in (
        "line 5: MAILTO=root: Tickbird sends no mail",
        "line 23: @reboot root /srv/shop/bin/start: it runs when the machine starts",
        "line 40: 60 * * * * root /srv/shop/bin/wrong-minute",
        "line 41: 0 0 31 4 * root /srv/shop/bin/no-such-day",
        "line 42: 0 5 * *: it has too few fields",
    ):
        assert f"#   {words}" in head, words
    assert "# line 30: 0 22 * * * shop /usr/bin/mysql" in text

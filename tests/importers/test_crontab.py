"""A crontab moves over: 40 lines as they stand on real machines."""

from __future__ import annotations

from typing import Any

import pytest

from tests.domain.test_cron_daemon import Daemon, changes, offset_at
from tests.importers.conftest import AFTER, UNTIL, check, made_of
from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.targets.command import CommandSpec
from tickbird.importers.crontab import read_crontab

CRONTAB = r"""
# the shop's own machine
SHELL=/bin/bash
PATH=/usr/local/sbin:/usr/local/bin:/usr/bin:/bin
MAILTO="ops@shop.example"
HOME=/srv/shop

0 3 * * * /usr/local/bin/backup --full
30 2 * * * nice -n 10 /srv/shop/bin/rotate >> /var/log/rotate.log 2>&1
*/5 * * * * /srv/shop/bin/poll
15 */2 * * * cd /srv/shop && ./manage.py clearsessions
0 9 * * 1-5 /srv/shop/bin/report | mail -s "report of $(date +\%F)" boss@shop.example
0 0 1 * * /srv/shop/bin/invoice
0 0 1,15 * fri /srv/shop/bin/pay
5 4 * * sun /srv/shop/bin/weekly
@daily /srv/shop/bin/daily
@weekly /srv/shop/bin/tidy
@reboot /srv/shop/bin/start
0 22 * * * /usr/bin/mysql shop%DELETE FROM carts%WHERE age > 30;%
10 1 * * * python3 /srv/shop/jobs/import_prices.py --all
20 1 * * * /usr/bin/python3 -m shop.sync
0 12 29 2 * /srv/shop/bin/leap
0 6 * jan,jul mon /srv/shop/bin/stock
45 23 28-31 * * [ "$(date -d tomorrow +\%d)" = 01 ] && /srv/shop/bin/close
0-59/10 8-18 * * * /srv/shop/bin/queue
59 23 31 12 * /srv/shop/bin/year
7 7 7 7 * /srv/shop/bin/seven
1 1 * * * /srv/shop/bin/same
2 1 * * * /srv/shop/bin/same
3 1 * * * /srv/shop/bin/same
0 3 30 2 * /srv/shop/bin/never
61 * * * * /srv/shop/bin/wrong
* * * *
CRON_TZ=America/New_York
30 2 * * * /srv/shop/bin/new-york
30 1 * * * /srv/shop/bin/twice
0 */4 * * 0,6 /srv/shop/bin/weekend
RANDOM_DELAY=10
0 5 * * * /srv/shop/bin/spread
TICKBIRD_URL=nothing
-0 4 * * * /srv/shop/bin/quiet
"""


def daemon(expression: str, tz: str) -> list[int]:
    """When a cron daemon would, minute by minute."""
    points = [AFTER + 1, *changes(tz, AFTER + 1, UNTIL, 5 * 86_400)]
    return Daemon(expression, tz).run(AFTER + 1, UNTIL + 1, [(point, offset_at(tz, point)) for point in points])


def test_forty_lines_move_over() -> None:
    made = made_of(read_crontab(CRONTAB, "crontab"))
    schedules = made.document.schedules
    assert len(schedules) == 27
    told = "\n".join(map(str, made.not_imported))
    for words in (
        "line 5: MAILTO=ops@shop.example: Tickbird sends no mail",
        "line 18: @reboot /srv/shop/bin/start: it runs when the machine starts",
        "line 31: 0 3 30 2 * /srv/shop/bin/never",
        "line 32: 61 * * * * /srv/shop/bin/wrong",
        "line 33: * * * *: it has too few fields",
        "line 40: TICKBIRD_URL=nothing: Tickbird sets these variables itself",
    ):
        assert words in told
    assert len(made.not_imported) == 6
    for name in ("backup", "rotate", "poll", "manage", "report", "mysql", "import_prices", "same", "same-2", "same-3"):
        assert name in schedules
    assert not made.differences, "clock changes are dealt with as cron does"
    lines = {"new-york": "30 2 * * *", "twice": "30 1 * * *", "weekend": "0 */4 * * 0,6"}
    check(made, {name: daemon(line, "America/New_York") for name, line in lines.items()})


def test_commands_have_the_same_effect_as_in_cron() -> None:
    schedules = made_of(read_crontab(CRONTAB, "crontab")).document.schedules

    def command(name: str) -> dict[str, Any]:
        program = schedules[name].target.spec
        assert isinstance(program, CommandSpec)
        assert str(dict(program.env)["PATH"]).startswith("/usr/local/sbin")
        assert program.folder == "/srv/shop"
        return {name: value for name, value in program.to_json().items() if name not in ("env", "folder")}

    assert command("backup") == {"program": "/usr/local/bin/backup", "args": ["--full"]}
    assert command("manage") == {"program": "/bin/bash", "shell": "cd /srv/shop && ./manage.py clearsessions"}
    assert command("report")["shell"].endswith('mail -s "report of $(date +%F)" boss@shop.example')
    assert command("mysql") == {
        "program": "/usr/bin/mysql",
        "args": ["shop"],
        "input": "DELETE FROM carts\nWHERE age > 30;\n",
    }
    plain = encode_definition(schedules["backup"])
    assert (plain["overlap"], plain["catch_up"], plain["grace"]) == ("allow", "skip", 600)
    assert (schedules["new-york"].trigger.tz, schedules["backup"].trigger.tz) == ("America/New_York", "UTC")
    assert (schedules["spread"].spread, schedules["weekend"].spread) == (600, 0)


SYSTEM = """
SHELL=/bin/sh
17 * * * * root cd / && run-parts --report /etc/cron.hourly
25 6 * * * root test -x /usr/sbin/anacron || run-parts /etc/cron.daily
@daily nobody /usr/bin/find /tmp -mtime +7 -delete
"""


@pytest.mark.parametrize("given", [{"source": "/etc/crontab"}, {"source": "-"}, {"source": "mine", "system": True}])
def test_the_systems_own_has_a_column_for_the_user(given: dict[str, Any]) -> None:
    made = made_of(read_crontab(SYSTEM, tz="Europe/Rome", **given))
    specs = {name: each.target.spec for name, each in made.document.schedules.items()}
    users = {name: spec.user for name, spec in specs.items() if isinstance(spec, CommandSpec)}
    assert users == {"run-parts": "root", "anacron": "root", "find": "nobody"}
    find = made.document.schedules["find"].target.spec
    assert isinstance(find, CommandSpec)
    # Nothing in it is for a shell, so none is needed.
    assert find.argv == ("/usr/bin/find", "/tmp", "-mtime", "+7", "-delete")
    assert made.document.schedules["find"].trigger.tz == "Europe/Rome"


def test_a_persons_has_none() -> None:
    made = made_of(read_crontab("0 3 * * * /bin/true\n0 4 * * * root\n", "mine"))
    assert list(made.document.schedules) == ["true", "root"]


@pytest.mark.parametrize(
    "text", ["", "\n# nothing\n", "FOO=bar\n", "\x00\n", "* * * * * \n", "a b c d e f", "%%%", "0 1 * * * \0 /x"]
)
def test_invalid_lines_are_not_imported(text: str) -> None:
    made = made_of(read_crontab(text, "crontab"))
    assert not made.document.schedules


def test_every_invalid_line_is_reported() -> None:
    text = "".join(f"{60 + number} * * * * /bin/true\n" for number in range(20))
    made = made_of(read_crontab(f"{text}0 3 * * * /bin/good\n", "crontab"))
    assert list(made.document.schedules) == ["good"]
    assert [each.line for each in made.not_imported] == [*range(1, 21)]
    assert all(str(60 + number) in each.reason for number, each in enumerate(made.not_imported))


# What stands in real crontabs and trips readers of lines.
ODD = """\
PATH="/usr/bin:/bin"\r
0 1 * * * date +\\%Y\\\\%in%two%\\%x\r
"TWO WORDS"=x
2X=x
0 2 * * * /bin/after\fform feed
5/15 * * * * /bin/step
CRON_TZ=Europe/Rome
0 3 * * * /bin/rome
CRON_TZ=
TZ=Asia/Tokyo
0 4 * * * /bin/home"""


def test_lines_end_and_settings_hold_as_in_cron() -> None:
    made = made_of(read_crontab(ODD, "crontab", tz="America/New_York"))
    found = made.document.schedules
    assert list(found) == ["date", "after-form", "step", "rome", "home"]
    date = found["date"].target.spec
    assert isinstance(date, CommandSpec)
    # The backslash before a backslash is no escape of the percent sign behind both.
    assert (date.argv[-1], date.input, dict(date.env)) == ("date +%Y\\\\", "in\ntwo\n%x\n", {"PATH": "/usr/bin:/bin"})
    assert [each.trigger.tz for each in found.values()] == [
        *["America/New_York"] * 3,
        "Europe/Rome",
        "America/New_York",
    ]
    assert [(each.line, each.reason[:23]) for each in made.not_imported] == [
        (3, "this is not a valid var"),
        (4, "this is not a valid var"),
    ]
    notes = {each.name: " ".join(each.notes) for each in made.imported.entries}
    assert "a single number" in notes["step"]
    assert "TZ only applies to the command" in notes["home"]


def test_only_the_undecodable_line_is_not_imported() -> None:
    text = b"# caf\xe9\nNAME=caf\xe9\n0 1 * * * /bin/caf\xe9\n0 2 * * * /bin/true".decode(errors="surrogateescape")
    made = made_of(read_crontab(text, "crontab"))
    assert list(made.document.schedules) == ["true"]
    assert [(each.line, each.reason.partition(".")[0]) for each in made.not_imported] == [
        (2, "it is not UTF-8"),
        (3, "it is not UTF-8"),
    ]
    assert "caf?" in str(made.not_imported[0])


def test_a_program_that_is_called_like_a_user_is_a_program() -> None:
    made = made_of(read_crontab("0 5 * * * backup --full\n0 6 * * * mail < /tmp/x\n", "mine"))
    specs = [each.target.spec for each in made.document.schedules.values()]
    assert all(isinstance(spec, CommandSpec) and spec.user is None for spec in specs)
    told = made_of(read_crontab("0 5 * * * root /bin/true\n", "-")).imported.notes
    assert any("--personal" in note for note in told)


def test_long_not_imported_line_is_shortened() -> None:
    made = made_of(read_crontab(f"0 1 * * * /bin/x {'a' * 200_000}\n", "crontab"))
    assert len(str(made.not_imported[0])) < 500

"""Import: schedules of other systems become a file for `tickbird apply`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from tickbird.cli.commands.files.ical import STDOUT
from tickbird.cli.options import Command, GlobalOptions, Group
from tickbird.cli.output import clean, print_result, warn
from tickbird.cli.shell_completion import file_names
from tickbird.domain.errors import InvalidError
from tickbird.domain.messages import count
from tickbird.domain.text import check_name

if TYPE_CHECKING:
    from tickbird.files.loader import Format
    from tickbird.importers.dst_differences import Horizon
    from tickbird.importers.entries import Imported
    from tickbird.importers.result import ImportResult

_DAY = 86_400
_MAX_NOTES = 1_000
_SPELLINGS = ("toml", "yaml", "json")


def _shared(function: Any) -> Any:
    """What every source has."""
    for option in (
        click.option("--days", type=click.IntRange(1, 3_660), default=730, help="Clock changes to compare; else 730."),
        click.option(
            "--format", "spelling", type=click.Choice(_SPELLINGS), help="Else by the name of --output, or TOML."
        ),
        click.option(
            "--output", "-o", type=click.Path(dir_okay=False), help="The file to write; else standard output."
        ),
        click.option("--shadow", is_flag=True, help="Each as a shadow: planned and recorded, and nothing runs."),
        click.option("--into", "app", metavar="APP", help="The app that the schedules are to belong to."),
    ):
        function = option(function)
    return function


@click.group("import", cls=Group)
def import_() -> None:
    """Make a file for `tickbird apply` of another system's schedules.

    What cannot be carried over becomes a remark that says why. Where the other system has another rule for clock
    changes, remarks name the days on which it makes a difference. Nothing is stored: look at the file, then apply it.
    """


@import_.command(cls=Command)
@click.argument("file", metavar="FILE", shell_complete=file_names)
@click.option("--system/--personal", default=None, help="With a column for the user, as /etc/crontab, or without.")
@_shared
@click.pass_obj
def crontab(settings: GlobalOptions, /, file: str, system: bool | None, **shared: Any) -> None:
    """A crontab; `-` is standard input, as of `crontab -l`.

    --tz is the zone of its machine, else UTC. CRON_TZ, SHELL, HOME and other variables, % and @daily mean what they
    mean to cron; @reboot is left out.
    """
    from tickbird.importers.crontab import read_crontab

    def read(_: Horizon) -> Imported:
        # A line that is no text is left out, and no reason to refuse the others.
        return read_crontab(_text(file, "surrogateescape"), file, system=system, tz=settings.tz or "UTC")

    _finish(settings, "crontab", read, **shared)


@import_.command(cls=Command)
@click.argument("file", metavar="FILE", shell_complete=file_names)
@_shared
@click.pass_obj
def kubernetes(settings: GlobalOptions, /, file: str, **shared: Any) -> None:
    """CronJobs, as YAML or JSON; `-` is standard input, as of `kubectl get cronjobs -A -o yaml`.

    --tz is the zone of the cluster, else UTC.
    """
    from tickbird.importers.kubernetes import read_cronjobs

    _finish(settings, "kubernetes", lambda _: read_cronjobs(_text(file), file, tz=settings.tz or "UTC"), **shared)


@import_.command(cls=Command)
@click.argument("file", metavar="FILE", shell_complete=file_names)
@click.option("--task", metavar="NAME", help="The task that all of them start (default: one of the event's name).")
@click.option("--zone", "zones", metavar="NAME=ZONE", multiple=True, help="The IANA zone of a zone in the calendar.")
@_shared
@click.pass_obj
def ical(settings: GlobalOptions, /, file: str, task: str | None, zones: tuple[str, ...], **shared: Any) -> None:
    """Events of a calendar, iCalendar (.ics); `-` is standard input.

    --tz is the zone of times without one, else UTC. Rules, EXDATE, RDATE, and occurrences that were moved or cancelled
    are carried over; events that are over are left out.
    """
    from tickbird.importers.ical import read_calendar, read_zone_names

    named = read_zone_names(zones)

    def read(horizon: Horizon) -> Imported:
        tz = settings.tz or "UTC"
        return read_calendar(_text(file), file, tz=tz, task=task, zones=named, after=horizon.after)

    _finish(settings, "ical", read, **shared)


@import_.command("celery-beat", cls=Command)
@click.argument("file", metavar="FILE", shell_complete=file_names)
@click.option("--trust-code", is_flag=True, help="Execute the file, in a process of its own, for what it computes.")
@click.option("--python", metavar="PATH", help="With --trust-code: an interpreter that has Celery; else that of this.")
@_shared
@click.pass_obj
def celery_beat(settings: GlobalOptions, /, file: str, trust_code: bool, python: str | None, **shared: Any) -> None:
    """A Python file that sets beat_schedule or CELERY_BEAT_SCHEDULE.

    It is read and not executed: what is written out there is carried over, and what only running it would tell is left
    out. With --trust-code it is executed, in a process of its own that must have Celery. --tz is the zone where the
    file sets none, else UTC.
    """
    from tickbird.importers.celery_beat import execute_settings, read_settings

    if trust_code:
        _text(file)
        executed = execute_settings(str(Path(file).absolute()), file, tz=settings.tz, python=python)
        _finish(settings, "celery-beat", lambda _: executed, **shared)
        return
    _finish(settings, "celery-beat", lambda _: read_settings(_text(file), file, tz=settings.tz), **shared)


@import_.command("django-celery-beat", cls=Command)
@click.argument("database", metavar="URL")
@_shared
@click.pass_obj
def django_celery_beat(settings: GlobalOptions, /, database: str, **shared: Any) -> None:
    """The database of django-celery-beat: sqlite:///path or postgresql://…, only read."""
    from tickbird.importers.databases import shown
    from tickbird.importers.django_celery_beat import read_database

    _finish(settings, "django-celery-beat", lambda _: read_database(database, shown(database)), **shared)


@import_.command(cls=Command)
@click.argument("database", metavar="URL")
@click.option("--trust-pickle", is_flag=True, help="Open the pickles: they execute whatever whoever wrote them wants.")
@click.option("--python", metavar="PATH", help="An interpreter that has APScheduler; else the one of this program.")
@_shared
@click.pass_obj
def apscheduler(
    settings: GlobalOptions, /, database: str, trust_pickle: bool, python: str | None, **shared: Any
) -> None:
    """The job store of APScheduler 3: sqlite:///path or postgresql://…, only read.

    Jobs are kept as pickles, and a pickle is a program: who can write to that table decides what opening it executes.
    They are opened only with --trust-pickle, in a process of their own, which needs APScheduler and what the arguments
    of the jobs are made of.
    """
    from tickbird.importers.apscheduler import read_jobs
    from tickbird.importers.databases import shown

    if not trust_pickle:
        raise InvalidError(
            "the jobs are pickles, and to open one is to execute what whoever wrote it wants;",
            field="trust-pickle",
            hint="if only you write to that database, say so with --trust-pickle.",
        )
    _finish(
        settings,
        "apscheduler",
        lambda horizon: read_jobs(database, shown(database), horizon, python=python),
        **shared,
    )


def _text(file: str, errors: str = "strict") -> str:
    from tickbird.files.loader import MAX_FILE

    try:
        if file == "-":
            data = sys.stdin.buffer.read(MAX_FILE + 1)
        else:
            with Path(file).open("rb") as opened:
                data = opened.read(MAX_FILE + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InvalidError(f"{file[:200]} cannot be read: {reason}.", field="file") from None
    if len(data) > MAX_FILE:
        raise InvalidError(
            f"{file[:200]} is larger than {MAX_FILE // 2**20} MiB;", field="file", hint="import it in parts."
        )
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode(errors=errors)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InvalidError(
            f"{file[:200]} is not UTF-8 from line {line} on;", field="file", hint="save it as UTF-8."
        ) from None


def _finish(
    settings: GlobalOptions,
    kind: str,
    read: Callable[[Horizon], Imported],
    *,
    app: str | None,
    output: str | None,
    spelling: str | None,
    days: int,
    shadow: bool,
) -> None:
    from tickbird.importers.dst_differences import Horizon
    from tickbird.importers.result import document_of, make, operator_notes_of, text_of

    now = int(time.time())
    horizon = Horizon(now, now + days * _DAY)
    imported = read(horizon)
    if shadow:
        imported.cast_shadows()
    output = None if output == STDOUT else output
    made = make(imported, check_name(app or kind, "app"), horizon)
    chosen = cast("Format", spelling or _by_name(output))
    text = text_of(made, chosen)
    if output is not None:
        try:
            Path(output).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InvalidError(f"{output[:200]} cannot be written: {error.strerror}.", field="output") from None
    for line in _summary(made):
        warn(line)
    if chosen == "json" and not settings.as_json:
        # A file of JSON has no place for remarks.
        for remark in operator_notes_of(made)[:_MAX_NOTES]:
            click.echo(clean(f"  {remark}"), err=True)

    if settings.as_json:
        print_result(settings, lambda: document_of(made), lambda _: None)
    elif output is None:
        click.echo(text, nl=False)


def _by_name(output: str | None) -> str:
    ending = "" if output is None else Path(output).suffix.lower().lstrip(".")
    return {"yml": "yaml"}.get(ending, ending) if ending in (*_SPELLINGS, "yml") else "toml"


def _summary(made: ImportResult) -> list[str]:
    lines = [f"{count(len(made.document.schedules), 'schedule')} from {made.imported.source}."]
    if made.off:
        lines.append(f"{count(len(made.off), 'schedule')} that it does not run now, only as remarks.")
    if made.not_imported:
        lines.append(
            f"{count(len(made.not_imported), 'thing')} left out: {made.not_imported[0]}"
            + (" …" if len(made.not_imported) > 1 else "")
        )
    if made.differences:
        which = sorted(made.differences)
        days = sorted({each.day.isoformat() for days in made.differences.values() for each in days})
        named = ", ".join(which[:3]) + (", …" if len(which) > 3 else "")
        on = ", ".join(days[:6]) + (", …" if len(days) > 6 else "")
        lines.append(f"clock changes: {count(len(which), 'schedule')} ({named}) not at the same instants on {on}.")
    return lines

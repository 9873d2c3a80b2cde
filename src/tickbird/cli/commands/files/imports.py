"""The `import` commands: convert schedules of other systems to a file for `tickbird apply`."""

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
    """Add the options of every source."""
    for option in (
        click.option(
            "--days",
            type=click.IntRange(1, 3_660),
            default=730,
            help="Number of coming days to check for DST differences from the other system (default: 730).",
        ),
        click.option(
            "--format", "spelling", type=click.Choice(_SPELLINGS), help="Format (default: by file extension, or toml)."
        ),
        click.option("--output", "-o", type=click.Path(dir_okay=False), help="File to write (default: stdout)."),
        click.option(
            "--shadow", is_flag=True, help="Import as shadow schedules: ticks are planned and recorded, nothing runs."
        ),
        click.option(
            "--into",
            "app",
            metavar="APP",
            help="App that will own the schedules (default: the source, such as crontab).",
        ),
    ):
        function = option(function)
    return function


@click.group("import", cls=Group)
def import_() -> None:
    """Convert another system's schedules to a file for `tickbird apply`.

    Settings that cannot be converted become comments with the reason. If the other system handles DST changes
    differently, comments list the days on which that matters. Nothing is stored: review the file, then apply it.
    """


@import_.command(cls=Command)
@click.argument("file", metavar="FILE", shell_complete=file_names)
@click.option(
    "--system/--personal",
    default=None,
    help="Lines have a user column, as in /etc/crontab, or not (default: detect it).",
)
@_shared
@click.pass_obj
def crontab(settings: GlobalOptions, /, file: str, system: bool | None, **shared: Any) -> None:
    """Import a crontab. Use - for stdin, for example from `crontab -l`.

    --tz is the time zone of the machine (default: UTC). CRON_TZ, SHELL, HOME, other variables, % and @daily work as
    in cron. @reboot is not imported.
    """
    from tickbird.importers.crontab import read_crontab

    def read(_: Horizon) -> Imported:
        # An undecodable line is skipped. The other lines are imported.
        return read_crontab(_text(file, "surrogateescape"), file, system=system, tz=settings.tz or "UTC")

    _finish(settings, "crontab", read, **shared)


@import_.command(cls=Command)
@click.argument("file", metavar="FILE", shell_complete=file_names)
@_shared
@click.pass_obj
def kubernetes(settings: GlobalOptions, /, file: str, **shared: Any) -> None:
    """Import CronJobs from YAML or JSON. Use - for stdin, for example from `kubectl get cronjobs -A -o yaml`.

    --tz is the time zone of the cluster (default: UTC).
    """
    from tickbird.importers.kubernetes import read_cronjobs

    _finish(settings, "kubernetes", lambda _: read_cronjobs(_text(file), file, tz=settings.tz or "UTC"), **shared)


@import_.command(cls=Command)
@click.argument("file", metavar="FILE", shell_complete=file_names)
@click.option("--task", metavar="NAME", help="Task that all schedules start (default: the event's name).")
@click.option(
    "--zone",
    "zones",
    metavar="NAME=ZONE",
    multiple=True,
    help="IANA time zone for a zone name in the calendar; repeatable.",
)
@_shared
@click.pass_obj
def ical(settings: GlobalOptions, /, file: str, task: str | None, zones: tuple[str, ...], **shared: Any) -> None:
    """Import the events of an iCalendar file (.ics). Use - for stdin.

    --tz is the time zone of times without one (default: UTC). Rules, EXDATE, RDATE, and moved or cancelled occurrences
    are imported. Past events are not imported.
    """
    from tickbird.importers.ical import read_calendar, read_zone_names

    named = read_zone_names(zones)

    def read(horizon: Horizon) -> Imported:
        tz = settings.tz or "UTC"
        return read_calendar(_text(file), file, tz=tz, task=task, zones=named, after=horizon.after)

    _finish(settings, "ical", read, **shared)


@import_.command("celery-beat", cls=Command)
@click.argument("file", metavar="FILE", shell_complete=file_names)
@click.option("--trust-code", is_flag=True, help="Execute the file in a child process, to read computed values.")
@click.option(
    "--python", metavar="PATH", help="With --trust-code: Python interpreter that has Celery (default: Tickbird's own)."
)
@_shared
@click.pass_obj
def celery_beat(settings: GlobalOptions, /, file: str, trust_code: bool, python: str | None, **shared: Any) -> None:
    """Import a Python file that sets beat_schedule or CELERY_BEAT_SCHEDULE.

    The file is parsed, not executed: literal values are imported, computed values are not. With --trust-code, a child
    process that has Celery executes it. --tz is the time zone if the file sets none (default: UTC).
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
    """Import the tables of django-celery-beat from sqlite:///path or postgresql://…. The database is only read."""
    from tickbird.importers.databases import shown
    from tickbird.importers.django_celery_beat import read_database

    _finish(settings, "django-celery-beat", lambda _: read_database(database, shown(database)), **shared)


@import_.command(cls=Command)
@click.argument("database", metavar="URL")
@click.option("--trust-pickle", is_flag=True, help="Unpickle the stored jobs. This can execute arbitrary code.")
@click.option("--python", metavar="PATH", help="Python interpreter that has APScheduler (default: Tickbird's own).")
@_shared
@click.pass_obj
def apscheduler(
    settings: GlobalOptions, /, database: str, trust_pickle: bool, python: str | None, **shared: Any
) -> None:
    """Import the job store of APScheduler 3 from sqlite:///path or postgresql://…. The database is only read.

    Jobs are stored as pickles. Unpickling executes any code that a writer of that table put there. Therefore you must
    give --trust-pickle. A child process unpickles the jobs. It needs APScheduler and the classes of the arguments.
    """
    from tickbird.importers.apscheduler import read_jobs
    from tickbird.importers.databases import shown

    if not trust_pickle:
        raise InvalidError(
            "trust-pickle: the jobs are pickles, and unpickling can execute arbitrary code.",
            field="trust-pickle",
            hint="If you trust everyone who can write to that database, give --trust-pickle.",
        )
    _finish(
        settings,
        "apscheduler",
        lambda horizon: read_jobs(database, shown(database), horizon, python=python),
        **shared,
    )


@import_.command("pg_cron", cls=Command)
@click.argument("source", metavar="URL|FILE", shell_complete=file_names)
@click.option(
    "--database",
    metavar="NAME",
    help="Database of the store: jobs of other databases are not imported (default: the database of all jobs).",
)
@_shared
@click.pass_obj
def pg_cron(settings: GlobalOptions, /, source: str, database: str | None, **shared: Any) -> None:
    """Import the table cron.job from postgresql://…, or from a JSON or CSV file of its rows. Use - for stdin.

    Calls of functions, such as SELECT cleanup(), become SQL targets with the role of the job. SQL of other commands is
    never executed: a comment has the CREATE FUNCTION to use instead. --tz is the time zone (default: cron.timezone of
    the server, or UTC).
    """
    from tickbird.importers.databases import shown
    from tickbird.importers.pg_cron import read_dump, read_server

    def read(_: Horizon) -> Imported:
        if "://" in source:
            return read_server(source, shown(source), database=database, tz=settings.tz)
        return read_dump(_text(source), source, database=database, tz=settings.tz)

    _finish(settings, "pg_cron", read, **shared)


@import_.command("light-portal", cls=Command)
@click.argument("source", metavar="URL|FILE", shell_complete=file_names)
@_shared
@click.pass_obj
def light_portal(settings: GlobalOptions, /, source: str, **shared: Any) -> None:
    """Import the table schedule_t from postgresql://…, or from a JSON or CSV file of its rows. Use - for stdin.

    Each row becomes a schedule that publishes events. Inactive schedules become comments. The database is only read.
    """
    from tickbird.importers.databases import shown
    from tickbird.importers.light_portal import read_database, read_dump

    def read(_: Horizon) -> Imported:
        return read_database(source, shown(source)) if "://" in source else read_dump(_text(source), source)

    _finish(settings, "light-portal", read, **shared)


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
        raise InvalidError(
            f"{file[:200]} cannot be read: {reason}.", field="file", hint="Check the path and the permissions."
        ) from None
    if len(data) > MAX_FILE:
        raise InvalidError(
            f"{file[:200]} is larger than {MAX_FILE // 2**20} MiB.", field="file", hint="Import it in parts."
        )
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode(errors=errors)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InvalidError(
            f"{file[:200]} is not UTF-8 in line {line}.", field="file", hint="Save it as UTF-8."
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
    result = make(imported, check_name(app or kind, "app"), horizon)
    chosen = cast("Format", spelling or _by_name(output))
    text = text_of(result, chosen)
    if output is not None:
        try:
            Path(output).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InvalidError(
                f"{output[:200]} cannot be written: {error.strerror}.",
                field="output",
                hint="Check the folder and its permissions.",
            ) from None
    for line in _summary(result):
        warn(line)
    if chosen == "json" and not settings.as_json:
        # JSON has no comments.
        for remark in operator_notes_of(result)[:_MAX_NOTES]:
            click.echo(clean(f"  {remark}"), err=True)

    if settings.as_json:
        print_result(settings, lambda: document_of(result), lambda _: None)
    elif output is None:
        click.echo(text, nl=False)


def _by_name(output: str | None) -> str:
    ending = "" if output is None else Path(output).suffix.lower().lstrip(".")
    return {"yml": "yaml"}.get(ending, ending) if ending in (*_SPELLINGS, "yml") else "toml"


def _summary(result: ImportResult) -> list[str]:
    lines = [f"{count(len(result.document.schedules), 'schedule')} imported from {result.imported.source}."]
    if result.off:
        more = " …" if len({entry.off for entry in result.off}) > 1 else ""
        lines.append(f"{count(len(result.off), 'schedule')} written as comments, because {result.off[0].off}{more}.")
    if result.not_imported:
        lines.append(
            f"{count(len(result.not_imported), 'item')} not imported: {result.not_imported[0]}"
            + (" …" if len(result.not_imported) > 1 else "")
        )
    if result.differences:
        names = sorted(result.differences)
        days = sorted({change.day.isoformat() for changes in result.differences.values() for change in changes})
        named = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        on = ", ".join(days[:6]) + (", …" if len(days) > 6 else "")
        lines.append(f"DST changes: {count(len(names), 'schedule')} ({named}) with different instants on {on}.")
    return lines

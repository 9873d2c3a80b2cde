"""Importer of pg_cron: calls of functions become SQL targets. Every other command needs a function first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from tickbird.domain.errors import InvalidError
from tickbird.domain.targets.sql import SqlSpec
from tickbird.domain.time.zone_data import zone_info
from tickbird.domain.triggers.cron.cron import cron
from tickbird.importers.databases import fetch, read_rows
from tickbird.importers.entries import Fires, Imported, ImportedSchedule, name_of, short
from tickbird.store.shared.sql import load_statements

_NAME: Final = r'(?:[A-Za-z_][A-Za-z0-9_]{0,62}|(?-i:"[a-z_][a-z0-9_]{0,62}"))'
_CALL: Final = re.compile(
    rf"\s*SELECT\s+(?:\*\s+FROM\s+)?((?:{_NAME}\s*\.\s*)?{_NAME})\s*\(\s*\)\s*;?\s*", re.ASCII | re.IGNORECASE
)
_SECONDS: Final = re.compile(r"\s*(\d{1,2})\s+seconds?\s*", re.ASCII | re.IGNORECASE)
_MACROS: Final = ("@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually")
# Commands that PostgreSQL refuses in functions.
_NOT_IN_FUNCTIONS: Final = re.compile(
    r"(?:^|;)\s*(VACUUM|(?:CREATE|DROP|ALTER)\s+DATABASE|(?:CREATE|DROP)\s+TABLESPACE|ALTER\s+SYSTEM|BEGIN|COMMIT|ROLLBACK"
    r"|START\s+TRANSACTION|(?:CREATE(?:\s+UNIQUE)?\s+INDEX|DROP\s+INDEX|REINDEX\s+\w+)\s+CONCURRENTLY)\b",
    re.IGNORECASE,
)
_OWN_TABLES: Final = re.compile(r"\s*DELETE\s+FROM\s+cron\.job_run_details\b[^;]*;?\s*", re.IGNORECASE)
_LOCAL: Final = ("", "localhost", "127.0.0.1", "::1")
_COLUMNS: Final = ("jobid", "schedule", "command")
_MAX_SHOWN: Final = 10_000
_DUMP_HINT: Final = "Write it with `psql -c '\\copy cron.job TO jobs.csv CSV HEADER'`, or as JSON: a list of the rows."
_NOTES: Final = (
    "pg_cron never runs a job twice at once, but one after the other: therefore overlap = queue.",
    "It ignores missed times: therefore catch_up.",
    "A function returns jsonb, such as tickbird.result(true, 'done'). `tickbird apply` refuses other functions.",
)

Job = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Server:
    """The facts of the server; those of a dump are unknown."""

    tz: str = "UTC"
    # The functions of the store's database by schema and name, and whether a run can call them; None if unknown.
    functions: Mapping[tuple[str, str], bool] | None = None


def read_server(url: str, source: str, *, database: str | None = None, tz: str | None = None) -> Imported:
    """Read the table cron.job. `database` is the database of the store, `tz` the default of cron.timezone."""
    statements = load_statements("tickbird.importers", "pg_cron")
    [facts] = fetch(url, statements["server"])
    jobs = [row["job"] for row in fetch(url, statements["jobs"])]
    database = _choose_database(jobs, database)
    functions = None
    if database == facts["database"]:
        rows = fetch(url, statements["functions"])
        functions = {(row["schema"], row["name"]): bool(row["is_callable"]) for row in rows}
    imported = _import(jobs, source, database, _Server(_zone(tz or facts["timezone"]), functions))
    if not facts["sees_all"]:
        imported.notes.append("This login sees only its own jobs. Import as a superuser to see the jobs of all roles.")
    return imported


def read_dump(text: str, source: str, *, database: str | None = None, tz: str | None = None) -> Imported:
    """Read the rows of cron.job as a list of JSON objects, or as CSV with a header."""
    jobs = read_rows(text, source, _COLUMNS, _DUMP_HINT)
    imported = _import(jobs, source, _choose_database(jobs, database), _Server(_zone(tz)))
    imported.notes.append(f"Times are in {_zone(tz)}. If cron.timezone has another value, use --tz.")
    return imported


def _choose_database(jobs: Sequence[Job], database: str | None) -> str | None:
    """Return the database of the store: the given one, or that of all jobs."""
    names = sorted({str(job["database"]) for job in jobs if job.get("database")})
    if database is None and len(names) > 1:
        raise InvalidError(
            f"the jobs run in several databases: {', '.join(names[:10])}.",
            field="database",
            hint="SQL functions run in the store's database: name it with --database.",
        )
    return database or (names[0] if names else None)


def _zone(tz: str | None) -> str:
    return "UTC" if tz in (None, "GMT") else tz


def _import(jobs: Sequence[Job], source: str, database: str | None, server: _Server) -> Imported:
    imported = Imported("pg_cron", source, notes=list(_NOTES))
    roles = set[str]()
    for job in jobs:
        origin = short(f"{job.get('schedule')} {job.get('command')}")
        try:
            entry = _entry(job, origin, database, server)
        except ValueError as error:
            imported.leave(origin, str(error))
            continue
        imported.add(entry)
        if role := entry.fields[SqlSpec.kind].get("role"):
            roles.add(role)
    if roles:
        calls = " ".join(f"SELECT tickbird.allow_job_role({_literal(role)});" for role in sorted(roles)[:20])
        imported.notes.append(f"An administrator allows the roles to execute jobs: {calls}")
    return imported


def _entry(job: Job, origin: str, database: str | None, server: _Server) -> ImportedSchedule:
    schedule, command = job.get("schedule"), job.get("command")
    if not isinstance(schedule, str) or not isinstance(command, str) or not command.strip():
        raise ValueError("it has no schedule or no command")
    if job.get("database") not in (None, "", database):
        raise ValueError(f"it runs in database {job['database']}, but SQL functions run in the store's, {database}")
    host = str(job.get("nodename") or "")
    if host not in _LOCAL and not host.startswith("/"):
        raise ValueError(f"it runs on the server {host}. Import it for a store on that server")
    if _OWN_TABLES.fullmatch(command):
        raise ValueError("it cleans up pg_cron's own table and is not needed")
    if match := _NOT_IN_FUNCTIONS.search(command):
        raise ValueError(
            f"{' '.join(match[1].upper().split())} cannot be executed in a function. Leave it in pg_cron, or let an app"
            " register it as a statement"
        )
    call = _CALL.fullmatch(command)
    function = None if call is None else "".join(call[1].replace('"', "").split()).lower()
    name = str(job.get("jobname") or (function or "").rpartition(".")[2] or f"job-{job.get('jobid')}")
    entry = ImportedSchedule(name, {}, origin)
    _set_trigger(schedule, server.tz, entry)
    role = job.get("username")
    entry.fields |= {"overlap": "queue", "catch_up": "skip", "grace": "10m"}
    problem = "its command is not a call of a function without arguments" if function is None else None
    if function is not None:
        function, problem = _check_function(function, server.functions)
    if problem is not None:
        function = f"public.{_identifier(name)}"
        entry.off = problem
        entry.notes += _wrapper(function, command)
    entry.fields[SqlSpec.kind] = {"function": function, **({"role": str(role)} if role else {})}
    if problem is None and str(job.get("active", "t")).lower() in ("f", "false"):
        entry.off = "it is not active"
    return entry


def _set_trigger(schedule: str, tz: str, entry: ImportedSchedule) -> None:
    if (match := _SECONDS.fullmatch(schedule)) and 1 <= int(match[1]) <= 59:
        entry.fields["every"] = f"{int(match[1])}s"
        entry.notes.append("pg_cron counts the seconds from the last start. Tickbird has a fixed grid.")
        return
    words = schedule.split()
    if words[:1] in (["@reboot"], ["@restart"]):
        raise ValueError("it runs when the server starts, which is not a time")
    if len(words) == 1 and words[0] in _MACROS:
        expr = words[0]
    elif len(words) == 5:
        # $ is the last day of the month.
        words[2] = re.sub(r"(?<![^,])\$(?![^,])", "L", words[2])
        expr = " ".join(words)
    else:
        raise ValueError(f"{short(schedule)!r} has {len(words)} fields instead of 5")
    try:
        cron(expr)
    except InvalidError as error:
        raise ValueError(str(error).rstrip(".")) from None
    entry.fields |= {"cron": expr, "tz": tz}
    if tz != "UTC":
        entry.fires = _fires(expr, tz)


def _fires(expr: str, tz: str) -> Fires:
    """Return the firings of pg_cron, which compares the local time of each minute: repeated times fire twice."""

    def fires(after: int, until: int) -> Iterator[int]:
        # The same expression in UTC yields local times.
        info, clock = zone_info(tz), cron(expr)
        instants = set[int]()
        wall = clock.next_tick(after - 86_400)
        while wall is not None and wall <= until + 86_400:
            local = datetime.fromtimestamp(wall, UTC).replace(tzinfo=None)
            for fold in (0, 1):
                instant = local.replace(tzinfo=info, fold=fold).astimezone(UTC)
                if instant.astimezone(info).replace(tzinfo=None, fold=0) == local:
                    instants.add(int(instant.timestamp()))
            wall = clock.next_tick(wall)
        return iter(sorted(instants))

    return fires


def _check_function(function: str, functions: Mapping[tuple[str, str], bool] | None) -> tuple[str, str | None]:
    """Return the function with its schema if that is known, and the reason why a run cannot call it."""
    schema, _, name = function.rpartition(".")
    if functions is None:
        is_system = schema == "pg_catalog" or (not schema and name.startswith("pg_"))
        return function, f"{function}() is a function of PostgreSQL" if is_system else None
    schemas = [place for place, title in functions if title == name and schema in ("", place)]
    if not schemas:
        return function, f"{function}() is a function of PostgreSQL, or does not exist"
    callable_in = sorted((place for place in schemas if functions[place, name]), key=lambda place: place != "public")
    if not callable_in:
        return function, f"{function}() does not return jsonb, or has other arguments"
    return f"{callable_in[0]}.{name}", None


def _identifier(name: str) -> str:
    """Return a name for a new function."""
    return "run_" + re.sub(r"[^a-z0-9_]+", "_", name_of(name).lower()).strip("_")[:55]


def _wrapper(function: str, command: str) -> list[str]:
    """Return comment lines with a function that executes the command. The import itself never executes it."""
    if len(command) > _MAX_SHOWN:
        return [f"Create a function {function}() with this command that returns jsonb. Then use this schedule:"]
    body = command.strip().rstrip(";").rstrip()
    # After a comment, it would be a part of the comment.
    end = "\n;" if "--" in body.rpartition("\n")[2] else ";"
    tag = next(tag for number in range(1_000) if (tag := f"$job{number or ''}$") not in command)
    return [
        "Create a function with this command, then use this schedule:",
        f"  CREATE FUNCTION {function}() RETURNS jsonb LANGUAGE sql AS {tag}",
        *(f"      {line}" for line in f"{body}{end}".splitlines()),
        "      SELECT tickbird.result(true, 'done');",
        f"  {tag};",
    ]


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

"""Every SQL snippet of the docs runs on PostgreSQL, with a worker; the block after it is its output.

The snippets of a page run in order, in one session. `…` in an output stands for any text.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest
from psycopg.pq import DiagnosticField, ExecStatus
from psycopg.pq.abc import PGresult

from lab.servers import PostgresServer
from tests.engine.test_sql_functions import working
from tests.store.postgres.database import Database
from tickbird.stores import open_store

ROOT = Path(__file__).parents[2]
# An output follows its snippet directly, in a block without a language.
SNIPPET = re.compile(r"^```sql\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)


class Snippet(NamedTuple):
    text: str
    output: str | None


def snippets(page: Path) -> Iterator[Snippet]:
    for text, output in SNIPPET.findall(page.read_text()):
        yield Snippet(text, output or None)


PAGES = [page for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if any(snippets(page))]


def statements(text: str) -> list[str]:
    """The statements of a snippet, which psql sends one by one."""
    parts = re.split(r";\n", text)
    # A semicolon inside of $$ ends no statement.
    for index in reversed(range(1, len(parts))):
        if "".join(parts[:index]).count("$$") % 2:
            parts[index - 1 : index + 1] = [";\n".join(parts[index - 1 : index + 1])]
    return [part for part in parts if part.strip()]


def printed(result: PGresult) -> list[list[str]]:
    """The cells of each line that psql prints, or the lines of an error."""
    if result.status not in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
        fields = {"ERROR": DiagnosticField.MESSAGE_PRIMARY, "HINT": DiagnosticField.MESSAGE_HINT}
        texts = {title: result.error_field(field) for title, field in fields.items()}
        return [[f"{title}:  {text.decode()}"] for title, text in texts.items() if text]
    columns = range(result.nfields)
    names = [(result.fname(column) or b"").decode() for column in columns]
    values = [[result.get_value(row, column) for column in columns] for row in range(result.ntuples)]
    return [names, *([(value or b"").decode() for value in row] for row in values)]


def expected(output: str) -> list[list[str]]:
    """The same of a block; rules and the number of rows are left out."""
    lines = [line for line in output.splitlines() if not re.fullmatch(r"[-+]+|\(\d+ rows?\)|", line.strip())]
    if lines[0].startswith("ERROR"):
        return [[line] for line in lines]
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def matches(pattern: str, text: str) -> bool:
    return re.fullmatch(".*".join(re.escape(part) for part in pattern.split("…")), text, re.DOTALL) is not None


def check(snippet: Snippet, result: PGresult) -> None:
    lines = printed(result)
    if snippet.output is None:
        assert result.status in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK), f"{snippet.text}\n{lines}"
        return
    wanted = expected(snippet.output)
    assert len(lines) == len(wanted), f"{snippet.text}\n{lines}"
    for line, cells in zip(lines, wanted, strict=True):
        assert len(line) == len(cells), f"{snippet.text}\n{line}"
        for text, pattern in zip(line, cells, strict=True):
            assert matches(pattern, text), f"{snippet.text}\n{text!r} instead of {pattern!r}"


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in PAGES])
async def test_snippets_run_and_print_their_output(page: Path) -> None:
    """The snippets create roles, which all databases of a server share."""
    with PostgresServer() as server:
        url = server.create_database()
        await open_store(url).migrate()
        await run(page, url)


async def test_snippets_run_on_an_older_server_with_an_ordinary_login(debian_postgres: int) -> None:
    """The owner of the store is not a superuser, and has the name that the page uses."""
    page = ROOT / "docs" / "sql-jobs.md"
    [login] = re.findall(r"TICKBIRD_URL=postgresql://(\w+)@", page.read_text())
    with PostgresServer(debian_postgres) as server:
        database = Database(server.create_database())
        name = database.url.rpartition("/")[2]
        await database.execute(f"CREATE ROLE {login} LOGIN CREATEROLE")
        await database.execute(f"ALTER DATABASE {name} OWNER TO {login}")
        await database.execute(f"ALTER SCHEMA public OWNER TO {login}")
        url = database.url.replace("postgres@", f"{login}@")
        await open_store(url).migrate()
        await run(page, url)


async def run(page: Path, url: str) -> None:
    """Run all snippets of a page."""
    async with working(Database(url)):
        with closing(psycopg.connect(url, autocommit=True)) as connection:
            for snippet in snippets(page):
                *setup, shown = statements(snippet.text)
                for text in setup:
                    check(Snippet(text, None), await asyncio.to_thread(connection.pgconn.exec_, text.encode()))
                result = await asyncio.to_thread(connection.pgconn.exec_, shown.encode())
                check(Snippet(shown, snippet.output), result)


# Functions that other functions and triggers of the schema use.
INTERNAL = {
    "role_is",
    "role_owns",
    "parse_function_name",
    "job_signature",
    "resolve_run_function",
    "record_job_function",
    "require",
    "job_role",
    "trigger_as",
    "pause_as",
    "resume_as",
    "reschedule_as",
    "enqueue_as",
    "cancel_as",
    "actor",
    "begin_job",
    "caller",
    "caller_is",
    "is_own_job",
    "may_see_job",
    "job_definition",
    "job_enabled",
    "job_lock",
    "job_of",
    "job_owner",
    "job_wrapper",
    "lock_schedule_for_change",
    "mirror_job",
    "request_change",
    "resolve_job_function",
    "run_job",
}


async def test_page_has_every_column_and_function(migrated_url: str) -> None:
    page = (ROOT / "docs" / "sql-jobs.md").read_text()
    database = Database(migrated_url)
    columns = await database.execute(
        "SELECT table_name, column_name FROM information_schema.columns "
        "WHERE table_schema = 'tickbird' AND table_name LIKE 'scheduled_job%%'"
    )
    assert len({table for table, _ in columns}) == 4
    assert [row for row in columns if f"`{row[1]}`" not in page] == []
    migrations = ROOT / "src" / "tickbird" / "store" / "postgres" / "migrations"
    files = [file for pattern in ("*_scheduled_jobs.sql", "*_sql_*.sql") for file in migrations.glob(pattern)]
    assert len(files) >= 3
    functions = {
        name
        for file in files
        for name, result in re.findall(
            r"CREATE FUNCTION tickbird\.(\w+)\(.*?\) RETURNS (\w+)", file.read_text(), re.DOTALL
        )
        if result != "trigger"
    }
    assert "trigger_scheduled_job" in functions
    assert {name for name in functions - INTERNAL if f"`tickbird.{name}(" not in page} == set()


def test_a_page_has_snippets_with_output() -> None:
    assert sum(snippet.output is not None for page in PAGES for snippet in snippets(page)) >= 10

"""Does the number of old runs matter? The same work with ten thousand of them and with ten million."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql

from bench.common import Options, Report, Samples, Table, figure, say, step
from bench.database import DUE, Schedules, server, version
from tickbird import every
from tickbird.client import Client, StoreClient
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.runs.leases import ClaimResult
from tickbird.domain.runs.run import Outcome
from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.workers import Worker
from tickbird.store.postgres import PostgresStore
from tickbird.store.postgres.database.connection import Connections
from tickbird.store.postgres.database.schema_name import STATEMENTS as POSTGRES
from tickbird.store.protocol.store import Store
from tickbird.store.shared.sql import load_statements
from tickbird.store.sqlite import SqliteStore
from tickbird.store.sqlite.database.statements import SQL as SQLITE

STATEMENTS: Final = load_statements("bench", "history")
# A slot is ten minutes of the grid.
SLOT: Final = 600
MINUTES: Final = Definition(trigger=every(minutes=10), target=Target("noop"), overlap="allow")
TENTH: Final = Definition(trigger=every(seconds=10), target=Target("noop"), overlap="allow")
BUSY, OTHER = "s1", "s2"
# Few enough that each has enough runs for a page, even if only ten thousand are stored.
SCHEDULES: Final = 100
# The number of runs of the busy schedule per slot, in addition to one of each other schedule.
OFTEN: Final = 60
WORKER: Final = Worker(id="w1", namespace="default", app="bench", host="here", pid=1, version="0")
# A duration counts as longer if it exceeds both this factor and this number of seconds.
TIMES, APART = 2.0, 0.002
# The maximum of 8 KB blocks that a page or a hot statement may read: a thousand rows take as many.
BLOCKS: Final = 6_000
HOT: Final = (
    "peek_due",
    "lock_due",
    "read_active",
    "write_plans",
    "claim_runs",
    "renew_runs",
    "succeed_runs",
    "finish_runs",
)


@dataclass
class Side:
    """One store with this number of old runs, and its measurements."""

    name: str
    store: Store
    runs: int
    slots: int
    round: int = 0
    durations: dict[str, float] = field(default_factory=dict)

    @property
    def client(self) -> Client:
        return StoreClient(self.store)

    @property
    def middle(self) -> datetime:
        """A tick of all schedules, half-way through the history."""
        return DUE - timedelta(seconds=SLOT * (self.slots // 2))


async def measure(options: Options, report: Report) -> None:
    """PostgreSQL, then SQLite."""
    schedules = options.size(SCHEDULES, 20)
    with server() as running:
        report.facts["PostgreSQL"] = f"{version(running.url)}, fsync on, loopback TCP"
        urls = {"few": running.create_database(), "many": running.create_database()}
        sides = [
            await _on_postgres("few", urls["few"], options.size(10_000, 1_000), schedules),
            await _on_postgres("many", urls["many"], options.size(10_000_000, 4_000), schedules),
        ]
        await _compare("PostgreSQL", sides, options, report)
        _scans(urls["many"], sides[1], options, report)
    folder = Path(tempfile.mkdtemp(prefix="tickbird-history-"))
    try:
        sides = [
            await _on_sqlite("few", folder, options.size(10_000, 1_000), schedules),
            await _on_sqlite("many", folder, options.size(1_000_000, 4_000), schedules),
        ]
        await _compare("SQLite", sides, options, report)
        _lite_scans(folder / "many.db", report)
    finally:
        shutil.rmtree(folder)


def _slots(runs: int, schedules: int) -> int:
    return max(2, round(runs / (OFTEN + schedules - 1)))


async def _on_postgres(name: str, url: str, runs: int, schedules: int) -> Side:
    stored = Schedules(url)
    slots = _slots(runs, schedules)
    with step(f"PostgreSQL: stored {slots * (OFTEN + schedules - 1):,} runs that have ended"):
        await stored.make(schedules, (MINUTES,))
        stored.execute("SET session_replication_role = replica")
        stored.execute("SET synchronous_commit = off")
        stored.execute(STATEMENTS["redefine"], {"second": json.dumps(encode_definition(TENTH))})
        indexes = stored.execute(STATEMENTS["indexes"])
        for index, _ in indexes:
            stored.execute(f"DROP INDEX tickbird.{index}")
        for first in range(slots, 0, -5_000):
            bounds = {
                "first": first,
                "last": max(1, first - 4_999),
                "schedules": schedules,
                "due": int(DUE.timestamp()),
            }
            stored.execute(STATEMENTS["fill_slots"], bounds)
        for _, statement in indexes:
            stored.execute(statement)
        stored.execute("VACUUM (ANALYZE)")
        stored.execute("CHECKPOINT")
    [(count, *_)] = stored.execute("SELECT count(*) FROM tickbird.runs")
    stored.close()
    store = PostgresStore(url)
    await store.open()
    return Side(name, store, count, slots)


async def _on_sqlite(name: str, folder: Path, runs: int, schedules: int) -> Side:
    file = folder / f"{name}.db"
    slots = _slots(runs, schedules)
    store = SqliteStore(f"sqlite:///{file}")
    await store.open()
    with step(f"SQLite: stored {slots * (OFTEN + schedules - 1):,} runs that have ended"):
        before = DUE - timedelta(seconds=SLOT - 1)
        for number in range(1, schedules + 1):
            definition = TENTH if number == 1 else MINUTES
            create = Create(actor="bench", namespace="default", definition=definition)
            await store.schedules.change("default", f"s{number}", create, now=before)
        with closing(sqlite3.connect(file)) as db:
            values = {"first": slots, "last": 1, "schedules": schedules, "due": int(DUE.timestamp())}
            db.execute(STATEMENTS["lite_fill"], values)
            db.execute(STATEMENTS["lite_counters"])
            db.execute(STATEMENTS["lite_redefine"])
            db.commit()
            [(count,)] = db.execute("SELECT count(*) FROM runs").fetchall()
    return Side(name, store, count, slots)


async def _compare(title: str, sides: Sequence[Side], options: Options, report: Report) -> None:
    """Everything on each side, interleaved, so that changes of the machine's load affect both."""
    rounds = options.size(15, 2)
    samples = {side.name: Samples() for side in sides}
    for number in range(rounds + 1):
        for side in sides if number % 2 else sides[::-1]:
            side.round = number
            side.durations = {}
            await _work(side)
            for name, question in QUESTIONS.items():
                # On a file, doctor checks every page for damage.
                if (title, name) != ("SQLite", "doctor"):
                    await _time(side, name, question)
            if number:  # the first round only warms the caches
                for name, seconds in side.durations.items():
                    samples[side.name].add(name, 1_000 * seconds)
    few, many = (samples[side.name] for side in sides)
    rows = []
    for name in few.values:
        pairs = [late / early for early, late in zip(few.values[name], many.values[name], strict=True)]
        few_ms, many_ms = few.median(name), many.median(name)
        ratio = many_ms / few_ms
        rows.append([name, few_ms, many_ms, ratio, f"{figure(min(pairs))} – {figure(max(pairs))}"])
        report.samples[f"{title}, {name}: few"] = few.values[name]
        report.samples[f"{title}, {name}: many"] = many.values[name]
        if not options.quick:
            same = ratio <= TIMES or many_ms - few_ms <= 1_000 * APART
            report.hold(f"{title}: {name}", f"≤ {TIMES:.0f} × or 2 ms more", ratio, same)
    counts = [f"{side.runs:,}" for side in sides]
    note = (
        f"Medians of {rounds} rounds, in ms; one of {options.size(SCHEDULES, 20):,} schedules has a third of the runs."
    )
    columns = ("work", f"{counts[0]} runs", f"{counts[1]} runs", "ratio", "min – max")
    report.tables.append(Table(f"{title}: the same work with few and with many old runs", columns, rows, note))
    for side in sides:
        await side.store.close()


async def _time(side: Side, name: str, question: Callable[[Side], Awaitable[Any]]) -> Any:
    began = time.perf_counter()
    result = await question(side)
    side.durations[name] = side.durations.get(name, 0.0) + time.perf_counter() - began
    return result


async def _work(side: Side) -> None:
    """The next ten minutes: every schedule is due, every run is claimed and succeeds, and some old ones are pruned."""
    store = side.store
    now = DUE + timedelta(seconds=SLOT * side.round, milliseconds=200)
    while (await _time(side, "plan due schedules", lambda _: store.planning.plan_due(500, now=now))).more:
        pass
    while True:
        claimed = await _time(side, "claim", partial(_claim, now))
        if not claimed.runs:
            break
        done = [Outcome(run.id, run.attempt, "succeeded", result=1) for run in claimed.runs]
        await _time(side, "finish", partial(_finish, done, now))
    # Each round has two more slots to prune from, which have more than a batch.
    oldest = DUE - timedelta(seconds=SLOT * side.slots)
    age = max(0.0, (now - oldest).total_seconds() - 2 * SLOT * (side.round + 1))
    await _time(side, "prune a batch of 200", lambda _: store.runs.prune(older_than=age, keep=2, limit=200, now=now))


async def _claim(now: datetime, side: Side) -> ClaimResult:
    return await side.store.leases.claim(WORKER, 500, 60, queues=("default",), targets=[("task", "noop")], now=now)


async def _finish(done: Sequence[Outcome], now: datetime, side: Side) -> None:
    await side.store.leases.finish(done, now=now)


def _runs(**filters: Any) -> Callable[[Side], Awaitable[Any]]:
    return lambda side: side.client.runs.list(**filters)


async def _show(side: Side) -> None:
    client = side.client
    await client.schedules.get(BUSY)
    await client.ticks.next(BUSY, 5)
    await client.runs.list(schedule=BUSY, limit=10)
    await client.runs.list_active(BUSY)
    await client.revisions.list(BUSY)


QUESTIONS: Final[dict[str, Callable[[Side], Awaitable[Any]]]] = {
    "doctor": lambda side: side.store.inspect("default"),
    "ls": lambda side: side.client.schedules.list(limit=100),
    "show": _show,
    "runs, first page": _runs(),
    "runs, a page in the middle": lambda side: side.client.runs.list(before=side.runs // 2),
    "runs of a schedule": _runs(schedule=OTHER, limit=50),
    "runs of the busy schedule": _runs(schedule=BUSY),
    "runs of the busy schedule, in the middle": lambda side: side.client.runs.list(
        schedule=BUSY, before=side.runs // 2
    ),
    "failed runs": _runs(status="failed", limit=50),
    "failed runs, in the middle": lambda side: side.client.runs.list(status="failed", before=side.runs // 2, limit=50),
    "failed runs of a schedule": _runs(schedule=OTHER, status="failed", limit=1),
    "cancelled runs of the busy schedule": _runs(schedule=BUSY, status="cancelled", limit=20),
    "succeeded runs": _runs(status="succeeded"),
    "queued runs (none)": _runs(status="queued"),
    "running runs (none)": _runs(status="running"),
    "waiting runs of a schedule (none)": _runs(schedule=BUSY, status="waiting"),
    "a run": lambda side: side.client.runs.get(side.runs // 2),
    "why of an old tick": lambda side: side.client.ticks.why(OTHER, side.middle),
    "why of an old tick of the busy schedule": lambda side: side.client.ticks.why(
        BUSY, side.middle + timedelta(seconds=10)
    ),
    "decisions of an hour": lambda side: side.client.ticks.decisions(
        BUSY, side.middle, side.middle + timedelta(hours=1)
    ),
    "verify two hours": lambda side: side.client.ticks.verify(
        OTHER, side.middle - timedelta(hours=1), side.middle + timedelta(hours=1)
    ),
    "verify two hours of the busy schedule": lambda side: side.client.ticks.verify(
        BUSY, side.middle - timedelta(hours=1), side.middle + timedelta(hours=1)
    ),
    "activity of ten minutes": lambda side: side.store.ledger.recent_outcomes(
        "default", DUE + timedelta(seconds=SLOT * side.round), 100
    ),
}


def _scans(url: str, side: Side, options: Options, report: Report) -> None:
    """The number of blocks that each statement reads."""
    page = {"namespace": "default", "before": side.runs // 2, "limit": 100}
    tick = {"schedule_id": 1, "first": side.middle, "last": side.middle + timedelta(seconds=1), "limit": 1_000}
    everything: dict[str, Any] = {
        "namespace": "default",
        "contains": "",
        "app": None,
        "queue": None,
        "among": None,
        "tag": None,
    }
    everything["states"] = ["active", "paused", "parked", "ended"]
    statements: list[tuple[str, dict[str, Any]]] = [
        ("list_runs", {**page, "status": None}),
        ("list_runs", {**page, "status": "succeeded"}),
        ("list_runs_of", {**page, "schedule": BUSY, "status": None}),
        ("page_unsuccessful", {**page, "status": "failed"}),
        ("page_unsuccessful_of", {**page, "schedule": BUSY, "status": "failed"}),
        *[("page_active", {**page, "status": status}) for status in ("running", "queued", "waiting")],
        ("page_active_of", {**page, "schedule": BUSY, "status": "running"}),
        ("runs_between", tick),
        ("skips_between", tick),
        ("active_runs", {"schedule_id": 1}),
        ("get_run", {"id": side.runs // 2}),
        ("ledger_runs", {"schedule_id": 1, "runs_from": side.middle, "last": side.middle, "limit": 1_000}),
        ("ended_since", {"namespace": "default", "since": DUE, "limit": 100}),
        ("next_rescue", {"now": DUE}),
        ("list_versions", {**everything, "after": "", "limit": 100}),
        ("summarize_schedules", {"ids": list(range(1, 101))}),
    ]
    rows = []
    with psycopg.connect(Connections(url, 1).conninfo, autocommit=True) as connection:
        hot = [name for name in HOT if any(map(_reads_all_runs, _walk(_explain(connection, name, None))))]
        report.facts["hot statements that read the whole table"] = ", ".join(hot) or "none"
        if not options.quick:
            report.hold("PostgreSQL: hot statements that read the whole table", "0", float(len(hot)), not hot, "")
        for name, values in statements:
            plan = _explain(connection, name, values)
            nodes = list(_walk(plan))
            root = any(map(_reads_all_runs, nodes))
            indexes = sorted({node["Index Name"] for node in nodes if node.get("Index Name", "").startswith("runs_")})
            blocks = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
            bounded = not root and blocks <= BLOCKS
            if not bounded:
                say(f"{name} reads {blocks:,} blocks")
            label = f"{name} ({values['status']})" if values.get("status") else name
            rows.append([label, blocks, ", ".join(indexes) or "–", "yes" if bounded else "**no**"])
            if not options.quick:
                report.hold(f"PostgreSQL: {label} is bounded", f"≤ {BLOCKS:,} blocks", float(blocks), bounded, "blocks")
    title = f"Blocks of 8 KB that a statement reads with {side.runs:,} runs"
    report.tables.append(Table(title, ("statement", "blocks", "indexes of runs", "bounded"), rows))


def _explain(connection: psycopg.Connection[Any], name: str, values: dict[str, Any] | None) -> dict[str, Any]:
    """The plan of a statement as the store sends it; with values, it is executed and rolled back."""
    order: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] not in order:
            order.append(match[1])
        return f"${order.index(match[1]) + 1}"

    text = re.sub(r"%\((\w+)\)s", number, POSTGRES[name].decode()).replace("%%", "%")
    arguments = sql.SQL(", ").join(sql.Literal(None if values is None else values[name]) for name in order)
    options = sql.SQL("FORMAT JSON" if values is None else "ANALYZE, BUFFERS, FORMAT JSON")
    with connection.transaction(force_rollback=True):
        connection.execute(f"PREPARE asked AS {text}".encode())
        ask = sql.SQL("EXPLAIN ({}) EXECUTE asked({})").format(options, arguments)
        [(plan,)] = connection.execute(ask).fetchall()
        connection.execute("DEALLOCATE asked")
    root: dict[str, Any] = plan[0]["Plan"]
    return root


def _reads_all_runs(node: dict[str, Any]) -> bool:
    return (node["Node Type"], node.get("Relation Name")) == ("Seq Scan", "runs")


def _walk(node: dict[str, Any]) -> Sequence[dict[str, Any]]:
    return [node, *(descendant for child in node.get("Plans", ()) for descendant in _walk(child))]


def _lite_scans(file: Path, report: Report) -> None:
    """The statements for which SQLite would read the whole table."""
    names = [
        *("list_runs", "list_runs_of", "page_unsuccessful", "page_unsuccessful_of", "page_active", "page_active_of"),
        *("runs_of_ticks", "active_runs", "get_run", "ledger_runs", "ended_since", "available_runs", "expired_runs"),
    ]
    rows = []
    with closing(sqlite3.connect(file)) as db:
        for name in names:
            nothing = dict.fromkeys(re.findall(r":(\w+)", SQLITE[name]))
            plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {SQLITE[name]}", nothing)]
            # Walking the table by id, newest first, ends with the page.
            scans = [line for line in plan if re.match(r"SCAN (r|runs)\b(?!.* USING)", line) and name != "list_runs"]
            rows.append([name, "; ".join(line for line in plan if "runs" in line or " r" in line), not scans])
            report.facts.setdefault("SQLite statements that scan", [])
            report.facts["SQLite statements that scan"] += [f"{name}: {line}" for line in scans]
    report.tables.append(Table("How SQLite finds runs", ("statement", "plan", "bounded"), rows))

"""Rows that plain SQL can write and Tickbird cannot plan, or can hardly show."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.store.conftest import PlainPostgres, PlainRows

GOOD: dict[str, Any] = {"v": 1, "trigger": {"every": {"seconds": 60}}, "target": {"task": "report"}}


def deep(levels: int) -> str:
    """Objects within objects."""
    return '{"a":' * levels + "1" + "}" * levels


def good(**fields: Any) -> str:
    """A definition with some fields replaced, as JSON text."""
    return json.dumps({**GOOD, **fields})


def spliced(name: str, text: str) -> str:
    """A definition with one more field, whose JSON text is given."""
    return f'{json.dumps(GOOD)[:-1]}, "{name}": {text}}}'


# JSON that one store or the other refuses by itself is left out there.
DEFINITIONS: dict[str, str] = {
    "text": '"hello"',
    "quoted-definition": json.dumps(json.dumps(GOOD)),
    "list": "[1, 2]",
    "number": "7",
    "null": "null",
    "true": "true",
    "empty": "{}",
    "empty-list": "[]",
    "v-99": good(v=99),
    "v-99-only": '{"v": 99}',
    "v-text": good(v="1"),
    "v-negative": good(v=-1),
    "v-float": good(v=1.5),
    "v-huge": good(v=10**12),
    "v-null": good(v=None),
    "long-grace": spliced("grace", "1" * 5_000),
    "long-payload": spliced("payload", '{"n": ' + "1" * 5_000 + "}"),
    "long-version": '{"v": ' + "1" * 5_000 + "}",
    "deep-payload": spliced("payload", deep(3_000)),
    "deep-900": spliced("payload", deep(900)),
    "deep-tags": spliced("tags", "[" * 900 + "]" * 900),
    "float-payload": spliced("payload", '{"n": 1e400}'),
    "bad-cron": good(trigger={"cron": "61 * * * *"}),
    "cron-list": good(trigger={"cron": ["* * * * *"]}),
    "cron-number": good(trigger={"cron": 5}),
    "cron-long": good(trigger={"cron": "1," * 50_000 + "1 * * * *"}),
    "never": good(trigger={"cron": "0 0 30 2 *"}),
    "bad-zone": good(trigger={"cron": "0 9 * * *", "tz": "Mars/Olympus"}),
    "zone-number": good(trigger={"cron": "0 9 * * *", "tz": 7}),
    "zone-path": good(trigger={"cron": "0 9 * * *", "tz": "../../etc/passwd"}),
    "every-zero": good(trigger={"every": {"seconds": 0}}),
    "every-huge": good(trigger={"every": {"seconds": 10**30}}),
    "every-years": good(trigger={"every": {"years": 10**9}}),
    "any-of-itself": good(trigger={"any_of": [{"any_of": [{"any_of": []}]}]}),
    "any-of-many": good(trigger={"any_of": [{"every": {"seconds": 1}}] * 1_000}),
    "at-far": good(trigger={"at": "9999-12-31T23:59:59Z"}),
    "at-word": good(trigger={"at": "tomorrow"}),
    "trigger-null": good(trigger=None),
    "trigger-text": good(trigger="every minute"),
    "target-number": good(target=7),
    "target-empty": good(target={}),
    "target-unknown": good(target={"sql": "SELECT 1"}),
    "target-long": good(target={"task": "x" * 100_000}),
    "unknown-field": good(colour="red"),
    "overlap": good(overlap="perhaps"),
    "priority": good(priority=10**30),
    "priority-text": good(priority="high"),
    "payload-list": good(payload=[1]),
    "payload-text": good(payload="hello"),
    "payload-big": good(payload={"x": "y" * 2_000_000}),
    "tags-number": good(tags=[1, None, {}]),
    "tags-object": good(tags={"a": 1}),
    "calendars-object": good(calendars={"a": 1}),
    "closed-text": good(calendars=["bank"], closed={"bank": "hello"}),
    "depends-text": good(depends_on="load"),
    "depends-odd": good(depends_on=[{"schedule": 5}, None]),
    "start-far": good(start_at="9999-12-31T23:59:59Z"),
    "start-number": good(start_at=5),
    "queue-object": good(queue={"a": 1}),
    "queue-long": good(queue="q" * 10_000),
    "description-object": good(description={"a": [1]}),
    "max-runs": good(max_runs=-5),
    "retries-text": good(retries="many"),
    "backoff-list": good(backoff=[1, 2]),
}


@dataclass(frozen=True)
class Column:
    """A good definition with another column that holds something odd: SQL literals for both stores."""

    sqlite: Mapping[str, str]
    postgres: Mapping[str, str]
    definition: str = field(default_factory=good)


def both(definition: str | None = None, **columns: str) -> Column:
    """The same literals for both stores."""
    return Column(columns, columns, good() if definition is None else definition)


FAR = 2**62
COLUMNS: dict[str, Column] = {
    "created-infinity": Column({"created_at": str(FAR)}, {"created_at": "'infinity'"}),
    "created-before": Column({"created_at": str(-FAR)}, {"created_at": "'-infinity'"}),
    "created-far": Column({"created_at": str(10**18)}, {"created_at": "'200000-01-01'"}),
    "created-and-cron": Column(
        {"created_at": str(FAR)}, {"created_at": "'infinity'"}, good(trigger={"cron": "61 * * * *"})
    ),
    "changed-infinity": Column({"changed_at": str(FAR)}, {"changed_at": "'infinity'"}),
    "changed-bc": Column({"changed_at": str(-(10**17))}, {"changed_at": "'0044-03-15 BC'"}),
    "paused-until-infinity": Column(
        {"paused_by": "'ada'", "paused_until": str(FAR)}, {"paused_by": "'ada'", "paused_until": "'infinity'"}
    ),
    "paused-until-before": Column(
        {"paused_by": "'ada'", "paused_until": str(-FAR)}, {"paused_by": "'ada'", "paused_until": "'-infinity'"}
    ),
    "overrides-list": both(field_overrides="'[1]'"),
    "overrides-text": both(field_overrides="'\"hello\"'"),
    "overrides-long": both(field_overrides='\'{"grace": ' + "1" * 5_000 + "}'"),
    "overrides-of-app": both(app="'shop'", field_overrides="'[1]'"),
    "revision-negative": both(revision="-5"),
    "revision-zero": both(revision="0"),
    "revision-most": both(revision="2147483647"),
    "error-long": both(error=f"'{'x' * 100_000}'"),
    "note-long": both(paused_by=f"'{'p' * 10_000}'", pause_note=f"'{'n' * 100_000}'"),
    "fingerprint": both(app="'shop'", fingerprint=f"'{'f' * 10_000}'"),
    # Text that is not UTF-8: SQLite stores it, PostgreSQL refuses it.
    "error-bytes": both(error="CAST(x'ff' AS TEXT)"),
    "note-bytes": both(paused_by="CAST(x'ff' AS TEXT)", pause_note="CAST(x'ff' AS TEXT)"),
    "app-bytes": both(app="CAST(x'ff' AS TEXT)", fingerprint="CAST(x'ff' AS TEXT)"),
    "app-odd": both(app="'<b>\"&''/?#%'"),
}
# Names that nobody but plain SQL can give.
ODD_NAMES = (" ", "..", "a/b", "new\nline", "\x01", "ü <b>&'\"?#%", "x" * 2_000, "-y", "--help")
# Of the cursor, which only a person with plain SQL and no fear would write.
CURSORS: dict[str, Mapping[str, Mapping[str, str]]] = {
    "cursor-planned-infinity": {
        "sqlite": {"planned_until": str(FAR), "next_run_at": "0"},
        "postgres": {"planned_until": "'infinity'", "next_run_at": "'-infinity'"},
    },
    "cursor-planned-before": {
        "sqlite": {"planned_until": str(-FAR), "next_run_at": "0"},
        "postgres": {"planned_until": "'-infinity'", "next_run_at": "'-infinity'"},
    },
    "cursor-next-infinity": {"sqlite": {"next_run_at": str(FAR)}, "postgres": {"next_run_at": "'infinity'"}},
    "cursor-skip-until": {
        "sqlite": {"skip_until": str(FAR), "skip_by": "'ada'"},
        "postgres": {"skip_until": "'infinity'", "skip_by": "'ada'"},
    },
    "cursor-overrides": {
        "sqlite": {"tick_overrides": '\'[{"tick": "soon"}]\''},
        "postgres": {"tick_overrides": '\'[{"tick": "soon"}]\''},
    },
    "cursor-overrides-far": {
        "sqlite": {"tick_overrides": '\'[{"tick": 1, "due_at": 1e300}]\''},
        "postgres": {"tick_overrides": '\'[{"tick": 1, "due_at": 1e300}]\''},
    },
    "cursor-runs-planned": {"sqlite": {"runs_planned": str(2**31 - 1)}, "postgres": {"runs_planned": str(2**31 - 1)}},
}
# Of a run: the table, and its columns.
RECORDS: tuple[tuple[str, Column], ...] = (
    ("runs", both(result=f"'{'1' * 5_000}'")),
    ("runs", both(result=f"'{deep(3_000)}'")),
    ("runs", both(applied_override="'[1]'")),
    ("runs", both(applied_override="'{\"made_by\": 1}'")),
    ("runs", both(error=f"'{'x' * 100_000}'", actor=f"'{'y' * 10_000}'")),
    ("runs", Column({"error": "CAST(x'ff' AS TEXT)"}, {"error": "E'\\x01'"})),
    *(
        ("runs", Column({column: str(FAR)}, {column: "'infinity'"}))
        for column in ("due_at", "created_at", "started_at", "start_by", "cancel_requested_at")
    ),
    *(
        ("runs", Column({column: str(-FAR)}, {column: "'-infinity'"}))
        for column in ("due_at", "created_at", "started_at")
    ),
    *(
        ("runs", Column({"status": "'failed'", "finished_at": str(far)}, {"status": "'failed'", "finished_at": near}))
        for far, near in ((FAR, "'infinity'"), (-FAR, "'-infinity'"))
    ),
    ("run_payloads", both(payload=f"'{deep(900)}'")),
    ("run_payloads", both(payload='\'{"n": ' + "1" * 5_000 + "}'")),
    ("run_payloads", both(payload="'[1]'")),
    ("run_payloads", both(payload="'7'")),
)


ODD = f"'{json.dumps(['x' * 10, {'a': 1}, None])}'"
LONG = f"'[{'1' * 5_000}]'"
# Of all other tables: they must not hide the rows next to them.
OTHERS = (
    f"UPDATE audit_log SET detail = {LONG} WHERE action = 'trigger'",
    *(
        f"""INSERT INTO calendars
            (namespace, name, definition, closed, source, revision, created_at, changed_at, changed_by)
        VALUES ('default', 'odd-{number}', {value}, {value}, {value}, 1, NOW, NOW, 'ada')"""
        for number, value in enumerate((ODD, LONG, "'7'", "'{}'"))
    ),
    *(
        f"""INSERT INTO queue_rates (namespace, queue, count, seconds, starts)
        VALUES ('default', 'odd-{number}', 1, 1, {value})"""
        for number, value in enumerate((ODD, LONG, "'7'", "'{}'", "'[[1, 2, 3]]'"))
    ),
    *(
        f"""INSERT INTO workers
            (id, namespace, app, kind, host, pid, version, queues, slots, tasks, declared, draining, health,
            started_at, last_heartbeat_at, live_until)
        VALUES ('odd-{number}', 'default', 'shop', 'worker', 'host', 1, '0', NO_QUEUES, 1, {value}, {value}, FALSE,
            {value}, NOW, NOW, LATER)"""
        for number, value in enumerate((ODD, LONG, "'7'", "'{\"report\": 7}'"))
    ),
)
# The words that both stores write in their own way.
SPELLINGS = {
    "postgres": {"NOW": "now()", "LATER": "now() + interval '1 hour'", "NO_QUEUES": "'{}'"},
    "sqlite": {
        "NOW": str(int(time.time()) * 1_000_000),
        "LATER": str(int(time.time() + 3_600) * 1_000_000),
        "NO_QUEUES": "'[]'",
    },
}


async def poison_runs(plain: PlainRows, run_ids: Sequence[int]) -> None:
    """Write each record of RECORDS to the run at its place; each run must have a payload of its own."""
    for run_id, (table, record) in zip(run_ids, RECORDS, strict=True):
        values = record.postgres if isinstance(plain, PlainPostgres) else record.sqlite
        columns = ", ".join(f"{column} = {value}" for column, value in values.items())
        key = "id" if table == "runs" else "run_id"
        await plain.execute(f"UPDATE {table} SET {_escaped(columns)} WHERE {key} = {{0}}", (run_id,))
    spelling = SPELLINGS["postgres" if isinstance(plain, PlainPostgres) else "sqlite"]
    for other in OTHERS:
        await plain.execute(_escaped(re.sub("NOW|LATER|NO_QUEUES", lambda match: spelling[match[0]], other)))


async def insert_all(plain: PlainRows, namespace: str = "default") -> list[str]:
    """Insert every row that the store accepts; returns their names."""
    kind = "postgres" if isinstance(plain, PlainPostgres) else "sqlite"
    nothing: Mapping[str, str] = {}
    rows = [(name, definition, nothing) for name, definition in DEFINITIONS.items()]
    rows += [(name, good(), nothing) for name in ODD_NAMES]
    for name, column in COLUMNS.items():
        rows.append((name, column.definition, column.postgres if kind == "postgres" else column.sqlite))
    taken = [name for name, text, columns in rows if await _insert(plain, namespace, name, text, columns)]
    for name, values_of in CURSORS.items():
        if await _insert(plain, namespace, name, good(), {}):
            columns = ", ".join(f"{column} = {value}" for column, value in values_of[kind].items())
            where = "(SELECT id FROM schedules WHERE name = {0})"
            await plain.execute(f"UPDATE cursors SET {_escaped(columns)} WHERE schedule_id = {where}", (name,))
            taken.append(name)
    assert len(taken) >= 60
    return taken


async def _insert(plain: PlainRows, namespace: str, name: str, definition: str, columns: Mapping[str, str]) -> bool:
    names = ", ".join(("namespace", "name", "definition", *columns))
    values = ", ".join(("{0}", "{0}", "{0}", *map(_escaped, columns.values())))
    try:
        await plain.execute(f"INSERT INTO schedules ({names}) VALUES ({values})", (namespace, name, definition))
    except Exception:
        return False
    return True


def _escaped(literal: str) -> str:
    """A literal in a statement that str.format and psycopg read."""
    return literal.replace("{", "{{").replace("}", "}}").replace("%", "%%")

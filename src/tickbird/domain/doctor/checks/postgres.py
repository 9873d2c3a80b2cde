"""PostgreSQL server: settings that the promises depend on, and maintenance of its tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tickbird.domain.doctor.finding import Finding, in_bytes, ok, problem, unseen, warning
from tickbird.domain.doctor.snapshot import PostgresSnapshot, StoreSnapshot, TableStats
from tickbird.domain.messages import count
from tickbird.domain.time.durations import duration_text

OLDEST: Final = 150_000
# Maximum seconds of an open transaction: idle (warning), idle (problem), active.
IDLE: Final = 60.0
IDLE_LONG: Final = 600.0
BUSY: Final = 900.0
# Dead rows are reported above this number, and above this multiple of the live rows.
FEW_DEAD: Final = 50_000
TIMES_DEAD: Final = 2
# PostgreSQL stops accepting writes at about 2,000 million transactions without a freeze.
XID_AGE: Final = 1_000_000_000
SLOT_BYTES: Final = 10**9
_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*")
_SEES_ALL: Final = "GRANT pg_monitor TO {role};"


def rights(condition: StoreSnapshot) -> Iterator[Finding]:
    """Check the privileges of the login."""
    server = condition.server
    if server is None:
        return
    if not server.lacking:
        # Without a usable schema, there are no tables to have privileges on.
        if condition.schema.is_usable:
            yield ok("rights", f"The login {server.role!r} has all privileges that a worker needs.")
        return
    schema = server.schema
    named = ", ".join(server.lacking[:5]) + (" …" if len(server.lacking) > 5 else "")
    text = f"The login {server.role!r} has no write privilege on {named}: no worker can use it."
    role = _quoted(server.role)
    fix = (
        f"GRANT USAGE ON SCHEMA {schema} TO {role}; "
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}; "
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {role};   -- unless it is a read-only login"
    )
    yield warning("rights", text, fix, lacking=list(server.lacking))


def server(condition: StoreSnapshot) -> Iterator[Finding]:
    """Check that the server is recent enough and a primary."""
    server = condition.server
    if server is None:
        return
    figures = {"version": server.version, "standby": server.standby}
    if server.version < OLDEST:
        text = f"PostgreSQL {server.words} is too old: Tickbird needs 15 or newer."
        yield problem("server", text, "Upgrade the server.", **figures)
    elif server.standby:
        text = f"PostgreSQL {server.words} is a standby, which accepts no writes: no worker can use it."
        fix = "Point TICKBIRD_URL at the primary (host=one,two with target_session_attrs=read-write finds it)."
        yield problem("server", text, fix, **figures)
    else:
        yield ok("server", f"PostgreSQL {server.words}, database {server.database!r}.", **figures)


def time_outs(condition: StoreSnapshot) -> Iterator[Finding]:
    """Check that the timeouts of our connections are in force."""
    server = condition.server
    if server is None:
        return
    names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    figures = {name: _number(server, name) for name in names} | {"tcp_user_timeout": server.tcp_user_timeout}
    found: list[Finding] = []
    consequences = {
        "idle_in_transaction_session_timeout": "a worker that freezes in a transaction hides its rows from all others",
        "statement_timeout": "a hanging statement blocks its worker forever",
        "lock_timeout": "a lock held by another session blocks a worker forever",
    }
    for name, consequence in consequences.items():
        if _number(server, name) == 0:
            text = f"{name} is off on our connections: {consequence}. A pooler or a role setting has removed it."
            seconds = {"statement_timeout": 15, "lock_timeout": 3}.get(name, 10)
            judge = problem if name.startswith("idle") else warning
            found.append(
                judge("time-outs", text, f"ALTER ROLE {_quoted(server.role)} SET {name} = '{seconds}s';", **figures)
            )
    if server.tcp_user_timeout == 0:
        text = "tcp_user_timeout is off: if the network drops packets, a worker hangs for minutes."
        found.append(warning("time-outs", text, "Remove tcp_user_timeout=0 from the URL.", **figures))
    timeouts = ", ".join(
        f"{name.removesuffix('_timeout')} {duration_text((figures[name] or 0) / 1000)}" for name in names
    )
    yield from found or [ok("time-outs", f"In force: {timeouts}.", **figures)]


def durability(condition: StoreSnapshot) -> Iterator[Finding]:
    """Check that acknowledged commits survive a crash of the server."""
    server = condition.server
    if server is None:
        return
    names = ("fsync", "synchronous_commit", "full_page_writes")
    figures = {name: server.settings.get(name, "") for name in names}
    found: list[Finding] = []
    if figures["fsync"] == "off":
        text = "fsync is off: a crash may corrupt the database or lose commits, and a tick may run twice."
        found.append(problem("durability", text, "ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf();", **figures))
    if figures["synchronous_commit"] == "off":
        text = "synchronous_commit is off: a crash loses the last commits, so their ticks may run a second time."
        fix = f"ALTER ROLE {_quoted(server.role)} SET synchronous_commit = on;"
        found.append(problem("durability", text, fix, **figures))
    if figures["full_page_writes"] == "off":
        text = "full_page_writes is off: a power failure may corrupt pages, unless the disk writes 8 kB atomically."
        fix = "ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf();"
        found.append(warning("durability", text, fix, **figures))
    yield from found or [ok("durability", "Every commit is on the disk before it is acknowledged.", **figures)]


def pooler(condition: StoreSnapshot) -> Iterator[Finding]:
    """Check that wake-ups (LISTEN) arrive, for example through a pooler."""
    server = condition.server
    if server is None or server.heard is None:
        return
    figures = {"pooled": server.pooled, "wake_ups_arrive": server.heard}
    if server.heard:
        text = "Wake-ups arrive, through a pooler." if server.pooled else "No pooler; wake-ups arrive."
        yield ok("pooler", text, **figures)
        return
    cause = (
        "a pooler assigns a connection per transaction (PgBouncer with pool_mode = transaction?)"
        if server.pooled
        else "something between this process and the server drops them"
    )
    text = f"Wake-ups (LISTEN) do not arrive: {cause}. Triggered runs wait for the next poll, up to a minute."
    fix = "export TICKBIRD_LISTEN_URL=postgresql://USER@SERVER:5432/DATABASE   # the server itself, not the pooler"
    yield warning("pooler", text, fix, **figures)


def replication(condition: StoreSnapshot) -> Iterator[Finding]:
    """Check whether a failover can lose commits."""
    server = condition.server
    if server is None or server.standby:
        return
    names = server.settings.get("synchronous_standby_names", "")
    asynchronous = [name for name, state in server.replicas if state not in ("sync", "quorum")]
    figures = {"replicas": len(server.replicas), "synchronous_standby_names": names}
    found: list[Finding] = []
    if server.replicas and not names and asynchronous:
        text = (
            f"{count(len(asynchronous), 'replica')} ({', '.join(sorted(filter(None, asynchronous))) or 'unnamed'}) "
            f"follow{'s' if len(asynchronous) == 1 else ''} asynchronously: a failover may lose the last commits, "
            "and their ticks may run a second time."
        )
        fix = (
            "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'; SELECT pg_reload_conf();   -- or accept the risk"
        )
        found.append(warning("replication", text, fix, **figures))
    elif names and server.settings.get("synchronous_commit") == "local":
        text = "synchronous_commit is 'local': commits do not wait for the standbys, so a failover may lose some."
        found.append(
            warning("replication", text, f"ALTER ROLE {_quoted(server.role)} SET synchronous_commit = on;", **figures)
        )
    for name, size in server.idle_slots:
        if size > SLOT_BYTES:
            text = f"Replication slot {name!r} has no reader, and the server retains {in_bytes(size)} of WAL for it."
            found.append(
                warning("replication", text, f"SELECT pg_drop_replication_slot('{name}');", slot=name, bytes=size)
            )
    if found:
        yield from found
    elif not server.sees_all:
        yield unseen(
            "replication", "This login has no privilege to see replicas.", _SEES_ALL.format(role=_quoted(server.role))
        )
    elif server.replicas:
        yield ok("replication", f"{count(len(server.replicas), 'replica')}; commits wait for {names}.", **figures)
    else:
        yield ok("replication", "No replica is connected, so there is no failover.", **figures)


def connections(condition: StoreSnapshot) -> Iterator[Finding]:
    """Check that connections are left for more workers."""
    server = condition.server
    maximum = 0 if server is None else _number(server, "max_connections") or 0
    if server is None or not maximum:
        return
    figures = {"used": server.connections, "maximum": maximum}
    text = f"{server.connections} of {maximum} connections are in use."
    if server.connections > 0.9 * maximum:
        fix = "ALTER SYSTEM SET max_connections = …;   -- and restart, or use a pooler"
        yield warning("connections", text, fix, **figures)
    else:
        yield ok("connections", text, **figures)


def snapshots(condition: StoreSnapshot) -> Iterator[Finding]:
    """Check for long transactions: they prevent vacuum from removing dead rows, and may hold locks."""
    server = condition.server
    if server is None:
        return
    found: list[Finding] = []
    for session in server.sessions:
        idle = session.state.startswith("idle in transaction")
        long = session.idle_for if idle else session.open_for
        if long <= (IDLE if idle else BUSY):
            continue
        program = f" ({session.program})" if session.program else ""
        what = "idle in a transaction" if idle else "in one transaction"
        locks = ", and holds locks on Tickbird's tables" if session.locks else ""
        text = (
            f"Session {session.pid} of {session.role}{program} has been {what} for {duration_text(long)}{locks}: "
            "vacuum cannot remove dead rows."
        )
        judge = problem if idle and (session.locks or long > IDLE_LONG) else warning
        found.append(
            judge(
                "snapshots",
                text,
                f"SELECT pg_terminate_backend({session.pid});",
                pid=session.pid,
                seconds=round(long, 1),
            )
        )
    for name, seconds in server.prepared:
        if seconds > IDLE:
            text = f"The prepared transaction {name!r} has been open for {duration_text(seconds)}."
            fix = f"ROLLBACK PREPARED '{name.replace(chr(39), chr(39) * 2)}';   -- or COMMIT PREPARED"
            found.append(warning("snapshots", text, fix, transaction=name, seconds=round(seconds, 1)))
    if found:
        yield from found
    elif not server.sees_all:
        text = "This login has no privilege to see other sessions."
        yield unseen("snapshots", text, _SEES_ALL.format(role=_quoted(server.role)))
    else:
        yield ok("snapshots", "No transaction has been open for long.")


def vacuum(condition: StoreSnapshot) -> Iterator[Finding]:
    """Check that dead rows are removed."""
    server = condition.server
    if server is None or not server.tables:
        return
    schema = server.schema
    total = sum(table.size + table.indexes for table in server.tables)
    dead = sum(table.dead for table in server.tables)
    figures = {"bytes": total, "dead_rows": dead, "xid_age": server.xid_age}
    found: list[Finding] = []
    for name in ("autovacuum", "track_counts"):
        if server.settings.get(name) == "off":
            text = f"{name} is off: dead rows are never removed, and planning gets slower with every tick."
            found.append(problem("vacuum", text, f"ALTER SYSTEM SET {name} = on; SELECT pg_reload_conf();", **figures))
    for table in server.tables:
        if not table.autovacuum:
            text = f"autovacuum is off for {schema}.{table.name}: dead rows are never removed."
            fix = f"ALTER TABLE {schema}.{table.name} RESET (autovacuum_enabled);"
            found.append(problem("vacuum", text, fix, table=table.name))
        if table.dead > max(FEW_DEAD, TIMES_DEAD * table.live):
            found.append(_bloated(condition, server, table))
    if server.xid_age > XID_AGE:
        text = f"The database is {server.xid_age:,} transactions old without a freeze. At 2,000 million, it stops."
        found.append(problem("vacuum", text, "VACUUM FREEZE;   -- and find out what blocks autovacuum", **figures))
    largest = max(server.tables, key=lambda table: table.size + table.indexes)
    largest_text = f"{largest.name} ({in_bytes(largest.size)}, its indexes {in_bytes(largest.indexes)})"
    text = f"{in_bytes(total)} in total; the largest table is {largest_text}; {dead:,} dead rows."
    yield from found or [ok("vacuum", text, **figures)]


def indexes(condition: StoreSnapshot) -> Iterator[Finding]:
    """Check that all indexes exist, including those that are built online."""
    server = condition.server
    if server is None or not condition.schema.is_usable:
        return
    if server.unbuilt:
        text = f"Not built yet: {', '.join(server.unbuilt)}. Lists of runs and `why` are slow until then."
        yield warning("indexes", text, "tickbird migrate   # builds them online", missing=list(server.unbuilt))
    else:
        yield ok("indexes", "All are built.")


def _bloated(condition: StoreSnapshot, server: PostgresSnapshot, table: TableStats) -> Finding:
    since = (
        "never vacuumed"
        if table.vacuumed_at is None
        else f"last vacuumed {duration_text((condition.now - table.vacuumed_at).total_seconds())} ago"
    )
    text = f"{server.schema}.{table.name} has {table.dead:,} dead rows and {table.live:,} live rows, {since}."
    fix = f"VACUUM (ANALYZE) {server.schema}.{table.name};"
    return warning("vacuum", text, fix, table=table.name, dead=table.dead, live=table.live)


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def _number(server: PostgresSnapshot, name: str) -> int | None:
    text = server.settings.get(name, "")
    return int(text) if text.isdigit() else None

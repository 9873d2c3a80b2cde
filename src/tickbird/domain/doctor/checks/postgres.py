"""A PostgreSQL server: settings that promises rest on, and what keeps its tables from growing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tickbird.domain.doctor.finding import Finding, in_bytes, ok, problem, unseen, warning
from tickbird.domain.doctor.snapshot import PostgresSnapshot, StoreSnapshot, TableStats
from tickbird.domain.messages import count
from tickbird.domain.time.durations import duration_text

OLDEST: Final = 140_000
# Seconds for which a transaction may be open.
IDLE: Final = 60.0
IDLE_LONG: Final = 600.0
BUSY: Final = 900.0
# Dead rows that are no matter, and how many times the live ones there may be.
FEW_DEAD: Final = 50_000
TIMES_DEAD: Final = 2
# Transactions after which the server stops to protect itself are two thousand million.
XID_AGE: Final = 1_000_000_000
SLOT_BYTES: Final = 10**9
_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*")
_SEES_ALL: Final = "GRANT pg_monitor TO {role};"


def rights(condition: StoreSnapshot) -> Iterator[Finding]:
    """May a worker with this login work?"""
    server = condition.server
    if server is None:
        return
    if not server.lacking:
        # Without a schema that fits, there is nothing to have rights on.
        if condition.schema.is_usable:
            yield ok("rights", f"The login {server.role!r} may do all that a worker does.")
        return
    schema = server.schema
    named = ", ".join(server.lacking[:5]) + (" …" if len(server.lacking) > 5 else "")
    text = f"The login {server.role!r} may not write {named}: no worker can work with it."
    role = _quoted(server.role)
    fix = (
        f"GRANT USAGE ON SCHEMA {schema} TO {role}; "
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}; "
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {role};   -- unless it is meant only to read"
    )
    yield warning("rights", text, fix, lacking=list(server.lacking))


def server(condition: StoreSnapshot) -> Iterator[Finding]:
    """Is it one that Tickbird can work on?"""
    server = condition.server
    if server is None:
        return
    figures = {"version": server.version, "standby": server.standby}
    if server.version < OLDEST:
        text = f"PostgreSQL {server.words} is too old: Tickbird needs 14 or newer."
        yield problem("server", text, "Upgrade the server.", **figures)
    elif server.standby:
        text = f"PostgreSQL {server.words} is a standby here, which takes no writes: no worker can work on it."
        fix = "Point TICKBIRD_URL at the primary (host=one,two with target_session_attrs=read-write finds it)."
        yield problem("server", text, fix, **figures)
    else:
        yield ok("server", f"PostgreSQL {server.words}, database {server.database!r}.", **figures)


def time_outs(condition: StoreSnapshot) -> Iterator[Finding]:
    """Do the time-outs hold that Tickbird asks for on its connections?"""
    server = condition.server
    if server is None:
        return
    names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    figures = {name: _number(server, name) for name in names} | {"tcp_user_timeout": server.tcp_user_timeout}
    found: list[Finding] = []
    consequences = {
        "idle_in_transaction_session_timeout": "a worker that freezes in a transaction hides its rows from all others",
        "statement_timeout": "a statement that hangs is waited for without end",
        "lock_timeout": "a lock that somebody keeps is waited for without end",
    }
    for name, consequence in consequences.items():
        if _number(server, name) == 0:
            text = f"{name} is off on our connections: {consequence}. Something between here and there took it away."
            seconds = {"statement_timeout": 15, "lock_timeout": 3}.get(name, 10)
            judge = problem if name.startswith("idle") else warning
            found.append(
                judge("time-outs", text, f"ALTER ROLE {_quoted(server.role)} SET {name} = '{seconds}s';", **figures)
            )
    if server.tcp_user_timeout == 0:
        text = "tcp_user_timeout is off: a network that swallows packets hangs a worker for minutes."
        found.append(warning("time-outs", text, "Take tcp_user_timeout=0 out of the URL.", **figures))
    told = ", ".join(f"{name.removesuffix('_timeout')} {duration_text((figures[name] or 0) / 1000)}" for name in names)
    yield from found or [ok("time-outs", f"In force: {told}.", **figures)]


def durability(condition: StoreSnapshot) -> Iterator[Finding]:
    """Does what was acknowledged outlive a crash of the server?"""
    server = condition.server
    if server is None:
        return
    names = ("fsync", "synchronous_commit", "full_page_writes")
    figures = {name: server.settings.get(name, "") for name in names}
    found: list[Finding] = []
    if figures["fsync"] == "off":
        text = "fsync is off: a crash of the machine may damage the database or forget commits, and a tick run twice."
        found.append(problem("durability", text, "ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf();", **figures))
    if figures["synchronous_commit"] == "off":
        text = "synchronous_commit is off: a crash forgets the last commits, so their ticks may run a second time."
        fix = f"ALTER ROLE {_quoted(server.role)} SET synchronous_commit = on;"
        found.append(problem("durability", text, fix, **figures))
    if figures["full_page_writes"] == "off":
        text = (
            "full_page_writes is off: a power cut may damage pages, unless the disk writes 8 kB at once or not at all."
        )
        fix = "ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf();"
        found.append(warning("durability", text, fix, **figures))
    yield from found or [ok("durability", "Every commit is on the disk before it is acknowledged.", **figures)]


def pooler(condition: StoreSnapshot) -> Iterator[Finding]:
    """Do wake-ups arrive, also where something stands between us and the server?"""
    server = condition.server
    if server is None or server.heard is None:
        return
    figures = {"pooled": server.pooled, "wake_ups_arrive": server.heard}
    if server.heard:
        text = "Wake-ups arrive, through a pooler." if server.pooled else "There is none; wake-ups arrive."
        yield ok("pooler", text, **figures)
        return
    cause = (
        "there is a pooler that hands out a connection per transaction (PgBouncer with pool_mode = transaction?)"
        if server.pooled
        else "something between here and the server keeps them"
    )
    text = f"Wake-ups (LISTEN) do not arrive: {cause}. Runs that are triggered wait for the next look, up to a minute."
    fix = "export TICKBIRD_LISTEN_URL=postgresql://USER@SERVER:5432/DATABASE   # the server itself, past the pooler"
    yield warning("pooler", text, fix, **figures)


def replication(condition: StoreSnapshot) -> Iterator[Finding]:
    """Can a failover forget what was committed?"""
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
            f"follow{'s' if len(asynchronous) == 1 else ''} asynchronously: a failover may forget the last commits, "
            "and their ticks may run a second time."
        )
        fix = "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'; SELECT pg_reload_conf();   -- or accept it"
        found.append(warning("replication", text, fix, **figures))
    elif names and server.settings.get("synchronous_commit") == "local":
        text = (
            "synchronous_commit is 'local': commits do not wait for the synchronous standbys, so a failover may forget."
        )
        found.append(
            warning("replication", text, f"ALTER ROLE {_quoted(server.role)} SET synchronous_commit = on;", **figures)
        )
    for name, size in server.idle_slots:
        if size > SLOT_BYTES:
            text = f"Replication slot {name!r} is read by nobody, and the server keeps {in_bytes(size)} of log for it."
            found.append(
                warning("replication", text, f"SELECT pg_drop_replication_slot('{name}');", slot=name, bytes=size)
            )
    if found:
        yield from found
    elif not server.sees_all:
        yield unseen("replication", "This login may not see replicas.", _SEES_ALL.format(role=_quoted(server.role)))
    elif server.replicas:
        yield ok("replication", f"{count(len(server.replicas), 'replica')}; commits wait for {names}.", **figures)
    else:
        yield ok("replication", "No replica is connected: nothing to fail over to, nothing to forget.", **figures)


def connections(condition: StoreSnapshot) -> Iterator[Finding]:
    """Is there room for more workers?"""
    server = condition.server
    maximum = 0 if server is None else _number(server, "max_connections") or 0
    if server is None or not maximum:
        return
    figures = {"used": server.connections, "maximum": maximum}
    text = f"{server.connections} of {maximum} connections are in use."
    if server.connections > 0.9 * maximum:
        fix = "ALTER SYSTEM SET max_connections = …;   -- and restart; or put a pooler before it"
        yield warning("connections", text, fix, **figures)
    else:
        yield ok("connections", text, **figures)


def snapshots(condition: StoreSnapshot) -> Iterator[Finding]:
    """Does anybody keep a transaction open for long? It keeps vacuum from removing dead rows, and may hold locks."""
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
            "dead rows cannot be removed meanwhile."
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
        text = "This login may not see what other sessions do."
        yield unseen("snapshots", text, _SEES_ALL.format(role=_quoted(server.role)))
    else:
        yield ok("snapshots", "No transaction has been open for long.")


def vacuum(condition: StoreSnapshot) -> Iterator[Finding]:
    """Are dead rows removed?"""
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
        text = (
            f"The database is {server.xid_age:,} transactions old without a freeze; at two thousand million it stops."
        )
        found.append(problem("vacuum", text, "VACUUM FREEZE;   -- and see what keeps autovacuum from it", **figures))
    largest = max(server.tables, key=lambda table: table.size + table.indexes)
    largest_text = f"{largest.name} ({in_bytes(largest.size)}, its indexes {in_bytes(largest.indexes)})"
    text = f"{in_bytes(total)} in all, most of it {largest_text}; {dead:,} dead rows."
    yield from found or [ok("vacuum", text, **figures)]


def indexes(condition: StoreSnapshot) -> Iterator[Finding]:
    """Are all indexes there that are built beside the work?"""
    server = condition.server
    if server is None or not condition.schema.is_usable:
        return
    if server.unbuilt:
        text = f"Not built yet: {', '.join(server.unbuilt)}. Lists of runs and `why` are slow meanwhile."
        yield warning(
            "indexes", text, "tickbird migrate   # builds them while everybody works on", missing=list(server.unbuilt)
        )
    else:
        yield ok("indexes", "All are built.")


def _bloated(condition: StoreSnapshot, server: PostgresSnapshot, table: TableStats) -> Finding:
    since = (
        "never vacuumed"
        if table.vacuumed_at is None
        else f"last vacuumed {duration_text((condition.now - table.vacuumed_at).total_seconds())} ago"
    )
    text = f"{server.schema}.{table.name} has {table.dead:,} dead rows beside {table.live:,} live ones, {since}."
    fix = f"VACUUM (ANALYZE) {server.schema}.{table.name};"
    return warning("vacuum", text, fix, table=table.name, dead=table.dead, live=table.live)


def _quoted(name: str) -> str:
    """A name as SQL takes it."""
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def _number(server: PostgresSnapshot, name: str) -> int | None:
    text = server.settings.get(name, "")
    return int(text) if text.isdigit() else None

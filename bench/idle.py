"""The cost of a worker while nothing is due: statements, CPU time, memory."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from bench.common import Options, Report, Table, step
from bench.database import Schedules, server, version
from tickbird.store.postgres.database.schema_name import STATEMENTS

# Seconds after the start. Heartbeats and polls come every half and whole minute, so whole minutes are watched.
STARTUP_SECONDS = 5
# A multi-line statement continues with a tab.
STATEMENT = re.compile(r"tickbird LOG:  (?:statement|execute [^:]*): +(.*(?:\n\t.*)*)")


async def measure(options: Options, report: Report) -> None:
    """The real `tickbird worker`, observed from outside; the server logs every statement, BEGIN and COMMIT too."""
    count, seconds = options.size(1_000_000, 200), options.size(180, 3)
    logging = {"log_statement": "all", "log_line_prefix": "%m [%p] %a "}
    with server() as running:
        url = running.create_database()
        with step(f"stored {count:,} schedules"):
            schedules = Schedules(url)
            await schedules.make(count)
            schedules.execute(
                "UPDATE tickbird.cursors SET next_run_at = now() + make_interval(days => 1, secs => schedule_id % 999)"
            )
            schedules.execute("VACUUM (ANALYZE) tickbird.cursors")
        for name, value in logging.items():
            schedules.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        schedules.execute("SELECT pg_reload_conf()")
        schedules.close()
        report.facts["PostgreSQL"] = f"{version(running.url)}, fsync on, loopback TCP"
        command = [sys.executable, "-m", "tickbird", "worker", "bench.idle_app:bird", "--log-level", "warning"]
        worker = subprocess.Popen(command, env={**os.environ, "TICKBIRD_URL": url})
        try:
            await asyncio.sleep(STARTUP_SECONDS if not options.quick else 2)
            before, cpu = len(_statements(running.log_tail(1_000_000))), _cpu(worker.pid)
            await asyncio.sleep(seconds)
            used, memory = _cpu(worker.pid) - cpu, _memory(worker.pid)
            statements = _statements(running.log_tail(1_000_000))[before:]
        finally:
            worker.send_signal(signal.SIGTERM)
            worker.wait(30)
    minutes = seconds / 60
    rate, share = len(statements) / minutes, 100 * used / seconds
    report.samples |= {"statements": [float(len(statements))], "cpu seconds": [used], "memory MB": [memory]}
    report.tables.append(
        Table(
            f"An idle worker with {count:,} schedules stored, observed for {seconds} s",
            ("statements per minute", "CPU %", "memory MB"),
            [[rate, share, memory]],
        )
    )
    report.tables.append(
        Table(
            "Its statements",
            ("statement", "times"),
            [[f"`{text}`", times] for text, times in Counter(statements).most_common()],
        )
    )
    if not options.quick:
        work = f"idle with {count:,} schedules"
        report.hold(f"{work}: statements per minute", "≤ 6", rate, rate <= 6, "")
        report.hold(f"{work}: CPU", "< 0.5 %", share, share < 0.5, "%")
        report.hold(f"{work}: memory", "< 120 MB", memory, memory < 120, "MB")


def _statements(log: str) -> list[str]:
    """The name of every statement of a Tickbird connection, or its text if it has no name."""
    return [_name(" ".join(found[1].split())) for found in STATEMENT.finditer(log)]


def _name(text: str) -> str:
    for name, known in KNOWN.items():
        if known.fullmatch(text):
            return name
    return text[:60]


def _pattern(statement: bytes) -> re.Pattern[str]:
    """A statement as the server logs it: on one line, with numbered values."""
    parts = re.split(r"%\(\w+\)s", " ".join(statement.decode().replace("%%", "%").split()))
    return re.compile(r"\$\d+".join(map(re.escape, parts)))


KNOWN = {name: _pattern(statement) for name, statement in STATEMENTS.items()}


def _cpu(pid: int) -> float:
    """Seconds of processor time, all threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> float:
    """Resident megabytes."""
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024

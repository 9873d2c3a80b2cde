"""Does the number of stored schedules matter, if the same number is due?"""

from __future__ import annotations

import json
import re
import time
from typing import Any

import psycopg

from bench.common import Options, Report, Table, interleave, step
from bench.database import NOW, Schedules
from tickbird.store.postgres import PostgresStore
from tickbird.store.postgres.database.connection import Connections
from tickbird.store.postgres.database.schema_name import STATEMENTS

HOT = ("peek_due", "lock_due", "read_active", "write_plans")


async def measure(options: Options, report: Report, few_url: str, many_url: str) -> None:
    """1,000 due of 1,000 stored, and 1,000 scattered ones due of 1,000,000 stored, interleaved."""
    due, apart = options.size(1_000, 20), options.size(1_000, 50)
    few, many = Schedules(few_url), Schedules(many_url)
    with step(f"stored {due * apart:,} schedules"):
        await few.make(due)
        await many.make(due * apart)
        many.scatter(apart)
    stores = {}
    for name, url in (("few", few_url), ("many", many_url)):
        stores[name] = PostgresStore(url)
        await stores[name].open()

    async def plan(name: str, schedules: Schedules) -> float:
        total = 0
        began = time.perf_counter()
        while True:
            planned = await stores[name].planning.plan_due(500, now=NOW)
            total += planned.runs
            if not planned.more:
                break
        seconds = time.perf_counter() - began
        assert total == due, f"{total} of {due} planned"
        schedules.restore_scattered()
        return total / seconds

    await plan("few", few)
    await plan("many", many)
    rounds = options.size(7, 1)
    rates = await interleave(rounds, {"few": lambda: plan("few", few), "many": lambda: plan("many", many)})
    for store in stores.values():
        await store.close()
    few.close()
    many.close()
    plans = {name: (_shape(few_url, name), _shape(many_url, name)) for name in HOT}
    same = all(few_plan == many_plan for few_plan, many_plan in plans.values())
    report.samples |= {f"{name} stored": values for name, values in rates.values.items()}
    report.facts["plans of the hot statements with few and many stored"] = "same" if same else json.dumps(plans)
    report.tables.append(
        Table(
            f"{due:,} due: ticks per second by the number of schedules stored",
            ("stored", "ticks/s", "min – max"),
            [
                [f"{due:,}", rates.median("few"), rates.spread("few")],
                [f"{due * apart:,}", rates.median("many"), rates.spread("many")],
            ],
        )
    )
    if not options.quick:
        share = rates.ratio("many", "few")
        work = f"{due * apart:,} stored, {due:,} scattered ones due"
        report.hold(f"{work}: same plans", "same", 1.0 if same else 0.0, same, "")
        report.hold(
            f"{work}, compared with {due:,} stored (median of {rounds} pairs)", "≥ 0.75 ×", share, share >= 0.75
        )


def _shape(url: str, name: str) -> list[Any]:
    """The generic plan of a statement, as nodes and indexes."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    text = re.sub(r"%\((\w+)\)s", number, STATEMENTS[name].decode()).replace("%%", "%")
    with psycopg.connect(Connections(url, 1).conninfo, autocommit=True) as connection:
        connection.execute(f"PREPARE hot AS {text}".encode())
        nothing = ", ".join("NULL" for _ in names)
        [(plan,)] = connection.execute(f"EXPLAIN (FORMAT JSON) EXECUTE hot({nothing})".encode()).fetchall()
    return _nodes(plan[0]["Plan"])


def _nodes(node: dict[str, Any]) -> list[Any]:
    kind = [node["Node Type"], node.get("Index Name") or node.get("Relation Name") or node.get("CTE Name") or ""]
    return [*kind, *(_nodes(child) for child in node.get("Plans", ()))]

"""Rows from plain SQL that cannot be planned: only they are parked, and they continue after a repair."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

import psycopg
import pytest

from lab.faults import Fleet, until
from tests.faults.fleet import all_runs, all_skips, settled, ticking
from tests.store.conftest import PlainPostgres, PlainSqlite
from tickbird.client import Client
from tickbird.domain.schedules.codec import FORMAT
from tickbird.store.protocol.store import Store

GOOD: dict[str, Any] = {
    "v": 1,
    "trigger": {"every": {"seconds": 1}},
    "target": {"task": "succeed"},
    "overlap": "allow",
}
POISON: dict[str, Mapping[str, Any]] = {
    "cron": {**GOOD, "trigger": {"cron": "61 * * * *"}},
    "never": {**GOOD, "trigger": {"cron": "0 0 30 2 *"}},
    "zone": {**GOOD, "trigger": {"cron": "* * * * *", "tz": "Mars/Olympus"}},
    "garbage": {"v": 1, "nonsense": [None, {"deep": []}]},
    "empty": {},
    "field": {**GOOD, "grace": "soon"},
    "huge": {**GOOD, "payload": {"text": "x" * 10_000_000}},
    "many": {**GOOD, "trigger": {"any_of": [{"every": {"seconds": 1}}] * 1_000}},
}
SMALL = [name for name in POISON if name != "huge"]
NUL = {**GOOD, "payload": {"text": "a\0b"}}
NEWER = {**GOOD, "v": FORMAT + 1, "unheard": "of"}


async def test_poisoned_rows_park_alone(client: Client, store: Store, fleet: Fleet, url: str) -> None:
    on_postgres = url.startswith("postgresql")
    plain = PlainPostgres(url) if on_postgres else PlainSqlite(url.removeprefix("sqlite:///"))
    since = await ticking(client)
    for _ in range(2):
        fleet.start()
    await fleet.wait_for_runs(1)
    poison = dict(POISON)
    poison |= {f"{name}-{n}": POISON[name] for n in range(6) for name in SMALL}
    assert len(poison) >= 50
    if on_postgres:
        with pytest.raises(psycopg.Error):  # jsonb itself keeps it out
            await plain.insert("default", "nul", NUL)
    else:
        poison["nul"] = NUL
    for name, definition in [*poison.items(), ("newer", NEWER)]:
        await plain.insert("default", name, definition)
    await plain.insert("default", "fine", GOOD)

    # The largest one last, because each read of it takes a while.
    left = sorted(poison, key=lambda name: len(str(poison[name])), reverse=True)

    async def parked() -> bool:
        while left and (await client.schedules.get(left[-1])).state == "parked":
            left.pop()
        return not left

    await until(parked)
    await until(lambda: any(entry.schedule == "fine" for entry in fleet.entries("done")))
    parked_rows = await client.schedules.list(state="parked", limit=1_000)
    assert {row.schedule.name for row in parked_rows if row.schedule.error} == poison.keys()
    left_alone = await client.schedules.get("newer")
    assert left_alone.cursor.next_run_at is None
    assert {run.schedule for run in await all_runs(store)} == {"clock", "fine"}
    assert "Traceback" not in fleet.logs()

    for name in POISON:
        await plain.redefine((await client.schedules.get(name)).id, GOOD)
    await until(lambda: POISON.keys() <= {entry.schedule for entry in fleet.entries("done")})
    for name in POISON:
        healed = await client.schedules.get(name)
        assert (healed.state, healed.error, healed.revision) == ("active", None, 2)
        await client.schedules.pause(name, actor="ada")
    await client.schedules.pause("fine", actor="ada")
    runs = await settled(client, store, fleet, {"clock": since})
    assert {run.origin for run in runs if run.schedule == "clock"} == {"schedule"}
    assert not await all_skips(store, "clock")


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_invalid_json_is_refused(store: Store, url: str) -> None:
    connection = sqlite3.connect(url.removeprefix("sqlite:///"), timeout=60)
    with pytest.raises(sqlite3.Error):
        connection.execute("INSERT INTO schedules (name, definition) VALUES ('text', '{not json')")
    connection.close()

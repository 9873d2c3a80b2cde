"""A relay that tests kill: it sends events in batches, and keeps the number of sent events in a file.

Usage: relay.py SERVERS FILE COUNT KEYS. It prints what it does, and waits for a line before it stores the number.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.sinks.events import make_events
from tickbird.domain.errors import UnavailableError
from tickbird.sinks.kafka import KafkaSink

BATCH = 40


async def main(servers: str, file: str, count: str, keys: str) -> None:
    events = make_events(int(count), int(keys))
    offset = load(Path(file))
    sink = KafkaSink(servers, timeout=1, linger_ms=0, batch_num_messages=10)
    await sink.open()
    while offset < len(events):
        print("sending", flush=True)
        try:
            await sink.send(events[offset : offset + BATCH])
        except UnavailableError:
            print("unavailable", flush=True)
            continue
        print("sent", flush=True)
        sys.stdin.readline()
        offset += BATCH
        store(Path(file), offset)
    await sink.close()
    print("done", flush=True)


def load(file: Path) -> int:
    return int(file.read_text()) if file.exists() else 0


def store(file: Path, offset: int) -> None:
    new_file = file.with_suffix(".new")
    new_file.write_text(str(offset))
    new_file.replace(file)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

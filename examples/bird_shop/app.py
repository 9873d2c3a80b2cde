"""The example app: a bird-seed shop whose schedules use most features of Tickbird.

Every task only simulates work. Periods are seconds instead of hours, so that something always happens.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from datetime import date, timedelta

from pydantic import BaseModel, Field

from examples.bird_shop.orders import add_orders
from tickbird import Backoff, ConflictError, Run, Tickbird, any_of, at, cron, every
from tickbird.client import Client

# Without a URL, the store is $TICKBIRD_URL, or a SQLite file. The app owns the schedules.
bird = Tickbird(app="demo")


# Frequent, short, and with a high priority. A late heartbeat is useless, so missed ones are not caught up.
@bird.task(schedule=every(seconds=4), catch_up="skip", grace="2s", priority=10)
async def heartbeat() -> str:
    """Report to the monitoring that the shop is alive."""
    await asyncio.sleep(0.2)
    return "alive"


# The signature is the payload: it is validated when a schedule is declared, and typed when the task is called.
class Market(BaseModel):
    """A market whose prices we follow."""

    city: str
    currency: str = Field(min_length=3, max_length=3)


@bird.task
async def fetch_prices(market: Market) -> str:
    """Fetch the price of a sack of sunflower seeds."""
    await asyncio.sleep(0.8)
    return f"{market.city}: 21.40 {market.currency}"


# One task, many schedules. Cron with six fields starts with seconds, and uses local time in its time zone.
bird.schedule(
    "prices-new-york",
    fetch_prices,
    cron("*/10 * * * * *", tz="America/New_York"),
    payload={"market": Market(city="New York", currency="USD")},
)
# `spread` delays each schedule by its own fixed offset, so that 100 shops do not send requests in the same second.
bird.schedule(
    "prices-tokyo",
    fetch_prices,
    cron("*/10 * * * * *", tz="Asia/Tokyo"),
    payload={"market": Market(city="Tokyo", currency="JPY")},
    spread="6s",
)


# It takes longer than its period. overlap="skip" is the default: ticks during a run are recorded as skipped.
@bird.task(name="sync-orders", schedule=every(seconds=3), catch_up="one", grace="1s")
async def sync_orders(run: Run) -> str:
    """Import the new orders. After an outage, one run imports all missed ones."""
    await asyncio.sleep(4.3)
    return f"orders of {run.covers.count} ticks" if run.covers else "7 orders"


# overlap="queue": one run waits, and further ticks are skipped meanwhile. A plain `def` runs in a thread.
@bird.task(schedule=every(seconds=5), overlap="queue", grace="2s")
def thumbnails(run: Run, size: int = 256) -> str:
    """Create thumbnails. A thread cannot be killed, so it checks `run.cancelled`."""
    for _ in range(60):
        if run.cancelled:
            break
        time.sleep(0.1)
    return f"12 pictures of {size} px"


# overlap="replace": the newest tick wins, and cancels the active run.
@bird.task(name="search-index", schedule=every(seconds=6), overlap="replace", catch_up="latest", grace="2s")
async def search_index(run: Run) -> str:
    """Rebuild the index. Every second run is too slow and is replaced."""
    slow = run.due_at.second // 6 % 2 == 0
    await asyncio.sleep(8.0 if slow else 3.0)
    return "indexed 4,812 products"


@dataclass
class Letter:
    """A letter, and its number of copies."""

    subject: str
    copies: int = 1


# any_of: the union of several triggers. overlap="allow": any number of runs at once.
@bird.task(
    name="send-mail",
    schedule=any_of(every(seconds=5), cron("7,37 * * * * *")),
    payload={"letter": Letter("Your order is on its way", copies=3)},
    overlap="allow",
)
async def send_mail(letter: Letter) -> str:
    """Send the letters that are waiting."""
    await asyncio.sleep(1.2 * letter.copies)
    return f"{letter.copies} × {letter.subject!r}"


# After an error, the run is retried with increasing delays. Here the third attempt succeeds.
@bird.task(name="charge-cards", schedule=every(seconds=6), retries=3, backoff=Backoff(base=1, max=4))
async def charge_cards(run: Run) -> str:
    """Charge the cards. The first two attempts fail."""
    await asyncio.sleep(0.4)
    if run.attempt < 3:
        raise ConnectionError("the bank closed the connection")
    return f"charged at attempt {run.attempt}"


# This task always fails. Its failures are counted, and the other schedules continue.
@bird.task(name="legacy-export", schedule=every(seconds=15), retries=1, timeout="2s")
async def legacy_export(run: Run) -> None:
    """Export to a machine that is switched off: the first attempt hangs, the second is refused."""
    if run.attempt == 1:
        await asyncio.sleep(10)
    raise OSError("no route to host 'vax-2'")


# catch_up="all": after an outage, each missed tick gets its run, oldest first, labelled with its tick.
@bird.task(
    schedule=every(seconds=5), catch_up="all", catch_up_limit=12, grace="1s", payload={"since": date(2026, 1, 1)}
)
async def ledger(run: Run, since: date) -> str:
    """Close the books of one period."""
    await asyncio.sleep(0.5)
    return f"books of {run.scheduled_for:%H:%M:%S}, kept since {since}" if run.scheduled_for else "books closed"


@bird.task(name="copy-shard", priority=-1)
def copy_shard(run: Run, shard: int) -> str:
    """Copy one part of the backup, in a thread."""
    for _ in range(50):
        if run.cancelled:
            break
        time.sleep(0.1)
    return f"shard {shard}: 1.2 GB"


# A run can enqueue other runs. These have no schedule. Together they use most slots, and other runs wait.
@bird.task(schedule=every(seconds=30))
async def backup() -> str:
    """Back up everything, in shards."""
    runs = [await copy_shard.enqueue(shard=shard) for shard in range(4)]
    return f"sent runs {runs[0]} to {runs[-1]}"


# `exclude` skips days, in the trigger's time zone. One of these two is always excluded: its ticks become skips.
@bird.task(name="newsletter")
async def newsletter(edition: str) -> str:
    """Send the newsletter to all subscribers."""
    await asyncio.sleep(1.0)
    return f"the {edition} edition went out"


bird.schedule("news-weekdays", newsletter, every(seconds=10), payload={"edition": "weekday"}, exclude=["sat", "sun"])
bird.schedule(
    "news-weekends",
    newsletter,
    every(seconds=10),
    payload={"edition": "weekend"},
    exclude=["mon", "tue", "wed", "thu", "fri"],
)


# Like `tickbird trigger`, the client can create a manual run with another payload.
@bird.task(schedule=every(seconds=20), overlap="skip")
async def concierge() -> str:
    """Request an extra run of another schedule."""
    client = await bird.client()
    run = await client.schedules.trigger(
        "prices-tokyo", actor="concierge", payload={"market": {"city": "Osaka", "currency": "JPY"}}
    )
    return f"sent run {run.id}"


@bird.task
async def welcome(name: str = "you") -> str:
    """Greet the user once."""
    await asyncio.sleep(0.5)
    return f"welcome, {name}"


# Events: orders with their rows, and two consumer groups that read them.
add_orders(bird)


async def prepare(client: Client) -> None:
    """Create a schedule that is not declared in code: one tick, a few seconds after the first start."""
    soon = (await client.system.now()).replace(microsecond=0) + timedelta(seconds=4)
    with contextlib.suppress(ConflictError):  # not the first start
        await client.schedules.create("welcome", at(soon), "welcome", actor="demo", payload={"name": "tired reader"})

"""The example app: a bird-seed shop whose schedules use most of what Tickbird can do.

Every task only pretends to work. Periods are seconds instead of hours, so that there is always something to see.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from datetime import date, timedelta

from pydantic import BaseModel, Field

from tickbird import Backoff, ConflictError, Run, Tickbird, any_of, at, cron, every
from tickbird.client import Client

# Without a URL the store is $TICKBIRD_URL, else a SQLite file. The app's name says whose schedules these are.
bird = Tickbird(app="demo")


# Often, quickly, and before all others. A late heartbeat is worth nothing, so missed ones are not caught up.
@bird.task(schedule=every(seconds=4), catch_up="skip", grace="2s", priority=10)
async def heartbeat() -> str:
    """Tell the monitoring that we are alive."""
    await asyncio.sleep(0.2)
    return "alive"


# The signature is the payload: it is validated when a schedule is declared, and typed when the task is called.
class Market(BaseModel):
    """A market whose prices we follow."""

    city: str
    currency: str = Field(min_length=3, max_length=3)


@bird.task
async def fetch_prices(market: Market) -> str:
    """Fetch what a sack of sunflower seeds costs."""
    await asyncio.sleep(0.8)
    return f"{market.city}: 21.40 {market.currency}"


# One task, many schedules. Cron with six fields begins with seconds and follows the clock of its zone.
bird.schedule(
    "prices-new-york",
    fetch_prices,
    cron("*/10 * * * * *", tz="America/New_York"),
    payload={"market": Market(city="New York", currency="USD")},
)
# `spread` gives each schedule a place of its own within it, so that a hundred shops do not ask in the same second.
bird.schedule(
    "prices-tokyo",
    fetch_prices,
    cron("*/10 * * * * *", tz="Asia/Tokyo"),
    payload={"market": Market(city="Tokyo", currency="JPY")},
    spread="6s",
)


# Takes longer than its period. overlap="skip" is the default: what comes meanwhile is skipped, and recorded as such.
@bird.task(name="sync-orders", schedule=every(seconds=3), catch_up="one", grace="1s")
async def sync_orders(run: Run) -> str:
    """Bring in the new orders; one run after an outage brings in all that were missed."""
    await asyncio.sleep(4.3)
    return f"orders of {run.covers.count} ticks" if run.covers else "7 orders"


# overlap="queue": one run waits for room, and further ticks are skipped while it does. A plain `def` runs in a thread.
@bird.task(schedule=every(seconds=5), overlap="queue", grace="2s")
def thumbnails(run: Run, size: int = 256) -> str:
    """Make small pictures; a thread can only be asked to stop, so it looks now and then."""
    for _ in range(60):
        if run.cancelled:
            break
        time.sleep(0.1)
    return f"12 pictures of {size} px"


# overlap="replace": the newest tick wins, and the run that it finds is asked to stop.
@bird.task(name="search-index", schedule=every(seconds=6), overlap="replace", catch_up="latest", grace="2s")
async def search_index(run: Run) -> str:
    """Rebuild the index; every other run is too slow and gets replaced."""
    slow = run.due_at.second // 6 % 2 == 0
    await asyncio.sleep(8.0 if slow else 3.0)
    return "indexed 4,812 products"


@dataclass
class Letter:
    """What to send, and to how many."""

    subject: str
    copies: int = 1


# any_of: the union of grids. overlap="allow": as many at once as there are.
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


# A raised error is tried again, a little later each time. Here the third attempt works.
@bird.task(name="charge-cards", schedule=every(seconds=6), retries=3, backoff=Backoff(base=1, max=4))
async def charge_cards(run: Run) -> str:
    """Charge the cards; the bank's door sticks."""
    await asyncio.sleep(0.4)
    if run.attempt < 3:
        raise ConnectionError("the bank closed the connection")
    return f"charged at attempt {run.attempt}"


# Some tasks always fail. Their failures are counted, and the other schedules continue.
@bird.task(name="legacy-export", schedule=every(seconds=15), retries=1, timeout="2s")
async def legacy_export(run: Run) -> None:
    """Export to a machine that was switched off: it hangs at first, and then says no."""
    if run.attempt == 1:
        await asyncio.sleep(10)
    raise OSError("no route to host 'vax-2'")


# catch_up="all": after an outage each missed tick gets its run, oldest first. The label is the tick, never the clock.
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


# A run can send others. These have no schedule; together they take every slot, and the rest has to wait.
@bird.task(schedule=every(seconds=30))
async def backup() -> str:
    """Back everything up, in parts."""
    runs = [await copy_shard.enqueue(shard=shard) for shard in range(4)]
    return f"sent runs {runs[0]} to {runs[-1]}"


# A calendar excludes days, by the trigger's zone. One of these two is always off: its ticks are skips, not silence.
@bird.task(name="newsletter")
async def newsletter(edition: str) -> str:
    """Write to everybody who asked for it."""
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


# What a person does with `tickbird trigger`, code does with the client: a manual run, with a payload of its own.
@bird.task(schedule=every(seconds=20), overlap="skip")
async def concierge() -> str:
    """Trigger a run now and then, as an operator would."""
    client = await bird.client()
    run = await client.schedules.trigger(
        "prices-tokyo", actor="concierge", payload={"market": {"city": "Osaka", "currency": "JPY"}}
    )
    return f"sent run {run.id}"


@bird.task
async def welcome(name: str = "you") -> str:
    """Said once."""
    await asyncio.sleep(0.5)
    return f"welcome, {name}"


async def prepare(client: Client) -> None:
    """What belongs to the data and not to the code: one shot, a few seconds after the very first start."""
    soon = (await client.system.now()).replace(microsecond=0) + timedelta(seconds=4)
    with contextlib.suppress(ConflictError):  # not the first start
        await client.schedules.create("welcome", at(soon), "welcome", actor="demo", payload={"name": "tired reader"})

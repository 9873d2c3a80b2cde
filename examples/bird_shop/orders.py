"""Orders of the shop as events: published with the rows that they are about, and read by two consumer groups.

On SQLite and PostgreSQL alike, the table of the orders is in the database of the store.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from tickbird import Backoff, Event, EventBatch, EventRefusedError, Tickbird, event, every

CUSTOMERS = ("avocet", "bittern", "crane", "dodo", "egret", "finch", "godwit", "heron")
_TABLES = (
    "CREATE TABLE IF NOT EXISTS shop_orders (number bigint PRIMARY KEY, customer text, sacks integer)",
    "CREATE TABLE IF NOT EXISTS shop_sales (customer text PRIMARY KEY, sacks integer NOT NULL)",
)


class Database:
    """The database of the store, as other code of the shop uses it."""

    def __init__(self, bird: Tickbird) -> None:
        self._bird = bird

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """A transaction on a connection of its own."""
        with closing(self._connect()) as connection, connection:
            yield connection

    def _connect(self) -> Any:
        if self.is_sqlite:
            return sqlite3.connect(self._bird.url.removeprefix("sqlite:///"), timeout=30)
        import psycopg

        return psycopg.connect(self._bird.url)

    @property
    def is_sqlite(self) -> bool:
        return self._bird.url.startswith("sqlite:")

    def sql(self, statement: str) -> str:
        """A statement with the placeholders of the driver."""
        return statement if self.is_sqlite else statement.replace("?", "%s")


def add_orders(bird: Tickbird) -> None:
    """Register the tasks, schedules and consumers."""
    database = Database(bird)
    busy: set[str] = set()

    # The tick publishes an event in the transaction that plans it. No worker executes anything.
    closed = event("shop.closed", "ShopClosed", key="rome", data={"shop": "Rome"})
    bird.schedule("closing-time", closed, every(seconds=15), catch_up="one")

    # The order and its event commit together, or neither does.
    @bird.task(name="take-order", schedule=every(seconds=2), catch_up="skip", priority=5)
    def take_order() -> str:
        """Sell a few sacks of seeds."""
        with database.transaction() as connection:
            for statement in _TABLES:
                connection.execute(statement)
            [number] = connection.execute("SELECT 1 + count(*) FROM shop_orders").fetchone()
            customer, sacks = CUSTOMERS[number % len(CUSTOMERS)], 1 + number % 5
            order = database.sql("INSERT INTO shop_orders (number, customer, sacks) VALUES (?, ?, ?)")
            connection.execute(order, (number, customer, sacks))
            data = {"order": number, "customer": customer, "sacks": sacks}
            bird.publish("orders.placed", "OrderPlaced", data, key=customer, connection=connection)
        return f"order {number} of {customer}: {sacks} sacks"

    # One event per call, in order per customer. If one fails, later events of this customer wait, and others continue.
    @bird.consumer("orders.*", group="billing", retries=2, backoff=Backoff(base=1, max=4))
    async def bill(event: Event) -> None:
        """Send the bill. Crane's bank often fails at first, and no dodo can carry 4 sacks."""
        await asyncio.sleep(0.05)
        customer, order = event.data["customer"], event.data["order"]
        if customer == "dodo" and event.data["sacks"] == 4:
            raise EventRefusedError(f"order {order}: a dodo cannot carry 4 sacks.", hint="Sell 3 of them.")
        if customer == "crane" and customer not in busy:
            busy.add(customer)
            raise RuntimeError(f"order {order}: the bank of {customer} does not answer")
        busy.discard(customer)

    # Many events per call. The effect and the offset commit together: no event counts twice.
    @bird.consumer(("orders.*", "shop.#"), group="statistics", batch=50)
    def count_sales(batch: EventBatch) -> None:
        """Add up the sacks of each customer."""
        with database.transaction() as connection:
            for placed in (event for event in batch if event.topic == "orders.placed"):
                connection.execute(
                    database.sql(
                        "INSERT INTO shop_sales (customer, sacks) VALUES (?, ?) "
                        "ON CONFLICT (customer) DO UPDATE SET sacks = shop_sales.sacks + excluded.sacks"
                    ),
                    (placed.data["customer"], placed.data["sacks"]),
                )
            batch.commit(connection)

"""Records on their way to the store: one that it refuses keeps no other one waiting, and is tried again later."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from math import inf
from typing import Final, Generic, TypeVar

from tickbird.domain.errors import InvalidError, SchemaError, StoreUnavailableError

log = logging.getLogger("tickbird.engine")

T = TypeVar("T")
# A batch is no longer halved once this many records were refused: then the cause is hardly in the records.
MAX_REFUSED: Final = 20
# Seconds before refused records are tried again, doubled each time up to the second figure.
_FIRST_PAUSE: Final = 0.5
_MAX_PAUSE: Final = 30.0


class Outbox(Generic[T]):
    """For one event loop. Records are written in order, in batches of `size`; refused ones are written later.

    `write` writes a batch or nothing. `strip` gives a record without the content that the store cannot take.
    """

    def __init__(
        self,
        name: str,
        write: Callable[[Sequence[T]], Awaitable[None]],
        strip: Callable[[T, str], T],
        monotonic: Callable[[], float],
        size: int = 1_000,
    ) -> None:
        self._name = name
        self._write = write
        self._strip = strip
        self._monotonic = monotonic
        self._size = size
        self._waiting: list[T] = []
        self._refused: list[T] = []
        self._pause = _FIRST_PAUSE
        self._retry_at = inf

    def __len__(self) -> int:
        return len(self._waiting) + len(self._refused)

    def add(self, records: Sequence[T]) -> None:
        """Keep records until they are written."""
        self._waiting += records

    @property
    def wait(self) -> float | None:
        """Seconds until there is something to write; None: nothing is left."""
        if self._waiting:
            return 0.0
        return max(0.0, self._retry_at - self._monotonic()) if self._refused else None

    async def write(self) -> None:
        """Write all that waits, and refused records whose time has come; raises if the store cannot be reached."""
        refused: list[T] = []
        again: list[T] = []
        if self._refused and self._monotonic() >= self._retry_at:
            again, self._refused = self._refused, []
        waiting, self._waiting = self._waiting, []
        # The last one comes first.
        parts = [again] if again else []
        parts += [waiting[start : start + self._size] for start in range(0, len(waiting), self._size)][::-1]
        cause: Exception | None = None
        try:
            while parts:
                try:
                    await self._write(parts[-1])
                    parts.pop()
                except (StoreUnavailableError, SchemaError):
                    raise
                except Exception as error:  # noqa: BLE001 - whatever a store raises for one record must not stop others
                    cause, part = error, parts.pop()
                    if len(part) > 1 and len(refused) < MAX_REFUSED:
                        middle = len(part) // 2
                        parts += [part[middle:], part[:middle]]
                    elif len(part) == 1 and isinstance(error, InvalidError):
                        refused += await self._write_stripped(part[0], error)
                    else:
                        refused += part
        finally:
            self._waiting = [record for part in reversed(parts) for record in part] + self._waiting
            self._keep(refused, again, cause)

    async def _write_stripped(self, record: T, error: Exception) -> list[T]:
        """Write a record whose content cannot be stored without it; the record if that is refused too."""
        log.error("%s: content cannot be stored and is left out: %s", self._name, error)
        try:
            await self._write([self._strip(record, f"could not be stored: {error}")])
        except Exception:  # noqa: BLE001 - tried again later, with the others
            return [record]
        return []

    def _keep(self, refused: list[T], again: list[T], cause: Exception | None) -> None:
        if refused:
            self._pause = min(_MAX_PAUSE, 2 * self._pause) if again else _FIRST_PAUSE
            self._retry_at = self._monotonic() + self._pause
            text = "%s: the store refused %d records; trying again in %.1f s: %s"
            log.error(text, self._name, len(refused), self._pause, cause)
        self._refused += refused

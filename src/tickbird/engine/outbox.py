"""The outbox: records to write to the store. A refused record delays no other record, and is retried later."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from math import inf
from typing import Final, Generic, TypeVar

from tickbird.domain.errors import InvalidError, SchemaError, StoreUnavailableError

log = logging.getLogger("tickbird.engine")

T = TypeVar("T")
# A batch is no longer halved after this many refused records: the records are then probably not the cause.
MAX_REFUSED: Final = 20
# Seconds before a retry of refused records; doubled each time, up to the second value.
_FIRST_PAUSE: Final = 0.5
_MAX_PAUSE: Final = 30.0


class Outbox(Generic[T]):
    """Writes records to the store in order, in batches of `size`; retries refused records later. Not thread-safe.

    `write` writes a batch or nothing. `strip` returns a record without the content that the store refuses.
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
        self._waiting += records

    @property
    def wait(self) -> float | None:
        """Seconds until a record is due to be written; None if there is none."""
        if self._waiting:
            return 0.0
        return max(0.0, self._retry_at - self._monotonic()) if self._refused else None

    async def write(self) -> None:
        """Write all pending records, and refused records whose retry is due. Raises if the store cannot be reached."""
        refused: list[T] = []
        retried: list[T] = []
        if self._refused and self._monotonic() >= self._retry_at:
            retried, self._refused = self._refused, []
        waiting, self._waiting = self._waiting, []
        # A stack: the last part is written first.
        parts = [retried] if retried else []
        parts += [waiting[start : start + self._size] for start in range(0, len(waiting), self._size)][::-1]
        cause: Exception | None = None
        try:
            while parts:
                try:
                    await self._write(parts[-1])
                    parts.pop()
                except (StoreUnavailableError, SchemaError):
                    raise
                except Exception as error:  # noqa: BLE001 - an error for one record must not stop the others
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
            self._keep(refused, retried, cause)

    async def _write_stripped(self, record: T, error: Exception) -> list[T]:
        """Write a record without its content, which cannot be stored; returns the record if that is refused too."""
        log.error("%s: content cannot be stored, it is dropped: %s", self._name, error)
        try:
            await self._write([self._strip(record, f"could not be stored: {error}")])
        except Exception:  # noqa: BLE001 - retried later, with the others
            return [record]
        return []

    def _keep(self, refused: list[T], retried: list[T], cause: Exception | None) -> None:
        if refused:
            self._pause = min(_MAX_PAUSE, 2 * self._pause) if retried else _FIRST_PAUSE
            self._retry_at = self._monotonic() + self._pause
            text = "%s: the store refused %d records, retrying in %.1f s: %s"
            log.error(text, self._name, len(refused), self._pause, cause)
        self._refused += refused

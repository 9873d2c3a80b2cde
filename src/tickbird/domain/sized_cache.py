"""A least-recently-used cache with a limit in bytes and, optionally, in entries."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from math import inf
from sys import getsizeof
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SizedCache(Generic[K, V]):
    """Values by key. Evicts the least recently used values, but never the newest."""

    __slots__ = ("_max_bytes", "_max_entries", "_sizes", "_values", "size")

    def __init__(self, max_bytes: float, max_entries: float = inf) -> None:
        self._max_bytes = max_bytes
        self._max_entries = max_entries
        self._values: OrderedDict[K, V] = OrderedDict()
        self._sizes: dict[K, int] = {}
        # Bytes of all values.
        self.size = 0

    def get(self, key: K) -> V | None:
        """Return the value and mark it as used; None if it is missing."""
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def put(self, key: K, value: V, size: int) -> None:
        """Add a value that takes `size` bytes, or replace it."""
        self.drop(key)
        self._values[key] = value
        self._sizes[key] = size
        self.size += size
        while (self.size > self._max_bytes or len(self._values) > self._max_entries) and len(self._values) > 1:
            self.drop(next(iter(self._values)))

    def drop(self, key: K) -> V | None:
        """Remove a value and return it; None if it is missing."""
        value = self._values.pop(key, None)
        if value is not None:
            self.size -= self._sizes.pop(key)
        return value

    def clear(self) -> None:
        self._values.clear()
        self._sizes.clear()
        self.size = 0

    def items(self) -> Iterable[tuple[K, V]]:
        """Return all entries, least recently used first, without marking them as used."""
        return self._values.items()

    def __iter__(self) -> Iterator[K]:
        return iter(self._values)

    def __contains__(self, key: K) -> bool:
        return key in self._values

    def __len__(self) -> int:
        return len(self._values)


def size_of(value: Any, enough: float = inf) -> int:
    """Return the bytes that a value and everything it refers to take; stop counting at `enough`."""
    total, pending, seen = 0, [value], set[int]()
    while pending and total < enough:
        item = pending.pop()
        if id(item) in seen:
            continue
        total += getsizeof(item)
        if isinstance(item, str | int | float):
            continue
        seen.add(id(item))
        if isinstance(item, Mapping):
            pending.extend(item.keys())
            pending.extend(item.values())
        elif isinstance(item, list | tuple | set | frozenset):
            pending.extend(item)
        elif is_dataclass(item) and not isinstance(item, type):
            pending.extend(getattr(item, field.name) for field in fields(item))
    return total

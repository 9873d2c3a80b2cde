"""Hostile values, errors and log lines of user code."""

from __future__ import annotations

import asyncio
import itertools
import math
import random
from collections import deque, namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pydantic import BaseModel, model_serializer

LARGE = math.factorial(2_000)


class RaisesInText:
    """Its conversion to text raises an error of the given class."""

    def __init__(self, error: type[BaseException] = ValueError) -> None:
        self._error = error

    def __str__(self) -> str:
        raise self._error

    __repr__ = __str__


class RaisesInClass:
    """`isinstance` raises for it."""

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise RuntimeError("no class")


class Nameless(type):
    """A class that hides its name."""

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise RuntimeError("no name")


class Anonymous(RaisesInText, metaclass=Nameless):
    """Neither it nor its class can be described."""


class OddStr(str):
    """A text whose methods cannot be relied on."""

    __slots__ = ()

    def __str__(self) -> Any:
        return self

    def replace(self, *_: Any) -> Any:
        raise RuntimeError("no replace")

    encode = isascii = __len__ = __getitem__ = __iter__ = replace  # type: ignore[assignment]


class OddDict(dict[Any, Any]):
    """An object whose methods cannot be relied on."""

    def items(self) -> Any:
        raise RuntimeError("no items")

    __iter__ = __len__ = __getitem__ = keys = items  # type: ignore[assignment]


class OddInt(int):
    """A number whose texts raise."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __int__ = __index__ = __str__  # type: ignore[assignment]


class Color(Enum):
    """A member whose value cannot be encoded."""

    LARGE = LARGE


@dataclass
class Box:
    """Holds anything."""

    content: Any


class Model(BaseModel):
    """Holds anything, as pydantic serializes it."""

    content: Any


class OddModel(BaseModel):
    """Its serializer raises an error that would end a process."""

    @model_serializer
    def serialize(self) -> Any:
        raise SystemExit(3)


Point = namedtuple("Point", "x y")


def cyclic() -> Any:
    """An object that holds itself."""
    value: dict[str, Any] = {}
    value["self"] = [value]
    return value


def deep(levels: int) -> Any:
    """A list in a list in a list."""
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


def shared(levels: int) -> Any:
    """A few lists that expand to 2**levels values."""
    value: Any = [1]
    for _ in range(levels):
        value = [value, value]
    return value


VALUES: dict[str, Callable[[], Any]] = {
    "large": lambda: LARGE,
    "large negative": lambda: -LARGE,
    "large in dict": lambda: {"number": LARGE},
    "large as key": lambda: {LARGE: 1},
    "large in tuple": lambda: [(1, {"a": (LARGE,)})],
    "large in enum": lambda: Color.LARGE,
    "just short enough": lambda: 10**4_000,
    "odd int": lambda: OddInt(7),
    "cyclic": cyclic,
    "deep": lambda: deep(50_000),
    "almost too deep": lambda: deep(190),
    "shared": lambda: shared(60),
    "endless": itertools.count,
    "endless in dict": lambda: {"a": itertools.repeat("x" * 1_000)},
    "generator": lambda: (number for number in range(3)),
    "text": lambda: "x" * 30_000_000,
    "texts": lambda: ["y" * 1_000_000] * 1_000,
    "bytes": lambda: b"\xff\x00" * 1_000,
    "surrogate": lambda: "\ud800 and \udfff",
    "surrogate as key": lambda: {"\ud800": "\udfff"},
    "nul": lambda: {"a\0": "\0", "\\u0000": "\\u0000"},
    "nan": lambda: [math.nan, math.inf, -math.inf, {math.nan: 1}],
    "raises": RaisesInText,
    "raises exit": lambda: RaisesInText(SystemExit),
    "raises interrupt": lambda: [RaisesInText(KeyboardInterrupt)],
    "raises cancel": lambda: {"a": RaisesInText(asyncio.CancelledError)},
    "raises exit generator": lambda: RaisesInText(GeneratorExit),
    "raises base": lambda: RaisesInText(BaseException),
    "raises as key": lambda: {RaisesInText(): 1},
    "no class": RaisesInClass,
    "no class in dict": lambda: {"a": [RaisesInClass()]},
    "anonymous": Anonymous,
    "odd text": lambda: OddStr("text"),
    "odd text as key": lambda: OddDict({OddStr("a"): OddStr("b")}),
    "model": lambda: Model(content={"a": LARGE}),
    "endless model": lambda: Model(content=[itertools.count()]),
    "odd model": OddModel,
    "dataclass": lambda: Box(Box(LARGE)),
    "named tuple": lambda: Point(LARGE, 1),
    "set": lambda: {1, "a", None},
    "deque": lambda: deque([cyclic()]),
    "exception": lambda: ValueError(LARGE),
    "type": lambda: RaisesInText,
    "complex": lambda: 1j,
}


class RaisesInStr(Exception):
    """An error without a text."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


class RaisesInTraceback(Exception):
    """An error whose traceback cannot be read."""

    @property
    def __traceback__(self) -> Any:
        raise RuntimeError("no traceback")

    @__traceback__.setter
    def __traceback__(self, value: Any) -> None: ...


class Unusual(BaseException):
    """Not even an Exception."""

    def __str__(self) -> str:
        raise SystemExit(4)


def cycle_of_causes() -> BaseException:
    """Two errors, each the cause of the other."""
    one, two = ValueError("one"), ValueError("two")
    one.__cause__, two.__cause__ = two, one
    return one


def noted() -> BaseException:
    """An error with notes that are not texts."""
    error = ValueError("noted")
    error.__notes__ = [RaisesInText(), LARGE]  # type: ignore[list-item]
    return error


ERRORS: dict[str, Callable[[], BaseException]] = {
    "no text": RaisesInStr,
    "no traceback": RaisesInTraceback,
    "unusual": Unusual,
    "exit": lambda: SystemExit(RaisesInText()),
    "interrupt": KeyboardInterrupt,
    "generator exit": GeneratorExit,
    "stop": lambda: StopIteration(1),
    "cancel": asyncio.CancelledError,
    "large": lambda: ValueError(LARGE),
    "surrogate": lambda: ValueError("\ud800 \0"),
    "long": lambda: ValueError("x" * 5_000_000),
    "anonymous": lambda: ValueError(Anonymous()),
    "group": lambda: ExceptionGroup("group", [ExceptionGroup("inner", [RaisesInStr(), ValueError("\udfff")])]),
    "base group": lambda: BaseExceptionGroup("group", [SystemExit(1), Unusual()]),
    "cycle": cycle_of_causes,
    "notes": noted,
}

LEVELS: tuple[Any, ...] = (10**6, 2**70, LARGE, 32_768)


def random_value(chance: random.Random, depth: int = 0) -> Any:
    """Any of the values above, and containers of them."""
    kind = chance.randrange(10)
    if depth > 4 or kind < 5:
        # Slow ones, which take a second each, are tried only once.
        names = sorted(set(VALUES) - {"texts", "text", "shared", "deep"})
        return VALUES[chance.choice(names)]()
    inner = [random_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 5:
        return tuple(inner)
    if kind == 6:
        return Box(inner)
    if kind == 7:
        return iter(inner)
    if kind == 8:
        return {chance.choice(("a", 1, None, (1, 2), 2.5, "\0", b"k")): value for value in inner}
    return inner


def random_values(seed: int, count: int) -> Iterator[Any]:
    """Values of a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        yield random_value(chance)

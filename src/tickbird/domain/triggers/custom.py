"""Custom triggers: pure functions that compute the next tick, registered by users under a name.

A package registers them in the entry point group `tickbird.triggers`: the name of the trigger, and its CustomTrigger.
"""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import cache
from typing import Any, Final

from tickbird.domain.cancellation import checkpoint
from tickbird.domain.errors import TriggerError
from tickbird.domain.plug_ins import PLUG_IN_ERRORS, InvalidPlugInError, error_text, load_plug_ins
from tickbird.domain.text import check_name
from tickbird.domain.time.instants import FIRST_SECOND, LAST_SECOND, to_datetime, to_seconds
from tickbird.domain.time.zone_data import zone_info
from tickbird.domain.time.zones import zone
from tickbird.domain.triggers.base import BaseTrigger
from tickbird.domain.triggers.form import Document, FormOption, TriggerForm

log = logging.getLogger("tickbird.triggers")

GROUP: Final = "tickbird.triggers"
INSTALL: Final = (
    f"Install the package that names it in the entry point group `{GROUP}`. "
    "Only `worker`, `sync` and the worker of `dev` import an app."
)
# Maximum of ticks per computation, because a function computes only the next tick.
MAX_STEPS: Final = 10_000
# Maximum calls of custom functions while one schedule is planned.
MAX_PLAN_CALLS: Final = 50_000
MAX_PARAMS_LENGTH: Final = 10_000
DEFAULT_MAX_PER_DAY: Final = 1_440

_registered: dict[str, CustomTrigger] = {}
_calls: ContextVar[list[int] | None] = ContextVar("tickbird_custom_trigger_calls", default=None)


class CustomTrigger:
    """A registered function; called with its parameters and `tz`, it creates a trigger."""

    def __init__(
        self,
        name: str,
        next_after: Callable[..., datetime | None],
        count: Callable[..., int] | None = None,
        describe: Callable[..., str] | None = None,
        max_per_day: int = DEFAULT_MAX_PER_DAY,
    ) -> None:
        self.name = check_name(name, "custom")
        self.next_after = next_after
        self.count = count
        self.describe = describe
        self.max_per_day = max_per_day
        self.__doc__ = next_after.__doc__
        self._signature = inspect.signature(next_after)

    def __call__(self, *, tz: str = "UTC", **params: Any) -> Custom:
        """Create the trigger with these parameters, which must be JSON values."""
        return Custom(self, params, tz)

    def bind(self, params: Mapping[str, Any]) -> None:
        """Raise TriggerError for parameters that the function does not accept."""
        try:
            self._signature.bind(None, **params)
        except TypeError as error:
            raise _refuse(self.name, f"{error}", f"Its parameters are {self._signature}.") from None

    def __repr__(self) -> str:
        return f"custom_trigger({self.name!r})"


def custom_trigger(
    name: str,
    *,
    count: Callable[..., int] | None = None,
    describe: Callable[..., str] | None = None,
    max_per_day: int = DEFAULT_MAX_PER_DAY,
) -> Callable[[Callable[..., datetime | None]], CustomTrigger]:
    """Register a pure function `next_after(t, **params) -> datetime | None` as a trigger under a name.

    `t` is in the trigger's zone; the result is the first tick strictly after it, in whole seconds, or None.
    `count(after, until, **params)` returns the number of ticks in (after, until] without stepping through them.
    `max_per_day` is the maximum number of ticks in a day.
    """

    def register(next_after: Callable[..., datetime | None]) -> CustomTrigger:
        trigger = CustomTrigger(name, next_after, count, describe, max_per_day)
        existing = _registered.get(name)
        if existing is not None and _home(existing) != _home(trigger):
            raise _refuse(name, f"is already registered by {_home(existing)}", "Choose another name.")
        _registered[name] = trigger
        return trigger

    return register


def find_custom(name: str) -> CustomTrigger | None:
    """Return the custom trigger of this name; None if it is not registered in this process."""
    # Loading plug-ins takes time, and most processes need none.
    return _registered.get(name) or _plug_ins().get(name)


def registered_customs() -> list[str]:
    """Return the names of all custom triggers in this process."""
    return sorted({*_registered, *_plug_ins()})


@contextmanager
def limited_calls(maximum: int = MAX_PLAN_CALLS) -> Iterator[None]:
    """Raise TriggerError after `maximum` calls of custom functions in this context."""
    token = _calls.set([maximum])
    try:
        yield
    finally:
        _calls.reset(token)


@cache
def _plug_ins() -> Mapping[str, CustomTrigger]:
    return load_plug_ins(GROUP, "custom trigger", _check_plug_in, log)


def _check_plug_in(name: str, loaded: object) -> CustomTrigger:
    if not isinstance(loaded, CustomTrigger) or loaded.name != name:
        raise InvalidPlugInError(f"it is not a function with @custom_trigger({name!r})")
    return loaded


def _home(trigger: CustomTrigger) -> str:
    function = trigger.next_after
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', '?')}"


class Custom(BaseTrigger):
    """The grid of a registered function with its parameters."""

    __slots__ = ("_params", "_text", "_type", "_zone", "name", "tz")
    max_steps = MAX_STEPS

    def __init__(self, custom: CustomTrigger, params: Mapping[str, Any], tz: str = "UTC") -> None:
        self._type = custom
        self.name = custom.name
        self._zone = zone(tz)
        self.tz = tz
        self._text = _canonical(custom.name, params)
        self._params: dict[str, Any] = json.loads(self._text)
        custom.bind(self._params)

    def next_tick(self, after: int) -> int | None:
        if after >= LAST_SECOND:
            return None
        after = max(after, FIRST_SECOND)
        at = self._wall(after)
        result = self._call(self._type.next_after, at)
        if result is None:
            return None
        if not isinstance(result, datetime) or result.utcoffset() is None:
            raise _refuse(
                self.name, f"returned {str(result)[:60]!r} after {at}", "Return a datetime with a time zone, or None."
            )
        if result.microsecond:
            raise _refuse(self.name, f"returned {result}, but ticks are whole seconds", "Use .replace(microsecond=0).")
        tick = to_seconds(result)
        if tick <= after:
            raise _refuse(
                self.name, f"does not advance: it returned {result} after {at}", "Return an instant strictly after t."
            )
        if tick > LAST_SECOND:
            return None
        if tick - 1 > after and (again := self._next(tick - 1)) != tick:
            other = "None" if again is None else to_datetime(again)
            raise _refuse(
                self.name,
                f"has no fixed grid: after {at} it returned {result}, and one second before that, {other}",
                "The result must not depend on the position of t between two ticks.",
            )
        return tick

    def _wall(self, second: int) -> datetime:
        return to_datetime(second).astimezone(zone_info(self.tz))

    def _next(self, after: int) -> int | None:
        """Return the result of the function, unchecked."""
        result = self._call(self._type.next_after, self._wall(after))
        return to_seconds(result) if isinstance(result, datetime) and result.utcoffset() is not None else None

    def previous_tick(self, before: int) -> int | None:
        """Search by bisection: the next tick never moves back."""
        high = low = end = min(before, LAST_SECOND + 1) - 1
        reach = 1
        while (last := self.next_tick(low)) is None or last >= before:
            if low <= FIRST_SECOND:
                return None
            high, low = low, max(FIRST_SECOND, end - reach)
            reach *= 4
        while last < high:
            middle = (last + high) // 2
            if (tick := self.next_tick(middle)) is not None and tick < before:
                last = tick
            else:
                high = middle
        return last

    def count(self, after: int, until: int) -> int:
        """Count with the count function, or one by one, at most MAX_STEPS ticks."""
        after, until = max(after, FIRST_SECOND), min(until, LAST_SECOND)
        if until <= after:
            return 0
        if self._type.count is not None:
            local = zone_info(self.tz)
            bounds = (to_datetime(after).astimezone(local), to_datetime(until).astimezone(local))
            total = self._call(self._type.count, *bounds)
            if type(total) is not int or total < 0:
                raise _refuse(self.name, f"returned the count {str(total)[:60]!r}", "Return a whole number.")
            return total
        total, tick = 0, self.next_tick(after)
        while tick is not None and tick <= until:
            checkpoint()
            total += 1
            if total > MAX_STEPS:
                span = f"{to_datetime(after):%Y-%m-%d} and {to_datetime(until):%Y-%m-%d}"
                raise _refuse(
                    self.name,
                    f"has more than {MAX_STEPS:,} ticks between {span}, too many to count one by one",
                    "Give @custom_trigger a count function.",
                )
            tick = self.next_tick(tick)
        return total

    def walls(self, tick: int) -> list[int]:
        return [self._zone.to_wall(tick)]

    @property
    def max_per_day(self) -> int:
        return self._type.max_per_day

    @property
    def params(self) -> dict[str, Any]:
        params: dict[str, Any] = json.loads(self._text)
        return params

    def describe(self) -> str:
        """Return the text of the describe function, or the name and the parameters."""
        text = f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self._params.items())})"
        if self._type.describe is not None:
            # Lists and pages show it, so an error must not hide the schedule.
            try:
                text = str(self._type.describe(**self.params))[:1_000]
            except PLUG_IN_ERRORS as error:
                log.warning("custom trigger %s: describe raised %s", self.name, type(error).__name__)
        return text if self.tz == "UTC" else f"{text} ({self.tz})"

    def to_json(self) -> dict[str, object]:
        document: dict[str, object] = {"custom": self.name}
        if self._params:
            document["params"] = self.params
        return document if self.tz == "UTC" else {**document, "tz": self.tz}

    def __repr__(self) -> str:
        options = {**self._params, **({} if self.tz == "UTC" else {"tz": self.tz})}
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in options.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Custom) and (self.name, self._text, self.tz) == (other.name, other._text, other.tz)

    def __hash__(self) -> int:
        return hash((Custom, self.name, self._text, self.tz))

    def __reduce__(self) -> tuple[Callable[..., Custom], tuple[dict[str, object], str]]:
        return _read, (self.to_json(), self.tz)

    def _call(self, function: Callable[..., Any], *instants: datetime) -> Any:
        if (left := _calls.get()) is not None:
            left[0] -= 1
            if left[0] < 0:
                raise _refuse(self.name, "needs too many calls to plan one schedule", "Make it tick less often.")
        try:
            return function(*instants, **self._params)
        except PLUG_IN_ERRORS as error:
            raise _refuse(self.name, f"raised {error_text(error)}") from error


def _canonical(name: str, params: object) -> str:
    if not isinstance(params, Mapping) or not all(isinstance(key, str) for key in params):
        raise _refuse(name, "needs an object of params", 'Write, for example, {"days": 3}.')
    try:
        text = json.dumps(params, sort_keys=True, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise _refuse(
            name, f"has params that are not JSON ({str(error)[:200]})", "Use only values that JSON can represent."
        ) from None
    if len(text) > MAX_PARAMS_LENGTH or "\\u0000" in text:
        raise _refuse(
            name,
            f"has params that are longer than {MAX_PARAMS_LENGTH:,} characters, or contain a NUL character",
            "Shorten them.",
        )
    return text


def _read(document: Document, tz: str) -> Custom:
    name = document["custom"]
    if not isinstance(name, str):
        raise _refuse("", f"the name must be a text, not {type(name).__name__}")
    custom = find_custom(name)
    if custom is None:
        raise _refuse(name, "is not available here", INSTALL)
    return Custom(custom, document.get("params", {}), tz)


def _parse_text(text: str) -> Document:
    name, _, params = text.strip().partition(" ")
    if not params.strip():
        return {"custom": name}
    try:
        return {"custom": name, "params": json.loads(params)}
    except (ValueError, RecursionError):
        raise _refuse(
            name,
            f"has the params {params.strip()[:60]!r}, which are not JSON",
            'Write it like: business_days {"days": 3}.',
        ) from None


def _write_text(document: Document) -> str:
    params = document.get("params")
    return f"{document['custom']} {json.dumps(params, ensure_ascii=False)}" if params else str(document["custom"])


def _refuse(name: str, reason: str, hint: str = "") -> TriggerError:
    shown = f"custom: trigger {name[:60]!r} {reason}." if name else f"custom: {reason}."
    return TriggerError(shown, field="custom", reason=reason, hint=hint)


FORM = TriggerForm(
    name="custom",
    noun="custom trigger",
    metavar="NAME",
    summary="A custom trigger by its registered name.",
    about="The name of a registered custom trigger, such as business_days.",
    example='custom business_days {"days": 3}',
    kind="text",
    schema={"type": "string", "minLength": 1, "maxLength": 200},
    format=4,
    options=(FormOption("params", "object", "The parameters of `custom`.", {"type": "object"}),),
    read=_read,
    parse_text=lambda text, _: _parse_text(text),
    write_text=_write_text,
)

"""Dependencies: ticks that run only after other schedules have succeeded, recently enough."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, TypeGuard

from tickbird.domain.errors import ConflictError, DefinitionError
from tickbird.domain.text import check_name
from tickbird.domain.time.durations import MAX_DURATION, Duration, duration_text, seconds

MAX_DEPENDENCIES = 20
_NEVER = -(2**62)
_FOR_EVER = 2**62
_LENGTHS = ("within", "wait")
_HINT = 'Write after("load", within="24h"), or add wait="2h" to let ticks wait for it.'


@dataclass(frozen=True, slots=True)
class After:
    """A schedule that must have succeeded within `within` seconds before a tick is due.

    If it has not, the tick is skipped, or its run waits up to `wait` seconds after `due_at`.
    """

    schedule: str
    within: int
    wait: int = 0

    def __post_init__(self) -> None:
        for name in ("within", "wait"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_DURATION:
                raise _refused(f"{name} must be a duration from 0 s to 100 years, not {str(value)[:60]!r}.")

    def __str__(self) -> str:
        waiting = f", waiting {duration_text(self.wait)}" if self.wait else ""
        return f"{self.schedule} within {duration_text(self.within) if self.within else '0 s'}{waiting}"

    def to_json(self) -> dict[str, Any]:
        return {"after": self.schedule, "within": self.within, **({"wait": self.wait} if self.wait else {})}


def after(schedule: str, within: Duration, wait: Duration | None = None) -> After:
    """Run a tick only if the other schedule succeeded in the time `within` before it is due.

    Otherwise the tick waits up to `wait` for a success, and is then skipped.
    """
    length = 0 if wait is None else seconds(wait, "depends_on", "wait")
    return After(schedule, seconds(within, "depends_on", "within"), length)


def read_dependencies(value: Any) -> tuple[After, ...]:
    """Read after(…), ("load", "24h") or {"after": "load", "within": "24h"}, or a list of these."""
    if value is None:
        return ()
    if isinstance(value, After | Mapping) or (isinstance(value, list | tuple) and value and isinstance(value[0], str)):
        value = [value]
    if not isinstance(value, list | tuple):
        raise _refused(f"{str(value)[:60]!r} is not a list of dependencies.")
    return tuple(_read(item) for item in value)


def _read(value: Any) -> After:
    if isinstance(value, After):
        return value
    if is_dependency(value):
        return After(value["after"], *(seconds(value[part], "depends_on", part) for part in _LENGTHS if part in value))
    if isinstance(value, list | tuple) and 2 <= len(value) <= 3:
        return after(*value)
    raise _refused(f"{str(value)[:60]!r} is not a schedule with the time within which it must have succeeded.")


def is_dependency(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Return whether it is an object with the keys of a dependency."""
    return isinstance(value, Mapping) and {"after", "within"} <= set(value) <= {"after", *_LENGTHS}


def stored_dependencies(value: Any) -> tuple[After, ...]:
    """Read the dependencies of a stored definition, in whole seconds."""
    if not isinstance(value, list):
        raise _refused("the value must be a list.")
    if not all(map(is_dependency, value)):
        raise _refused('the list must contain objects such as {"after": "load", "within": 86400, "wait": 7200}.')
    return tuple(After(item["after"], item["within"], item.get("wait", 0)) for item in value)


def has_duration_texts(value: Any) -> bool:
    """Return whether it is a list of dependencies with a duration as text."""
    if not isinstance(value, list) or not all(map(is_dependency, value)):
        return False
    return any(isinstance(item.get(part), str) for item in value for part in _LENGTHS)


def check_depends_on(value: object) -> None:
    """Raise DefinitionError if the value is invalid; `Definition` compares waits with other policies."""
    if has_duration_texts(value):
        stored_dependencies(value)
    if not isinstance(value, tuple) or len(value) > MAX_DEPENDENCIES:
        reason = f"must be a list of at most {MAX_DEPENDENCIES} dependencies"
        raise DefinitionError(f"depends_on {reason}.", field="depends_on", reason=reason)
    names = [check_name(dependency.schedule, "depends_on") for dependency in value]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DefinitionError(
            f"depends_on: {twice!r} is listed twice.", field="depends_on", hint="Remove one of the two."
        )


def needed_by(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the schedules that a stored definition depends on; decoding reports invalid ones."""
    items = raw.get("depends_on")
    names = (item.get("after") for item in items if isinstance(item, Mapping)) if isinstance(items, list) else ()
    return tuple(filter(could_be_name, names))


def could_be_name(name: object) -> TypeGuard[str]:
    """Return whether every store can search for this text; decoding checks whether it is a valid name."""
    return isinstance(name, str) and name.isascii() and name.isprintable()


def _refused(reason: str) -> DefinitionError:
    return DefinitionError(f"depends_on: {reason}", field="depends_on", hint=_HINT)


def check_dependencies(name: str, depends_on: Iterable[After], needs: Mapping[str, Collection[str]]) -> None:
    """Raise DefinitionError for a missing schedule or a cycle.

    `needs` has the existing schedules that can be reached, with their dependencies.
    """
    for dependency in depends_on:
        if dependency.schedule != name and dependency.schedule not in needs:
            raise DefinitionError(
                f"depends_on: there is no schedule {dependency.schedule!r}.",
                field="depends_on",
                hint="Create it first, or correct the name.",
            )
        if path := _path(dependency.schedule, name, needs):
            raise DefinitionError(
                f"depends_on: {name!r} would depend on itself: {' → '.join((name, *path))}.",
                field="depends_on",
                hint="Remove one of these dependencies.",
            )


def _path(start: str, end: str, needs: Mapping[str, Collection[str]]) -> list[str]:
    """Return the path from one schedule to another along their dependencies; empty if there is none."""
    paths = {start: [start]}
    reached = [start]
    while reached:
        name = reached.pop(0)
        if name == end:
            return paths[name]
        for following in needs.get(name, ()):
            if following not in paths:
                paths[following] = [*paths[name], following]
                reached.append(following)
    return []


def check_dependents(name: str, dependents: Sequence[str]) -> None:
    """Raise ConflictError if other schedules depend on this one."""
    if dependents:
        named = ", ".join(dependents[:10]) + (", …" if len(dependents) > 10 else "")
        raise ConflictError(
            f"schedule {name!r} cannot be deleted: {named} {'depends' if len(dependents) == 1 else 'depend'} on it.",
            hint="Remove it from their depends_on first.",
        )


def topological_order(needs: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Yield the names, dependencies first, otherwise in their given order."""
    done: set[str] = set()

    def walk(name: str, path: tuple[str, ...]) -> Iterator[str]:
        if name in path:
            circle = " → ".join((*path[path.index(name) :], name))
            raise DefinitionError(
                f"depends_on: these schedules depend on each other: {circle}.",
                field="depends_on",
                hint="Remove one of these dependencies.",
            )
        if name in done or name not in needs:
            return
        for needed in needs[name]:
            yield from walk(needed, (*path, name))
        done.add(name)
        yield name

    for name in needs:
        yield from walk(name, ())


@dataclass(frozen=True, slots=True)
class LastSuccess:
    """The last success of a schedule, in whole seconds since the epoch; None: never."""

    schedule_id: int
    at: int | None = None


@dataclass(frozen=True, slots=True)
class DependencyWait:
    """A waiting run is released if the schedule succeeds from `earliest_at` to `deadline_at`, inclusive."""

    schedule_id: int
    earliest_at: int
    deadline_at: int


class DependencyCheck:
    """The dependencies of a schedule at an instant.

    Each dependency has a `due_at` up to which it is met, and one up to which it is too late to wait.
    """

    def __init__(self, depends_on: Iterable[After], successes: Mapping[str, LastSuccess], now: float) -> None:
        self._dependencies: list[tuple[After, LastSuccess | None, int, int]] = []
        for dependency in depends_on:
            last = successes.get(dependency.schedule)
            met = _NEVER if last is None or last.at is None else last.at + dependency.within
            # A tick does not wait for a schedule that does not exist.
            past = _FOR_EVER if last is None or not dependency.wait else ceil(now - dependency.wait) - 1
            self._dependencies.append((dependency, last, met, past))

    @property
    def edges(self) -> list[int]:
        """The `due_at` values after which the results of `unmet` and `awaits` change."""
        return sorted({edge for _, _, met, past in self._dependencies for edge in (met, past)})

    def unmet(self, due_at: int) -> str:
        """Return the schedules that cause a skip of the tick with this `due_at`; empty: it runs or waits."""
        unmet = (item.schedule for item, _, met, past in self._dependencies if met < due_at <= past)
        return ", ".join(unmet)

    def awaits(self, due_at: int) -> tuple[DependencyWait, ...]:
        """Return the successes that a tick with this `due_at` waits for."""
        return tuple(
            DependencyWait(last.schedule_id, due_at - item.within, due_at + item.wait)
            for item, last, met, past in self._dependencies
            if last is not None and due_at > max(met, past)
        )

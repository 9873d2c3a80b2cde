"""Code-defined schedules: write the definitions that this process declares, in agreement with other live workers."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from tickbird.domain.errors import ConflictError, DefinitionError, NotFoundError, TickbirdError
from tickbird.domain.messages import count
from tickbird.domain.planning.code_sync import AppSchedule, reconcile
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.define import Create, SyncFromCode
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store

log = logging.getLogger("tickbird.engine")
_TRIES = 5
# Names in a log message.
_MAX_NAMED = 20
_DESCRIPTIONS: Mapping[type[Command], str] = {
    Create: "created",
    SyncFromCode: "changed",
    Resume: "resumed: its code is back",
    Pause: "paused: removed from code",
}


@dataclass(frozen=True, slots=True)
class Declarations:
    """The schedules that an app's code declares, by name."""

    namespace: str
    app: str
    schedules: Mapping[str, Definition] = field(default_factory=dict)


def _warn_in_memory(declarations: Declarations, stored: Mapping[str, AppSchedule]) -> None:
    """During an adoption, name the schedules that are still in memory."""
    declared = [name for name, definition in declarations.schedules.items() if not definition.durable]
    adopted = [name for name in declared if name in stored and stored[name].schedule.field_overrides.get("durable")]
    if adopted and (rest := sorted(set(declared) - set(adopted))):
        names = ", ".join(rest[:_MAX_NAMED]) + (f" and {len(rest) - _MAX_NAMED:,} more" if rest[_MAX_NAMED:] else "")
        log.warning(
            "%s adopted, %s still in memory: %s", count(len(adopted), "schedule"), count(len(rest), "schedule"), names
        )


async def sync(
    store: Store,
    declarations: Declarations,
    worker: Worker | None = None,
    *,
    adopt: bool = False,
    now: datetime | None = None,
) -> list[str]:
    """Write the changed definitions; returns one line per change. `adopt` as in reconcile."""
    done: list[str] = []
    for tries in range(_TRIES):
        stored = await store.schedules.list_of_app(
            declarations.namespace, declarations.app, list(declarations.schedules)
        )
        live: dict[str, set[str]] = {}
        for other in await store.workers.list(declarations.namespace, now=now):
            if other.app == declarations.app and (worker is None or other.id != worker.id):
                for name, declared_fingerprint in other.declared.items():
                    live.setdefault(name, set()).add(declared_fingerprint)
        commands = reconcile(
            declarations.namespace, declarations.app, declarations.schedules, stored, live, adopt=adopt
        )
        conflicts: dict[str, TickbirdError] = {}
        for name, command in commands:
            if name in conflicts:
                continue
            try:
                await store.schedules.change(declarations.namespace, name, command, now=now)
            except (ConflictError, NotFoundError) as error:
                # Another worker of this deploy, or a person, was faster. Continue with the other schedules, because
                # that worker writes them too; then decide the rest again.
                conflicts[name] = error
                # The schedule was removed from code and ends with the ticks that are due now. Planning them ends it.
                if tries == _TRIES - 1 and isinstance(command, Pause) and isinstance(error, ConflictError):
                    del conflicts[name]
                continue
            except DefinitionError as error:
                # One override that does not fit must not stop a whole deploy.
                if not (isinstance(command, SyncFromCode) and stored[name].schedule.field_overrides):
                    raise
                log.error(
                    "schedule %s keeps its stored definition: an operator's override does not fit its new code: %s"
                    " `tickbird set %s --unset FIELD` removes the override.",
                    name,
                    error,
                    name,
                )
                continue
            action = _DESCRIPTIONS[type(command)]
            done.append(f"{name}: {action}")
            log.info("schedule %s: %s", name, action)
        if not conflicts:
            _warn_in_memory(declarations, stored)
            return done
        if tries == _TRIES - 1:
            raise next(iter(conflicts.values()))
    return done

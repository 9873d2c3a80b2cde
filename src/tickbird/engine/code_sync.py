"""Code-defined schedules: bring the store to what this process declares, beside other live workers."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from tickbird.domain.errors import ConflictError, DefinitionError, NotFoundError, TickbirdError
from tickbird.domain.planning.code_sync import reconcile
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.define import Create, SyncFromCode
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store

log = logging.getLogger("tickbird.engine")
_TRIES = 5
_DESCRIPTIONS: Mapping[type[Command], str] = {
    Create: "created",
    SyncFromCode: "changed",
    Resume: "resumed: its code is back",
    Pause: "paused: removed from code",
}


@dataclass(frozen=True, slots=True)
class Declarations:
    """What an app's code declares: schedules by name."""

    namespace: str
    app: str
    schedules: Mapping[str, Definition] = field(default_factory=dict)


async def sync(
    store: Store,
    declarations: Declarations,
    worker: Worker | None = None,
    *,
    adopt: bool = False,
    now: datetime | None = None,
) -> list[str]:
    """Write what must change, and tell what was done: a line for each change; `adopt` as in reconcile."""
    done: list[str] = []
    for tries in range(_TRIES):
        stored = await store.schedules.list_of_app(
            declarations.namespace, declarations.app, list(declarations.schedules)
        )
        live: dict[str, set[str]] = {}
        for other in await store.workers.list(declarations.namespace, now=now):
            if other.app == declarations.app and (worker is None or other.id != worker.id):
                for name, mark in other.declared.items():
                    live.setdefault(name, set()).add(mark)
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
                # Another worker of this deploy or a person was quicker. The others first, since that worker is at them
                # too; then what is left is decided anew.
                conflicts[name] = error
                # Removed from code, and over with the ticks that are due by now: planning them ends it.
                if tries == _TRIES - 1 and isinstance(command, Pause) and isinstance(error, ConflictError):
                    del conflicts[name]
                continue
            except DefinitionError as error:
                # One override that does not fit must not keep a whole deploy from starting.
                if not (isinstance(command, SyncFromCode) and stored[name].schedule.field_overrides):
                    raise
                log.error(
                    "schedule %s stays as it is, since what an operator has set does not fit its new code: %s"
                    " `tickbird set %s --unset FIELD` takes it back.",
                    name,
                    error,
                    name,
                )
                continue
            action = _DESCRIPTIONS[type(command)]
            done.append(f"{name}: {action}")
            log.info("schedule %s: %s", name, action)
        if not conflicts:
            return done
        if tries == _TRIES - 1:
            raise next(iter(conflicts.values()))
    return done

"""Checks of deploys: no return to an older definition, and no change of an operator's pause or overrides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.definitions import to_definition
from tickbird.domain.planning.commands.define import Create, SyncFromCode
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.schedules.codec import fingerprint
from tickbird.domain.schedules.schedule import SYNC_ACTOR

if TYPE_CHECKING:
    from lab.simulation.checker import Checker
    from lab.simulation.world import Call


class Deploys:
    """Follows the declarations of each worker, and the origin of the stored definitions."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        # Worker → the end of its liveness (in the store's time), and its declarations.
        self._live: dict[str, tuple[float, dict[str, str]]] = {}
        # Worker → the declarations of the others when it last read them.
        self._read_by: dict[str, dict[str, set[str]]] = {}
        self._stored: dict[str, str | None] = {}
        self._past: dict[str, set[str]] = {}

    def see(self, call: Call) -> None:
        now = call.now.timestamp()
        if call.verb == "workers.heartbeat":
            worker, live_for = call.args
            self._live[worker.id] = now + live_for, dict(worker.declared)
        elif call.verb == "workers.remove":
            self._live.pop(call.args[0], None)
        elif call.verb == "workers.list":
            live: dict[str, set[str]] = {}
            for worker_id, (until, declares) in self._live.items():
                if until > now and worker_id != call.host:
                    for name, digest in declares.items():
                        live.setdefault(name, set()).add(digest)
            self._read_by[call.host] = live
        elif call.verb == "schedules.change":
            self._changed(call)

    def _changed(self, call: Call) -> None:
        _, name, command = call.args
        by_code = command.actor == SYNC_ACTOR
        others = self._read_by.get(call.host, {}).get(name, set())
        broken = self._checker.broken
        if isinstance(command, Create | SyncFromCode) and by_code:
            digest = fingerprint(command.definition)
            stored = self._stored.get(name)
            if isinstance(command, SyncFromCode) and digest == stored:
                broken("deploys", f"{call.host} writes {name} again although nothing changed")
            elif isinstance(command, SyncFromCode) and digest in self._past.get(name, set()) and stored in others:
                broken("deploys", f"{call.host} reverts {name} although a live worker declares the stored definition")
            self._stored[name] = digest
            self._past.setdefault(name, set()).add(digest)
        elif isinstance(command, Pause):
            if by_code and others:
                broken("deploys", f"{call.host} pauses {name} although a live worker declares it")
            if by_code and (paused_by := self._paused_by(call, name)) is not None:
                broken("deploys", f"{call.host} pauses {name} over the pause of {paused_by}")
        elif isinstance(command, Resume) and by_code and self._paused_by(call, name) != SYNC_ACTOR:
            broken("deploys", f"{call.host} ends the pause of {name} by {self._paused_by(call, name)}")

    def _paused_by(self, call: Call, name: str) -> str | None:
        """The actor of the pause that is in force at a call."""
        for schedule in self._checker.schedules.values():
            if schedule.name == name and schedule.state == "paused":
                over = schedule.paused_until is not None and schedule.paused_until <= call.now.timestamp()
                return None if over else schedule.paused_by
        return None

    def at_end(self) -> None:
        """If only one version is left and all runs are final, the store has its declarations."""
        record = self._checker.record
        declared = [host.version for host in record.hosts.values() if host.alive]
        if len(set(declared)) != 1:
            return
        version = record.scenario.versions[declared[0]]
        for _, name, app, _, digest, paused_by, note, state in record.final:
            if app is None or state == "deleted":
                continue
            if name in version:
                index = version[name]
                expected = fingerprint(to_definition(record.scenario.specs[index], {"spec": index}))
                if digest != expected:
                    self._checker.broken("deploys", f"{name} differs from the declaration of the only live version")
                if paused_by == SYNC_ACTOR:
                    self._checker.broken("deploys", f"{name} is declared but {note}")

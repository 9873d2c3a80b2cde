"""Faults of processes and of the store: kills, freezes, deploys, outages, refused writes and wrong clocks."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.simulation.host import Host
    from lab.simulation.world import World


class ProcessFaults:
    """Injects the faults, and starts processes again."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._stopped = False
        self._no_workers = False
        self._draining: set[str] = set()
        self._staffing = False
        self._starts_disabled = False
        self.worker_count = world.scenario.workers
        self.version = 0

    def start(self) -> None:
        """Schedule the faults over the scenario's span."""
        self._world.fate.spawn(self._happen())

    def stop(self) -> None:
        """End all faults; missing workers start again."""
        self._stopped = True
        self._no_workers = False
        self._accept_runs()

    def staff(self) -> None:
        """Start the workers of the current version that are missing."""
        staying = [host for host in self._world.alive() if host.id not in self._draining]
        for _ in range(max(1, self.worker_count) - len([host for host in staying if host.version == self.version])):
            self._world.start_host(self.version)

    def _staff_again(self) -> None:
        self._staffing = False
        if not self._world.alive():
            self.staff()

    def disable_starts(self) -> None:
        """Start no more workers."""
        self._starts_disabled = True

    def replace(self, ended: Host) -> None:
        """Start the same version again after a crash, the current one after a drain."""
        world = self._world
        drained = ended.id in self._draining
        self._draining.discard(ended.id)
        if world.calm:
            # A worker that started during an outage may give up even now. One check is enough for all of them.
            if not self._staffing and not self._starts_disabled:
                self._staffing = True
                world.later(world.scenario.heartbeat, self._staff_again)
            return
        version = self.version if drained else ended.version

        def start() -> None:
            missing = not self._no_workers and len(world.alive()) < self.worker_count
            if missing and not world.calm:
                world.start_host(version)

        world.later(world.chance.random() * 2 * world.scenario.heartbeat, start)

    async def _happen(self) -> None:
        scenario, chance = self._world.scenario, self._world.chance
        gap = scenario.span / (scenario.process_faults + 1)
        kinds = [self._kill, self._restart, self._scale, self._store_outage, self._outage]
        kinds += [self._freeze] * 3 + [self._cut_off] * 6
        if len(scenario.versions) > 1:
            kinds += [self._deploy] * 4
        if scenario.jumps:
            kinds += [self._jump] * 6
        if scenario.refusals:
            kinds += [self._refuse_runs] * 6
        if scenario.leader_timeout:
            kinds += [self._remove_lease] * 2 + [self._freeze_leader] * 4
        for _ in range(scenario.process_faults):
            await asyncio.sleep(chance.random() * 2 * gap)
            if self._stopped:
                return
            await chance.choice(kinds)()

    def _pick(self) -> Host | None:
        """Some worker, preferably a busy one, because more can go wrong there."""
        hosts = self._world.alive()
        busy = [host for host in hosts if self._world.journal.is_busy(host.id)]
        if busy and self._world.chance.random() < 0.7:
            hosts = busy
        return self._world.chance.choice(hosts) if hosts else None

    async def _kill(self) -> None:
        if host := self._pick():
            host.crash()

    async def _freeze(self) -> None:
        if host := self._pick():
            host.freeze()

    async def _cut_off(self) -> None:
        """Drop packets between one worker and the store; the others continue."""
        if host := self._pick():
            world = self._world
            duration = world.chance.uniform(0.2, 3.0) * world.scenario.lease
            world.note(host.id, f"is cut off for {duration:.3f} s")
            host.cut_off = True
            world.later(duration, lambda: setattr(host, "cut_off", False))

    async def _restart(self) -> None:
        """Drain the workers one by one; each is replaced."""
        for host in self._world.alive():
            if host.alive and not host.loop.frozen:
                self._draining.add(host.id)
                host.drain()
                await asyncio.sleep(self._world.chance.random() * self._world.scenario.heartbeat)
                if self._stopped:
                    return

    async def _deploy(self) -> None:
        versions = [n for n in range(len(self._world.scenario.versions)) if n != self.version]
        self.version = self._world.chance.choice(versions)
        self._world.note("", f"version {self.version} is deployed")
        await self._restart()

    async def _scale(self) -> None:
        self.worker_count = self._world.chance.choice((1, 2, 3))
        while len(self._world.alive()) < self.worker_count and not self._world.calm:
            self._world.start_host(self.version)

    async def _store_outage(self) -> None:
        world = self._world
        world.note("", "the store cannot be reached")
        world.store_is_down = True
        await asyncio.sleep(world.chance.random() * 3 * world.scenario.lease)
        world.store_is_down = False
        world.note("", "the store is back")

    async def _refuse_runs(self) -> None:
        """A trigger refuses new runs of a schedule, or of all, for some time."""
        world = self._world
        db = world.store._writer._db
        ids = [schedule_id for (schedule_id,) in db.execute("SELECT id FROM schedules ORDER BY id")]
        when = world.chance.choice(["", *(f"WHEN NEW.schedule_id = {schedule_id}" for schedule_id in ids)])
        world.note("", f"new runs are refused {when}".rstrip())
        db.execute(f"CREATE TRIGGER refuse BEFORE INSERT ON runs {when} BEGIN SELECT raise(ABORT, 'refused'); END")
        await asyncio.sleep(world.chance.random() * 3 * world.scenario.heartbeat)
        self._accept_runs()

    def _accept_runs(self) -> None:
        self._world.store._writer._db.execute("DROP TRIGGER IF EXISTS refuse")

    def _leader(self) -> Host | None:
        rows = self._world.store._writer._db.execute("SELECT worker FROM leader_lease").fetchall()
        host = self._world.hosts.get(rows[0][0]) if rows else None
        return host if host is not None and host.alive else None

    async def _freeze_leader(self) -> None:
        """Freeze or cut off the leader, possibly longer than its lease."""
        host, world = self._leader(), self._world
        if host is None:
            return
        if world.chance.random() < 0.5:
            host.freeze("as the leader")
            return
        host.cut_off = True
        duration = world.scenario.leader_timeout * world.chance.choice((0.3, 1.1, 3.0))
        world.note(host.id, f"is cut off as the leader for {duration:.3f} s")
        world.later(duration, lambda: setattr(host, "cut_off", False))

    async def _remove_lease(self) -> None:
        """Plain SQL deletes the lease: the former leader and the next one both believe that they lead."""
        world = self._world
        world.note("", "the lease of the leader is deleted")
        world.store._writer._db.execute("DELETE FROM leader_lease")
        world.remove_leader()

    async def _outage(self) -> None:
        """Kill all workers for some time."""
        world = self._world
        world.note("", "no worker is alive")
        self._no_workers = True
        for host in world.alive():
            host.crash()
        await asyncio.sleep(world.chance.random() * 12 * world.scenario.heartbeat)
        self._no_workers = False
        while len(world.alive()) < self.worker_count and not world.calm:
            world.start_host(self.version)

    async def _jump(self) -> None:
        """Set the store's clock forward or back, by little or much, and perhaps correct it soon."""
        world, chance = self._world, self._world.chance
        by = chance.random() * chance.choice((25.0, 120.0, 3_600.0, 6.0 * world.scenario.heartbeat))
        if chance.random() < 0.4:
            by = max(-by, -3.0 * world.scenario.heartbeat)
        world.set_clock(by)
        if chance.random() < 0.5:
            await asyncio.sleep(chance.random() * chance.choice((60.0, 600.0, world.scenario.heartbeat)))
            if not self._stopped:
                world.set_clock(-by)

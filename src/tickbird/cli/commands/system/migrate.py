"""Commands about the store as a whole: its schema, and what code declares in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from tickbird.app import Tickbird
from tickbird.cli.app_loading import app_argument, find_app
from tickbird.cli.connection import run_async
from tickbird.cli.options import Command, GlobalOptions
from tickbird.cli.output import Printer, print_result, warn
from tickbird.domain.messages import count
from tickbird.domain.schedules.codec import fingerprint
from tickbird.domain.workers import Worker
from tickbird.engine.code_sync import sync as write_declarations
from tickbird.store.protocol.store import Store
from tickbird.store.shared.migrations import META
from tickbird.stores import open_store

# Long enough for a deploy to start its workers, which then declare the same themselves.
_DECLARED_FOR = 600.0


@click.command(cls=Command)
@click.pass_obj
def migrate(settings: GlobalOptions) -> None:
    """Create the store's schema, or bring it up to date."""

    async def work() -> tuple[str, Sequence[str], str]:
        store = open_store(settings.store_url)
        try:
            done = list(await store.migrate())
            await store.open()
            return store.url, done, (await store.check_identity()).copy_reason
        finally:
            await store.close()

    url, applied, copied = run_async(work(), settings)
    if copied:
        warn(f"{copied}.")

    def show_applied(screen: Printer) -> None:
        for name in applied:
            screen.line(f"applied {name}" if name != META else "set the version right that the table meta states")
        screen.line(f"{url} is up to date." if applied else f"{url} was up to date already.")

    print_result(settings, lambda: {"url": url, "applied": list(applied), "copy": bool(copied)}, show_applied)


@click.command(cls=Command)
@app_argument
@click.pass_obj
def sync(settings: GlobalOptions, app: str | None, app_option: str | None) -> None:
    """Write what an app's code declares to the store, without running it.

    For ten minutes it counts as declared by a live worker, so that workers of the old code do not pause it before
    those of the new code start.
    """
    bird = find_app(settings, app, app_option)

    async def work() -> tuple[list[str], list[str]]:
        store = open_store(bird.url)
        await store.open()
        try:
            return await _declare(store, bird)
        finally:
            await store.close()

    changes, kept = run_async(work(), settings)

    def show_changes(screen: Printer) -> None:
        for change in changes:
            screen.line(change)
        for name in kept:
            screen.line(f"{name}: kept as stored, since a live worker still declares that")
        declared = count(len(bird.declarations.schedules), "schedule")
        if not changes and not kept:
            screen.line(f"Nothing to change: the store has what app {bird.app} declares ({declared}).")

    done = [dict(zip(("schedule", "change"), change.split(": ", 1), strict=True)) for change in changes]
    print_result(
        settings, lambda: {"app": bird.app, "namespace": bird.namespace, "changes": done, "kept": kept}, show_changes
    )


async def _declare(store: Store, bird: Tickbird) -> tuple[list[str], list[str]]:
    """Publish, then write; the changes, and the schedules that a live worker's definition keeps as they are."""
    from tickbird.worker import describe_worker

    worker: Worker = replace(describe_worker(bird), kind="sync", queues=(), slots=0, tasks={})
    await store.heartbeat(worker, _DECLARED_FOR)
    try:
        for other in await store.list_workers(bird.namespace):
            # An earlier sync is superseded; left alone, it would keep a rollback from winning.
            if other.kind == "sync" and other.app == bird.app and other.id != worker.id:
                await store.remove_worker(other.id)
        changes = await write_declarations(store, bird.declarations, worker)
    except BaseException:
        # What was not written must not count as declared.
        await store.remove_worker(worker.id)
        raise
    stored = await store.list_app_schedules(bird.namespace, bird.app, list(bird.declarations.schedules))
    declared = bird.declarations.schedules.items()
    kept = [name for name, each in declared if stored[name].schedule.fingerprint != fingerprint(each)]
    return changes, kept

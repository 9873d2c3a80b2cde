"""The `migrate` and `sync` commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from tickbird.cli.app_loading import app_argument, find_app
from tickbird.cli.connection import run_async
from tickbird.cli.options import Command, GlobalOptions
from tickbird.cli.output import Printer, print_result, warn
from tickbird.domain.doctor.snapshot import CORRECTED_VERSION
from tickbird.domain.errors import StoreError
from tickbird.domain.messages import count
from tickbird.stores import find_roles, open_store


@click.command(cls=Command)
@click.option(
    "--roles",
    is_flag=True,
    help="Also create the database roles tickbird_viewer, tickbird_operator and tickbird_admin (PostgreSQL).",
)
@click.option(
    "--repair",
    is_flag=True,
    help="Also create missing tables and other parts; workers in fallback restore the schedules that they last read.",
)
@click.option("--print", "only_print", is_flag=True, help="With --roles: print the SQL and change nothing.")
@click.pass_obj
def migrate(settings: GlobalOptions, roles: bool, repair: bool, only_print: bool) -> None:
    """Create or upgrade the store's schema."""
    if only_print and not roles:
        raise click.UsageError("--print needs --roles.", click.get_current_context())
    # Before the migration, because not every store has roles.
    script = find_roles(settings.store_url).script if roles else ""
    if only_print:
        print_result(settings, lambda: {"roles_sql": script}, lambda screen: screen.line(script.rstrip(), lines=True))
        return

    async def work() -> tuple[str, Sequence[str], Sequence[str], str]:
        store = open_store(settings.store_url)
        try:
            created = list(await store.repair()) if repair else []
            done = list(await store.migrate())
            await store.open()
            return store.url, done, created, (await store.identity.check()).copy_reason
        finally:
            await store.close()

    url, applied, repaired, copied = run_async(work(), settings)
    if copied:
        warn(f"{copied}.")
    created = _create_roles(settings, url) if roles else None

    def show_applied(screen: Printer) -> None:
        for name in applied:
            screen.line(
                f"applied {name}" if name != CORRECTED_VERSION else "corrected the schema version in the table meta"
            )
        for part in repaired:
            screen.line(f"created {part}")
        screen.line(f"{url} is up to date." if applied or repaired else f"{url} was already up to date.")
        if created is not None:
            screen.line(f"created the roles {', '.join(created)}" if created else "the roles existed already")

    document: dict[str, Any] = {"url": url, "applied": list(applied), "copy": bool(copied)}
    if repair:
        document["repaired"] = list(repaired)
    if created is not None:
        document["roles"] = list(created)
    print_result(settings, lambda: document, show_applied)


def _create_roles(settings: GlobalOptions, url: str) -> Sequence[str]:
    """Create the roles; if the login may not, print the SQL for an administrator and raise StoreError."""
    roles = find_roles(settings.store_url)
    try:
        return run_async(roles.create(), settings)
    except PermissionError as error:
        settings.error_context = {"roles_sql": roles.script}
        if not settings.as_json:
            click.echo(roles.script, nl=False)
        raise StoreError(
            f"{url} is migrated, but its login may not create roles: {error}.",
            hint="Let an administrator execute the SQL above, for example with psql.",
        ) from None


@click.command(cls=Command)
@app_argument
@click.option(
    "--adopt",
    is_flag=True,
    help="Take over existing schedules with these names, if a person or a file without an app created them.",
)
@click.pass_obj
def sync(settings: GlobalOptions, app: str | None, app_option: str | None, adopt: bool) -> None:
    """Write the schedules that an app's code declares to the store.

    No task runs. For ten minutes, the store treats the declaration as if it came from a live worker. Therefore workers
    of the old code do not pause the new schedules before the new workers start.
    """
    bird = find_app(settings, app, app_option)

    from tickbird.worker import publish_declarations

    changes, kept = run_async(publish_declarations(bird, adopt=adopt), settings)

    def show_changes(screen: Printer) -> None:
        for change in changes:
            screen.line(change)
        for name in kept:
            screen.line(f"{name}: kept, because a live worker still declares the stored definition")
        declared = count(len(bird.declarations.schedules), "schedule")
        if not changes and not kept:
            screen.line(f"Nothing to change: the store is in sync with app {bird.app} ({declared}).")

    done = [dict(zip(("schedule", "change"), change.split(": ", 1), strict=True)) for change in changes]
    print_result(
        settings, lambda: {"app": bird.app, "namespace": bird.namespace, "changes": done, "kept": kept}, show_changes
    )

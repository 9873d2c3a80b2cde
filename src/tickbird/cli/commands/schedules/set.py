"""The `set` command."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

from tickbird.cli.connection import connect, run_async
from tickbird.cli.field_values import TRIGGER_OPTIONS, read_fields, settable, split_fields
from tickbird.cli.options import Command, GlobalOptions, actor_option, revision_option
from tickbird.cli.output import Printer, print_result, warn
from tickbird.cli.params import name_argument, storable_text
from tickbird.cli.time_input import reader
from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.schedules.fields import POLICIES, field_text
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.target_input import is_target_kind
from tickbird.domain.workers import executes
from tickbird.wire.codec import encode


class _SetCommand(Command):
    """Lists the policies that can be set, next to its options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Policies"):
            formatter.write_dl([(name, policy.help_with_default) for name, policy in POLICIES.items()])
        super().format_options(ctx, formatter)


def _complete_field(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [
        CompletionItem(f"{name}=", help=POLICIES[name].help if name in POLICIES else None)
        for name in settable()
        if name.startswith(incomplete)
    ]


@click.command("set", cls=_SetCommand)
@name_argument
@click.argument("fields", metavar="[FIELD=VALUE]...", nargs=-1, shell_complete=_complete_field)
@click.option(
    "--unset",
    type=storable_text,
    multiple=True,
    metavar="FIELD",
    help="Field to reset to its value in code or to its default, or trigger option to remove; repeatable.",
)
@revision_option
@actor_option
@click.pass_obj
def set_(
    settings: GlobalOptions,
    name: str,
    fields: tuple[str, ...],
    unset: tuple[str, ...],
    revision: int | None,
    actor: str,
) -> None:
    """Set fields of a schedule. Other fields stay unchanged.

    For example: retries=3 timeout=10m tags=mail,eu cron="0 9 * * *" tz=Europe/Rome payload='{"limit": 5}'. On a
    schedule from code, the value is an operator override: it survives deploys until you --unset it.

    If the trigger stays of the same kind (for example cron), its other options stay unchanged too: tz, anchor, dtstart,
    exdate, rdate and params.
    """
    if not fields and not unset:
        raise click.UsageError("give a field to set, such as retries=3, or --unset.", click.get_current_context())
    parts = [name for name in unset if name in TRIGGER_OPTIONS]
    # An empty text removes a part of the trigger.
    texts = split_fields((*fields, *(f"{name}=" for name in parts)))
    unset = tuple(name for name in unset if name not in parts)

    async def work() -> tuple[Schedule, Schedule, str]:
        async with connect(settings) as client:
            before, read = await reader(client, name, settings)
            values = read_fields(texts, before.definition.trigger if before.definition else None, read)
            after = await client.schedules.update(name, actor=actor, revision=revision, unset=unset, **values)
            if after.definition is None or not any(_moves_runs(field) for field in (*values, *unset)):
                return before, after, ""
            workers = await client.workers.list()
            served_by = after.definition.queue, after.definition.target
            return before, after, unserved_reason(*served_by, workers) if any(map(executes, workers)) else ""

    before, after, unserved = run_async(work(), settings)
    if unserved:
        warn(f"{unserved}: its runs stay queued until one does.")
    changed = sorted(
        field
        for field in {*before.definition_json, *after.definition_json}
        if before.definition_json.get(field) != after.definition_json.get(field)
    )
    document = {
        "schedule": encode(after),
        "changes": [
            {"field": field, "before": before.definition_json.get(field), "after": after.definition_json.get(field)}
            for field in changed
        ],
    }

    def show_changes(screen: Printer) -> None:
        if not changed:
            screen.line(f"{name}: nothing changed. It stays at revision {after.revision}.")
            return
        screen.line(f"{name} is now at revision {after.revision}.")
        rows = [
            (field, _shown(before.definition_json, field), _shown(after.definition_json, field)) for field in changed
        ]
        screen.table(("FIELD", "BEFORE", "AFTER"), rows)

    print_result(settings, lambda: document, show_changes)


def _moves_runs(field: str) -> bool:
    """Return True if a change of this field can require another worker."""
    return field in ("target", "queue") or is_target_kind(field)


def _shown(raw: Any, field: str) -> str:
    if field not in raw:
        return "(default)"
    return field_text(field, raw[field])

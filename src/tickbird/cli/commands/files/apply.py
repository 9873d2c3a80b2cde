"""Commands that apply schedule files: apply, diff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from tickbird.cli.commands.files.document_input import (
    ConflictsReported,
    ErrorsReported,
    format_option,
    print_diagnostics,
    read_documents,
)
from tickbird.cli.commands.files.plan_output import plan_document, print_plan
from tickbird.cli.connection import connect, run_async
from tickbird.cli.errors import FAILED, INVALID
from tickbird.cli.options import Command, GlobalOptions, actor_option
from tickbird.cli.progress_bar import bar
from tickbird.cli.shell_completion import file_names
from tickbird.files.diagnostics import DocumentError, OwnedError
from tickbird.files.document import Document
from tickbird.files.loader import Format
from tickbird.files.plan import FilePlan

# Show a progress bar for more changes than this.
_MANY = 200
_files = click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    required=True,
    metavar="PATH",
    shell_complete=file_names,
    help="File, folder of files, or - for stdin; repeatable. All files together are one document.",
)
_prune = click.option("--prune", is_flag=True, help="Delete schedules of the app that are in no file.")
_adopt = click.option(
    "--adopt", is_flag=True, help="Take over existing schedules with these names, if a person created them."
)


@click.command(cls=Command)
@_files
@format_option
@_prune
@_adopt
@click.option("--dry-run", is_flag=True, help="Only show what would change, like `diff`.")
@actor_option
@click.pass_obj
def apply(
    settings: GlobalOptions,
    files: Sequence[str],
    spelling: Format | None,
    prune: bool,
    adopt: bool,
    dry_run: bool,
    actor: str,
) -> None:
    """Apply schedule files in one transaction.

    The schedules of the files' app are created or changed. Pauses and fields that operators have set stay unchanged.
    Schedules that are in no file stay too, unless you give --prune.
    """
    plan = _planned(settings, read_documents(files, spelling), actor, prune=prune, adopt=adopt, dry_run=dry_run)
    _refuse(settings, plan)
    print_plan(settings, plan, applied=not dry_run)


@click.command(cls=Command)
@_files
@format_option
@_prune
@_adopt
@click.pass_obj
def diff(settings: GlobalOptions, files: Sequence[str], spelling: Format | None, prune: bool, adopt: bool) -> int:
    """Show what `apply` would change, including ticks."""
    # Exit codes like those of diff(1): 0 same, 1 different, 2 error.
    settings.error_code = INVALID
    plan = _planned(settings, read_documents(files, spelling), "diff", prune=prune, adopt=adopt, dry_run=True)
    _refuse(settings, plan)
    print_plan(settings, plan, applied=False)
    return 0 if plan.is_empty else FAILED


def _refuse(settings: GlobalOptions, plan: FilePlan) -> None:
    """Raise if the plan cannot be applied. The incomplete plan is only part of the JSON output."""
    if not plan.diagnostics and not plan.conflicts:
        return
    settings.error_context = plan_document(plan)
    diagnostics = [*plan.diagnostics, *plan.conflicts]
    print_diagnostics(diagnostics)
    raise ErrorsReported(diagnostics) if plan.diagnostics else ConflictsReported(plan.conflicts)


def _planned(
    settings: GlobalOptions, document: Document, actor: str, *, prune: bool, adopt: bool, dry_run: bool
) -> FilePlan:
    """Plan, and apply the plan unless it is a dry run or has errors."""
    namespace = settings.namespace or document.namespace or "default"
    document = replace(document, namespace=namespace)

    async def work() -> FilePlan:
        async with connect(replace(settings, namespace=namespace)) as client:
            with bar(settings, "applying", _MANY) as show_progress:
                return await client.files.apply(
                    document, actor=actor, prune=prune, adopt=adopt, dry_run=dry_run, progress=show_progress
                )

    try:
        return run_async(work(), settings)
    except DocumentError as error:
        print_diagnostics(error.diagnostics)
        raise ErrorsReported(error.diagnostics) from None
    except OwnedError as error:
        print_diagnostics(error.diagnostics)
        raise ConflictsReported(error.diagnostics) from None

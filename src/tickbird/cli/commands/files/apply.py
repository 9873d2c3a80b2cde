"""Commands that bring files of schedules into the store: apply, diff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from tickbird.cli.commands.files.document_input import (
    Conflicts,
    Mistaken,
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

# More changes than these get a bar that shows how far they are.
_MANY = 200
_files = click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    required=True,
    metavar="PATH",
    shell_complete=file_names,
    help="A file, a folder of files, or - for standard input; may be given several times.",
)
_prune = click.option("--prune", is_flag=True, help="Delete schedules of the app that no file has.")
_adopt = click.option("--adopt", is_flag=True, help="Take over schedules of these names that a person made.")


@click.command(cls=Command)
@_files
@format_option
@_prune
@_adopt
@click.option("--dry-run", is_flag=True, help="Only show what would change, as `diff` does.")
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
    """Bring the store to what files of schedules say, in one transaction.

    All files together are one document. Schedules of its app are created or changed; what operators have paused or set
    stays so. Those that no file has are left alone, unless --prune deletes them.
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
    """Show what applying files would change, ticks included; exit code 1 if anything."""
    # As of diff itself: 0 the same, 1 different, 2 trouble of any kind.
    settings.error_code = INVALID
    plan = _planned(settings, read_documents(files, spelling), "diff", prune=prune, adopt=adopt, dry_run=True)
    _refuse(settings, plan)
    print_plan(settings, plan, applied=False)
    return 0 if plan.is_empty else FAILED


def _refuse(settings: GlobalOptions, plan: FilePlan) -> None:
    """Tell what keeps a plan from being applied; what would be done is only half of it, and for programs alone."""
    if not plan.diagnostics and not plan.conflicts:
        return
    settings.beside = plan_document(plan)
    print_diagnostics([*plan.diagnostics, *plan.conflicts])
    raise Mistaken([*plan.diagnostics, *plan.conflicts]) if plan.diagnostics else Conflicts(plan.conflicts)


def _planned(
    settings: GlobalOptions, document: Document, actor: str, *, prune: bool, adopt: bool, dry_run: bool
) -> FilePlan:
    """The plan, carried out unless it is a dry run or cannot be."""
    namespace = settings.namespace or document.namespace or "default"
    document = replace(document, namespace=namespace)

    async def work() -> FilePlan:
        async with connect(replace(settings, namespace=namespace)) as client:
            with bar(settings, "applying", _MANY) as counted:
                return await client.files.apply(
                    document, actor=actor, prune=prune, adopt=adopt, dry_run=dry_run, progress=counted
                )

    try:
        return run_async(work(), settings)
    except DocumentError as error:
        print_diagnostics(error.diagnostics)
        raise Mistaken(error.diagnostics) from None
    except OwnedError as error:
        print_diagnostics(error.diagnostics)
        raise Conflicts(error.diagnostics) from None

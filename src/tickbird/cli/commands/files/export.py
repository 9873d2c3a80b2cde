"""The `export` command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tickbird.cli.commands.files.ical import STDOUT, export_ical, ical_options, refuse_alone
from tickbird.cli.connection import connect, run_async
from tickbird.cli.errors import FAILED, Failed
from tickbird.cli.options import Command, GlobalOptions
from tickbird.cli.output import print_result, warn
from tickbird.cli.params import storable_text
from tickbird.cli.shell_completion import file_names
from tickbird.domain.messages import count
from tickbird.domain.schedules.codec import ignored_reason
from tickbird.domain.text import is_new_name
from tickbird.files.document import Document
from tickbird.files.loader import ENDINGS, FORMATS, Format


@click.command(cls=Command)
@click.option(
    "--app",
    type=storable_text,
    metavar="NAME",
    help="Export the schedules of this app (default: the owner, if there is only one).",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Export the schedules of all owners, with pauses and overrides, for another store.",
)
@click.option("--format", "spelling", type=click.Choice(FORMATS), help="Format (default: by file extension, or toml).")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=file_names,
    help="File to write (default: stdout).",
)
@ical_options
@click.pass_obj
def export(
    settings: GlobalOptions,
    /,
    app: str | None,
    everything: bool,
    spelling: Format | None,
    output: str | None,
    ical: str | None,
    **selection: Any,
) -> int:
    """Export the stored schedules to a file.

    Re-applying that file to the same store changes nothing. Pauses and overrides are written as comments; a
    JSON file has no comments. With --all, the file contains pauses, overrides and owners as data, so that you can apply
    it to another store. With --ical, the file contains the future ticks instead, for a calendar program.
    """
    if ical is not None:
        if app is not None or everything or spelling is not None or (output is not None and ical != STDOUT):
            raise click.UsageError(
                "--ical cannot be combined with --app, --all, --format or a file. Write --ical FILE.",
                click.get_current_context(),
            )
        export_ical(settings, output or ical, selection)
        return 0
    refuse_alone(selection)
    output = None if output == STDOUT else output
    if app is not None and everything:
        raise click.UsageError("--app and --all cannot be combined.", click.get_current_context())
    chosen = spelling or ENDINGS.get(Path(output or "").suffix.lower()) or ("json" if settings.as_json else "toml")

    async def work() -> tuple[Document, dict[str, list[str]], dict[str, list[str]], list[str]]:
        async with connect(settings) as client:
            document = await client.files.export(app=app, everything=everything)
            unreadable: dict[str, list[str]] = {}
            unusable: list[str] = []
            after = ""
            while rows := await client.schedules.list(after=after, limit=1_000):
                schedules = [row.schedule for row in rows if everything or row.schedule.app == document.app]
                for schedule in schedules:
                    if schedule.name in document.schedules:
                        continue
                    if not is_new_name(schedule.name):
                        unusable.append(schedule.name)
                    else:
                        reason = ignored_reason(schedule.definition_json) or "this process cannot read them"
                        unreadable.setdefault(reason, []).append(schedule.name)
                after = rows[-1].schedule.name
            return document, await client.files.operator_notes(document), unreadable, unusable

    document, remarks, unreadable, unusable = run_async(work(), settings)
    for reason, names in unreadable.items():
        _warn_not_exported(names, reason, "See `tickbird show NAME`")
    _warn_not_exported(
        [repr(name) for name in unusable], "a file cannot contain such a name", "Delete one with `tickbird rm NAME`"
    )
    is_partial = bool(unreadable or unusable)
    from tickbird.files.writer import write

    owner = "all owners" if everything else f"app {document.app}"
    text = write(document, chosen, head=[f"Schedules of {owner}, written by `tickbird export`."], remarks=remarks)
    if output is None:
        click.echo(text, nl=False)
        return FAILED if is_partial else 0
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failed(f"the file {output} cannot be written ({error.strerror}).", hint="Choose another file.") from None
    print_result(
        settings,
        lambda: {"file": output, "format": chosen, "schedules": len(document.schedules)},
        lambda screen: screen.line(f"{count(len(document.schedules), 'schedule')} written to {output}."),
    )
    return FAILED if is_partial else 0


def _warn_not_exported(names: list[str], reason: str, step: str) -> None:
    if names:
        named = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
        warn(f"{count(len(names), 'schedule')} not exported, because {reason}: {named}. {step}.")

"""Commands about schedules in files: apply, diff, export, schema."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from tickbird.cli.commands.files.ical import STDOUT, export_ical, ical_options, refuse_alone
from tickbird.cli.connection import connect, run_async
from tickbird.cli.errors import FAILED, INVALID, Failed
from tickbird.cli.options import Command, GlobalOptions, actor_option
from tickbird.cli.output import Cell, Printer, clean, clock, print_result, warn
from tickbird.cli.params import storable_text
from tickbird.cli.progress_bar import bar
from tickbird.cli.shell_completion import file_names
from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.messages import count
from tickbird.domain.schedules.schedule import PauseState
from tickbird.domain.time.durations import duration_text
from tickbird.domain.time.instants import to_datetime
from tickbird.domain.triggers.trigger import trigger_from_json
from tickbird.files.diagnostics import Diagnostic, DocumentError, OwnedError
from tickbird.files.document import Document, read_bytes, read_files
from tickbird.files.loader import ENDINGS, FORMATS, MAX_FILE, Format
from tickbird.files.plan import FilePlan, KeptOverride, Kind, ScheduleChange
from tickbird.files.tick_diff import HORIZON, TickChanges
from tickbird.wire.encode.files import plan_document

# So many mistakes and so many schedules are shown; --json has all.
_MAX_DIAGNOSTICS = 200
_SHOWN = 50
# More changes than these get a bar that shows how far they are.
_MANY = 200
_WITHIN = duration_text(HORIZON)
_SYMBOLS = {
    "create": Cell("+", "green"),
    "change": Cell("~", "yellow"),
    "resume": Cell("~", "yellow"),
    "calendar": Cell("~", "yellow"),
    "delete": Cell("-", "red"),
}
_VERBS: dict[Kind, tuple[str, str]] = {
    "create": ("create", "created"),
    "change": ("change", "changed"),
    "resume": ("resume", "resumed"),
    "calendar": ("bring up to its calendar", "brought up to its calendar"),
    "delete": ("delete", "deleted"),
}
_CATCH_UP = {
    "one": "one run for all of them",
    "latest": "one run, for the newest",
    "all": "a run for each",
    "skip": "none of them runs",
}

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
format_option = click.option(
    "--format",
    "spelling",
    type=click.Choice(FORMATS),
    help="How standard input is written; files tell by their name.",
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
    _emit(settings, plan, applied=not dry_run)


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
    _emit(settings, plan, applied=False)
    return 0 if plan.is_empty else FAILED


@click.command(cls=Command)
@click.option(
    "--app", type=storable_text, metavar="NAME", help="Schedules of this app; else of the only owner there is."
)
@click.option("--all", "everything", is_flag=True, help="Schedules of all owners, for another store.")
@click.option("--format", "spelling", type=click.Choice(FORMATS), help="How to write it; else as the file's name says.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=file_names,
    help="Write it there instead of to standard output.",
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
    **asked: Any,
) -> None:
    """Write what is stored as a file that can be applied.

    Applying it changes nothing: what operators have set over it is not part of it, and remarks tell of that. With
    --ical the file is a calendar of coming ticks instead, for any calendar program.
    """
    if ical is not None:
        if app is not None or everything or spelling is not None or (output is not None and ical != STDOUT):
            raise click.UsageError(
                "--ical goes with none of --app, --all and --format, and names its file itself.",
                click.get_current_context(),
            )
        export_ical(settings, output or ical, asked)
        return
    refuse_alone(asked)
    output = None if output == STDOUT else output
    if app is not None and everything:
        raise click.UsageError("--app and --all exclude each other.", click.get_current_context())
    found = spelling or ENDINGS.get(Path(output or "").suffix.lower()) or ("json" if settings.as_json else "toml")

    async def work() -> tuple[Document, dict[str, list[str]]]:
        async with connect(settings) as client:
            document = await client.export(app=app, everything=everything)
            return document, await client.operator_notes(document)

    document, remarks = run_async(work(), settings)
    from tickbird.files.writer import write

    owner = "all owners" if everything else f"app {document.app}"
    text = write(document, found, head=[f"Schedules of {owner}, written by `tickbird export`."], remarks=remarks)
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failed(f"the file {output} cannot be written ({error.strerror});", hint="choose another one.") from None
    print_result(
        settings,
        lambda: {"file": output, "format": found, "schedules": len(document.schedules)},
        lambda screen: screen.line(f"{count(len(document.schedules), 'schedule')} written to {output}."),
    )


@click.command(cls=Command)
@click.pass_obj
def schema(settings: GlobalOptions) -> None:
    """Print the JSON Schema of files of schedules, for editors."""
    from tickbird.files.json_schema import json_schema

    click.echo(json.dumps(json_schema(), indent=2))


def read_documents(files: Sequence[str], spelling: Format | None) -> Document:
    """The document of all files, or every mistake in them on a line of its own."""
    try:
        if "-" not in files:
            return read_files(files)
        if len(files) > 1:
            raise InvalidError("file: standard input is a whole document and goes with no other file.", field="file")
        data = sys.stdin.buffer.read(MAX_FILE + 1)
        found = spelling or ("json" if data.lstrip()[:1] == b"{" else None)
        if found is None:
            raise InvalidError(
                "format: say how standard input is written,", field="format", hint="such as --format toml."
            )
        return read_bytes(data, "stdin", found)
    except DocumentError as error:
        _print_diagnostics(error.diagnostics)
        raise Mistaken(error.diagnostics) from None


class Mistaken(InvalidError):
    """Files with mistakes, of which a person has been told each on a line of its own."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(f"{count(len(diagnostics), 'error')}; nothing was changed.", field="file")
        self.diagnostics = tuple(diagnostics)


class Conflicts(ConflictError):
    """Schedules that are somebody else's, of which a person has been told each on a line of its own."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(f"{count(len(diagnostics), 'conflict')}; nothing was changed.")
        self.diagnostics = tuple(diagnostics)


def _print_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    for diagnostic in diagnostics[:_MAX_DIAGNOSTICS]:
        click.echo(clean(str(diagnostic)), err=True)
    if len(diagnostics) > _MAX_DIAGNOSTICS:
        click.echo(f"… and {len(diagnostics) - _MAX_DIAGNOSTICS:,} more.", err=True)


def _refuse(settings: GlobalOptions, plan: FilePlan) -> None:
    """Tell what keeps a plan from being applied; what would be done is only half of it, and for programs alone."""
    if not plan.diagnostics and not plan.conflicts:
        return
    settings.beside = plan_document(plan, applied=False)
    _print_diagnostics([*plan.diagnostics, *plan.conflicts])
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
                return await client.apply(
                    document, actor=actor, prune=prune, adopt=adopt, dry_run=dry_run, counted=counted
                )

    try:
        return run_async(work(), settings)
    except DocumentError as error:
        _print_diagnostics(error.diagnostics)
        raise Mistaken(error.diagnostics) from None
    except OwnedError as error:
        _print_diagnostics(error.diagnostics)
        raise Conflicts(error.diagnostics) from None


# What is shown


def _emit(settings: GlobalOptions, plan: FilePlan, *, applied: bool) -> None:
    print_result(
        settings,
        lambda: plan_document(plan, applied=applied),
        lambda screen: _show(screen, plan, settings, applied=applied),
    )
    if plan.unserved:
        named = ", ".join(plan.unserved[:10]) + (", …" if len(plan.unserved) > 10 else "")
        warn(f"no live worker has {'this task' if len(plan.unserved) == 1 else 'these tasks'}: {named}.")


def _show(screen: Printer, plan: FilePlan, settings: GlobalOptions, *, applied: bool) -> None:
    if plan.is_empty:
        screen.line(f"Nothing to do: {count(plan.same, 'schedule')} of app {plan.app} as the files say.")
    for change in plan.schedules[:_SHOWN]:
        _show_change(screen, change, settings, applied=applied)
    if len(plan.schedules) > _SHOWN:
        screen.line(f"… and {count(len(plan.schedules) - _SHOWN, 'schedule')} more; --json has all.")
    for each in plan.stays[:_SHOWN]:
        for line in _print_overrides(each.kept_overrides, each.pause):
            screen.line(f"= {each.name}: {line}")
    if len(plan.stays) > _SHOWN:
        screen.line(f"… and {count(len(plan.stays) - _SHOWN, 'schedule')} more that stay so; --json has all.")
    for setting in plan.settings:
        before = "not set" if setting.before is None else _value(setting.before)
        screen.line(f"~ {setting.part.removesuffix('s')} {setting.name}: {before} → {_value(setting.after)}")
    for crowd in plan.crowds:
        at, names = clock(crowd.at, settings.tz or "UTC"), ", ".join(crowd.names)
        more = ", …" if crowd.schedules > len(crowd.names) else ""
        screen.line(f"! {crowd.schedules} schedules are due in the minute of {at}: {names}{more}; a spread parts them.")
    if plan.not_in_files:
        named = ", ".join(plan.not_in_files[:5]) + (", …" if len(plan.not_in_files) > 5 else "")
        them = "it" if len(plan.not_in_files) == 1 else "them"
        screen.line(f"Left alone, though no file has {them}: {named} (--prune deletes).")
    if not plan.is_empty:
        screen.line(_summary(plan, applied=applied))


def _summary(plan: FilePlan, *, applied: bool) -> str:
    counts = [
        f"{plan.count(kind):,} {done if applied else f'to {to_do}'}"
        for kind, (to_do, done) in _VERBS.items()
        if plan.count(kind)
    ]
    if plan.settings:
        counts.append(f"{count(len(plan.settings), 'setting')}{'' if applied else ' to set'}")
    same = f"; {plan.same:,} as the files say" if plan.same else ""
    where = "" if plan.namespace == "default" else f" in namespace {plan.namespace}"
    return f"App {plan.app}{where}: {', '.join(counts)}{same}."


def _print_overrides(kept: Sequence[KeptOverride], pause: PauseState | None) -> Iterator[str]:
    """What people have done beside the files, and what stays."""
    for each in kept:
        declared = "" if each.value == each.declared else f"; the files say {_value(each.declared)}"
        yield f"{each.name}: stays {_value(each.value)}, as an operator has set it{declared}"
    if pause is not None:
        note = f' ("{pause.note}")' if pause.note else ""
        until = f" until {clock(to_datetime(pause.until), 'UTC')}" if pause.until is not None else ""
        yield f"stays paused by {pause.by}{note}{until}"


def _show_change(screen: Printer, change: ScheduleChange, settings: GlobalOptions, *, applied: bool) -> None:
    mark, definition = _SYMBOLS[change.kind], change.schedule.definition
    done = _VERBS[change.kind][1 if applied else 0]
    about = ""
    if change.kind == "create" and definition is not None:
        about = f": {definition.trigger.describe()}; {definition.target.kind} {definition.target.name}"
    screen.line(Cell(f"{mark.text} {change.name}: {done}{about}", mark.style))
    for each in change.fields:
        screen.line(f"    {each.name}: {_describe(each.name, each.before)} → {_describe(each.name, each.after)}")
    for line in _print_overrides(change.kept_overrides, None if change.kind == "delete" else change.pause):
        screen.line(f"    {line}")
    tz = settings.tz or ("UTC" if definition is None else definition.trigger.tz)
    for line in _ticks(change.ticks, tz):
        screen.line(f"    {line}")
    if change.late is not None:
        what = _CATCH_UP.get(change.late.catch_up, change.late.catch_up)
        screen.line(f"    {count(change.late.ticks, 'tick')} due and not planned yet: that comes first, {what}")
    if change.void:
        screen.line(
            f"    {count(change.void, 'single tick')} that somebody decided on: void, as it is on the grid no more"
        )
    for note in change.notes:
        screen.line(f"    {note}")


def _ticks(ticks: TickChanges, tz: str) -> Iterator[str]:
    if not ticks:
        return
    if ticks.before and ticks.after and ticks.before != ticks.after:
        yield f"{ticks.before:,} → {ticks.after:,} ticks within {_WITHIN}"
    at_least = "" if ticks.complete else "at least "
    whole = not (ticks.before and ticks.after)
    kinds: tuple[tuple[int, str, Sequence[Any]], ...] = (
        (ticks.moved, "move", [f"{clock(old, tz)} to {clock(new, tz)}" for old, new in ticks.moving]),
        (ticks.vanish, "vanish", [clock(at, tz) for at in ticks.vanishing]),
        (ticks.appear, "appear", [clock(at, tz) for at in ticks.appearing]),
    )
    for number, verb, listed in kinds:
        if not number:
            continue
        # Where all of them appear or vanish, it is known how many there are, be they ever so many.
        shown = count(max(ticks.before, ticks.after), "tick") if whole else at_least + count(number, "tick")
        more = ", …" if number > len(listed) or not ticks.complete else ""
        yield f"{shown} {verb if shown != '1 tick' else verb + 's'} within {_WITHIN}: {', '.join(listed)}{more}"


def _describe(name: str, value: Any) -> str:
    """The value of a field; triggers as people speak of them, where they can be read."""
    if name == "trigger":
        with suppress(InvalidError):
            return trigger_from_json(value).describe()
    return _value(value)


def _value(value: Any) -> str:
    if value is None:
        return "default"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

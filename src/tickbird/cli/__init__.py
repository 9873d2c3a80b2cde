"""The command line: `tickbird`. Each command's module is imported only when that command is used."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

import click

from tickbird.cli.errors import CODES, guarded
from tickbird.cli.options import GlobalOptions, shared_options

# Section → command → the module that has it, and what `tickbird --help` says of it.
COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "Run": {
        "dev": ("system.dev", "Work on an app while it is being written: start anew with every change."),
        "worker": ("system.worker", "Plan and execute the schedules of an app."),
        "server": ("system.server", "Serve the dashboard and the HTTP API, to those who have a token."),
    },
    "Set up": {
        "migrate": ("system.migrate", "Create the store's schema, or bring it up to date."),
        "sync": ("system.migrate", "Write what an app's code declares to the store, without running it."),
        "token": ("system.tokens", "Make, list and revoke the tokens that the HTTP API is used with."),
        "doctor": (
            "system.doctor",
            "Look at the store and all that relies on it, and say what to do about what is wrong.",
        ),
        "completion": ("system.completion", "Print the script that completes commands, options and names in a shell."),
    },
    "Look": {
        "ls": ("schedules.schedules", "List schedules: state, last run and next run."),
        "show": ("schedules.schedules", "Show one schedule: definition, state, runs, ticks, revisions."),
        "why": ("schedules.ticks", "Explain why a tick ran, did not run, or will not."),
        "preview": (
            "schedules.ticks",
            "Show the next ticks of a schedule, or of a trigger that is given as an option.",
        ),
        "simulate": (
            "schedules.simulate",
            "Show what the next days bring, and what would be if: an outage, fewer workers.",
        ),
        "revisions": ("schedules.revisions", "Show what each revision of a schedule changed, who made it and when."),
        "verify": ("schedules.verify", "Prove that every expected tick has one decision, or name those that do not."),
        "zones": ("system.zones", "Compare zone data with the store's, and tell which ticks it moves."),
        "runs": ("runs.runs", "List runs, newest first, or show one by its id."),
        "logs": ("runs.logs", "Show what a run has logged."),
        "tail": ("runs.tail", "Follow what happens: ticks decided and runs ended, across schedules."),
        "backfills": ("runs.backfills", "List backfills, newest first, or show one by its id."),
        "held": ("runs.held", "List the schedules of which runs are held, or the held runs of one."),
        "limits": ("runs.concurrency", "List concurrency keys: their limits, and how many runs go on and wait."),
        "queues": ("runs.queues", "List queues: what stands in them, their rates, and who serves them."),
        "workers": ("system.workers", "List the live workers: what they serve, since when, and what holds them back."),
    },
    "Files": {
        "apply": ("files.apply", "Bring the store to what files of schedules say, in one transaction."),
        "diff": ("files.apply", "Show what applying files would change, ticks included; exit code 1 if anything."),
        "export": ("files.export", "Write what is stored as a file that can be applied."),
        "import": ("files.imports", "Make a file for `tickbird apply` of another system's schedules."),
        "shadow": ("files.shadow", "Compare shadows with what the old system really did, until you cut over."),
        "schema": ("files.schema", "Print the JSON Schema of files of schedules, for editors."),
    },
    "Change": {
        "trigger": ("schedules.trigger", "Run a schedule's task now; its own ticks are not touched."),
        "pause": ("schedules.pause", "Stop planning a schedule, until resumed or until an instant."),
        "resume": ("schedules.pause", "Let a paused schedule go on, or a parked one that can be planned again."),
        "reschedule": ("schedules.reschedule", "Make the next tick of a schedule due at another instant."),
        "skip": ("schedules.skip", "Do not run the next ticks of a schedule."),
        "override": ("schedules.tick_overrides", "Skip or move one coming tick, or give its run another payload."),
        "set": ("schedules.set", "Set some fields of a schedule and leave the others as they are."),
        "roll-back": ("schedules.revisions", "Take the definition of an earlier revision of a schedule again."),
        "rm": ("schedules.rm", "Delete a schedule; what was decided for its ticks stays on record."),
        "calendar": ("schedules.calendars", "Store calendars of closed days, and see what they do to schedules."),
    },
    "Operate": {
        "cancel": ("runs.runs", "Cancel a run that has not started, or ask a running one to stop."),
        "retry": ("runs.runs", "Run again what a final run did."),
        "backfill": ("runs.backfills", "Run the ticks of a range that have no run."),
        "release": ("runs.held", "Let the held runs of a schedule run, oldest first."),
        "drop": ("runs.held", "Cancel the held runs of a schedule, oldest first."),
        "limit": ("runs.concurrency", "Set or remove how many runs of a concurrency key may go on at once."),
        "queue": ("runs.queues", "Show a queue, or set or remove the rate at which its runs begin."),
        "drain": ("system.workers", "Ask a worker to take nothing new, finish what it executes and end."),
    },
}
_MODULES = {name: module for section in COMMANDS.values() for name, (module, _) in section.items()}


class Root(click.Group):
    """Loads commands when asked for, and turns every error into one sentence and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the help page."""
        return list(_MODULES)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the module of a command."""
        if name not in _MODULES:
            return None
        module = vars(import_module(f"tickbird.cli.commands.{_MODULES[name]}"))
        attribute = name.replace("-", "_")
        # A command with the name of something that Python has itself.
        command = module.get(attribute) or module[f"{attribute}_"]
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the next step where there is no such command."""
        if args and args[0] not in _MODULES and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(args[0], _MODULES, 2)
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            ctx.fail(f"there is no command {args[0][:60]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """By section, without importing any of them."""
        for title, commands in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(name, text) for name, (_, text) in commands.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The exit codes."""
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in CODES.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a reader that closes the pipe early, such as `head`, is no error."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            return None

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run a command line and exit."""
        settings = GlobalOptions()
        # click's own way with errors is a usage page and a traceback.
        extra |= {"standalone_mode": False, "obj": settings}
        given = sys.argv[1:] if args is None else args
        run = partial(super().main, args, prog_name or "tickbird", **extra)
        raise SystemExit(guarded(run, settings, given))


def _version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from tickbird.version import VERSION

        click.echo(f"tickbird {VERSION}")
        ctx.exit()


root = Root(
    "tickbird",
    help="A durable distributed scheduler: tables for people, --json for programs.",
    params=[
        *shared_options(),
        click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
        ),
    ],
    callback=lambda: None,
    no_args_is_help=True,
    subcommand_metavar="COMMAND [ARGS]...",
)


def main(args: Sequence[str] | None = None) -> NoReturn:
    """The `tickbird` program."""
    root.main(args)

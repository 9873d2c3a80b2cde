"""The `tickbird` command line. A command's module is imported only when the command is used."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

import click

from tickbird.cli.errors import CODES, guarded
from tickbird.cli.options import GlobalOptions, shared_options

# Section → command → its module and its line in `tickbird --help`.
COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "Run": {
        "dev": ("system.dev", "Run an app during development: reload on every change."),
        "worker": ("system.worker", "Plan and execute the schedules of an app."),
        "server": ("system.server", "Serve the dashboard and the HTTP API."),
    },
    "Set up": {
        "migrate": ("system.migrate", "Create or upgrade the store's schema."),
        "sync": ("system.migrate", "Write the schedules that an app's code declares to the store."),
        "adopt": ("system.adopt", "Make an app's schedules in memory durable."),
        "token": ("system.tokens", "Create, list and revoke tokens of the HTTP API and the dashboard."),
        "doctor": ("system.doctor", "Check the store, the workers and the schedules, and suggest fixes."),
        "completion": ("system.completion", "Print the shell completion script."),
    },
    "Inspect": {
        "ls": ("schedules.schedules", "List schedules with state, last run and next run."),
        "show": ("schedules.schedules", "Show one schedule: definition, state, runs, ticks, revisions."),
        "why": ("schedules.ticks", "Explain why a tick ran, did not run, or will not run."),
        "preview": ("schedules.ticks", "Show the next ticks of a schedule or of a trigger."),
        "simulate": ("schedules.simulate", "Forecast the coming days, optionally with an outage or fewer workers."),
        "revisions": ("schedules.revisions", "List the revisions of a schedule: who changed which fields, and when."),
        "verify": ("schedules.verify", "Prove that every expected tick has exactly one decision."),
        "zones": (
            "system.zones",
            "Compare this machine's time zone data with the store's, and list ticks that would move.",
        ),
        "runs": ("runs.runs", "List runs, newest first, or show one run."),
        "logs": ("runs.logs", "Show the log of a run."),
        "tail": ("runs.tail", "Follow planned runs, finished runs and skips across schedules."),
        "backfills": ("runs.backfills", "List backfills, newest first, or show one backfill."),
        "held": ("runs.held", "List held runs, by schedule."),
        "undecided": (
            "runs.lost_runs",
            "List lost runs that wait for the answer whether they had their effect.",
        ),
        "limits": ("runs.concurrency", "List concurrency keys with limits, active runs and waiting runs."),
        "queues": ("runs.queues", "List queues with runs, rate limits and workers."),
        "events": ("events.events", "List, show, explain and publish events."),
        "workers": ("system.workers", "List live workers: queues, slots, last heartbeat, and why a worker is idle."),
        "leader": ("system.leader", "Show the leader of workers in leader mode, and the history of its terms."),
    },
    "Files": {
        "apply": ("files.apply", "Apply schedule files in one transaction."),
        "diff": ("files.apply", "Show what `apply` would change, including ticks."),
        "export": ("files.export", "Export the stored schedules to a file."),
        "import": ("files.imports", "Convert another system's schedules to a file for `tickbird apply`."),
        "shadow": ("files.shadow", "Compare shadow schedules with the old system before you switch."),
        "schema": ("files.schema", "Print the JSON Schema of schedule files, for editors."),
    },
    "Change": {
        "trigger": ("schedules.trigger", "Run a schedule now."),
        "pause": ("schedules.pause", "Pause a schedule until you resume it, or until an instant."),
        "resume": ("schedules.pause", "Resume a paused schedule, or a parked one that is repaired."),
        "reschedule": ("schedules.reschedule", "Move the next tick of a schedule to another instant."),
        "skip": ("schedules.skip", "Skip the next ticks of a schedule."),
        "override": ("schedules.tick_overrides", "Skip or move one future tick, or change its payload."),
        "set": ("schedules.set", "Set fields of a schedule."),
        "roll-back": ("schedules.revisions", "Restore an earlier revision of a schedule."),
        "rm": ("schedules.rm", "Delete a schedule."),
        "calendar": ("schedules.calendars", "Manage calendars of closed days, and preview their effect."),
    },
    "Operate": {
        "cancel": ("runs.runs", "Cancel a run."),
        "retry": ("runs.runs", "Re-run a finished run."),
        "backfill": ("runs.backfills", "Run the past ticks of a range that have no run."),
        "release": ("runs.held", "Release the held runs of a schedule, oldest first."),
        "drop": ("runs.held", "Cancel the held runs of a schedule, oldest first."),
        "resolve": ("runs.lost_runs", "Answer whether the lost attempt of a run had its effect."),
        "limit": ("runs.concurrency", "Set or remove the concurrency limit of a key."),
        "queue": ("runs.queues", "Show a queue, or set or remove its rate limit."),
        "consumers": ("events.consumers", "List consumer groups, and move, copy, stop or resume them."),
        "dead-letters": ("events.dead_letters", "List dead letters, and replay, repair or skip them."),
        "drain": ("system.workers", "Shut down a worker gracefully: it finishes its runs first."),
    },
}
_MODULES = {name: module for section in COMMANDS.values() for name, (module, _) in section.items()}


class Root(click.Group):
    """Imports commands on demand, and turns every error into one message and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_MODULES)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _MODULES:
            return None
        module = vars(import_module(f"tickbird.cli.commands.{_MODULES[name]}"))
        attribute = name.replace("-", "_")
        # Commands such as `set` would shadow a builtin: their function ends with an underscore.
        command = module.get(attribute) or module[f"{attribute}_"]
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest similar names if there is no such command."""
        if args and args[0] not in _MODULES and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(args[0], _MODULES, 2)
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            ctx.fail(f"there is no command {args[0][:60]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List commands by section, without importing their modules."""
        for title, commands in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(name, text) for name, (_, text) in commands.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in CODES.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. A reader that closes the pipe early, such as `head`, is not an error."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            return None

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run a command line and exit."""
        settings = GlobalOptions()
        # click itself would print a usage page or a traceback.
        extra |= {"standalone_mode": False, "obj": settings}
        given = sys.argv[1:] if args is None else args
        run = partial(super().main, args, prog_name or "tickbird", **extra)
        raise SystemExit(guarded(run, settings, given))


def _version(ctx: click.Context, _: click.Parameter, requested: bool) -> None:
    if requested:
        from tickbird.version import VERSION

        click.echo(f"tickbird {VERSION}")
        ctx.exit()


root = Root(
    "tickbird",
    help="A durable, distributed scheduler. Output is text, or JSON with --json.",
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

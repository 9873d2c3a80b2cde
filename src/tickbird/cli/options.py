"""Options of every command: store, namespace, time zone, output. Accepted before and after the command."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from tickbird.domain.errors import InvalidError
from tickbird.domain.urls import is_server

if TYPE_CHECKING:
    from tickbird.cli.help import Page


@dataclass
class GlobalOptions:
    """The shared options of one call; None if not given."""

    url: str | None = field(default=None, repr=False)
    server: str | None = None
    token: str | None = field(default=None, repr=False)
    namespace: str | None = None
    tz: str | None = None
    as_json: bool = False
    debug: bool = False
    # The exit code of every error, for commands whose codes 0 and 1 have their own meaning.
    error_code: int | None = None
    # True after the JSON document was printed: an error must not print a second one.
    answered: bool = False
    # Fields to print next to `error`.
    error_context: Mapping[str, Any] = field(default_factory=dict)

    @property
    def store_url(self) -> str:
        """The store URL of commands without an app: --url, TICKBIRD_URL, or the default SQLite file."""
        from tickbird.stores import DEFAULT_URL

        self.need_store(named=self.url is None and not os.environ.get("TICKBIRD_URL"))
        return self.url or os.environ.get("TICKBIRD_URL") or DEFAULT_URL

    @property
    def server_url(self) -> str | None:
        """The server URL: --server, or TICKBIRD_SERVER unless --url is given; None if the store is used directly."""
        if self.server is not None and self.url is not None:
            raise InvalidError("--server and --url cannot be combined.", field="server", hint="Give one of them.")
        if self.server is not None or self.url is not None:
            return self.server or (self.url if is_server(self.url) else None)
        server, url = os.environ.get("TICKBIRD_SERVER"), os.environ.get("TICKBIRD_URL")
        if server and url:
            raise InvalidError(
                "TICKBIRD_SERVER and TICKBIRD_URL are both set.", field="server", hint="Choose with --server or --url."
            )
        return server or (url if is_server(url) else None)

    @property
    def server_token(self) -> str | None:
        """The API token: --token or TICKBIRD_TOKEN."""
        return self.token or os.environ.get("TICKBIRD_TOKEN")

    def need_store(self, *, named: bool = False) -> None:
        """Raise InvalidError if --server is given; with `named`, also if TICKBIRD_SERVER is set."""
        server = self.server or (os.environ.get("TICKBIRD_SERVER") if named else None)
        if server:
            raise InvalidError(
                "this command needs the store itself and does not work through a server.",
                field="server",
                hint="Run it on a machine that can reach the store, with --url.",
            )


def _remember(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    """Store a value if given, so that the default after the command does not overwrite a value before it."""
    if value == "":
        # Most likely a shell variable is not set. The default would be another store.
        raise click.UsageError(f"--{option.name} is empty. Give it a value, or omit it.", ctx)
    if value:
        setattr(ctx.ensure_object(GlobalOptions), str(option.name), value)


def _remember_zone(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    if value:
        from tickbird.domain.time.zones import zone

        zone(value)
    _remember(ctx, option, value)


def shared_options() -> list[click.Parameter]:
    return [
        click.Option(
            ["--url"],
            metavar="URL",
            expose_value=False,
            callback=_remember,
            help="Store: sqlite:///path or postgresql://user@host/database "
            "(default: TICKBIRD_URL, the app's store, or sqlite:///tickbird.db).",
        ),
        click.Option(
            ["--server"],
            metavar="URL",
            expose_value=False,
            callback=_remember,
            help="Use this server over HTTP instead of a store (default: TICKBIRD_SERVER).",
        ),
        click.Option(
            ["--token"],
            metavar="TOKEN",
            expose_value=False,
            callback=_remember,
            help="API token (default: TICKBIRD_TOKEN). Prefer the variable, because arguments are visible in `ps`.",
        ),
        click.Option(
            ["-n", "--namespace"],
            metavar="NAME",
            expose_value=False,
            callback=_remember,
            help="Namespace (default: the app's, the token's if it has only one, or `default`).",
        ),
        click.Option(
            ["--tz"],
            metavar="ZONE",
            expose_value=False,
            callback=_remember_zone,
            help="Time zone of printed times, and of given times without a zone (default: the schedule's, or UTC).",
        ),
        click.Option(
            ["--json", "as_json"],
            is_flag=True,
            expose_value=False,
            callback=_remember,
            help="Print one JSON document instead of text. Instants are UTC, durations are seconds.",
        ),
        click.Option(
            ["--debug"], is_flag=True, expose_value=False, callback=_remember, help="Show tracebacks and debug logs."
        ),
    ]


class _Paged(click.Command):
    """A command with a help page, and with the shared options in a section after its own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for param in self.params:
            if isinstance(param.type, click.IntRange | click.FloatRange) and param.metavar is None:
                # click shows the range after the help text.
                param.metavar = "N"
        self.params = [*self.params, *shared_options()]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_help_text(ctx, formatter)
        if text := _page(ctx).text:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(text)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        shared = {option.opts[0] for option in shared_options()} | {"--help"}
        params = (param for param in self.get_params(ctx) if isinstance(param, click.Option))
        rows = [(param.opts[0], record) for param in params if (record := param.get_help_record(ctx))]
        for title, is_shared in (("Options", False), ("Options of every command", True)):
            if listed := [record for name, record in rows if (name in shared) is is_shared]:
                with formatter.section(title):
                    formatter.write_dl(listed)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        page = _page(ctx)
        if page.examples:
            with formatter.section("Examples"):
                # Not wrapped: a wrapped line could not be copied.
                for purpose, line in page.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}# {purpose}\n")
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        if page.codes:
            with formatter.section("Exit codes"):
                formatter.write_dl(page.codes)
        if page.see:
            with formatter.section("See also"):
                formatter.write_text(", ".join(f"tickbird {name}" for name in page.see))


def _page(ctx: click.Context) -> Page:
    from tickbird.cli.help import page_of

    return page_of(ctx.command_path.partition(" ")[2])


class Command(_Paged):
    """A command with the shared options after its own."""


class Group(_Paged, click.Group):
    """Commands about one noun. The shared options are also accepted before the subcommand."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            commands = self.commands.items()
            # The limit is large, so that click does not cut the sentence.
            formatter.write_dl([(name, command.get_short_help_str(1_000)) for name, command in commands])


def login_name() -> str:
    """Return the login name, or the numeric user id if the user has no name."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return f"uid {os.getuid()}"


def revision_option(command: Any) -> Any:
    """Add --if-revision: refuse the change if another client changed the schedule first."""
    from tickbird.cli.shell_completion import revision_numbers

    return click.option(
        "--if-revision",
        "revision",
        type=click.IntRange(1, 2**31 - 1),
        metavar="N",
        shell_complete=revision_numbers,
        help="Change the schedule only if it is still at this revision.",
    )(command)


def actor_option(command: Any) -> Any:
    return click.option(
        "--actor",
        metavar="NAME",
        envvar="TICKBIRD_ACTOR",
        default=login_name,
        help="Name to record in the audit log (default: TICKBIRD_ACTOR, or your login name).",
    )(command)

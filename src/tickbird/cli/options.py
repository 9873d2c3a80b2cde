"""What every command knows: which store, which namespace, how to print. Given before the command or after it."""

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
    """The shared options of one call; None where not given."""

    url: str | None = field(default=None, repr=False)
    server: str | None = None
    token: str | None = field(default=None, repr=False)
    namespace: str | None = None
    tz: str | None = None
    as_json: bool = False
    debug: bool = False
    # The exit code of whatever goes wrong, for commands whose own codes mean something else.
    error_code: int | None = None
    # Whether a program has its document already, and what else it gets where there is only an error to tell of.
    answered: bool = False
    beside: Mapping[str, Any] = field(default_factory=dict)

    @property
    def store_url(self) -> str:
        """The store where no app names one: --url, else TICKBIRD_URL, else the file that an app has by default."""
        from tickbird.stores import DEFAULT_URL

        self.need_store(named=self.url is None and not os.environ.get("TICKBIRD_URL"))
        return self.url or os.environ.get("TICKBIRD_URL") or DEFAULT_URL

    @property
    def server_url(self) -> str | None:
        """The server to ask: --server, else TICKBIRD_SERVER unless --url names a store; None for a store."""
        if self.server is not None and self.url is not None:
            raise InvalidError("--server and --url: give one of them.", field="server")
        if self.server is not None or self.url is not None:
            return self.server or (self.url if is_server(self.url) else None)
        server, url = os.environ.get("TICKBIRD_SERVER"), os.environ.get("TICKBIRD_URL")
        if server and url:
            raise InvalidError(
                "TICKBIRD_SERVER and TICKBIRD_URL are both set;", field="server", hint="choose with --server or --url."
            )
        return server or (url if is_server(url) else None)

    @property
    def server_token(self) -> str | None:
        """The token to ask it with."""
        return self.token or os.environ.get("TICKBIRD_TOKEN")

    def need_store(self, *, named: bool = False) -> None:
        """Refuse a server: what needs the store itself cannot go through one. `named`: also one of the environment."""
        server = self.server or (os.environ.get("TICKBIRD_SERVER") if named else None)
        if server:
            raise InvalidError(
                "this command needs the store itself, and cannot go through a server;",
                field="server",
                hint="run it where the store can be reached, with --url.",
            )


def _remember(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    """Keep a value where it was given, so that one before the command and one after it do not undo each other."""
    if value == "":
        # Most likely a shell variable that is not set; the default would be some other store.
        raise click.UsageError(f"--{option.name} is empty; give it a value, or leave it out.", ctx)
    if value:
        setattr(ctx.ensure_object(GlobalOptions), str(option.name), value)


def _remember_zone(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    if value:
        from tickbird.domain.time.zones import zone

        zone(value)
    _remember(ctx, option, value)


def shared_options() -> list[click.Parameter]:
    """The options that every command takes."""
    return [
        click.Option(
            ["--url"],
            metavar="URL",
            expose_value=False,
            callback=_remember,
            help="The store; else TICKBIRD_URL, else sqlite:///tickbird.db.",
        ),
        click.Option(
            ["--server"],
            metavar="URL",
            expose_value=False,
            callback=_remember,
            help="Ask this server, over HTTP, instead of a store; else TICKBIRD_SERVER.",
        ),
        click.Option(
            ["--token"],
            metavar="TOKEN",
            expose_value=False,
            callback=_remember,
            help="The token for it; else TICKBIRD_TOKEN, which no list of processes shows.",
        ),
        click.Option(
            ["-n", "--namespace"],
            metavar="NAME",
            expose_value=False,
            callback=_remember,
            help="The namespace; else default, the app's own, or the token's only one.",
        ),
        click.Option(
            ["--tz"],
            metavar="ZONE",
            expose_value=False,
            callback=_remember_zone,
            help="Show and read times on this zone's clock; else on the schedule's own, or UTC.",
        ),
        click.Option(
            ["--json", "as_json"],
            is_flag=True,
            expose_value=False,
            callback=_remember,
            help="Print one JSON document instead of text.",
        ),
        click.Option(
            ["--debug"], is_flag=True, expose_value=False, callback=_remember, help="Show tracebacks of errors."
        ),
    ]


class _Paged(click.Command):
    """Has a page of help, and the shared options behind its own, apart from them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for param in self.params:
            if isinstance(param.type, click.IntRange | click.FloatRange) and param.metavar is None:
                # The range stands behind what it is for.
                param.metavar = "N"
        self.params = [*self.params, *shared_options()]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What it does, when to use it and what it leaves alone."""
        super().format_help_text(ctx, formatter)
        if text := _page(ctx).text:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(text)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Its own options, then those of every command."""
        shared = {option.opts[0] for option in shared_options()} | {"--help"}
        params = (param for param in self.get_params(ctx) if isinstance(param, click.Option))
        rows = [(param.opts[0], record) for param in params if (record := param.get_help_record(ctx))]
        for title, among in (("Options", False), ("Options of every command", True)):
            if listed := [record for name, record in rows if (name in shared) is among]:
                with formatter.section(title):
                    formatter.write_dl(listed)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Examples, exit codes, and commands that go with it."""
        page = _page(ctx)
        if page.examples:
            with formatter.section("Examples"):
                # As they are typed: a line that was folded could not be copied.
                for what_for, line in page.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}# {what_for}\n")
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        if page.codes:
            with formatter.section("Exit codes"):
                formatter.write_text(page.codes)
        if page.see:
            with formatter.section("See also"):
                formatter.write_text(", ".join(f"tickbird {name}" for name in page.see))


def _page(ctx: click.Context) -> Page:
    from tickbird.cli.help import page_of

    return page_of(ctx.command_path.partition(" ")[2])


class Command(_Paged):
    """A command with the shared options behind its own."""


class Group(_Paged, click.Group):
    """Commands about one noun, with the shared options before them as well."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each with all that is said of it in a sentence."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(1_000)) for name, each in self.commands.items()])


def login_name() -> str:
    """Who is at the keyboard, for the audit log."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return f"uid {os.getuid()}"


def revision_option(command: Any) -> Any:
    """The option of commands that change a schedule: only as it was seen."""
    from tickbird.cli.shell_completion import revision_numbers

    return click.option(
        "--if-revision",
        "revision",
        type=click.IntRange(1, 2**31 - 1),
        metavar="N",
        shell_complete=revision_numbers,
        help="Only if the schedule is still at this revision.",
    )(command)


def actor_option(command: Any) -> Any:
    """The option of commands that change something: who does it."""
    return click.option(
        "--actor",
        metavar="NAME",
        envvar="TICKBIRD_ACTOR",
        default=login_name,
        help="Who does this, for the audit log; else TICKBIRD_ACTOR, else the login name.",
    )(command)

"""What every command knows: which store, which namespace, how to print. Given before the command or after it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import click


@dataclass
class Settings:
    """The shared options of one call; None where not given."""

    url: str | None = None
    namespace: str | None = None
    tz: str | None = None
    as_json: bool = False
    debug: bool = False

    @property
    def store_url(self) -> str:
        """The store where no app names one: --url, else TICKBIRD_URL, else the file that an app has by default."""
        from tickbird.app import DEFAULT_URL

        return self.url or os.environ.get("TICKBIRD_URL") or DEFAULT_URL


def _remember(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    """Keep a value where it was given, so that one before the command and one after it do not undo each other."""
    if value == "":
        # Most likely a shell variable that is not set; the default would be some other store.
        raise click.UsageError(f"--{option.name} is empty; give it a value, or leave it out.", ctx)
    if value:
        setattr(ctx.ensure_object(Settings), str(option.name), value)


def _remember_zone(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    if value:
        from tickbird.domain.zones import zone

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
            ["-n", "--namespace"],
            metavar="NAME",
            expose_value=False,
            callback=_remember,
            help="The namespace; else default, or the app's own.",
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


class Command(click.Command):
    """A command with the shared options behind its own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params = [*self.params, *shared_options()]


class Group(click.Group):
    """Commands about one noun, with the shared options before them as well."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params = [*self.params, *shared_options()]


def login_name() -> str:
    """Who is at the keyboard, for the audit."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return f"uid {os.getuid()}"


def revision_option(command: Any) -> Any:
    """The option of commands that change a schedule: only as it was seen."""
    return click.option(
        "--if-revision",
        "revision",
        type=click.IntRange(1, 2**31 - 1),
        metavar="N",
        help="Only if the schedule is still at this revision.",
    )(command)


def actor_option(command: Any) -> Any:
    """The option of commands that change something: who does it."""
    return click.option(
        "--actor",
        metavar="NAME",
        envvar="TICKBIRD_ACTOR",
        default=login_name,
        help="Who does this, for the audit; else TICKBIRD_ACTOR, else the login name.",
    )(command)
